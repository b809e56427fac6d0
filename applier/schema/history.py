"""What every table was at every position of the archive: the statements of the log, applied to table definitions."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from applier.errors import SchemaError, UnsupportedStatement
from applier.schema.alter import Altered, alter
from applier.schema.collations import Charset
from applier.schema.conversion import RowConversion, same_to_rows
from applier.schema.cursor import StatementContext
from applier.schema.ddl import parse_statement
from applier.schema.definition import TableDefinition
from applier.schema.schema_changes import (
    AlterDatabase,
    AlterTable,
    CreateDatabase,
    CreateTable,
    CreateTableLike,
    Dml,
    DropDatabase,
    DropTable,
    Other,
    RenameTables,
    SchemaChange,
    SessionChange,
    TableName,
    TruncateTable,
)
from applier.schema.session import session_of
from applier.schema.tokens import split_statements

Position = tuple[int, int]  # index of the file in the archive's order, byte offset in it
BEFORE_THE_LOG: Position = (0, 0)
_STOP_BEFORE = "stop before it with --stop-position, or leave the table out with --ignore-tables"

SYSTEM_DATABASES = frozenset({"mysql", "sys", "information_schema", "performance_schema"})


class Statement(Protocol):
    """A QUERY event, as the outline keeps it."""

    sql: str | bytes
    database: str
    context: dict[str, Any]
    timestamp: int
    gtid: str | None


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A table from the statement that made, emptied or altered it to the one that ended it; `end` is None while it
    lives. `conversion` says how its rows come from those of the version `previous`, under whatever name that was; both
    are None where it begins empty, or before the log. `in_base` is the name under which a base has the rows that it
    began with, None for a table that the log made."""

    id: int
    definition: TableDefinition
    start: Position
    end: Position | None
    created_by: str
    previous: int | None = None
    conversion: RowConversion | None = None
    in_base: TableName | None = None


