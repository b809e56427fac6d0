"""Parses the content of any type of event (EV-ALL) when it is asked for (EV-ACC)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from applier.binlog.events import events, server_events, statement_events
from applier.binlog.events.events import Event
from applier.binlog.events.fields import Fields
from applier.binlog.events.format import GTID_EVENTS, HEADER, EventType, parse_format_description
from applier.binlog.events.gtid import GtidSet
from applier.binlog.events.gtid_event import parse_gtid
from applier.binlog.events.query import parse_query, parse_query_compressed
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.events.xa import parse_xa_prepare
from applier.errors import ArchiveError


@dataclass(frozen=True)
class MappedTable:
    """A TABLE_MAP event: the meaning of this table number in rows events, until the statement ends."""

    table_id: int
    table: TableMap


@dataclass(frozen=True)
class Xid:
    """The transaction's number; it is committed by this event."""

    number: int


@dataclass(frozen=True)
class Statement:
    """The statement behind the rows that follow (EV-ANN): ROWS_QUERY of MySQL, ANNOTATE_ROWS of MariaDB."""

    sql: bytes

    @property
    def text(self) -> str:
        """The text as UTF-8; other bytes become surrogates."""
        return self.sql.decode("utf-8", "surrogateescape")


def content_of(event: Event) -> Any:
    """The event's content: a dataclass with its fields, a FormatDescription or a GtidSet; None if the type has none, or
    is not known. Raises ArchiveError (1610) with the event's position if the body is malformed."""
    parser = _PARSERS.get(event.type)
    if parser is None:
        return None
    try:
        return parser(event)
    except ArchiveError as reason:
        raise reason.at(position=event.position) from None


def _of_body(parse: Callable[[memoryview], Any]) -> Callable[[Event], Any]:
    return lambda event: parse(event.body)


def _of_kind(parse: Callable[[int, memoryview], Any]) -> Callable[[Event], Any]:
    return lambda event: parse(event.type, event.body)


def _format(event: Event) -> Any:
    header = HEADER.pack(event.timestamp, event.type, event.server_id, event.size, event.end_log_pos, event.flags)
    return parse_format_description(header + bytes(event.body))


def _table(event: Event) -> MappedTable:
    fields = Fields("TABLE_MAP", event.body)
    return MappedTable(fields.number(6), parse_table_map(bytes(fields.rest())))


_ROWS = (
    EventType.PRE_GA_WRITE_ROWS, EventType.PRE_GA_UPDATE_ROWS, EventType.PRE_GA_DELETE_ROWS, EventType.WRITE_ROWS_V1,
    EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1, EventType.WRITE_ROWS, EventType.UPDATE_ROWS,
    EventType.DELETE_ROWS, EventType.PARTIAL_UPDATE_ROWS, EventType.WRITE_ROWS_COMPRESSED_V1,
    EventType.UPDATE_ROWS_COMPRESSED_V1, EventType.DELETE_ROWS_COMPRESSED_V1, EventType.WRITE_ROWS_COMPRESSED,
    EventType.UPDATE_ROWS_COMPRESSED, EventType.DELETE_ROWS_COMPRESSED,
)  # fmt: skip
_LOADS = EventType.LOAD, EventType.NEW_LOAD, EventType.CREATE_FILE

_PARSERS: dict[int, Callable[[Event], Any]] = {
    EventType.START_V3: _of_body(server_events.parse_start_v3),
    EventType.QUERY: _of_body(parse_query),
    EventType.QUERY_COMPRESSED: _of_body(parse_query_compressed),
    EventType.ROTATE: _of_body(events.parse_rotate),
    EventType.INTVAR: _of_body(statement_events.parse_intvar),
    **dict.fromkeys(_LOADS, _of_kind(statement_events.parse_load)),
    EventType.APPEND_BLOCK: _of_body(statement_events.parse_file_block),
    EventType.BEGIN_LOAD_QUERY: _of_body(statement_events.parse_file_block),
    EventType.EXEC_LOAD: _of_body(statement_events.parse_file_end),
    EventType.DELETE_FILE: _of_body(statement_events.parse_file_end),
    EventType.EXECUTE_LOAD_QUERY: _of_body(statement_events.parse_load_query),
    EventType.RAND: _of_body(statement_events.parse_rand),
    EventType.USER_VAR: _of_body(statement_events.parse_user_var),
    EventType.FORMAT_DESCRIPTION: _format,
    EventType.XID: lambda event: Xid(events.parse_xid(event.body)),
    EventType.TABLE_MAP: _table,
    **dict.fromkeys(_ROWS, _of_kind(events.parse_rows_header)),
    EventType.INCIDENT: _of_body(server_events.parse_incident),
    EventType.HEARTBEAT: _of_kind(server_events.parse_heartbeat),
    EventType.HEARTBEAT_V2: _of_kind(server_events.parse_heartbeat),
    EventType.ROWS_QUERY: lambda event: Statement(events.parse_rows_query(event.body)),
    EventType.ANNOTATE_ROWS: lambda event: Statement(events.parse_annotate_rows(event.body)),
    **dict.fromkeys(GTID_EVENTS, lambda event: parse_gtid(event.type, event.body, event.server_id)),
    EventType.PREVIOUS_GTIDS: lambda event: GtidSet.from_previous_gtids_event(bytes(event.body)),
    EventType.GTID_LIST: lambda event: GtidSet.from_gtid_list_event(bytes(event.body)),
    EventType.TRANSACTION_CONTEXT: _of_body(server_events.parse_transaction_context),
    EventType.VIEW_CHANGE: _of_body(server_events.parse_view_change),
    EventType.XA_PREPARE: _of_body(parse_xa_prepare),
    EventType.TRANSACTION_PAYLOAD: _of_body(server_events.parse_payload),
    EventType.BINLOG_CHECKPOINT: _of_body(server_events.parse_checkpoint),
    EventType.START_ENCRYPTION: _of_body(server_events.parse_start_encryption),
}
