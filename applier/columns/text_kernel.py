# mypy: allow-untyped-defs, no-check-untyped-defs
"""Values that a snapshot keeps as text, a column at a time: wide DECIMALs and SETs."""

import numpy as np

from applier.binlog.rows.value_kernel import DIGIT_BYTES, decimal_group
from applier.kernels.digit_kernel import POWERS_OF_TEN, put_digits, put_number
from keysearch.memory import copy_bytes, inline, kernel, load_u8, store_u8

DECIMAL_CHARACTERS = 68
"""The longest DECIMAL(65, 38): digits, sign, point, and a zero before it."""
ALL_ROWS = -1


@inline
def put_decimal(address, precision, scale, out, at):
    """One DECIMAL as text: the place after it, or -1 where its bytes are none."""
    negative = load_u8(address) & 0x80 == 0
    flip = np.uint64(0xFFFFFFFFFFFFFFFF) if negative else np.uint64(0)
    if negative:
        store_u8(out + at, np.uint8(45))
        at += 1
    start, first = at, True
    for part in range(2):
        digits = scale if part else precision - scale
        if part:
            if at == start:
                at = put_digits(out, at, 0, 1)
            if scale:
                store_u8(out + at, np.uint8(46))
                at += 1
        while digits > 0:
            # the incomplete group is the first one before the point, and the last one after it
            size = min(digits, 9) if part else (digits - 1) % 9 + 1
            length = DIGIT_BYTES[size]
            value = decimal_group(address, length, flip)
            if first:
                value ^= np.int64(1) << (8 * length - 1)
                first = False
            if value < 0 or value >= POWERS_OF_TEN[size]:
                return np.int64(-1)
            at = put_number(out, at, value) if at == start else put_digits(out, at, value, size)
            address += length
            digits -= size
    return at


@kernel
def decimal_text(data, width, valid, precision, scale, out, out_offsets):
    """DECIMALs of `width` bytes as the log has them, to digits, DECIMAL_CHARACTERS at most.

    Leading zeros go, all of the scale stays, as in a SELECT. `valid`: bool[n]. Returns ALL_ROWS or the first bad row.
    """
    at = np.int64(0)
    for row in range(len(valid)):
        out_offsets[row] = at
        if valid[row]:
            at = put_decimal(data + row * width, precision, scale, out, at)
            if at < 0:
                return row
    out_offsets[len(valid)] = at
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
