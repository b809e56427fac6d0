"""`replay`: turn binlogs into a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Unpack

from applier.api.calls.arguments import KeyNames, PathLike, Paths, Place, Size, Tables, Time, Watcher, watcher
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.api.wording import noted
from applier.binlog.events.gtid import GtidSet
from applier.io.encryption.keys import Keys
from applier.jobs.replay.result import ReplayResult
from applier.options import ReplayOptions, check_target
from applier.options.verbs import REPLAY


@dataclass(frozen=True)
class Replayed:
    """The result of a replay or an import: the report of the run, and the snapshot; the last one, if it made several
    (`snapshot_at`)."""

    reports: tuple[ReplayResult, ...]

    @property
    def report(self) -> ReplayResult:
        """The report of the run."""
        return self.reports[-1]

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that the run made."""
        return self.snapshots[-1]

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """All snapshots that the run made, in log order; each has its report."""
        return tuple(Snapshot(report.snapshot) for report in self.reports)


@public(REPLAY)
def replay(
    binlogs: Paths,
    output: PathLike | None = None,
    *,
    lake: PathLike | None = None,
    merge_on_read: bool = False,
    compact_budget: Size = "1G",
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
    target_file_size: Size = "64M",
    parquet: Mapping[str, str] | None = None,
    partition: Mapping[str, str] | None = None,
    pass_bytes: Size | None = None,
    route: Literal["auto", "walk", "shuffle"] = "auto",
    engine: Literal["auto", "local", "spark"] = "local",
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    shared_dir: PathLike | None = None,
    metrics: Paths = (),
    lineage: PathLike | None = None,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
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

    {arguments}

    Raises ReplayStopped where a replica would stop, and other ApplierErrors for unreadable input; then nothing is
    published.
    """
    from applier.jobs.on_engine import replaying

    options = options_of(ReplayOptions, REPLAY, locals())
    check_target(options.output, options.lake, merge_on_read=options.merge_on_read)
    return Replayed(tuple(map(noted, replaying.replay(options, watcher(progress)))))
