"""Options of jobs about snapshots and archives."""

from dataclasses import dataclass

from applier.errors import UsageError
from applier.options import verbs
from applier.options.making import FULL
from applier.options.replay import ReplayOptions, check_engine, check_target
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import AS_DECIMAL, FILE_BYTES


@dataclass(frozen=True)
class ImportOptions:
    """A dump to import. `position` (binlog's base name, offset) and `gtid_set` give its position if
    it does not record it itself, and `group_id` the id of the last group in it (GRP-3); with `flavour` None, the dump
    decides; `schema` has the definitions of tables whose rows are Parquet files; `system_time_zone` is the meaning of
    SYSTEM on the server, for statements that set no zone; files have about `file_bytes`, and `unsigned_bigint` is the
    type of such columns. `database` applies to statements that name none, and `default_character_set` to text whose
    set the dump does not declare; the dump "-" is stdin. With `lake` instead of `output`, its next version is made.
    `partition`: by table, what its files are divided by."""

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
    parquet: tuple[tuple[str, str], ...] = ()
    database: str | None = None
    lake: str | None = None
    group_id: int | None = None
    default_character_set: str | None = None
    merge_on_read: bool = False
    partition: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_target(self.output, self.lake, merge_on_read=self.merge_on_read)
        verbs.IMPORT.check(self)

    def for_manifest(self) -> dict[str, object]:
        """Return the options that decide the contents of the snapshot, as JSON, without those at their defaults."""
        return self.filter.for_manifest() | verbs.IMPORT.recorded(self)


@dataclass(frozen=True)
class ExportOptions:
    """A snapshot to export as files that a server can load, and the output; `format` is "sql" or "tsv". `rewrites` are
    pairs of databases: old and new names. `definitions` and `rows` say what to write,
    `where` which rows: an expression in SQL. `if_not_exists` keeps existing tables, `replaces` replaces rows with
    the same keys. `engine`, `master` and `conf` are as in ReplayOptions."""

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
        verbs.EXPORT.check(self)
        check_engine(self.engine, self.master, self.conf)

    @property
    def locations(self) -> tuple[str, ...]:
        """Return the paths that are read and written."""
        return self.snapshot, self.output


@dataclass(frozen=True)
class DiffOptions:
    """Two snapshots to compare, and which of their tables."""

    before: str
    after: str
    filter: TableFilter = EVERYTHING


@dataclass(frozen=True)
class ExplainOptions:
    """Binlogs to explain, and sources of table definitions that are missing in them."""

    binlogs: tuple[str, ...]
    base: str | None = None
    schema: str | None = None
    filter: TableFilter = EVERYTHING
    define_from_log: bool = False


@dataclass(frozen=True)
class RewriteOptions:
    """The archive to rewrite, and the directory to make. `image`, one of IMAGES, is the new row image, None: the
    existing one. `compress` compresses transactions or rows events, `partial_json` turns updated documents into diffs
    if these are smaller, and `full_json` turns diffs into whole documents. The archive begins with `base`. `filter`,
    `rewrites`, `server_ids`, `ignore_server_ids` and `system_time_zone` are as in ReplayOptions: the output has only
    the tables and servers that they keep, under the new names."""

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
    system_time_zone: str | None = None

    def __post_init__(self) -> None:
        verbs.REWRITE.check(self)
        if self.partial_json and (self.image == FULL or self.full_json):
            option = "--image full" if self.image == FULL else "--full-json"
            raise UsageError(f"{option} makes images larger, --partial-json smaller", hint="leave out one of them")
        if self.full_json and self.image not in (None, FULL):
            raise UsageError(f"--full-json makes images larger, --image {self.image} smaller",
                             hint="leave out one of them")
        if self.image is None and not (self.compress or self.partial_json or self.full_json or self.filters):
            raise UsageError("nothing to rewrite",
                             hint="give --image, --partial-json, --full-json, --compress, or a filter such as --tables")

    @property
    def completes(self) -> int:
        """Return the additions to images, as bits: all columns, documents instead of diffs."""
        return (self.image == FULL) + 2 * self.full_json

    @property
    def filters(self) -> bool:
        """True if the output has other tables, servers or names than the archive."""
        return bool(self.filter != EVERYTHING or self.rewrites or self.server_ids or self.ignore_server_ids)

    def replaying(self, output: str) -> ReplayOptions:
        """Return the replay of the archive to a snapshot that the output must also produce."""
        return ReplayOptions(self.binlogs, output, self.base, filter=self.filter, rewrites=self.rewrites,
                             server_ids=self.server_ids, ignore_server_ids=self.ignore_server_ids,
                             system_time_zone=self.system_time_zone)
