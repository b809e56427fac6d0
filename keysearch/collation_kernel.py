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
def _lookup(contractions, n, key):
    """The entry of a contraction by its key, 0 if there is none; they are in the order of their keys."""
    low, high = np.int64(0), np.int64(n)
    while low < high:
        middle = (low + high) >> 1
        if load_i64(contractions + 16 * middle) < key:
            low = middle + 1
        else:
            high = middle
    if low < n and load_i64(contractions + 16 * low) == key:
        return load_i64(contractions + 16 * low + 8)
    return np.int64(0)


@inline
def _contraction(contractions, n, point, at, end):
    """The longest contraction of a character with those that stand at `at`: (its entry, how many bytes of these are in
    it), 0 for none."""
    if at >= end:
        return np.int64(0), 0
    second, length = _character(at, end)
    key = (point << POINT_BITS | second) << POINT_BITS
    if length < end - at:
        third, more = _character(at + length, end)
        entry = _lookup(contractions, n, key | third)
        if entry:
            return entry, length + more
    return _lookup(contractions, n, key), length


@kernel
def put_weights(row, starts, ends, source, entries, many, codes, heads, n_heads, contractions, n_contractions, space,
                to, room, offsets):
    """Write the weights of the strings source+starts[i] … source+ends[i], from string `row` on, one behind the other.

    entries, many, codes, heads, contractions: a WeightTable's (addresses, and how many). space: the code that does not
    count at a string's end; 0: all do. String i's key goes to `to` + offsets[i] and ends at offsets[i + 1]; `room`
    bytes are there, and SLACK more. Returns the first string that did not fit, or how many there are. What is no
    character of the set is greater than any, and then goes by its number.
    """
    used = offsets[row]
    while row < starts.shape[0]:
        at, end = source + starts[row], source + ends[row]
        put = to + used
        if MOST_BYTES * (end - at) > room - used:
            return row
        kept = put
        while at < end:
            point, length = _character(at, end)
            entry = load_u32(entries + 4 * point) if point < CODE_POINTS else np.uint32(UNKNOWN << 24)
            if point < n_heads and load_u8(heads + point):
                found, more = _contraction(contractions, n_contractions, point, at + length, end)
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

