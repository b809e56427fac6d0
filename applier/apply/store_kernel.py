"""The pointer algorithm for rows that are found by any key, or by all they hold: find_row, and both exec modes.

A store keeps, beside each row's pointer, the bytes of the columns that its indexes are over (store_layout). Indexes are
of two kinds: the table's unique keys, in the server's order, first the primary one; and one for each set of columns
that before-images are searched by, where several rows may be equal and the first in the table's order is the row.

Idempotent mode (APP-R7, AP-IDEM): an insert that meets rows takes their places; it keeps what its image does not have
from the last of them. An update or delete of a row that is not there, and an update to a key that is taken, is skipped.
Each is noted as a conflict. A before-image that has nothing to search by stops this mode, too (IDX-R2, seen on MySQL).

Rules: FIND, FIND-ROWS, IDX-R1 to R4, APP-R5 to R7, DEF-R1b, DEF-R2, AP-IDEM.
"""

import numpy as np

from applier.apply.pointer_kernel import (
    ARENA_FULL,
    CONFLICTS_FULL,
    DELETED,
    DONE,
    DUPLICATE,
    INDEX_FULL,
    INSERTED,
    LIVE,
    MISSING,
    NEXT,
    PATCHES_FULL,
    UPDATED,
    add,
    free_patch,
    no_patch_left,
    updated_pointer,
)
from applier.apply.store_layout import (
    AFTER,
    ARENA,
    ARENA_ROOM,
    ARENA_USED,
    BASIS_POINTER,
    BASIS_RECORD,
    BEFORE,
    CONFLICT_ROOM,
    CONFLICTS,
    DETAIL,
    FREE_SLOT,
    GARBAGE,
    IDEMPOTENT,
    N_CONFLICTS,
    N_INDEXES,
    N_PIECES,
    N_UNIQUE,
    NEXT_ORDER,
    NO_SEARCH,
    ORDER,
    POINTER,
    RECORD,
    SEARCHES,
    SIZE,
    SLOT_ROOM,
    SLOTS_USED,
    compare_keys,
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
from applier.binlog.change_records import DELETE, INSERT
from applier.binlog.table_ids_kernel import same_bytes
from keysearch.memory import copy_bytes, inline, kernel, load_i32, load_i64, load_u8, store_i64

ROW_GONE = -1
"""A noted conflict: a row that is not there, instead of the number of the unique key that is taken."""


@inline
def take_tail(store, inputs, row, old, n):
    """Write an image's record behind the arena's end, without keeping it: its bytes, -1 if there is no room."""
    size = record_size(inputs, n, row, old)
    used = load_i64(store + ARENA_USED)
    if used + size > load_i64(store + ARENA_ROOM):
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
def note(store, change, what):
    """Note a conflict: number of the change, number of the unique key or ROW_GONE."""
    entry = load_i64(store + CONFLICTS) + 16 * load_i64(store + N_CONFLICTS)
    store_i64(entry, change)
    store_i64(entry + 8, what)
    add(store + N_CONFLICTS, 1)


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
    """A new row, whose record is the `size` bytes behind the arena's end."""
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


@inline
def insert_row(store, change, row, image, present, columns, patches, state, n):
    """One insert; DONE, or why it stopped. BASIS_… is the row whose place it takes, over a stop for room."""
    while True:
        basis = load_i64(store + BASIS_RECORD)
        old = load_i64(store + ARENA) + basis if basis >= 0 else np.int64(0)
        size = take_tail(store, load_i64(store + AFTER), row, old, n)
        if size < 0:
            return ARENA_FULL
        record = load_i64(store + ARENA) + load_i64(store + ARENA_USED)
        taken = taken_key(store, record, n, -1, 0)
        if taken < 0:
            pointer = image
            if basis >= 0:
                pointer = updated_pointer(load_i64(store + BASIS_POINTER), image, present, columns, patches, state)
            add_slot(store, pointer, size, n)
            add(state + LIVE, 1)
            break
        if not load_i64(store + IDEMPOTENT):
            store_i64(store + DETAIL, taken)
            return DUPLICATE
        other = load_i64(store + DETAIL)
        slot = slot_at(store, other)
        if taken == load_i64(store + N_UNIQUE) - 1:
            size = take_tail(store, load_i64(store + AFTER), row, record_of(store, slot), n)
            if size < 0:
                return ARENA_FULL
            store_i64(slot + POINTER,
                      updated_pointer(load_i64(slot + POINTER), image, present, columns, patches, state))
            change_record(store, other, size, n)
            if basis >= 0:
                free_patch(load_i64(store + BASIS_POINTER), patches, columns, state)
            note(store, change, taken)
            break
        if basis >= 0:
            free_patch(load_i64(store + BASIS_POINTER), patches, columns, state)
        store_i64(store + BASIS_POINTER, load_i64(slot + POINTER))
        store_i64(store + BASIS_RECORD, load_i64(slot + RECORD))
        remove_slot(store, other)
        add(state + LIVE, -1)
        note(store, change, taken)
    store_i64(store + BASIS_RECORD, -1)
    add(state + INSERTED, 1)
    return DONE


@kernel
def apply_rows(count, kinds, before_rows, after_rows, images, store, present, columns, patches, state):
    """Apply `count` changes from NEXT on; says why it stopped. `kinds` … `images` are the addresses of a batch's
    arrays, `store` of a store whose BEFORE, AFTER and SEARCHES are the batch's.

    DUPLICATE: DETAIL is the number of the unique key. CONFLICTS_FULL and the like: go on when there is room.
    """
    n = load_i64(store + N_PIECES)
    idempotent = load_i64(store + IDEMPOTENT)
    j = load_i64(state + NEXT)
    status = DONE
    while j < count:
        if load_i64(store + FREE_SLOT) < 0 and load_i64(store + SLOTS_USED) >= load_i64(store + SLOT_ROOM):
            status = INDEX_FULL
            break
        if no_patch_left(state):
            status = PATCHES_FULL
            break
        if load_i64(store + N_CONFLICTS) + load_i64(store + N_UNIQUE) + 1 > load_i64(store + CONFLICT_ROOM):
            status = CONFLICTS_FULL
            break
        kind = load_u8(kinds + j)
        before, after = np.int64(load_i32(before_rows + 4 * j)), np.int64(load_i32(after_rows + 4 * j))
        image = load_i64(images + 8 * j)
        if kind == INSERT:
            status = insert_row(store, j, after, image, present, columns, patches, state, n)
            if status != DONE:
                break
            j += 1
            continue
        search = np.int64(load_u8(load_i64(store + SEARCHES) + before))
        if search == NO_SEARCH:
            status = MISSING
            break
        if take_tail(store, load_i64(store + BEFORE), before, 0, n) < 0:
            status = ARENA_FULL
            break
        index, record = index_at(store, search), load_i64(store + ARENA) + load_i64(store + ARENA_USED)
        number = find(store, index, record, key_hash(index, record, n), n)
        if number < 0:
            if not idempotent:
                status = MISSING
                break
            note(store, j, ROW_GONE)
            j += 1
            continue
        slot = slot_at(store, number)
        if kind == DELETE:
            free_patch(load_i64(slot + POINTER), patches, columns, state)
            remove_slot(store, number)
            add(state + LIVE, -1)
            add(state + DELETED, 1)
            j += 1
            continue
        old = record_of(store, slot)
        size = take_tail(store, load_i64(store + AFTER), after, old, n)
        if size < 0:
            status = ARENA_FULL
            break
        record = load_i64(store + ARENA) + load_i64(store + ARENA_USED)
        taken = taken_key(store, record, n, number, old)
        if taken >= 0:
            if not idempotent:
                store_i64(store + DETAIL, taken)
                status = DUPLICATE
                break
            note(store, j, taken)
            j += 1
            continue
        store_i64(slot + POINTER, updated_pointer(load_i64(slot + POINTER), image, present, columns, patches, state))
        change_record(store, number, size, n)
        add(state + UPDATED, 1)
        j += 1
    store_i64(state + NEXT, j)
    return status


@kernel
def fill_rows(rows, store):
    """Give the first `rows` slots, which are the base's rows in order, their records out of AFTER. There has to be room
    for them; indexes are built by `build_index`."""
    for row in range(rows):
        size = take_tail(store, load_i64(store + AFTER), row, 0, load_i64(store + N_PIECES))
        slot = slot_at(store, row)
        store_i64(slot + POINTER, row)
        store_i64(slot + RECORD, load_i64(store + ARENA_USED))
        store_i64(slot + ORDER, row)
        store_i64(slot + SIZE, size)
        add(store + ARENA_USED, size)


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
    """Sort slot numbers (int64[n]) by the key of an index, -1: by the order in which the rows came; stable."""
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
                    if index_number < 0:
                        take_a = load_i64(first + ORDER) <= load_i64(second + ORDER)
                    else:
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
