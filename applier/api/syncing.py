"""`sync`: a lake that follows an archive."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Literal

from applier.api.arguments import (
    PathLike,
    Paths,
    Size,
    Tables,
    Watcher,
    chosen_gtids,
    database_names,
    logs,
    path,
    size,
    table_filter,
    watcher,
)
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.jobs.lake.expiring import Keep, checked_keep
from applier.jobs.sync.ending import Ending
from applier.jobs.sync.job import SyncOptions
from applier.jobs.sync.job import sync as follow
from applier.jobs.sync.round import Round
from applier.option_texts import parse_conversions
from applier.options import ReplayOptions
from applier.snapshot import FILE_BYTES


@checked
def sync(
    binlogs: Paths,
    lake: PathLike,
    *,
    every: float = 10.0,
    iceberg: str | None = None,
    delta: PathLike | None = None,
    change_data: bool = False,
    warehouse: PathLike | None = None,
    keep: Keep | str | None = None,
    until_now: bool = False,
    ending: Ending | None = None,
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
    unsigned_bigint: Literal["decimal", "long", "uint64"] | None = None,
    target_file_size: Size = FILE_BYTES,
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> Generator[Round]:
    """Keep a lake, and what is published of it, up to date with an archive that grows: yields each round that did
    something, or failed.

    >>> rounds = applier.sync("backup", "lake/followed", iceberg="sqlite:///lake/followed.db")
    >>> first = next(rounds)
    >>> first.version, first.position, first.changes
    (1, 'binlog.000003:176495', 16801)
    >>> rounds.close()

    binlogs: the archive.
    lake: the lake that follows: each round makes its next version. A new one is made.
    every: how many seconds to wait between two looks at the archive.
    iceberg: publish each version in this catalog of Iceberg, as `publish` does.
    delta: publish each version as Delta's tables below this directory.
    change_data: whether these tables have a change data feed, as `publish` says.
    warehouse: where the catalog's own files go.
    keep: how many of the lake's versions stay, or those published since so long ago: 10, "7d"; by default all.
    until_now: whether to end after one round.
    ending: what is asked to end it, from another thread or a signal's handler, after the round that it is at.

    base and schema are for the first version of a lake; these and the rest are as in `replay`.

    A round reads what is new, up to the last whole event group of a file that is still written, and makes a version of
    all tables at that position, or none. Formats are published after it. A round that fails is yielded with its error,
    and tried again after a while.

    Raises what no later round could mend: ReplayStopped where a replica would stop, SchemaError, UsageError.
    """
    options = ReplayOptions(
        binlogs=logs(binlogs, keyring, key_file, key_file_secret),
        output="",
        lake=path(lake),
        base=base.uri if isinstance(base, Snapshot) else None if base is None else path(base),
        schema=None if schema is None else path(schema),
        filter=table_filter(tables, ignore_tables),
        rewrites=database_names(rewrite_db),
        exclude_gtids=chosen_gtids(exclude_gtids),
        server_ids=tuple(server_ids),
        ignore_server_ids=tuple(ignore_server_ids),
        exec_mode=exec_mode,
        type_conversions=parse_conversions(list(type_conversions)),
        zero_dates=zero_dates,
        witness=witness,
        on_statement=on_statement,
        define_from_log=define_from_log,
        system_time_zone=system_time_zone,
        engine="local",
        file_bytes=size(target_file_size),
        unsigned_bigint=unsigned_bigint,
    )
    chosen = SyncOptions(options, every, None if keep is None else checked_keep(keep), iceberg,
                         None if warehouse is None else path(warehouse), None if delta is None else path(delta),
                         change_data, until_now)
    return follow(chosen, ending or Ending(), watcher(progress))
