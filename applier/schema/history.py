"""What every table was at every position of the archive: the statements of the log, applied to table definitions."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from applier.errors import SchemaError, UnsupportedStatement
from applier.schema.collations import UTF8MB4_COLLATION, Charset, by_id
from applier.schema.ddl import parse_statement
from applier.schema.definition import Key, TableDefinition
from applier.schema.schema_changes import (
    AddKey,
    AlterDatabase,
    CreateDatabase,
    CreateTable,
    CreateTableLike,
    Dml,
    DropDatabase,
    DropTable,
    Other,
    SchemaChange,
    SessionChange,
    TableName,
    TruncateTable,
)
from applier.schema.tokens import split_statements

Position = tuple[int, int]  # index of the file in the archive's order, byte offset in it
BEFORE_THE_LOG: Position = (0, 0)

SYSTEM_DATABASES = frozenset({"mysql", "sys", "information_schema", "performance_schema"})

# The sql_modes that change how a statement reads, by their bits in the QUERY event (Q_SQL_MODE_CODE).
_SQL_MODES = {1: "REAL_AS_FLOAT", 4: "ANSI_QUOTES", 1 << 20: "NO_BACKSLASH_ESCAPES"}
_EXPLICIT_TIMESTAMPS = 1 << 24  # MariaDB's flags2, from 10.10 on; MySQL has a status variable of its own


class Statement(Protocol):
    """A QUERY event, as the outline keeps it."""

    sql: str | bytes
    database: str
    context: dict[str, Any]
    gtid: str | None


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A table from the statement that made or emptied it to the one that ended it; `end` is None while it lives."""

    id: int
    definition: TableDefinition
    start: Position
    end: Position | None
    created_by: str


