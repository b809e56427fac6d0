# mypy: allow-untyped-defs, no-check-untyped-defs
"""Hashes of values and rows, and their sums, as the statements of `applier.jobs.verify.statements` make them."""

import numpy as np

from applier.kernels.crc32 import crc32
from applier.kernels.sha256 import sha256_start
from keysearch.addresses import address_of
from keysearch.memory import inline, keep, kernel, load_i64, load_u8, store_u8, store_u16

_DIGITS = 20
"""The most digits of a uint64, with a comma."""
_PAIRS = np.frombuffer("".join(f"{number:02}" for number in range(100)).encode(), np.uint16)
"""Two digits of each number, as stored in memory."""
_LOW_WORD = 0xFFFFFFFF


@inline
def _hash(address, length, by_sha2):
    """CRC32, or the first 60 bits of SHA-256, which are 15 hexadecimal digits."""
    if by_sha2:
        return sha256_start(address, length) >> np.uint64(4)
    return np.uint64(crc32(address, length, np.uint32(0)))


@kernel
def hash_values(data, offsets, nulls, cut, by_sha2, hashes):
    """Fill `hashes`, uint64[n]: of NULL 0, of a value its hash and 1. Its bytes are from offsets[i] to offsets[i + 1]
    less `cut`, at `data`; the three are addresses, of uint8, int64[n + 1] and uint8[n]."""
    for row in range(len(hashes)):
        if load_u8(nulls + row):
            hashes[row] = np.uint64(0)
        else:
            start = load_i64(offsets + 8 * row)
            length = load_i64(offsets + 8 * row + 8) - start - cut
            hashes[row] = _hash(data + start, length, by_sha2) + np.uint64(1)


@inline
def _put_before(end, number):
    """Write a number's digits before an address. Returns the address of the first one."""
    while number >= np.uint64(100):
        left = number // np.uint64(100)
        end -= 2
        store_u16(end, _PAIRS[number - left * np.uint64(100)])
        number = left
    if number >= np.uint64(10):
        end -= 2
        store_u16(end, _PAIRS[number])
    else:
        end -= 1
        store_u8(end, np.uint8(np.uint64(48) + number))
    return end


@kernel
def hash_rows(hashes, by_sha2):
    """Fill hashes[0, row] with the hash of the digits of hashes[1:, row], with commas between: uint64[columns + 1, n].
    """
    columns, rows = hashes.shape
    text = np.empty((_DIGITS + 1) * columns, np.uint8)
    end = address_of(text) + len(text)
    for row in range(rows):
        at = end
        for column in range(columns - 1, 0, -1):
            if at != end:
                at -= 1
                store_u8(at, np.uint8(44))
            at = _put_before(at, hashes[column, row])
        hashes[0, row] = _hash(at, end - at, by_sha2)
    keep(text)


@kernel
def add_sums(hashes, ranges, counts, sums):
    """Add each row's hashes, uint64[columns + 1, n], to those of its range: ranges, int64[n]; counts, int64[ranges];
    sums, uint64[ranges, columns + 1, 2], of the low and the high halves of the hashes."""
    columns, rows = hashes.shape
    for row in range(rows):
        counts[ranges[row]] += 1
    for column in range(columns):
        for row in range(rows):
            number = hashes[column, row]
            sums[ranges[row], column, 0] += number & np.uint64(_LOW_WORD)
            sums[ranges[row], column, 1] += number >> np.uint64(32)
