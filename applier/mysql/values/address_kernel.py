# mypy: allow-untyped-defs, no-check-untyped-defs
"""Internet addresses and UUIDs as text, a column at a time."""

import numpy as np

from applier.kernels.put_kernel import put_byte, put_hex, put_uuid
from jsondiff.kernels.numbers import put_unsigned
from keysearch.memory import inline, kernel, load_u8

INET6_CHARACTERS = 40
INET4_CHARACTERS = 15
UUID_CHARACTERS = 36


@inline
def _inet4(address, to):
    for byte in range(4):
        if byte:
            to = put_byte(to, 46)
        to = put_unsigned(to, np.uint64(load_u8(address + byte)))
    return to


@kernel
def inet4_text(data, rows, out, out_offsets):
    """INET4 values, four bytes each, as INET4_CHARACTERS at most."""
    to = out
    for row in range(rows):
        out_offsets[row] = to - out
        to = _inet4(data + 4 * row, to)
    out_offsets[rows] = to - out


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
def _inet6(address, to):
    gap, gap_words = _longest_gap(address)
    mixed = gap == 0 and (gap_words == 6 or (gap_words == 5 and _word(address, 5) == 0xFFFF))
    number = 0
    while number < 8:
        if number == gap:
            if number == 0:
                to = put_byte(to, 58)
            to = put_byte(to, 58)
            number += gap_words
            continue
        if number == 6 and mixed:
            return _inet4(address + 12, to)
        word = _word(address, number)
        to = put_hex(to, np.uint64(word), 1 + (word > 0xF) + (word > 0xFF) + (word > 0xFFF))
        if number < 7:
            to = put_byte(to, 58)
        number += 1
    return to


@kernel
def inet6_text(data, rows, out, out_offsets):
    """INET6 values, 16 bytes each, as INET6_CHARACTERS at most, as MariaDB writes them: the first longest run of zero
    words is "::", even of one word; an IPv4 address after 96 bits of zeros, or 80 and ffff, is dotted."""
    to = out
    for row in range(rows):
        out_offsets[row] = to - out
        to = _inet6(data + 16 * row, to)
    out_offsets[rows] = to - out


@kernel
def uuid_text(data, rows, out, out_offsets):
    """UUIDs, 16 bytes each in the order of the text, UUID_CHARACTERS each."""
    to = out
    for row in range(rows):
        out_offsets[row] = to - out
        to = put_uuid(to, data + 16 * row)
    out_offsets[rows] = to - out
