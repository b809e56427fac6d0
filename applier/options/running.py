"""Options for where a job runs, how it treats special cases, and how its progress is reported."""

from applier.options import kinds
from applier.options.option import ADVANCED, RUN, Option, Where

CONFLICT_CHOICES = REFUSE, SKIP, OF_COLUMNS, FORCE = "refuse", "skip", "columns", "force"

EVERY = Option("every", kinds.SECONDS, RUN, "How long to wait between two looks at the archive: 10s, 0.5s, 1m.", 10.0,
               command_default="10s", first=True, python="how many seconds to wait between two looks at the archive.")
FOLLOW = Option(
    "follow", kinds.FLAG, RUN, "Go on as the archive grows, a batch at a time, until SIGTERM or Ctrl-C. In a directory "
    "--output each batch is a directory of its own, DIR/0000000001.", False, first=True, where=Where.COMMAND_LINE)
STATE = Option(
    "state", kinds.PATH, RUN, "With --follow: a file that keeps how far it is. A run that is killed goes on from it, "
    "with the same batches.", first=True,
    python="a file that keeps how far it is: batches that were acknowledged do not come again, and the one after them "
           "comes again as it was. One process at a time uses it. Without it nothing is kept.")
BATCH_BYTES = Option(
    "batch_bytes", kinds.SIZE, RUN, "With --follow: a batch has about this much of the log, at most.", "256M",
    python="a batch has about this much of the log, at most.")
ENGINE = Option(
    "engine", kinds.choice("auto", "local", "spark"), RUN, "Where tasks run. local: threads of this process; spark: "
    "Spark's tasks; auto: spark where --master names one, where files are far, or where the work takes longer than "
    "Spark's start.", "local", command_default="auto",
    python="threads of this process, Spark, or what suits the work; a master means Spark.")
MASTER = Option("master", kinds.TEXT, RUN, "The Spark master, as spark://host:7077, or a Spark Connect server, as "
                "sc://host:15002. Default: all cores of this machine.", value="URL")
CONF_OF_SPARK = Option("conf", kinds.CONF, RUN, "A setting of Spark, as spark.executor.memory=2g. It wins over "
                       "spark-defaults.conf.",
                       python="Spark's settings by name; they win over spark-defaults.conf.")
ROUTE = Option(
    "route", kinds.choice("auto", "walk", "shuffle"), RUN, "How tasks get their changes. walk: each task reads the "
    "binlogs for its own tables; shuffle: binlogs are decoded once and changes are sent to the tasks; auto: the "
    "cheaper of the two.", "auto")
PASS_BYTES = Option(
    "pass_bytes", kinds.SIZE, RUN, "Replay about this much log at a time, as 500G: each pass goes on from what the one "
    "before made, which bounds memory and temporary disk. The snapshot holds the same. By default as much as this "
    "machine has room for.")

EXEC_MODE = Option(
    "exec_mode", kinds.choice("strict", "idempotent"), ADVANCED, "What to do when a row does not match the log. "
    "strict: stop if a row is not there (1032) or a key is there twice (1062). idempotent: an insert replaces the "
    "rows in its way; updates and deletes that cannot be made are suppressed and listed.", "strict", recorded=True)
ON_CONFLICT = Option(
    "on_conflict", kinds.choice(*CONFLICT_CHOICES), ADVANCED, "What happens to rows that others touched. "
    "If they have changed rows since, have keys of rows that come back, or refer to rows that go: refuse, listing "
    "them; skip: do not undo these rows; columns: undo of changed ones the columns that nobody changed since; force: "
    "undo changed ones as if nobody had.", REFUSE)
ON_STATEMENT = Option(
    "on_statement", kinds.choice("error", "skip"), ADVANCED, "INSERT, UPDATE, LOAD DATA and other changes that are "
    "logged as statements, which a row applier cannot apply: error stops there; skip leaves them out, and the report "
    "counts them by table. The snapshot then lacks their changes.", "error", recorded=True)
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
    "lower_case_table_names", kinds.NAME_CASE, ADVANCED, "The server's lower_case_table_names, where neither the base "
    "nor the log tells it: with 1 or 2 the case of database and table names does not matter.", recorded=True)
CHECK_FOREIGN_KEYS = Option(
    "check_foreign_keys", kinds.FLAG, ADVANCED, "At the end, look for rows whose foreign keys refer to missing rows, "
    "and list them with each table, here and in the report. The snapshot is the same with or without this option.",
    False)
IGNORE_FOREIGN_KEYS = Option(
    "ignore_foreign_keys", kinds.FLAG, ADVANCED, "Leave out what foreign keys change below the log; else that is an "
    "error.", False)
DRY_RUN = Option("dry_run", kinds.FLAG, ADVANCED, "Remove nothing, and print what would go.", False)
QUICK = Option("quick", kinds.FLAG, ADVANCED, "Compare sizes only, and read no file of a table.", False)

PROGRESS = Option("progress", kinds.WATCHER, ADVANCED, "Called with each Step.", where=Where.PYTHON)
STOPPED = Option(
    "stopped", kinds.QUESTION, ADVANCED, "Asked about twice a second; the function returns after it says True.",
    where=Where.PYTHON)
ENDING_TO_ASK = Option("ending", kinds.ENDING, ADVANCED, "What is asked to end it, from another thread or a signal's "
                       "handler, after the round that it is at.", where=Where.PYTHON)
FOR_REPAIR = Option(
    "for_repair", kinds.FLAG, ADVANCED, "With --server: fetch the values of all rows that differ, so that "
    "`ServerComparison.repair()` has the statements that make the server's rows those of the snapshot.", False,
    where=Where.PYTHON)
