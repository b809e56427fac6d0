# mypy: allow-untyped-defs, no-check-untyped-defs
"""Applies the changes of several tables in commit order, with what their foreign keys do to other rows (AP-FK).

A change goes through the store's own kernel. Where rows of other tables refer to the row that it changed, the row as it
was goes on a stack (cascade_layout); its children are changed one by one (cascade_children), each followed by its own
children. That is InnoDB's order, which matters where several foreign keys have a column in common.
"""

import numpy as np

from applier.apply.foreign_keys.cascade_children import change_children
from applier.apply.foreign_keys.cascade_layout import (
    AFTER_ROWS,
    BEFORE_ROWS,
    CHANGE_AT,
    CHILD_LINKS,
    COLUMNS,
    DERIVED_AT,
    FIRST_VALUE,
    IMAGES,
    IS_CLEARED,
    KINDS,
    LINK_AT,
    LINK_WORDS,
    N_CHILD_LINKS,
    N_CHILDREN,
    N_TRACKED,
    OLD,
    PATCH_ARRAY,
    PRESENT,
    ROW_TABLE,
    ROW_WORDS,
    SCRATCH,
    SCRATCH_USED,
    STACK,
    STACK_ROOM,
    STACKED,
    STATE,
    STORE,
    VALUE_SHIFT,
    WHICH,
    push_row,
    table_at,
    to_scratch,
)
from applier.apply.index.pointer_kernel import add, state_at
from applier.apply.index.status import Status
from applier.apply.index.store_kernel import apply_rows
from applier.apply.index.store_layout import (
    AFTER,
    ARENA,
    ARENA_USED,
    BEFORE,
    N_PIECES,
    N_UNIQUE,
    NO_SEARCH,
    SEARCHES,
    SIZE,
    find,
    has_null,
    index_at,
    key_hash,
    record_of,
    slot_at,
)
from applier.apply.index.store_slots import encode_record_at_end
from applier.binlog.rows.change_records import DELETE, INSERT, UPDATE
from keysearch.memory import inline, kernel, load_i32, load_i64, load_u8, store_i64


@inline
def drain(group):
    """Change the children of all rows on the stack; DONE, or what is full."""
    while load_i64(group + STACKED) > 0:
        row = load_i64(group + STACK) + 8 * ROW_WORDS * (load_i64(group + STACKED) - 1)
        table = table_at(group, load_i64(row + ROW_TABLE))
        if load_i64(row + LINK_AT) >= load_i64(table + N_CHILD_LINKS):
            store_i64(group + SCRATCH_USED, load_i64(row + OLD))
            add(group + STACKED, -1)
            continue
        link = load_i64(table + CHILD_LINKS) + 8 * LINK_WORDS * load_i64(row + LINK_AT)
        status = change_children(group, row, link)
        if status == Status.DONE:
            add(row + LINK_AT, 1)
            store_i64(row + N_CHILDREN, -1)
            store_i64(row + DERIVED_AT, -1)
        elif status != Status.DESCENDS:
            return status
    return Status.DONE


@inline
def push_rows_in_the_way(group, number, table, row):
    """Idempotent mode: rows that an insert is going to replace are deleted first, with their children."""
    store = load_i64(table + STORE)
    n = load_i64(store + N_PIECES)
    if encode_record_at_end(store, load_i64(store + AFTER), row, 0, n) < 0:
        return Status.ARENA_FULL
    record = load_i64(store + ARENA) + load_i64(store + ARENA_USED)
    if load_i64(store + N_UNIQUE) > load_i64(group + STACK_ROOM) - load_i64(group + STACKED):
        return Status.STACK_FULL
    for key in range(load_i64(store + N_UNIQUE) - 1, -1, -1):  # the last one on the stack is the first to go
        index = index_at(store, key)
        if has_null(index, record, n):
            continue
        other = find(store, index, record, key_hash(index, record, n), n)
        if other >= 0:
            slot = slot_at(store, other)
            old = to_scratch(group, record_of(store, slot), load_i64(slot + SIZE))
            if old < 0:
                store_i64(group + STACKED, 0)
                store_i64(group + SCRATCH_USED, 0)
                return Status.SCRATCH_FULL
            push_row(group, number, DELETE, old, -1, -1)
    return Status.DONE


@inline
def found_row(table, row):
    """The slot that a before-image finds, -1 for none, -2 where there is no room to look."""
    store = load_i64(table + STORE)
    n, search = load_i64(store + N_PIECES), np.int64(load_u8(load_i64(store + SEARCHES) + row))
    if search == NO_SEARCH:
        return np.int64(-1)
    if encode_record_at_end(store, load_i64(store + BEFORE), row, 0, n) < 0:
        return np.int64(-2)
    index, record = index_at(store, search), load_i64(store + ARENA) + load_i64(store + ARENA_USED)
    return find(store, index, record, key_hash(index, record, n), n)


