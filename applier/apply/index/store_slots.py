# mypy: allow-untyped-defs, no-check-untyped-defs
"""The rows of a row store one by one: their records in the arena, their slots, and their places in the indexes.

What every change to a store is made of (see store_layout for how it lies in memory). Everything goes by address.
"""

import numpy as np

from applier.apply.index.pointer_kernel import add
from applier.apply.index.store_layout import (
    ARENA,
    ARENA_ROOM,
    ARENA_USED,
    DETAIL,
    FREE_SLOT,
    GARBAGE,
    N_INDEXES,
    N_UNIQUE,
    NEXT_ORDER,
    ORDER,
    POINTER,
    RECORD,
    SIZE,
    SLOTS_USED,
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
from applier.binlog.rows.table_ids_kernel import same_bytes
from keysearch.memory import inline, load_i64, store_i64


@inline
def encode_record_at_end(store, inputs, row, old, n):
    """Write an image's record behind the arena's end, without keeping it: its bytes, -1 if there is no room."""
    size = record_size(inputs, n, row, old)
    used = load_i64(store + ARENA_USED)
    if size > load_i64(store + ARENA_ROOM) - used:
        return np.int64(-1)
    put_record(inputs, n, row, old, load_i64(store + ARENA) + used)
    return size


@inline
def taken_key(store, record, n, own, old):
    """The first unique key of `record` that another row than slot `own` has, -1 if none; DETAIL is that row. Keys that
    are as in the record `old` (0: there is none) are the row's own."""
    for number in range(load_i64(store + N_UNIQUE)):
        index = index_at(store, number)
        if has_null(index, record, n) or (old and same_key(index, old, record, n)):
            continue
        other = find(store, index, record, key_hash(index, record, n), n)
        if other >= 0 and other != own:
            store_i64(store + DETAIL, other)
            return np.int64(number)
    return np.int64(-1)


@inline
def link_all(store, number, record, n):
    for i in range(load_i64(store + N_INDEXES)):
        index = index_at(store, i)
        put_link(index, number, key_hash(index, record, n))


@inline
def remove_slot(store, number):
    """Take a row out of all indexes and free its slot; its record and its patch are the caller's."""
    for i in range(load_i64(store + N_INDEXES)):
        drop_link(index_at(store, i), number)
    slot = slot_at(store, number)
    add(store + GARBAGE, load_i64(slot + SIZE))
    store_i64(slot + POINTER, load_i64(store + FREE_SLOT))
    store_i64(slot + RECORD, -1)
    store_i64(store + FREE_SLOT, number)


@inline
def add_slot(store, pointer, size, n):
    """A new row, whose record is the `size` bytes behind the arena's end: its number."""
    number = load_i64(store + FREE_SLOT)
    if number >= 0:
        store_i64(store + FREE_SLOT, load_i64(slot_at(store, number) + POINTER))
    else:
        number = load_i64(store + SLOTS_USED)
        store_i64(store + SLOTS_USED, number + 1)
    slot = slot_at(store, number)
    store_i64(slot + POINTER, pointer)
    store_i64(slot + RECORD, load_i64(store + ARENA_USED))
    store_i64(slot + ORDER, load_i64(store + NEXT_ORDER))
    store_i64(slot + SIZE, size)
    add(store + NEXT_ORDER, 1)
    add(store + ARENA_USED, size)
    link_all(store, number, record_of(store, slot), n)
    return number


@inline
def change_record(store, number, size, n):
    """Give a row the record of `size` bytes behind the arena's end, where it is another one."""
    slot = slot_at(store, number)
    old, new = record_of(store, slot), load_i64(store + ARENA) + load_i64(store + ARENA_USED)
    if size == load_i64(slot + SIZE) and same_bytes(old, new, size):
        return
    for i in range(load_i64(store + N_INDEXES)):
        index = index_at(store, i)
        if not same_key(index, old, new, n):
            drop_link(index, number)
            put_link(index, number, key_hash(index, new, n))
    add(store + GARBAGE, load_i64(slot + SIZE))
    store_i64(slot + RECORD, load_i64(store + ARENA_USED))
    store_i64(slot + SIZE, size)
    add(store + ARENA_USED, size)
