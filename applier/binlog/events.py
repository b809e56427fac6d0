"""Single events and what they hold, each read when asked for (EV-ACC).

For tools and for the few events that Python looks at: `applier show`, DDL, file borders. Row changes in bulk do not
come this way. All parsers take an event's body: without the header and without the checksum. They raise ArchiveError
(1610) where the body is too short for what it says.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import error, unpack_from
from uuid import UUID

from applier.binlog.format import (
    HEADER,
    HEADER_LENGTH,
    MARIADB_GROUP_COMMIT_ID,
    EventType,
    FormatDescription,
    check_magic,
    event_name,
    parse_format_description,
)
from applier.binlog.mapping import MappedFile
from applier.binlog.query import Query as Query
from applier.binlog.query import inflate as inflate
from applier.binlog.query import parse_execute_load_query as parse_execute_load_query
from applier.binlog.query import parse_query as parse_query
from applier.binlog.query import parse_query_compressed as parse_query_compressed
from applier.errors import CORRUPT_EVENT, ArchiveError


@dataclass(frozen=True)
class Event:
    """One event. Its place is `position`; `end_log_pos` is what its header says the next one's place is (GRP-6)."""

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
        return event_name(self.type)


def read_format(mapped: MappedFile) -> FormatDescription:
    """The format description of a file. Raises ArchiveError / EncryptedBinlog naming the file."""
    try:
        start = bytes(mapped.array[: 4 + HEADER_LENGTH])
        check_magic(start)
        size = int.from_bytes(start[13:17], "little")
        return parse_format_description(bytes(mapped.array[4 : 4 + size]))
    except ArchiveError as reason:
        raise type(reason)(reason.message, file=mapped.uri, position=reason.position or 4, hint=reason.hint) from None


def read_events(mapped: MappedFile) -> Iterator[Event]:
    """All events of a file in order. Raises ArchiveError where a length is impossible or the file ends in an event."""
    description = read_format(mapped)
    position = 4
    while position < mapped.size:
        event = read_event(mapped, position, description)
        yield event
        position += event.size


def read_event(mapped: MappedFile, position: int, description: FormatDescription) -> Event:
    """The event at a position. Raises ArchiveError where it does not fit in the file."""
    header = bytes(mapped.array[position : position + HEADER_LENGTH])
    if len(header) < HEADER_LENGTH:
        raise ArchiveError(
            "the file ends within an event's header", file=mapped.uri, position=position, errno=CORRUPT_EVENT
        )
    timestamp, kind, server_id, size, end_log_pos, flags = HEADER.unpack(header)
    is_format = kind == EventType.FORMAT_DESCRIPTION
    start = position + (HEADER_LENGTH if is_format else description.header_length)
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
        memoryview(mapped.array[start:end]),
    )


def read_event_at(data: bytes, position: int, description: FormatDescription) -> Event:
    """An event from within the compressed one at a position: whole, without a checksum."""
    timestamp, kind, server_id, size, end_log_pos, flags = HEADER.unpack_from(data)
    body = memoryview(data)[description.header_length :]
    return Event(position, kind, timestamp, server_id, size, end_log_pos, flags, None, body)


def _malformed(what: str, reason: Exception | None = None) -> ArchiveError:
    return ArchiveError(f"the {what} event is malformed" + (f": {reason}" if reason else ""), errno=CORRUPT_EVENT)


# ---- groups and files -----------------------------------------------------------------------------------------------


def parse_xid(body: bytes | memoryview) -> int:
    """The transaction's number in an XID event (u64): it says that the transaction was committed."""
    return _fields("XID", "<Q", body)[0]


def parse_rows_query(body: bytes | memoryview) -> bytes:
    """The statement in a ROWS_QUERY event, after a length byte that overflows and so is not used (EV-ANN)."""
    return bytes(body[1:])


def parse_annotate_rows(body: bytes | memoryview) -> bytes:
    """The statement in a MariaDB ANNOTATE_ROWS event (EV-ANN)."""
    return bytes(body)


@dataclass(frozen=True)
class Gtid:
    """A GTID event of either flavour. `text` is None for ANONYMOUS_GTID."""

    text: str | None
    flags: int
    number: int
    last_committed: int | None = None
    sequence_number: int | None = None
    commit_id: int | None = None  # MariaDB's group commit id


