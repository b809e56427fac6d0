"""The verbs. Each is a list of options, in the order of its Python function's arguments."""

from applier.options import choosing, kinds, making, reading, running
from applier.options.option import READ, REQUIRED, Verb, Where

VERB_GROUPS = SNAPSHOTS, ARCHIVES, BINLOGS, ROWS, USES, LAKES = (
    "Make snapshots", "Keep archives", "Look into binlogs", "Follow rows", "Use snapshots", "Keep lakes")

_TABLES = choosing.TABLE_NAMES, choosing.IGNORE_TABLES
_SERVERS = choosing.SERVER_IDS_TO_READ, choosing.IGNORE_SERVER_IDS
FOLLOWING = (
    running.STATE, running.EVERY.of(default=1.0, command_default="1s"), choosing.UNTIL_NOW, running.BATCH_BYTES,
    reading.SOURCE_TO_COPY, reading.DEFAULTS_FILE.of(group=READ))
_TELEMETRY = making.METRICS, making.LINEAGE
_SPARK = running.ENGINE, running.MASTER, running.CONF_OF_SPARK
_BASE_OF_REPLAY = reading.BASE.of("The snapshot that a replay would start from.")
_OPTIONAL_BINLOGS = reading.BINLOGS.of(default=None)
_OUTPUT = making.OUTPUT.of(default=REQUIRED)

REPLAY = Verb(
    "replay", SNAPSHOTS, "binlogs become a snapshot", reading.BINLOGS, making.OUTPUT, making.LAKE, making.MERGE_ON_READ,
    making.COMPACT_BUDGET, reading.BASE,
    reading.SCHEMA, choosing.START, choosing.REAPPLY, choosing.STOP, making.SNAPSHOT_AT, *_TABLES, choosing.REWRITE_DB,
    choosing.EXCLUDE_GTIDS, *_SERVERS, running.EXEC_MODE, running.TYPE_CONVERSIONS, running.ZERO_DATES, running.WITNESS,
    running.ON_STATEMENT, reading.DEFINE_FROM_LOG, running.SYSTEM_TIME_ZONE, running.LOWER_CASE_TABLE_NAMES,
    running.CHECK_FOREIGN_KEYS, making.UNSIGNED_BIGINT_AS_BASE, making.TARGET_FILE_SIZE, making.PARQUET,
    making.PARTITION, running.PASS_BYTES, running.ROUTE, *_SPARK, running.SHARED_DIR, *_TELEMETRY,
    reading.KEYS_OF_LOGS, running.PROGRESS, positional=2)
IMPORT = Verb(
    "import", SNAPSHOTS, "a dump becomes a snapshot", reading.DUMP, making.OUTPUT, making.LAKE, making.MERGE_ON_READ,
    reading.SCHEMA.of("CREATE TABLEs of tables whose rows are Parquet files: DUMP is then a directory of "
                      "DB/TABLE/….parquet or DB.TABLE.parquet."),
    reading.DUMP_POSITION, reading.DUMP_GTID_SET, reading.DUMP_GROUP_ID, reading.FLAVOUR,
    running.SYSTEM_TIME_ZONE.of("The time zone of the dump's server, as +02:00 or Europe/Rome: TIMESTAMPs of dumps "
                                "with --skip-tz-utc are in this zone, which such dumps do not name."),
    reading.DATABASE, reading.DEFAULT_CHARACTER_SET, making.UNSIGNED_BIGINT, making.TARGET_FILE_SIZE,
    making.PARQUET_OF_DUMP, making.PARTITION, *_TABLES, running.PROGRESS, positional=2)

ARCHIVE = Verb(
    "archive", ARCHIVES, "copy a server's binlogs", reading.SOURCE,
    _OUTPUT.of("The directory of the archive. If it has binlogs, copying continues after them.", value="DIR",
               python="the directory of the archive. On an object store it gets files when they are complete, and the "
                      "last one when this function ends."),
    choosing.START_GTID, choosing.START_FILE, choosing.UNTIL_NOW.of(off="--stop-never"), making.ALLOW_GROUP_ACCESS,
    reading.DEFAULTS_FILE.of(group=READ), making.METRICS.of(
        "Write the figures of the run to this file every ten seconds and at the end: as JSON, or, if the name ends in "
        ".prom, in Prometheus' text format."), making.LINEAGE, running.STOPPED,
    running.PROGRESS.of("Called with each Step; it has a note for each file that is complete."))
