# mypy: allow-untyped-defs, no-check-untyped-defs
"""The pointer algorithm for rows that are found by any key, or by their whole content, in both exec modes.

A store keeps, beside each row's pointer, the bytes of the indexed columns (store_layout). There are two kinds of
indexes: over the table's unique keys, in the server's order, the primary key first; and one for each set of columns by
which before-images are searched, in which several rows may be equal and the first one in the table's order is used.

Idempotent mode (APP-R7, AP-IDEM): an insert replaces the rows that have one of its keys; columns that are missing in
its image keep the values of the last of these rows. An update or delete of a missing row, and an update to a duplicate
key, is skipped. Each is recorded as a conflict. On MySQL, a before-image without searchable columns also stops this
mode (IDX-R2).

Rules: FIND, FIND-ROWS, IDX-R1 to R4, APP-R5 to R7, DEF-R1b, DEF-R2, AP-IDEM.
"""

import numpy as np

from applier.apply.index.pointer_kernel import (
    NO_ROW,
    ROW_GONE,
    free_column_pointers,
    lacks_trace_room,
    no_column_pointers_left,
    note,
    on_conflict,
    state_at,
    trace,
    updated_pointer,
)
from applier.apply.index.status import Status
from applier.apply.index.store.store_layout import NO_SEARCH, WAITS, record_of, slot_at, store_at
from applier.apply.index.store.store_slots import (
    NO_ROOM,
    add_slot,
    change_record,
    encode_record_at_end,
    find_searched,
    remove_slot,
    taken_key,
)
from applier.apply.index.witness.witness_kernel import after_hash, testify
from applier.binlog.rows.change_records import DELETE, INSERT
from keysearch.memory import inline, kernel, load_i32, load_i64, load_u8


@inline
def insert_row(store, change, row, image, state):
    """Apply an insert. Returns DONE, or why it stopped. `replaced_row_…` is the row that it replaces, which survives a
    stop for room."""
    n = store.n_parts
    while True:
        basis = store.replaced_row_record
        old = store.buffer + basis if basis >= 0 else np.int64(0)
        size = encode_record_at_end(store, store.after, row, old, n)
        if size < 0:
            return Status.BUFFER_FULL
        taken = taken_key(store, store.buffer + store.buffer_used, n, -1, 0)
        if taken < 0:
            pointer, replaced = image, np.int64(NO_ROW)
            if basis >= 0:
                replaced = store.replaced_row_pointer
                pointer = updated_pointer(replaced, image, state)
            number = add_slot(store, pointer, size, n)
            slot_at(store, number).hash = after_hash(image, change, state)
            trace(state, change, replaced, pointer, store.replaced_row_order, slot_at(store, number).order)
            state.live += 1
            break
        if not state.noted:
            store.detail = taken
            return Status.DUPLICATE
        if taken == store.n_unique - 1:
            if not update_in_place(store, store.detail, change, row, image, state):
                return Status.BUFFER_FULL
            note(state, change, taken)
            break
        delete_conflicting(store, store.detail, change, state)
        note(state, change, taken)
    store.replaced_row_record = -1
    state.inserted += 1
    return Status.DONE


@inline
def update_in_place(store, number, change, row, image, state):
    """Apply an insert that finds a row with its last unique key by changing that row. Returns whether there was room. A
    row that it replaced before is removed."""
    slot, n = slot_at(store, number), store.n_parts
    size = encode_record_at_end(store, store.after, row, record_of(store, slot), n)
    if size < 0:
        return False
    old = slot.pointer
    slot.pointer = updated_pointer(old, image, state)
    slot.hash = after_hash(image, change, state)
    trace(state, change, old, slot.pointer, slot.order, slot.order)
    change_record(store, number, size, n)
    drop_replaced(store, change, state)
    return True


@inline
def drop_replaced(store, change, state):
    """Remove the row that an insert replaced, if any."""
    if store.replaced_row_record >= 0:
        trace(state, change, store.replaced_row_pointer, NO_ROW, store.replaced_row_order, NO_ROW)
        free_column_pointers(store.replaced_row_pointer, state)


