"""The bytes of DECIMALs as rows have them, over whole columns.

Source: MySQL's decimal2bin: nine digits in four bytes, fewer in as few as hold them, counted from the point; the first
bit is set, and all bits are inverted in a negative number.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.mysql.types import ColumnType
from applier.mysql.values.byte_columns import value_bytes

_GROUP = 9
_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Bytes of so many digits."""


def packed_decimals(values: pa.Array, kind: ColumnType) -> list[np.ndarray]:
    """Return the bytes one after another, uint64[n] each. `values` has no NULLs; it is text if the type has more digits
    than Arrow's decimals."""
    fraction = kind.scale or 0
    whole = (kind.precision or 0) - fraction
    text = values if pa.types.is_string(values.type) else _unscaled(values).cast(pa.string())
    negative = np.asarray(pc.starts_with(text, "-"))
    padded = pc.utf8_lpad(pc.replace_substring_regex(text, "[-.]", ""), whole + fraction, "0")
    digits = value_bytes(padded)[1].reshape(len(values), whole + fraction).astype(np.int64) - ord("0")
    sizes = [whole % _GROUP, *[_GROUP] * (whole // _GROUP), *[_GROUP] * (fraction // _GROUP), fraction % _GROUP]
    made, at = [], 0
    for size in sizes:
        group = digits[:, at : at + size] @ 10 ** np.arange(size - 1, -1, -1)
        made += [group >> 8 * byte & 0xFF for byte in reversed(range(_BYTES[size]))]
        at += size
    made[0] = made[0] ^ 0x80
    return [np.where(negative, byte ^ 0xFF, byte).astype(np.uint64) for byte in made]


def _unscaled(values: pa.Array) -> pa.Array:
    """Return decimals without their point."""
    return pa.Array.from_buffers(pa.decimal128(38, 0), len(values), values.buffers(), offset=values.offset)
