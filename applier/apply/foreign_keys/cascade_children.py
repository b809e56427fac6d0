# mypy: allow-untyped-defs, no-check-untyped-defs
"""Applies foreign keys to the rows that refer to one that was updated or deleted (AP-FK).

A child's new key is not copied: its columns point to a *derived* row of the base, whose content (the numbers of its
values, see `cascades`) is recorded. A child that may have children is pushed on the stack, and its children come before
the next child.
"""

import numpy as np

from applier.apply.foreign_keys.cascade_layout import (
    CASCADE,
    FORM_BYTES,
    NOTHING,
    NULL,
    SET_NULL,
    UNCHANGED,
    form_at,
    key_column_at,
    push_row,
    row_at,
    table_at,
    to_scratch,
)
from applier.apply.foreign_keys.cascade_siblings import look_for_children, next_child, note_last, same_part
from applier.apply.index.pointer_kernel import (
    NO_ROW,
    column_pointers_of,
    free_column_pointers,
    has_column_pointers,
    lacks_trace_room,
    new_column_pointers,
    no_column_pointers_left,
    own_column_pointers,
    state_at,
    trace,
)
from applier.apply.index.status import Status
from applier.apply.index.store.store_layout import has_null, part_end, part_start, record_of, slot_at, store_at
from applier.apply.index.store.store_slots import change_record, remove_slot
from applier.binlog.rows.change_records import DELETE, UPDATE
from keysearch.memory import copy_bytes, inline, load_i64, store_i64, store_u32


@inline
def key_changed(link, old, new, n):
    """Return whether an update changed a byte of the columns that a link's key references."""
    for i in range(link.n_columns):
        key_column = key_column_at(link.columns, i)
        raw = key_column.parent_raw
        if not same_part(old, n, raw, new, n, raw):
            return True
    return False


@inline
def given_form(link, part, changed, nulls, new, parent_n):
    """Return the address of the form by which a child's part becomes NULL or its parent's; 0 if the child keeps its
    own. `changed` is the old record of the parent."""
    for i in range(link.n_columns):
        key_column = key_column_at(link.columns, i)
        for j in range(key_column.n_forms):
            form = key_column.forms + FORM_BYTES * j
            if form_at(form).child_part == part:
                raw = key_column.parent_raw
                if not nulls and same_part(changed, parent_n, raw, new, parent_n, raw):
                    return np.int64(0)
                return form
    return np.int64(0)


@inline
def put_child_record(link, own, n, nulls, old, new, parent_n, to, room):
    """Write a child's new record at `to`. Returns its size in bytes; -1 if there is no room."""
    size = 4 * n
    for part in range(n):
        form = given_form(link, part, old, nulls, new, parent_n)
        if form == 0:
            size += part_end(own, n, part) - part_start(own, n, part)
        elif nulls:
            size += form_at(form).null_length
        else:
            given = form_at(form).parent_part
            size += part_end(new, parent_n, given) - part_start(new, parent_n, given)
    if size > room:
        return np.int64(-1)
    at, first = to + 4 * n, to + 4 * n
    for part in range(n):
        form = given_form(link, part, old, nulls, new, parent_n)
        if form == 0:
            start = part_start(own, n, part)
            length = part_end(own, n, part) - start
        elif nulls:
            start, length = form_at(form).null_bytes, form_at(form).null_length
        else:
            given = form_at(form).parent_part
            start = part_start(new, parent_n, given)
            length = part_end(new, parent_n, given) - start
        copy_bytes(at, start, length)
        at += length
        store_u32(to + 4 * part, np.uint32(at - first))
    return size


@inline
def to_column_pointers(slot, state):
    """Give a row column pointers that may be changed, and return their address. There must be a free record."""
    old = slot.pointer
    if has_column_pointers(old):
        slot.pointer = own_column_pointers(old, state)
        return column_pointers_of(slot.pointer, state)
    slot.pointer = new_column_pointers(state)
    pointers = column_pointers_of(slot.pointer, state)
    for column in range(state.columns):
        store_i64(pointers + 8 * column, old)
    return pointers


@inline
def derived_row(group, link, child, row, old, new, parent_n, nulls):
    """Return the number of a derived row with the values that this row of the stack gives to its children; -1 if there
    is no room."""
    number = child.n_derived
    if number >= child.derived_room:
        return np.int64(-1)
    tracked = child.n_tracked
    sources = child.derived + 8 * tracked * number
    for i in range(tracked):
        store_i64(sources + 8 * i, UNCHANGED)
    given = group.scratch + row.sources
    for i in range(link.n_columns):
        key_column = key_column_at(link.columns, i)
        raw = key_column.parent_raw
        source = np.int64(UNCHANGED)
        if nulls:
            source = np.int64(NULL)
        elif not same_part(old, parent_n, raw, new, parent_n, raw):
            source = load_i64(given + 8 * key_column.parent_tracked)
        store_i64(sources + 8 * key_column.child_tracked, source)
    child.n_derived = number + 1
    return number


