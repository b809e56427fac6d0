# mypy: allow-untyped-defs, no-check-untyped-defs
"""Numbers written as text by kernels, as MySQL prints them.

Every writer takes the address where its text begins, and returns where it ends. The caller has made room for
MAX_NUMBER_TEXT bytes.
"""

import numpy as np

from jsondiff.doubles import shortest_decimal
from keysearch.memory import inline, load_byte, store_i16, store_u8

MAX_NUMBER_TEXT = 96  # a DECIMAL of 81 digits with sign, leading zero and point needs 84, a double 34

# In JSON a DECIMAL's precision is not its column's: the server counts whole words of nine digits, of which it has nine.
_MAX_PRECISION, _MAX_SCALE = 81, 30
_DIGIT_BYTES = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 4], np.int64)  # bytes that hold 0-9 digits of a DECIMAL
_TENS = np.array([10**n for n in range(10)], np.int64)
_PAIRS = np.frombuffer(b"".join(b"%02d" % n for n in range(100)), "<i2").astype(np.int64)  # texts of 00 to 99


@inline
def put_pair(to, value):
    """Write a number under 100 with two digits."""
    store_i16(to, _PAIRS[value])
    return to + 2


@inline
def put_padded(to, value, width):
    """Write the lowest `width` decimal digits of value (uint64), with leading zeros."""
    at = to + width
    while at - to >= 2:
        rest = value // np.uint64(100)
        at -= 2
        store_i16(at, _PAIRS[value - rest * np.uint64(100)])
        value = rest
    if at > to:
        store_u8(to, 48 + np.int64(value % np.uint64(10)))
    return to + width


@inline
def count_digits(value):
    """How many decimal digits a uint64 has; 1 for 0."""
    count = 1
    while value >= np.uint64(10_000):
        value //= np.uint64(10_000)
        count += 4
    return count + (value >= np.uint64(10)) + (value >= np.uint64(100)) + (value >= np.uint64(1000))


@inline
def put_unsigned(to, value):
    return put_padded(to, value, count_digits(value))


@inline
def put_signed(to, value):
    """Write an int64, whatever its value."""
    if value >= 0:
        return put_unsigned(to, np.uint64(value))
    store_u8(to, 45)  # '-'
    return put_unsigned(to + 1, np.uint64(0) - np.uint64(value))


@inline
def put_double(to, bits):
    """Write a finite double, given as its bits (uint64), as MySQL's JSON prints it: 1.0, -0.0, 0.1, 1e16, 1.5e-15.

    The layout is that of my_gcvt (mysys/dtoa.cc) with more room than any double needs: plain digits from 1e-15 to
    below 1e15 and wherever the digits reach the point, else an exponent without a plus sign; JSON adds ".0" to what
    would look like an integer."""
    if bits >> np.uint64(63):
        store_u8(to, 45)  # '-'
        to += 1
    digits, exponent = shortest_decimal(bits)
    count = count_digits(digits)
    point = count + exponent  # where the decimal point stands, counted from the first digit
    if point < -14 or (point > 15 and count <= point):
        return _put_with_exponent(to, digits, count, point - 1)
    if point <= 0:
        store_u8(to, 48)  # '0.'
        store_u8(to + 1, 46)
        return put_padded(_put_zeros(to + 2, -point), digits, count)
    if count <= point:
        to = _put_zeros(put_padded(to, digits, count), point - count)
        store_u8(to, 46)  # '.0'
        store_u8(to + 1, 48)
        return to + 2
    end = put_padded(to + 1, digits, count)
    for i in range(to, to + point):
        store_u8(i, load_byte(i + 1))
    store_u8(to + point, 46)
    return end


@inline
def _put_zeros(to, count):
    for i in range(to, to + count):
        store_u8(i, 48)
    return to + count


@inline
def _put_with_exponent(to, digits, count, power):
    if count > 1:
        put_padded(to + 1, digits, count)
        store_u8(to, load_byte(to + 1))
        store_u8(to + 1, 46)  # '.'
        to += count + 1
    else:
        to = put_padded(to, digits, 1)
    store_u8(to, 101)  # 'e'
    return put_signed(to + 1, power)


@inline
def put_decimal(at, end, precision, scale, to):
    """Write a DECIMAL(precision, scale), packed at at:end (decimal2bin in strings/decimal.cc): groups of nine digits in
    big-endian words, a shorter group first and last, the sign in the top bit, all bits inverted if negative. Returns
    where the text ends, or -1 if the bytes are malformed."""
    whole = precision - scale
    if precision > _MAX_PRECISION or scale > _MAX_SCALE or whole < 0:
        return -1
    size = whole // 9 * 4 + _DIGIT_BYTES[whole % 9] + scale // 9 * 4 + _DIGIT_BYTES[scale % 9]
    if end - at != size:
        return -1
    if size == 0:
        return -1
    negative = load_byte(at) < 128
    inverted = 0xFF if negative else 0
    if negative:
        store_u8(to, 45)  # '-'
        to += 1
    first, start = at, to
    for part in range(2):
        left = scale if part else whole
        if part and scale:
            if to == start:  # nothing but zeros before the point
                store_u8(to, 48)
                to += 1
            store_u8(to, 46)
            to += 1
        while left > 0:
            width = 9 if part and left >= 9 else left if part else (left - 1) % 9 + 1
            value = 0
            for _ in range(_DIGIT_BYTES[width]):
                byte = load_byte(at) ^ inverted
                value = value << 8 | (byte ^ 0x80 if at == first else byte)
                at += 1
            if value >= _TENS[width]:
                return -1
            left -= width
            if part == 0 and to == start:
                if value:
                    to = put_unsigned(to, np.uint64(value))
            else:
                to = put_padded(to, np.uint64(value), width)
    if to == start:
        store_u8(to, 48)
        to += 1
    return to
