"""Options that choose a part of a log: where to start and stop, tables and rows, transactions."""

from applier.options import kinds
from applier.options.option import BOUNDS, REQUIRED, ROWS, TRANSACTIONS, Kind, Option

STOP_DATETIME = Option(
    "stop_datetime", kinds.TIME, BOUNDS, "Stop before the first group of this time or later: '2026-03-14 10:30:00' "
    "(local time), with an offset ('2026-03-14T10:30:00+02:00') or UTC at the end; or a time ago (-90s, -5m, -1h, "
    "-2d, -1w).", first=True, recorded=True)
STOP_POSITION = Option("stop_position", kinds.POSITION, BOUNDS, "Stop after the last event group that ends at or "
                       "before this position.",
                       first=True, recorded=True)
STOP_GTID = Option(
    "stop_gtid", kinds.COMPLETED, BOUNDS, "Stop after the group that completes this GTID set.", recorded=True)
AS_OF = Option(
    "as_of", kinds.PLACE, BOUNDS, "The last version at or before this position in the log: a GTID set, "
    "FILE:POS, or a time as in --stop-datetime.",
    python="for a lake, the last version at or before a position, a GTID set, or a time (local, if it has no zone).")
START_DATETIME = Option("start_datetime", kinds.TIME, BOUNDS,
                        "Only transactions of this time or later, as in --stop-datetime.")
START_POSITION = Option(
    "start_position", kinds.POSITION, BOUNDS, "Apply event groups from this position on, regardless of the log before "
    "it and of the position of the base; a group must start there. Groups that the base has executed are skipped, as "
    "on a replica. The report lists the transactions that this leaves out.", recorded=True)
REAPPLY = Option("reapply", kinds.FLAG, BOUNDS,
                 "With --start-position: apply transactions again that the base has executed.", False, recorded=True)


def start(*parts: Option, python: str, kind: Kind = kinds.PLACE) -> Option:
    """Return the option `start`, which consists of these options of the command line."""
    return Option("start", kind, BOUNDS, parts=parts, python=python)


def stop(*parts: Option, python: str) -> Option:
    """Return the option `stop`, which consists of these options of the command line."""
    return Option("stop", kinds.PLACE, BOUNDS, parts=parts, python=python)


START = start(START_POSITION, kind=kinds.POSITION, python=(
    "a position to start at, regardless of the log before it and of the position of the base. Later transactions that "
    "the base has executed are skipped, as on a replica."))
STOP = stop(STOP_POSITION, STOP_GTID, STOP_DATETIME, python=(
    "a position or a GTID set to stop after, or a time to stop before."))
START_OF_CHANGES = start(
    START_POSITION.of("Start at this position, regardless of the log before it and of the position of the base; a "
                      "group must start there."),
    START_DATETIME.of("Only changes from the first group of this time or later on, as in --stop-datetime."),
    python="a position to start at, regardless of the log before it and of the position of the base; or a time, to "
           "begin with the first transaction of this time or later.")
START_OF_SUMMARY = start(
    START_POSITION.of("Only event groups from this position on; a group must start there."), START_DATETIME,
    python="a position to start at, or the time of the first transactions to count.")
FIRST_TO_UNDO = start(
    START_POSITION.of("Only transactions that begin at this position or later."),
    START_DATETIME.of("Only transactions of this time or later, as '2026-03-14 10:30:00' (local time) or with an "
                      "offset ('2026-03-14T10:30:00+00:00')."),
    python="only transactions that begin at this position or later; or a time: of this time or later.")
LAST_TO_UNDO = stop(
    STOP_POSITION.of("Only transactions that end at or before this position."),
    STOP_DATETIME.of("Only transactions of an earlier time."),
    python="only transactions that end at or before this position; or a time: of an earlier time.")
UNTIL = Option(
    "until", kinds.PLACE, BOUNDS, "The server's position, if that is not the end of the archive: FILE:POS, a GTID "
    "set that it has executed, or a time.")

START_GTID = Option(
    "start_gtid", kinds.EXECUTED, BOUNDS, "Begin with the file that contains the first transaction outside this set.",
    flags=("--start-gtid", "--gtid"),
    python="where an output without binlogs begins: at the file with the first transaction outside this set.")
START_FILE = Option(
    "start_file", kinds.TEXT, BOUNDS, "Begin with this file. By default with the oldest one that the server has.",
    value="FILE")
UNTIL_NOW = Option("until_now", kinds.FLAG, BOUNDS, "End at the end of the log instead of waiting for more.", False)

