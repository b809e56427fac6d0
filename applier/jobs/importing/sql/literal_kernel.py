# mypy: allow-untyped-defs, no-check-untyped-defs
"""Converts literals, as spans of a dump's bytes, to values: bytes and integers, each a whole column at once.

Literals in an unusual form for their type ('1e3' in an integer column, invalid base64) are read one by one: their rows
are marked as UNUSUAL.
"""

import numpy as np

from applier.jobs.importing.sql.tuple_kernel import (
    BASE64,
    BINARY_ESCAPED,
    BINARY_TEXT,
    BITS,
    DECIMAL,
    DOUBLE,
    ENCLOSED,
    ESCAPED,
    FALSE,
    FIELD,
    HEX,
    HEX_TEXT,
    INTEGER,
    NULL,
    TEXT,
    TRUE,
)
from keysearch.memory import copy_bytes, inline, kernel, load_u8, store_u8

IS_NULL, VALUE, UNUSUAL = range(3)
"""The outcome for a row."""

_MOST_DIGITS = 20


@inline
def _hex(byte):
    return byte - 48 if byte <= 57 else (byte | 32) - 87


@inline
def _from_digits(data, at, length, bits, out, to):
    """Convert digits, `bits` each, to bytes; the first byte may have fewer of them. Returns the offset after them."""
    each = 8 // bits
    value, left = 0, length
    for offset in range(length):
        value = value << bits | np.int64(_hex(load_u8(data + at + offset)))
        left -= 1
        if left % each == 0:
            store_u8(out + to, np.uint8(value & 255))
            to += 1
            value = 0
    return to


@inline
def _meant(byte):
    """Return the character that a letter after a backslash means, most often itself."""
    if byte == 48:
        return np.uint8(0)
    if byte == 98:
        return np.uint8(8)
    if byte == 110:
        return np.uint8(10)
    if byte == 114:
        return np.uint8(13)
    if byte == 116:
        return np.uint8(9)
    if byte == 90:
        return np.uint8(26)
    return byte


@inline
def _unescaped(data, at, length, quote, backslash, out, to):
    """Write text in quotes without its escapes. Returns the offset after it."""
    end = at + length
    while at < end:
        byte = load_u8(data + at)
        at += 1
        if byte == quote:
            at += 1  # a doubled one
        elif byte == 92 and backslash and at < end:
            byte = _meant(load_u8(data + at))
            at += 1
            if byte == 37 or byte == 95:
                store_u8(out + to, np.uint8(92))
                to += 1
        store_u8(out + to, byte)
        to += 1
    return to


@inline
def _of_field(data, at, length, enclosing, out, to):
    """Write a field without its escapes; `enclosing` is the byte around it, which is doubled in it, or a backslash if
    there is none. Returns the offset after it."""
    end = at + length
    while at < end:
        byte = load_u8(data + at)
        at += 1
        if byte == 92 and at < end:
            byte = _meant(load_u8(data + at))
            at += 1
        elif byte == enclosing and at < end:
            at += 1  # a doubled one
        store_u8(out + to, byte)
        to += 1
    return to


@inline
def _sextet(byte):
    """Return the value of a letter of base64; over 63 for any other byte."""
    if 65 <= byte <= 90:
        return np.int64(byte) - 65
    if 97 <= byte <= 122:
        return np.int64(byte) - 71
    if 48 <= byte <= 57:
        return np.int64(byte) + 4
    return np.int64(62 if byte == 43 else 63 if byte == 47 else 64)


@inline
def _of_base64(data, at, length, out, to):
    """Decode base64, in which lines may end (as a backslash and n, too). Returns the offset after the bytes, -1 if it
    is not base64."""
    end, bits, n_bits = at + length, np.int64(0), 0
    while at < end:
        byte = load_u8(data + at)
        at += 1
        if byte == 92 and at < end:
            byte = _meant(load_u8(data + at))
            at += 1
        if byte == 10 or byte == 13 or byte == 61:
            continue
        value = _sextet(byte)
        if value > 63:
            return np.int64(-1)
        bits = (bits << 6 | value) & 0xFFFF
        n_bits += 6
        if n_bits >= 8:
            n_bits -= 8
            store_u8(out + to, np.uint8(bits >> n_bits & 255))
            to += 1
    return to


