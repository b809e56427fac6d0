"""What a replay is asked to do, as one value that the command line, tests and Python callers all make."""

from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Protocol
from uuid import UUID

from applier.errors import UsageError
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import AS_DECIMAL, FILE_BYTES, UNSIGNED_BIGINTS

ENGINES = ("auto", "local", "spark")
CHANGE_FORMATS = ("json", "csv", "parquet", "debezium", "arrow")
UNDO_FORMATS = ("sql", "binlog")
MINIMAL, NOBLOB, FULL = IMAGES = ("minimal", "noblob", "full")
"""The row images that a rewritten archive may have."""
REFUSE, SKIP, OF_COLUMNS, FORCE = ON_CONFLICT = ("refuse", "skip", "columns", "force")
WITNESS = ("report", "stop", "off")
"""What becomes of a before-image that differs from its row."""
TYPE_CONVERSIONS = ("all_non_lossy", "all_lossy", "all_signed", "all_unsigned")

MOST_LARGEST = 1000
"""Of a summary's largest transactions."""

Place = tuple[str, int] | str
"""Where to stop: a binlog's base name and an offset, or a GTID set."""


KeyValue = int | float | Decimal | str | bytes | date | time | timedelta | UUID
Keys = tuple[tuple[KeyValue, ...], ...]
"""Values of a table's key, each with a value for each of its columns."""


def _check_time_zone(name: str | None) -> None:
    from applier.mysql.time_zones import is_time_zone

    if name is not None and not is_time_zone(name):
        raise UsageError(f"--system-time-zone {name} is not known",
                         hint="as +02:00, or a name of the time zone database: Europe/Rome")


def _check_servers(only: tuple[int, ...], ignored: tuple[int, ...]) -> None:
    for option, servers in (("--server-id", only), ("--ignore-server-ids", ignored)):
        if bad := [server for server in servers if not 0 <= server < 1 << 32]:
            raise UsageError(f"{option} cannot be {bad[0]}", hint="a server id is a number from 0 to 4294967295")


def check_target(output: str, lake: str | None) -> None:
    """Raise UsageError unless there is one place to write to."""
    if bool(output) == bool(lake):
        raise UsageError("give exactly one place to write to",
                         hint="give --output for a snapshot, or --lake for the next "
                         "version of a lake")


class LogBounds(Protocol):
    """Where to begin in a log and where to stop, as ReplayOptions has it."""

    @property
    def start_position(self) -> tuple[str, int] | None: ...
    @property
    def stop_position(self) -> tuple[str, int] | None: ...
    @property
    def stop_gtid(self) -> str | None: ...
    @property
    def stop_datetime(self) -> float | None: ...


def _stops(bounds: LogBounds) -> int:
    """How many places to stop at there are."""
    return sum(stop is not None for stop in (bounds.stop_position, bounds.stop_gtid, bounds.stop_datetime))


