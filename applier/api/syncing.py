"""`sync`: a lake that follows an archive."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal, Unpack

from applier.api.calls.arguments import KeyNames, PathLike, Paths, Size, Tables, Watcher, watcher
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.api.wording import noted
from applier.binlog.events.gtid import GtidSet
from applier.io.encryption.keys import Keys
from applier.io.ending import Ending
from applier.jobs.lake.expiring import checked_keep
from applier.jobs.publish.job import checked_age
from applier.jobs.sync.job import SyncOptions
from applier.jobs.sync.job import sync as follow
from applier.jobs.sync.round import Round
from applier.options import ReplayOptions
from applier.options.verbs import SYNC


@public(SYNC)
def sync(
    binlogs: Paths,
    lake: PathLike,
    *,
    every: float = 10.0,
    iceberg: str | None = None,
    delta: PathLike | None = None,
    change_data: bool = False,
    warehouse: PathLike | None = None,
    tag: str | None = None,
    expire: timedelta | str | None = None,
    keep: int | timedelta | str | None = None,
    until_now: bool = False,
    metrics: Paths = (),
    lineage: PathLike | None = None,
    ending: Ending | None = None,
    merge_on_read: bool = False,
    compact_budget: Size = "1G",
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    rewrite_db: Mapping[str, str] | None = None,
    exclude_gtids: str | GtidSet | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    exec_mode: Literal["strict", "idempotent"] = "strict",
    type_conversions: Iterable[str] = (),
    zero_dates: Literal["null", "error"] = "null",
    witness: Literal["report", "stop", "off"] = "report",
    on_statement: Literal["error", "skip"] = "error",
    define_from_log: bool = False,
    system_time_zone: str | None = None,
    lower_case_table_names: int | None = None,
    unsigned_bigint: Literal["decimal", "long", "uint64"] | None = None,
    target_file_size: Size = "64M",
    parquet: Mapping[str, str] | None = None,
    partition: Mapping[str, str] | None = None,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Generator[Round]:
    """Keep a lake, and the tables published from it, up to date with a growing archive: yield each round that did
    something, or failed.

    >>> rounds = applier.sync("backup", "lake/followed", iceberg="sqlite:///lake/followed.db")
    >>> first = next(rounds)
    >>> first.version, first.position, first.changes
    (1, 'binlog.000003:176495', 16801)
    >>> rounds.close()

    {arguments}

    base and schema apply to the first version of a lake; all other arguments are as in `replay`.

    A round reads the new part of the log, up to the last whole event group of a growing file, and makes a version of
    all tables at that position, or none. Formats are published after it. A failed round is yielded with its error,
    and retried after a while.

    Raises errors that no later round could resolve: ReplayStopped where a replica would stop, SchemaError, UsageError.
    """
    return (noted(done) for done in follow(sync_options(locals()), ending or Ending(), watcher(progress)))


def sync_options(given: Mapping[str, Any]) -> SyncOptions:
    """Return what to follow, from the verb's arguments. Raises UsageError."""
    keep, expire = given["keep"], given["expire"]
    return options_of(SyncOptions, SYNC, given, keep=None if keep is None else checked_keep(keep),
                      expire=None if expire is None else checked_age(expire),
                      replay=options_of(ReplayOptions, SYNC, given, engine="local", metrics=()))
