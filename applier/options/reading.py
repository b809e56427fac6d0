"""Options for the input, for what to compare it with, and for what to find."""

from applier.io.encryption.keys import Keys
from applier.options import kinds
from applier.options.option import COMPARE, FIND, READ, REQUIRED, Option, Where

BINLOGS = Option(
    "binlogs", kinds.LOGS, READ, "The archive: a directory, files, a glob in quotes, or an index file; local or a URI "
    "(s3://, gs://, hdfs://); files may be .gz, .zst, .lz4 or .xz.", REQUIRED, first=True)
BASE = Option("base", kinds.SNAPSHOT, READ, "Start from this snapshot.", first=True,
              python="the snapshot to start from; without one and without a schema, the log's CREATE TABLEs define "
                     "tables.")
SOURCE = Option("source", kinds.SERVER, READ, "The server, mysql://USER@HOST:PORT or mysql://USER@?socket=/PATH. The "
                "password is in MYSQL_PWD of the environment or in --defaults-file.", REQUIRED, first=True)
SOURCE_TO_SHOW = SOURCE.of(
    "Read the binlogs of this server, as a replica does: PATHs are names of files, and none means all. The password is "
    "in MYSQL_PWD of the environment or in --defaults-file.", default=None, first=False,
    flags=("--source", "-R", "--read-from-remote-server"))
SOURCE_TO_COPY = SOURCE.of(
    "With --follow: copy the binlogs of this server into the directory --binlogs meanwhile, as `archive` does. The "
    "password is in MYSQL_PWD of the environment or in --defaults-file.", default=None,
    python="a server whose binlogs are copied into the directory `binlogs` meanwhile, as `archive` does.")
SCHEMA = Option("schema", kinds.PATH, READ, "CREATE TABLEs of tables that exist, empty, before the first binlog.",
                value="FILE.sql")
SCHEMA_OF_ANY = SCHEMA.of("CREATE TABLEs of tables that exist before the first binlog.")
SCHEMA_WITH_ROWS = SCHEMA_OF_ANY.plus("Their rows are known from the before-images of their first changes, which must "
                                      "be whole.")
DEFINE_FROM_LOG = Option(
    "define_from_log", kinds.FLAG, READ, "Define tables by the log's metadata (binlog_row_metadata=FULL) if neither "
    "a CREATE TABLE in the log nor --schema nor --base does: columns, types and primary key.", False, recorded=True)
DATABASE = Option(
    "database", kinds.TEXT, READ, "The database of a dump of a single database, as of `mysqldump NAME`, if its header "
    "does not name it.")
DEFAULT_CHARACTER_SET = Option(
    "default_character_set", kinds.CHARSET, READ, "The character set of the dump's text, as latin1, if the dump does "
    "not declare it, as with --skip-set-charset and --compatible; by default utf8mb4.")
DUMP_POSITION = Option(
    "position", kinds.POSITION, READ, "The binlog position of the dump, if it does not name it itself.")
DUMP_GTID_SET = Option("gtid_set", kinds.EXECUTED, READ,
                       "The transactions that the dump contains, if it does not name them itself.")
FLAVOUR = Option("flavour", kinds.choice("mysql", "mariadb"), READ,
                 "The server that the dump is from, if it does not say so itself.")
DUMP_GROUP_ID = Option(
    "group_id", kinds.GROUP_ID, READ, "The id of the last event group in the dump, for servers whose events have such "
    "ids.")

KEYRING = Option(
    "keyring", kinds.FILES, READ, "The keys of MySQL's encrypted binlogs: a keyring of component_keyring_file or "
    "keyring_file.")
KEY_FILE = Option("key_file", kinds.FILES, READ, "The keys of MariaDB's: a key file of file_key_management.")
KEY_FILE_SECRET = Option("key_file_secret", kinds.PATH, READ, "The file with the password of encrypted key files, the "
                         "server's file_key_management_filekey.")
KEYS_OF_LOGS = Option(
    "keys", kinds.KEYS, READ, parts=(KEYRING, KEY_FILE, KEY_FILE_SECRET), combine=Keys,
    python="where the keys of encrypted binlogs are: Keys(keyring=…) for MySQL, Keys(key_file=…, key_file_secret=…) "
           "for MariaDB. These names are also accepted as arguments.")

DUMP = Option(
    "dump", kinds.PATH, READ, "A file of mysqldump or mariadb-dump, or any SQL file of CREATE TABLE and INSERT … "
    "VALUES statements; plain, .gz or .zst; - for stdin. Or a directory made by `mysqldump --tab`, `mariadb-dump "
    "--dir`, mydumper, MySQL Shell or `applier export`. Local or a URI.", REQUIRED, value="DUMP", is_argument=True)
SNAPSHOT_TO_READ = Option(
    "snapshot", kinds.SNAPSHOT, READ, "A snapshot made by `replay` or `import`.", REQUIRED, is_argument=True)
