"""`replay`: binlogs become a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from applier.api.arguments import (
    PathLike,
    Paths,
    Place,
    Size,
    Tables,
    Time,
    Watcher,
    chosen_gtids,
    database_names,
    logs,
    path,
    places,
    position,
    size,
    spark_conf,
    stop_at,
    table_filter,
    watcher,
)
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.jobs.replay.result import ReplayResult
from applier.option_texts import parse_conversions
from applier.options import ReplayOptions, check_target
from applier.snapshot import FILE_BYTES


@dataclass(frozen=True)
class Replayed:
    """What a replay or an import has made: the report of the run, and the snapshot; the last one, if it made several
    (`snapshot_at`)."""

    reports: tuple[ReplayResult, ...]

    @property
    def report(self) -> ReplayResult:
        """What the run did."""
        return self.reports[-1]

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that it made."""
        return self.snapshots[-1]

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """All that it made, in the order of the log; each has its report."""
        return tuple(Snapshot(report.snapshot) for report in self.reports)


@checked
def replay(
    binlogs: Paths,
    output: PathLike | None = None,
    *,
    lake: PathLike | None = None,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    start: Place | None = None,
    reapply: bool = False,
    stop: Place | Time | None = None,
    snapshot_at: Place | Iterable[Place] = (),
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
    check_foreign_keys: bool = False,
    unsigned_bigint: Literal["decimal", "long", "uint64"] | None = None,
    target_file_size: Size = FILE_BYTES,
    pass_bytes: Size | None = None,
    route: Literal["auto", "walk", "shuffle"] = "auto",
    engine: Literal["local", "auto", "spark"] = "local",
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> Replayed:
    """Replay binlogs into a new snapshot, as a replica would apply them.

    >>> result = applier.replay("backup", "lake/now")
    >>> print(result.snapshot.position)
    binlog.000003:176495
    >>> result.report.changes
    16801
    >>> earlier = applier.replay("backup", "lake/earlier", stop=datetime(2026, 3, 14, 10, 30, tzinfo=UTC))
    >>> print(earlier.snapshot.position)
    binlog.000002:745606
    >>> days = applier.replay("backup", "lake/days", snapshot_at=["binlog.000002:745606", "binlog.000003:176495"])
    >>> [snapshot.uri for snapshot in days.snapshots]
    ['lake/days/binlog.000002-745606', 'lake/days/binlog.000003-176495']

    binlogs: the archive.
    output: the snapshot to make, which is complete or not there.
    lake: in place of output, a lake: its next version is made, onto the latest one, or onto base if it has none.
    base: the snapshot to start from; without one and without a schema, the log's CREATE TABLEs define tables.
    schema: a file of CREATE TABLEs of tables that exist, empty, before the first binlog.
    start: a position to start at, whatever comes before it and wherever the base stands. Transactions after it that the
        base has executed are passed over, as a replica does.
    reapply: whether to apply these transactions again.
    stop: a position or a GTID set to stop after, or a time to stop before.
    snapshot_at: several positions or GTID sets: a snapshot at each, out of one pass, in the folder `output`.
    tables: only these.
    ignore_tables: all but these.
    rewrite_db: other names for databases, by their names in the log.
    exclude_gtids: transactions to leave out, as a replica does that has executed them: "UUID:1-5", or "0-1-5,0-1-7".
    server_ids: only transactions that come from these servers.
    ignore_server_ids: none that come from these.
    exec_mode: strict stops where a row is not there or a key is there twice; idempotent goes on, and lists conflicts.
    type_conversions: which columns may have another type than the table's, as replica_type_conversions says.
    zero_dates: whether an invalid date becomes null, or stops the replay.
    witness: whether before-images that differ from the rows they found are reported, stop the replay, or are not
        looked at.
    on_statement: whether changes that are logged as statements stop the replay, or are left out and counted.
    define_from_log: whether the log's metadata define tables that nothing else does.
    system_time_zone: what SYSTEM is in the log, as "+02:00" or "Europe/Rome".
    lower_case_table_names: the server's variable (0, 1 or 2), where neither the log nor the base tells it.
    check_foreign_keys: whether to look for rows whose foreign keys refer to missing rows, and warn of them.
    unsigned_bigint: decimals, int64 (what does not fit is an error) or uint64; by default as the base, or decimals.
    target_file_size: about how large new files become.
    pass_bytes: how much log is replayed at a time; by default, as memory and disk have room.
    route: how units of work get their changes; auto is the cheaper way.
    engine: threads of this process, Spark, or what suits the work; a master means Spark.
    master: Spark's, as spark://host:7077, or sc://host:15002 for Spark Connect; by default this machine's cores.
    conf: Spark's settings by name; they win over spark-defaults.conf.
    keyring: the keys of MySQL's encrypted binlogs, in files of component_keyring_file or keyring_file.
    key_file: the keys of MariaDB's, in files of file_key_management.
    key_file_secret: the file with the password of encrypted key files.
    progress: called with each Step.

    Raises ReplayStopped where a replica would stop, and other ApplierErrors for what cannot be read; then nothing is
    published.
    """
    from applier.jobs.on_engine import replaying

    check_target("" if output is None else path(output), None if lake is None else path(lake))
    end = stop_at(stop)
    options = ReplayOptions(
        binlogs=logs(binlogs, keyring, key_file, key_file_secret),
        output="" if output is None else path(output),
        lake=None if lake is None else path(lake),
        base=base.uri if isinstance(base, Snapshot) else None if base is None else path(base),
        schema=None if schema is None else path(schema),
        start_position=None if start is None else position(start),
        reapply=reapply,
        stop_position=end.position,
        stop_gtid=end.gtid,
        stop_datetime=end.time,
        snapshot_at=places(snapshot_at),
        filter=table_filter(tables, ignore_tables),
        rewrites=database_names(rewrite_db),
        exclude_gtids=chosen_gtids(exclude_gtids),
        server_ids=tuple(server_ids),
        ignore_server_ids=tuple(ignore_server_ids),
        exec_mode=exec_mode,
        type_conversions=parse_conversions(list(type_conversions)),
        route=route,
        zero_dates=zero_dates,
        witness=witness,
        on_statement=on_statement,
        define_from_log=define_from_log,
        system_time_zone=system_time_zone,
        lower_case_table_names=lower_case_table_names,
        check_foreign_keys=check_foreign_keys,
        engine="spark" if master is not None and engine == "local" else engine,
        file_bytes=size(target_file_size),
        unsigned_bigint=unsigned_bigint,
        pass_bytes=None if pass_bytes is None else size(pass_bytes),
        master=master,
        conf=spark_conf(conf),
    )
    return Replayed(tuple(replaying.replay(options, watcher(progress))))
