# mypy: allow-untyped-defs, no-check-untyped-defs
"""Finds values of foreign keys among the values of events."""

import numpy as np

from applier.apply.index.byte_keys_kernel import hash_key
from applier.kernels.byte_strings import same_bytes
from keysearch.memory import inline, kernel, load_i64, prefetch, store_i64
from keysearch.records import struct

KNOWN, known_at, _ = struct("known values", table=np.int64, mask=np.int64, offsets=np.int64, data=np.int64)
"""Distinct byte strings and an open-addressed table of them: the addresses of mask + 1 (a power of two) entries, and of
the strings: string i is from data + offsets[i] to data + offsets[i + 1]."""
ENTRY, entry_at, _ = struct("value entry", hash=np.int64, number=np.int64)
"""A string by its number; FREE: none."""
FREE = -1

_ENTRY_BYTES = ENTRY.itemsize
_BLOCK = 64


@inline
def _string(offsets, data, i):
    """Return the address of string i, and its length."""
    start = load_i64(offsets + 8 * i)
    return data + start, load_i64(offsets + 8 * i + 8) - start


@inline
def _home(known, word):
    """Return the address of the entry at which the search for a hash begins."""
    return known.table + _ENTRY_BYTES * (word & known.mask)


@inline
def _next(known, entry):
    """Return the address of the next entry; after the last one, of the first."""
    return known.table + ((entry + _ENTRY_BYTES - known.table) & (_ENTRY_BYTES * (known.mask + 1) - 1))


@kernel
def index_values(n, known_address):
    """Fill an empty table with its n strings."""
    known = known_at(known_address)
    for i in range(n):
        start, length = _string(known.offsets, known.data, i)
        word = np.int64(hash_key(start, length))
        entry = _home(known, word)
        while entry_at(entry).number != FREE:
            entry = _next(known, entry)
        entry_at(entry).hash = word
        entry_at(entry).number = i


@inline
def _find(known, start, length, word):
    """Return the number of a string; -1 if it is not in the table."""
    entry = _home(known, word)
    while entry_at(entry).number != FREE:
        if entry_at(entry).hash == word:
            own_start, own_length = _string(known.offsets, known.data, entry_at(entry).number)
            if own_length == length and same_bytes(start, own_start, length):
                return entry_at(entry).number
        entry = _next(known, entry)
    return np.int64(-1)


@kernel
def find_values(n, offsets, data, known_address, numbers, step):
    """Write the number in a table of each of n strings (string i begins at data + offsets[i]), -1 for strings that are
    not in it, to int64s from the address `numbers` on, `step` bytes apart."""
    known = known_at(known_address)
    words = np.empty(_BLOCK, np.int64)
    for first in range(0, n, _BLOCK):
        block = min(_BLOCK, n - first)
        for i in range(block):
            start, length = _string(offsets, data, first + i)
            words[i] = np.int64(hash_key(start, length))
            prefetch(_home(known, words[i]))
        for i in range(block):
            start, length = _string(offsets, data, first + i)
            store_i64(numbers + step * (first + i), _find(known, start, length, words[i]))


@kernel
def count_passed(n, positions, file, events, n_events, turns):
    """Write to `turns` how many events come before each of n changes. The changes' offsets (`positions`, address of
    int64) ascend; `events` is the address of the events' positions, ascending, and `file` the upper part of the
    changes' positions."""
    low, high = np.int64(0), n_events
    while n and low < high:
        middle = (low + high) >> 1
        if load_i64(events + 8 * middle) < load_i64(positions) + file:
            low = middle + 1
        else:
            high = middle
    for i in range(n):
        position = load_i64(positions + 8 * i) + file
        while low < n_events and load_i64(events + 8 * low) < position:
            low += 1
        store_i64(turns + 8 * i, low)
