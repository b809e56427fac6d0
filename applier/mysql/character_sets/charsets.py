"""Text of any character set to UTF-8, a whole column at once.

The result is what a SELECT through a utf8mb4 connection shows, also for bytes that are not text in their set: see
`charset_kernel`. (MariaDB differs there: it shows "?" for a character that is cut short; MySQL drops it.)
"""

import functools

import numpy as np
import pyarrow as pa

from applier.errors import SchemaError
from applier.mysql.character_sets import charset_kernel as kernels
from applier.mysql.character_sets.charset_tables import (
    MULTI_BYTE,
    SINGLE_BYTE,
    UNMAPPED,
    multi_byte_tables,
    single_byte_table,
)
from applier.mysql.values.byte_columns import beside, value_bytes
from keysearch.addresses import address_of

_UNICODE = {"utf8mb4": kernels.UTF8MB4, "utf8mb3": kernels.UTF8MB3, "utf8": kernels.UTF8MB3, "ucs2": kernels.UCS2,
            "utf16": kernels.UTF16, "utf16le": kernels.UTF16LE, "utf32": kernels.UTF32,
            "binary": kernels.UTF8MB4}  # CONVERT(… USING utf8mb4) takes the bytes for what is asked for
_UTF8 = frozenset({"utf8mb4", "utf8mb3", "utf8", "binary"})
# Sets in which a byte under 0x80 may be something other than ASCII.
_NOT_ASCII = frozenset({"swe7", "ucs2", "utf16", "utf16le", "utf32"})
CHARSETS = SINGLE_BYTE | MULTI_BYTE | frozenset(_UNICODE)
"""All character sets of MySQL 9.7 and MariaDB 10.11, and the old name `utf8`."""


def to_utf8(array: pa.Array, charset: str) -> pa.Array:
    """A pa.binary() column in `charset` as pa.string(), nulls kept; valid ASCII and UTF-8 are not copied.

    Raises SchemaError for a character set that neither server has, and pa.ArrowCapacityError where the text would not
    fit into one Arrow array (2 GiB).
    """
    if charset not in CHARSETS:
        raise SchemaError(f"unknown character set {charset!r}", hint="known sets: " + ", ".join(sorted(CHARSETS)))
    offsets, data = value_bytes(array)
    if charset not in _NOT_ASCII and not _has_byte_from(data, 0x80):
        return _as_string(array)
    if charset in _UTF8 and not (_UNICODE[charset] == kernels.UTF8MB3 and _has_byte_from(data, 0xF0)):
        try:
            return array.cast(pa.string())
        except pa.ArrowInvalid:
            pass  # the kernel finds what is wrong, and continues
    return _convert(array, offsets, data, charset)


def _has_byte_from(data: np.ndarray, lowest: int) -> bool:
    return len(data) > 0 and int(data.max()) >= lowest


def _as_string(array: pa.Array) -> pa.Array:
    """The same buffers as a string column: their bytes are known to be UTF-8."""
    return pa.Array.from_buffers(pa.string(), len(array), array.buffers(), array.null_count, array.offset)


def _convert(array: pa.Array, offsets: np.ndarray, data: np.ndarray, charset: str) -> pa.Array:
    worst = 2 if charset in ("ucs2", "utf16", "utf16le") else 1 if charset in _UNICODE else 3
    out = np.empty(len(data) * worst + kernels.OVERRUN, np.uint8)  # pages that stay untouched take no memory
    out_offsets = np.empty(len(array) + 1, np.int64)
    if charset in SINGLE_BYTE:
        kernels.from_single_byte(address_of(data), offsets, _packed(charset), charset not in _NOT_ASCII,
                                 address_of(out), out_offsets)
    elif charset in MULTI_BYTE:
        first, pairs, triples, quads = multi_byte_tables(charset)  # kept for good, so their addresses are, too
        kernels.from_multi_byte(address_of(data), offsets, address_of(first), address_of(pairs), address_of(triples),
                                address_of(quads), len(quads), address_of(out), out_offsets)
    else:
        kernels.from_unicode(address_of(data), offsets, _UNICODE[charset], address_of(out), out_offsets)
    return beside(array, pa.string(), out_offsets, out)


@functools.cache
def _packed(charset: str) -> np.ndarray:
    """An 8-bit set's characters as `from_single_byte` wants them."""
    packed = np.empty(256, np.uint32)
    for code, point in enumerate(single_byte_table(charset).tolist()):
        character = b"?" if point == UNMAPPED else chr(point).encode()
        packed[code] = int.from_bytes(character, "little") | len(character) << 24
    return packed
