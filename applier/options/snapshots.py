"""What a job about snapshots and archives is asked to do."""

from dataclasses import dataclass

from applier.errors import UsageError
from applier.options import verbs
from applier.options.making import FULL
from applier.options.replay import ReplayOptions, check_engine, check_target
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import AS_DECIMAL, FILE_BYTES


@dataclass(frozen=True)
class ImportOptions:
    """A dump and what to make of it. `position` (binlog's base name, offset) and `gtid_set` say where it was made if
    it does not say so itself, and `group_id` the id of the last group in it (GRP-3); `flavour` None is told by the
    dump; `schema` has the definitions of tables whose rows are Parquet files; `system_time_zone` is what SYSTEM was
    on the server, for statements that set no zone; files have about `file_bytes`, and `unsigned_bigint` for such
    columns. `database` is that of statements that name none, and `default_character_set` that of text of which the
    dump does not say it; the dump "-" is stdin. `lake` in place of `output` is one whose next version is made."""

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

    def __post_init__(self) -> None:
        check_target(self.output, self.lake, merge_on_read=self.merge_on_read)
        verbs.IMPORT.check(self)

    def for_manifest(self) -> dict[str, object]:
        """The options that decide what the snapshot holds, as JSON: what is at its default is left out."""
        return self.filter.for_manifest() | verbs.IMPORT.recorded(self)


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
        verbs.EXPORT.check(self)
        check_engine(self.engine, self.master, self.conf)

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
