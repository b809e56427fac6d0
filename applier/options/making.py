"""Options for the output."""

from applier.options import kinds
from applier.options.option import MAKE, REQUIRED, Option, Where

CHANGE_FORMATS = "json", "csv", "parquet", "debezium", "arrow"
IMAGES = MINIMAL, NOBLOB, FULL = "minimal", "noblob", "full"
"""The row images of a rewritten archive."""

OUTPUT = Option("output", kinds.PATH, MAKE, "The snapshot to make; must not exist yet.", value="SNAPSHOT", first=True)
LAKE = Option(
    "lake", kinds.PATH, MAKE, "Make the next version of this lake, not --output: a folder whose versions share "
    "unchanged files. A replay continues from the latest version, or from --base if there is none; a lake that does "
    "not exist is created.", value="LAKE", first=True)
MERGE_ON_READ = Option(
    "merge_on_read", kinds.FLAG, MAKE, "Create --lake as a lake that merges on read: a round writes only the changed "
    "rows, not their whole files, which other programs then cannot read as tables.", False)
COMPACT_BUDGET = Option(
    "compact_budget", kinds.SIZE, MAKE, "In a lake that merges on read: the number of bytes that a version may rewrite "
    "where changes exceed a fifth of a file, starting with the files whose last change is oldest.", "1G",
    field="compact_bytes")
LAKE_TO_FOLLOW = LAKE.of("The lake that follows: each round makes its next version. It is created if it does not "
                         "exist.", default=REQUIRED)
ICEBERG = Option(
    "iceberg", kinds.TEXT, MAKE, "An Iceberg catalog: sqlite:////DIR/catalog.db, the SQLAlchemy URI of another "
    "database, http:// of a REST catalog, or a name from .pyiceberg.yaml, which is the place for passwords.",
    value="CATALOG", first=True)
DELTA = Option(
    "delta", kinds.PATH, MAKE, "A directory, local or s3://, in which each table gets a Delta table DB/TABLE, with the "
    "snapshot's files linked or copied into it.", value="DIR", first=True)
FORMAT = Option("format", kinds.choice(), MAKE, first=True)
CHANGE_FORMAT = FORMAT.of(
    "Output format. json: one object per line, an update with both images; debezium: the same as Debezium's "
    "connector writes it; csv, parquet, arrow (a stream): the rows of `applier.changes`, an update as two.",
    kind=kinds.choice(*CHANGE_FORMATS), default="json", where=Where.COMMAND_LINE)
DIFF_FORMAT = FORMAT.of(
    "Output format. table: counts and the first rows, for people; json: a line with counts for each table, and "
    "one for each row; parquet: a file for each table that differs; sql: statements that turn the rows of BEFORE into "
    "those of AFTER, in one transaction that fails if a row is not as in BEFORE.",
    kind=kinds.choice("table", "json", "parquet", "sql"), default="table", where=Where.COMMAND_LINE)
EXPORT_FORMAT = FORMAT.of(
    "Output format. sql: INSERT statements; tsv: files for LOAD DATA, with its statements.",
    kind=kinds.choice("sql", "tsv"), default="sql")
QUERY_FORMAT = FORMAT.of(
    "Output format. table: the first 200 rows, for people; json: one object per line; csv: with a header; parquet: a "
    "file.",
    kind=kinds.choice("table", "json", "csv", "parquet"), default="table", where=Where.COMMAND_LINE)
SHOW_FORMAT = FORMAT.of(
    "Output format. text: as `mysqlbinlog` and `mariadb-binlog` print it, with the types of values at -vv; json: one "
    "object per line.", kind=kinds.choice("text", "json"), default="text")
BASE64_OUTPUT = Option(
    "base64_output", kinds.choice("decode-rows", "auto", "never"), MAKE, "How row changes are printed. decode-rows: as "
    "comments; auto: as BINLOG statements, for `mysql`, and with -v as comments, too; never: they are an error.",
    "decode-rows")
RESULT_FILE = Option("result_file", kinds.PATH, MAKE, "The file to make. By default stdout.", value="FILE",
                     flags=("--result-file", "-r"))
SHORT_FORM = Option("short_form", kinds.FLAG, MAKE, "Only statements: no headers, no row changes.", False,
                    flags=("--short-form", "-s"))
SKIP_GTIDS = Option("skip_gtids", kinds.FLAG, MAKE, "Leave GTIDs out, so that a server gives transactions its own.",
                    False)
LOCAL_LOAD = Option(
    "local_load", kinds.PATH, MAKE, "Write the files of LOAD DATA into this directory, for the statements that read "
    "them.", value="DIR", flags=("--local-load", "-l"))
UNDO_FORMAT = FORMAT.of(
    "Format of the file. sql: one transaction, with a statement for each row that finds it by all of its values; "
    "binlog: the same as events with full images, for `mysqlbinlog --skip-gtids FILE | mysql`.",
    kind=kinds.choice("sql", "binlog"), default="sql")
