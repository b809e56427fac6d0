# mypy: allow-untyped-defs, no-check-untyped-defs
"""Finds values of foreign keys among those that events are about.

    table[i] = hash, number (-1: free)      an open-addressed table of distinct byte strings
"""

import numpy as np

from applier.apply.index.byte_keys_kernel import hash_key
from applier.kernels.byte_strings import same_bytes
from keysearch.memory import kernel, load_i64, prefetch, store_i64

_BLOCK = 64


@kernel
def index_values(n, offsets, data, table, mask):
    """Fill an empty table (address of int64[mask + 1, 2]) with n distinct strings: string i is from data + offsets[i]
    to data + offsets[i + 1], both addresses."""
    for i in range(n):
        start = load_i64(offsets + 8 * i)
        word = hash_key(data + start, load_i64(offsets + 8 * i + 8) - start)
        entry = np.int64(word & np.uint64(mask))
        while load_i64(table + 16 * entry + 8) >= 0:
            entry = (entry + 1) & mask
        store_i64(table + 16 * entry, np.int64(word))
        store_i64(table + 16 * entry + 8, i)


@kernel
def find_values(n, offsets, data, known_offsets, known_data, table, mask, numbers, step):
    """The number of each of n strings in the table, -1 of those that are not in it: to int64s from address `numbers`
    on, `step` bytes apart."""
    words = np.empty(_BLOCK, np.uint64)
    for first in range(0, n, _BLOCK):
        block = min(_BLOCK, n - first)
        for i in range(block):
            start = load_i64(offsets + 8 * (first + i))
            words[i] = hash_key(data + start, load_i64(offsets + 8 * (first + i) + 8) - start)
            prefetch(table + 16 * np.int64(words[i] & np.uint64(mask)))
        for i in range(block):
            word, found = np.int64(words[i]), np.int64(-1)
            entry = np.int64(words[i] & np.uint64(mask))
            while load_i64(table + 16 * entry + 8) >= 0:
                if load_i64(table + 16 * entry) == word:
                    number = load_i64(table + 16 * entry + 8)
                    start, known = load_i64(offsets + 8 * (first + i)), load_i64(known_offsets + 8 * number)
                    length = load_i64(offsets + 8 * (first + i) + 8) - start
                    if (load_i64(known_offsets + 8 * number + 8) - known == length
                            and same_bytes(data + start, known_data + known, length)):
                        found = number
                        break
                entry = (entry + 1) & mask
            store_i64(numbers + step * (first + i), found)


@kernel
def count_passed(n, places, file, events, n_events, turns):
    """For each of n changes, whose places (address of int64) ascend, how many events come before it: to `turns`.
    `events` is the address of the events' places, ascending, `file` what the changes' places lack above."""
    low, high = np.int64(0), n_events
    while n and low < high:
        middle = (low + high) >> 1
        if load_i64(events + 8 * middle) < load_i64(places) + file:
            low = middle + 1
        else:
            high = middle
    for i in range(n):
        place = load_i64(places + 8 * i) + file
        while low < n_events and load_i64(events + 8 * low) < place:
            low += 1
        store_i64(turns + 8 * i, low)
