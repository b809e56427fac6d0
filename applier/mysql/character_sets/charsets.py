"""Text of any character set to UTF-8, a whole column at once.

The result is what a SELECT through a utf8mb4 connection shows, also for bytes that are not text in their set, where the
servers differ: see `charset_kernel`.
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
            "binary": kernels.UTF8MB4}  # CONVERT(… USING utf8mb4) reads the bytes in the requested set
_UTF8 = frozenset({"utf8mb4", "utf8mb3", "utf8", "binary"})
NOT_ASCII = frozenset({"swe7", "ucs2", "utf16", "utf16le", "utf32"})
"""Sets in which a byte under 0x80 may be something other than ASCII."""
CHARSETS = SINGLE_BYTE | MULTI_BYTE | frozenset(_UNICODE)
"""All character sets of MySQL 9.7 and MariaDB 10.11, and the old name `utf8`."""


def to_utf8(array: pa.Array, charset: str, flavour: str = "mysql") -> pa.Array:
    """A pa.binary() column in `charset` as pa.string(), nulls kept; valid ASCII and UTF-8 are not copied. Bytes that
    are not text are read as `flavour` does.

    Raises SchemaError for a character set that neither server has, and pa.ArrowCapacityError where the text would not
    fit into one Arrow array (2 GiB).
    """
    if charset not in CHARSETS:
        raise SchemaError(f"unknown character set {charset!r}", hint="known sets: " + ", ".join(sorted(CHARSETS)))
    offsets, data = value_bytes(array)
    if is_plain_ascii(data, charset):
        return _as_string(array)
    if charset in _UTF8 and not (_UNICODE[charset] == kernels.UTF8MB3 and _has_byte_from(data, 0xF0)):
        try:
            return array.cast(pa.string())
        except pa.ArrowInvalid:
            pass  # the kernel finds the error, and continues
    if charset in SINGLE_BYTE:
        return by_tables(array, charset, (_packed(charset),), flavour)
    if charset in MULTI_BYTE:
        return by_tables(array, charset, multi_byte_tables(charset), flavour)
    out, out_offsets = _room(len(data) * (2 if charset in ("ucs2", "utf16", "utf16le") else 1), len(array))
    kernels.from_unicode(address_of(data), offsets, _UNICODE[charset], flavour == "mysql", address_of(out), out_offsets)
    return beside(array, pa.string(), out_offsets, out)


def by_tables(array: pa.Array, charset: str, tables: tuple[np.ndarray, ...], flavour: str = "mysql") -> pa.Array:
    """A pa.binary() column in an 8-bit set or an East Asian one as pa.string(), nulls kept. The tables are one of
    `packed` characters, or four like those of `multi_byte_tables`; the caller keeps them. Errors: as `to_utf8`."""
    offsets, data = value_bytes(array)
    out, out_offsets = _room(len(data) * 3, len(array))
    if charset in SINGLE_BYTE:
        kernels.from_single_byte(address_of(data), offsets, tables[0], charset not in NOT_ASCII, address_of(out),
                                 out_offsets)
    else:
        first, pairs, triples, quads = tables
        kernels.from_multi_byte(address_of(data), offsets, address_of(first), address_of(pairs), address_of(triples),
                                address_of(quads), len(quads), flavour == "mysql", address_of(out), out_offsets)
    return beside(array, pa.string(), out_offsets, out)


def packed(table: np.ndarray) -> np.ndarray:
    """An 8-bit set's characters (int32[256], as in `single_byte_table`) as the kernel reads them: uint32[256]."""
    made = np.empty(256, np.uint32)
    for code, point in enumerate(table.tolist()):
        character = b"?" if point == UNMAPPED else chr(point).encode()
        made[code] = int.from_bytes(character, "little") | len(character) << 24
    return made


@functools.cache
def _packed(charset: str) -> np.ndarray:
    return packed(single_byte_table(charset))


def _room(n_bytes: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return memory for text of at most `n_bytes` bytes, and for its offsets; untouched pages take none."""
    return np.empty(n_bytes + kernels.OVERRUN, np.uint8), np.empty(rows + 1, np.int64)


def is_plain_ascii(data: np.ndarray, charset: str) -> bool:
    """True if bytes in a character set are ASCII, and mean it."""
    return charset not in NOT_ASCII and not _has_byte_from(data, 0x80)


def _has_byte_from(data: np.ndarray, lowest: int) -> bool:
    return len(data) > 0 and int(data.max()) >= lowest


def _as_string(array: pa.Array) -> pa.Array:
    """The same buffers as a string column: their bytes are known to be UTF-8."""
    return pa.Array.from_buffers(pa.string(), len(array), array.buffers(), array.null_count, array.offset)
