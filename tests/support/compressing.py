"""Logs of real servers as if the servers had compressed them: each transaction a payload, or each event by itself."""

import struct
import zlib
from pathlib import Path

import pyarrow as pa

from applier.binlog.events.events import parse_rows_header, read_event_at, read_events, read_format
from applier.binlog.events.query import sql_offset
from applier.io.mapping import map_file

GTIDS, CODEC = {33, 34, 42}, pa.Codec("zstd")


def seal(event: bytes) -> bytes:
    """An event with its size, and a checksum that fits."""
    event = event[:9] + struct.pack("<I", len(event) + 4) + event[13:]
    return event + struct.pack("<I", zlib.crc32(event))


def number(value: int) -> bytes:
    """A number of variable length."""
    if value < 251:
        return bytes([value])
    return b"\xfc" + struct.pack("<H", value) if value < 1 << 16 else b"\xfe" + struct.pack("<Q", value)


def payload(events: bytes, algorithm: int = 0, claims: int | None = None, data: bytes | None = None) -> bytes:
    """A TRANSACTION_PAYLOAD event that holds events without checksums; `claims` is the size that it says they have."""
    if data is None:
        data = CODEC.compress(events, asbytes=True) if algorithm == 0 else events
    fields = ((2, algorithm), (3, len(events) if claims is None else claims), (1, len(data)))
    head = b"".join(bytes([field]) + number(len(number(value))) + number(value) for field, value in fields)
    return seal(struct.pack("<IBIIIH", 7, 40, 1, 0, 0, 0) + head + b"\0" + data)


def plain_events(path: Path) -> list[bytes]:
    """The events of a file, without checksums."""
    mapped, data = map_file(str(path)), path.read_bytes()
    cut = read_format(mapped).checksum_length
    return [data[event.position : event.position + event.size - cut] for event in read_events(mapped)]


def compress_transactions(path: Path, to: Path, algorithm: int = 0) -> None:
    """As MySQL does with binlog_transaction_compression: what follows a GTID and begins with BEGIN, up to XID."""
    events, out = plain_events(path), []
    open_: list[bytes] | None = None
    for event in events:
        if open_ is None and event[4] == 2 and event.endswith(b"BEGIN"):
            open_ = []
        if open_ is None:
            out.append(seal(event))
            continue
        size = struct.pack("<I", len(event))
        open_.append(event[:9] + size + event[13:])
        if event[4] == 16 or event.endswith((b"COMMIT", b"ROLLBACK")):
            out.append(payload(b"".join(open_), algorithm))
            open_ = None
    to.write_bytes(b"\xfebin" + b"".join(out))


def zipped(data: bytes) -> bytes:
    """MariaDB's form: 0x80 and the bytes of the length, the length, a zlib stream."""
    length = len(data).to_bytes(max(1, (len(data).bit_length() + 7) // 8), "big")
    return bytes([0x80 | len(length)]) + length + zlib.compress(data)


def compress_events(path: Path, to: Path) -> None:
    """As MariaDB does with log_bin_compress, except for short events, too."""
    format_, out = read_format(map_file(str(path))), []
    for event in plain_events(path):
        kind, body = event[4], read_event_at(event, 0, format_).body
        if kind == 2:
            kind, offset = 165, sql_offset(body)
        elif kind in range(23, 26) or kind in range(30, 33):
            offset = parse_rows_header(kind, body).rows_offset
            kind += 143 if kind < 26 else 139
        else:
            out.append(seal(event))
            continue
        out.append(seal(event[:4] + bytes([kind]) + event[5:19] + bytes(body[:offset]) + zipped(bytes(body[offset:]))))
    to.write_bytes(b"\xfebin" + b"".join(out))
