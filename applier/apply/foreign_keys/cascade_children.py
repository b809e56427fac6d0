# mypy: allow-untyped-defs, no-check-untyped-defs
"""What foreign keys do to the rows that refer to one that was updated or deleted (AP-FK).

A child's new key is not copied: its columns point to a *derived* row of the base, and what is in that (the number of a
value, see `cascades`) is noted for each. A child that may have children goes on the stack, and its come before the
next child.
"""

import numpy as np

from applier.apply.foreign_keys.cascade_layout import (
    CASCADE,
    CHILD,
    CHILD_PIECE,
    CHILD_TRACKED,
    COLUMNS,
    DERIVED,
    DERIVED_AT,
    DERIVED_ROOM,
    FIRST_DERIVED,
    FORM_BYTES,
    FORMS,
    MADE,
    MADE_AT,
    MOVES,
    N_CHILD_LINKS,
    N_CHILDREN,
    N_DERIVED,
    N_FORMS,
    N_PARTS,
    N_TRACKED,
    NEW,
    NOTHING,
    NULL,
    NULL_BYTES,
    NULL_LENGTH,
    OLD,
    ON_DELETE,
    ON_UPDATE,
    PARENT_PIECE,
    PARENT_RAW,
    PARENT_TRACKED,
    PART_WORDS,
    PARTS,
    PATCH_ARRAY,
    PROBE,
    ROW_KIND,
    ROW_TABLE,
    ROW_WORDS,
    SCRATCH,
    SCRATCH_USED,
    SET_NULL,
    SOURCES,
    STACK,
    STACK_ROOM,
    STACKED,
    STATE,
    STORE,
    TRACKED_COLUMNS,
    UNCHANGED,
    WHICH,
    push_row,
    table_at,
    to_scratch,
)
from applier.apply.foreign_keys.cascade_siblings import look_for_children, next_child, note_last, same_piece
from applier.apply.index.pointer_kernel import (
    PATCH_ID,
    add,
    free_patch,
    no_patch_left,
    patch_of,
    state_at,
)
from applier.apply.index.status import Status
from applier.apply.index.store_layout import (
    ARENA,
    ARENA_ROOM,
    ARENA_USED,
    N_PIECES,
    POINTER,
    SIZE,
    has_null,
    part_end,
    part_start,
    record_of,
    slot_at,
)
from applier.apply.index.store_slots import change_record, remove_slot
from applier.binlog.rows.change_records import DELETE, IMAGE_ID_SHIFT, UPDATE
from keysearch.memory import copy_bytes, inline, load_i64, store_i64, store_u32


@inline
def key_changed(link, old, new, n):
    """Whether an update changed a byte of what a link's key refers to."""
    part = load_i64(link + PARTS)
    for _ in range(load_i64(link + N_PARTS)):
        raw = load_i64(part + PARENT_RAW)
        if not same_piece(old, n, raw, new, n, raw):
            return True
        part += 8 * PART_WORDS
    return False


@inline
def given_form(link, piece, changed, nulls, new, parent_n):
    """The form by which a child's piece is NULL or its parent's; 0 where the child keeps its own. `changed` is the old
    record of the parent."""
    part = load_i64(link + PARTS)
    for _ in range(load_i64(link + N_PARTS)):
        form = load_i64(part + FORMS)
        for _ in range(load_i64(part + N_FORMS)):
            if load_i64(form + CHILD_PIECE) == piece:
                raw = load_i64(part + PARENT_RAW)
                if not nulls and same_piece(changed, parent_n, raw, new, parent_n, raw):
                    return np.int64(0)
                return form
            form += FORM_BYTES
        part += 8 * PART_WORDS
    return np.int64(0)