@inline
def delete_conflicting(store, number, change, state):
    """Apply an insert that finds a row with another unique key by deleting that row, which it replaces."""
    slot = slot_at(store, number)
    drop_replaced(store, change, state)
    store.replaced_row_pointer = slot.pointer
    store.replaced_row_record = slot.record
    store.replaced_row_order = slot.order
    remove_slot(store, number)
    state.live -= 1


@inline
def delete_row(store, number, change, state):
    slot = slot_at(store, number)
    pointer = slot.pointer
    if state.witness:
        testify(slot.hash, pointer, change, state)
    trace(state, change, pointer, NO_ROW, slot.order, NO_ROW)
    free_column_pointers(pointer, state)
    remove_slot(store, number)
    state.live -= 1
    state.deleted += 1


@inline
def awaits(store, slot, row):
    """Return whether a part of an after-image still must be computed from the current row."""
    if not store.awaited:
        return False
    told = load_u8(store.awaited + row)
    return told == WAITS or (told != 0 and load_i64(store.awaited_of + 8 * row) != slot.record)


@inline
def update_row(store, number, change, row, image, state):
    """Update the row in a slot. Returns DONE, or why it stopped."""
    slot, n = slot_at(store, number), store.n_parts
    if awaits(store, slot, row):
        return Status.AWAITS
    old = record_of(store, slot)
    size = encode_record_at_end(store, store.after, row, old, n)
    if size < 0:
        return Status.BUFFER_FULL
    taken = taken_key(store, store.buffer + store.buffer_used, n, number, old)
    if taken >= 0 and state.noted:
        note(state, change, taken)
        return Status.DONE
    if state.witness:
        testify(slot.hash, slot.pointer, change, state)
    pointer = updated_pointer(slot.pointer, image, state)
    if taken >= 0:
        store.detail = taken
        return Status.DUPLICATE
    trace(state, change, slot.pointer, pointer, slot.order, slot.order)
    slot.pointer = pointer
    slot.hash = after_hash(image, change, state)
    change_record(store, number, size, n)
    state.updated += 1
    return Status.DONE


@inline
def lacks_room(store, state):
    """Return the status of a buffer that is too full for another change; DONE if all have room."""
    if store.free_slot < 0 and store.slots_used >= store.slot_room:
        return Status.INDEX_FULL
    if no_column_pointers_left(state):
        return Status.COLUMN_POINTERS_FULL
    if state.noted and store.n_unique >= state.noted_room - state.n_noted:
        return Status.CONFLICTS_FULL
    if lacks_trace_room(state, store.n_unique + 1):
        return Status.TRACE_FULL
    return Status.DONE


@inline
def apply_change(store, j, state):
    """Apply change j of the batch. Returns DONE, or why it stopped."""
    status = lacks_room(store, state)
    if status != Status.DONE:
        return status
    kind, image = load_u8(state.kinds + j), load_i64(state.images + 8 * j)
    after = np.int64(load_i32(state.after_rows + 4 * j))
    if kind == INSERT:
        return insert_row(store, j, after, image, state)
    before = np.int64(load_i32(state.before_rows + 4 * j))
    if load_u8(store.searches + before) == NO_SEARCH:
        return Status.MISSING
    number = find_searched(store, before)
    if number == NO_ROOM:
        return Status.BUFFER_FULL
    if number < 0:
        return on_conflict(state, j, ROW_GONE, Status.MISSING)
    if kind == DELETE:
        delete_row(store, number, j, state)
        return Status.DONE
    return update_row(store, number, j, after, image, state)


@kernel
def apply_rows(n, store_address, state_address):
    """Apply n changes from the state's `next` on. Returns why it stopped. `before`, `after` and `searches` of the store
    are the batch's.

    DUPLICATE: `detail` is the number of the unique key. CONFLICTS_FULL and the like: continue when there is room.
    """
    store, state = store_at(store_address), state_at(state_address)
    j, status = state.next, Status.DONE
    while j < n:
        status = apply_change(store, j, state)
        if status != Status.DONE:
            break
        j += 1
    state.next = j
    return status
