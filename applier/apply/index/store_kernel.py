# mypy: allow-untyped-defs, no-check-untyped-defs
"""The pointer algorithm for rows that are found by any key, or by all they hold: find_row, and both exec modes.

A store keeps, beside each row's pointer, the bytes of the columns that its indexes are over (store_layout). Indexes are
of two kinds: the table's unique keys, in the server's order, first the primary one; and one for each set of columns
that before-images are searched by, where several rows may be equal and the first in the table's order is the row.

Idempotent mode (APP-R7, AP-IDEM): an insert that meets rows takes their places; it keeps what its image does not have
from the last of them. An update or delete of a row that is not there, and an update to a key that is taken, is skipped.
Each is noted as a conflict. A before-image that has nothing to search by stops this mode, too, on MySQL (IDX-R2).

Rules: FIND, FIND-ROWS, IDX-R1 to R4, APP-R5 to R7, DEF-R1b, DEF-R2, AP-IDEM.
"""

import numpy as np

from applier.apply.index.pointer_kernel import (
    ROW_GONE,
    free_patch,
    no_patch_left,
    note,
    state_at,
    updated_pointer,
)
from applier.apply.index.status import Status
from applier.apply.index.store_layout import (
    NO_ROW,
    NO_SEARCH,
    WAITS,
    find,
    index_at,
    key_hash,
    record_of,
    slot_at,
    store_at,
)
from applier.apply.index.store_slots import add_slot, change_record, encode_record_at_end, remove_slot, taken_key
from applier.binlog.rows.change_records import DELETE, INSERT
from keysearch.memory import inline, kernel, load_i32, load_i64, load_u8


@inline
def insert_row(store, change, row, image, present, columns, patches, state, n):
    """One insert; DONE, or why it stopped. `replaced_row_…` is the row whose place it takes, over a stop for room."""
    while True:
        basis = store.replaced_row_record
        old = store.arena + basis if basis >= 0 else np.int64(0)
        size = encode_record_at_end(store, store.after, row, old, n)
        if size < 0:
            return Status.ARENA_FULL
        record = store.arena + store.arena_used
        taken = taken_key(store, record, n, -1, 0)
        if taken < 0:
            pointer = image
            if basis >= 0:
                pointer = updated_pointer(store.replaced_row_pointer, image, present, columns, patches, state)
            add_slot(store, pointer, size, n)
            state.live += 1
            break
        if not state.noted:
            store.detail = taken
            return Status.DUPLICATE
        other = store.detail
        slot = slot_at(store, other)
        if taken == store.n_unique - 1:
            size = encode_record_at_end(store, store.after, row, record_of(store, slot), n)
            if size < 0:
                return Status.ARENA_FULL
            slot.pointer = updated_pointer(slot.pointer, image, present, columns, patches, state)
            change_record(store, other, size, n)
            if basis >= 0:
                free_patch(store.replaced_row_pointer, patches, columns, state)
            note(state, change, taken)
            break
        if basis >= 0:
            free_patch(store.replaced_row_pointer, patches, columns, state)
        store.replaced_row_pointer = slot.pointer
        store.replaced_row_record = slot.record
        remove_slot(store, other)
        state.live -= 1
        note(state, change, taken)
    store.replaced_row_record = -1
    state.inserted += 1
    return Status.DONE


@kernel
def apply_rows(count, kinds, before_rows, after_rows, images, store_address, present, columns, patches,
               state_address):
    """Apply `count` changes from the state's `next` on; says why it stopped. `kinds` … `images` are the addresses of
    a batch's arrays, `store` of a store whose `before`, `after` and `searches` are
    the batch's.

    DUPLICATE: `detail` is the number of the unique key. CONFLICTS_FULL and the like: go on when there is room.
    """
    store, state = store_at(store_address), state_at(state_address)
    n = store.n_pieces
    idempotent = state.noted != 0
    j = state.next
    status = Status.DONE
    while j < count:
        if store.free_slot < 0 and store.slots_used >= store.slot_room:
            status = Status.INDEX_FULL
            break
        if no_patch_left(state):
            status = Status.PATCHES_FULL
            break
        if idempotent and store.n_unique >= state.noted_room - state.n_noted:
            status = Status.CONFLICTS_FULL
            break
        kind = load_u8(kinds + j)
        before, after = np.int64(load_i32(before_rows + 4 * j)), np.int64(load_i32(after_rows + 4 * j))
        image = load_i64(images + 8 * j)
        if kind == INSERT:
            status = insert_row(store, j, after, image, present, columns, patches, state, n)
            if status != Status.DONE:
                break
            j += 1
            continue
        search = np.int64(load_u8(store.searches + before))
        if search == NO_SEARCH:
            status = Status.MISSING
            break
        number = np.int64(-1)
        if search != NO_ROW:
            if encode_record_at_end(store, store.before, before, 0, n) < 0:
                status = Status.ARENA_FULL
                break
            index, record = index_at(store, search), store.arena + store.arena_used
            number = find(store, index, record, key_hash(index, record, n), n)
        if number < 0:
            if not idempotent:
                status = Status.MISSING
                break
            note(state, j, ROW_GONE)
            j += 1
            continue
        slot = slot_at(store, number)
        if kind == DELETE:
            free_patch(slot.pointer, patches, columns, state)
            remove_slot(store, number)
            state.live -= 1
            state.deleted += 1
            j += 1
            continue
        awaited = store.awaited
        if awaited:
            state_of_it = load_u8(awaited + after)
            if state_of_it == WAITS or (state_of_it and load_i64(store.awaited_of + 8 * after) != slot.record):
                status = Status.AWAITS
                break
        old = record_of(store, slot)
        size = encode_record_at_end(store, store.after, after, old, n)
        if size < 0:
            status = Status.ARENA_FULL
            break
        record = store.arena + store.arena_used
        taken = taken_key(store, record, n, number, old)
        if taken >= 0 and idempotent:
            note(state, j, taken)
            j += 1
            continue
        pointer = updated_pointer(slot.pointer, image, present, columns, patches, state)
        if taken >= 0:
            store.detail = taken
            status = Status.DUPLICATE
            break
        slot.pointer = pointer
        change_record(store, number, size, n)
        state.updated += 1
        j += 1
    state.next = j
    return status
