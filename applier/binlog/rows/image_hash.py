# mypy: allow-untyped-defs, no-check-untyped-defs
"""A hash of the bytes of a row image, taken while the walk has them in cache.

Sixteen bytes make a product of 128 bits, whose halves are folded; the products do not wait for each other.
"""

import numpy as np

from keysearch.memory import always_inline, high_product, inline, load_u8, load_u64

_FIRST, _SECOND, _STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xD6E8FEB86659FD93)


@always_inline
def _folded(first, second, key):
    """Both halves of a product of two words, which the key tells from the same words elsewhere."""
    first, second = first ^ key, second ^ _SECOND
    return first * second ^ high_product(first, second)


@inline
def image_hash(at, length):
    """31 bits of `length` bytes at an address; never 0."""
    total, key = np.uint64(length) * _STEP, _FIRST
    for i in range(length >> 4):
        total += _folded(load_u64(at + 16 * i), load_u64(at + 16 * i + 8), key)
        key += _STEP
    if length >= 16:
        total += _folded(load_u64(at + length - 16), load_u64(at + length - 8), key)  # overlaps the last pair
    elif length >= 8:
        total += _folded(load_u64(at), load_u64(at + length - 8), key)
    else:
        for i in range(length):
            total = (total ^ np.uint64(load_u8(at + i))) * _STEP
    total = (total ^ (total >> np.uint64(32))) * _STEP
    return max(np.int64(total >> np.uint64(33)), np.int64(1))
