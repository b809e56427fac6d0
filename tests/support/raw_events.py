"""Reads binlog files with `struct` and `zlib` alone, so that tests of the writer do not lean on the code beside it."""

import pathlib
import struct
import zlib

FORMAT, QUERY, ROTATE, XID, TABLE_MAP = 15, 2, 4, 16, 19
GTID, ANONYMOUS, PREVIOUS, MARIADB_GTID, GTID_LIST = 33, 34, 35, 162, 163


def read_events(path: pathlib.Path, checksum: bool = True) -> list[tuple[int, int, bytes]]:
    """(timestamp, type, body) of each event; positions, sizes and checksums are asserted on the way."""
    data, at, events = path.read_bytes(), 4, []
    assert data[:4] == b"\xfebin"
    while at < len(data):
        timestamp, kind, _, size, end, _ = struct.unpack_from("<IBIIIH", data, at)
        assert end == at + size <= len(data)
        checked = checksum or kind == FORMAT
        if checked:
            assert zlib.crc32(data[at : end - 4]) == struct.unpack_from("<I", data, end - 4)[0], (kind, at)
        events.append((timestamp, kind, data[at + 19 : end - 4 * checked]))
        at = end
    return events


def query_text(body: bytes) -> tuple[str, str]:
    """(default database, statement) of a QUERY event."""
    database, variables = body[8], struct.unpack_from("<H", body, 11)[0]
    at = 13 + variables
    return body[at : at + database].decode(), body[at + database + 1 :].decode()
