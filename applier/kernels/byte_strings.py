# mypy: allow-untyped-defs, no-check-untyped-defs
"""Bytes at an address as keys: equality and hash."""

import numpy as np

from keysearch.memory import inline, load_u8, load_u64

_MIXER = 0xFF51AFD7ED558CCD


@inline
def same_bytes(a, b, length):
    """Return whether `length` bytes at two addresses are the same."""
    at = 0
    while at + 8 <= length:
        if load_u64(a + at) != load_u64(b + at):
            return False
        at += 8
    while at < length:
        if load_u8(a + at) != load_u8(b + at):
            return False
        at += 1
    return True


@inline
def hash_bytes(address, length):
    """A hash of bytes, uint64."""
    mixer, result = np.uint64(_MIXER), np.uint64(length)
    at = 0
    while at + 8 <= length:
        result = (result ^ load_u64(address + at)) * mixer
        result ^= result >> np.uint64(32)
        at += 8
    while at < length:
        result = (result ^ np.uint64(load_u8(address + at))) * mixer
        result ^= result >> np.uint64(32)
        at += 1
    return result