@inline
def put_child_record(link, own, n, nulls, old, new, parent_n, to, room):
    """Write a child's new record at `to`; its bytes, -1 if there is no room."""
    size = 4 * n
    for piece in range(n):
        form = given_form(link, piece, old, nulls, new, parent_n)
        if form == 0:
            size += part_end(own, n, piece) - part_start(own, n, piece)
        elif nulls:
            size += load_i64(form + NULL_LENGTH)
        else:
            given = load_i64(form + PARENT_PIECE)
            size += part_end(new, parent_n, given) - part_start(new, parent_n, given)
    if size > room:
        return np.int64(-1)
    at, first = to + 4 * n, to + 4 * n
    for piece in range(n):
        form = given_form(link, piece, old, nulls, new, parent_n)
        if form == 0:
            start = part_start(own, n, piece)
            length = part_end(own, n, piece) - start
        elif nulls:
            start, length = load_i64(form + NULL_BYTES), load_i64(form + NULL_LENGTH)
        else:
            start = part_start(new, parent_n, load_i64(form + PARENT_PIECE))
            length = part_end(new, parent_n, load_i64(form + PARENT_PIECE)) - start
        copy_bytes(at, start, length)
        at += length
        store_u32(to + 4 * piece, np.uint32(at - first))
    return size


@inline
def own_patch(child, slot):
    """The address of the patch of a row, which it has afterwards; there has to be one left."""
    state = state_at(load_i64(child + STATE))
    columns, patches = load_i64(child + COLUMNS), load_i64(child + PATCH_ARRAY)
    old = load_i64(slot + POINTER)
    if old >> IMAGE_ID_SHIFT == PATCH_ID:
        return patch_of(old, patches, columns)
    number = state.free_patch
    if number >= 0:
        state.free_patch = load_i64(patches + 8 * columns * number)
    else:
        number = state.patches
        state.patches = number + 1
    pointer = (np.int64(PATCH_ID) << IMAGE_ID_SHIFT) | number
    patch = patch_of(pointer, patches, columns)
    for column in range(columns):
        store_i64(patch + 8 * column, old)
    store_i64(slot + POINTER, pointer)
    return patch


@inline
def derived_row(group, link, child, row, old, new, parent_n, nulls):
    """The number of a derived row with what this row of the stack gives its children; -1 if there is no room."""
    number = load_i64(child + N_DERIVED)
    if number >= load_i64(child + DERIVED_ROOM):
        return np.int64(-1)
    tracked = load_i64(child + N_TRACKED)
    sources = load_i64(child + DERIVED) + 8 * tracked * number
    for i in range(tracked):
        store_i64(sources + 8 * i, UNCHANGED)
    given = load_i64(group + SCRATCH) + load_i64(row + SOURCES)
    part = load_i64(link + PARTS)
    for _ in range(load_i64(link + N_PARTS)):
        raw = load_i64(part + PARENT_RAW)
        source = np.int64(UNCHANGED)
        if nulls:
            source = np.int64(NULL)
        elif not same_piece(old, parent_n, raw, new, parent_n, raw):
            source = load_i64(given + 8 * load_i64(part + PARENT_TRACKED))
        store_i64(sources + 8 * load_i64(part + CHILD_TRACKED), source)
        part += 8 * PART_WORDS
    store_i64(child + N_DERIVED, number + 1)
    return number


@inline
def remove_child(group, link, child, number):
    """ON DELETE CASCADE; DONE, or what is full."""
    store = load_i64(child + STORE)
    slot = slot_at(store, number)
    if load_i64(child + N_CHILD_LINKS):
        if load_i64(group + STACKED) >= load_i64(group + STACK_ROOM):
            return Status.STACK_FULL
        old = to_scratch(group, record_of(store, slot), load_i64(slot + SIZE))
        if old < 0:
            return Status.SCRATCH_FULL
        push_row(group, load_i64(link + CHILD), DELETE, old, -1, -1)
    state = state_at(load_i64(child + STATE))
    free_patch(load_i64(slot + POINTER), load_i64(child + PATCH_ARRAY), load_i64(child + COLUMNS), state)
    remove_slot(store, number)
    state.live -= 1
    add(child + MADE, 1)
    return Status.DONE