DOCTOR = Verb(
    "doctor", ARCHIVES, "what would stop a replay",
    reading.BINLOGS.of(default=()).plus("Without it, only the machine is checked."),
    making.OUTPUT.of("Location of the snapshot: checks whether one can be made there, and leaves nothing there."),
    _BASE_OF_REPLAY,
    *REPLAY.without(reading.BINLOGS, making.OUTPUT, making.LAKE, making.MERGE_ON_READ,
                    making.COMPACT_BUDGET, reading.BASE,
                    running.ZERO_DATES, running.WITNESS,
                    running.CHECK_FOREIGN_KEYS, making.TARGET_FILE_SIZE, making.PARQUET, making.PARTITION, *_TELEMETRY,
                    running.PROGRESS),
    making.JSON, running.PROGRESS, like=REPLAY, positional=2)
REWRITE = Verb(
    "rewrite", ARCHIVES, "smaller, whole, or filtered",
    reading.BINLOGS.plus("It must start at its beginning or at --base."),
    _OUTPUT.of("The directory to make, on this machine: the files and an index of them.", value="DIR"),
    making.IMAGE, making.PARTIAL_JSON, making.FULL_JSON, making.COMPRESS,
    reading.BASE.of("A snapshot at the beginning of the archive."), *_TABLES, choosing.REWRITE_DB, *_SERVERS,
    running.SYSTEM_TIME_ZONE, reading.KEYS_OF_LOGS, running.PROGRESS)
INDEX = Verb(
    "index", BINLOGS, "makes `locate` faster",
    _OPTIONAL_BINLOGS.of("A directory of binlogs; local or a URI.", kind=kinds.DIRECTORY),
    reading.UNNAMED_DIRECTORY, reading.KEYS_OF_LOGS)

SUMMARY = Verb(
    "summary", BINLOGS, "what was done, by whom", reading.BINLOGS, *_TABLES, choosing.START_OF_SUMMARY, choosing.STOP,
    choosing.THREAD_IDS, making.TOP, making.JSON, making.HTML, reading.KEYS_OF_LOGS, running.PROGRESS)
SHOW = Verb(
    "show", BINLOGS, "events and rows as text", _OPTIONAL_BINLOGS.plus("`-` is stdin."), reading.UNNAMED_BINLOGS,
    reading.SOURCE_TO_SHOW, reading.DEFAULTS_FILE.of(group=READ), making.SHOW_FORMAT, making.BASE64_OUTPUT,
    making.SHORT_FORM, making.SKIP_GTIDS, making.RESULT_FILE, making.LOCAL_LOAD,
    choosing.TABLE_NAMES.of(flags=("--tables", "--table", "--database", "-d")),
    choosing.GTIDS_TO_READ.of(flags=("--gtids", "--gtid", "--include-gtids")),
    choosing.EXCLUDE_GTIDS.of("All transactions except these."), *_SERVERS, choosing.THREAD_IDS,
    *choosing.START_OF_SHOW, *choosing.STOP_OF_SHOW, reading.KEYS_OF_LOGS)
LOCATE = Verb(
    "locate", BINLOGS, "where a GTID or a time is", reading.BINLOGS, reading.GTID, reading.AT_TIME, reading.XID,
    reading.GROUP_ID_TO_FIND, making.JSON, reading.KEYS_OF_LOGS, running.PROGRESS)
COMPARE = Verb(
    "compare", ARCHIVES, "which one is ahead", reading.FIRST_TO_COMPARE, reading.SECOND_TO_COMPARE, making.JSON,
    reading.KEYS_OF_LOGS, running.PROGRESS)
EXPLAIN = Verb(
    "explain", ROWS, "how rows are found", reading.BINLOGS, _BASE_OF_REPLAY, reading.SCHEMA_OF_ANY,
    *_TABLES, reading.DEFINE_FROM_LOG, making.JSON, reading.KEYS_OF_LOGS, running.PROGRESS)

_TABLES_OF_CHANGES = (
    choosing.TABLE_NAMES.of(python="several tables: the result has the changes of each one by its name. `db` alone "
                                   "means the whole database, and `*`, `?` and `%` are wildcards, as in `replay`. "
                                   "Without `table` and `tables`, all tables that have changes."),
    choosing.IGNORE_TABLES.of(python="all tables except these."))
