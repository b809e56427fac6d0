# mypy: allow-untyped-defs, no-check-untyped-defs
"""Values that a snapshot keeps as text, a column at a time: wide DECIMALs and SETs."""

import numpy as np

from jsondiff.kernels.numbers import put_digits
from keysearch.memory import copy_bytes, kernel, store_u8

DECIMAL_CHARACTERS = 68
"""The longest DECIMAL(65, 38): digits, sign, point, and a zero before it."""
ALL_ROWS = -1


@kernel
def decimal_text(data, width, valid, precision, scale, out, out_offsets):
    """DECIMALs of `width` bytes as the log has them, to digits, DECIMAL_CHARACTERS at most.

    Leading zeros go, all of the scale stays, as in a SELECT. `valid`: bool[n]. Returns ALL_ROWS or the first bad row.
    """
    to = out
    for row in range(len(valid)):
        out_offsets[row] = to - out
        if valid[row]:
            to = put_digits(data + row * width, precision, scale, to)
            if to < 0:
                return row
    out_offsets[len(valid)] = to - out
    return ALL_ROWS


@kernel
def set_text(values, labels, label_offsets, write, out, out_offsets):
    """SETs as the labels of their bits (uint64[n]), joined by commas; bits without a label do not show.

    With `write` off, `out_offsets` alone is filled, which says how much room `out` needs.
    """
    at = np.int64(0)
    for row in range(len(values)):
        out_offsets[row] = at
        bits, member, empty = values[row], 0, True
        while bits and member < len(label_offsets) - 1:
            if bits & np.uint64(1):
                if not empty:
                    if write:
                        store_u8(out + at, np.uint8(44))
                    at += 1
                empty = False
                length = label_offsets[member + 1] - label_offsets[member]
                if write:
                    copy_bytes(out + at, labels + label_offsets[member], length)
                at += length
            bits >>= np.uint64(1)
            member += 1
    out_offsets[len(values)] = at
