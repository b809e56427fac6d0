# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that writes the weights of strings, and reads their UTF-8 for it."""

import numpy as np

from keysearch.collation_tables import CODE_POINTS, IMPLICIT, LONGEST_CODE, POINT_BITS, SEVERAL, UNKNOWN
from keysearch.memory import inline, kernel, load_i64, load_u8, load_u16, load_u32, store_u16, store_u32, swap32

MOST_BYTES = 8 * LONGEST_CODE
"""Of a key for one byte of text: a character has up to eight weights."""
SLACK = 4
"""Bytes behind the keys that are written, and are no part of them."""
_NO_CHARACTER = CODE_POINTS


@inline
def _character(at, end):
    """The character at `at`: (code point, its bytes); (_NO_CHARACTER, 1) for a byte that begins none."""
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
def _step(steps, n, number):
    """The place of the step of this number (a WeightTable's), -1 if there is none."""
    low, high = np.int64(0), np.int64(n)
    while low < high:
        middle = (low + high) >> 1
        if load_i64(steps + 24 * middle) < number:
            low = middle + 1
        else:
            high = middle
    return low if low < n and load_i64(steps + 24 * low) == number else np.int64(-1)


@inline
def _longest(steps, n, point, at, end):
    """The longest string that has weights of its own, of a character and those that stand at `at`: (its entry, how many
    bytes of these are in it), 0 for none."""
    found, length, start = np.int64(0), 0, at
    place = _step(steps, n, point)
    while place >= 0:
        entry, node = load_i64(steps + 24 * place + 8), load_i64(steps + 24 * place + 16)
        if entry:
            found, length = entry, at - start
        if node == 0 or at >= end:
            break
        following, more = _character(at, end)
        place = _step(steps, n, node << POINT_BITS | following)
        at += more
    return found, length


@inline
def _behind_last(entries, steps, n, at, end):
    """What a string's first character weighs behind its last one, where the two weigh something else together: (where
    these weights begin in `many`, how many there are, the first one's bytes), no bytes where they do not."""
    last = end - 1
    while last > at and load_u8(last) & 0xC0 == 0x80:
        last -= 1
    point, length = _character(last, end)
    place = _step(steps, n, point)
    if place < 0:
        return np.int64(0), np.int64(0), 0
    first, length = _character(at, end)
    place = _step(steps, n, load_i64(steps + 24 * place + 16) << POINT_BITS | first)
    if place < 0 or load_i64(steps + 24 * place + 8) == 0:
        return np.int64(0), np.int64(0), 0
    entry, kind = load_i64(steps + 24 * place + 8), np.int64(load_u32(entries + 4 * point) >> np.uint32(24))
    alone = min(kind, 1) if kind <= LONGEST_CODE else kind - SEVERAL
    return (entry & 0xFFFFFF) + alone, (entry >> 24) - SEVERAL - alone, length


@kernel
def put_weights(row, starts, ends, source, entries, many, codes, heads, n_heads, steps, n_steps, space, turns, to, room,
                offsets):
    """Write the weights of the strings source+starts[i] … source+ends[i], from string `row` on, one behind the other.

    entries, many, codes, heads, steps: a WeightTable's (addresses, and how many). space: the code that does not count
    at a string's end; 0: all do. turns: True where a string's first character is weighed behind its last one; else
    None, for which a kernel is compiled that is without it. String i's key goes to `to` + offsets[i] and ends at
    offsets[i + 1]; `room` bytes are there, and SLACK more. Returns the first string that did not fit, or how many there
    are. What is no character of the set is greater than any, and then goes by its number.
    """
    used = offsets[row]
    while row < starts.shape[0]:
        at, end = source + starts[row], source + ends[row]
        put = to + used
        if MOST_BYTES * (end - at) > room - used:
            return row
        kept = put
        if turns is not None and at < end:
            weight, count, length = _behind_last(entries, steps, n_steps, at, end)
            for i in range(count):
                put = _put_code(put, codes, np.uint32(load_u16(many + 2 * (weight + i))))
            at += length
        while at < end:
            point, length = _character(at, end)
            entry = load_u32(entries + 4 * point) if point < CODE_POINTS else np.uint32(UNKNOWN << 24)
            if point < n_heads and load_u8(heads + point):
                found, more = _longest(steps, n_steps, point, at + length, end)
                if found:
                    entry, length = np.uint32(found), length + more
            kind = entry >> np.uint32(24)
            if kind <= LONGEST_CODE:
                store_u32(put, entry)
                put += np.int64(kind)
                if kind != 0 and entry != space:
                    kept = put
            elif kind == UNKNOWN:
                store_u16(put, np.uint16(0xFFFF))
                store_u32(put + 2, swap32(np.uint32(point if point < CODE_POINTS else load_u8(at))))
                put += 6
                kept = put
            elif kind == IMPLICIT:
                put = _put_code(put, codes, (entry & np.uint32(0xFFFF)) + np.uint32(point >> 15))
                put = _put_code(put, codes, np.uint32(point & 0x7FFF | 0x8000))
                kept = put
            else:
                weight = many + 2 * np.int64(entry & np.uint32(0xFFFFFF))
                for _ in range(kind - SEVERAL):
                    code = load_u32(codes + 4 * np.int64(load_u16(weight)))
                    store_u32(put, code)
                    put += np.int64(code >> np.uint32(24))
                    if code != space:
                        kept = put
                    weight += 2
            at += length
        used = (put if space == 0 else kept) - to
        row += 1
        offsets[row] = used
    return row


@inline
def _put_code(to, codes, weight):
    code = load_u32(codes + 4 * np.int64(weight))
    store_u32(to, code)
    return to + np.int64(code >> np.uint32(24))


@kernel
def without_spaces(starts, ends, source):
    """Move the ends of strings to before the spaces (U+0020) that are there."""
    for row in range(starts.shape[0]):
        while ends[row] > starts[row] and load_u8(source + ends[row] - 1) == 0x20:
            ends[row] -= 1