@inline
def change_child(group, link, child, number, row, old, new, parent_n, nulls):
    """SET NULL (`nulls`) or ON UPDATE CASCADE; DONE, or what is full. The parent was `old` and is `new`."""
    store, state = load_i64(child + STORE), state_at(load_i64(child + STATE))
    slot, n, tracked = slot_at(store, number), load_i64(store + N_PIECES), load_i64(child + N_TRACKED)
    if no_patch_left(state):
        return Status.PATCHES_FULL
    if load_i64(group + STACKED) >= load_i64(group + STACK_ROOM):
        return Status.STACK_FULL
    own, tail = record_of(store, slot), load_i64(store + ARENA) + load_i64(store + ARENA_USED)
    size = put_child_record(link, own, n, nulls, old, new, parent_n, tail,
                            load_i64(store + ARENA_ROOM) - load_i64(store + ARENA_USED))
    if size < 0:
        return Status.ARENA_FULL
    has_children, before, after, sources = load_i64(child + N_CHILD_LINKS) > 0, np.int64(0), np.int64(0), np.int64(0)
    if has_children:
        kept = load_i64(group + SCRATCH_USED)
        before = to_scratch(group, own, load_i64(slot + SIZE))
        after = to_scratch(group, tail, size) if before >= 0 else np.int64(-1)
        sources = to_scratch(group, 0, 8 * tracked) if after >= 0 else np.int64(-1)
        if sources < 0:
            store_i64(group + SCRATCH_USED, kept)
            return Status.SCRATCH_FULL
    derived = load_i64(row + DERIVED_AT)
    if derived < 0:
        derived = derived_row(group, link, child, row, old, new, parent_n, nulls)
        if derived < 0:
            return Status.DERIVED_FULL
        store_i64(row + DERIVED_AT, derived)
    given = load_i64(child + DERIVED) + 8 * tracked * derived
    patch, columns = own_patch(child, slot), load_i64(child + TRACKED_COLUMNS)
    for i in range(tracked):
        if load_i64(given + 8 * i) != UNCHANGED:
            store_i64(patch + 8 * load_i64(columns + 8 * i), load_i64(child + FIRST_DERIVED) + derived)
    if has_children:
        copy_bytes(load_i64(group + SCRATCH) + sources, given, 8 * tracked)
        push_row(group, load_i64(link + CHILD), UPDATE, before, after, sources)
    change_record(store, number, size, n)
    add(child + MADE, 1)
    return Status.DONE


@inline
def is_updated_above(group, table):
    """Whether a row of a table was updated above, or is what is updated now."""
    for number in range(load_i64(group + STACKED)):
        row = load_i64(group + STACK) + 8 * ROW_WORDS * number
        if load_i64(row + ROW_TABLE) == table and load_i64(row + ROW_KIND) == UPDATE:
            return True
    return False


@inline
def change_children(group, row, link):
    """What a link does for a row on the stack, from SLOT_AT on: DONE; DESCENDS after a child that is on the stack now,
    with children to come before the next one; or what is full of the table WHICH."""
    scratch = load_i64(group + SCRATCH)
    parent = table_at(group, load_i64(row + ROW_TABLE))
    parent_n = load_i64(load_i64(parent + STORE) + N_PIECES)
    old, new = scratch + load_i64(row + OLD), scratch + load_i64(row + NEW)
    deleted = load_i64(row + ROW_KIND) == DELETE
    action = load_i64(link + ON_DELETE) if deleted else load_i64(link + ON_UPDATE)
    if action == NOTHING or has_null(link + PROBE, old, parent_n):
        return Status.DONE
    if not deleted and not key_changed(link, old, new, parent_n):
        return Status.DONE
    if not deleted and is_updated_above(group, load_i64(link + CHILD)):
        return Status.DONE  # InnoDB refuses that, but where the row that is updated gets its own old key to refer to
    child, stacked = table_at(group, load_i64(link + CHILD)), load_i64(group + STACKED)
    if not look_for_children(group, row, link, child, old, parent_n):
        return Status.SCRATCH_FULL
    while True:
        number = next_child(group, row, link, child, old, parent_n)
        if number < 0:
            return Status.DONE
        if load_i64(link + MOVES) and note_last(group, row, child, number) < 0:
            return Status.SCRATCH_FULL
        if deleted and action == CASCADE:
            status = remove_child(group, link, child, number)
        else:
            status = change_child(group, link, child, number, row, old, new, parent_n, action == SET_NULL)
        if status != Status.DONE:
            store_i64(group + WHICH, load_i64(link + CHILD))
            return status
        add(row + N_CHILDREN, -1)
        store_i64(row + MADE_AT, load_i64(child + MADE))
        if load_i64(group + STACKED) != stacked:
            return Status.DESCENDS