@kernel
def to_bytes(data, starts, lengths, kinds, allowed, backslash, out, offsets, states):
    """Convert literals of the kinds in the set `allowed` to byte strings: text without escapes, the bytes of
    hexadecimal digits or bits, numbers as written. `out` has room for all spans; fills offsets: int64[n + 1] and
    states."""
    to = np.int64(0)
    for row in range(len(kinds)):
        offsets[row] = to
        kind, at, length = kinds[row], starts[row], lengths[row]
        if kind == NULL:
            states[row] = IS_NULL
        elif not allowed >> kind & 1:
            states[row] = UNUSUAL
        else:
            states[row] = VALUE
            if kind == ESCAPED or kind == BINARY_ESCAPED:
                to = _unescaped(data, at, length, load_u8(data + at - 1), backslash, out, to)
            elif kind == FIELD or kind == ENCLOSED:
                to = _of_field(data, at, length, load_u8(data + at - 1) if kind == ENCLOSED else np.uint8(92), out, to)
            elif kind == HEX or kind == HEX_TEXT:
                to = _from_digits(data, at, length, 4, out, to)
            elif kind == BITS:
                to = _from_digits(data, at, length, 1, out, to)
            elif kind == BASE64:
                after = _of_base64(data, at, length, out, to)
                states[row] = VALUE if after >= 0 else UNUSUAL
                to = after if after >= 0 else to
            elif kind == TRUE or kind == FALSE:
                store_u8(out + to, np.uint8(49 if kind == TRUE else 48))
                to += 1
            else:
                copy_bytes(out + to, data + at, length)
                to += length
    offsets[len(kinds)] = to


@kernel
def to_integers(data, starts, lengths, kinds, allowed, bits, unsigned, out, states):
    """Whole numbers of that many bits as int64 (from 2**63 on as uint64 has them); what does not fit is UNUSUAL. Of the
    kinds in `allowed`, HEX and BITS count by their digits, TEXT must be a number."""
    most = ~np.uint64(0) >> np.uint64(64 - bits + (0 if unsigned else 1))
    for row in range(len(kinds)):
        kind, at, length = kinds[row], starts[row], lengths[row]
        value, negative, fits = np.uint64(0), False, allowed >> kind & 1 != 0
        states[row] = VALUE
        if kind == NULL:
            states[row], fits = IS_NULL, True
        elif fits and (kind == INTEGER or kind == TEXT):
            negative = length > 0 and load_u8(data + at) == 45
            value, fits = _whole_number(data, at + 1 if negative else at, at + length)
        elif fits and kind == TRUE:
            value = np.uint64(1)
        elif fits and (kind == HEX or kind == BITS):
            shift = np.uint64(4 if kind == HEX else 1)
            fits = length <= (16 if kind == HEX else 64)
            for offset in range(length):
                value = value << shift | np.uint64(_hex(load_u8(data + at + offset)))
        elif kind != FALSE:
            fits = False
        limit = most
        if negative:
            limit = np.uint64(0) if unsigned else most + np.uint64(1)
        if not fits or value > limit:
            states[row] = UNUSUAL
        out[row] = np.int64(~value + np.uint64(1) if negative else value)


@inline
def _whole_number(data, at, end):
    """The digits from `at` to `end` as a number, and whether they are one that fits in 64 bits."""
    value = np.uint64(0)
    if at >= end:
        return value, False
    while end - at > _MOST_DIGITS and load_u8(data + at) == 48:
        at += 1
    if end - at > _MOST_DIGITS:
        return value, False
    while at < end:
        digit = np.uint64(load_u8(data + at)) - np.uint64(48)
        if digit > np.uint64(9):
            return value, False
        larger = value * np.uint64(10) + digit
        if value > np.uint64(1844674407370955161) or larger < digit:
            return value, False
        value = larger
        at += 1
    return value, True


@kernel
def big_endian(data, offsets, bits, out, fits):
    """Byte strings as numbers of that many bits (int64[n]), and whether they are."""
    most = ~np.uint64(0) >> np.uint64(64 - bits)
    for row in range(len(out)):
        value, fits[row] = np.uint64(0), True
        for byte_at in range(offsets[row], offsets[row + 1]):
            fits[row] = fits[row] and value >> np.uint64(56) == 0
            value = value << np.uint64(8) | np.uint64(load_u8(data + byte_at))
        fits[row] = fits[row] and value <= most
        out[row] = np.int64(value)


EXACT = 1 << INTEGER | 1 << DECIMAL
NUMBERS = EXACT | 1 << DOUBLE | 1 << TRUE | 1 << FALSE
INTEGER_KINDS = 1 << INTEGER | 1 << TRUE | 1 << FALSE | 1 << HEX | 1 << BITS
BYTES = 1 << HEX | 1 << BITS | 1 << BINARY_TEXT | 1 << BINARY_ESCAPED | 1 << BASE64
CHARACTERS = 1 << TEXT | 1 << ESCAPED | 1 << FIELD | 1 << ENCLOSED | 1 << HEX_TEXT
"""Sets of kinds."""
