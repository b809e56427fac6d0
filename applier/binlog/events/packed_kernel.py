# mypy: allow-untyped-defs, no-check-untyped-defs
"""Reads fields that encode their own length, for kernels: packed integers, and the fields before the bitmaps of a rows
event.

A packed integer is one byte up to 250; or 252, 253 or 254, and 2, 3 or 8 bytes (MySQL manual, "Protocol::
LengthEncodedInteger"). Lengths from a log are compared with the remaining bytes, `length > end - at`, and never added
to an address before that: a sum may overflow.
"""

import numpy as np

from applier.binlog.events.format import MOST_COLUMNS
from keysearch.memory import inline, load_u8, load_u16, load_u32, load_u64

NO_HEADER = -1
_LEAST_EXTRA = 2
_FIRST_V2, _PARTIAL_UPDATE, _FIRST_COMPRESSED_V2 = 30, 39, 169


@inline
def packed_bytes(first):
    """Return how many bytes follow the first byte of a packed integer; -1 if no packed integer begins with it."""
    return 0 if first < 251 else 2 if first == 252 else 3 if first == 253 else 8 if first == 254 else -1


@inline
def read_packed(at, end):
    """Return the packed integer at `at`, and the address after it: 0 if it is truncated, invalid, or has more than 63
    bits."""
    if at >= end:
        return np.int64(0), np.int64(0)
    first = load_u8(at)
    more = packed_bytes(first)
    at += 1
    if more == 0:
        return np.int64(first), at
    if more < 0 or more > end - at:
        return np.int64(0), np.int64(0)
    if more == 8:
        value = np.int64(load_u64(at))
        return value, at + 8 if value >= 0 else np.int64(0)
    value = np.int64(load_u16(at))
    return (value if more == 2 else value | np.int64(load_u8(at + 2)) << 16), at + more


@inline
def table_id_at(body):
    """Return the table id at the beginning of the body of a table map or a rows event: six bytes."""
    return np.int64(load_u32(body)) | np.int64(load_u16(body + 4)) << 32


@inline
def bitmaps_of(event_type):
    """Return how many bitmaps of columns a rows event has: an update has one for each image. Covers all versions,
    partial updates and MariaDB's compressed events."""
    is_update = (event_type == 24 or event_type == 31 or event_type == _PARTIAL_UPDATE or event_type == 167
                 or event_type == 170)
    return 2 if is_update else 1


@inline
def read_bitmaps(body, end, event_type):
    """Read the bitmaps of the rows event whose body is from `body` to `end`. Returns their number of columns, and the
    address of the first bitmap: 0 if they are truncated, or have more columns than a table can (NO_HEADER columns: the
    fields before them are truncated). Version 2 has extra data (u16 length, itself included) behind table id and flags.
    """
    at = body + 8
    if end - body < 8:
        return np.int64(NO_HEADER), np.int64(0)
    if (event_type >= _FIRST_V2 and event_type <= _PARTIAL_UPDATE) or event_type >= _FIRST_COMPRESSED_V2:
        if end - at < _LEAST_EXTRA:
            return np.int64(NO_HEADER), np.int64(0)
        extra = np.int64(load_u16(at))
        if extra < _LEAST_EXTRA or extra > end - at:
            return np.int64(NO_HEADER), np.int64(0)
        at += extra
    columns, at = read_packed(at, end)
    if at == 0 or columns > MOST_COLUMNS or bitmaps_of(event_type) * ((columns + 7) >> 3) > end - at:
        return np.int64(0), np.int64(0)
    return columns, at