@dataclass(frozen=True)
class ReplayOptions:
    """`snapshot' = replay(snapshot, binlogs, options)`: everything but the Spark session itself.

    Paths may be local or any uri that pyarrow.fs opens. At most one of the three stop points is set; each means the end
    of an event group. With `snapshot_at` there is a snapshot for each of these places, none of the three, and `output`
    is the folder that they are in. `lake` in place of `output` is one whose next version is made, onto its latest one
    if there is one; with `snapshot_at`, a version for each place. `start_position`, which wins over the base's own, and
    `stop_position` are (binlog's base name, offset), `stop_gtid` a GTID set as the log writes it, `stop_datetime`
    seconds since 1970 UTC. `rewrites` are pairs of databases: what the log has as the first is the second, for
    `filter`, too. `type_conversions` has names of replica_type_conversions in lower case. `system_time_zone`, as
    "+02:00" or "Europe/Rome", is what SYSTEM is in the log, `lower_case_table_names` the variable of its server, None:
    as the base or the log tell. Left out are the transactions `exclude_gtids`, as
    GtidChoice takes them, those of other servers than `server_ids`, if there are any, and those of `ignore_server_ids`.
    Transactions after a start that the base has executed are passed over, unless `reapply` is set.
    New files have about `file_bytes`. A log of more than `pass_bytes` (None: as memory and disk have room) is replayed
    in passes. `unsigned_bigint` is what files have for such columns, None: what those of the base have, or decimals.
    `witness` is "report", "stop" or "off": what becomes of a before-image that differs from the row it found.
    `engine` is "auto", "local" or "spark"; `master` is Spark's, None means local[*]; `conf` are settings of Spark, by
    name.
    """

    binlogs: tuple[str, ...]
    output: str = ""
    base: str | None = None
    schema: str | None = None
    start_position: tuple[str, int] | None = None
    stop_position: tuple[str, int] | None = None
    stop_gtid: str | None = None
    stop_datetime: float | None = None
    snapshot_at: tuple[Place, ...] = ()
    filter: TableFilter = EVERYTHING
    rewrites: tuple[tuple[str, str], ...] = ()
    exec_mode: str = "strict"
    type_conversions: frozenset[str] = frozenset()
    route: str = "auto"
    zero_dates: str = "null"
    on_statement: str = "error"
    define_from_log: bool = False
    system_time_zone: str | None = None
    check_foreign_keys: bool = False
    engine: str = "auto"
    file_bytes: int = FILE_BYTES
    pass_bytes: int | None = None
    master: str | None = None
    unsigned_bigint: str | None = None
    exclude_gtids: str | None = None
    server_ids: tuple[int, ...] = ()
    ignore_server_ids: tuple[int, ...] = ()
    lake: str | None = None
    reapply: bool = False
    lower_case_table_names: int | None = None
    witness: str = "report"
    conf: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.binlogs:
            raise UsageError("no binlogs given", hint="--binlogs takes a directory, files, a glob or an index file")
        if _stops(self) + bool(self.snapshot_at) > 1:
            raise UsageError("more than one place to stop", hint="give one of --stop-position, --stop-gtid, "
                             "--stop-datetime and --snapshot-at, which takes several places")
        if self.reapply and (self.start_position is None or (self.base is None and self.lake is None)):
            raise UsageError("--reapply applies again transactions that the base already contains",
                             hint="give --start-position, and --base or --lake, or leave out --reapply")
        _one_of("--exec-mode", self.exec_mode, ("strict", "idempotent"))
        _one_of("--route", self.route, ("auto", "walk", "shuffle"))
        _check_engine(self.engine, self.master, self.conf)
        _one_of("--zero-dates", self.zero_dates, ("null", "error"))
        _one_of("--witness", self.witness, WITNESS)
        _one_of("--on-statement", self.on_statement, ("error", "skip"))
        if self.unsigned_bigint is not None:
            _one_of("--unsigned-bigint", self.unsigned_bigint, UNSIGNED_BIGINTS)
        if self.lower_case_table_names not in (None, 0, 1, 2):
            raise UsageError(f"--lower-case-table-names cannot be {self.lower_case_table_names!r}",
                             hint="it is the server's variable: 0, 1 or 2")
        _check_time_zone(self.system_time_zone)
        _check_servers(self.server_ids, self.ignore_server_ids)

    @property
    def places(self) -> tuple[str, ...]:
        """What is read and written."""
        return *self.binlogs, *([] if self.base is None else [self.base]), self.lake or self.output

    def for_manifest(self) -> dict[str, object]:
        """The options that decide what the snapshot holds, as JSON, without those at their defaults."""
        known: dict[str, object] = {"zero_dates": self.zero_dates}
        if self.unsigned_bigint not in (None, AS_DECIMAL):
            known["unsigned_bigint"] = self.unsigned_bigint
        if self.exec_mode != "strict":
            known["exec_mode"] = self.exec_mode
        if self.on_statement != "error":
            known["on_statement"] = self.on_statement
        if self.define_from_log:
            known["define_from_log"] = True
        if self.system_time_zone is not None:
            known["system_time_zone"] = self.system_time_zone
        if self.lower_case_table_names is not None:
            known["lower_case_table_names"] = self.lower_case_table_names
        if self.type_conversions:
            known["type_conversions"] = sorted(self.type_conversions)
        if self.start_position is not None:
            known["start_position"] = f"{self.start_position[0]}:{self.start_position[1]}"
        if self.reapply:
            known["reapply"] = True
        if self.stop_position is not None:
            known["stop_position"] = f"{self.stop_position[0]}:{self.stop_position[1]}"
        if self.stop_gtid is not None:
            known["stop_gtid"] = self.stop_gtid
        if self.stop_datetime is not None:
            known["stop_datetime"] = self.stop_datetime
        if self.rewrites:
            known["rewrite_db"] = [f"{old}={new}" for old, new in self.rewrites]
        if self.exclude_gtids is not None:
            known["exclude_gtids"] = self.exclude_gtids
        if self.server_ids:
            known["server_ids"] = list(self.server_ids)
        if self.ignore_server_ids:
            known["ignore_server_ids"] = list(self.ignore_server_ids)
        return known | self.filter.for_manifest()


