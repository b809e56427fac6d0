# mypy: allow-untyped-defs, no-check-untyped-defs
"""Operations on a whole row store: fill it from a base, rebuild its indexes and buffer, list its rows in key order."""

import numpy as np

from applier.apply.index.store.store_layout import (
    compare_keys,
    find,
    index_at,
    key_hash,
    put_link,
    record_of,
    slot_at,
    store_at,
)
from applier.apply.index.store.store_slots import NO_ROOM, add_slot, encode_record_at_end, find_searched, remove_slot
from keysearch.memory import copy_bytes, kernel


@kernel
def fill_rows(rows, store_address):
    """Write the records of the first `rows` slots, which are the base's rows in order, from AFTER. There must be room
    for them; `build_index` builds the indexes."""
    store = store_at(store_address)
    for row in range(rows):
        size = encode_record_at_end(store, store.after, row, 0, store.n_parts)
        slot = slot_at(store, row)
        slot.pointer = row
        slot.record = store.buffer_used
        slot.order = row
        slot.size = size
        store.buffer_used += size


@kernel
def find_rows(first, rows, store_address, images, slots):
    """Find the slots that the before-images numbered `images` (int64[rows]) lead to, from entry `first` on, by
    SEARCHES, and write their numbers to `slots` (int64[rows]; -1: no row). Returns how many were processed: fewer if
    the buffer is full."""
    store = store_at(store_address)
    for i in range(first, rows):
        slots[i] = find_searched(store, images[i])
        if slots[i] == NO_ROOM:
            return i
    return rows


@kernel
def take_rows(first, rows, store_address, number, orders):
    """Remove, for each of BEFORE's images `first` … `rows`, one row that equals it in an index's parts, and write the
    row's rank in the table's order to `orders` (int64[rows]; -1: no row). Returns how many images were processed: fewer
    if the buffer is full."""
    store = store_at(store_address)
    n, index = store.n_parts, index_at(store, number)
    for row in range(first, rows):
        if encode_record_at_end(store, store.before, row, 0, n) < 0:
            return row
        record = store.buffer + store.buffer_used
        found = find(store, index, record, n)
        orders[row] = found
        if found >= 0:
            orders[row] = slot_at(store, found).order
            remove_slot(store, found)
    return rows


@kernel
def add_rows(first, rows, store_address, pointers, orders):
    """Add rows `first` … `rows`, whose records are in AFTER, regardless of unique keys: pointers, and ranks in the
    table's order (int64[rows]). There must be a slot for each. Returns how many were added: fewer if the buffer is
    full."""
    store = store_at(store_address)
    n = store.n_parts
    for row in range(first, rows):
        size = encode_record_at_end(store, store.after, row, 0, n)
        if size < 0:
            return row
        store.next_order = orders[row]
        add_slot(store, pointers[row], size, n)
    return rows


@kernel
def build_index(store_address, number):
    """Insert all rows into an index with empty heads."""
    store = store_at(store_address)
    n, index = store.n_parts, index_at(store, number)
    for slot_number in range(store.slots_used):
        slot = slot_at(store, slot_number)
        if slot.record >= 0:
            put_link(store, index, slot_number, key_hash(index, record_of(store, slot), n))


@kernel
def move_records(store_address, buffer):
    """Copy the records in use into another buffer, which becomes the store's."""
    store = store_at(store_address)
    used = np.int64(0)
    for number in range(store.slots_used):
        slot = slot_at(store, number)
        if slot.record >= 0:
            size = slot.size
            copy_bytes(buffer + used, record_of(store, slot), size)
            slot.record = used
            used += size
    store.buffer = buffer
    store.buffer_used = used
    store.garbage = 0


@kernel
def sort_slots(store_address, index_number, numbers, scratch):
    """Sort slot numbers (int64[n]) by the key of an index; stable."""
    store = store_at(store_address)
    n, count = store.n_parts, numbers.shape[0]
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
