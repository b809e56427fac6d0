"""The definitions of tables as a server has them now, for a log that begins after they were made.

They are those of the log's beginning only if no statement of the log changed them: then each table map of the log
agrees with them in number, types and, where the log has them, names of columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from applier.binlog.events.table_map import TableMap
from applier.binlog.outline.outline import Outline, Statement
from applier.columns.agreement import definition_check
from applier.columns.from_log import definition_from_log, has_definition
from applier.errors import ApplierError, SchemaError, ServerAnswerError
from applier.jobs.server.session import Row, text
from applier.jobs.verify.server import Server
from applier.mysql.names import folded
from applier.mysql.types import quote_name
from applier.plan.span import LogSpan
from applier.plan.used_tables import table_map_of
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import (
    AlterDatabase,
    AlterTable,
    CreateDatabase,
    CreateTable,
    CreateTableLike,
    DropDatabase,
    DropTable,
    Other,
    RenameTables,
    SchemaChange,
    TableName,
)
from applier.schema.definition import TableDefinition
from applier.schema.history.session import parse_arguments, text_of
from applier.schema.table_filter import TableFilter

_HINT = "give the definitions of the log's beginning with --schema, and leave out --server"
_MOST_SHOWN = 200
_Position = tuple[int, int]
"""The number of a file, and the offset in it."""


def definitions(server: Server, span: LogSpan, filter: TableFilter) -> str:
    """Return CREATE statements of the tables that the log changes and did not make, and of those that foreign keys
    connect to them, as a schema file has them. Raises SchemaError if a statement of the log changed one of them, or if
    the log has another number or other types of columns."""
    log = _Log.of(span, filter)
    there = {(text(database), text(name)) for database, name in server.rows(_TABLES, 2, list[Row])}
    edges = [((text(one), text(two)), (text(three), text(four)))
             for one, two, three, four in server.rows(_FOREIGN_KEYS, 4, list[Row])]
    names = {name for name in log.uses if name in there and not log.makes(name)}
    while more := {other for edge in edges for own, other in (edge, edge[::-1])
                   if own in names and other in there and not log.makes(other)} - names:
        names |= more
    lines, database = [], ""
    for name in sorted(names):
        log.check_unchanged(name)
        if name[0] != database:
            database = name[0]
            if folded(database) not in log.databases:
                lines.append(_shown(server, f"SHOW CREATE DATABASE {quote_name(database)}"))
            lines.append(f"USE {quote_name(database)}")
        table = f"{quote_name(database)}.{quote_name(name[1])}"
        server.rows(f"SELECT 1 FROM {table} LIMIT 1", 1, list[Row])  # no statement changes it from here on
        lines.append(_shown(server, f"SHOW CREATE TABLE {table}"))
        _check(name, lines[-1], log.uses.get(name, ()), span.flavour)
    return "".join(f"{line};\n" for line in lines)


_TABLES = ("SELECT table_schema, table_name FROM information_schema.tables "
           "WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')")
_FOREIGN_KEYS = ("SELECT DISTINCT table_schema, table_name, referenced_table_schema, referenced_table_name "
                 "FROM information_schema.key_column_usage WHERE referenced_table_name IS NOT NULL")


def _shown(server: Server, statement: str) -> str:
    def second(rows: Sequence[Row]) -> str:
        [[_, shown]] = rows
        return text(shown)

    return server.rows(statement, 2, second)


@dataclass(frozen=True)
class _Use:
    """A table map of a file, and the first position where it is used."""

    position: _Position
    outline: Outline
    table_map: TableMap


@dataclass(frozen=True)
class _Changed:
    """A statement that changed a definition."""

    position: _Position
    outline: Outline
    statement: Statement
    makes: bool


@dataclass
class _Log:
    """The parts of a log that concern definitions: the `uses` of each wanted table, the statements that changed the
    definition of a table (by its name in lower case; None: of all in the database, or, without a database, of all), and
    the `databases` that statements concern."""

    uses: dict[TableName, list[_Use]] = field(default_factory=lambda: defaultdict(list))
    changed: dict[tuple[str | None, str | None], list[_Changed]] = field(default_factory=lambda: defaultdict(list))
    databases: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, span: LogSpan, filter: TableFilter) -> _Log:
        """Read a part of the log."""
        log = cls()
        for number, outline in enumerate(span.outlines):
            for use in outline.tables:
                table_map = table_map_of(outline, use)
                if use.n_events and filter.wanted(table_map.database, table_map.table):
                    log.uses[table_map.database, table_map.table].append(
                        _Use((number, use.first_position), outline, table_map))
            for statement in outline.statements:
                for change in _parsed(statement, span.flavour):
                    if isinstance(change, CreateDatabase | AlterDatabase | DropDatabase):
                        log.databases.add(folded(change.name))
                    for name, makes in _changed(change):
                        log.changed[name].append(_Changed((number, statement.position), outline, statement, makes))
        return log

    def _of(self, name: TableName) -> list[_Changed]:
        keys = _key(name), (folded(name[0]), None), (None, None)
        return sorted((one for key in keys for one in self.changed.get(key, ())), key=lambda one: one.position)

    def makes(self, name: TableName) -> bool:
        """Return whether the log makes the table before it changes rows of it."""
        made = next((one.position for one in self._of(name) if one.makes), None)
        return made is not None and all(use.position > made for use in self.uses.get(name, ()))

    def check_unchanged(self, name: TableName) -> None:
        """Raise SchemaError for the first statement that changed the table's definition."""
        for one in self._of(name):
            sql, gtid = " ".join(text_of(one.statement).split())[:_MOST_SHOWN], one.statement.gtid
            raise SchemaError("the server's definition of this table is not the one of the log's beginning, since this "
                              f"statement changed it: {sql}", file=one.outline.uri, position=one.statement.position,
                              gtid=gtid, table=".".join(name), hint=_HINT)


