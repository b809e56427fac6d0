# mypy: allow-untyped-defs, no-check-untyped-defs
"""Applies the changes of several tables in commit order, with the effects of their foreign keys on other rows (AP-FK).

The store's own kernel applies a change. If rows of other tables refer to the changed row, its previous version is
pushed on a stack (cascade_layout); its children are changed one by one (cascade_children), each followed by its own
children. This is InnoDB's order, which matters if several foreign keys have a column in common.
"""

import numpy as np

from applier.apply.foreign_keys.cascade_children import change_children
from applier.apply.foreign_keys.cascade_layout import (
    VALUE_SHIFT,
    group_at,
    link_at,
    push_row,
    row_at,
    table_at,
    to_scratch,
)
from applier.apply.index.pointer_kernel import state_at
from applier.apply.index.status import Status
from applier.apply.index.store.store_kernel import apply_rows
from applier.apply.index.store.store_layout import find, has_null, index_at, record_of, slot_at, store_at
from applier.apply.index.store.store_slots import NO_ROOM, encode_record_at_end, find_searched
from applier.binlog.rows.change_records import DELETE, INSERT, UPDATE
from keysearch.memory import inline, kernel, load_i32, load_i64, load_u8, store_i64


@inline
def drain(group):
    """Change the children of all rows on the stack. Returns DONE, or the status of a full buffer."""
    while group.stacked > 0:
        row = row_at(group, group.stacked - 1)
        table = table_at(group, row.table)
        if row.link_at >= table.n_links:
            group.scratch_used = row.old
            group.stacked -= 1
            continue
        link = link_at(table.links, row.link_at)
        status = change_children(group, row, link)
        if status == Status.DONE:
            row.link_at += 1
            row.n_children = -1
            row.derived_at = -1
        elif status != Status.DESCENDS:
            return status
    return Status.DONE


@inline
def push_rows_in_the_way(group, number, table, row):
    """In idempotent mode, first delete the rows that an insert will replace, with their children."""
    store = store_at(table.store)
    n = store.n_parts
    if encode_record_at_end(store, store.after, row, 0, n) < 0:
        return Status.BUFFER_FULL
    record = store.buffer + store.buffer_used
    if store.n_unique > group.stack_room - group.stacked:
        return Status.STACK_FULL
    for key in range(store.n_unique - 1, -1, -1):  # the last one on the stack is the first to go
        index = index_at(store, key)
        if has_null(index, record, n):
            continue
        other = find(store, index, record, n)
        if other >= 0:
            slot = slot_at(store, other)
            old = to_scratch(group, record_of(store, slot), slot.size)
            if old < 0:
                group.stacked = 0
                group.scratch_used = 0
                return Status.SCRATCH_FULL
            push_row(group, number, DELETE, old, -1, -1)
    return Status.DONE


@inline
def apply_changes(table, last):
    """Apply a table's changes from `next` to `last` by its store alone."""
    return apply_rows(last + 1, table.store, table.state)


MAKES_NONE, AS_IT_IS, ENDS_ROW = 0, 1, 2
"""The effect of a change on rows that refer to its row: none, the change itself, or a deletion."""


@inline
def makes_none(table, change, cascades):
    """Return whether a change causes no others, whichever rows refer to its row."""
    if table.n_links == 0 or cascades == MAKES_NONE:
        return True
    state = state_at(table.state)
    return load_u8(state.kinds + change) == INSERT and state.noted == 0


@inline
def apply_parent(group, number, table, change, cascades):
    """Apply a change of a row to which others may refer, and push the row on the stack."""
    store, state = store_at(table.store), state_at(table.state)
    kind = load_u8(state.kinds + change)
    slot_number = find_searched(store, np.int64(load_i32(state.before_rows + 4 * change)))
    if slot_number == NO_ROOM:
        return Status.BUFFER_FULL
    if slot_number < 0:
        return apply_changes(table, change)
    tracked, slot = table.n_tracked, slot_at(store, slot_number)
    # what continues the stack must fit, as the change cannot be taken back: the new record is at most as long as its
    # tail
    old = to_scratch(group, record_of(store, slot), slot.size)
    sources = to_scratch(group, 0, 8 * tracked) if old >= 0 else np.int64(-1)
    new = np.int64(0)
    if kind == UPDATE and sources >= 0:
        after = np.int64(load_i32(state.after_rows + 4 * change))
        size = encode_record_at_end(store, store.after, after, record_of(store, slot),
                                    store.n_parts)
        if size < 0:
            group.scratch_used = 0
            return Status.BUFFER_FULL
        new = to_scratch(group, store.buffer + store.buffer_used, size)
        at = group.scratch + sources
        for i in range(tracked):
            store_i64(at + 8 * i, (table.first_value + i) << VALUE_SHIFT | after)
    if old < 0 or sources < 0 or new < 0:
        group.scratch_used = 0
        return Status.SCRATCH_FULL
    updated, is_update = state.updated, kind == UPDATE
    status = apply_changes(table, change)
    if status != Status.DONE:
        group.scratch_used = 0
        return status
    if is_update and state.updated == updated:  # idempotent mode has passed it over
        group.scratch_used = 0
        return Status.DONE
    push_row(group, number, DELETE if cascades == ENDS_ROW else np.int64(kind), old, new, sources)
    return Status.DONE


@kernel
def apply_group(count, tables, changes, cascades, group_address):
    """Apply `count` changes of several tables in order, from `change_at` on. `tables` (address of int64[count]) has the
    numbers of their tables in the group, `changes` their numbers in the table's batch, `cascades` (uint8) whether they
    may cause others. Returns why it stopped, at the table `which`: a status of `apply_rows`, or of a full buffer of the
    group."""
    group = group_at(group_address)
    while True:
        status = drain(group)
        if status != Status.DONE:
            return status
        j = group.change_at
        if j >= count:
            return Status.DONE
        number, change = load_i64(tables + 8 * j), load_i64(changes + 8 * j)
        table = table_at(group, number)
        group.which = number
        if makes_none(table, change, load_u8(cascades + j)):
            last = j
            while (last + 1 < count and load_i64(tables + 8 * (last + 1)) == number
                   and makes_none(table, load_i64(changes + 8 * (last + 1)), load_u8(cascades + last + 1))):
                last += 1
            status = apply_changes(table, load_i64(changes + 8 * last))
            if status != Status.DONE:
                group.change_at = j + state_at(table.state).next - change
                return status
            group.change_at = last + 1
            continue
        if load_u8(state_at(table.state).kinds + change) == INSERT:
            if group.is_cleared == 0:
                after = np.int64(load_i32(state_at(table.state).after_rows + 4 * change))
                status = push_rows_in_the_way(group, number, table, after)
                if status != Status.DONE:
                    return status
                group.is_cleared = 1
                continue
            status = apply_changes(table, change)
            if status == Status.DONE:
                group.is_cleared = 0
        else:
            if group.stack_room < 1:
                return Status.STACK_FULL
            status = apply_parent(group, number, table, change, load_u8(cascades + j))
        if status != Status.DONE:
            return status
        group.change_at = j + 1