_OPTIONS_OF_CHANGES = (
    making.OUTPUT.of("The directory to make, with a file for each table; or stdout.", value="DIR|-", default="-",
                     where=Where.COMMAND_LINE),
    making.CHANGE_FORMAT, choosing.COLUMN_NAMES.plus("Each table must have them."),
    reading.BASE.of("A snapshot with the tables' definitions; changes are those after it."),
    reading.SCHEMA_OF_ANY, choosing.START_OF_CHANGES, choosing.AFTER, choosing.STOP, choosing.GTIDS_TO_READ,
    choosing.EXCLUDE_GTIDS.of("All changes except those of these transactions. With --complete these are applied but "
                              "not written.",
                              python="all changes except those of these transactions. `notes` count those that the log "
                                     "does not have. With `complete`, these are applied but not returned."),
    *_SERVERS, choosing.THREAD_IDS, choosing.KEY, reading.DEFINE_FROM_LOG, running.SYSTEM_TIME_ZONE,
    running.IGNORE_FOREIGN_KEYS, making.COMPLETE,
    making.STATEMENTS, making.SPREADSHEET_SAFE, making.UNSIGNED_BIGINT, running.FOLLOW,
    *(option.of(where=Where.COMMAND_LINE) for option in FOLLOWING), reading.KEYS_OF_LOGS, running.PROGRESS)
CHANGES_OF_TABLE = Verb("changes", ROWS, "", reading.BINLOGS, choosing.TABLE, *_OPTIONS_OF_CHANGES)
CHANGES_OF_TABLES = Verb("changes", ROWS, "", reading.BINLOGS, *_TABLES_OF_CHANGES, *_OPTIONS_OF_CHANGES)
CHANGES = Verb(
    "changes", ROWS, "row changes for programs", reading.BINLOGS,
    choosing.TABLE.of(where=Where.PYTHON, default=None, python='its name, as "shop.orders".'), *_TABLES_OF_CHANGES,
    *_OPTIONS_OF_CHANGES, positional=2)
FOLLOW = Verb(
    "follow", ROWS, "", reading.BINLOGS, choosing.TABLE_NAMES, choosing.IGNORE_TABLES,
    running.STATE, choosing.AFTER, *FOLLOWING[1:], running.ENDING_TO_ASK.of(
        python="an object by which another thread or a signal handler ends it, after the current batch."),
    reading.BASE.of("A snapshot with the tables' definitions at the beginning of the archive, or to continue from."),
    reading.SCHEMA_OF_ANY, choosing.EXCLUDE_GTIDS.of("All changes except those of these transactions."), *_SERVERS,
    reading.DEFINE_FROM_LOG, running.IGNORE_FOREIGN_KEYS, making.STATEMENTS, making.UNSIGNED_BIGINT,
    reading.KEYS_OF_LOGS, running.PROGRESS, like=CHANGES, positional=2)
HISTORY = Verb(
    "history", ROWS, "what a row was, and when", reading.BINLOGS, choosing.TABLE,
    making.OUTPUT.of("A directory to make, with Parquet files of all versions of all rows.", value="DIR",
                     where=Where.COMMAND_LINE),
    choosing.COLUMN_NAMES,
    choosing.KEY.of("Show the row with this primary key, even if it is deleted: the values of its columns, in key "
                    "order.",
                    kind=kinds.ROW_KEY,
                    python="only the versions of the row with this key, or of several rows, as in `changes`, which "
                           "omits changes without the key; others are not kept in memory if one key finds all "
                           "rows."),
    reading.BASE.of("A snapshot to begin with: its rows are the first versions."), reading.SCHEMA_WITH_ROWS,
    reading.SERVER_OF_LOG, reading.DEFAULTS_FILE.of(group=READ),
    choosing.STOP,
    choosing.THREAD_IDS.of("Only versions that transactions of these threads began or ended (CONNECTION_ID()). "
                           "MariaDB before 11.5 does not log which thread changed rows."),
    reading.DEFINE_FROM_LOG, running.SYSTEM_TIME_ZONE,
    making.STATEMENTS.of("With --output: add a column of the statements that began versions, if the log has them.",
                         python="whether to add `_statement`: the SQL that began a version, if the log has it, as "
                                "in `changes`."),
    making.ORIGINS,
    making.UNSIGNED_BIGINT, *(option.of(where=Where.COMMAND_LINE) for option in _SPARK), reading.KEYS_OF_LOGS,
    running.PROGRESS)
