# mypy: allow-untyped-defs, no-check-untyped-defs
"""Decimal digits of small numbers."""

import numpy as np

from keysearch.memory import inline, store_u8

POWERS_OF_TEN = np.array([10**n for n in range(10)], np.int64)


@inline
def put_digits(out, at, value, count):
    """Write a number with leading zeros to `count` digits."""
    for place in range(count - 1, -1, -1):
        store_u8(out + at + place, np.uint8(48 + value % 10))
        value //= 10
    return at + count


@inline
def put_number(out, at, value):
    """Write a number under 10 ** 9 without leading zeros; zero is no digit at all."""
    count = 0
    while count < 9 and value >= POWERS_OF_TEN[count]:
        count += 1
    return put_digits(out, at, value, count)