def _key(name: TableName) -> tuple[str | None, str | None]:
    """Return a table's name where case does not matter."""
    return folded(name[0]), folded(name[1])


def _parsed(statement: Statement, flavour: str) -> list[SchemaChange]:
    try:
        return parse_statement(text_of(statement), flavour=flavour, **parse_arguments(statement, flavour, {}, None))
    except ApplierError as error:  # the history of the log raises it, if it matters there
        return [Other("statement", None, text_of(statement), error.message)]


def _changed(change: SchemaChange) -> Iterator[tuple[tuple[str | None, str | None], bool]]:
    """Yield the tables whose definition a statement changes, and whether it makes the table. CREATE TABLE IF NOT EXISTS
    changes none: of a table that was not there, the definition of now is the one that it made."""
    match change:
        case CreateTable(definition=made) if not change.if_not_exists:
            yield _key((made.database, made.name)), True
        case CreateTableLike(table=name) if not change.if_not_exists:
            yield _key(name), True
        case AlterTable(table=name):
            yield _key(name), False
        case RenameTables(pairs=pairs):
            for name in (name for pair in pairs for name in pair):
                yield _key(name), False
        case DropTable(tables=names):
            for name in names:
                yield _key(name), False
        case DropDatabase(name=database):
            yield (folded(database), None), False
        case Other(tables=None):
            yield (None, None), False
        case Other(tables=names):
            for name in names or ():
                yield _key(name), False


def _check(name: TableName, sql: str, uses: Sequence[_Use], flavour: str) -> None:
    """Raise SchemaError unless all table maps of a table agree with its definition."""
    try:
        [change] = parse_statement(sql, default_database=name[0], flavour=flavour)
    except (ApplierError, ValueError) as error:
        raise ServerAnswerError(f"the server's definition of this table cannot be read: {error}",
                                table=".".join(name), hint=_HINT) from None
    if not isinstance(change, CreateTable):
        raise ServerAnswerError("the server's answer is no definition of a table", table=".".join(name), hint=_HINT)
    for use in uses:
        if why := _disagreement(use.table_map, change.definition):
            raise SchemaError(f"the server's definition of this table is not the log's: {why}", file=use.outline.uri,
                              position=use.position[1], table=".".join(name), hint=_HINT)


def _disagreement(table_map: TableMap, definition: TableDefinition) -> str:
    if stopped := definition_check(table_map, definition):
        return stopped.message
    if not has_definition(table_map):
        return ""
    logged = definition_from_log(table_map, (definition.database, definition.name), definition.flavour)
    return next((f"column {column.name} {column.type.sql()} is {other.name} {other.type.sql()} in the log"
                 for other, column in zip(logged.columns, definition.columns, strict=False)
                 if folded(other.name) != folded(column.name) or other.type.members != column.type.members), "")