@dataclass(frozen=True)
class DoctorOptions(ReplayOptions):
    """The replay that a doctor is to look at, as far as it is known: without `binlogs` only at the machine, without
    `output` ("") not at where that would be."""

    binlogs: tuple[str, ...] = ()
    output: str = ""

    def __post_init__(self) -> None:
        if self.binlogs:
            super().__post_init__()
        else:
            _check_engine(self.engine, self.master, self.conf)


@dataclass(frozen=True)
class ImportOptions:
    """A dump and what to make of it. `position` (binlog's base name, offset) and `gtid_set` say where it was made if
    it does not say so itself, and `group_id` the id of the last group in it (GRP-3); `flavour` None is told by the
    dump; `schema` has the definitions of tables whose rows are Parquet files; `system_time_zone` is what SYSTEM was
    on the server, for statements that set no zone; files have about `file_bytes`, and `unsigned_bigint` for such
    columns. `database` is that of statements that name none; the dump "-" is stdin. `lake` in place of `output` is
    one whose next version is made."""

    dump: str
    output: str = ""
    position: tuple[str, int] | None = None
    gtid_set: str | None = None
    flavour: str | None = None
    filter: TableFilter = EVERYTHING
    schema: str | None = None
    system_time_zone: str | None = None
    file_bytes: int = FILE_BYTES
    unsigned_bigint: str = AS_DECIMAL
    database: str | None = None
    lake: str | None = None
    group_id: int | None = None

    def __post_init__(self) -> None:
        check_target(self.output, self.lake)
        if self.group_id is not None and not 0 < self.group_id < 1 << 64:
            raise UsageError(f"--group-id {self.group_id} is not the id of a group: they go from 1 to 2^64-1")
        _check_time_zone(self.system_time_zone)
        _one_of("--unsigned-bigint", self.unsigned_bigint, UNSIGNED_BIGINTS)

    def for_manifest(self) -> dict[str, object]:
        """The options that decide what the snapshot holds, as JSON: what is at its default is left out."""
        known = self.filter.for_manifest()
        if self.unsigned_bigint != AS_DECIMAL:
            known["unsigned_bigint"] = self.unsigned_bigint
        if self.system_time_zone is not None:
            known["system_time_zone"] = self.system_time_zone
        return known


@dataclass(frozen=True)
class ExportOptions:
    """A snapshot to export, as files that a server loads, and where; `format` is "sql" or "tsv". `rewrites` are pairs
    of databases: what the snapshot has as the first is the second there. `definitions` and `rows` say what is written,
    `where` of which rows: an expression in SQL. `if_not_exists` keeps tables that are there, `replaces` rows that have
    a key of those. `engine`, `master` and `conf` are as in ReplayOptions."""

    snapshot: str
    output: str
    format: str = "sql"
    filter: TableFilter = EVERYTHING
    engine: str = "auto"
    master: str | None = None
    rewrites: tuple[tuple[str, str], ...] = ()
    definitions: bool = True
    rows: bool = True
    if_not_exists: bool = False
    replaces: bool = False
    where: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.definitions and not self.rows:
            raise UsageError("an export without definitions and without rows is empty", hint="leave out --data-only or "
                             "--no-data")
        _one_of("--format", self.format, ("sql", "tsv"))
        _check_engine(self.engine, self.master, self.conf)

    @property
    def places(self) -> tuple[str, ...]:
        """What is read and written."""
        return self.snapshot, self.output


@dataclass(frozen=True)
class DiffOptions:
    """Two snapshots to compare, and which of their tables."""

    before: str
    after: str
    filter: TableFilter = EVERYTHING


@dataclass(frozen=True)
class ExplainOptions:
    """What to explain: binlogs, and where to find table definitions that these lack."""

    binlogs: tuple[str, ...]
    base: str | None = None
    schema: str | None = None
    filter: TableFilter = EVERYTHING
    define_from_log: bool = False


