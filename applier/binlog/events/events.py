"""Reads single events and their contents, each on demand (EV-ACC).

For tools, and for the few events that Python reads: `applier show`, DDL, file borders. Kernels read row changes in
bulk. All parsers take an event's body, without header and checksum, and raise ArchiveError (1610) if it is too short.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from applier.binlog.events.fields import Fields
from applier.binlog.events.format import (
    HEADER,
    HEADER_LENGTH,
    EventType,
    FormatDescription,
    check_magic,
    event_name,
    parse_format_description,
)
from applier.binlog.events.gtid_event import Gtid as Gtid
from applier.binlog.events.gtid_event import parse_gtid as parse_gtid
from applier.binlog.events.query import Query as Query
from applier.binlog.events.query import inflate as inflate
from applier.binlog.events.query import parse_execute_load_query as parse_execute_load_query
from applier.binlog.events.query import parse_query as parse_query
from applier.binlog.events.query import parse_query_compressed as parse_query_compressed
from applier.errors import CORRUPT_EVENT, ArchiveError, EncryptedBinlog
from applier.io.mapping import MappedFile

_HEAD_BYTES = 8 << 10
"""The number of bytes that are fetched first: few heads are longer."""
_MARIADB_COMPRESSED = range(EventType.QUERY_COMPRESSED, EventType.DELETE_ROWS_COMPRESSED + 1)


@dataclass(frozen=True)
class Event:
    """One event at `position`; `end_log_pos` is the next one's position by its header (GRP-6)."""

    position: int
    type: int
    timestamp: int
    server_id: int
    size: int
    end_log_pos: int
    flags: int
    group_id: int | None  # of 27-byte headers (GRP-3)
    body: memoryview

    @property
    def name(self) -> str:
        """The name of the type; UNKNOWN(number) if it has none."""
        return event_name(self.type)

    @property
    def is_compressed(self) -> bool:
        """True if it contains compressed events (TRANSACTION_PAYLOAD), or is compressed itself (MariaDB)."""
        return self.type == EventType.TRANSACTION_PAYLOAD or self.type in _MARIADB_COMPRESSED


def read_format(mapped: MappedFile) -> FormatDescription:
    """Read the format description of a file. Raises ArchiveError or EncryptedBinlog, which name the file."""
    mapped.fetch(0, _HEAD_BYTES)
    try:
        start = bytes(mapped.array[: 4 + HEADER_LENGTH])
        check_magic(start)
    except ArchiveError as reason:
        raise reason.at(file=mapped.uri) from None
    try:
        size = int.from_bytes(start[13:17], "little")
        return parse_format_description(bytes(mapped.array[4 : 4 + size]))
    except ArchiveError as reason:
        raise reason.at(file=mapped.uri, position=4) from None


def read_events(mapped: MappedFile, start: int = 4, end: int | None = None) -> Iterator[Event]:
    """Yield the events of a file in order: all of them, or those in [start, end). Raises ArchiveError if a length is
    impossible or the file ends within an event, and EncryptedBinlog after the event that says that the rest is
    encrypted."""
    description = read_format(mapped)
    position, end = start, mapped.size if end is None else min(end, mapped.size)
    while position < end:
        event = read_event(mapped, position, description)
        yield event
        if event.type == EventType.START_ENCRYPTION and not mapped.is_decrypted:
            raise encrypted(mapped.uri, position)
        position += event.size


def encrypted(uri: str, position: int) -> EncryptedBinlog:
    """Return the error for a MariaDB file whose rest is encrypted, according to START_ENCRYPTION at a position."""
    return EncryptedBinlog("the binlog is encrypted", file=uri, position=position,
                           hint="give its key, --key-file FILE of file_key_management, or copy it from the server with "
                                "`mariadb-binlog --read-from-remote-server --raw`")


