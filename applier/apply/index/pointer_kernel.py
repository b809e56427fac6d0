# mypy: allow-untyped-defs, no-check-untyped-defs
"""Pointers to rows. The kernels of all indexes move pointers instead of values.

Each row has one pointer to its location: in the base (its row number), in an image of the log (layout number and
address), or, if updates had only some of the columns, in *column pointers*: a record with one pointer per column. The
pointer of a JSON column may lead to a diff and the value to which it applies (see diff_kernel). Values are gathered at
the end, for the remaining rows.

Rules: DEF-R2, APP-R7, AP-IDEM of the rules list.
"""

import numpy as np

from applier.apply.index.diff_kernel import DIFF_ID, node_at
from applier.apply.index.status import Status
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from keysearch.memory import always_inline, copy_bytes, inline, kernel, load_i64, load_u8, store_i64
from keysearch.records import struct

DEAD = -2
COMPUTED = -3
"""In column pointers, in place of a generated column's pointer: the last update of its sources did not log it, so no
image has its value."""
COLUMN_POINTERS_ID = MAX_IMAGE_ID + 1
"""The layout number that marks a pointer to column pointers. The number 0 marks a row of the base."""

STATE, state_at, _ = struct("state", **dict.fromkeys((
    "next", "kinds", "before_rows", "after_rows", "images", "present", "columns", "column_pointers",
    "column_pointers_used", "free_column_pointers", "column_pointers_room", "keys", "live", "inserted", "updated",
    "deleted", "buffer_used", "diffs", "diff_nodes", "noted", "n_noted", "noted_room", "watch", "traced", "n_traced",
    "traced_room", "witness"), np.int64))
"""The state that an index's kernels share. `next` is the change to continue with; `kinds` … `images` are the addresses
of the arrays of the current batch (change_records.BATCH). `present` is the address of uint8[layout, columns + 1]: first
whether the layout has a VALUE of all columns, then its state of each column; `column_pointers` that of int64[records,
columns]. `diff_nodes` is the address of the nodes of JSON diffs, with room for all diffs of a batch; `noted` that of
the conflicts of a batch in idempotent mode, 0 in strict mode; `watch`: see foreign_keys.watched_kernel, 0 if no row is
watched. `traced` is the address of the steps of rows, 0 if steps are not kept; `witness`: see witness_kernel, 0 if
before-images are not compared."""
_, _, noted_at = struct("noted conflict", change=np.int64, what=np.int64)
ROW_GONE = -1
"""In a noted conflict, in place of the number of the duplicate unique key: the row does not exist."""

TRACED, _, traced_at = struct("traced step", **dict.fromkeys(("change", "old", "new", "old_row", "new_row"), np.int64))
"""The effect of a change on a row: the pointers before and after it (NO_ROW: the row did not exist, or no longer
exists). Column pointers stay unchanged until the consumer of the steps releases them (`free_traced`). `change` is the
number of the change in the batch, negative if foreign keys made it. `old_row` and `new_row` identify the row, while it
exists, before and after the change: in an index by an integer key, they are the key; in others, rows of the base have
the numbers 0, 1, …"""
NO_ROW = -1

VALUE, DIFF, MADE = 1, 2, 3
"""The state of a column in a layout (0: missing). MADE: a generated column is missing, but some of the columns from
which a replica computes it are present."""


@inline
def note(state, change, what):
    """Note a conflict, for which there must be room: the number of the change, and of the unique key, or ROW_GONE."""
    noted = noted_at(state.noted, state.n_noted)
    noted.change = change
    noted.what = what
    state.n_noted += 1


@inline
def on_conflict(state, change, what, strict):
    """Handle a conflict of a change. Strict mode stops with the status `strict`. Idempotent mode notes the conflict and
    continues (DONE), or stops for room before anything is changed."""
    if state.noted == 0:
        return strict
    if state.n_noted >= state.noted_room:
        return Status.CONFLICTS_FULL
    note(state, change, what)
    return Status.DONE


@always_inline
def trace(state, change, old, new, old_row, new_row):
    """Record a step if steps are kept; there must be room."""
    if state.traced:
        step = traced_at(state.traced, state.n_traced)
        step.change = change
        step.old = old
        step.new = new
        step.old_row = old_row
        step.new_row = new_row
        state.n_traced += 1


@inline
def lacks_trace_room(state, steps):
    """Return whether steps are kept, and there is no room for `steps` more."""
    return state.traced != 0 and steps > state.traced_room - state.n_traced


@inline
def column_pointers_of(pointer, state):
    """Return the address of the column pointers to which a pointer leads."""
    return state.column_pointers + 8 * state.columns * (pointer & ((np.int64(1) << IMAGE_ID_SHIFT) - 1))


@inline
def has_column_pointers(pointer):
    return pointer >> IMAGE_ID_SHIFT == COLUMN_POINTERS_ID


