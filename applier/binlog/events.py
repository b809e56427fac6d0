"""Single events and what they hold, each read when asked for (EV-ACC).

For tools and for the few events that Python looks at: `applier show`, DDL, file borders. Row changes in bulk do not come
this way. All parsers take an event's body: without the header and without the checksum. They raise ArchiveError (1610)
where the body is too short for what it says.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from struct import Struct, error, unpack_from
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
        raise ArchiveError("the file ends within an event's header", file=mapped.uri, position=position, errno=CORRUPT_EVENT)
    timestamp, kind, server_id, size, end_log_pos, flags = HEADER.unpack(header)
    is_format = kind == EventType.FORMAT_DESCRIPTION
    start = position + (HEADER_LENGTH if is_format else description.header_length)
    end = position + size - (0 if is_format else description.checksum_length)
    if end < start or position + size > mapped.size:
        raise ArchiveError(f"an event of {size} bytes does not fit here", file=mapped.uri, position=position,
                           errno=CORRUPT_EVENT)
    extra = bytes(mapped.array[position + HEADER_LENGTH : start])
    return Event(position, kind, timestamp, server_id, size, end_log_pos, flags,
                 int.from_bytes(extra, "little") if extra else None, memoryview(mapped.array[start:end]))


def _malformed(what: str, reason: Exception | None = None) -> ArchiveError:
    return ArchiveError(f"the {what} event is malformed" + (f": {reason}" if reason else ""), errno=CORRUPT_EVENT)


# ---- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """A QUERY event: a statement as text, and the context that it ran in (EV-CTX)."""

    thread_id: int
    execution_time: int
    error_code: int
    database: str
    sql: bytes
    context: dict[str, int | str | list[str] | bytes]

    @property
    def text(self) -> str | bytes:
        """The SQL in the client's character set; bytes where they are no text in it."""
        try:
            return self.sql.decode(_CLIENT_CODECS.get(self.context.get("charset_client"), "utf-8"))
        except UnicodeDecodeError:
            return self.sql


# Character sets that a client may speak, by the ids of their collations; all others are forms of UTF-8 or ASCII.
_CLIENT_CODECS = {
    collation: codec
    for codec, collations in {
        "cp1252": (5, 8, 15, 31, 47, 48, 49, 94), "gbk": (28, 87), "gb18030": (248, 249, 250), "gb2312": (24, 86),
        "big5": (1, 84), "shift_jis": (13, 88), "cp932": (95, 96), "euc_jp": (12, 91, 97, 98), "euc_kr": (19, 85),
        "cp1250": (26, 34, 44, 66, 99), "cp1251": (14, 23, 50, 51, 52), "cp1256": (57, 67), "cp1257": (29, 58, 59),
        "cp850": (4, 80), "cp852": (40, 81), "cp866": (36, 68), "koi8_r": (7, 74), "koi8_u": (22, 75),
        "iso8859_2": (2, 9, 21, 27, 77), "iso8859_7": (25, 70), "iso8859_8": (16, 71), "iso8859_9": (30, 78),
        "tis_620": (18, 89),
    }.items()
    for collation in collations
}  # fmt: skip

_QUERY = Struct("<IIBHH")
# Status variables of fixed size: code -> (name, bytes). Integers, little-endian.
_FIXED = {
    0: ("flags2", 4), 1: ("sql_mode", 8), 7: ("lc_time_names", 2), 8: ("charset_database", 2),
    9: ("table_map_for_update", 8), 10: ("master_data_written", 4), 13: ("microseconds", 3), 14: ("commit_timestamp", 8),
    16: ("explicit_defaults_for_timestamp", 1), 17: ("xid", 8), 18: ("default_collation_for_utf8mb4", 2),
    19: ("sql_require_primary_key", 1), 20: ("default_table_encryption", 1),
    21: ("status_21", 1),  # MySQL 9.7 writes it with DML; its meaning is not documented
    128: ("microseconds", 3), 129: ("xid", 8),
}  # fmt: skip
_UPDATED_DATABASES_OVER_LIMIT = 254
_FLAGS2 = {"foreign_key_checks": 1 << 26, "unique_checks": 1 << 27}  # set where the check is off


def parse_query(body: bytes | memoryview) -> Query:
    """Read a QUERY body: thread id u32, time u32, database length u8, error u16, context length u16, context, database, 0, SQL."""
    body = bytes(body)
    if len(body) < _QUERY.size:
        raise _malformed("QUERY")
    thread_id, execution_time, database_length, error_code, context_length = _QUERY.unpack_from(body)
    at = _QUERY.size + context_length
    sql_at = at + database_length + 1
    if sql_at > len(body):
        raise _malformed("QUERY")
    return Query(thread_id, execution_time, error_code, body[at : sql_at - 1].decode("utf-8", "surrogateescape"),
                 body[sql_at:], _query_context(body[_QUERY.size : at]))


