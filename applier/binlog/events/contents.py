"""Parses the content of any type of event (EV-ALL), on demand (EV-ACC).

The parsers of events by which servers inform replicas and group members of their state are here, too (MySQL Source
Documentation, "Incident_event", "Heartbeat_event", "Transaction_context_event", "View_change_event",
"Transaction_payload_event"; MariaDB's "Replication Protocol" for BINLOG_CHECKPOINT and START_ENCRYPTION.) Parsers take
an event's body and raise ArchiveError (1610) if it is malformed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from applier.binlog.events import events, statement_events
from applier.binlog.events.events import Event
from applier.binlog.events.fields import Fields, malformed
from applier.binlog.events.format import GTID_EVENTS, HEADER, EventType, parse_format_description
from applier.binlog.events.gtid import GtidSet
from applier.binlog.events.gtid_event import parse_gtid
from applier.binlog.events.query import parse_query, parse_query_compressed
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.events.xa import parse_xa_prepare
from applier.errors import ArchiveError


@dataclass(frozen=True)
class StartV3:
    """The format description of MySQL 4 and older."""

    binlog_version: int
    server_version: str
    created: int


@dataclass(frozen=True)
class Incident:
    """Events may be missing here (EV-INC). `number` 1: lost events."""

    number: int
    message: str


@dataclass(frozen=True)
class Heartbeat:
    """The source is alive, and at this position; never in a file."""

    file: str
    position: int | None = None


@dataclass(frozen=True)
class Checkpoint:
    """MariaDB: crash recovery needs no file before this one."""

    file: str


@dataclass(frozen=True)
class StartEncryption:
    """MariaDB: the rest of the file is encrypted."""

    scheme: int
    key_version: int
    nonce: bytes


@dataclass(frozen=True)
class TransactionContext:
    """Group Replication: the certification data of a transaction; only in a group's own files."""

    server_uuid: str
    thread_id: int
    gtid_specified: bool
    snapshot_version: bytes
    write_set: tuple[bytes, ...]
    read_set: tuple[bytes, ...]


@dataclass(frozen=True)
class ViewChange:
    """Group Replication: the group has other members from here on."""

    view_id: str
    sequence_number: int
    certification_info: int  # entries


@dataclass(frozen=True)
class Payload:
    """A compressed transaction: its events follow in it."""

    compression: str  # "ZSTD", "NONE", or a number
    compressed_size: int
    uncompressed_size: int


_ALGORITHMS = {0: "ZSTD", 255: "NONE"}
_END, _SIZE, _ALGORITHM, _UNCOMPRESSED = range(4)


def parse_start_v3(body: bytes | memoryview) -> StartV3:
    """Read a START_V3 body: version u16, server's version 50 bytes, time u32."""
    fields = Fields("START_V3", body)
    version, server = fields.number(2), fields.take(50).split(b"\0")[0]
    return StartV3(version, server.decode("ascii", "replace"), fields.number(4))


def parse_incident(body: bytes | memoryview) -> Incident:
    """Read an INCIDENT body: number u16, message (u8 length)."""
    fields = Fields("INCIDENT", body)
    number = fields.number(2)
    return Incident(number, fields.text(fields.number(1)) if fields.left else "")


def parse_heartbeat(kind: int, body: bytes | memoryview) -> Heartbeat:
    """Read a HEARTBEAT (the file's name) or HEARTBEAT_V2 body (packed type and length, value: 1 name, 2 position)."""
    fields = Fields("HEARTBEAT", body)
    if kind == EventType.HEARTBEAT:
        return Heartbeat(fields.rest_text())
    file, position = "", None
    while fields.left and (field := fields.packed()):
        length = fields.packed()
        if field == 1:
            file = fields.text(length)
        elif field == 2:
            value = Fields("HEARTBEAT", fields.take(length))
            position = value.packed()
        else:
            fields.take(length)
    return Heartbeat(file, position)


def parse_checkpoint(body: bytes | memoryview) -> Checkpoint:
    """Read a BINLOG_CHECKPOINT body: the file's name (u32 length)."""
    fields = Fields("BINLOG_CHECKPOINT", body)
    return Checkpoint(fields.text(fields.number(4)))


def parse_start_encryption(body: bytes | memoryview) -> StartEncryption:
    """Read a START_ENCRYPTION body: scheme u8, key version u32, nonce 12 bytes."""
    fields = Fields("START_ENCRYPTION", body)
    return StartEncryption(fields.number(1), fields.number(4), fields.take(12))


