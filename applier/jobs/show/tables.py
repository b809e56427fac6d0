"""The selected tables, and the statements about them."""

from dataclasses import dataclass, field

from applier.binlog.events.events import Query
from applier.errors import SchemaError
from applier.jobs.show.kernels.choice_kernel import Role
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import (
    AlterTable,
    CreateTable,
    CreateTableLike,
    Dml,
    DropTable,
    Other,
    RenameTables,
    SchemaChange,
    TableName,
    TruncateTable,
)
from applier.schema.table_filter import TableFilter

_FRAME = (b"BEGIN", b"COMMIT", b"ROLLBACK", b"XA ", b"SAVEPOINT")


@dataclass(frozen=True)
class NoticedTables(TableFilter):
    """A filter that records which tables it was asked about."""

    noticed: set[tuple[str, str]] = field(default_factory=set)

    def wanted(self, database: str, table: str) -> bool:
        """As a TableFilter does."""
        self.noticed.add((database, table))
        return super().wanted(database, table)

    def notes(self) -> list[str]:
        """Return lines about entries that name none of these tables: a typing error would otherwise go unnoticed."""
        return [f"--tables {entry}: none of the events read is about such a table" for entry in
                self.without_match(self.noticed)]


def statement_role(query: Query, tables: TableFilter, flavour: str) -> Role:
    """Return the role of a statement: it concerns chosen tables (CHOSEN) or others (OTHER), or belongs to the FRAME of
    a transaction, or ends it (FRAME_END)."""
    if not _is(query, *_FRAME):
        return Role.CHOSEN if is_about(str(query.text), query.database, tables, flavour) else Role.OTHER
    is_end = _is(query, b"COMMIT", b"ROLLBACK") and not _is(query, b"ROLLBACK TO")
    return Role.FRAME_END if is_end else Role.FRAME


def is_about(text: str, database: str, tables: TableFilter, flavour: str) -> bool:
    """Return whether a statement, with this default database, names a chosen table; one that cannot be parsed might."""
    try:
        changes = parse_statement(text, default_database=database or None, flavour=flavour)
    except SchemaError:
        return True
    named = [_tables_of(change) for change in changes]
    return any(some is None or any(tables.wanted(*table) for table in some) for some in named)


def _is(query: Query, *words: bytes) -> bool:
    return query.sql[:12].upper().startswith(words)


def _tables_of(change: SchemaChange) -> list[TableName] | None:
    """Return the tables that a schema change concerns; None if it does not say."""
    match change:
        case CreateTable(definition=definition):
            return [(definition.database, definition.name)]
        case CreateTableLike(table=table, source=source):
            return [table, source]
        case AlterTable(table=table) | TruncateTable(table=table):
            return [table]
        case RenameTables(pairs=pairs):
            return [table for pair in pairs for table in pair]
        case DropTable(tables=tables) | Other(tables=tables) | Dml(tables=tables):
            return None if tables is None else list(tables)
    return []
