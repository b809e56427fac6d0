# mypy: allow-untyped-defs, no-check-untyped-defs
"""The path of a diff, read by a kernel. What a path is, is in path.py; here are its legs as numbers.

A leg is LEG_BYTES at an address, int64s: its kind; then for a member the addresses of its name, without quotes and
escapes, and of the name's end; for an array cell the index, from the start or from the end. Positions are addresses;
none is read that was not compared with the path's end.
"""

from jsondiff.string_kernel import QUOTE, is_utf8, read_character, string_end, unescape
from keysearch.memory import inline, load_byte, load_i64, store_i64

MEMBER, CELL, CELL_FROM_END = range(3)
LEG_BYTES = 24

_NAME, _NAME_END, _INDEX = 8, 16, 8
_MAX_INDEX = 2**32 - 1
_LAST = int.from_bytes(b"last", "little")


@inline
def leg_kind(leg):
    return load_i64(leg)


@inline
def leg_name(leg):
    """The start and the end of a member's name."""
    return load_i64(leg + _NAME), load_i64(leg + _NAME_END)


@inline
def leg_index(leg):
    return load_i64(leg + _INDEX)


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
    """Whether this name may stand without quotes: path.is_identifier."""
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
    """The name that begins here; returns what follows it, or 0."""
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
    store_i64(leg, MEMBER)
    store_i64(leg + _NAME, name)
    store_i64(leg + _NAME_END, name_end)
    return stop + 1 if quoted else stop


@inline
def _read_index(at, end):
    """(The number that is here, or -1; what follows it)."""
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
    """The array cell behind a '['; returns what follows its ']', or 0."""
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
    store_i64(leg, kind)
    store_i64(leg + _INDEX, index)
    return at + 1 if index >= 0 and at < end and load_byte(at) == 93 else 0


@inline
def read_path(at, end, legs, most):
    """Reads the path at at:end into `legs`, where there is room for as many as `most`, and takes escapes out of its
    names, in place.

    Returns how many legs it has, or -1 where this is no path to one place. Of more than `most` the last is kept."""
    if not is_utf8(at, end):
        return -1
    at = _skip(at, end)
    if at == end or load_byte(at) != 36:  # '$'
        return -1
    count = 0
    at = _skip(at + 1, end)
    while at < end:
        leg = legs + LEG_BYTES * min(count, most - 1)
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
