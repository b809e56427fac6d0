"""`rewrite`: write an archive again, smaller, with full images, or filtered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Unpack

from applier.api.calls.arguments import KeyNames, PathLike, Paths, Tables, Watcher, watcher
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.io.encryption.keys import Keys
from applier.jobs.rewrite.result import Rewritten
from applier.options import RewriteOptions
from applier.options.verbs import REWRITE


@public(REWRITE)
def rewrite(
    binlogs: Paths,
    output: PathLike,
    *,
    image: Literal["minimal", "noblob", "full"] | None = None,
    partial_json: bool = False,
    full_json: bool = False,
    compress: bool = False,
    base: PathLike | Snapshot | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    rewrite_db: Mapping[str, str] | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    system_time_zone: str | None = None,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Rewritten:
    """Write an archive again: with smaller or full row images, compressed, or filtered. File names, GTIDs,
    servers, times, statements and their order stay; positions change.

    >>> rewritten = applier.rewrite("backup", "smaller", image="minimal", compress=True)
    >>> rewritten.ratio < 0.6
    True
    >>> rewritten.proof.tables, rewritten.proof.gtid_set
    (6, '20810cc3-e548-11f1-a5e4-02fc00000001:1-2462')

    {arguments}

    Packed and encrypted binlogs become plain files. Before the output is published, both archives are replayed, the
    first one with the filters, and their rows and all changes are compared. A transaction that loses all its changes
    becomes empty if it has a MySQL GTID, and is removed otherwise, as by a replica with these filters.

    Raises the errors of `replay`, since an archive must be replayable; UsageError if the output exists.
    """
    from applier.jobs.rewrite import job

    return job.rewrite(options_of(RewriteOptions, REWRITE, locals()), watcher(progress))