@inline
def apply_changes(table, last):
    """A table's changes from NEXT to `last`, by its store alone."""
    return apply_rows(last + 1, load_i64(table + KINDS), load_i64(table + BEFORE_ROWS), load_i64(table + AFTER_ROWS),
                      load_i64(table + IMAGES), load_i64(table + STORE), load_i64(table + PRESENT),
                      load_i64(table + COLUMNS), load_i64(table + PATCH_ARRAY), load_i64(table + STATE))


@inline
def makes_none(table, change, cascades):
    """Whether a change makes no others, whatever refers to its row."""
    if load_i64(table + N_CHILD_LINKS) == 0 or cascades == 0:
        return True
    kind = load_u8(load_i64(table + KINDS) + change)
    return kind == INSERT and state_at(load_i64(table + STATE)).noted == 0


@inline
def apply_parent(group, number, table, change):
    """A change of a row that others may refer to: apply it, and put the row on the stack."""
    store, state = load_i64(table + STORE), state_at(load_i64(table + STATE))
    kind = load_u8(load_i64(table + KINDS) + change)
    before = np.int64(load_i32(load_i64(table + BEFORE_ROWS) + 4 * change))
    slot_number = found_row(table, before)
    if slot_number == -2:
        return Status.ARENA_FULL
    if slot_number < 0:
        return apply_changes(table, change)
    tracked, slot = load_i64(table + N_TRACKED), slot_at(store, slot_number)
    # what goes on the stack must fit, as the change cannot be taken back: the new record is at most as long as its tail
    old = to_scratch(group, record_of(store, slot), load_i64(slot + SIZE))
    sources = to_scratch(group, 0, 8 * tracked) if old >= 0 else np.int64(-1)
    new = np.int64(0)
    if kind == UPDATE and sources >= 0:
        after = np.int64(load_i32(load_i64(table + AFTER_ROWS) + 4 * change))
        size = encode_record_at_end(store, load_i64(store + AFTER), after, record_of(store, slot),
                                    load_i64(store + N_PIECES))
        if size < 0:
            store_i64(group + SCRATCH_USED, 0)
            return Status.ARENA_FULL
        new = to_scratch(group, load_i64(store + ARENA) + load_i64(store + ARENA_USED), size)
        at = load_i64(group + SCRATCH) + sources
        for i in range(tracked):
            store_i64(at + 8 * i, (load_i64(table + FIRST_VALUE) + i) << VALUE_SHIFT | after)
    if old < 0 or sources < 0 or new < 0:
        store_i64(group + SCRATCH_USED, 0)
        return Status.SCRATCH_FULL
    updated, is_update = state.updated, kind == UPDATE
    status = apply_changes(table, change)
    if status != Status.DONE:
        store_i64(group + SCRATCH_USED, 0)
        return status
    if is_update and state.updated == updated:  # idempotent mode has passed it over
        store_i64(group + SCRATCH_USED, 0)
        return Status.DONE
    push_row(group, number, np.int64(kind), old, new, sources)
    return Status.DONE


@kernel
def apply_group(count, tables, changes, cascades, group):
    """Apply `count` changes of several tables in order, from CHANGE_AT on: `tables` (address of int64[count]) has their
    tables' numbers in the group, `changes` theirs in their table's batch, `cascades` (uint8) whether they may make
    others. Says why it stopped, about the table WHICH: as `apply_rows` does, or what is full of the group."""
    while True:
        status = drain(group)
        if status != Status.DONE:
            return status
        j = load_i64(group + CHANGE_AT)
        if j >= count:
            return Status.DONE
        number, change = load_i64(tables + 8 * j), load_i64(changes + 8 * j)
        table = table_at(group, number)
        store_i64(group + WHICH, number)
        if makes_none(table, change, load_u8(cascades + j)):
            last = j
            while (last + 1 < count and load_i64(tables + 8 * (last + 1)) == number
                   and makes_none(table, load_i64(changes + 8 * (last + 1)), load_u8(cascades + last + 1))):
                last += 1
            status = apply_changes(table, load_i64(changes + 8 * last))
            if status != Status.DONE:
                store_i64(group + CHANGE_AT, j + state_at(load_i64(table + STATE)).next - change)
                return status
            store_i64(group + CHANGE_AT, last + 1)
            continue
        if load_u8(load_i64(table + KINDS) + change) == INSERT:
            if load_i64(group + IS_CLEARED) == 0:
                after = np.int64(load_i32(load_i64(table + AFTER_ROWS) + 4 * change))
                status = push_rows_in_the_way(group, number, table, after)
                if status != Status.DONE:
                    return status
                store_i64(group + IS_CLEARED, 1)
                continue
            status = apply_changes(table, change)
            if status == Status.DONE:
                store_i64(group + IS_CLEARED, 0)
        else:
            if load_i64(group + STACK_ROOM) < 1:
                return Status.STACK_FULL
            status = apply_parent(group, number, table, change)
        if status != Status.DONE:
            return status
        store_i64(group + CHANGE_AT, j + 1)
