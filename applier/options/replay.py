"""The options of a replay as one value, made by the command line, tests and Python callers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from applier.errors import UsageError
from applier.option_texts import Place
from applier.options import running, verbs
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import COMPACT_BYTES, FILE_BYTES


def check_target(output: str, lake: str | None, *, merge_on_read: bool = False) -> None:
    """Raise UsageError unless there is exactly one output."""
    if bool(output) == bool(lake):
        raise UsageError("give exactly one place to write to", hint="give --output for a snapshot, or --lake for the "
                         "next version of a lake")
    if merge_on_read and not lake:
        raise UsageError("--merge-on-read is for lakes: a snapshot has whole files", hint="give --lake, not --output")


class LogBounds(Protocol):
    """The start and the stop in a log, as in ReplayOptions."""

    @property
    def start_position(self) -> tuple[str, int] | None: ...
    @property
    def stop_position(self) -> tuple[str, int] | None: ...
    @property
    def stop_gtid(self) -> str | None: ...
    @property
    def stop_datetime(self) -> float | None: ...


@dataclass(frozen=True)
class ReplayOptions:
    """`snapshot' = replay(snapshot, binlogs, options)`: everything except the Spark session itself.

    Fields have the meaning of the options with their names (`applier.options.verbs`). `filter` combines the options for
    tables, `rewrites` are pairs of databases, `file_bytes` is the size of new files. Paths may be local or any URI that
    pyarrow.fs opens. At most one of the three stop points is set: a position, a GTID set in the log's notation, or
    seconds since 1970 UTC; each means the end of an event group. `snapshot_at` lists positions and GTID sets, and
    `output` is then the folder of the snapshots. `type_conversions` are in lower case. A manifest records options in
    the order of the fields.
    """

    binlogs: tuple[str, ...]
    output: str = ""
    base: str | None = None
    schema: str | None = None
    zero_dates: str = "null"
    unsigned_bigint: str | None = None
    exec_mode: str = "strict"
    on_statement: str = "error"
    define_from_log: bool = False
    system_time_zone: str | None = None
    lower_case_table_names: int | None = None
    type_conversions: frozenset[str] = frozenset()
    start_position: tuple[str, int] | None = None
    reapply: bool = False
    stop_position: tuple[str, int] | None = None
    stop_gtid: str | None = None
    stop_datetime: float | None = None
    rewrites: tuple[tuple[str, str], ...] = ()
    exclude_gtids: str | None = None
    server_ids: tuple[int, ...] = ()
    ignore_server_ids: tuple[int, ...] = ()
    filter: TableFilter = EVERYTHING
    lake: str | None = None
    merge_on_read: bool = False
    compact_bytes: int = COMPACT_BYTES
    snapshot_at: tuple[Place, ...] = ()
    witness: str = "report"
    check_foreign_keys: bool = False
    file_bytes: int = FILE_BYTES
    parquet: tuple[tuple[str, str], ...] = ()
    partition: tuple[tuple[str, str], ...] = ()
    pass_bytes: int | None = None
    route: str = "auto"
    engine: str = "auto"
    master: str | None = None
    conf: tuple[tuple[str, str], ...] = ()
    shared_dir: str | None = None
    metrics: tuple[str, ...] = ()
    lineage: str | None = None

    def __post_init__(self) -> None:
        if not self.binlogs:
            raise UsageError("no binlogs given", hint="--binlogs takes a directory, files, a glob or an index file")
        stops = (self.stop_position, self.stop_gtid, self.stop_datetime, self.snapshot_at or None)
        if sum(stop is not None for stop in stops) > 1:
            raise UsageError("more than one place to stop", hint="give one of --stop-position, --stop-gtid, "
                             "--stop-datetime and --snapshot-at, which takes several places")
        if self.reapply and (self.start_position is None or (self.base is None and self.lake is None)):
            raise UsageError("--reapply applies again transactions that the base already contains",
                             hint="give --start-position, and --base or --lake, or leave out --reapply")
        verbs.REPLAY.check(self)
        check_engine(self.engine, self.master, self.conf)
        if self.shared_dir is not None and self.engine == "local":
            raise UsageError(f"--engine local runs in this process, and --shared-dir {self.shared_dir} is for Spark's "
                             "workers", hint="leave out one of them")

    @property
    def locations(self) -> tuple[str, ...]:
        """Return the paths that are read and written."""
        return *self.binlogs, *([] if self.base is None else [self.base]), self.lake or self.output

    def for_manifest(self) -> dict[str, object]:
        """Return the options that decide the contents of the snapshot, as JSON, without those at their defaults."""
        return verbs.REPLAY.recorded(self) | self.filter.for_manifest()


@dataclass(frozen=True)
class DoctorOptions(ReplayOptions):
    """The replay that a doctor checks, as far as it is known. Without `binlogs`, check only the machine; without
    `output` (""), skip the output's location."""

    binlogs: tuple[str, ...] = ()
    output: str = ""

    def __post_init__(self) -> None:
        if self.binlogs:
            super().__post_init__()
        else:
            check_engine(self.engine, self.master, self.conf)


def check_engine(engine: str, master: str | None, conf: Mapping[str, str] | tuple[tuple[str, str], ...]) -> None:
    """Raise UsageError for an unknown engine, and for options of Spark with the engine `local`."""
    running.ENGINE.check(engine)
    if engine == "local" and master is not None:
        raise UsageError(f"--engine local runs in this process, and --master {master} names a Spark master",
                         hint="leave out one of them")
    if engine == "local" and conf:
        raise UsageError(f"--engine local runs in this process, and --conf {next(iter(dict(conf)))} is a setting of "
                         "Spark", hint="leave out one of them")
