# mypy: allow-untyped-defs, no-check-untyped-defs
"""SHA-256 in kernels. Source: FIPS 180-4, sections 4.1.2, 5.1.1, 5.3.3 and 6.2.2."""

import numpy as np

from keysearch.memory import inline, load_u8

_BLOCK = 64
_LENGTH_BYTES = 8


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _root(number: int, degree: int) -> int:
    """The first 32 bits behind the point of a root of a prime."""
    target = number << (32 * degree)
    low, high = 0, 1 << 40
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= target else (low, middle - 1)
    return low & 0xFFFFFFFF


_ROUNDS = np.array([_root(prime, 3) for prime in _primes(64)], np.uint32)
_START = np.array([_root(prime, 2) for prime in _primes(8)], np.uint32)


@inline
def _rotated(word, count):
    return np.uint32((word >> np.uint32(count)) | (word << np.uint32(32 - count)))


@inline
def _byte(address, length, padded, at):
    """Byte `at` of the padded message: the bytes, 0x80, zeros, and the number of bits, highest byte first."""
    if at < length:
        return np.uint32(load_u8(address + at))
    if at == length:
        return np.uint32(0x80)
    left = padded - 1 - at
    return np.uint32(((length << 3) >> (left << 3)) & 255) if left < _LENGTH_BYTES else np.uint32(0)


@inline
def sha256_start(address, length):
    """The first 64 bits of the SHA-256 of `length` bytes, as the number that its first 16 hexadecimal digits are."""
    state, words = _START.copy(), np.empty(_BLOCK, np.uint32)
    padded = (length + _LENGTH_BYTES) // _BLOCK * _BLOCK + _BLOCK
    for block in range(0, padded, _BLOCK):
        for i in range(16):
            word = np.uint32(0)
            for byte in range(4):
                word = np.uint32((word << np.uint32(8)) | _byte(address, length, padded, block + 4 * i + byte))
            words[i] = word
        for i in range(16, 64):
            early, late = words[i - 15], words[i - 2]
            s0 = _rotated(early, 7) ^ _rotated(early, 18) ^ np.uint32(early >> np.uint32(3))
            s1 = _rotated(late, 17) ^ _rotated(late, 19) ^ np.uint32(late >> np.uint32(10))
            words[i] = np.uint32(words[i - 16] + s0 + words[i - 7] + s1)
        a, b, c, d, e, f, g, h = (state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7])
        for i in range(64):
            s1 = _rotated(e, 6) ^ _rotated(e, 11) ^ _rotated(e, 25)
            first = np.uint32(h + s1 + ((e & f) ^ (np.uint32(~e) & g)) + _ROUNDS[i] + words[i])
            s0 = _rotated(a, 2) ^ _rotated(a, 13) ^ _rotated(a, 22)
            second = np.uint32(s0 + ((a & b) ^ (a & c) ^ (b & c)))
            a, b, c, d, e, f, g, h = (np.uint32(first + second), a, b, c, np.uint32(d + first), e, f, g)
        for i, word in enumerate((a, b, c, d, e, f, g, h)):
            state[i] = np.uint32(state[i] + word)
    return (np.uint64(state[0]) << np.uint64(32)) | np.uint64(state[1])