def parse_transaction_context(body: bytes | memoryview) -> TransactionContext:
    """Read a TRANSACTION_CONTEXT body: length of the UUID u8, thread u32, flag u8, length of the snapshot version u32,
    numbers of items in both sets u32; then UUID, snapshot version, items (u16 length)."""
    fields = Fields("TRANSACTION_CONTEXT", body)
    uuid_length, thread, specified = fields.number(1), fields.number(4), fields.number(1)
    version_length, *counts = fields.number(4), fields.number(4), fields.number(4)
    uuid, version = fields.text(uuid_length), fields.take(version_length)
    if sum(counts) * 2 > fields.left:
        raise malformed("TRANSACTION_CONTEXT", "it has more items than bytes")
    sets = [tuple(fields.take(fields.number(2)) for _ in range(count)) for count in counts]
    return TransactionContext(uuid, thread, bool(specified), version, *sets)


def parse_view_change(body: bytes | memoryview) -> ViewChange:
    """Read a VIEW_CHANGE body: view id 40 bytes, number u64, entries of certification info u32."""
    fields = Fields("VIEW_CHANGE", body)
    view = fields.take(40).split(b"\0")[0].decode("utf-8", "surrogateescape")
    return ViewChange(view, fields.number(8), fields.number(4))


def parse_payload(body: bytes | memoryview) -> Payload:
    """Read the header of a TRANSACTION_PAYLOAD body: fields of packed type and length, up to type 0."""
    fields = Fields("TRANSACTION_PAYLOAD", body)
    values: dict[int, int] = {}
    while (field := fields.packed()) != _END:
        value = Fields("TRANSACTION_PAYLOAD", fields.take(fields.packed()))
        values[field] = value.packed() if value.left else 0
    size, algorithm = values.get(_SIZE, fields.left), values.get(_ALGORITHM, 0)
    return Payload(_ALGORITHMS.get(algorithm, str(algorithm)), size, values.get(_UNCOMPRESSED, size))


@dataclass(frozen=True)
class MappedTable:
    """A TABLE_MAP event: the meaning of this table number in rows events, until the statement ends."""

    table_id: int
    table: TableMap


@dataclass(frozen=True)
class Xid:
    """The transaction's number; this event commits it."""

    number: int


@dataclass(frozen=True)
class Statement:
    """The statement that made the rows that follow (EV-ANN): ROWS_QUERY of MySQL, ANNOTATE_ROWS of MariaDB."""

    sql: bytes

    @property
    def text(self) -> str:
        """The text as UTF-8; other bytes become surrogates."""
        return self.sql.decode("utf-8", "surrogateescape")


def content_of(event: Event) -> Any:
    """Return the event's content: a dataclass with its fields, a FormatDescription or a GtidSet; None if the type has
    no fields, or is unknown. Raises ArchiveError (1610) with the event's position if the body is malformed."""
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
    EventType.START_V3: _of_body(parse_start_v3),
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
    EventType.INCIDENT: _of_body(parse_incident),
    EventType.HEARTBEAT: _of_kind(parse_heartbeat),
    EventType.HEARTBEAT_V2: _of_kind(parse_heartbeat),
    EventType.ROWS_QUERY: lambda event: Statement(events.parse_rows_query(event.body)),
    EventType.ANNOTATE_ROWS: lambda event: Statement(events.parse_annotate_rows(event.body)),
    **dict.fromkeys(GTID_EVENTS, lambda event: parse_gtid(event.type, event.body, event.server_id)),
    EventType.PREVIOUS_GTIDS: lambda event: GtidSet.from_previous_gtids_event(bytes(event.body)),
    EventType.GTID_LIST: lambda event: GtidSet.from_gtid_list_event(bytes(event.body)),
    EventType.TRANSACTION_CONTEXT: _of_body(parse_transaction_context),
    EventType.VIEW_CHANGE: _of_body(parse_view_change),
    EventType.XA_PREPARE: _of_body(parse_xa_prepare),
    EventType.TRANSACTION_PAYLOAD: _of_body(parse_payload),
    EventType.BINLOG_CHECKPOINT: _of_body(parse_checkpoint),
    EventType.START_ENCRYPTION: _of_body(parse_start_encryption),
}