REPAIR_FORMAT = FORMAT.of(
    "With --repair: format of the file. sql: one transaction, with a statement for each row that finds it by all of "
    "its values; binlog: events with full images, for `mysqlbinlog --skip-gtids FILE | mysql`, which fire no triggers.",
    kind=kinds.choice("sql", "binlog"), default="sql", where=Where.COMMAND_LINE)
IMAGE = Option(
    "image", kinds.choice(*IMAGES), MAKE, "Columns in the images of updates and deletes. minimal: the key equivalent "
    "before, and the changed columns after; noblob: also all columns except TEXT, BLOB and JSON. Images that already "
    "have less are unchanged. full: all columns, found by applying the archive to --base.", first=True,
    python="columns in the images of updates and deletes. minimal: the key equivalent before, and the changed columns "
           "after; noblob: also all columns except TEXT, BLOB and JSON. Images that already have less are unchanged. "
           "full: images, including those of inserts, get all columns, from the last image in the log or from `base`; "
           "notes name columns whose bytes are unknown, which stay missing.")
HTML = Option("html", kinds.PATH, MAKE, "Write an HTML page with plots; an existing file is replaced.", first=True,
              where=Where.COMMAND_LINE)
KEEP_VERSIONS = Option(
    "keep", kinds.KEEP, MAKE, "How many versions to keep, or for how long after publication: 10, or 90s, 30m, 12h, "
    "7d, 4w. The latest version is always kept.", first=True)

JSON = Option("json", kinds.FLAG, MAKE, "Print one JSON document.", False, where=Where.COMMAND_LINE)
DEFINITIONS = Option("definitions", kinds.FLAG, MAKE, "Include the CREATE TABLE of each table.", False,
                     where=Where.COMMAND_LINE)
SNAPSHOT_AT = Option(
    "snapshot_at", kinds.PLACES, MAKE, "Several snapshots in one pass: one at each of these positions, as "
    "--stop-position takes them, or where this GTID set is complete. --output is then the folder that holds them, "
    "each named after its position, for example binlog.000003-1234.", (),
    python="several positions or GTID sets: a snapshot at each, in one pass, in the folder `output`.")
CHANGE_DATA = Option(
    "change_data", kinds.FLAG, MAKE, "With --delta: enable the tables' change data feed from now on.", False,
    python="whether to enable the change data feed of Delta tables from now on: each commit then lists the rows that "
           "differ from the previous one, for `DeltaTable(path).load_cdf(…)`. Tables keep the feed.")
WAREHOUSE = Option(
    "warehouse", kinds.PATH, MAKE, "Location of the catalog's own files; by default beside a SQLite database, or as "
    "the catalog defines it.", value="DIR")
EXPIRE_SNAPSHOTS = Option(
    "expire", kinds.AGE, MAKE, "With --iceberg: remove tables' snapshots that were replaced longer ago than this, as "
    "12h, 7d or 4w, with the metadata and delete files that only they need. Snapshots with tags or branches stay.",
    python="an age, as `\"7d\"`: snapshots of Iceberg tables that were replaced longer ago are removed, with the "
           "metadata and delete files that only they need. Snapshots with tags or branches stay.")
TAG = Option(
    "tag", kinds.TEXT, MAKE, "With --iceberg: give each table's snapshot this tag, by which readers find all tables at "
    "this position. A tag that exists moves here. `applier expire` keeps the version of a lake that has it.",
    python="a tag for each table's snapshot in Iceberg, by which readers find all tables at this position. A tag that "
           "exists moves here. `applier.expire` keeps the version of a lake that has it.")
DIALECT = Option("dialect", kinds.choice("duckdb", "spark"), MAKE, "SQL dialect: DuckDB's, or Spark SQL's.", "duckdb")
COMPRESS = Option(
    "compress", kinds.FLAG, MAKE, "Compress transactions (MySQL) or rows events (MariaDB), as servers do.", False)
PARTIAL_JSON = Option(
    "partial_json", kinds.FLAG, MAKE, "Turn updated JSON documents into diffs if these are smaller (MySQL). "
    "Documents are compared one by one, which is slow.", False)
FULL_JSON = Option(
    "full_json", kinds.FLAG, MAKE, "Turn the JSON diffs of updates (PARTIAL_UPDATE_ROWS) into whole documents. A diff "
    "stays if neither the log nor --base has the exact bytes of its document, and a note names its column.", False)
STATEMENTS = Option(
    "statements", kinds.FLAG, MAKE, "Include the statements behind changes, if the log has them: as a column, in JSON "
    "as a member. Each line of JSON or CSV repeats the whole statement.", False,
    python="whether to add `_statement`: the SQL behind a change if the log has it (MySQL's with "
           "binlog_rows_query_log_events, MariaDB's with binlog_annotate_row_events), else null. Changes of a "
           "compressed transaction have one position in the log: with several statements it is null. A long text is "
           "stored once for many rows, in a dictionary: shorten it before it is copied for each row, as by "
           "left(_statement, 200).")
ORIGINS = Option(
    "origins", kinds.FLAG, MAKE, "With --output: add columns for the positions and threads of the changes that began "
    "and ended versions.", False,
    python="whether to add `_from_file`, `_from_pos`, `_to_file`, `_to_pos`, the positions of the changes that began "
           "and ended a version (of DDL that of its event group), and `_from_thread` and `_to_thread`, the threads "
           "(CONNECTION_ID()), if the log has them.")