@dataclass(frozen=True)
class CommitRange:
    """Commits by their versions and by their times, in microseconds since 1970 UTC; bounds are in it."""

    first_version: int = -1
    last_version: int = (1 << 63) - 1
    first_time: int = -(1 << 63)
    last_time: int = (1 << 63) - 1


ALL_COMMITS = CommitRange()


@dataclass(frozen=True)
class ChangesOptions:
    """Of which log to read changes. Without `ignore_foreign_keys`, changes that foreign keys make and the log does not
    have are an error. `complete`: whole rows, and what foreign keys change. `unsigned_bigint`: the
    type of such columns. Only changes from the first group of the time `start_datetime` (seconds since 1970 UTC) or
    later on are wanted, and only those of the transactions `gtids`, as GtidChoice takes them, of commits in a range,
    and not of the transactions and servers that are left out, which did what they did: complete changes go on from it.
    Of `maybe_gtids`, as `gtids`, the log need not have any. The rest is as in ReplayOptions."""

    binlogs: tuple[str, ...]
    base: str | None = None
    schema: str | None = None
    start_position: tuple[str, int] | None = None
    stop_position: tuple[str, int] | None = None
    stop_gtid: str | None = None
    stop_datetime: float | None = None
    define_from_log: bool = False
    ignore_foreign_keys: bool = False
    complete: bool = False
    unsigned_bigint: str = AS_DECIMAL
    start_datetime: float | None = None
    gtids: str | None = None
    commits: CommitRange = ALL_COMMITS
    exclude_gtids: str | None = None
    server_ids: tuple[int, ...] = ()
    ignore_server_ids: tuple[int, ...] = ()
    maybe_gtids: str | None = None

    def __post_init__(self) -> None:
        _check_servers(self.server_ids, self.ignore_server_ids)
        _one_of("--unsigned-bigint", self.unsigned_bigint, UNSIGNED_BIGINTS)


@dataclass(frozen=True)
class SummaryOptions:
    """What to sum up: the row changes of tables, of transactions of `start_datetime` (seconds since 1970 UTC) or later,
    and the `top` largest transactions. The rest is as in ReplayOptions."""

    binlogs: tuple[str, ...]
    filter: TableFilter = EVERYTHING
    start_position: tuple[str, int] | None = None
    start_datetime: float | None = None
    stop_position: tuple[str, int] | None = None
    stop_gtid: str | None = None
    stop_datetime: float | None = None
    top: int = 10

    def __post_init__(self) -> None:
        if not 0 <= self.top <= MOST_LARGEST:
            raise UsageError(f"{self.top} is not a number of transactions", hint=f"give 0 to {MOST_LARGEST:,}")
        if _stops(self) > 1:
            raise UsageError("more than one place to stop",
                             hint="give one of --stop-position, --stop-gtid and --stop-datetime")


@dataclass(frozen=True)
class ChangeFilesOptions:
    """Where to write changes, and in which of CHANGE_FORMATS: those of the log of `changes` to the tables of `filter`,
    all columns or these, all rows or those with these keys. `output` is a directory to make, or "-" for stdout.
    `statements`: with the statements behind changes, where the log has them. `spreadsheet_safe`: no cell of CSV is a
    formula."""

    changes: ChangesOptions
    output: str
    format: str = "json"
    filter: TableFilter = EVERYTHING
    columns: tuple[str, ...] | None = None
    keys: Keys | None = None
    statements: bool = False
    spreadsheet_safe: bool = False

    def __post_init__(self) -> None:
        _one_of("--format", self.format, CHANGE_FORMATS)
        if self.spreadsheet_safe and self.format != "csv":
            raise UsageError("--spreadsheet-safe applies only to CSV", hint="add --format csv, or leave it out")


@dataclass(frozen=True)
class HistoryFilesOptions:
    """Where to write all versions of a table's rows, and where tasks run; `engine`, `master` and `conf` are as in
    ReplayOptions, `inputs` what is read."""

    inputs: tuple[str, ...]
    output: str
    engine: str = "auto"
    master: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _check_engine(self.engine, self.master, self.conf)

    @property
    def places(self) -> tuple[str, ...]:
        """What is read and written."""
        return *self.inputs, self.output


