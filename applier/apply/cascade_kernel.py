"""Applies the changes of several tables in commit order, with what their foreign keys do to other rows (AP-FK).

    group     the tables, the queue of rows whose children are still to be looked for, and scratch memory
    table     a row store, its table's changes, and its links
    link      a foreign key from the side of the table that it refers to: the other table's number, which of its indexes
              has the key, what happens, and for each column where both tables have it
    form      the pieces of both stores that are the same part of a column: what its child's takes from its parent's

A change goes through the store's own kernel. Where rows of other tables refer to the row that it changed, the row as it
was goes into the queue; its children are changed one by one, and queue up in turn where they may have children. That is
InnoDB's order but for depth, which no row can tell. A child's new key is not copied: its columns point to a *derived*
row of the base, and what is in that (the number of a value, see applier.apply.cascades) is noted for each.
"""

import numpy as np

from applier.apply.pointer_kernel import (
    ARENA_FULL,
    DONE,
    LIVE,
    NEXT,
    PATCH_ID,
    PATCHES,
    PATCHES_FULL,
    UPDATED,
    add,
    free_patch,
    no_patch_left,
    patch_of,
)
from applier.apply.pointer_kernel import FREE_PATCH as FREE
from applier.apply.store_kernel import apply_rows
from applier.apply.store_layout import (
    AFTER,
    ARENA,
    ARENA_ROOM,
    ARENA_USED,
    BEFORE,
    HEADS,
    IDEMPOTENT,
    INDEX_BYTES,
    LINK_BYTES,
    LINK_HASH,
    LINK_NEXT,
    LINKS,
    MASK,
    N_PIECES,
    N_UNIQUE,
    NO_SEARCH,
    POINTER,
    SEARCHES,
    SIZE,
    find,
    has_null,
    index_at,
    key_hash,
    piece_end,
    piece_start,
    record_of,
    slot_at,
)
from applier.apply.store_slots import change_record, remove_slot, take_tail
from applier.binlog.change_records import DELETE, IMAGE_ID_SHIFT, INSERT, UPDATE
from applier.binlog.table_ids_kernel import same_bytes
from keysearch.memory import (
    copy_bytes,
    inline,
    kernel,
    load_i32,
    load_i64,
    load_u8,
    load_u64,
    store_i64,
    store_u32,
)

# a group
(TABLES, QUEUE, QUEUE_ROOM, QUEUED, AT, LINK_AT, SLOT_AT, SCRATCH, SCRATCH_ROOM, SCRATCH_USED, DERIVED_AT, CHANGE_AT,
 IS_CLEARED, WHICH) = range(0, 112, 8)
GROUP_WORDS = 16

# a table
(STORE, STATE, PRESENT, PATCH_ARRAY, COLUMNS, KINDS, BEFORE_ROWS, AFTER_ROWS, IMAGES, CHILD_LINKS, N_CHILD_LINKS,
 N_TRACKED, FIRST_VALUE, TRACKED_COLUMNS, DERIVED, DERIVED_ROOM, N_DERIVED, FIRST_DERIVED, MADE) = range(0, 152, 8)
TABLE_WORDS = 20

# a link, and a column of it
CHILD, CHILD_INDEX, ON_DELETE, ON_UPDATE, PARTS, N_PARTS = range(0, 48, 8)
PROBE = 64
"""Of a link: an index's record with the parent's pieces, to compute hashes by."""
LINK_WORDS = (PROBE + INDEX_BYTES) // 8
PARENT_TRACKED, CHILD_TRACKED, PARENT_KEY, CHILD_KEY, PARENT_RAW, FORMS, N_FORMS = range(0, 56, 8)
PART_WORDS = 8
CHILD_PIECE, PARENT_PIECE, NULL_BYTES, NULL_LENGTH = range(0, 32, 8)
FORM_BYTES = 32

# a queued row: its table, whether it was updated or deleted, and where in scratch memory is what it was, what it is,
# and for each tracked column where its new value comes from
ROW_TABLE, ROW_KIND, OLD, NEW, SOURCES = range(0, 40, 8)
ROW_WORDS = 8

