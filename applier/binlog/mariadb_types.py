"""Column types that only MariaDB has: INET4, INET6, UUID, and compressed columns."""

import zlib

import numpy as np
import pyarrow as pa

from applier.binlog import text_kernel as kernels
from applier.binlog.byte_columns import beside, fixed_bytes
from applier.errors import CORRUPT_EVENT, ArchiveError

NETWORK_BYTES = {"inet4": 4, "inet6": 16, "uuid": 16}

_NETWORK_TEXT = {"inet4": (kernels.inet4_text, kernels.INET4_CHARACTERS),
                 "inet6": (kernels.inet6_text, kernels.INET6_CHARACTERS),
                 "uuid": (kernels.uuid_text, kernels.UUID_CHARACTERS)}


def network_text(raw: pa.Array, base: str) -> pa.Array:
    """INET4, INET6 or UUID values as text. `raw`: pa.binary() in the order of the text, without its last zero bytes.

    Raises ValueError where a value is longer than the type is.
    """
    values = fixed_bytes(raw, NETWORK_BYTES[base])
    write, room = _NETWORK_TEXT[base]
    out, offsets = np.empty(room * len(values), np.uint8), np.empty(len(values) + 1, np.int64)
    write(values.ctypes.data, len(values), out.ctypes.data, offsets)
    return beside(raw, pa.string(), offsets, out)


def inflate(raw: pa.Array) -> pa.Array:
    """Values of a COMPRESSED column (wire types 140 and 141), pa.binary(), as they were.

    A value is empty, or begins with a byte: 0 before the plain value; else method (8, zlib) << 4 | 8 for a deflate
    stream without zlib's header | bytes of the length that follows, big-endian, of the value as it was.
    Raises ArchiveError (1610) for anything else.
    """
    return pa.array([None if value is None else _inflate(value, row) for row, value in enumerate(raw.to_pylist())],
                    pa.binary())


def _inflate(value: bytes, row: int) -> bytes:
    if not value or value[0] == 0:
        return value[1:]
    header = value[0]
    if header >> 4 != 8:
        raise ArchiveError(f"a compressed value of the unknown method {header >> 4} in row {row}", errno=CORRUPT_EVENT,
                           hint="the file is damaged, or from a newer server")
    body = 1 + (header & 7)
    length = int.from_bytes(value[1:body])
    stream = zlib.decompressobj(-zlib.MAX_WBITS if header & 8 else zlib.MAX_WBITS)
    try:
        plain = stream.decompress(value[body:], length + 1)  # never more than it says, whatever the stream holds
    except zlib.error as error:
        raise ArchiveError(f"a compressed value is damaged in row {row}: {error}", errno=CORRUPT_EVENT) from None
    if len(plain) != length or not stream.eof:
        raise ArchiveError(f"a compressed value in row {row} is not of {length} bytes, as it says", errno=CORRUPT_EVENT)
    return plain
