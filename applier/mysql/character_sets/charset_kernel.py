# mypy: allow-untyped-defs, no-check-untyped-defs
"""Text to UTF-8, as kernels over a whole column of values: int64 offsets in, int64 offsets out.

All read the characters as servers do when they convert: a byte that begins no character, and a code that has no
character, becomes "?". With `stops`, as on MySQL 9.7, a character that the value's end cuts short ends the text, and so
does what UCS-2 and UTF-32 can write and UTF-8 cannot (a surrogate, or 110000 to 1FFFFF); without it, as on MariaDB, the
first byte of either becomes "?", and the text continues. Each kernel says how much longer the text may become; `out`
must have room for that, and OVERRUN bytes more.
"""

import numpy as np

from applier.mysql.character_sets.charset_tables import LEAD_2, LEAD_3, MALFORMED, UNMAPPED
from keysearch.memory import inline, kernel, load_i32, load_u8, load_u64, store_u8, store_u32, store_u64

OVERRUN = 8
"""Kernels store whole words: up to this many bytes beyond the last one that counts."""

_ASCII = np.uint64(0x8080808080808080)
_QUESTION_MARK = np.int64(0x3F)
_STOP = np.int64(-9)

UTF8MB3, UTF8MB4, UCS2, UTF16, UTF16LE, UTF32 = range(6)


@inline
def _put(out, at, point):
    """Write a code point at out[at:] and return the offset after it."""
    if point < 0x80:
        store_u8(out + at, np.uint8(point))
        return at + 1
    if point < 0x800:
        store_u8(out + at, np.uint8(0xC0 | point >> 6))
        store_u8(out + at + 1, np.uint8(0x80 | point & 0x3F))
        return at + 2
    if point < 0x10000:
        store_u8(out + at, np.uint8(0xE0 | point >> 12))
        store_u8(out + at + 1, np.uint8(0x80 | point >> 6 & 0x3F))
        store_u8(out + at + 2, np.uint8(0x80 | point & 0x3F))
        return at + 3
    store_u8(out + at, np.uint8(0xF0 | point >> 18))
    store_u8(out + at + 1, np.uint8(0x80 | point >> 12 & 0x3F))
    store_u8(out + at + 2, np.uint8(0x80 | point >> 6 & 0x3F))
    store_u8(out + at + 3, np.uint8(0x80 | point & 0x3F))
    return at + 4


@inline
def _byte(address):
    return np.int64(load_u8(address))


@kernel
def from_single_byte(data, offsets, packed, ascii_below, out, out_offsets):
    """8-bit sets. `packed`: uint32[256], a character's UTF-8 bytes from the lowest on, its length in the top byte.
    `ascii_below`: whether codes under 0x80 are ASCII. Worst case: 3 bytes for one."""
    at = np.int64(0)
    for row in range(len(offsets) - 1):
        out_offsets[row] = at
        here, end = data + offsets[row], data + offsets[row + 1]
        while here < end:
            if ascii_below and here + 8 <= end:
                word = load_u64(here)
                if word & _ASCII == 0:
                    store_u64(out + at, word)
                    here += 8
                    at += 8
                    continue
            character = packed[load_u8(here)]
            store_u32(out + at, character)
            at += np.int64(character >> np.uint32(24))
            here += 1
    out_offsets[len(offsets) - 1] = at


@inline
def _entry(table, number):
    return np.int64(load_i32(table + 4 * number))


@inline
def _pair(here):
    return _byte(here) << 8 | _byte(here + 1)


@inline
def _multi_byte_character(here, end, first, pairs, triples, quads, n_quads):
    """The character at `here`, which is not ASCII: (code point or mark, its bytes)."""
    point = _entry(first, _byte(here))
    if point >= 0 or point == MALFORMED:
        return point, 1
    left = end - here
    if left < 2:
        return _STOP, 0
    if point == LEAD_2:
        return _entry(pairs, _pair(here)), 2
    if point == LEAD_3:
        if left < 3:
            return _STOP, 0
        return _entry(triples, _pair(here + 1)), 3
    if not 0x30 <= _byte(here + 1) <= 0x39:
        return _entry(pairs, _pair(here)), 2
    if left < 4:
        return _STOP, 0
    if not (0x81 <= _byte(here + 2) <= 0xFE and 0x30 <= _byte(here + 3) <= 0x39):
        return np.int64(MALFORMED), 1
    number = ((_byte(here) - 0x81) * 10 + _byte(here + 1) - 0x30) * 1260 + (_byte(here + 2) - 0x81) * 10
    number += _byte(here + 3) - 0x30
    if number < n_quads:
        return _entry(quads, number), 4
    number -= 189000  # 90 30 81 30 is U+10000
    return (number + 0x10000, 4) if 0 <= number < 0x100000 else (np.int64(UNMAPPED), 4)


