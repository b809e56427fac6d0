# mypy: allow-untyped-defs, no-check-untyped-defs
"""XXH64 (seed 0) of bytes that arrive in parts, computed while they are written or read anyway.

Source: Collet, "XXH64 algorithm description" (xxHash, doc/xxhash_spec.md).
"""

import numpy as np

from keysearch.memory import copy_bytes, inline, kernel, load_u8, load_u32, load_u64
from keysearch.records import offset, struct

STRIPE = 32
"""The number of bytes that are processed at a time, eight for each of four lanes."""
STATE, _state_at, _ = struct("digest", a=np.uint64, b=np.uint64, c=np.uint64, d=np.uint64, total=np.int64,
                             held=np.int64, tail=(np.uint8, (STRIPE,)))
"""Four lanes, the number of all bytes, and the bytes held back, fewer than a stripe, with their number."""
_TAIL = offset(STATE, "tail")

_P1, _P2, _P3, _P4, _P5 = (np.uint64(number) for number in (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5))


@inline
def _rotated(word, bits):
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@inline
def _round(lane, word):
    return _rotated(lane + word * _P2, 31) * _P1


@inline
def _merged(hash_, lane):
    return (hash_ ^ _round(np.uint64(0), lane)) * _P1 + _P4


@inline
def _absorb_stripes(state, at, end):
    """Process the whole stripes of [at, end). Returns where the rest begins."""
    a, b, c, d = state.a, state.b, state.c, state.d
    while STRIPE <= end - at:
        a, b = _round(a, load_u64(at)), _round(b, load_u64(at + 8))
        c, d = _round(c, load_u64(at + 16)), _round(d, load_u64(at + 24))
        at += STRIPE
    state.a, state.b, state.c, state.d = a, b, c, d
    return at


@kernel
def begin(address):
    """Initialize the STATE at an address."""
    state = _state_at(address)
    state.a, state.b, state.c, state.d = _P1 + _P2, _P2, np.uint64(0), np.uint64(0) - _P1
    state.total, state.held = 0, 0


@kernel
def absorb(state_address, address, length):
    """Process the next `length` bytes, at an address."""
    state, tail = _state_at(state_address), state_address + _TAIL
    at, end, held = address, address + length, state.held
    state.total += length
    if held:
        taken = min(STRIPE - held, length)
        copy_bytes(tail + held, at, taken)
        at += taken
        held += taken
        if held == STRIPE:
            _absorb_stripes(state, tail, tail + STRIPE)
            held = 0
    if not held:
        at = _absorb_stripes(state, at, end)
        held = end - at
        copy_bytes(tail, at, held)
    state.held = held


@kernel
def result(address):
    """Return the hash of all bytes so far."""
    state = _state_at(address)
    if state.total < STRIPE:
        hash_ = _P5
    else:
        a, b, c, d = state.a, state.b, state.c, state.d
        hash_ = _rotated(a, 1) + _rotated(b, 7) + _rotated(c, 12) + _rotated(d, 18)
        hash_ = _merged(_merged(_merged(_merged(hash_, a), b), c), d)
    hash_ += np.uint64(state.total)
    at = address + _TAIL
    end = at + state.held
    while 8 <= end - at:
        hash_ = _rotated(hash_ ^ _round(np.uint64(0), load_u64(at)), 27) * _P1 + _P4
        at += 8
    if 4 <= end - at:
        hash_ = _rotated(hash_ ^ (np.uint64(load_u32(at)) * _P1), 23) * _P2 + _P3
        at += 4
    while at < end:
        hash_ = _rotated(hash_ ^ (np.uint64(load_u8(at)) * _P5), 11) * _P1
        at += 1
    hash_ = (hash_ ^ (hash_ >> np.uint64(33))) * _P2
    hash_ = (hash_ ^ (hash_ >> np.uint64(29))) * _P3
    return hash_ ^ (hash_ >> np.uint64(32))