UNDO = Verb(
    "undo", ROWS, "undo transactions",
    reading.BINLOGS.plus("From before the transactions up to the server's position."),
    _OUTPUT.of("The file to make.", value="FILE"),
    choosing.GTIDS_TO_READ.of("Undo these transactions: UUID:1-5, or MariaDB's one by one, 0-1-5,0-1-7."),
    choosing.FIRST_TO_UNDO, choosing.LAST_TO_UNDO, choosing.THREAD_IDS, *_TABLES,
    choosing.WHERE.of("Only rows for which this is true, before or after the transactions, as in \"category = "
                      "'audio' AND price = 0.01\": SQL on a table's columns.", value="EXPRESSION"),
    reading.BASE.of("Begin with this snapshot, from before them."), reading.SCHEMA_WITH_ROWS,
    reading.SERVER_OF_LOG, reading.DEFAULTS_FILE.of(group=READ), choosing.UNTIL,
    making.UNDO_FORMAT, making.JSON, running.ON_CONFLICT, reading.DEFINE_FROM_LOG, running.SYSTEM_TIME_ZONE,
    reading.KEYS_OF_LOGS, running.PROGRESS)

STATUS = Verb(
    "status", USES, "its position and tables",
    reading.SNAPSHOT_TO_READ.of("A snapshot made by `replay`, or a lake.", value="[SNAPSHOT]", default=None),
    choosing.AS_OF, making.ICEBERG.of("Instead of a snapshot: an Iceberg catalog, as for `publish`."),
    making.DELTA.of("Instead of a snapshot: a directory with Delta tables, as for `publish`."),
    _OPTIONAL_BINLOGS.of("With SNAPSHOT: an archive; also print how far the snapshot is behind it."),
    choosing.TABLE_NAMES.plus("With --iceberg or --delta."), choosing.IGNORE_TABLES, making.DEFINITIONS, making.JSON,
    reading.KEYS_OF_LOGS)
PUBLISHED = Verb(
    "published", USES, "",
    making.ICEBERG.of("An Iceberg catalog, as for `publish`; readers use a table's `id` as its snapshot, as in "
                      "`load_table(name).scan(snapshot_id=…)` of pyiceberg."),
    making.DELTA.of("A directory of published tables; readers use the `id` as the version, as in "
                    "`DeltaTable(path, version=…)`."),
    choosing.AS_OF.of("A position, a GTID set, or a time (local, if it has no zone): the last publication at or before "
                      "it; by default the last one of all."), *_TABLES)
REPORT = Verb(
    "report", USES, "how it was made", reading.SNAPSHOT_TO_READ.of("A snapshot made by `replay`."), making.HTML,
    making.JSON)
SQL = Verb(
    "sql", USES, "query it with DuckDB", reading.PLACE_TO_QUERY, reading.QUERY, choosing.AS_OF, reading.ALSO,
    making.QUERY_FORMAT,
    making.OUTPUT.of("The file to write; json and csv go to stdout without it.", value="FILE",
                     where=Where.COMMAND_LINE))
VIEWS = Verb(
    "views", USES, "SQL that reads it",
    reading.PLACE_TO_QUERY.of("A snapshot, or the directory of `changes --format parquet` or of `history`."),
    choosing.AS_OF, making.DIALECT, *_TABLES)
DIFF = Verb(
    "diff", USES, "between two snapshots", reading.BEFORE, reading.AFTER,
    _OPTIONAL_BINLOGS.of("An archive, instead of AFTER: it is replayed onto BEFORE, in a temporary folder.",
                         python="an archive that is replayed onto the one before, in a temporary folder."),
    choosing.STOP, making.DIFF_FORMAT,
    making.DEFINITIONS.of("With --format sql: also repair definitions. Tables that differ are altered, or, if their "
                          "columns differ, recreated; tables that only one side has are dropped or created. Losses are "
                          "printed, and listed first in the file."),
    making.OUTPUT.of("The file to write, or, for parquet, the directory; json and sql go to stdout without it.",
                     value="PATH", where=Where.COMMAND_LINE),
    making.SHOWN_ROWS.of(where=Where.COMMAND_LINE), *_TABLES, reading.KEYS_OF_LOGS, running.PROGRESS,
    positional=2)
VERIFY = Verb(
    "verify", USES, "against files or a server", reading.SNAPSHOT_TO_READ, reading.PRINT_SQL, reading.AGAINST,
    reading.SERVER_TO_COMPARE, reading.DEFAULTS_FILE,
    _OPTIONAL_BINLOGS.of("With --server: an archive that leads from the snapshot to exactly the server's position.",
                         python="an archive that leads from the snapshot to the server's position: the snapshot is "
                                "replayed to exactly that position, in a temporary folder, and rows that differ have "
                                "their `last_change`."),
    reading.HASH,
    making.SHOWN_ROWS.of(python="how many rows to name for each table that differs; with `against`, if it has the rows "
                                "of their ranges."),
    running.FOR_REPAIR, reading.REPAIR, making.REPAIR_FORMAT, making.JSON, *_TABLES, reading.KEYS_OF_LOGS,
    running.PROGRESS, positional=2)
