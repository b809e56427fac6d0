# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that reads UTF-8 strings and writes their weights."""

from typing import NamedTuple

import numpy as np

from keysearch.collation_tables import CODE_POINTS, IMPLICIT, LONGEST_CODE, POINT_BITS, SEVERAL, UNKNOWN, step_at
from keysearch.memory import always_inline, inline, kernel, load_u8, load_u16, load_u32, store_u16, store_u32, swap32

MOST_BYTES = 8 * LONGEST_CODE
"""The bytes that one byte of text adds to a key at most: a character has up to eight weights."""
SLACK = 4
"""Bytes that are written behind the keys and do not belong to them."""

class Weights(NamedTuple):
    """A WeightTable for kernels: the addresses of its arrays, and the length of two. `space` is the code that does not
    count at a string's end; 0: all codes count."""

    entries: int
    weights: int
    codes: int
    steps: int
    heads: int
    n_steps: int
    n_heads: int
    space: int


_NO_CHARACTER = CODE_POINTS


@inline
def _character(at, end):
    """The character at `at`: (code point, its bytes); (_NO_CHARACTER, 1) where no character begins."""
    lead = np.int64(load_u8(at))
    length = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if length == 1:
        return lead, length
    if lead < 0xC2 or lead > 0xF4 or length > end - at:
        return np.int64(_NO_CHARACTER), 1
    point = lead & (0x7F >> length)
    for i in range(1, length):
        byte = np.int64(load_u8(at + i))
        if byte & 0xC0 != 0x80:
            return np.int64(_NO_CHARACTER), 1
        point = point << 6 | byte & 0x3F
    if point >= CODE_POINTS:
        return np.int64(_NO_CHARACTER), 1
    return point, length


@inline
def _find_step(table, number):
    """The index of the step with this number, or -1."""
    low, high = np.int64(0), np.int64(table.n_steps)
    while low < high:
        middle = (low + high) >> 1
        if step_at(table.steps, middle).number < number:
            low = middle + 1
        else:
            high = middle
    return low if low < table.n_steps and step_at(table.steps, low).number == number else np.int64(-1)


@inline
def _longest(table, point, at, end):
    """Find the longest string with weights of its own that is a character and some of those at `at`: (its entry, or 0;
    how many of the bytes at `at` it takes)."""
    entry, length, start = np.int64(0), 0, at
    number = _find_step(table, point)
    while number >= 0:
        step = step_at(table.steps, number)
        if step.entry:
            entry, length = step.entry, at - start
        if step.node == 0 or at >= end:
            break
        following, more = _character(at, end)
        number = _find_step(table, step.node << POINT_BITS | following)
        at += more
    return entry, length


@inline
def _put_first_behind_last(put, table, at, end):
    """Write the weights of a string's first character behind the last one, if the two together have weights of their
    own: (where these end, the first character's bytes); else (put, 0)."""
    last = end - 1
    while last > at and load_u8(last) & 0xC0 == 0x80:
        last -= 1
    point, length = _character(last, end)
    number = _find_step(table, point)
    if number < 0:
        return put, 0
    first, length = _character(at, end)
    number = _find_step(table, step_at(table.steps, number).node << POINT_BITS | first)
    if number < 0 or step_at(table.steps, number).entry == 0:
        return put, 0
    together, kind = step_at(table.steps, number).entry, np.int64(load_u32(table.entries + 4 * point) >> np.uint32(24))
    alone = min(kind, 1) if kind <= LONGEST_CODE else kind - SEVERAL  # weights of the last character by itself
    for i in range(alone, (together >> 24) - SEVERAL):
        put = _put_code(put, table, load_u16(table.weights + 2 * ((together & 0xFFFFFF) + i)))
    return put, length


@always_inline
def _put_other(put, kept, table, entry, point, at):
    """Write the weights of an entry that is not a code, for the character at `at`: (where they end; where the last one
    ends that differs from a space's, or `kept` if none does)."""
    kind = entry >> np.uint32(24)
    if kind == UNKNOWN:
        store_u16(put, np.uint16(0xFFFF))
        store_u32(put + 2, swap32(np.uint32(point if point < CODE_POINTS else load_u8(at))))
        return put + 6, put + 6
    if kind == IMPLICIT:
        put = _put_code(put, table, (entry & np.uint32(0xFFFF)) + np.uint32(point >> 15))
        put = _put_code(put, table, np.uint32(point & 0x7FFF | 0x8000))
        return put, put
    weight = table.weights + 2 * np.int64(entry & np.uint32(0xFFFFFF))
    for _ in range(kind - SEVERAL):
        code = load_u32(table.codes + 4 * np.int64(load_u16(weight)))
        store_u32(put, code)
        put += np.int64(code >> np.uint32(24))
        if code != table.space:
            kept = put
        weight += 2
    return put, kept


@always_inline
def _put_code(put, table, weight):
    """Write a weight's code; returns where it ends."""
    code = load_u32(table.codes + 4 * np.int64(weight))
    store_u32(put, code)
    return put + np.int64(code >> np.uint32(24))


@kernel
def put_weights(row, starts, ends, source, table, wraps, to, room, offsets):
    """Write the weights of the strings source+starts[i] … source+ends[i], from string `row` on, one behind the other.

    table: Weights. wraps: True where a string's first character is weighed as if it followed the last one; else None,
    and the kernel is compiled without that step. String i's key goes to `to` + offsets[i] and ends at offsets[i + 1];
    there is room for `room` bytes, and SLACK more. Returns the first string that did not fit, or how many there are.
    Characters that the set does not have are greater than all others and compare by their code points.
    """
    used = offsets[row]
    while row < starts.shape[0]:
        at, end = source + starts[row], source + ends[row]
        if MOST_BYTES * (end - at) > room - used:
            return row
        put = kept = to + used
        if wraps is not None and at < end:
            put, length = _put_first_behind_last(put, table, at, end)
            at += length
        while at < end:
            point, length = _character(at, end)
            entry = load_u32(table.entries + 4 * point) if point < CODE_POINTS else np.uint32(UNKNOWN << 24)
            if point < table.n_heads and load_u8(table.heads + point):
                together, more = _longest(table, point, at + length, end)
                if together:
                    entry, length = np.uint32(together), length + more
            kind = entry >> np.uint32(24)
            if kind <= LONGEST_CODE:
                store_u32(put, entry)
                put += np.int64(kind)
                if kind != 0 and entry != table.space:
                    kept = put
            else:
                put, kept = _put_other(put, kept, table, entry, point, at)
            at += length
        used = (put if table.space == 0 else kept) - to
        row += 1
        offsets[row] = used
    return row


@kernel
def without_spaces(starts, ends, source):
    """Move the ends of strings back over trailing spaces (U+0020)."""
    for row in range(starts.shape[0]):
        while ends[row] > starts[row] and load_u8(source + ends[row] - 1) == 0x20:
            ends[row] -= 1