def parse_gtid(kind: int, body: bytes | memoryview, server_id: int) -> Gtid:
    """Read a GTID, ANONYMOUS_GTID, GTID_TAGGED or MariaDB GTID body; MariaDB's server id is in the event's header."""
    if kind == EventType.MARIADB_GTID:
        number, domain, flags = _fields("GTID", "<QIB", body)
        commit_id = _fields("GTID", "<Q", body[13:])[0] if flags & MARIADB_GROUP_COMMIT_ID else None
        return Gtid(f"{domain}-{server_id}-{number}", flags, number, commit_id=commit_id)
    if kind == EventType.GTID_TAGGED:
        return _tagged_gtid(bytes(body))
    flags, source, number = _fields("GTID", "<B16sq", body)
    logical = unpack_from("<qq", body, 26) if len(body) >= 42 and body[25] == 2 else (None, None)
    text = f"{UUID(bytes=source)}:{number}" if kind == EventType.GTID else None
    return Gtid(text, flags, number, *logical)


def _tagged_gtid(body: bytes) -> Gtid:
    """MySQL's serialization: version, size, last required field, then (field number, value).

    All integers are of variable length: as many bytes follow the first as it has low one bits. Signed ones carry
    their sign in the lowest bit.
    """
    at = 0

    def unsigned() -> int:
        nonlocal at
        first = body[at]
        extra = 0
        while first >> extra & 1:
            extra += 1
        value = int.from_bytes(_exact(body, at, extra + 1), "little") >> min(extra + 1, 8)
        at += extra + 1
        return value

    def signed() -> int:
        value = unsigned()
        return -(value >> 1) - 1 if value & 1 else value >> 1

    try:
        unsigned(), unsigned(), unsigned()
        values: dict[int, int] = {}
        source, tag = b"", ""
        while at < len(body) and (number := unsigned()) <= 5:
            if number == 1:
                source = bytes(unsigned() for _ in range(16))
            elif number == 3:
                length = unsigned()
                tag, at = _exact(body, at, length).decode("ascii"), at + length
            else:
                values[number] = unsigned() if number == 0 else signed()
        text = f"{UUID(bytes=source)}:{tag + ':' if tag else ''}{values[2]}"
        return Gtid(text, values.get(0, 0), values[2], values.get(4), values.get(5))
    except (IndexError, KeyError, ValueError) as reason:
        raise _malformed("GTID_TAGGED", reason) from None


@dataclass(frozen=True)
class Rotate:
    """The file that the log goes on in, and the position in it."""

    next_file: str
    position: int


def parse_rotate(body: bytes | memoryview) -> Rotate:
    """Read a ROTATE body: position u64, then the next file's base name."""
    return Rotate(bytes(body[8:]).decode("utf-8", "surrogateescape"), _fields("ROTATE", "<Q", body)[0])


# ---- rows -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowsHeader:
    """What precedes the rows in a rows event. A bitmap has bit i%8 of byte i//8 set where column i is in the image."""

    table_id: int
    flags: int
    extra: bytes
    n_columns: int
    before: bytes | None  # None: rows of this event have no before-image
    after: bytes | None
    rows_offset: int  # of the first row, in the body


_ROWS_V1 = frozenset((23, 24, 25, 166, 167, 168))
_WRITES = frozenset((20, 23, 30, 166, 169))
_UPDATES = frozenset((21, 24, 31, 39, 167, 170))


def parse_rows_header(kind: int, body: bytes | memoryview) -> RowsHeader:
    """Read the start of a rows event: table id 6 bytes, flags u16, in v2 extra data, column count, bitmaps."""
    table_id, high, flags = _fields("rows", "<IHH", body)
    at, extra = 8, b""
    if kind not in _ROWS_V1:
        length = _fields("rows", "<H", body[8:])[0]
        at, extra = 8 + max(length, 2), bytes(body[10 : 8 + max(length, 2)])
    try:
        n_columns, at = _length_encoded(body, at)
    except (IndexError, error):
        raise _malformed("rows") from None
    size = (n_columns + 7) // 8
    bitmaps = [bytes(body[at + i * size : at + (i + 1) * size]) for i in range(1 + (kind in _UPDATES))]
    at += size * len(bitmaps)
    if at > len(body):
        raise _malformed("rows")
    before, after = (None, bitmaps[0]) if kind in _WRITES else (bitmaps[0], bitmaps[1] if len(bitmaps) == 2 else None)
    return RowsHeader(table_id | high << 32, flags, extra, n_columns, before, after, at)


def _length_encoded(body: bytes | memoryview, at: int) -> tuple[int, int]:
    first = body[at]
    if first < 251:
        return first, at + 1
    size = {252: 2, 253: 3, 254: 8}[first] if first in (252, 253, 254) else 0
    if not size:
        raise IndexError
    return int.from_bytes(_exact(body, at + 1, size), "little"), at + 1 + size


def _exact(body: bytes | memoryview, at: int, size: int) -> bytes:
    if at + size > len(body):
        raise IndexError
    return bytes(body[at : at + size])


def _fields(what: str, layout: str, body: bytes | memoryview) -> tuple:
    try:
        return unpack_from(layout, body)
    except error as reason:
        raise _malformed(what, reason) from None