LAKE_TO_READ = Option("lake", kinds.PATH, READ, "A lake made by `replay --lake`.", REQUIRED, value="LAKE",
                      is_argument=True, python="a lake made by `replay`.")
BEFORE = Option("before", kinds.SNAPSHOT, READ, "A snapshot.", REQUIRED, value="BEFORE", is_argument=True)
AFTER = Option("after", kinds.SNAPSHOT, READ, "Another snapshot.", value="[AFTER]", is_argument=True,
               python="another snapshot; without it, give binlogs.")
PLACE_TO_QUERY = Option(
    "place", kinds.SNAPSHOT, READ, "A snapshot, a lake, or the directory of `history` or of `changes --format "
    "parquet`.", REQUIRED, value="PLACE", is_argument=True,
    python="a snapshot, a lake, or the directory of `history` or of changes in Parquet. A table is `db.table`, or "
           "`table` if no other database has one of its name; all rows of a system-versioned one, and those of a "
           "history, are `table_history`, changes `table_changes`.")
QUERY = Option("sql", kinds.TEXT, READ, "A query in DuckDB's SQL; - reads it from stdin.", REQUIRED, value="QUERY",
               is_argument=True, python="the query, in DuckDB's SQL.")
FIRST_TO_COMPARE = Option(
    "a", kinds.PLACE_IN_TIME, READ, "A snapshot, a lake, an archive (a directory, a file, a glob in quotes or an index "
    "file), or a GTID set.", REQUIRED, value="A", is_argument=True)
SECOND_TO_COMPARE = Option("b", kinds.PLACE_IN_TIME, READ, "Another one.", REQUIRED, value="B", is_argument=True)
UNNAMED_BINLOGS = Option("files", kinds.LOGS, READ, is_argument=True, hidden=True)
UNNAMED_DIRECTORY = Option("directory", kinds.PATH, READ, value="DIR", is_argument=True, hidden=True)

AGAINST = Option(
    "against", kinds.FILES, COMPARE, "Compare the snapshot with the server's answers as printed by a client; - is "
    "stdin. First the sums, then the rows.", value="RESULT", first=True,
    python='files with the output of the client; "-" is stdin. A file with the rows of ranges that differ, from '
           "`ServerComparison.rows_sql`, may follow the one with the sums.")
SERVER_TO_COMPARE = Option(
    "server", kinds.SERVER, COMPARE, "Compare it with this server, mysql://USER@HOST:PORT or "
    "mysql://USER@?socket=/PATH, while it is written to. The password is in MYSQL_PWD of the environment or in "
    "--defaults-file.", first=True)
SERVER_OF_LOG = SERVER_TO_COMPARE.of(
    "Read the tables' definitions from this server, mysql://USER@HOST:PORT or mysql://USER@?socket=/PATH, instead of "
    "--schema, and, for images that are not whole (MINIMAL, NOBLOB), the values of columns that no change assigned. "
    "The log is read up to the server's position, which the archive has to reach. The password is in MYSQL_PWD of the "
    "environment or in --defaults-file.", group=READ, first=False)
REPAIR = Option(
    "repair", kinds.PATH, COMPARE, "With --server: write statements that make the server's rows those of the "
    "snapshot, only where they differ, in one transaction that fails if a row has changed meanwhile.", first=True,
    where=Where.COMMAND_LINE)
ALSO = Option("also", kinds.NAMED_PLACES, COMPARE, "Another place, whose tables are NAME.DB.TABLE.", first=True,
              python="other places by a name, whose tables are `name.db.table`.")
PRINT_SQL = Option(
    "sql", kinds.FLAG, COMPARE, "Print statements for a server: sums of its rows by table, key range and column. With "
    "--against: those that query the rows of ranges that differ.", False, where=Where.COMMAND_LINE)
HASH = Option("hash", kinds.choice("crc32", "sha2"), COMPARE,
              "Hash to sum up: CRC32, or 60 bits of SHA-256, which takes several times as long here.", "crc32")
DEFAULTS_FILE = Option(
    "defaults_file", kinds.PATH, COMPARE, "An option file of the servers' clients: password and TLS settings, and "
    "user, host, port and socket if the address omits them.")



GTID = Option("gtid", kinds.TEXT, FIND, "The transaction with this GTID: UUID:5, UUID:tag:5, 0-1-5.", value="GTID",
              first=True)
AT_TIME = Option(
    "time", kinds.TIME, FIND, "The first event group of this time or later, where `replay --stop-datetime` stops.",
    flags=("--datetime",), first=True,
                 python="the first event group of this time or later, where `replay` stops for it.")
XID = Option("xid", kinds.NUMBER, FIND, "The transactions with this number in their XID event.", first=True)
GROUP_ID_TO_FIND = Option("group_id", kinds.NUMBER, FIND, "The group with this id, in logs whose events have ids.",
                          first=True)
