# mypy: allow-untyped-defs, no-check-untyped-defs
"""The shortest decimal digits that read back as the same double: what MySQL (dtoa mode 4) and Python print.

The algorithm is Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020): the double and each bound of its
rounding interval are multiplied by a power of ten of 128 bits, which says which decimals lie in between.
"""

import numpy as np

from keysearch.memory import high_product, inline

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
