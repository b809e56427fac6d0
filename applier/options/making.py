"""Options for what to make."""

from applier.options import kinds
from applier.options.option import MAKE, REQUIRED, Option, Where

CHANGE_FORMATS = "json", "csv", "parquet", "debezium", "arrow"
IMAGES = MINIMAL, NOBLOB, FULL = "minimal", "noblob", "full"
"""The row images that a rewritten archive may have."""

OUTPUT = Option("output", kinds.PATH, MAKE, "The snapshot to make; must not exist yet.", value="SNAPSHOT", first=True)
LAKE = Option(
    "lake", kinds.PATH, MAKE, "Make the next version of this lake, not --output: a folder whose versions share the "
    "files that did not change. A replay goes on from the latest version, or from --base if there is none; a new lake "
    "is made.", value="LAKE", first=True)
MERGE_ON_READ = Option(
    "merge_on_read", kinds.FLAG, MAKE, "If --lake is new, have it merge on read: a round writes the rows that changed, "
    "and not their files, which other programs then cannot read as tables.", False)
LAKE_TO_FOLLOW = LAKE.of("The lake that follows: each round makes its next version. A new one is made.",
                         default=REQUIRED)
ICEBERG = Option(
    "iceberg", kinds.TEXT, MAKE, "A catalog of Iceberg: sqlite:////DIR/catalog.db, another database's uri as "
    "SQLAlchemy takes it, http:// of a REST catalog, or a name out of .pyiceberg.yaml, which is the place for "
    "passwords.", value="CATALOG", first=True)
DELTA = Option(
    "delta", kinds.PATH, MAKE, "A directory, local or s3://, that gets a Delta table DB/TABLE for each, with the "
    "snapshot's files linked or copied into it.", value="DIR", first=True)
FORMAT = Option("format", kinds.choice(), MAKE, first=True)
CHANGE_FORMAT = FORMAT.of(
    "How they are written. json: an object a line, an update with both images; debezium: the same as Debezium's "
    "connector has it; csv, parquet, arrow (a stream): the rows of `applier.changes`, an update as two.",
    kind=kinds.choice(*CHANGE_FORMATS), default="json", where=Where.COMMAND_LINE)
DIFF_FORMAT = FORMAT.of(
    "How they are written. table: counts, and the first rows, to read; json: a line for each table with counts, and "
    "one for each row; parquet: a file for each table that differs; sql: statements that make the rows of BEFORE into "
    "those of AFTER, in one transaction that fails where a row is not as in BEFORE.",
    kind=kinds.choice("table", "json", "parquet", "sql"), default="table", where=Where.COMMAND_LINE)
EXPORT_FORMAT = FORMAT.of(
    "How they are written. sql: INSERT statements; tsv: files for LOAD DATA, with the statements for it.",
    kind=kinds.choice("sql", "tsv"), default="sql")
QUERY_FORMAT = FORMAT.of(
    "How rows are written. table: the first 200, to read; json: a line for each; csv: with a header; parquet: a file.",
    kind=kinds.choice("table", "json", "csv", "parquet"), default="table", where=Where.COMMAND_LINE)
SHOW_FORMAT = FORMAT.of(
    "How they are printed. text: as `mysqlbinlog` and `mariadb-binlog` print them, with types of values at -vv; json: "
    "one object a line.", kind=kinds.choice("text", "json"), default="text")
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
    "What the file is. sql: one transaction, with a statement for each row that finds it by all of its values; binlog: "
    "the same as events with full images, for `mysqlbinlog --skip-gtids FILE | mysql`.",
    kind=kinds.choice("sql", "binlog"), default="sql")
REPAIR_FORMAT = FORMAT.of(
    "With --repair: what the file is. sql: one transaction, with a statement for each row that finds it by all of its "
    "values; binlog: events with full images, for `mysqlbinlog --skip-gtids FILE | mysql`, which fire no triggers.",
    kind=kinds.choice("sql", "binlog"), default="sql", where=Where.COMMAND_LINE)
IMAGE = Option(
    "image", kinds.choice(*IMAGES), MAKE, "What images of updates and deletes have. minimal: before, the "
    "key equivalent, and after, what changed; noblob: besides, all columns but TEXT, BLOB and JSON. Images that have "
    "less stay as they are. full: all columns, found by applying the archive to --base.", first=True,
    python="what images of updates and deletes have then. minimal: before, the key equivalent, and after, what "
           "changed; noblob: besides, all columns but TEXT, BLOB and JSON. Images that have less stay as they are. "
           "full: images of inserts, too, get all columns, as the log had them last, or as `base` has them; notes name "
           "those that are not known to the byte, and stay away.")
HTML = Option("html", kinds.PATH, MAKE, "Write a page with plots; an existing file is replaced.", first=True,
              where=Where.COMMAND_LINE)
KEEP_VERSIONS = Option(
    "keep", kinds.KEEP, MAKE, "How many versions stay, or those published since so long ago: 10, or 90s, 30m, 12h, "
    "7d, 4w. The latest stays in any case.", first=True)

JSON = Option("json", kinds.FLAG, MAKE, "Print one JSON document.", False, where=Where.COMMAND_LINE)
DEFINITIONS = Option("definitions", kinds.FLAG, MAKE, "With the CREATE TABLE of each table.", False,
                     where=Where.COMMAND_LINE)