@inline
def cause(group):
    """Return the cause of a step, which takes the place of a change's number: -1 minus the number, over all tables, of
    the change that triggered the foreign keys."""
    return -group.change_at if group.is_cleared == 0 else -1 - group.change_at


@inline
def remove_child(group, link, child, number):
    """Apply ON DELETE CASCADE to a child. Returns DONE, or the status of a full buffer."""
    store, state = store_at(child.store), state_at(child.state)
    slot = slot_at(store, number)
    if lacks_trace_room(state, 1):
        return Status.TRACE_FULL
    if child.n_links:
        if group.stacked >= group.stack_room:
            return Status.STACK_FULL
        old = to_scratch(group, record_of(store, slot), slot.size)
        if old < 0:
            return Status.SCRATCH_FULL
        push_row(group, link.child, DELETE, old, -1, -1)
    trace(state, cause(group), slot.pointer, NO_ROW, slot.order, NO_ROW)
    free_column_pointers(slot.pointer, state)
    remove_slot(store, number)
    state.live -= 1
    child.made += 1
    return Status.DONE


@inline
def change_child(group, link, child, number, row, old, new, parent_n, nulls):
    """Apply SET NULL (`nulls`) or ON UPDATE CASCADE to a child. Returns DONE, or the status of a full buffer. The
    parent was `old` and is `new`."""
    store, state = store_at(child.store), state_at(child.state)
    slot, n, tracked = slot_at(store, number), store.n_parts, child.n_tracked
    if no_column_pointers_left(state):
        return Status.COLUMN_POINTERS_FULL
    if lacks_trace_room(state, 1):
        return Status.TRACE_FULL
    if group.stacked >= group.stack_room:
        return Status.STACK_FULL
    own, tail = record_of(store, slot), store.buffer + store.buffer_used
    size = put_child_record(link, own, n, nulls, old, new, parent_n, tail,
                            store.buffer_room - store.buffer_used)
    if size < 0:
        return Status.BUFFER_FULL
    has_children, before, after, sources = child.n_links > 0, np.int64(0), np.int64(0), np.int64(0)
    if has_children:
        kept = group.scratch_used
        before = to_scratch(group, own, slot.size)
        after = to_scratch(group, tail, size) if before >= 0 else np.int64(-1)
        sources = to_scratch(group, 0, 8 * tracked) if after >= 0 else np.int64(-1)
        if sources < 0:
            group.scratch_used = kept
            return Status.SCRATCH_FULL
    derived = row.derived_at
    if derived < 0:
        derived = derived_row(group, link, child, row, old, new, parent_n, nulls)
        if derived < 0:
            return Status.DERIVED_FULL
        row.derived_at = derived
    given = child.derived + 8 * tracked * derived
    old_pointer = slot.pointer
    pointers, columns = to_column_pointers(slot, state), child.tracked_columns
    for i in range(tracked):
        if load_i64(given + 8 * i) != UNCHANGED:
            store_i64(pointers + 8 * load_i64(columns + 8 * i), child.first_derived + derived)
    trace(state, cause(group), old_pointer, slot.pointer, slot.order, slot.order)
    if has_children:
        copy_bytes(group.scratch + sources, given, 8 * tracked)
        push_row(group, link.child, UPDATE, before, after, sources)
    change_record(store, number, size, n)
    child.made += 1
    return Status.DONE


@inline
def is_updated_above(group, table):
    """Return whether a row of this table was updated further up on the stack, or is being updated."""
    for number in range(group.stacked):
        row = row_at(group, number)
        if row.table == table and row.kind == UPDATE:
            return True
    return False


@inline
def change_children(group, row, link):
    """Apply a link to the remaining children of a row on the stack. Returns DONE; DESCENDS after pushing a child, whose
    own children come before the next one; or the status of a full buffer of the table `which`."""
    scratch = group.scratch
    parent = table_at(group, row.table)
    parent_n = store_at(parent.store).n_parts
    old, new = scratch + row.old, scratch + row.new
    deleted = row.kind == DELETE
    action = link.on_delete if deleted else link.on_update
    if action == NOTHING or has_null(link.probe, old, parent_n):
        return Status.DONE
    if not deleted and not key_changed(link, old, new, parent_n):
        return Status.DONE
    if not deleted and is_updated_above(group, link.child):
        return Status.DONE  # InnoDB refuses that, but where the row that is updated gets its own old key to refer to
    child, stacked = table_at(group, link.child), group.stacked
    if not look_for_children(group, row, link, child, old, parent_n):
        return Status.SCRATCH_FULL
    while True:
        number = next_child(group, row, link, child, old, parent_n)
        if number < 0:
            return Status.DONE
        if link.moves and note_last(group, row, child, number) < 0:
            return Status.SCRATCH_FULL
        if deleted and action == CASCADE:
            status = remove_child(group, link, child, number)
        else:
            status = change_child(group, link, child, number, row, old, new, parent_n, action == SET_NULL)
        if status != Status.DONE:
            group.which = link.child
            return status
        row.n_children -= 1
        row.made_at = child.made
        if group.stacked != stacked:
            return Status.DESCENDS
