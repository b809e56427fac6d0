"""Options for where a job runs, how it treats special cases, and how its progress is reported."""

from applier.options import kinds
from applier.options.option import ADVANCED, RUN, Option, Where

CONFLICT_CHOICES = REFUSE, SKIP, OF_COLUMNS, FORCE = "refuse", "skip", "columns", "force"

EVERY = Option("every", kinds.SECONDS, RUN, "Interval between two checks of the archive: 10s, 0.5s, 1m.", 10.0,
               command_default="10s", first=True, python="the interval between two checks of the archive, in seconds.")
FOLLOW = Option(
    "follow", kinds.FLAG, RUN, "Continue as the archive grows, a batch at a time, until SIGTERM or Ctrl-C. In a "
    "directory --output, each batch is a directory, DIR/0000000001.", False, first=True, where=Where.COMMAND_LINE)
STATE = Option(
    "state", kinds.PATH, RUN, "With --follow: a file that records the progress. After a kill, the next run continues "
    "from it, with the same batches.", first=True,
    python="a file that records the progress: batches that were acknowledged do not come again, and the next one "
           "comes again unchanged. Only one process at a time may use it. Without it nothing is recorded.")
BATCH_BYTES = Option(
    "batch_bytes", kinds.SIZE, RUN, "With --follow: approximate maximum of log per batch.", "256M",
    python="approximate maximum of log per batch.")
ENGINE = Option(
    "engine", kinds.choice("auto", "local", "spark"), RUN, "Where tasks run. local: threads of this process; spark: "
    "Spark's tasks; auto: spark if --master is given, if files are remote, or if the work takes longer than "
    "Spark's start.", "local", command_default="auto",
    python="threads of this process, Spark, or whichever suits the work; a master means Spark.")
MASTER = Option("master", kinds.TEXT, RUN, "The Spark master, as spark://host:7077, or a Spark Connect server, as "
                "sc://host:15002. Default: all cores of this machine.", value="URL")
CONF_OF_SPARK = Option("conf", kinds.CONF, RUN, "A setting of Spark, as spark.executor.memory=2g. It overrides "
                       "spark-defaults.conf.",
                       python="Spark's settings by name; they override spark-defaults.conf.")
SHARED_DIR = Option(
    "shared_dir", kinds.PATH, RUN, "A directory that this machine and all of Spark's workers share, such as an NFS "
    "mount. The shuffle leaves changes in files there, which costs less CPU than sending them through Spark.",
    value="DIR")
ROUTE = Option(
    "route", kinds.choice("auto", "walk", "shuffle"), RUN, "How tasks get their changes. walk: each task reads the "
    "binlogs for its own tables; shuffle: binlogs are decoded once and changes are sent to the tasks; auto: the "
    "cheaper of the two.", "auto")
PASS_BYTES = Option(
    "pass_bytes", kinds.SIZE, RUN, "Replay about this much log at a time, as 500G: each pass continues from the "
    "previous one, which bounds memory and temporary disk. The snapshot is the same. By default as much as this "
    "machine has room for.")

EXEC_MODE = Option(
    "exec_mode", kinds.choice("strict", "idempotent"), ADVANCED, "What to do when a row does not match the log. "
    "strict: stop if a row does not exist (1032) or a key is a duplicate (1062). idempotent: an insert replaces the "
    "rows in its way; updates and deletes that cannot be applied are suppressed and listed.", "strict", recorded=True)
ON_CONFLICT = Option(
    "on_conflict", kinds.choice(*CONFLICT_CHOICES), ADVANCED, "What to do with rows that others have changed since, "
    "whose keys other rows have now, or that others refer to. refuse: write nothing and list "
    "them; skip: do not undo these rows; columns: undo only the columns that nobody changed since; force: "
    "undo changed rows as if nobody had changed them.", REFUSE)
ON_STATEMENT = Option(
    "on_statement", kinds.choice("error", "skip"), ADVANCED, "INSERT, UPDATE, LOAD DATA and other changes that are "
    "logged as statements, which a row applier cannot apply. error: stop at the first one; skip: leave them out, and "
    "count them by table in the report. The snapshot does not have their changes.", "error", recorded=True)
TYPE_CONVERSIONS = Option(
    "type_conversions", kinds.CONVERSIONS, ADVANCED, "Which columns of the log may have another type than the table's "
    "(of --base or --schema), as replica_type_conversions says: all_non_lossy, all_lossy; all_unsigned to read "
    "integers as such.", (), recorded=True)
ZERO_DATES = Option(
    "zero_dates", kinds.choice("null", "error"), ADVANCED, "What to do with zero dates. null: convert "
    "them to NULL, and count them; error: stop at the first one.", "null", recorded=True, always=True)
WITNESS = Option(
    "witness", kinds.choice("report", "stop", "off"), ADVANCED, "Compare each before-image of an update or delete "
    "with the row that it found. report: count differences by table and column, and warn; the snapshot is what a "
    "replica would hold. stop: stop at the first difference. off: compare nothing.", "report")
SYSTEM_TIME_ZONE = Option(
    "system_time_zone", kinds.ZONE, ADVANCED, "The server's SYSTEM time zone, which the log does not record, as "
    "+02:00 or Europe/Rome: ALTER uses it to convert between TIMESTAMP and other types in sessions that set no zone, "
    "and generated columns that an image does not have are computed in it.", recorded=True)
LOWER_CASE_TABLE_NAMES = Option(
    "lower_case_table_names", kinds.NAME_CASE, ADVANCED, "The server's lower_case_table_names, if neither the base "
    "nor the log shows it: with 1 or 2 the case of database and table names does not matter.", recorded=True)
CHECK_FOREIGN_KEYS = Option(
    "check_foreign_keys", kinds.FLAG, ADVANCED, "At the end, look for rows whose foreign keys refer to missing rows, "
    "and list them with each table, here and in the report. The snapshot is the same with or without this option.",
    False)
IGNORE_FOREIGN_KEYS = Option(
    "ignore_foreign_keys", kinds.FLAG, ADVANCED, "Omit rows that foreign keys change outside the log; without it they "
    "are an error.", False)
DRY_RUN = Option("dry_run", kinds.FLAG, ADVANCED, "Remove nothing; print what would be removed.", False)
REMOVE_ORPHANS = Option(
    "remove_orphans", kinds.FLAG, ADVANCED, "With --iceberg: remove orphan files that are more than a day old. Those "
    "that a copy of the catalog may need stay for 30 days.", False,
    python="whether to remove the orphans in the folders of tables in `iceberg` that are more than a day old. Those "
    "that a copy of the catalog may need stay for 30 days.")
QUICK = Option("quick", kinds.FLAG, ADVANCED, "Compare sizes only, without reading files of tables.", False)

PROGRESS = Option("progress", kinds.WATCHER, ADVANCED, "Called with each Step.", where=Where.PYTHON)
STOPPED = Option(
    "stopped", kinds.QUESTION, ADVANCED, "Called about twice a second; the function returns after it returns True.",
    where=Where.PYTHON)
ENDING_TO_ASK = Option("ending", kinds.ENDING, ADVANCED, "An object by which another thread or a signal handler ends "
                       "it, after the current round.", where=Where.PYTHON)
FOR_REPAIR = Option(
    "for_repair", kinds.FLAG, ADVANCED, "With --server: fetch the values of all rows that differ, so that "
    "`ServerComparison.repair()` has the statements that make the server's rows those of the snapshot.", False,
    where=Where.PYTHON)