class SchemaHistory:
    """Applies statements in the log's order, and answers which definition held where.

    `wanted(database, table)` says which tables are replayed: a statement that cannot be followed stops the replay only
    if it concerns one of them. By default that is all but the server's own. `files` are names for error messages.
    """

    def __init__(
        self, flavour: str, *, wanted: Callable[[str, str], bool] | None = None, files: Sequence[str] = ()
    ) -> None:
        self.flavour = flavour
        self._wanted = wanted or (lambda database, _: database not in SYSTEM_DATABASES)
        self._files = files
        self._versions: list[TableVersion] = []
        self._by_table: dict[TableName, list[int]] = {}
        self._databases: dict[str, Charset] = {}

    # ---- what is asked

    def at(self, database: str, table: str, position: Position) -> TableVersion | None:
        """The version that a row event at the position is about; None where the table is not there."""
        ids = self._by_table.get((database, table), [])
        index = bisect_right(ids, position, key=lambda number: self._versions[number].start) - 1
        if index < 0:
            return None
        version = self._versions[ids[index]]
        return version if version.end is None or position < version.end else None

    def live(self) -> list[TableVersion]:
        """The tables that are there after the last statement."""
        return [version for version in self._versions if version.end is None]

    def versions(self) -> list[TableVersion]:
        """All of them; a version's id is its place in the list."""
        return list(self._versions)

    def definitions(self) -> Iterable[TableDefinition]:
        """The definitions of `live`."""
        return (version.definition for version in self.live())

    def databases(self) -> dict[str, Charset]:
        """The databases that are there after the last statement, as far as the log or a base tells of them."""
        return dict(self._databases)

    # ---- what is told

    def load_database(self, name: str, charset: Charset) -> None:
        """A database that is there before the log begins: tables made in it later inherit its character set."""
        self._databases[name] = charset

    def load_definition(self, definition: TableDefinition) -> None:
        """A table that is there before the log begins, as a base snapshot's manifest has it."""
        self._create(definition, BEFORE_THE_LOG, "the base snapshot")

    def load_schema_file(self, text: str) -> None:
        """The tables that are there before the log begins, as CREATE statements; INSERTs and the like are passed over.

        TIMESTAMP defaults are taken in UTC unless the file sets a time zone, as dumps do.
        """
        session = SessionChange(sql_mode="", time_zone="+00:00")
        for sql in split_statements(text):
            changes = self._parse(sql, session.database, sql_mode=session.sql_mode, time_zone=session.time_zone)
            for change in changes:
                if isinstance(change, SessionChange):
                    said = {name: value for name in ("database", "sql_mode", "time_zone")
                            if (value := getattr(change, name)) is not None}
                    session = replace(session, **said)
                elif not isinstance(change, Dml):
                    self._apply(change, BEFORE_THE_LOG, sql)

    def apply(self, statement: Statement, at: Position, end: Position) -> None:
        """What the statement from one position to another does: rows after `end` see its effect.

        Raises SchemaError where DDL on a wanted table cannot be followed, UnsupportedStatement where the statement
        would change a wanted table's rows.
        """
        sql = statement.sql
        if isinstance(sql, bytes):
            sql = sql.decode("utf-8", "surrogateescape")
        context = statement.context
        try:
            for change in self._parse(sql, statement.database or None, **self._session(context)):
                self._apply(change, end, sql)
        except (SchemaError, UnsupportedStatement) as error:
            error.position, error.gtid = at[1], statement.gtid
            error.file = self._files[at[0]] if at[0] < len(self._files) else None
            raise

    def _session(self, context: dict[str, Any]) -> dict[str, Any]:
        """What a QUERY's status variables say about how it reads (EV-CTX)."""
        collation = context.get("default_collation_for_utf8mb4")
        if self.flavour == "mysql":
            # MySQL writes the collation from 8.0 on, which is when explicit timestamps became the default, too.
            utf8mb4 = "utf8mb4_general_ci" if collation is None else by_id(collation).collation
            explicit = context.get("explicit_defaults_for_timestamp", collation is not None)
        else:
            utf8mb4 = UTF8MB4_COLLATION["mariadb"]
            explicit = context.get("flags2", 0) & _EXPLICIT_TIMESTAMPS
        mode = context.get("sql_mode", 0)
        session = {
            "sql_mode": ",".join(name for bit, name in _SQL_MODES.items() if mode & bit),
            "time_zone": context.get("time_zone", "SYSTEM"),
            "explicit_timestamps": bool(explicit),
            "utf8mb4_collation": utf8mb4,
        }
        try:
            return session | {"server_charset": by_id(context["charset_server"])}
        except KeyError:
            return session  # an old log, or a collation of MariaDB's that only its name tells

    def _parse(self, sql: str, database: str | None, **session: Any) -> list[SchemaChange]:
        return parse_statement(sql, default_database=database, flavour=self.flavour, databases=self._databases,
                               **session)

    # ---- what a change does

    def _apply(self, change: SchemaChange, position: Position, sql: str) -> None:
        match change:
            case CreateTable(definition):
                self._create_unless_there(definition, change, position, sql)
            case CreateTableLike(table, source):
                self._create_like(table, source, change, position, sql)
            case AddKey(table, key):
                self._add_key(table, key)
            case DropTable(tables):
                for table in tables:
                    self._end(table, position)
            case TruncateTable(table):
                if version := self._live(table):
                    self._end(table, position)
                    self._create(version.definition, position, sql)
            case CreateDatabase(name, charset):
                if change.or_replace:
                    self._drop_database(name, position)
                if not (change.if_not_exists and name in self._databases):
                    self._databases[name] = charset
            case AlterDatabase(name, charset):
                self._databases[name] = charset
            case DropDatabase(name):
                self._drop_database(name, position)
            case Other():
                self._stop_at_ddl(change)
            case Dml():
                self._stop_at_dml(change)

    def _create_unless_there(
        self, definition: TableDefinition, change: CreateTable | CreateTableLike, position: Position, sql: str
    ) -> None:
        table = definition.database, definition.name
        if change.or_replace:
            self._end(table, position)
        if self._live(table) is None:
            self._create(definition, position, sql)
        elif not change.if_not_exists and self._wanted(*table):
            raise SchemaError("the log creates a table that is there already", table=definition.full_name,
                              hint="the --schema file or --base may be newer than the first binlog")

    def _create_like(
        self, table: TableName, source: TableName, change: CreateTableLike, position: Position, sql: str
    ) -> None:
        version = self._live(source)
        if version is not None:
            definition = replace(version.definition, database=table[0], name=table[1])
            self._create_unless_there(definition, change, position, sql)
        elif self._wanted(*table) and not (change.if_not_exists and self._live(table)):
            raise SchemaError(f"the log makes a table like {'.'.join(source)}, whose definition is not known",
                              table=".".join(table), hint="give its CREATE TABLE with --schema")

    def _add_key(self, table: TableName, key: Key) -> None:
        """The key counts for the version as a whole, which is of no matter to rows that another key finds."""
        version = self._live(table)
        if version and key.name.casefold() not in {known.name.casefold() for known in version.definition.keys}:
            definition = replace(version.definition, keys=(*version.definition.keys, key))
            self._versions[version.id] = replace(version, definition=definition)

    def _create(self, definition: TableDefinition, position: Position, sql: str) -> None:
        if self._wanted(definition.database, definition.name) and not _is_text(definition.to_sql()):
            name = definition.full_name.encode("utf-8", "backslashreplace").decode()
            raise SchemaError("the statement that makes the table has bytes that are no text", table=name,
                              hint="the file is damaged, or leave the table out with --ignore-tables")
        number = len(self._versions)
        self._versions.append(TableVersion(number, definition, position, None, sql))
        self._by_table.setdefault((definition.database, definition.name), []).append(number)

    def _live(self, table: TableName) -> TableVersion | None:
        ids = self._by_table.get(table)
        return self._versions[ids[-1]] if ids and self._versions[ids[-1]].end is None else None

    def _end(self, table: TableName, position: Position) -> None:
        if version := self._live(table):
            self._versions[version.id] = replace(version, end=position)

    def _drop_database(self, name: str, position: Position) -> None:
        self._databases.pop(name, None)
        for database, table in list(self._by_table):
            if database == name:
                self._end((database, table), position)

    def _stop_at_ddl(self, change: Other) -> None:
        concerned = self._first_wanted(change.tables, only_live=not change.creates)
        if concerned is not None:
            raise SchemaError(f"{change.reason}: {_shorten(change.sql)}", table=concerned or None,
                              hint="stop before it with --stop-position, or leave the table out with --ignore-tables")

    def _stop_at_dml(self, change: Dml) -> None:
        concerned = self._first_wanted(change.tables)
        if concerned is not None:
            raise UnsupportedStatement(
                f"a statement changes rows, and its rows are not in the log: {_shorten(change.sql)}",
                table=concerned or None,
                hint="only binlog_format=ROW can be replayed; stop before this with --stop-position")

    def _first_wanted(self, tables: tuple[TableName, ...] | None, *, only_live: bool = False) -> str | None:
        """The first replayed table of those that a statement concerns, "" if it cannot be told, None if it is none."""
        if tables is None:
            return ""
        found = (table for table in tables if self._wanted(*table) and not (only_live and self._live(table) is None))
        return next((".".join(table) for table in found), None)


def _shorten(sql: str, limit: int = 200) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= limit else text[:limit - 1] + "…"


def _is_text(sql: str) -> bool:
    """Whether it has no surrogates, which stand for bytes that could not be decoded."""
    try:
        sql.encode()
    except UnicodeEncodeError:
        return False
    return True
