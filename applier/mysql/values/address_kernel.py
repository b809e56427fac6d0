# mypy: allow-untyped-defs, no-check-untyped-defs
"""Internet addresses and UUIDs as text, a column at a time."""

import numpy as np

from applier.kernels.digit_kernel import put_digits, put_number
from keysearch.memory import inline, kernel, load_u8, store_u8

INET6_CHARACTERS = 40
INET4_CHARACTERS = 15
UUID_CHARACTERS = 36

_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


@inline
def _inet4(address, out, at):
    for byte in range(4):
        if byte:
            store_u8(out + at, np.uint8(46))
            at += 1
        value = np.int64(load_u8(address + byte))
        at = put_number(out, at, value) if value else put_digits(out, at, 0, 1)
    return at


@kernel
def inet4_text(data, rows, out, out_offsets):
    """INET4 values, four bytes each, as INET4_CHARACTERS at most."""
    at = np.int64(0)
    for row in range(rows):
        out_offsets[row] = at
        at = _inet4(data + 4 * row, out, at)
    out_offsets[rows] = at


@inline
def _word(address, number):
    return np.int64(load_u8(address + 2 * number)) << 8 | np.int64(load_u8(address + 2 * number + 1))


@inline
def _longest_gap(address):
    """The longest run of zero words, the first of several: (first word, words), (-1, 0) if there is none."""
    first, words, run = -1, 0, 0
    for number in range(8):
        run = run + 1 if _word(address, number) == 0 else 0
        if run > words:
            first, words = number - run + 1, run
    return first, words


@inline
def _inet6(address, out, at):
    gap, gap_words = _longest_gap(address)
    mixed = gap == 0 and (gap_words == 6 or (gap_words == 5 and _word(address, 5) == 0xFFFF))
    number = 0
    while number < 8:
        if number == gap:
            if number == 0:
                store_u8(out + at, np.uint8(58))
                at += 1
            store_u8(out + at, np.uint8(58))
            at += 1
            number += gap_words
            continue
        if number == 6 and mixed:
            return _inet4(address + 12, out, at)
        word, shift = _word(address, number), 12
        while shift and word >> shift == 0:
            shift -= 4
        while shift >= 0:
            store_u8(out + at, _HEX[word >> shift & 15])
            at += 1
            shift -= 4
        if number < 7:
            store_u8(out + at, np.uint8(58))
            at += 1
        number += 1
    return at


@kernel
def inet6_text(data, rows, out, out_offsets):
    """INET6 values, 16 bytes each, as INET6_CHARACTERS at most, as MariaDB writes them: the first longest run of zero
    words is "::", even of one word; an IPv4 address after 96 bits of zeros, or 80 and ffff, is dotted."""
    at = np.int64(0)
    for row in range(rows):
        out_offsets[row] = at
        at = _inet6(data + 16 * row, out, at)
    out_offsets[rows] = at


@kernel
def uuid_text(data, rows, out, out_offsets):
    """UUIDs, 16 bytes each in the order of the text, UUID_CHARACTERS each."""
    at = np.int64(0)
    for row in range(rows):
        out_offsets[row] = at
        for byte in range(16):
            if byte == 4 or byte == 6 or byte == 8 or byte == 10:
                store_u8(out + at, np.uint8(45))
                at += 1
            value = load_u8(data + 16 * row + byte)
            store_u8(out + at, _HEX[value >> 4])
            store_u8(out + at + 1, _HEX[value & 15])
            at += 2
    out_offsets[rows] = at