SPREADSHEET_SAFE = Option(
    "spreadsheet_safe", kinds.FLAG, MAKE, "In CSV, put a quote (') before texts and column names that begin with =, "
    "+, -, @, a tab or a line break: a spreadsheet would run them as formulas.", False, where=Where.COMMAND_LINE)
COMPLETE = Option(
    "complete", kinds.FLAG, MAKE, "Apply the changes to the previous rows, for whole rows before and after each, "
    "and rows that foreign keys change. A table's rows are then in memory.", False,
    python="whether to apply the changes to the previous rows, for whole rows before and after each, JSON "
           "documents instead of diffs, and rows that foreign keys change (`_cascaded`). The table's rows are then in "
           "memory, and other transactions and rows may be decoded, too.")
UNSIGNED_BIGINT = Option(
    "unsigned_bigint", kinds.UNSIGNED, MAKE, "Type of BIGINT UNSIGNED columns in the output: decimal, of 20 digits; "
    "long, where a value from 2^63 on is an error; uint64, which not every reader supports.", "decimal", recorded=True)
UNSIGNED_BIGINT_AS_BASE = UNSIGNED_BIGINT.of(default=None).plus("By default as in --base, or decimal.")
TARGET_FILE_SIZE = Option(
    "target_file_size", kinds.SIZE, MAKE, "Target size of new files, as 64M or 1G. An incremental replay rewrites "
    "every file that contains a changed row; many small files are slower to read.", "64M", field="file_bytes")
PARQUET = Option(
    "parquet", kinds.PARQUET, MAKE, "A property of new Parquet files: compression=zstd|gzip|snappy|lz4|none, "
    "compression-level=1, row-group-size=64M (of uncompressed data), page-index=yes, bloom-filter=keys. What is not "
    "given is as in --base or the lake's latest version, or by default.", recorded=True,
    python="properties of new Parquet files by name: compression (zstd, gzip, snappy, lz4, none), compression-level, "
           "row-group-size (64M, of uncompressed data), page-index (yes, no), bloom-filter (keys, none). What is not "
           "given is as in `base` or the lake's latest version, or by default.")
PARQUET_OF_DUMP = PARQUET.of(
    "A property of new Parquet files: compression=zstd|gzip|snappy|lz4|none, compression-level=1, row-group-size=64M "
    "(of uncompressed data), page-index=yes, bloom-filter=keys. Replays onto the snapshot keep it.")
PARTITION = Option(
    "partition", kinds.PARTITIONS, MAKE, "Divide a table's files by a transform of a column, as Iceberg's partitions, "
    "so that readers skip files: 'shop.orders=month(created_at)'. The transforms are identity, year, month, day, hour, "
    "bucket[N] and truncate[W]. Later replays and rounds keep it.",
    python="what files of tables are divided by, as Iceberg's partitions, so that readers skip files: "
           "{\"shop.orders\": \"month(created_at)\"}. The transforms are identity, year, month, day, hour, bucket[N] "
           "and truncate[W]. Later replays and rounds keep it.")
NO_DATA = Option("no_data", kinds.FLAG, MAKE, "Only the definitions.", False, where=Where.COMMAND_LINE)
DATA_ONLY = Option("data_only", kinds.FLAG, MAKE, "Only the rows.", False, where=Where.COMMAND_LINE)
WITH_DEFINITIONS = Option("definitions", kinds.FLAG, MAKE, "Whether to write CREATE TABLEs.", True, where=Where.PYTHON)
WITH_ROWS = Option("rows", kinds.FLAG, MAKE, "Whether to write rows.", True, where=Where.PYTHON)
IF_NOT_EXISTS = Option(
    "if_not_exists", kinds.FLAG, MAKE, "Keep tables that exist on the server; without it they are an error.", False)
REPLACE = Option(
    "replace", kinds.FLAG, MAKE, "Replace the server's rows that have the same keys; without it they are an error, or, "
    "with tsv, are kept with a warning.", False, field="replaces")
SHOWN_ROWS = Option("rows", kinds.COUNT, MAKE, "How many rows to show for each table that differs.", 20)
TOP = Option("top", kinds.LARGEST, MAKE, "How many of the largest transactions to list.", 10)
METRICS = Option(
    "metrics", kinds.FILES, MAKE, "Write the figures of the run to this file when it ends, also if it fails: as JSON, "
    "or, if the name ends in .prom, in Prometheus' text format.", ())
LINEAGE = Option(
    "lineage", kinds.PATH, MAKE, "Send OpenLineage events at the start and the end of the run to this http:// or "
    "https:// URL, or append them to this file.", value="URL|FILE")
JSON_LOG = Option("json_log", kinds.FLAG, MAKE, "Print one JSON document per round, not a line.", False,
                  where=Where.COMMAND_LINE)
ALLOW_GROUP_ACCESS = Option(
    "allow_group_access", kinds.FLAG, MAKE, "Let the group read: new files get the mode 0640, not 0600, and a new "
    "directory 0750, not 0700.", False)