VERIFY_SQL = Verb("verify_sql", USES, "", reading.SNAPSHOT_TO_READ, reading.HASH, *_TABLES)
EXPORT = Verb(
    "export", USES, "files that a server loads", reading.SNAPSHOT_TO_READ,
    _OUTPUT.of("The directory to make; must not exist yet.", value="DIR",
               python="the directory to make; its `_load.sh` loads everything."),
    choosing.AS_OF.of(where=Where.COMMAND_LINE), making.EXPORT_FORMAT, *_TABLES,
    choosing.REWRITE_DB.of("Database OLD of the snapshot is called NEW on the server.",
                           python="new names for databases, by their names in the snapshot."),
    making.WITH_DEFINITIONS, making.WITH_ROWS, making.NO_DATA, making.DATA_ONLY, making.IF_NOT_EXISTS, making.REPLACE,
    choosing.WHERE, *_SPARK, running.PROGRESS)
PUBLISH = Verb(
    "publish", USES, "into Iceberg or Delta",
    reading.SNAPSHOT_TO_READ.of("A snapshot made by `replay` or `import`; of a lake, its latest version.",
                                python="a snapshot, or a lake for its latest version. Iceberg uses the snapshot's "
                                       "files in place: keep it as long as the catalog refers to them."),
    making.ICEBERG, making.DELTA, making.CHANGE_DATA, making.WAREHOUSE, making.TAG, making.EXPIRE_SNAPSHOTS, *_TABLES,
    *_TELEMETRY)

VERSIONS = Verb("versions", LAKES, "what is in a lake", reading.LAKE_TO_READ, making.JSON)
SYNC = Verb(
    "sync", LAKES, "follow a growing archive", reading.BINLOGS, making.LAKE_TO_FOLLOW, running.EVERY,
    making.ICEBERG.of("Publish each version in this Iceberg catalog, as `publish` does."),
    making.DELTA.of("Publish each version as Delta tables below this directory."), making.CHANGE_DATA,
    making.WAREHOUSE, making.TAG.plus("Each version moves it."), making.EXPIRE_SNAPSHOTS,
    making.KEEP_VERSIONS.of(default=None).plus("By default all are kept."),
    choosing.UNTIL_NOW.of("End after one round, as for cron: with 0 if the whole archive is in the lake and "
                          "published."),
    making.METRICS.of("Write the figures to this file after each check of the archive: as JSON, or, if the name ends "
                      "in .prom, in Prometheus' text format.", flags=("--metrics", "--health")),
    making.LINEAGE.of("Send OpenLineage events at the start and the end of each replay and publication to this "
                      "http:// or https:// URL, or append them to this file."), making.JSON_LOG, running.ENDING_TO_ASK,
    *REPLAY.without(reading.BINLOGS, making.OUTPUT, making.LAKE, choosing.START, choosing.REAPPLY, choosing.STOP,
                    making.SNAPSHOT_AT, running.CHECK_FOREIGN_KEYS, running.PASS_BYTES, running.ROUTE, *_SPARK,
                    running.SHARED_DIR, *_TELEMETRY),
    like=REPLAY)
EXPIRE = Verb("expire", LAKES, "remove old versions", reading.LAKE_TO_READ,
              making.KEEP_VERSIONS.of(default=REQUIRED), running.DRY_RUN, making.JSON)
COMPACT = Verb(
    "compact", LAKES, "rewrite files with changes", reading.LAKE_TO_READ.of("A lake that merges on read."),
    making.COMPACT_BUDGET.of("The number of bytes to rewrite, starting with the files whose last change is oldest; by "
                             "default all files with changes.", default=None),
    making.TARGET_FILE_SIZE.of("Target size of new files, as 64M or 1G."), making.JSON)
FSCK = Verb(
    "fsck", LAKES, "check all files", reading.LAKE_TO_READ,
    making.ICEBERG.of("Also check the tables that were published in this Iceberg catalog, and find orphan files.",
                      default=None),
    running.REMOVE_ORPHANS, running.QUICK, making.JSON, running.PROGRESS)

COMMANDS = (REPLAY, IMPORT, ARCHIVE, DOCTOR, COMPARE, REWRITE, SUMMARY, SHOW, LOCATE, INDEX, EXPLAIN, CHANGES, HISTORY,
            UNDO, STATUS, REPORT, SQL, VIEWS, DIFF, VERIFY, EXPORT, PUBLISH, VERSIONS, SYNC, COMPACT, EXPIRE, FSCK)
"""The verbs of the command line."""