NOTHING, CASCADE, SET_NULL = range(3)
UNCHANGED, NULL = -1, -2
"""Sources of values besides the number of a value in the log."""
VALUE_SHIFT = 32
"""A value's number: that of its column above this bit, the row of the batch's after-images below."""

QUEUE_FULL, SCRATCH_FULL, DERIVED_FULL = range(100, 103)


@inline
def table_at(group, number):
    return load_i64(group + TABLES) + 8 * TABLE_WORDS * number


@inline
def to_scratch(group, record, size):
    """A copy of a record, or room where `record` is 0: its offset; -1 if it does not fit."""
    used = load_i64(group + SCRATCH_USED)
    if used + size > load_i64(group + SCRATCH_ROOM):
        return np.int64(-1)
    if record:
        copy_bytes(load_i64(group + SCRATCH) + used, record, size)
    store_i64(group + SCRATCH_USED, used + (size + 7) // 8 * 8)
    return used


@inline
def queue_row(group, table, kind, old, new, sources):
    """Put a row into the queue; there has to be room."""
    number = load_i64(group + QUEUED)
    row = load_i64(group + QUEUE) + 8 * ROW_WORDS * number
    store_i64(row + ROW_TABLE, table)
    store_i64(row + ROW_KIND, kind)
    store_i64(row + OLD, old)
    store_i64(row + NEW, new)
    store_i64(row + SOURCES, sources)
    store_i64(group + QUEUED, number + 1)


@inline
def same_piece(a, a_n, a_piece, b, b_n, b_piece):
    """Whether pieces of two records are the same bytes."""
    a_start, b_start = piece_start(a, a_n, a_piece), piece_start(b, b_n, b_piece)
    length = piece_end(a, a_n, a_piece) - a_start
    return length == piece_end(b, b_n, b_piece) - b_start and same_bytes(a_start, b_start, length)


@inline
def refers_to(link, child, child_n, parent, parent_n):
    """Whether a child's record has the key of a parent's."""
    part = load_i64(link + PARTS)
    for _ in range(load_i64(link + N_PARTS)):
        if not same_piece(child, child_n, load_i64(part + CHILD_KEY), parent, parent_n, load_i64(part + PARENT_KEY)):
            return False
        part += 8 * PART_WORDS
    return True


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
def next_child(group, link, old, parent_n, from_slot):
    """The next row after `from_slot` (-1: from the first on) that refers to the parent `old`; -1 if there is none."""
    child = table_at(group, load_i64(link + CHILD))
    store = load_i64(child + STORE)
    n, index = load_i64(store + N_PIECES), index_at(store, load_i64(link + CHILD_INDEX))
    word = key_hash(link + PROBE, old, parent_n)
    links = load_i64(index + LINKS)
    if from_slot == -1:
        number = load_i64(load_i64(index + HEADS) + 8 * np.int64(word & np.uint64(load_i64(index + MASK))))
    else:
        number = load_i64(links + LINK_BYTES * from_slot + LINK_NEXT)
    while number >= 0:
        at = links + LINK_BYTES * number
        if load_u64(at + LINK_HASH) == word and refers_to(link, record_of(store, slot_at(store, number)), n, old,
                                                          parent_n):
            return number
        number = load_i64(at + LINK_NEXT)
    return np.int64(-1)


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
            size += piece_end(own, n, piece) - piece_start(own, n, piece)
        elif nulls:
            size += load_i64(form + NULL_LENGTH)
        else:
            given = load_i64(form + PARENT_PIECE)
            size += piece_end(new, parent_n, given) - piece_start(new, parent_n, given)
    if size > room:
        return np.int64(-1)
    at, first = to + 4 * n, to + 4 * n
    for piece in range(n):
        form = given_form(link, piece, old, nulls, new, parent_n)
        if form == 0:
            start = piece_start(own, n, piece)
            length = piece_end(own, n, piece) - start
        elif nulls:
            start, length = load_i64(form + NULL_BYTES), load_i64(form + NULL_LENGTH)
        else:
            start = piece_start(new, parent_n, load_i64(form + PARENT_PIECE))
            length = piece_end(new, parent_n, load_i64(form + PARENT_PIECE)) - start
        copy_bytes(at, start, length)
        at += length
        store_u32(to + 4 * piece, np.uint32(at - first))
    return size


@inline
def own_patch(child, slot):
    """The address of the patch of a row, which it has afterwards; there has to be one left."""
    state, columns, patches = load_i64(child + STATE), load_i64(child + COLUMNS), load_i64(child + PATCH_ARRAY)
    old = load_i64(slot + POINTER)
    if old >> IMAGE_ID_SHIFT == PATCH_ID:
        return patch_of(old, patches, columns)
    number = load_i64(state + FREE)
    if number >= 0:
        store_i64(state + FREE, load_i64(patches + 8 * columns * number))
    else:
        number = load_i64(state + PATCHES)
        store_i64(state + PATCHES, number + 1)
    pointer = (np.int64(PATCH_ID) << IMAGE_ID_SHIFT) | number
    patch = patch_of(pointer, patches, columns)
    for column in range(columns):
        store_i64(patch + 8 * column, old)
    store_i64(slot + POINTER, pointer)
    return patch


@inline
def derived_row(group, link, child, row, old, new, parent_n, nulls):
    """The number of a derived row with what this row of the queue gives its children; -1 if there is no room."""
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
        if load_i64(group + QUEUED) >= load_i64(group + QUEUE_ROOM):
            return QUEUE_FULL
        old = to_scratch(group, record_of(store, slot), load_i64(slot + SIZE))
        if old < 0:
            return SCRATCH_FULL
        queue_row(group, load_i64(link + CHILD), DELETE, old, -1, -1)
    state = load_i64(child + STATE)
    free_patch(load_i64(slot + POINTER), load_i64(child + PATCH_ARRAY), load_i64(child + COLUMNS), state)
    remove_slot(store, number)
    add(state + LIVE, -1)
    add(child + MADE, 1)
    return DONE


@inline
def change_child(group, link, child, number, row, old, new, parent_n, nulls):
    """SET NULL (`nulls`) or ON UPDATE CASCADE; DONE, or what is full. The parent was `old` and is `new`."""
    store, state = load_i64(child + STORE), load_i64(child + STATE)
    slot, n, tracked = slot_at(store, number), load_i64(store + N_PIECES), load_i64(child + N_TRACKED)
    if no_patch_left(state):
        return PATCHES_FULL
    if load_i64(group + QUEUED) >= load_i64(group + QUEUE_ROOM):
        return QUEUE_FULL
    own, tail = record_of(store, slot), load_i64(store + ARENA) + load_i64(store + ARENA_USED)
    size = put_child_record(link, own, n, nulls, old, new, parent_n, tail,
                            load_i64(store + ARENA_ROOM) - load_i64(store + ARENA_USED))
    if size < 0:
        return ARENA_FULL
    has_children, before, after, sources = load_i64(child + N_CHILD_LINKS) > 0, np.int64(0), np.int64(0), np.int64(0)
    if has_children:
        kept = load_i64(group + SCRATCH_USED)
        before = to_scratch(group, own, load_i64(slot + SIZE))
        after = to_scratch(group, tail, size) if before >= 0 else np.int64(-1)
        sources = to_scratch(group, 0, 8 * tracked) if after >= 0 else np.int64(-1)
        if sources < 0:
            store_i64(group + SCRATCH_USED, kept)
            return SCRATCH_FULL
    derived = load_i64(group + DERIVED_AT)
    if derived < 0:
        derived = derived_row(group, link, child, row, old, new, parent_n, nulls)
        if derived < 0:
            return DERIVED_FULL
        store_i64(group + DERIVED_AT, derived)
    given = load_i64(child + DERIVED) + 8 * tracked * derived
    patch, columns = own_patch(child, slot), load_i64(child + TRACKED_COLUMNS)
    for i in range(tracked):
        if load_i64(given + 8 * i) != UNCHANGED:
            store_i64(patch + 8 * load_i64(columns + 8 * i), load_i64(child + FIRST_DERIVED) + derived)
    if has_children:
        copy_bytes(load_i64(group + SCRATCH) + sources, given, 8 * tracked)
        queue_row(group, load_i64(link + CHILD), UPDATE, before, after, sources)
    change_record(store, number, size, n)
    add(child + MADE, 1)
    return DONE


@inline
def change_children(group, row, link):
    """All that a link does for one row of the queue, from SLOT_AT on; DONE, or what is full of the table WHICH."""
    scratch = load_i64(group + SCRATCH)
    parent = table_at(group, load_i64(row + ROW_TABLE))
    parent_n = load_i64(load_i64(parent + STORE) + N_PIECES)
    old, new = scratch + load_i64(row + OLD), scratch + load_i64(row + NEW)
    deleted = load_i64(row + ROW_KIND) == DELETE
    action = load_i64(link + ON_DELETE) if deleted else load_i64(link + ON_UPDATE)
    if action == NOTHING or has_null(link + PROBE, old, parent_n):
        return DONE
    if not deleted and not key_changed(link, old, new, parent_n):
        return DONE
    child = table_at(group, load_i64(link + CHILD))
    number = load_i64(group + SLOT_AT)
    if number == -1:
        number = next_child(group, link, old, parent_n, np.int64(-1))
    while number >= 0:
        following = next_child(group, link, old, parent_n, number)
        if deleted and action == CASCADE:
            status = remove_child(group, link, child, number)
        else:
            status = change_child(group, link, child, number, row, old, new, parent_n, action == SET_NULL)
        if status != DONE:
            store_i64(group + SLOT_AT, number)
            store_i64(group + WHICH, load_i64(link + CHILD))
            return status
        number = following
    return DONE


@inline
def drain(group):
    """Change the children of all rows in the queue; DONE, or what is full."""
    while load_i64(group + AT) < load_i64(group + QUEUED):
        row = load_i64(group + QUEUE) + 8 * ROW_WORDS * load_i64(group + AT)
        table = table_at(group, load_i64(row + ROW_TABLE))
        while load_i64(group + LINK_AT) < load_i64(table + N_CHILD_LINKS):
            link = load_i64(table + CHILD_LINKS) + 8 * LINK_WORDS * load_i64(group + LINK_AT)
            status = change_children(group, row, link)
            if status != DONE:
                return status
            store_i64(group + SLOT_AT, -1)
            store_i64(group + DERIVED_AT, -1)
            add(group + LINK_AT, 1)
        store_i64(group + LINK_AT, 0)
        add(group + AT, 1)
    for word in (AT, QUEUED, SCRATCH_USED):
        store_i64(group + word, 0)
    return DONE


@inline
def queue_rows_in_the_way(group, number, table, row):
    """Idempotent mode: rows that an insert is going to replace are deleted first, with their children."""
    store = load_i64(table + STORE)
    n = load_i64(store + N_PIECES)
    if take_tail(store, load_i64(store + AFTER), row, 0, n) < 0:
        return ARENA_FULL
    record = load_i64(store + ARENA) + load_i64(store + ARENA_USED)
    if load_i64(group + QUEUED) + load_i64(store + N_UNIQUE) > load_i64(group + QUEUE_ROOM):
        return QUEUE_FULL
    for key in range(load_i64(store + N_UNIQUE)):
        index = index_at(store, key)
        if has_null(index, record, n):
            continue
        other = find(store, index, record, key_hash(index, record, n), n)
        if other >= 0:
            slot = slot_at(store, other)
            old = to_scratch(group, record_of(store, slot), load_i64(slot + SIZE))
            if old < 0:
                store_i64(group + QUEUED, 0)
                store_i64(group + SCRATCH_USED, 0)
                return SCRATCH_FULL
            queue_row(group, number, DELETE, old, -1, -1)
    return DONE


@inline
def found_row(table, row):
    """The slot that a before-image finds, -1 for none, -2 where there is no room to look."""
    store = load_i64(table + STORE)
    n, search = load_i64(store + N_PIECES), np.int64(load_u8(load_i64(store + SEARCHES) + row))
    if search == NO_SEARCH:
        return np.int64(-1)
    if take_tail(store, load_i64(store + BEFORE), row, 0, n) < 0:
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
    return kind == INSERT and load_i64(load_i64(table + STORE) + IDEMPOTENT) == 0


@inline
def apply_parent(group, number, table, change):
    """A change of a row that others may refer to: apply it, and queue the row."""
    store, state = load_i64(table + STORE), load_i64(table + STATE)
    kind = load_u8(load_i64(table + KINDS) + change)
    before = np.int64(load_i32(load_i64(table + BEFORE_ROWS) + 4 * change))
    slot_number = found_row(table, before)
    if slot_number == -2:
        return ARENA_FULL
    if slot_number < 0:
        return apply_changes(table, change)
    tracked, slot = load_i64(table + N_TRACKED), slot_at(store, slot_number)
    # what is queued must fit, as the change cannot be taken back: the new record is at most as long as its tail
    old = to_scratch(group, record_of(store, slot), load_i64(slot + SIZE))
    sources = to_scratch(group, 0, 8 * tracked) if old >= 0 else np.int64(-1)
    new = np.int64(0)
    if kind == UPDATE and sources >= 0:
        after = np.int64(load_i32(load_i64(table + AFTER_ROWS) + 4 * change))
        size = take_tail(store, load_i64(store + AFTER), after, record_of(store, slot), load_i64(store + N_PIECES))
        if size < 0:
            store_i64(group + SCRATCH_USED, 0)
            return ARENA_FULL
        new = to_scratch(group, load_i64(store + ARENA) + load_i64(store + ARENA_USED), size)
        at = load_i64(group + SCRATCH) + sources
        for i in range(tracked):
            store_i64(at + 8 * i, (load_i64(table + FIRST_VALUE) + i) << VALUE_SHIFT | after)
    if old < 0 or sources < 0 or new < 0:
        store_i64(group + SCRATCH_USED, 0)
        return SCRATCH_FULL
    updated, is_update = load_i64(state + UPDATED), kind == UPDATE
    status = apply_changes(table, change)
    if status != DONE:
        store_i64(group + SCRATCH_USED, 0)
        return status
    if is_update and load_i64(state + UPDATED) == updated:  # idempotent mode has passed it over
        store_i64(group + SCRATCH_USED, 0)
        return DONE
    queue_row(group, number, np.int64(kind), old, new, sources)
    return DONE


@kernel
def apply_group(count, tables, changes, cascades, group):
    """Apply `count` changes of several tables in order, from CHANGE_AT on: `tables` (address of int64[count]) has their
    tables' numbers in the group, `changes` theirs in their table's batch, `cascades` (uint8) whether they may make
    others. Says why it stopped, about the table WHICH: as `apply_rows` does, or what is full of the group."""
    while True:
        status = drain(group)
        if status != DONE:
            return status
        j = load_i64(group + CHANGE_AT)
        if j >= count:
            return DONE
        number, change = load_i64(tables + 8 * j), load_i64(changes + 8 * j)
        table = table_at(group, number)
        store_i64(group + WHICH, number)
        if makes_none(table, change, load_u8(cascades + j)):
            last = j
            while (last + 1 < count and load_i64(tables + 8 * (last + 1)) == number
                   and makes_none(table, load_i64(changes + 8 * (last + 1)), load_u8(cascades + last + 1))):
                last += 1
            status = apply_changes(table, load_i64(changes + 8 * last))
            if status != DONE:
                store_i64(group + CHANGE_AT, j + load_i64(load_i64(table + STATE) + NEXT) - change)
                return status
            store_i64(group + CHANGE_AT, last + 1)
            continue
        if load_u8(load_i64(table + KINDS) + change) == INSERT:
            if load_i64(group + IS_CLEARED) == 0:
                after = np.int64(load_i32(load_i64(table + AFTER_ROWS) + 4 * change))
                status = queue_rows_in_the_way(group, number, table, after)
                if status != DONE:
                    return status
                store_i64(group + IS_CLEARED, 1)
                continue
            status = apply_changes(table, change)
            if status == DONE:
                store_i64(group + IS_CLEARED, 0)
        else:
            if load_i64(group + QUEUE_ROOM) < 1:
                return QUEUE_FULL
            status = apply_parent(group, number, table, change)
        if status != DONE:
            return status
        store_i64(group + CHANGE_AT, j + 1)