def read_event(mapped: MappedFile, position: int, description: FormatDescription) -> Event:
    """Read the event at a position. Raises ArchiveError if it extends past the end of the file."""
    mapped.fetch(position, position + HEADER_LENGTH)
    header = bytes(mapped.array[position : position + HEADER_LENGTH])
    if len(header) < HEADER_LENGTH:
        raise ArchiveError(
            "the file ends within an event's header", file=mapped.uri, position=position, errno=CORRUPT_EVENT
        )
    timestamp, kind, server_id, size, end_log_pos, flags = HEADER.unpack(header)
    mapped.fetch(position, position + size)
    is_format = kind == EventType.FORMAT_DESCRIPTION
    is_frozen = is_format or kind == EventType.ROTATE  # these events have the old header in every file
    start = position + (HEADER_LENGTH if is_frozen else description.header_length)
    end = position + size - (0 if is_format else description.checksum_length)
    if end < start or position + size > mapped.size:
        raise ArchiveError(
            f"an event of {size} bytes does not fit here", file=mapped.uri, position=position, errno=CORRUPT_EVENT
        )
    extra = bytes(mapped.array[position + HEADER_LENGTH : start])
    return Event(
        position,
        kind,
        timestamp,
        server_id,
        size,
        end_log_pos,
        flags,
        int.from_bytes(extra, "little") if extra else None,
        mapped.array[start:end].data,
    )


def read_event_at(data: bytes, position: int, description: FormatDescription) -> Event:
    """Read an event from within the compressed one at a position: a whole event, without a checksum."""
    timestamp, kind, server_id, size, end_log_pos, flags = HEADER.unpack_from(data)
    body = memoryview(data)[description.header_length :]
    return Event(position, kind, timestamp, server_id, size, end_log_pos, flags, None, body)


# ---- groups and files -----------------------------------------------------------------------------------------------


def parse_xid(body: bytes | memoryview) -> int:
    """Read the transaction's number in an XID event (u64), which says that it was committed."""
    return Fields("XID", body).number(8)


def parse_rows_query(body: bytes | memoryview) -> bytes:
    """Read the statement in a ROWS_QUERY event, after a length byte that is not used, since it overflows (EV-ANN)."""
    return bytes(body[1:])


def parse_annotate_rows(body: bytes | memoryview) -> bytes:
    """Read the statement in a MariaDB ANNOTATE_ROWS event (EV-ANN)."""
    return bytes(body)


@dataclass(frozen=True)
class Rotate:
    """The file in which the log continues, and the position in it."""

    next_file: str
    position: int


def parse_rotate(body: bytes | memoryview) -> Rotate:
    """Read a ROTATE body: position u64, then the next file's base name."""
    fields = Fields("ROTATE", body)
    position = fields.number(8)
    return Rotate(fields.rest_text(), position)


# ---- rows -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowsHeader:
    """The start of a rows event, before its rows. A bitmap has bit i%8 of byte i//8 set if column i is in the image."""

    table_id: int
    flags: int
    extra: bytes
    n_columns: int
    before: bytes | None  # None: rows of this event have no before-image
    after: bytes | None
    rows_offset: int  # of the first row, in the body


_ROWS_V1 = frozenset((20, 21, 22, 23, 24, 25, 166, 167, 168))
_WRITES = frozenset((20, 23, 30, 166, 169))
_UPDATES = frozenset((24, 31, 39, 167, 170))


def parse_rows_header(kind: int, body: bytes | memoryview) -> RowsHeader:
    """Read the start of a rows event: table id 6 bytes, flags u16, in v2 extra data, column count, bitmaps. The single
    bitmap of a pre-GA update is returned as the before-image's."""
    fields, extra = Fields("rows", body), b""
    table_id, flags = fields.number(6), fields.number(2)
    if kind not in _ROWS_V1:
        extra = fields.take(max(fields.number(2), 2) - 2)
    n_columns = fields.packed()
    bitmaps = [fields.take((n_columns + 7) // 8) for _ in range(1 + (kind in _UPDATES))]
    before, after = (None, bitmaps[0]) if kind in _WRITES else (bitmaps[0], bitmaps[1] if len(bitmaps) == 2 else None)
    return RowsHeader(table_id, flags, extra, n_columns, before, after, fields.at)
