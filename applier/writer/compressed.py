"""Compressed events: a transaction of MySQL as one payload, single events of MariaDB.

    TRANSACTION_PAYLOAD   fields: kind, length of the length, the value; 1 bytes, 2 algorithm, 3 bytes before, 0 the end
    MariaDB               0x80 and the bytes of the length, the length (the highest byte first), a zlib stream
"""

from __future__ import annotations

import zlib

import pyarrow as pa

from applier.binlog.events.format import EventType
from applier.writer.wire_columns import packed_integer

LEAST_BYTES = 256
"""MariaDB's log_bin_compress_min_len: shorter events stay unchanged."""
_BYTES, _ALGORITHM, _BYTES_BEFORE, _END = 1, 2, 3, 0
_ZSTD = 0
_CODEC = pa.Codec("zstd", compression_level=3)
"""At MySQL's default level (binlog_transaction_compression_level_zstd)."""
_COMPRESSED_ROWS_V1 = EventType.WRITE_ROWS_COMPRESSED_V1 - EventType.WRITE_ROWS_V1
_COMPRESSED_ROWS = EventType.WRITE_ROWS_COMPRESSED - EventType.WRITE_ROWS


def payload(events: bytes | memoryview) -> bytes:
    """The body of a TRANSACTION_PAYLOAD event that holds events without checksums."""
    data: bytes = _CODEC.compress(events, asbytes=True)
    fields = (_ALGORITHM, _ZSTD), (_BYTES_BEFORE, len(events)), (_BYTES, len(data))
    return b"".join(bytes((kind,)) + packed_integer(len(packed_integer(value))) + packed_integer(value)
                    for kind, value in fields) + bytes((_END,)) + data


def rows_event(kind: int, header: bytes, rows: bytes | memoryview) -> tuple[int, bytes]:
    """The type and body of MariaDB's rows event, compressed if that is worth it."""
    if len(rows) < LEAST_BYTES:
        return kind, header + rows
    more = _COMPRESSED_ROWS if kind >= EventType.WRITE_ROWS else _COMPRESSED_ROWS_V1
    return kind + more, header + _zipped(rows)


def _zipped(data: bytes | memoryview) -> bytes:
    length = len(data).to_bytes((len(data).bit_length() + 7) // 8, "big")
    return bytes((0x80 | len(length),)) + length + zlib.compress(data)
