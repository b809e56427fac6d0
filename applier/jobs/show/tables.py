"""Events about some tables: their row changes and DDL, with the frame of their transactions and the statements behind
the rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from applier.binlog.events.contents import MappedTable
from applier.binlog.events.events import Query, RowsHeader
from applier.binlog.events.format import STATEMENT_END_FLAG, EventType
from applier.errors import SchemaError
from applier.jobs.show.kernels.choice_kernel import CHOSEN, FRAME, FRAME_END, OTHER
from applier.jobs.show.rows import ShownEvent
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

_BEGINS = {EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.MARIADB_GTID}
_FILE = {
    EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.GTID_LIST, EventType.ROTATE, EventType.STOP,
    EventType.BINLOG_CHECKPOINT, EventType.START_ENCRYPTION,
}  # fmt: skip
_STATEMENTS = {EventType.ROWS_QUERY, EventType.ANNOTATE_ROWS}
_FRAME = (b"BEGIN", b"COMMIT", b"ROLLBACK", b"XA ", b"SAVEPOINT")


@dataclass(frozen=True)
class NoticedTables(TableFilter):
    """A filter that knows which tables it was asked about."""

    noticed: set[tuple[str, str]] = field(default_factory=set)

    def wanted(self, database: str, table: str) -> bool:
        """As a TableFilter does."""
        self.noticed.add((database, table))
        return super().wanted(database, table)

    def notes(self) -> list[str]:
        """Lines about entries that name none of these tables: a typing error would otherwise go unnoticed."""
        return [f"--table {entry}: none of the events read is about such a table" for entry in
                self.without_match(self.noticed)]


class AboutTables:
    """Passes on what is about tables that are wanted, of the events of a file in their order.

    A transaction's first events are held back until one about such a table comes; a statement's text (EV-ANN) until its
    table maps say so.
    """

    def __init__(self, tables: TableFilter) -> None:
        self._tables = tables
        self._frame: list[ShownEvent] = []
        self._statement: list[ShownEvent] = []
        self._is_shown = False
        self._ids: dict[int, bool] = {}

    def of(self, events: Iterator[ShownEvent]) -> Iterator[ShownEvent]:
        """These events without those that are about other tables."""
        for shown in events:
            kind = shown.event.type
            if kind in _FILE:
                self._begin([])
                if kind == EventType.FORMAT_DESCRIPTION:
                    yield shown
            elif kind in _BEGINS:
                self._begin([shown])
            elif kind in _STATEMENTS:
                self._statement = [shown]
            else:
                yield from self._by_role(shown)

    def go_on(self, frame: list[ShownEvent], statement: list[ShownEvent], is_shown: bool) -> None:
        """In a transaction that has begun with a frame and a statement that wait, and whether some of it was shown."""
        self._frame, self._statement, self._is_shown = frame, statement, is_shown

    def role(self, shown: ShownEvent) -> int:
        """What an event is, that neither begins a transaction, is about the file nor the text of a statement: CHOSEN,
        OTHER, of the FRAME, or its end."""
        if self._is_wanted(shown):
            return CHOSEN
        if not self._is_of_frame(shown):
            return OTHER
        return FRAME_END if _is_end(shown) else FRAME

    def _by_role(self, shown: ShownEvent) -> Iterator[ShownEvent]:
        role = self.role(shown)
        if role == CHOSEN:
            yield from (*self._frame, *self._statement, shown)
            self._frame, self._statement, self._is_shown = [], [], True
        elif role != OTHER:
            if self._is_shown:
                yield shown
            else:
                self._frame.append(shown)
            if role == FRAME_END:
                self._begin([])

    def _begin(self, frame: list[ShownEvent]) -> None:
        self._frame, self._statement, self._is_shown = frame, [], False

    def _is_wanted(self, shown: ShownEvent) -> bool:
        content = shown.event.content
        if isinstance(content, MappedTable):
            wanted = self._tables.wanted(content.table.database, content.table.table)
            self._ids[content.table_id] = wanted
            return wanted
        if isinstance(content, RowsHeader):
            if content.flags & STATEMENT_END_FLAG and not self._ids.get(content.table_id):
                self._statement = []
            return self._ids.get(content.table_id, False)
        return isinstance(content, Query) and not _is(content, *_FRAME) and self._is_about(content, shown)

    def _is_of_frame(self, shown: ShownEvent) -> bool:
        content = shown.event.content
        if isinstance(content, Query):
            return _is(content, *_FRAME)
        return shown.event.type in (EventType.XID, EventType.XA_PREPARE, EventType.TRANSACTION_PAYLOAD)

    def _is_about(self, query: Query, shown: ShownEvent) -> bool:
        """Whether a statement names a table that is wanted; one that cannot be read might."""
        try:
            changes = parse_statement(str(query.text), default_database=query.database or None,
                                      flavour=shown.event.format.flavour)
        except SchemaError:
            return True
        for change in changes:
            tables = _tables_of(change)
            if tables is None or any(self._tables.wanted(*table) for table in tables):
                return True
        return False


def _is_end(shown: ShownEvent) -> bool:
    """Whether a transaction ends with it."""
    content = shown.event.content
    if isinstance(content, Query):
        return _is(content, b"COMMIT", b"ROLLBACK") and not _is(content, b"ROLLBACK TO")
    return shown.event.type in (EventType.XID, EventType.XA_PREPARE)


def _is(query: Query, *words: bytes) -> bool:
    return query.sql[:12].upper().startswith(words)


def _tables_of(change: SchemaChange) -> list[TableName] | None:
    """The tables that a change of the schema is about; None where it does not say."""
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
