# mypy: allow-untyped-defs, no-check-untyped-defs
"""How tables that foreign keys tie lie in memory, for the kernels that apply their changes together.

    group     the tables, the stack of rows whose children are being looked for, and scratch memory
    table     a row store, its table's changes, and its links
    link      a foreign key from the side of the table that it refers to: the other table's number, which of its indexes
              has the key, what happens, and for each column where both tables have it. ORDER is 0 where a row's
              children may come in any order; else the address of what the server's index has behind the key: int64 [n,
              n pieces], ~piece for a descending one; MOVES: what happens below a child may change it in another
    form      the pieces of both stores that are the same part of a column: what its child's takes from its parent's

Everything goes by address (see pointer_kernel).
"""

import numpy as np

from applier.apply.index.store_layout import INDEX_BYTES
from keysearch.memory import copy_bytes, inline, load_i64, store_i64

# a group
(TABLES, STACK, STACK_ROOM, STACKED, SCRATCH, SCRATCH_ROOM, SCRATCH_USED, CHANGE_AT, IS_CLEARED,
 WHICH) = range(0, 80, 8)
GROUP_WORDS = 10

# a table
(STORE, STATE, PRESENT, PATCH_ARRAY, COLUMNS, KINDS, BEFORE_ROWS, AFTER_ROWS, IMAGES, CHILD_LINKS, N_CHILD_LINKS,
 N_TRACKED, FIRST_VALUE, TRACKED_COLUMNS, DERIVED, DERIVED_ROOM, N_DERIVED, FIRST_DERIVED, MADE) = range(0, 152, 8)
TABLE_WORDS = 20

# a link, and a column of it
CHILD, CHILD_INDEX, ON_DELETE, ON_UPDATE, PARTS, N_PARTS, ORDER, MOVES = range(0, 64, 8)
PROBE = 64
"""Of a link: an index's record with the parent's pieces, to compute hashes by."""
LINK_WORDS = (PROBE + INDEX_BYTES) // 8
PARENT_TRACKED, CHILD_TRACKED, PARENT_KEY, CHILD_KEY, PARENT_RAW, FORMS, N_FORMS = range(0, 56, 8)
PART_WORDS = 8
CHILD_PIECE, PARENT_PIECE, NULL_BYTES, NULL_LENGTH = range(0, 32, 8)
FORM_BYTES = 32

# a row on the stack: its table, whether it was updated or deleted, and where in scratch memory is what it was, what it
# is, and for each tracked column where its new value comes from; then how far its children are: the link, where in
# scratch memory those are noted that are to come (slots, the next one last), how many (-1: not looked for yet), what
# MADE of their table was after the last one, where that one's record and what its ORDER was (if the link MOVES), and
# the derived row that the link's children get (-1: none yet)
(ROW_TABLE, ROW_KIND, OLD, NEW, SOURCES, LINK_AT, CHILDREN, N_CHILDREN, MADE_AT, LAST, LAST_CAME,
 DERIVED_AT) = range(0, 96, 8)
ROW_WORDS = 12

NOTHING, CASCADE, SET_NULL = range(3)
UNCHANGED, NULL = -1, -2
"""Sources of values besides the number of a value in the log."""
VALUE_SHIFT = 32
"""A value's number: that of its column above this bit, the row of the batch's after-images below."""


@inline
def table_at(group, number):
    return load_i64(group + TABLES) + 8 * TABLE_WORDS * number


@inline
def to_scratch(group, record, size):
    """A copy of a record, or room where `record` is 0: its offset; -1 if it does not fit."""
    used = load_i64(group + SCRATCH_USED)
    if size > load_i64(group + SCRATCH_ROOM) - used:
        return np.int64(-1)
    if record:
        copy_bytes(load_i64(group + SCRATCH) + used, record, size)
    store_i64(group + SCRATCH_USED, used + (size + 7) // 8 * 8)
    return used


@inline
def push_row(group, table, kind, old, new, sources):
    """Put a row on the stack; there has to be room."""
    number = load_i64(group + STACKED)
    row = load_i64(group + STACK) + 8 * ROW_WORDS * number
    store_i64(row + ROW_TABLE, table)
    store_i64(row + ROW_KIND, kind)
    store_i64(row + OLD, old)
    store_i64(row + NEW, new)
    store_i64(row + SOURCES, sources)
    store_i64(row + LINK_AT, 0)
    store_i64(row + N_CHILDREN, -1)
    store_i64(row + DERIVED_AT, -1)
    store_i64(group + STACKED, number + 1)
