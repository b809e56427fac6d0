"""Values that a snapshot keeps as text, a column at a time: wide DECIMALs, SETs, internet addresses, UUIDs."""

import numpy as np

from applier.binlog.value_kernel import DIGIT_BYTES, POWERS_OF_TEN, decimal_group
from keysearch.memory import copy_bytes, inline, kernel, load_u8, store_u8

DECIMAL_CHARACTERS = 68
"""The longest DECIMAL(65, 38): digits, sign, point, and a zero before it."""
INET6_CHARACTERS = 40
INET4_CHARACTERS = 15
UUID_CHARACTERS = 36
ALL_ROWS = -1

_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


@inline
def _digits(out, at, value, count):
    """Write a number with leading zeros to `count` digits."""
    for place in range(count - 1, -1, -1):
        store_u8(out + at + place, np.uint8(48 + value % 10))
        value //= 10
    return at + count


@inline
def _number(out, at, value):
    """Write a number under 10 ** 9 without leading zeros; zero is no digit at all."""
    count = 0
    while count < 9 and value >= POWERS_OF_TEN[count]:
        count += 1
    return _digits(out, at, value, count)


@inline
def put_decimal(address, precision, scale, out, at):
    """One DECIMAL as text: the place after it, or -1 where its bytes are none."""
    negative = load_u8(address) & 0x80 == 0
    flip = np.uint64(0xFFFFFFFFFFFFFFFF) if negative else np.uint64(0)
    if negative:
        store_u8(out + at, np.uint8(45))
        at += 1
    start, first = at, True
    for part in range(2):
        digits = scale if part else precision - scale
        if part:
            if at == start:
                at = _digits(out, at, 0, 1)
            if scale:
                store_u8(out + at, np.uint8(46))
                at += 1
        while digits > 0:
            # the incomplete group is the first one before the point, and the last one after it
            size = min(digits, 9) if part else (digits - 1) % 9 + 1
            length = DIGIT_BYTES[size]
            value = decimal_group(address, length, flip)
            if first:
                value ^= np.int64(1) << (8 * length - 1)
                first = False
            if value < 0 or value >= POWERS_OF_TEN[size]:
                return np.int64(-1)
            at = _number(out, at, value) if at == start else _digits(out, at, value, size)
            address += length
            digits -= size
    return at


@kernel
def decimal_text(data, width, valid, precision, scale, out, out_offsets):
    """DECIMALs of `width` bytes as the log has them, to digits, DECIMAL_CHARACTERS at most.

    Leading zeros go, all of the scale stays, as in a SELECT. `valid`: bool[n]. Returns ALL_ROWS or the first bad row.
    """
    at = np.int64(0)
    for row in range(len(valid)):
        out_offsets[row] = at
        if valid[row]:
            at = put_decimal(data + row * width, precision, scale, out, at)
            if at < 0:
                return row
    out_offsets[len(valid)] = at
    return ALL_ROWS


@kernel
def set_text(values, labels, label_offsets, write, out, out_offsets):
    """SETs as the labels of their bits (uint64[n]), joined by commas; bits without a label do not show.

    With `write` off, `out_offsets` alone is filled, which says how much room `out` needs.
    """
    at = np.int64(0)
    for row in range(len(values)):
        out_offsets[row] = at
        bits, member, empty = values[row], 0, True
        while bits and member < len(label_offsets) - 1:
            if bits & np.uint64(1):
                if not empty:
                    if write:
                        store_u8(out + at, np.uint8(44))
                    at += 1
                empty = False
                length = label_offsets[member + 1] - label_offsets[member]
                if write:
                    copy_bytes(out + at, labels + label_offsets[member], length)
                at += length
            bits >>= np.uint64(1)
            member += 1
    out_offsets[len(values)] = at


@inline
def _inet4(address, out, at):
    for byte in range(4):
        if byte:
            store_u8(out + at, np.uint8(46))
            at += 1
        value = np.int64(load_u8(address + byte))
        at = _number(out, at, value) if value else _digits(out, at, 0, 1)
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