@kernel
def from_multi_byte(data, offsets, first, pairs, triples, quads, n_quads, stops, out, out_offsets):
    """East Asian sets, by the addresses of the tables of `charset_tables.multi_byte_tables`. Worst case: 3 bytes for
    one."""
    at = np.int64(0)
    for row in range(len(offsets) - 1):
        out_offsets[row] = at
        here, end = data + offsets[row], data + offsets[row + 1]
        while here < end:
            if load_u8(here) < 0x80:
                if here + 8 <= end and load_u64(here) & _ASCII == 0:
                    store_u64(out + at, load_u64(here))
                    here += 8
                    at += 8
                else:
                    store_u8(out + at, load_u8(here))
                    here += 1
                    at += 1
                continue
            point, width = _multi_byte_character(here, end, first, pairs, triples, quads, n_quads)
            if point == _STOP and stops:
                break
            at = _put(out, at, point if point >= 0 else _QUESTION_MARK)
            here += 1 if point == MALFORMED or point == _STOP else width
    out_offsets[len(offsets) - 1] = at


@inline
def _continues(address, count):
    for i in range(count):
        if load_u8(address + i) & 0xC0 != 0x80:
            return False
    return True


@inline
def _utf8_character(here, left, longest):
    """(code point, its bytes); MALFORMED for a byte that begins no character."""
    lead = _byte(here)
    if lead < 0x80:
        return lead, 1
    if lead < 0xC2:
        return np.int64(MALFORMED), 1
    width = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if width > longest:
        return np.int64(MALFORMED), 1
    if left < width:
        return _STOP, 0
    if lead > 0xF4 or not _continues(here + 1, width - 1):
        return np.int64(MALFORMED), 1
    point = lead & (0x7F >> width)
    for i in range(1, width):
        point = point << 6 | _byte(here + i) & 0x3F
    if width == 3 and (point < 0x800 or 0xD800 <= point < 0xE000):
        return np.int64(MALFORMED), 1
    if width == 4 and not 0x10000 <= point < 0x110000:
        return np.int64(MALFORMED), 1
    return point, width


@inline
def _utf16_character(here, left, low, pairs):
    """Two bytes, of which `low` (0 or 1) is the less significant; four with a surrogate pair, which UCS-2 does not
    have."""
    if left < 2:
        return _STOP, 0
    point = _byte(here + low) | _byte(here + 1 - low) << 8
    if point & 0xF800 != 0xD800:
        return point, 2
    if not pairs:
        return _STOP, 2
    if point >= 0xDC00:
        return np.int64(MALFORMED), 1
    if left < 4:
        return _STOP, 0
    second = _byte(here + 2 + low) | _byte(here + 3 - low) << 8
    if second & 0xFC00 != 0xDC00:
        return np.int64(MALFORMED), 1
    return 0x10000 + ((point & 0x3FF) << 10 | second & 0x3FF), 4


@inline
def _utf32_character(here, left):
    if left < 4:
        return _STOP, 0
    point = _byte(here) << 24 | _byte(here + 1) << 16 | _byte(here + 2) << 8 | _byte(here + 3)
    if point >= 0x200000:
        return np.int64(UNMAPPED), 4
    return (_STOP, 0) if point > 0x10FFFF or 0xD800 <= point < 0xE000 else (point, 4)


@kernel
def from_unicode(data, offsets, form, stops, out, out_offsets):
    """The encodings of Unicode, by `form`. Worst case: 3 bytes for two (UCS-2, UTF-16), else no more than come in."""
    at = np.int64(0)
    for row in range(len(offsets) - 1):
        out_offsets[row] = at
        here, end = data + offsets[row], data + offsets[row + 1]
        while here < end:
            if form == UTF8MB3 or form == UTF8MB4:
                point, width = _utf8_character(here, end - here, 3 if form == UTF8MB3 else 4)
            elif form == UTF32:
                point, width = _utf32_character(here, end - here)
            else:
                point, width = _utf16_character(here, end - here, 0 if form == UTF16LE else 1, form != UCS2)
            if point == _STOP and stops:
                break
            at = _put(out, at, point if point >= 0 else _QUESTION_MARK)
            here += 1 if point == UNMAPPED and not stops else max(width, 1)
    out_offsets[len(offsets) - 1] = at
