# mypy: allow-untyped-defs, no-check-untyped-defs
"""Finds the rows that refer to an updated or deleted row, and their order (AP-FK).

InnoDB scans the index of a foreign key in the child's table entry by entry: ordered by the columns of the index after
the key, then by the clustered key, or in the order of arrival. It changes each row, and all rows that refer to it,
before it continues from there. So a row is skipped if it is changed meanwhile and its entry moves to a part of the
index that was scanned already (seen on MySQL 9.7 and MariaDB 10.11). If the order cannot matter (sibling_order),
children are taken in the order of their bucket.
"""

import numpy as np

from applier.apply.foreign_keys.cascade_layout import (
    key_column_at,
    to_scratch,
)
from applier.apply.index.store.store_layout import (
    compare_keys,
    index_at,
    key_hash,
    link_at,
    part_end,
    part_start,
    record_of,
    slot_at,
    store_at,
)
from applier.kernels.byte_strings import same_bytes
from keysearch.keybytes_kernel import compare_bytes
from keysearch.memory import inline, load_i64, store_i64


@inline
def same_part(a, a_n, a_part, b, b_n, b_part):
    """Return whether parts of two records are the same bytes."""
    a_start, b_start = part_start(a, a_n, a_part), part_start(b, b_n, b_part)
    length = part_end(a, a_n, a_part) - a_start
    return length == part_end(b, b_n, b_part) - b_start and same_bytes(a_start, b_start, length)


@inline
def refers_to(link, child, child_n, parent, parent_n):
    """Return whether a child's record has the key of a parent's."""
    for i in range(link.n_columns):
        column = key_column_at(link.columns, i)
        if not same_part(child, child_n, column.child_key, parent, parent_n, column.parent_key):
            return False
    return True


@inline
def is_entered_before(link, store, n, a, a_order, b, b_order):
    """Return whether row a comes before row b, with the same key, in the index; each is given by its record and its
    number of arrival."""
    order = link.order
    for i in range(load_i64(order)):
        part = load_i64(order + 8 + 8 * i)
        descends = part < 0
        if descends:
            part = ~part
        a_start, b_start = part_start(a, n, part), part_start(b, n, part)
        result = compare_bytes(a_start, part_end(a, n, part) - a_start, b_start, part_end(b, n, part) - b_start)
        if result:
            return (result > 0) == descends
    rank = store.rank
    if rank >= 0:
        result = compare_keys(index_at(store, rank), a, b, n)
        if result:
            return result < 0
    return a_order < b_order


@inline
def comes_before_slot(link, store, n, a, b):
    """Return the same for two slots, given by their numbers."""
    first, second = slot_at(store, a), slot_at(store, b)
    return is_entered_before(link, store, n, record_of(store, first), first.order,
                             record_of(store, second), second.order)


@inline
def sift_down(link, store, n, numbers, at, end):
    """Make numbers[at:end], whose parts below `at` are heaps, a heap; its first element is the first in the index."""
    while 2 * at + 1 < end:
        below = 2 * at + 1
        if below + 1 < end and comes_before_slot(link, store, n, load_i64(numbers + 8 * below + 8),
                                                 load_i64(numbers + 8 * below)):
            below += 1
        number, other = load_i64(numbers + 8 * at), load_i64(numbers + 8 * below)
        if not comes_before_slot(link, store, n, other, number):
            return
        store_i64(numbers + 8 * at, other)
        store_i64(numbers + 8 * below, number)
        at = below


@inline
def sort_backwards(link, store, n, numbers, count):
    """Sort slot numbers (address of int64) in descending order of the index: the first one in the index is last."""
    for at in range(count // 2 - 1, -1, -1):
        sift_down(link, store, n, numbers, np.int64(at), count)
    for end in range(count - 1, 0, -1):
        first = load_i64(numbers)
        store_i64(numbers, load_i64(numbers + 8 * end))
        store_i64(numbers + 8 * end, first)
        sift_down(link, store, n, numbers, np.int64(0), np.int64(end))


@inline
def note_children(group, row, link, child, old, parent_n, last):
    """List the rows that refer to the parent `old` in scratch memory, from CHILDREN on. Returns whether there was room.
    With a `last` record (else 0), only rows are listed whose entries come after its entry."""
    store = store_at(child.store)
    n, index = store.n_parts, index_at(store, link.child_index)
    word, links = key_hash(link.probe, old, parent_n), index.links
    numbers, count = group.scratch + row.children, np.int64(0)
    room = (group.scratch_room - row.children) // 8
    number = load_i64(index.heads + 8 * np.int64(word & np.uint64(index.mask)))
    while number >= 0:
        entry, slot = link_at(links, number), slot_at(store, number)
        record = record_of(store, slot)
        if entry.hash == word and refers_to(link, record, n, old, parent_n) and (
                last == 0 or is_entered_before(link, store, n, last, row.last_order, record,
                                               slot.order)):
            if count >= room:
                return False
            store_i64(numbers + 8 * count, number)
            count += 1
        number = entry.next
    if link.order:
        sort_backwards(link, store, n, numbers, count)
    row.n_children = count
    row.made_at = child.made
    group.scratch_used = row.children + 8 * count
    return True


@inline
def look_for_children(group, row, link, child, old, parent_n):
    """List the remaining children, unless the list exists and is valid. Returns whether there was room."""
    count = row.n_children
    if count < 0:
        row.children = group.scratch_used
        return note_children(group, row, link, child, old, parent_n, np.int64(0))
    if count == 0 or link.moves == 0 or row.made_at == child.made:
        return True
    # there are fewer now than before the last one, behind which that one's record lies
    return note_children(group, row, link, child, old, parent_n, group.scratch + row.last)


@inline
def next_child(group, row, link, child, old, parent_n):
    """Return the slot of the next child; -1 after the last one, when the list is dropped. A row that was changed may no
    longer be a child."""
    store, numbers = store_at(child.store), group.scratch + row.children
    n = store.n_parts
    for left in range(row.n_children, 0, -1):
        number = load_i64(numbers + 8 * (left - 1))
        slot = slot_at(store, number)
        if slot.record >= 0 and refers_to(link, record_of(store, slot), n, old, parent_n):
            row.n_children = left
            return number
    row.n_children = 0
    group.scratch_used = row.children
    return np.int64(-1)


@inline
def note_last(group, row, child, number):
    """Keep the record of a child that is about to be changed. Returns its offset in scratch memory; -1 if there is no
    room."""
    store = store_at(child.store)
    slot = slot_at(store, number)
    group.scratch_used = row.children + 8 * row.n_children
    last = to_scratch(group, record_of(store, slot), slot.size)
    row.last = last
    row.last_order = slot.order
    return last
