# mypy: allow-untyped-defs, no-check-untyped-defs
"""The memory layout of the tables of a foreign-key group, for the kernels that apply their changes together.

    group     the tables, the stack of rows whose children are being searched, and scratch memory
    table     a row store with its state, which holds its table's changes, and its links
    link      a foreign key from the side of the referenced table: the other table's number, which of its indexes
              has the key, the action, and for each column its location in both tables. `order` is 0 if a row's
              children may be changed in any order; otherwise the address of the parts that follow the key in the
              server's index: int64 [n, n parts], ~part for a descending one. `moves`: changes below a child may move
              its siblings in that index
    form      the shared parts of a column in both stores' records: the parts that a child takes from its parent's
"""

import numpy as np

from applier.apply.index.store.store_layout import INDEX
from keysearch.memory import copy_bytes, inline
from keysearch.records import struct

GROUP, group_at, _ = struct("group", **dict.fromkeys((
    "tables", "stack", "stack_room", "stacked", "scratch", "scratch_room", "scratch_used", "change_at", "is_cleared",
    "which"), np.int64))
TABLE, _, _table = struct("table", **dict.fromkeys((
    "store", "state", "links", "n_links", "n_tracked", "first_value", "tracked_columns", "derived", "derived_room",
    "n_derived", "first_derived", "made"), np.int64))
LINK, _, link_at = struct("foreign key", **dict.fromkeys((
    "child", "child_index", "on_delete", "on_update", "columns", "n_columns", "order", "moves"), np.int64), probe=INDEX)
"""`probe` is an index over the parent's parts, by which hashes are computed."""
KEY_COLUMN, _, key_column_at = struct("column of a foreign key", **dict.fromkeys((
    "parent_tracked", "child_tracked", "parent_key", "child_key", "parent_raw", "forms", "n_forms"), np.int64))
FORM, form_at, _ = struct("form", **dict.fromkeys(("child_part", "parent_part", "null_bytes", "null_length"),
                                                  np.int64))
FORM_BYTES = FORM.itemsize
ROW, _, _row = struct("row of the stack", **dict.fromkeys((
    "table", "kind", "old", "new", "sources", "link_at", "children", "n_children", "made_at", "last", "last_order",
    "derived_at"), np.int64))
"""A row whose children are searched: its table; whether it was updated or deleted; and where scratch memory has its old
record, its new record, and the source of the new value of each followed column. Then the progress with its children:
the link; where scratch memory has the list of slots of the remaining children, the next one last; their number (-1: not
searched yet); the value of `made` of their table after the last child, where that child's record is and what its order
was (if the link `moves`); and the derived row for the link's children (-1: none yet)."""

NOTHING, CASCADE, SET_NULL = range(3)
UNCHANGED, NULL = -1, -2
"""Numbers that do not stand for logged values."""
VALUE_SHIFT = 32
"""A value's number: the number of its column from this bit on, below it the row of the batch's after-images."""


@inline
def table_at(group, number):
    return _table(group.tables, number)


@inline
def row_at(group, number):
    return _row(group.stack, number)


@inline
def to_scratch(group, record, size):
    """Copy a record to scratch memory, or only reserve room if `record` is 0. Returns its offset; -1 if it does not
    fit."""
    used = group.scratch_used
    if size > group.scratch_room - used:
        return np.int64(-1)
    if record:
        copy_bytes(group.scratch + used, record, size)
    group.scratch_used = used + (size + 7) // 8 * 8
    return used


@inline
def push_row(group, table, kind, old, new, sources):
    """Push a row on the stack; there must be room."""
    number = group.stacked
    row = row_at(group, number)
    row.table = table
    row.kind = kind
    row.old = old
    row.new = new
    row.sources = sources
    row.link_at = 0
    row.n_children = -1
    row.derived_at = -1
    group.stacked = number + 1
