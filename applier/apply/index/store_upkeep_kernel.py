# mypy: allow-untyped-defs, no-check-untyped-defs
"""A row store as a whole: filled from a base, its indexes and arena made anew, its rows in the order of a key."""

import numpy as np

from applier.apply.index.pointer_kernel import add
from applier.apply.index.store_layout import (
    AFTER,
    ARENA,
    ARENA_USED,
    BEFORE,
    GARBAGE,
    N_PIECES,
    NO_ROW,
    ORDER,
    POINTER,
    RECORD,
    SEARCHES,
    SIZE,
    SLOTS_USED,
    compare_keys,
    find,
    index_at,
    key_hash,
    put_link,
    record_of,
    slot_at,
)
from applier.apply.index.store_slots import add_slot, encode_record_at_end, remove_slot
from keysearch.memory import copy_bytes, kernel, load_i64, load_u8, store_i64


@kernel
def fill_rows(rows, store):
    """Give the first `rows` slots, which are the base's rows in order, their records out of AFTER. There has to be room
    for them; indexes are built by `build_index`."""
    for row in range(rows):
        size = encode_record_at_end(store, load_i64(store + AFTER), row, 0, load_i64(store + N_PIECES))
        slot = slot_at(store, row)
        store_i64(slot + POINTER, row)
        store_i64(slot + RECORD, load_i64(store + ARENA_USED))
        store_i64(slot + ORDER, row)
        store_i64(slot + SIZE, size)
        add(store + ARENA_USED, size)


@kernel
def find_rows(first, rows, store, images, places):
    """Find the slots that the before-images numbered `images` (int64[rows]) lead to, from entry `first` on, by
    SEARCHES, and put their numbers into `places` (int64[rows]; -1: there is none). How many were seen to: fewer where
    the arena is full."""
    n = load_i64(store + N_PIECES)
    for i in range(first, rows):
        search = np.int64(load_u8(load_i64(store + SEARCHES) + images[i]))
        places[i] = -1
        if search >= NO_ROW:
            continue
        if encode_record_at_end(store, load_i64(store + BEFORE), images[i], 0, n) < 0:
            return i
        index, record = index_at(store, search), load_i64(store + ARENA) + load_i64(store + ARENA_USED)
        places[i] = find(store, index, record, key_hash(index, record, n), n)
    return rows


@kernel
def take_rows(first, rows, store, number, places):
    """Take out a row for each of BEFORE's images `first` … `rows` that one equals in an index's pieces, and put its
    place in the table's order into `places` (int64[rows]; -1: there is none). How many images were seen to: fewer where
    the arena is full."""
    n, index = load_i64(store + N_PIECES), index_at(store, number)
    for row in range(first, rows):
        if encode_record_at_end(store, load_i64(store + BEFORE), row, 0, n) < 0:
            return row
        record = load_i64(store + ARENA) + load_i64(store + ARENA_USED)
        found = find(store, index, record, key_hash(index, record, n), n)
        places[row] = found
        if found >= 0:
            places[row] = load_i64(slot_at(store, found) + ORDER)
            remove_slot(store, found)
    return rows


@kernel
def add_rows(first, rows, store, pointers, places):
    """Put rows `first` … `rows` in, whose records are in AFTER, whatever unique keys say: pointers, and places in the
    table's order (int64[rows]). There has to be a slot for each. How many are in: fewer where the arena is full."""
    n = load_i64(store + N_PIECES)
    for row in range(first, rows):
        size = encode_record_at_end(store, load_i64(store + AFTER), row, 0, n)
        if size < 0:
            return row
        store_i64(slot_at(store, add_slot(store, pointers[row], size, n)) + ORDER, places[row])
    return rows


@kernel
def build_index(store, number):
    """Put all rows into an index whose heads are empty."""
    n, index = load_i64(store + N_PIECES), index_at(store, number)
    for slot_number in range(load_i64(store + SLOTS_USED)):
        slot = slot_at(store, slot_number)
        if load_i64(slot + RECORD) >= 0:
            put_link(index, slot_number, key_hash(index, record_of(store, slot), n))


@kernel
def move_records(store, arena):
    """Copy the records that are in use into another arena, which then is the store's."""
    used = np.int64(0)
    for number in range(load_i64(store + SLOTS_USED)):
        slot = slot_at(store, number)
        if load_i64(slot + RECORD) >= 0:
            size = load_i64(slot + SIZE)
            copy_bytes(arena + used, record_of(store, slot), size)
            store_i64(slot + RECORD, used)
            used += size
    store_i64(store + ARENA, arena)
    store_i64(store + ARENA_USED, used)
    store_i64(store + GARBAGE, 0)


@kernel
def sort_slots(store, index_number, numbers, scratch):
    """Sort slot numbers (int64[n]) by the key of an index; stable."""
    n, count = load_i64(store + N_PIECES), numbers.shape[0]
    source, target = numbers, scratch
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            a, middle = start, min(start + width, count)
            b, end = middle, min(start + 2 * width, count)
            for to in range(start, end):
                take_a = a < middle
                if take_a and b < end:
                    first, second = slot_at(store, source[a]), slot_at(store, source[b])
                    take_a = compare_keys(index_at(store, index_number), record_of(store, first),
                                          record_of(store, second), n) <= 0
                if take_a:
                    target[to] = source[a]
                    a += 1
                else:
                    target[to] = source[b]
                    b += 1
        source, target = target, source
        width *= 2
    if width > 1:
        for i in range(count):
            numbers[i] = source[i]