@inline
def new_column_pointers(state):
    """Return a pointer to unused column pointers; there must be a free record."""
    number = state.free_column_pointers
    if number >= 0:
        state.free_column_pointers = load_i64(column_pointers_of(number, state))
    else:
        number = state.column_pointers_used
        state.column_pointers_used = number + 1
    return (np.int64(COLUMN_POINTERS_ID) << IMAGE_ID_SHIFT) | number


@inline
def release_column_pointers(pointer, state):
    store_i64(column_pointers_of(pointer, state), state.free_column_pointers)
    state.free_column_pointers = pointer & ((np.int64(1) << IMAGE_ID_SHIFT) - 1)


@inline
def free_column_pointers(pointer, state):
    """Free the column pointers to which a pointer led, if it did and no step leads there."""
    if has_column_pointers(pointer) and state.traced == 0:
        release_column_pointers(pointer, state)


@inline
def own_column_pointers(pointer, state):
    """Return a pointer to column pointers that may be changed: the row's own, or a copy if a step leads to them."""
    return pointer if state.traced == 0 else copied_column_pointers(pointer, state)


@inline
def present_in(image, state):
    """Return the address of the presence flags of an image's layout (STATE's `present`)."""
    return state.present + (image >> IMAGE_ID_SHIFT) * (state.columns + 1)


@inline
def is_whole(image, state):
    """Return whether an image has a value of each column."""
    return load_u8(present_in(image, state)) != 0


@inline
def updated_pointer(old, image, state):
    """Return the pointer of a row after an update with this after-image (DEF-R2: missing columns keep their values)."""
    if is_whole(image, state):
        free_column_pointers(old, state)
        return image
    if has_column_pointers(old):
        own = own_column_pointers(old, state)
        change_column_pointers(column_pointers_of(own, state), image, state)
        return own
    pointer = new_column_pointers(state)
    fill_column_pointers(column_pointers_of(pointer, state), old, image, state)
    return pointer


@always_inline
def fill_column_pointers(pointers, old, image, state):
    """Fill column pointers from the row to which `old` led and an after-image."""
    has = present_in(image, state) + 1
    for c in range(state.columns):
        what = load_u8(has + c)
        kept = add_diff(old, image, c, state) if what == DIFF else old
        if what == MADE:
            kept = np.int64(COMPUTED)
        store_i64(pointers + 8 * c, image if what == VALUE else kept)


@always_inline
def change_column_pointers(pointers, image, state):
    """Set column pointers to the columns of an after-image."""
    has = present_in(image, state) + 1
    for c in range(state.columns):
        what = load_u8(has + c)
        if what == VALUE:
            store_i64(pointers + 8 * c, image)
        elif what == DIFF:
            store_i64(pointers + 8 * c, add_diff(load_i64(pointers + 8 * c), image, c, state))
        elif what == MADE:
            store_i64(pointers + 8 * c, COMPUTED)


@inline
def add_diff(previous, image, column, state):
    """Return a pointer to a new node: the diff for this column in `image`, on top of the value of `previous`."""
    number = state.diffs
    node = node_at(state.diff_nodes, number)
    node.previous = previous
    node.image = image
    node.column = column
    state.diffs = number + 1
    return (np.int64(DIFF_ID) << IMAGE_ID_SHIFT) | number


@inline
def no_column_pointers_left(state):
    """Return whether there may be too few free column pointers for a change: it needs one record, and one more for the
    witness."""
    if state.witness:
        return state.column_pointers_used + 1 >= state.column_pointers_room
    return state.free_column_pointers < 0 and state.column_pointers_used >= state.column_pointers_room


@inline
def copied_column_pointers(pointer, state):
    """Return a pointer to a copy of a row's column pointers."""
    copy = new_column_pointers(state)
    copy_bytes(column_pointers_of(copy, state), column_pointers_of(pointer, state), 8 * state.columns)
    return copy


# ---- the effects of an index's kernels on the rows that it finds


@always_inline
def live_pointer(at, change, state):
    """Return the pointer at an address in an index, as of a change of the batch; negative if there is no row."""
    return load_i64(at)


@always_inline
def pointer_after_insert(image, after, state):
    """Return the pointer of a row that is an after-image; `after` is its row among those of the batch."""
    return image


@always_inline
def pointer_after_update(old, image, change, after, state):
    """Return the pointer of a row after an update (see updated_pointer)."""
    return updated_pointer(old, image, state)


@inline
def release_row(pointer, state):
    """Release the memory of a deleted row."""
    free_column_pointers(pointer, state)


@inline
def held_pointer(pointer, state):
    """Return a pointer to the current version of a row that stays valid when the row changes."""
    return copied_column_pointers(pointer, state) if has_column_pointers(pointer) else pointer


@kernel
def free_traced(state_address, pointers):
    """Free the column pointers to which some of `pointers` (int64[n]) lead, after they were read."""
    state = state_at(state_address)
    for pointer in pointers:
        if has_column_pointers(pointer):
            release_column_pointers(pointer, state)
