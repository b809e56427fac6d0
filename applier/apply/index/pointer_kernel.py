# mypy: allow-untyped-defs, no-check-untyped-defs
"""Pointers to rows: what the kernels of `int_index_kernel` and `byte_index_kernel` move instead of values.

They are the replica's algorithm: changes one after another against a hash index of the keys. For each key there is one
pointer to where its row is: in the base (its row number), in an image of the log (layout number and address), or, when
updates had only some of the columns, in a *patch*: a record with one pointer a column. A JSON column's may lead to a
diff and what that came on top of (see diff_kernel). Values are gathered at the end, for the rows that are left. A key
that was deleted stays in the index with the pointer DEAD.

Everything that helpers share goes by address: an array handed to a function that is compiled on its own costs two
atomic reference counts a call, which is as much as finding a key.

Idempotent mode (APP-R7, AP-IDEM) differs only where a change meets a conflict: it is noted, as the number of the change
and that of the unique key that is taken, or ROW_GONE. Strict mode stops there, but JSON diffs are applied before a key
is found to be taken: they are there when a kernel says DUPLICATE of an update.

Rules: FIND (by a key that is unique, the row found is the row), APP-R5, DEF-R2, FIND-ROWS, AP-ORD of the rules list.
"""

import numpy as np

from applier.apply.index.diff_kernel import COLUMN, DIFF_ID, IMAGE, NODE_WORDS, PREVIOUS
from applier.apply.index.status import Status
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from applier.kernels.records import struct
from keysearch.memory import inline, load_i64, load_u8, store_i64

DEAD = -2
COMPUTED = -3
"""What a patch has of a generated column instead of a pointer, if the last update of what it is made of left it out:
no image holds its value."""
PATCH_ID = MAX_IMAGE_ID + 1
"""The layout number that marks a pointer to a patch. Number 0 marks a row of the base."""

STATE, state_at, _ = struct("state", **dict.fromkeys((
    "next", "keys", "live", "patches", "free_patch", "patch_room", "inserted", "updated", "deleted", "arena", "diffs",
    "diff_nodes", "noted", "n_noted", "noted_room", "watch"), np.int64))
"""What an index's kernels share. `next` is the change to go on with. `diff_nodes` is the address of the JSON diffs'
nodes; there is room for all of a batch. `noted` is that of the conflicts of a batch in idempotent mode, 0 in strict
mode. `watch`: see watched_kernel; 0 where no foreign key changes rows."""
ROW_GONE = -1
"""A noted conflict: a row that is not there, instead of the number of the unique key that is taken."""

VALUE, DIFF, MADE = 1, 2, 3
"""What a layout has of a column, if it has it (not 0). MADE: it lacks a generated column, and has some of what a
replica computes that of."""


@inline
def add(address, number):
    store_i64(address, load_i64(address) + number)


@inline
def note(state, change, what):
    """Note a conflict, for which there is room: number of the change, number of the unique key or ROW_GONE."""
    entry = state.noted + 16 * state.n_noted
    store_i64(entry, change)
    store_i64(entry + 8, what)
    state.n_noted += 1


@inline
def on_conflict(state, change, what, strict):
    """What becomes of a change that met a conflict: the status `strict` stops strict mode. Idempotent mode notes it and
    goes on, DONE, or stops for room before anything is changed."""
    if state.noted == 0:
        return strict
    if state.n_noted >= state.noted_room:
        return Status.CONFLICTS_FULL
    note(state, change, what)
    return Status.DONE


@inline
def patch_of(pointer, patches, columns):
    """The address of the patch that a pointer leads to."""
    return patches + 8 * columns * (pointer & ((np.int64(1) << IMAGE_ID_SHIFT) - 1))


@inline
def free_patch(pointer, patches, columns, state):
    """Give back the patch that a pointer led to, if it did."""
    if pointer >> IMAGE_ID_SHIFT == PATCH_ID:
        store_i64(patch_of(pointer, patches, columns), state.free_patch)
        state.free_patch = pointer & ((np.int64(1) << IMAGE_ID_SHIFT) - 1)


@inline
def updated_pointer(old, image, present, columns, patches, state):
    """The pointer of a row after an update with this after-image (DEF-R2: what it does not have stays).

    `present` is the address of uint8[layout, columns + 1]: first whether the layout has a VALUE of all columns, then
    what it has of each.
    """
    has = present + (image >> IMAGE_ID_SHIFT) * (columns + 1)
    if load_u8(has):
        free_patch(old, patches, columns, state)
        return image
    pointer = old
    if old >> IMAGE_ID_SHIFT != PATCH_ID:
        slot = state.free_patch
        if slot >= 0:
            state.free_patch = load_i64(patches + 8 * columns * slot)
        else:
            slot = state.patches
            state.patches = slot + 1
        pointer = (np.int64(PATCH_ID) << IMAGE_ID_SHIFT) | slot
    patch = patch_of(pointer, patches, columns)
    if pointer != old:
        for c in range(columns):
            what = load_u8(has + 1 + c)
            kept = add_diff(old, image, c, state) if what == DIFF else old
            if what == MADE:
                kept = np.int64(COMPUTED)
            store_i64(patch + 8 * c, image if what == VALUE else kept)
    else:
        for c in range(columns):
            what = load_u8(has + 1 + c)
            if what == VALUE:
                store_i64(patch + 8 * c, image)
            elif what == DIFF:
                store_i64(patch + 8 * c, add_diff(load_i64(patch + 8 * c), image, c, state))
            elif what == MADE:
                store_i64(patch + 8 * c, COMPUTED)
    return pointer


@inline
def add_diff(previous, image, column, state):
    """A pointer to a new node: the diff for this column in `image`, on top of what `previous` leads to."""
    number = state.diffs
    node = state.diff_nodes + 8 * NODE_WORDS * number
    store_i64(node + 8 * PREVIOUS, previous)
    store_i64(node + 8 * IMAGE, image)
    store_i64(node + 8 * COLUMN, column)
    state.diffs = number + 1
    return (np.int64(DIFF_ID) << IMAGE_ID_SHIFT) | number


@inline
def no_patch_left(state):
    return state.free_patch < 0 and state.patches >= state.patch_room