@dataclass(frozen=True)
class UndoOptions:
    """What to take back: in the log of `changes`, which goes up to where the server stands, the transactions `gtids`,
    as GtidChoice takes them, of a part of it (positions and times as in ReplayOptions), and of these the changes to the
    tables of `filter`. The statements go to `output`, in one of UNDO_FORMATS. `on_conflict`, one of ON_CONFLICT, is
    what happens to rows that others have changed since. Only rows for which the expression `where` is true, before or
    after, are undone."""

    changes: ChangesOptions
    output: str
    format: str = "sql"
    gtids: str | None = None
    start_position: tuple[str, int] | None = None
    stop_position: tuple[str, int] | None = None
    start_datetime: float | None = None
    stop_datetime: float | None = None
    filter: TableFilter = EVERYTHING
    on_conflict: str = REFUSE
    where: str | None = None

    def __post_init__(self) -> None:
        _one_of("--format", self.format, UNDO_FORMATS)
        _one_of("--on-conflict", self.on_conflict, ON_CONFLICT)
        bounds = self.start_position, self.stop_position, self.start_datetime, self.stop_datetime
        if self.gtids is None and not any(bound is not None for bound in bounds):
            raise UsageError("no transactions to undo are selected",
                             hint="give --gtids, or where they begin and end: --start-position, --stop-position, "
                                  "--start-datetime, --stop-datetime")


@dataclass(frozen=True)
class RewriteOptions:
    """The archive to rewrite, and the directory to make. `image`, one of IMAGES, is what row images have then, None:
    what they have; with `compress` transactions or rows events are compressed that are not, with `partial_json`
    documents that updates change become diffs where that is less, with `full_json` diffs become whole documents. The
    archive begins with `base`. `filter`, `rewrites`, `server_ids` and `ignore_server_ids` are as in ReplayOptions: the
    output has only what they keep, under the new names."""

    binlogs: tuple[str, ...]
    output: str
    image: str | None = None
    compress: bool = False
    partial_json: bool = False
    base: str | None = None
    full_json: bool = False
    filter: TableFilter = EVERYTHING
    rewrites: tuple[tuple[str, str], ...] = ()
    server_ids: tuple[int, ...] = ()
    ignore_server_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.image is not None:
            _one_of("--image", self.image, IMAGES)
        if self.partial_json and (self.image == FULL or self.full_json):
            option = "--image full" if self.image == FULL else "--full-json"
            raise UsageError(f"{option} makes images larger, --partial-json smaller", hint="leave out one of them")
        if self.full_json and self.image not in (None, FULL):
            raise UsageError(f"--full-json makes images larger, --image {self.image} smaller",
                             hint="leave out one of them")
        if self.image is None and not (self.compress or self.partial_json or self.full_json or self.filters):
            raise UsageError("nothing to rewrite",
                             hint="give --image, --partial-json, --full-json, --compress, or a filter such as --tables")
        _check_servers(self.server_ids, self.ignore_server_ids)

    @property
    def completes(self) -> int:
        """What images get that they lack, as bits: all columns, documents in place of diffs."""
        return (self.image == FULL) + 2 * self.full_json

    @property
    def filters(self) -> bool:
        """True if the output has other tables, servers or names than the archive."""
        return bool(self.filter != EVERYTHING or self.rewrites or self.server_ids or self.ignore_server_ids)

    def replaying(self, output: str) -> ReplayOptions:
        """The replay of the archive to a snapshot that the output has to lead to, too."""
        return ReplayOptions(self.binlogs, output, self.base, filter=self.filter, rewrites=self.rewrites,
                             server_ids=self.server_ids, ignore_server_ids=self.ignore_server_ids)


def _check_engine(engine: str, master: str | None, conf: tuple[tuple[str, str], ...]) -> None:
    _one_of("--engine", engine, ENGINES)
    if engine == "local" and master is not None:
        raise UsageError(f"--engine local runs in this process, and --master {master} names a Spark master",
                         hint="leave out one of them")
    if engine == "local" and conf:
        raise UsageError(f"--engine local runs in this process, and --conf {conf[0][0]} is a setting of Spark",
                         hint="leave out one of them")


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{option} cannot be {value!r}", hint=f"it is one of {', '.join(allowed)}")