def parse_query_compressed(body: bytes | memoryview) -> Query:
    """Read a MariaDB QUERY_COMPRESSED body: a QUERY whose SQL is compressed."""
    query = parse_query(body)
    return replace(query, sql=inflate(query.sql))


_MOST_INFLATED = 1 << 30
"""max_allowed_packet's limit: no event can hold more."""


def inflate(data: bytes) -> bytes:
    """MariaDB's compressed payload: a byte 0x80 | algorithm << 4 | length bytes, the length big-endian, a zlib stream."""
    n_length = data[0] & 7 if data else 0
    if not data or data[0] & 0xF0 != 0x80 or not 1 <= n_length <= 4:
        raise _malformed("compressed")
    length = int.from_bytes(data[1 : 1 + n_length], "big")
    try:
        text = zlib.decompressobj().decompress(data[1 + n_length :], min(length, _MOST_INFLATED) + 1)
    except zlib.error as reason:
        raise _malformed("compressed", reason) from None
    if len(text) != length:
        raise _malformed("compressed")
    return text


def _query_context(data: bytes) -> dict[str, int | str | list[str] | bytes]:
    """Status variables by name. Reading ends at a code that is not known: its length is not either. Kept under `unread`."""
    context: dict[str, int | str | list[str] | bytes] = {}
    at = 0
    try:
        while at < len(data):
            start, code, at = at, data[at], at + 1
            if code in _FIXED:
                name, size = _FIXED[code]
                context[name], at = int.from_bytes(_take(data, at, size), "little"), at + size
            elif code == 3:
                context["auto_increment_increment"], context["auto_increment_offset"] = unpack_from("<HH", data, at)
                at += 4
            elif code == 4:
                names = "charset_client", "charset_connection", "charset_server"
                context.update(zip(names, unpack_from("<HHH", data, at), strict=True))
                at += 6
            elif code in (2, 5, 6):
                text, at = _short_string(data, at)
                at += code == 2  # the old catalog code has a zero byte at its end
                context["time_zone" if code == 5 else "catalog"] = text
            elif code == 11:
                context["invoker_user"], at = _short_string(data, at)
                context["invoker_host"], at = _short_string(data, at)
            elif code == 12:
                count, at, names = data[at], at + 1, []
                for _ in range(count if count != _UPDATED_DATABASES_OVER_LIMIT else 0):
                    end = data.index(0, at)
                    names, at = [*names, data[at:end].decode("utf-8", "surrogateescape")], end + 1
                context["updated_databases"] = names
            elif code == 130:
                flags, at = data[at], at + 1
                context["gtid_flags_extra"] = flags
                at += 8 if flags & 0b1100 else 0  # COMMIT / ROLLBACK ALTER: the sequence number of START ALTER
            elif code == 131:
                at += 1 + 4 * data[at]  # character_set_collations: pairs of ids
            else:
                context["unread"] = data[start:]
                break
    except (IndexError, ValueError, error) as reason:
        raise _malformed("QUERY", reason) from None
    if isinstance(flags2 := context.get("flags2"), int):
        context.update({name: int(not flags2 & bit) for name, bit in _FLAGS2.items()})
    return context


def _take(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise ValueError("it ends within a value")
    return data[at : at + size]


def _short_string(data: bytes, at: int) -> tuple[str, int]:
    length = data[at]
    return _take(data, at + 1, length).decode("utf-8", "surrogateescape"), at + 1 + length


def parse_xid(body: bytes | memoryview) -> int:
    """The transaction's number in an XID event (u64): it says that the transaction was committed."""
    return _fields("XID", "<Q", body)[0]


def parse_rows_query(body: bytes | memoryview) -> bytes:
    """The statement in a ROWS_QUERY event, after a length byte that overflows and so is not used (EV-ANN)."""
    return bytes(body[1:])


def parse_annotate_rows(body: bytes | memoryview) -> bytes:
    """The statement in a MariaDB ANNOTATE_ROWS event (EV-ANN)."""
    return bytes(body)


# ---- groups and files -----------------------------------------------------------------------------------------------


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
    """MySQL's serialization: version, size, last required field, then (field number, value). All integers are of variable
    length: as many further bytes as the first has low one bits; signed ones carry their sign in the lowest bit."""
    at = 0

    def unsigned() -> int:
        nonlocal at
        first = body[at]
        extra = 0
        while first >> extra & 1:
            extra += 1
        value = int.from_bytes(_take(body, at, extra + 1), "little") >> min(extra + 1, 8)
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
                tag, at = _take(body, at, length).decode("ascii"), at + length
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
    """Read the start of a rows event, v1 or v2: table id 6 bytes, flags u16, in v2 extra data, column count, bitmaps."""
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
