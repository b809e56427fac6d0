"""The tables that a logged statement would change: a row applier must name them, and cannot apply it."""

from applier.errors import SchemaError
from applier.schema.ddl.cursor import Cursor, StatementContext
from applier.schema.ddl.schema_changes import Dml, TableName
from applier.sql.tokens import render

DML = ("INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "WITH", "CALL", "DO", "SELECT", "VALUES", "TABLE", "HANDLER")
_MODIFIERS = ("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "IGNORE", "CONCURRENT", "LOCAL")


def parse_dml(cursor: Cursor, sql: str) -> Dml:
    """Return the statement at the cursor, whose first word is one of `DML`."""
    statement = render(cursor.tokens[cursor.index:-1])
    kind = cursor.next().keyword
    try:
        if kind == "DELETE" and cursor.accept("FROM"):
            emptied = cursor.table_name()
            if cursor.at_end:
                return Dml(kind, (emptied,), sql, empties=True)
        tables = _target(cursor, kind, statement)
    except SchemaError:
        tables = None
    return Dml(kind, tables, sql)


def _target(cursor: Cursor, kind: str, statement: str) -> tuple[TableName, ...] | None:
    if kind in ("INSERT", "REPLACE"):
        while cursor.accept_any(*_MODIFIERS):
            pass
        cursor.accept("INTO")
        return (cursor.table_name(),)
    if kind == "LOAD":
        while not cursor.accept("INTO", "TABLE"):
            cursor.next()
        return (cursor.table_name(),)
    if kind in ("UPDATE", "DELETE"):
        return _all_tables(statement, cursor.context)
    return None  # CALL, DO, SELECT: functions may change anything


def _all_tables(statement: str, context: StatementContext) -> tuple[TableName, ...] | None:
    """Return every table that the statement names: with several in it, an UPDATE or DELETE may change each of them."""
    import sqlglot  # 0.15 s to import, and needed for logs with statements only
    from sqlglot.errors import SqlglotError

    try:
        tables = list(sqlglot.parse_one(statement, dialect="mysql").find_all(sqlglot.exp.Table))
    except (SqlglotError, RecursionError):  # or it is nested too deeply to be parsed
        return None
    found = tuple(dict.fromkeys((context.database_named(table.db) or context.default_database or "",
                                 context.named(table.name))
                                for table in tables))
    return found or None
