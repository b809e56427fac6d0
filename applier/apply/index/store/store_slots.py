# mypy: allow-untyped-defs, no-check-untyped-defs
"""Single rows of a row store: their records in the buffer, their slots, and their entries in the indexes.
"""

import numpy as np

from applier.apply.index.store.store_layout import (
    NO_ROW,
    drop_link,
    find,
    has_null,
    index_at,
    key_hash,
    put_link,
    put_record,
    record_of,
    record_size,
    same_key,
    slot_at,
)
from applier.apply.index.witness.witness_kernel import NO_HASH
from applier.kernels.byte_strings import same_bytes
from keysearch.memory import inline, load_u8

NO_ROOM = -2
"""Returned instead of a slot's number: the buffer has no room for the search."""


@inline
def encode_record_at_end(store, inputs, row, old, n):
    """Write an image's record after the buffer's end, without keeping it. Returns its size in bytes; -1 if there is no
    room."""
    size = record_size(inputs, n, row, old)
    used = store.buffer_used
    if size > store.buffer_room - used:
        return np.int64(-1)
    put_record(inputs, n, row, old, store.buffer + used)
    return size


@inline
def find_searched(store, before):
    """Return the number of the slot that a before-image finds, by its index in SEARCHES; -1 if there is none, NO_ROOM
    if the buffer is too full to search."""
    search, n = np.int64(load_u8(store.searches + before)), store.n_parts
    if search >= NO_ROW:
        return np.int64(-1)
    if encode_record_at_end(store, store.before, before, 0, n) < 0:
        return np.int64(NO_ROOM)
    index, record = index_at(store, search), store.buffer + store.buffer_used
    return find(store, index, record, n)


@inline
def taken_key(store, record, n, own, old):
    """Return the first unique key of `record` that a row other than slot `own` has; -1 if there is none. DETAIL is that
    row. Keys that equal those of the record `old` (0: there is none) are the row's own."""
    for number in range(store.n_unique):
        index = index_at(store, number)
        if has_null(index, record, n) or (old and same_key(index, old, record, n)):
            continue
        other = find(store, index, record, n)
        if other >= 0 and other != own:
            store.detail = other
            return np.int64(number)
    return np.int64(-1)


@inline
def link_all(store, number, record, n):
    for i in range(store.n_indexes):
        index = index_at(store, i)
        put_link(store, index, number, key_hash(index, record, n))


@inline
def remove_slot(store, number):
    """Remove a row from all indexes and free its slot. The caller handles its record and its column pointers."""
    for i in range(store.n_indexes):
        drop_link(index_at(store, i), number)
    slot = slot_at(store, number)
    store.garbage += slot.size
    slot.pointer = store.free_slot
    slot.record = -1
    store.free_slot = number


@inline
def add_slot(store, pointer, size, n):
    """Add a row, whose record is the `size` bytes after the buffer's end. Returns its number."""
    number = store.free_slot
    if number >= 0:
        store.free_slot = slot_at(store, number).pointer
    else:
        number = store.slots_used
        store.slots_used = number + 1
    slot = slot_at(store, number)
    slot.pointer = pointer
    slot.record = store.buffer_used
    slot.order = store.next_order
    slot.size = size
    slot.hash = NO_HASH
    store.next_order += 1
    store.buffer_used += size
    link_all(store, number, record_of(store, slot), n)
    return number


@inline
def change_record(store, number, size, n):
    """Give a row the record of `size` bytes after the buffer's end, if that differs from its own."""
    slot = slot_at(store, number)
    old, new = record_of(store, slot), store.buffer + store.buffer_used
    if size == slot.size and same_bytes(old, new, size):
        return
    for i in range(store.n_indexes):
        index = index_at(store, i)
        if not same_key(index, old, new, n):
            drop_link(index, number)
            put_link(store, index, number, key_hash(index, new, n))
    store.garbage += slot.size
    slot.record = store.buffer_used
    slot.size = size
    store.buffer_used += size