SNAPSHOT_AT = Option(
    "snapshot_at", kinds.PLACES, MAKE, "Several snapshots in one pass: one at each of these positions, as "
    "--stop-position takes them, or where this GTID set is complete. --output is then the folder that holds them, "
    "each named after its position, for example binlog.000003-1234.", (),
    python="several positions or GTID sets: a snapshot at each, out of one pass, in the folder `output`.")
CHANGE_DATA = Option(
    "change_data", kinds.FLAG, MAKE, "With --delta: its tables have a change data feed from now on.", False,
    python="whether tables of Delta have a change data feed from now on: each commit then says by which rows the table "
           "differs from what it was at the one before, for `DeltaTable(place).load_cdf(…)`. Tables keep it.")
WAREHOUSE = Option(
    "warehouse", kinds.PATH, MAKE, "Where the catalog's own files go; by default beside a SQLite database, or as the "
    "catalog has it.", value="DIR")
DIALECT = Option("dialect", kinds.choice("duckdb", "spark"), MAKE, "Whose SQL: DuckDB's, or Spark SQL's.", "duckdb")
COMPRESS = Option(
    "compress", kinds.FLAG, MAKE, "Compress transactions (MySQL) or rows events (MariaDB), as servers do it.", False)
PARTIAL_JSON = Option(
    "partial_json", kinds.FLAG, MAKE, "Make diffs of JSON documents that updates change (MySQL), if that is less. "
    "Documents are compared one by one, which takes its time.", False)
FULL_JSON = Option(
    "full_json", kinds.FLAG, MAKE, "Make whole documents of the JSON diffs in updates (PARTIAL_UPDATE_ROWS). A diff "
    "whose document neither the log nor --base tells to the byte stays, and a note names its column.", False)
STATEMENTS = Option(
    "statements", kinds.FLAG, MAKE, "With the statements behind changes, where the log has them: a column, in JSON a "
    "member. Each line of JSON or CSV has the whole statement.", False,
    python="whether to add `_statement`: the SQL behind a change where the log has it (MySQL's with "
           "binlog_rows_query_log_events, MariaDB's with binlog_annotate_row_events), else null. Changes of a "
           "compressed transaction have one place in the log: with several statements it has none. A text may be "
           "long, and is there once for many rows, in a dictionary: cut it before it is copied for each, as by "
           "left(_statement, 200).")
SPREADSHEET_SAFE = Option(
    "spreadsheet_safe", kinds.FLAG, MAKE, "In CSV, put a quote (') before texts and column names that begin with =, "
    "+, -, @, a tab or a line break: a spreadsheet would run them as formulas.", False, where=Where.COMMAND_LINE)
COMPLETE = Option(
    "complete", kinds.FLAG, MAKE, "Apply the changes to what was there before, for whole rows before and after each, "
    "and what foreign keys change. A table's rows are then in memory.", False,
    python="whether to apply the changes to what was there before, for whole rows before and after each, JSON "
           "documents instead of diffs, and what foreign keys change (`_cascaded`). The table's rows are then in "
           "memory, and other transactions and rows may be decoded, too.")
UNSIGNED_BIGINT = Option(
    "unsigned_bigint", kinds.UNSIGNED, MAKE, "Type of BIGINT UNSIGNED columns in the output: decimal, of 20 digits; "
    "long, where a value from 2^63 on is an error; uint64, which not every reader has.", "decimal", recorded=True)
UNSIGNED_BIGINT_AS_BASE = UNSIGNED_BIGINT.of(default=None).plus("By default as in --base, or decimal.")
TARGET_FILE_SIZE = Option(
    "target_file_size", kinds.SIZE, MAKE, "Target size of new files, as 64M or 1G. An incremental replay rewrites "
    "every file that contains a changed row; many small files are slower to read.", "64M", field="file_bytes")
NO_DATA = Option("no_data", kinds.FLAG, MAKE, "Only the definitions.", False, where=Where.COMMAND_LINE)
DATA_ONLY = Option("data_only", kinds.FLAG, MAKE, "Only the rows.", False, where=Where.COMMAND_LINE)
WITH_DEFINITIONS = Option("definitions", kinds.FLAG, MAKE, "Whether to write CREATE TABLEs.", True, where=Where.PYTHON)
WITH_ROWS = Option("rows", kinds.FLAG, MAKE, "Whether to write rows.", True, where=Where.PYTHON)
IF_NOT_EXISTS = Option(
    "if_not_exists", kinds.FLAG, MAKE, "Keep tables that exist on the server; else they are an error.", False)
REPLACE = Option(
    "replace", kinds.FLAG, MAKE, "Replace the server's rows that have the same keys; else they are an error, and with "
    "tsv they stay, with a warning.", False, field="replaces")
SHOWN_ROWS = Option("rows", kinds.COUNT, MAKE, "How many rows of each table that differs are shown.", 20)
TOP = Option("top", kinds.LARGEST, MAKE, "How many of the largest transactions to list.", 10)
HEALTH = Option(
    "health", kinds.FILES, MAKE, "Say in this file how it does, after each look: in JSON, or in Prometheus' text "
    "format in a file that ends in .prom.", (), where=Where.COMMAND_LINE)
JSON_LOG = Option("json_log", kinds.FLAG, MAKE, "Print a JSON document a round, not a line.", False,
                  where=Where.COMMAND_LINE)
ALLOW_GROUP_ACCESS = Option(
    "allow_group_access", kinds.FLAG, MAKE, "Let the group read: new files get the mode 0640, not 0600, and a new "
    "directory 0750, not 0700.", False)
