# mypy: allow-untyped-defs, no-check-untyped-defs
"""Keys that are one int64, as an encoding of `key_index_kernel`.

    entry     key, pointer (EMPTY: no such key yet, DEAD: deleted): an open-addressed table
"""

import numpy as np

from keysearch.memory import (
    always_inline,
    inline,
    kernel,
    load_i32,
    load_i64,
    load_u8,
    load_u32,
    prefetch,
    store_i64,
    store_u32,
)
from keysearch.records import offset, struct

INDEX, index_at, _ = struct("integer keys", table=np.int64, mask=np.uint64, **dict.fromkeys((
    "key_room", "low", "last", "before_keys", "after_keys", "after_absent", "hashes"), np.int64))
"""The table and its last entry's number, the number of keys that fit, and the first and the last key of the unit. Of
the current batch: the addresses of the keys of its images, and of a bitmap of after-images without the key (0: all have
it). `hashes` is the address of uint32[entries]: the hashes of the rows' images; 0 without a witness."""
ENTRY, entry_at, _ = struct("entry", key=np.int64, pointer=np.int64)
EMPTY = -1

_ENTRY_BYTES, _POINTER = ENTRY.itemsize, offset(ENTRY, "pointer")
_AHEAD = 16
BLOCK = 16


@inline
def home(index, key):
    """Return the address of the entry at which the search for a key begins."""
    word = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return index.table + _ENTRY_BYTES * np.int64((word ^ (word >> np.uint64(32))) & index.mask)


# ---- the functions of an encoding


@inline
def look_ahead(index, state, first, n):
    """Prefetch the entries of the next block of changes."""
    for j in range(first + BLOCK, min(first + 2 * BLOCK, n)):
        before = np.int64(load_i32(state.before_rows + 4 * j))
        if before >= 0:
            key = load_i64(index.before_keys + 8 * before)
        else:
            key = load_i64(index.after_keys + 8 * np.int64(load_i32(state.after_rows + 4 * j)))
        entry = home(index, key)
        prefetch(entry)
        if index.hashes:
            prefetch(_hash_address(index, entry))


@inline
def before_key(index, before, i):
    return load_i64(index.before_keys + 8 * before)


@inline
def after_key(index, after, i):
    return load_i64(index.after_keys + 8 * after)


@inline
def keeps_key(index, after):
    """Return whether an update leaves the key out, and so keeps it."""
    absent = index.after_absent
    return absent != 0 and load_u8(absent + (after >> 3)) >> (after & 7) & 1 != 0


@inline
def is_same(key, other):
    return key == other


@inline
def is_inside(index, key):
    return key >= index.low and key <= index.last


@inline
def lacks_room(index, key, state):
    return False


@always_inline
def find(index, key):
    """Return the address of a key's entry, or of the empty one where it belongs."""
    entry = home(index, key)
    last = index.table + _ENTRY_BYTES * np.int64(index.mask)
    while entry_at(entry).pointer != EMPTY and entry_at(entry).key != key:
        entry = entry + _ENTRY_BYTES if entry < last else index.table
    return entry


@inline
def pointer_address(index, entry):
    """Return the address of an entry's pointer, which is negative if the key does not exist."""
    return entry + _POINTER


@inline
def row_at(index, at):
    """Return the row number that steps have for the row whose pointer is at an address: its key."""
    return entry_at(at - _POINTER).key


@inline
def _hash_address(index, entry):
    return index.hashes + ((entry - index.table) >> 2)


@inline
def hash_at(index, at):
    """Return the hash of the image that is the current row, given the address of its pointer."""
    return np.int64(load_u32(_hash_address(index, at - _POINTER)))


@inline
def set_hash(index, at, word):
    store_u32(_hash_address(index, at - _POINTER), np.uint32(word))


@inline
def put(index, entry, key, pointer, state):
    """Make a key live."""
    if entry_at(entry).pointer == EMPTY:
        entry_at(entry).key = key
        state.keys += 1
    entry_at(entry).pointer = pointer


# ---- the table as a whole


@kernel
def seed_ints(n, keys, pointers, index_address):
    """Fill an empty table with n keys of the base, which differ: addresses of int64 keys, and of the pointers to their
    rows."""
    index = index_at(index_address)
    for row in range(n):
        if row + _AHEAD < n:
            prefetch(home(index, load_i64(keys + 8 * (row + _AHEAD))))
        key = load_i64(keys + 8 * row)
        entry = find(index, key)
        entry_at(entry).key = key
        entry_at(entry).pointer = load_i64(pointers + 8 * row)


@kernel
def copy_live_ints(table, hashes, entries, index_address):
    """Copy the live keys of a table with this many entries, and their `hashes`, into an empty index; return how many
    there are."""
    index = index_at(index_address)
    live = 0
    for i in range(entries):
        old = entry_at(table + _ENTRY_BYTES * i)
        if old.pointer >= 0:
            entry = find(index, old.key)
            entry_at(entry).key = old.key
            entry_at(entry).pointer = old.pointer
            if index.hashes:
                store_u32(_hash_address(index, entry), load_u32(hashes + 4 * i))
            live += 1
    return live


@kernel
def list_ints(table, entries, keys, pointers):
    """Write all live keys of a table with this many entries, and their pointers, in any order: addresses of int64."""
    n = 0
    for i in range(entries):
        entry = entry_at(table + _ENTRY_BYTES * i)
        if entry.pointer >= 0:
            store_i64(keys + 8 * n, entry.key)
            store_i64(pointers + 8 * n, entry.pointer)
            n += 1
    return n
