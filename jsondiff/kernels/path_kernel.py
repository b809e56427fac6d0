# mypy: allow-untyped-defs, no-check-untyped-defs
"""Reads the path of a diff in kernels, as records. path.py defines paths.

Positions are addresses; each is compared with the path's end before it is read.
"""

import numpy as np

from jsondiff.kernels.string_kernel import QUOTE, is_utf8, read_character, string_end, unescape
from keysearch.memory import inline, load_byte
from keysearch.records import struct

MEMBER, CELL, CELL_FROM_END = range(3)
LEG, _, leg_at = struct("leg", **dict.fromkeys(("kind", "key", "key_end", "index"), np.int64))
"""A leg of a path. A MEMBER has a name, without quotes and escapes, between two addresses; a cell of an array has an
index, from the start or from the end."""

_MAX_INDEX = 2**32 - 1
_LAST = int.from_bytes(b"last", "little")


@inline
def _is_space(byte):
    return byte == 32 or 9 <= byte <= 13


@inline
def _skip(at, end):
    while at < end and _is_space(load_byte(at)):
        at += 1
    return at


@inline
def _is_identifier(at, end):
    """Return whether a name needs no quotes, as path.is_identifier says."""
    start = at
    while at < end:
        behind = at > start
        code, at = read_character(at, end)
        low = code & 255
        if code < 0:
            return False
        if 0x300 <= code <= 0x36F:
            if not behind:
                return False
        elif not (0x80 <= low < 0xFF or 0x41 <= low <= 0x5A or 0x61 <= low <= 0x7A or code == 0x24 or code == 0x5F):
            joins = code == 0x200C or code == 0x200D or code == 0x203F or code == 0x2040 or code == 0xFF3F
            if not behind or not (joins or 0x30 <= low <= 0x39):
                return False
    return end > start


@inline
def _bare_end(at, end):
    while at < end:
        byte = load_byte(at)
        if _is_space(byte) or byte == 46 or byte == 42 or byte == 91:  # '.', '*', '['
            break
        at += 1
    return at


@inline
def _read_member(at, end, leg):
    """Read the name at `at`; returns what follows it, or 0."""
    quoted = at < end and load_byte(at) == QUOTE
    if quoted:
        name = at + 1
        stop, _ = string_end(name, end)
        if stop == end:
            return 0
    else:
        name, stop = at, _bare_end(at, end)
    name_end = unescape(name, stop, name)
    if name_end == 0 or not (quoted or _is_identifier(name, name_end)):
        return 0
    leg.kind, leg.key, leg.key_end = MEMBER, name, name_end
    return stop + 1 if quoted else stop


@inline
def _read_index(at, end):
    """Read the number at `at`: (it, or -1; what follows it)."""
    index, start = 0, at
    while at < end and 48 <= load_byte(at) <= 57:
        index = min(10 * index + load_byte(at) - 48, _MAX_INDEX + 1)
        at += 1
    return -1 if at == start or index > _MAX_INDEX else index, at


@inline
def _begins_last(at, end):
    if end - at < 4:
        return False
    return load_byte(at) | load_byte(at + 1) << 8 | load_byte(at + 2) << 16 | load_byte(at + 3) << 24 == _LAST


@inline
def _read_cell(at, end, leg):
    """Read the array cell behind a '['; returns what follows its ']', or 0."""
    at = _skip(at, end)
    kind, index = CELL, 0
    if _begins_last(at, end):
        kind = CELL_FROM_END
        at = _skip(at + 4, end)
        if at < end and load_byte(at) == 45:  # '-'
            index, at = _read_index(_skip(at + 1, end), end)
    else:
        index, at = _read_index(at, end)
    at = _skip(at, end)
    leg.kind, leg.index = kind, index
    return at + 1 if index >= 0 and at < end and load_byte(at) == 93 else 0


@inline
def read_path(at, end, legs, most):
    """Read the path at at:end into LEGs, of which there is room for `most`, and replace escapes in its names, in place.

    Returns how many legs it has, or -1 if it is not a path to one value. If it has more than `most`, the last LEG is
    that of its end."""
    if not is_utf8(at, end):
        return -1
    at = _skip(at, end)
    if at == end or load_byte(at) != 36:  # '$'
        return -1
    count = 0
    at = _skip(at + 1, end)
    while at < end:
        leg = leg_at(legs, min(count, most - 1))
        if load_byte(at) == 46:
            at = _read_member(_skip(at + 1, end), end, leg)
        elif load_byte(at) == 91:
            at = _read_cell(at + 1, end, leg)
        else:
            return -1
        if at == 0:
            return -1
        count += 1
        at = _skip(at, end)
    return count
