"""`rewrite`: an archive again, smaller, with full images, or filtered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Unpack

from applier.api.arguments import KeyNames, PathLike, Paths, Tables, Watcher, watcher
from applier.api.job_options import options_of
from applier.api.public import public
from applier.api.snapshots import Snapshot
from applier.io.keys import Keys
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
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Rewritten:
    """Write an archive again: with less in row images or all of it, compressed, or filtered. Names of files, GTIDs,
    servers, times, statements and their order stay; positions change.

    >>> rewritten = applier.rewrite("backup", "smaller", image="minimal", compress=True)
    >>> rewritten.ratio < 0.6
    True
    >>> rewritten.proof.tables, rewritten.proof.gtid_set
    (6, '20810cc3-e548-11f1-a5e4-02fc00000001:1-2462')

    {arguments}

    Packed and encrypted binlogs become plain files. Both archives are replayed, the first one with the filters, and
    their rows and all changes compared, before the output is there. A transaction that loses all its changes becomes
    empty if it has a GTID of MySQL, and goes from other logs, as a replica with these filters writes them.

    Raises what `replay` raises: what cannot be replayed is not rewritten; UsageError if the output exists.
    """
    from applier.jobs.rewrite import job

    return job.rewrite(options_of(RewriteOptions, REWRITE, locals()), watcher(progress))
