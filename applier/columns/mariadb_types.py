"""Compressed columns, which only MariaDB has."""

import zlib

import pyarrow as pa

from applier.errors import CORRUPT_EVENT, ArchiveError

MOST_INFLATED = 256 << 20
"""The most bytes of a column's values that are inflated together, except for a single value."""
_LONGEST = 1 << 30
"""max_allowed_packet's limit: no value is longer."""


def inflate(raw: pa.Array) -> pa.Array:
    """Values of a COMPRESSED column (wire types 140 and 141), pa.binary(), as they were.

    A value is empty, or begins with a byte: 0 before the plain value; else method (8, zlib) << 4 | 8 for a deflate
    stream without zlib's header | bytes of the length that follows, big-endian, of the value as it was.
    Raises ArchiveError (1610) for anything else, and ArrowCapacityError where the values come to more than
    MOST_INFLATED bytes, so that memory is bounded, however little they take compressed.
    """
    values, total = [], 0
    for row, value in enumerate(raw.to_pylist()):
        values.append(None if value is None else _inflate(value, row))
        total += len(values[-1] or b"")
        if total > MOST_INFLATED and len(raw) > 1:
            raise pa.ArrowCapacityError(f"{total} bytes in one column; take fewer rows at once")
    return pa.array(values, pa.binary())


def _inflate(value: bytes, row: int) -> bytes:
    if not value or value[0] == 0:
        return value[1:]
    header = value[0]
    if header >> 4 != 8:
        raise ArchiveError(f"a compressed value of the unknown method {header >> 4} in row {row}", errno=CORRUPT_EVENT,
                           hint="the file is damaged, or from a newer server")
    body = 1 + (header & 7)
    length = int.from_bytes(value[1:body])
    if length > _LONGEST:
        raise ArchiveError(f"a compressed value in row {row} claims {length} bytes, more than a server accepts",
                           errno=CORRUPT_EVENT)
    stream = zlib.decompressobj(-zlib.MAX_WBITS if header & 8 else zlib.MAX_WBITS)
    try:
        plain = stream.decompress(value[body:], length + 1)  # never more than it says, whatever the stream holds
    except zlib.error as error:
        raise ArchiveError(f"a compressed value is damaged in row {row}: {error}", errno=CORRUPT_EVENT) from None
    if len(plain) != length or not stream.eof:
        raise ArchiveError(f"a compressed value in row {row} does not have the {length} bytes that it claims",
                           errno=CORRUPT_EVENT)
    return plain
