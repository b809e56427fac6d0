"""Options of jobs about changes: read, write, sum up and undo them."""

from dataclasses import dataclass

from applier.binlog.locating.place import Place
from applier.errors import UsageError
from applier.option_texts import KeyValues
from applier.options import verbs
from applier.options.replay import check_engine
from applier.options.running import REFUSE
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import AS_DECIMAL


@dataclass(frozen=True)
class CommitRange:
    """Commits by version and by time, in microseconds since 1970 UTC; bounds are inclusive."""

    first_version: int = -1
    last_version: int = (1 << 63) - 1
    first_time: int = -(1 << 63)
    last_time: int = (1 << 63) - 1


ALL_COMMITS = CommitRange()


@dataclass(frozen=True)
class ChangesOptions:
    """The log from which to read changes. Without `ignore_foreign_keys`, changes by foreign keys that are not in the
    log are an error. `complete`: whole rows, and rows that foreign keys change. `unsigned_bigint`: the type of such
    columns. Selected are only changes from the first group of the time `start_datetime` (seconds since 1970 UTC) on, of
    the transactions `gtids`, as GtidChoice takes them, of commits in a range, and of threads (none: all), and not those
    of the transactions and servers that are left out, which still took effect: complete changes build on them. For
    `maybe_gtids`, unlike `gtids`, the log need not have any of them. `after` is a position where an earlier reading
    ended: the log before it is read only for definitions and prepared transactions. The rest is as in ReplayOptions."""

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
    thread_ids: tuple[int, ...] = ()
    after: Place | None = None
    system_time_zone: str | None = None

    def __post_init__(self) -> None:
        verbs.CHANGES.check(self)
        if self.after is not None and self.start_position is not None:
            raise UsageError("--start-position and --after both say where to begin", hint="give one of them")
        if self.after is not None and self.complete:
            raise UsageError("--complete needs the rows that the tables had, and --after has only their definitions",
                             hint="give a --base that has the rows")


@dataclass(frozen=True)
class SummaryOptions:
    """What to sum up: the row changes of tables, of transactions of `start_datetime` (seconds since 1970 UTC) or later
    and of these threads (none: all), and the `top` largest transactions. The rest is as in ReplayOptions."""

    binlogs: tuple[str, ...]
    filter: TableFilter = EVERYTHING
    start_position: tuple[str, int] | None = None
    start_datetime: float | None = None
    stop_position: tuple[str, int] | None = None
    stop_gtid: str | None = None
    stop_datetime: float | None = None
    thread_ids: tuple[int, ...] = ()
    top: int = 10

    def __post_init__(self) -> None:
        verbs.SUMMARY.check(self)


@dataclass(frozen=True)
class ChangeFilesOptions:
    """Where to write changes, and in which format: those of the log of `changes` to the tables of `filter`,
    all columns or these, all rows or those with these keys. `output` is a directory to make, or "-" for stdout.
    `statements`: with the statements behind changes, if the log has them. `spreadsheet_safe`: no cell of CSV is a
    formula."""

    changes: ChangesOptions
    output: str
    format: str = "json"
    filter: TableFilter = EVERYTHING
    columns: tuple[str, ...] | None = None
    keys: KeyValues | None = None
    statements: bool = False
    spreadsheet_safe: bool = False

    def __post_init__(self) -> None:
        verbs.CHANGES.check(self)
        if self.spreadsheet_safe and self.format != "csv":
            raise UsageError("--spreadsheet-safe applies only to CSV", hint="add --format csv, or leave it out")


@dataclass(frozen=True)
class HistoryFilesOptions:
    """Where to write all versions of a table's rows, and where to run tasks; `engine`, `master` and `conf` are as in
    ReplayOptions, `inputs` are the paths that are read."""

    inputs: tuple[str, ...]
    output: str
    engine: str = "auto"
    master: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_engine(self.engine, self.master, self.conf)

    @property
    def locations(self) -> tuple[str, ...]:
        """Return the paths that are read and written."""
        return *self.inputs, self.output


@dataclass(frozen=True)
class UndoOptions:
    """What to undo: in the log of `changes`, which goes up to the server's position, the transactions `gtids`,
    as GtidChoice takes them, of a part of it (positions and times as in ReplayOptions) and of these threads, and of
    these the changes to the tables of `filter`. The statements go to `output`, and `on_conflict` says what to do with
    rows that others have changed since. Only rows for which the expression `where` is true, before or after, are
    undone."""

    changes: ChangesOptions
    output: str
    format: str = "sql"
    gtids: str | None = None
    start_position: tuple[str, int] | None = None
    stop_position: tuple[str, int] | None = None
    start_datetime: float | None = None
    stop_datetime: float | None = None
    thread_ids: tuple[int, ...] = ()
    filter: TableFilter = EVERYTHING
    on_conflict: str = REFUSE
    where: str | None = None

    def __post_init__(self) -> None:
        verbs.UNDO.check(self)
        bounds = self.start_position, self.stop_position, self.start_datetime, self.stop_datetime
        if self.gtids is None and not self.thread_ids and not any(bound is not None for bound in bounds):
            raise UsageError("no transactions to undo are selected",
                             hint="give --gtids, --thread, or where they begin and end: --start-position, "
                                  "--stop-position, --start-datetime, --stop-datetime")
