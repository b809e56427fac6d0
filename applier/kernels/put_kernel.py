# mypy: allow-untyped-defs, no-check-untyped-defs
"""Writes text at an address. Like all writers of text, this one returns where its text ends; the caller has made room.
(Numbers are written by jsondiff.kernels.numbers.)"""

import numpy as np

from keysearch.memory import inline, load_u8, store_u8

_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


@inline
def put_byte(out, byte):
    store_u8(out, np.uint8(byte))
    return out + 1


@inline
def put_hex(out, value, digits):
    """The lowest hexadecimal digits of a uint64."""
    for digit in range(digits - 1, -1, -1):
        out = put_byte(out, _HEX[np.int64(value >> np.uint64(4 * digit)) & 15])
    return out


@inline
def put_uuid(out, at):
    """16 bytes as the text of a UUID."""
    for i in range(16):
        if i == 4 or i == 6 or i == 8 or i == 10:
            out = put_byte(out, 45)
        out = put_hex(out, np.uint64(load_u8(at + i)), 2)
    return out