AFTER = Option(
    "after", kinds.PLACE, BOUNDS, "Begin after this position, FILE:POS, a GTID set or a time, where an earlier reading "
    "ended: the log before it is read for definitions and for XA transactions that are committed after it.", first=True,
    python="begin after this position, where an earlier reading ended (`Changes.position`): the log before it is read "
           "for definitions, and for XA transactions that are committed after it.")
TABLE_NAMES = Option(
    "tables", kinds.TABLES, ROWS, "Only these tables; DB alone means the whole database. `*` and `?` are wildcards, "
    "and so are `%` and, in a name with `%`, `_`, as in replicate-wild-do-table (`\\_` is an underscore).",
    flags=("--tables", "--table"), first=True)
IGNORE_TABLES = Option("ignore_tables", kinds.TABLES, ROWS, "All tables except these.")
TABLE = Option("table", kinds.TEXT, ROWS, "The table.", REQUIRED, value="DB.TABLE", flags=("--tables", "--table"),
               first=True, python='its name, as "shop.orders".')
KEY = Option(
    "key", kinds.ROW_KEYS, ROWS, "Only changes of the row with this primary key: the values of its columns, in key "
    "order.", field="keys", first=True,
    python="only the changes of the row with this value of the primary key, or of the first unique key without NULLs; "
           "a tuple for a key of several columns, a list for several rows. Values compare as on the server. An update "
           "that changes a row's key is a change of both keys. For other rows, only the key is decoded, except with "
           "`complete`. Changes from a time when the table had no column of its last key, or had it with a type that "
           "made it a separate column (NAME__1), are omitted, and `notes` say so.")
REWRITE_DB = Option(
    "rewrite_db", kinds.DATABASES, ROWS, "Rename databases of the log, in rows and DDL, before --tables and "
    "--ignore-tables apply; --schema and --base use the new names.", field="rewrites", recorded=True,
    python="new names for databases, by their names in the log, in rows and DDL, before `tables` and `ignore_tables` "
           "apply; `schema` and `base` use the new names.")
COLUMN_NAMES = Option("columns", kinds.COLUMNS, ROWS, "Only these columns; the others are not decoded.")
WHERE = Option(
    "where", kinds.TEXT, ROWS, "Only rows for which this expression on a table's columns is true, as \"id > 5\".",
    value="SQL")

GTIDS_TO_READ = Option(
    "gtids", kinds.GTIDS, TRANSACTIONS, "Only changes of these transactions: UUID:1-5, or MariaDB's one by one, "
    "0-1-5,0-1-7.", flags=("--gtids", "--gtid"), first=True,
    python='only the changes of these transactions: a set in MySQL\'s syntax, or MariaDB\'s GTIDs one by one '
           '("0-1-5,0-1-7"). Others are not decoded, except with `complete`. The GTID of an XA COMMIT selects the '
           "changes that it commits. `notes` count those that the log does not have.")
EXCLUDE_GTIDS = Option(
    "exclude_gtids", kinds.GTIDS, TRANSACTIONS, "Leave these transactions out, as a replica does whose gtid_executed "
    "has them: UUID:1-5,..., or 0-1-5,0-1-7. Changes that depend on them stop the replay, or are listed in idempotent "
    "mode. The snapshot records what was left out.", recorded=True)
SERVER_IDS_TO_READ = Option(
    "server_ids", kinds.SERVER_IDS, TRANSACTIONS, "Only transactions that originate from these servers.", (),
    flags=("--server-ids", "--server-id"), recorded=True)
IGNORE_SERVER_IDS = Option(
    "ignore_server_ids", kinds.SERVER_IDS, TRANSACTIONS, "No transactions that originate from these servers, as "
    "IGNORE_SERVER_IDS of CHANGE REPLICATION SOURCE.", (), recorded=True)
THREAD_IDS = Option(
    "thread_ids", kinds.THREAD_IDS, TRANSACTIONS, "Only transactions of these threads, which are connections of "
    "clients (CONNECTION_ID()). MariaDB before 11.5 does not log which thread changed rows.", (),
    flags=("--thread", "--threads", "--thread-ids"))

START_OF_SHOW = (
    Option("start", kinds.TEXT, BOUNDS, value="PLACE", hidden=True),
    START_POSITION.of("Start at this position; POS alone is in the first file.", kind=kinds.TEXT, value="FILE:POS"),
    START_DATETIME.of("Start at the first event group of this time or later, as in --stop-datetime.",
                      kind=kinds.TEXT, value="TIME"))
STOP_OF_SHOW = (
    Option("stop", kinds.TEXT, BOUNDS, value="PLACE", hidden=True),
    STOP_POSITION.of("Stop at this position; POS alone is in the last file.", kind=kinds.TEXT, value="FILE:POS"),
    STOP_DATETIME.of(kind=kinds.TEXT, value="TIME"))
