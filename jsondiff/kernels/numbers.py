# mypy: allow-untyped-defs, no-check-untyped-defs
"""Numbers written as text by kernels, as MySQL prints them.

Every writer takes the address where its text begins, and returns where it ends. The caller has made room for
MAX_NUMBER_TEXT bytes.

A double is written in the shortest decimal digits that read back as the same double: what MySQL (dtoa mode 4) and
Python print. The algorithm is Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020): the double and
each bound of its rounding interval are multiplied by a power of ten of 128 bits, which says which decimals lie in
between."""

from __future__ import annotations

import numpy as np

from keysearch.memory import high_product, inline, load_byte, store_i16, store_u8

_MIN_POWER, _MAX_POWER = -292, 324
_WORD = (1 << 64) - 1


def _power_of_ten(exponent: int) -> tuple[int, int]:
    """10**exponent scaled to 128 bits with the top bit set, rounded up: high and low word."""
    shift = 127 - ((exponent * 1741647) >> 19)  # 127 - floor(log2(10**exponent))
    numerator, denominator = 10 ** max(exponent, 0), 10 ** max(-exponent, 0)
    if shift >= 0:
        numerator <<= shift
    else:
        denominator <<= -shift
    scaled = -(-numerator // denominator)
    return scaled >> 64, scaled & _WORD


_POWERS = np.array([_power_of_ten(e) for e in range(_MIN_POWER, _MAX_POWER + 1)], np.uint64)


@inline
def _round_to_odd(power_high, power_low, value):
    """The top 64 bits of power × value; the lowest one is also set if any bit below is."""
    carry = high_product(power_low, value)
    high, low = high_product(power_high, value), power_high * value + carry
    if low < carry:
        high += np.uint64(1)
    return high | np.uint64(low > np.uint64(1))


@inline
def shortest_decimal(bits):
    """The shortest digits of a finite double, given as its bits (uint64): (digits: uint64, exponent), where digits ×
    10**exponent has the fewest digits that read back as |double|, and of those is the closest. 0 gives (0, 0)."""
    one, two, four, ten, forty = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(10), np.uint64(40)
    fraction = bits & np.uint64(0xFFFFFFFFFFFFF)
    biased = np.int64((bits >> np.uint64(52)) & np.uint64(0x7FF))
    if biased == 0 and fraction == 0:
        return np.uint64(0), np.int64(0)
    if biased != 0:
        mantissa, binary = fraction | np.uint64(1 << 52), biased - 1075
    else:
        mantissa, binary = fraction, np.int64(-1074)
    lower_is_closer = fraction == 0 and biased > 1
    exponent = (binary * 1262611 - (524031 if lower_is_closer else 0)) >> 22
    shift = np.uint64(binary + ((-exponent * 1741647) >> 19) + 1)
    power_high, power_low = _POWERS[-exponent - _MIN_POWER, 0], _POWERS[-exponent - _MIN_POWER, 1]
    center = four * mantissa
    lower = _round_to_odd(power_high, power_low, (center - (one if lower_is_closer else two)) << shift)
    value = _round_to_odd(power_high, power_low, center << shift)
    upper = _round_to_odd(power_high, power_low, (center + two) << shift)
    if mantissa & one:  # an odd mantissa's bounds round to its neighbours
        lower += one
        upper -= one
    digits = value // four
    if digits >= ten:
        tens = digits // ten
        down_fits, up_fits = lower <= forty * tens, forty * tens + forty <= upper
        if down_fits != up_fits:
            digits, exponent = tens + (one if up_fits else np.uint64(0)), exponent + 1
            while digits % ten == 0:
                digits, exponent = digits // ten, exponent + 1
            return digits, exponent
    down_fits, up_fits = lower <= four * digits, four * digits + four <= upper
    if down_fits != up_fits:
        round_up = up_fits
    else:
        middle = four * digits + two
        round_up = value > middle or (value == middle and digits & one == one)
    digits += one if round_up else np.uint64(0)
    while digits % ten == 0:
        digits, exponent = digits // ten, exponent + 1
    return digits, exponent


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
    """Return how many decimal digits a uint64 has; 1 for 0."""
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
def put_at_least(to, value, width):
    """Write a uint64 with `width` digits, or more where it has them."""
    return put_padded(to, value, max(width, count_digits(value)))


@inline
def put_parts(to, first, second, third, width, mark):
    """Write a date or a time of day: at least `width` digits for its first part, two for the others."""
    to = put_at_least(to, np.uint64(first), width)
    store_u8(to, mark)
    to = put_at_least(to + 1, np.uint64(second), 2)
    store_u8(to, mark)
    return put_at_least(to + 1, np.uint64(third), 2)


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
    """Write the DECIMAL(precision, scale) at at:end, as `put_digits` does; -1 also for other bounds than JSON has."""
    whole = precision - scale
    if precision > _MAX_PRECISION or scale > _MAX_SCALE or whole < 0:
        return -1
    size = whole // 9 * 4 + _DIGIT_BYTES[whole % 9] + scale // 9 * 4 + _DIGIT_BYTES[scale % 9]
    return put_digits(at, precision, scale, to) if size and end - at == size else -1


@inline
def put_digits(at, precision, scale, to):
    """Write a DECIMAL(precision, scale), packed at `at` (decimal2bin in strings/decimal.cc): groups of nine digits in
    big-endian words, a shorter group first and last, the sign in the top bit, all bits inverted if negative. No leading
    zero but one before the point, and all of the scale, as in a SELECT. Returns where the text ends, or -1 if the bytes
    are malformed."""
    whole = precision - scale
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