class SchemaHistory:
    """Applies statements in the log's order, and answers which definition held where.

    `wanted(database, table)` says which tables are replayed: a statement that cannot be followed stops the replay only
    if it concerns one of them. By default that is all but the server's own. `files` are names for error messages.
    `rewrites` are databases of the log under the names that they have here (AP-FILT); a schema file and a base have
    these names already. With `skip_statements` statements that change rows are passed over, and counted in `skipped`,
    by table ("" where it cannot be told) and kind.
    """

    def __init__(
        self, flavour: str, *, wanted: Callable[[str, str], bool] | None = None, files: Sequence[str] = (),
        rewrites: Mapping[str, str] | None = None, skip_statements: bool = False
    ) -> None:
        self.flavour = flavour
        self._wanted = wanted or (lambda database, _: database not in SYSTEM_DATABASES)
        self._files, self._rewrites = files, rewrites or {}
        self._versions: list[TableVersion] = []
        self._by_table: dict[TableName, list[int]] = {}
        self._databases: dict[str, Charset] = {}
        self._statement: dict[str, Any] = {}
        self.skip_statements = skip_statements
        self.skipped: dict[str, Counter[str]] = {}

    # ---- what is asked

    def at(self, database: str, table: str, position: Position) -> TableVersion | None:
        """The version that a row event at the position is about; None where the table is not there."""
        ids = self._by_table.get((database, table), [])
        index = bisect_right(ids, position, key=lambda number: self._versions[number].start) - 1
        if index < 0:
            return None
        version = self._versions[ids[index]]
        return version if version.end is None or position < version.end else None

    def renamed(self, table: TableName) -> TableName:
        """A table of the log by the name that it has here."""
        return self._rewrites.get(table[0], table[0]), table[1]

    def live(self) -> list[TableVersion]:
        """The tables that are there after the last statement, without sequences."""
        return [version for version in self._versions if version.end is None and not version.definition.is_sequence]

    def versions(self) -> list[TableVersion]:
        """All of them; a version's id is its place in the list."""
        return list(self._versions)

    def definitions(self) -> Iterable[TableDefinition]:
        """The definitions of `live`."""
        return (version.definition for version in self.live())

    def databases(self) -> dict[str, Charset]:
        """The databases that are there after the last statement, as far as the log or a base tells of them."""
        return dict(self._databases)

    def chains(self) -> list[list[TableVersion]]:
        """Each table's versions as far as one has the rows of the other, in order; every version is in one of them."""
        chains: list[list[TableVersion]] = []
        by_last: dict[int, list[TableVersion]] = {}
        for version in self._versions:
            chain = by_last.pop(version.previous, None) if version.previous is not None else None
            if chain is None:
                chain = []
                chains.append(chain)
            chain.append(version)
            by_last[version.id] = chain
        return chains

    def is_wanted(self, version: TableVersion) -> bool:
        """Whether the version is of a table that is replayed, by the name that it has."""
        return self._wanted(version.definition.database, version.definition.name)

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
            changes = self.load_statement(sql, database=session.database, sql_mode=session.sql_mode,
                                          time_zone=session.time_zone)
            for change in changes:
                if isinstance(change, SessionChange):
                    said = {name: value for name in ("database", "sql_mode", "time_zone")
                            if (value := getattr(change, name)) is not None}
                    session = replace(session, **said)

    def load_statement(self, sql: str, *, database: str | None, sql_mode: str, time_zone: str) -> list[SchemaChange]:
        """What a statement of a schema file or a dump does, which is done; what is about sessions or rows is the
        caller's. `time_zone` is that of TIMESTAMP defaults."""
        changes = self._parse(sql, database, sql_mode=sql_mode, time_zone=time_zone)
        for change in changes:
            if not isinstance(change, SessionChange | Dml):
                self._apply(change, BEFORE_THE_LOG, sql)
        return changes

    def apply(self, statement: Statement, at: Position, end: Position) -> None:
        """What the statement from one position to another does: rows after `end` see its effect.

        Raises SchemaError where DDL on a wanted table cannot be followed, UnsupportedStatement where the statement
        would change a wanted table's rows.
        """
        sql = statement.sql
        if isinstance(sql, bytes):
            sql = sql.decode("utf-8", "surrogateescape")
        context = statement.context
        self._statement = {"file": self._file(at), "position": at[1],
                           "moment": statement.timestamp * 1_000_000 + int(context.get("microseconds", 0))}
        try:
            for change in self._parse(sql, statement.database or None, rewrites=self._rewrites,
                                      **session_of(context, self.flavour)):
                self._apply(change, end, sql)
        except (SchemaError, UnsupportedStatement) as error:
            error.position, error.gtid = at[1], statement.gtid
            error.file = self._file(at)
            raise

    def _file(self, at: Position) -> str | None:
        return self._files[at[0]] if at[0] < len(self._files) else None

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
            case AlterTable(table):
                self._alter(table, change, position, sql)
            case RenameTables(pairs):
                for old, new in pairs:
                    self._rename(old, new, position, sql)
            case DropTable(tables):
                for table in tables:
                    self._end(table, position)
            case TruncateTable(table):
                if version := self._live(table):
                    self._end(table, position)
                    self._create(version.definition, position, sql)
            case CreateDatabase(name, charset):
                if not _is_text(name):
                    raise SchemaError(f"the name of database {name!r} is no text in its statement's character set",
                                      hint="the file is damaged; copy it again from the server")
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

    def _alter(self, table: TableName, change: AlterTable, position: Position, sql: str) -> None:
        version = self._live(table)
        if version is None:
            return
        try:
            altered = alter(version.definition, change.actions, change.context)
        except SchemaError as error:
            if self._wanted(*table):
                error.message, error.hint = f"{error.message}: {_shorten(sql)}", error.hint or _STOP_BEFORE
                raise error.at(table=version.definition.full_name) from None
            self._end(table, position)  # what it is now is not known, and matters only to those who ask
            return
        self._go_on(version, altered, change.context, position, sql)

    def _rename(self, old: TableName, new: TableName, position: Position, sql: str) -> None:
        version = self._live(old)
        if version is None:
            return  # a view, or a table that nothing defines
        definition = replace(version.definition, database=new[0], name=new[1])
        self._go_on(version, Altered(definition, tuple(range(len(definition.columns)))), None, position, sql)

    def _go_on(self, version: TableVersion, altered: Altered, context: StatementContext | None, position: Position,
               sql: str) -> None:
        """The table as a statement has altered it, with the rows that it has."""
        old, new = version.definition, altered.definition
        if not altered.emptied and same_to_rows(old, new):
            self._versions[version.id] = replace(version, definition=new)
            return
        if self._wanted(new.database, new.name) and not self._wanted(old.database, old.name):
            raise SchemaError(f"a table that is left out becomes one that is replayed: {_shorten(sql)}",
                              table=new.full_name, hint=f"replay {old.full_name}, too")
        self._end((old.database, old.name), position)
        if altered.emptied:
            self._create(new, position, sql)
            return
        mode, zone = ("", "SYSTEM") if context is None else (context.sql_mode, context.time_zone)
        self._create(new, position, sql, version.id, RowConversion(old, new, altered.sources, mode, zone, sql,
                                                                      **self._statement))

    def _create(self, definition: TableDefinition, position: Position, sql: str, previous: int | None = None,
                conversion: RowConversion | None = None) -> None:
        if self._wanted(definition.database, definition.name) and not _is_text(definition.to_sql()):
            name = definition.full_name.encode("utf-8", "backslashreplace").decode()
            raise SchemaError("the statement that makes the table has bytes that are no text", table=name,
                              hint="the file is damaged, or leave the table out with --ignore-tables")
        number = len(self._versions)
        in_base = (definition.database, definition.name) if position == BEFORE_THE_LOG else None
        if previous is not None:
            in_base = self._versions[previous].in_base
        self._versions.append(TableVersion(number, definition, position, None, sql, previous, conversion, in_base))
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
                              hint=_STOP_BEFORE)

    def _stop_at_dml(self, change: Dml) -> None:
        concerned = self._first_wanted(change.tables)
        if concerned is not None and self.skip_statements:
            self.skipped.setdefault(concerned, Counter())[change.kind] += 1
        elif concerned is not None:
            raise UnsupportedStatement(
                f"a statement changes rows, and its rows are not in the log: {_shorten(change.sql)}",
                table=concerned or None,
                hint="only binlog_format=ROW can be replayed; stop before this with --stop-position, or leave out all "
                     "that came as text with --on-statement skip")

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
