"""QUERY events: a statement as text, and the context that it ran in (EV-CTX).

The layout is that of the MySQL Source Documentation, "Query_event"; codes from 128 on are MariaDB's. Bodies come
without header and checksum. Malformed ones raise ArchiveError (1610).
"""

import zlib
from dataclasses import dataclass, replace
from struct import Struct, error, iter_unpack, unpack_from

from applier.binlog.events.fields import malformed
from applier.mysql.character_sets.client_codecs import CLIENT_CODECS

Variable = int | str | list[str] | list[tuple[int, int]] | bytes
"""A status variable of a statement's session."""


@dataclass(frozen=True)
class Query:
    """A QUERY event: a statement as text, and the context that it ran in (EV-CTX)."""

    thread_id: int
    execution_time: int
    error_code: int
    database: str
    sql: bytes
    context: dict[str, Variable]

    @property
    def text(self) -> str | bytes:
        """The SQL, decoded from the client's character set; bytes if it cannot be decoded."""
        try:
            charset = self.context.get("charset_client")
            return self.sql.decode(CLIENT_CODECS.get(charset, "utf-8") if isinstance(charset, int) else "utf-8")
        except UnicodeDecodeError:
            return self.sql


_QUERY = Struct("<IIBHH")
# Status variables of fixed size: code -> (name, bytes). Integers, little-endian.
_FIXED = {
    0: ("flags2", 4), 1: ("sql_mode", 8), 7: ("lc_time_names", 2), 8: ("charset_database", 2),
    9: ("table_map_for_update", 8), 10: ("master_data_written", 4), 13: ("microseconds", 3),
    14: ("commit_timestamp", 8),
    16: ("explicit_defaults_for_timestamp", 1), 17: ("xid", 8), 18: ("default_collation_for_utf8mb4", 2),
    19: ("sql_require_primary_key", 1), 20: ("default_table_encryption", 1),
    21: ("status_21", 1),  # MySQL 9.7 writes it with DML; its meaning is not documented
    128: ("microseconds", 3), 129: ("xid", 8),
}  # fmt: skip
_UPDATED_DATABASES_OVER_LIMIT = 254
_FLAGS2 = {"foreign_key_checks": 1 << 26, "unique_checks": 1 << 27}  # set where the check is off


def parse_query(body: bytes | memoryview) -> Query:
    """Read a QUERY body.

    thread id u32, seconds u32, database length u8, error u16, context length u16, context, database, 0, SQL
    """
    body = bytes(body)
    sql_at = sql_offset(body)
    thread_id, execution_time, _, error_code, context_length = _QUERY.unpack_from(body)
    at = _QUERY.size + context_length
    return Query(
        thread_id,
        execution_time,
        error_code,
        body[at : sql_at - 1].decode("utf-8", "surrogateescape"),
        body[sql_at:],
        _query_context(body[_QUERY.size : at]),
    )


def sql_offset(body: bytes | memoryview) -> int:
    """Return the offset of the SQL in a QUERY's body."""
    if len(body) < _QUERY.size:
        raise malformed("QUERY")
    _, _, database_length, _, context_length = _QUERY.unpack_from(body)
    offset: int = _QUERY.size + context_length + database_length + 1
    if offset > len(body):
        raise malformed("QUERY")
    return offset


_FILE_PARTS = 13


def parse_execute_load_query(body: bytes | memoryview) -> Query:
    """Read an EXECUTE_LOAD_QUERY body, a LOAD DATA statement: a QUERY with 13 bytes after its fixed part, about the
    file in the preceding events."""
    body = bytes(body)
    return parse_query(body[: _QUERY.size] + body[_QUERY.size + _FILE_PARTS :])


def parse_query_compressed(body: bytes | memoryview) -> Query:
    """Read a MariaDB QUERY_COMPRESSED body: a QUERY whose SQL is compressed."""
    query = parse_query(body)
    return replace(query, sql=inflate(query.sql))


_MOST_INFLATED = 1 << 30
"""The limit of max_allowed_packet: no event can contain more."""


def inflate(data: bytes) -> bytes:
    """Inflate a compressed payload of MariaDB: a byte 0x80 | algorithm << 4 | n, the length in n bytes, a zlib stream.
    """
    n_length = data[0] & 7 if data else 0
    if not data or data[0] & 0xF0 != 0x80 or not 1 <= n_length <= 4:
        raise malformed("compressed")
    length = int.from_bytes(data[1 : 1 + n_length], "big")
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(data[1 + n_length :], min(length, _MOST_INFLATED) + 1)
    except zlib.error as reason:
        raise malformed("compressed", reason) from None
    if len(text) != length or not stream.eof:
        raise malformed("compressed")
    return text


def _query_context(data: bytes) -> dict[str, Variable]:
    """Return status variables by name. Bytes from an unknown code on are kept under `unread`."""
    context: dict[str, Variable] = {}
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
                count, at = data[at], at + 1
                databases: list[str] = []
                for _ in range(count if count != _UPDATED_DATABASES_OVER_LIMIT else 0):
                    end = data.index(0, at)
                    databases.append(data[at:end].decode("utf-8", "surrogateescape"))
                    at = end + 1
                context["updated_databases"] = databases
            elif code == 130:
                flags, at = data[at], at + 1
                context["gtid_flags_extra"] = flags
                at += 8 if flags & 0b1100 else 0  # COMMIT / ROLLBACK ALTER: the sequence number of START ALTER
            elif code == 131:
                size = 4 * data[at]  # pairs of ids: of a character set's usual collation, and of its collation here
                context["character_set_collations"] = list(iter_unpack("<HH", _take(data, at + 1, size)))
                at += 1 + size
            else:
                context["unread"] = data[start:]
                break
    except (IndexError, ValueError, error) as reason:
        raise malformed("QUERY", reason) from None
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
