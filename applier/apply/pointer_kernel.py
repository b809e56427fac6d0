"""Pointers to rows: what the kernels of `int_index_kernel` and `byte_index_kernel` move instead of values.

They are the replica's algorithm: changes one after another against a hash index of the keys. For each key there is one
pointer to where its row is: in the base (its row number), in an image of the log (layout number and address), or, when
updates had only some of the columns, in a *patch*: a record with one pointer a column. Values are gathered at the end,
for the rows that are left. A key that was deleted stays in the index with the pointer DEAD.

Everything that helpers share goes by address: an array handed to a function that is compiled on its own costs two
atomic reference counts a call, which is as much as finding a key.

Rules: FIND (by a key that is unique, the row found is the row), APP-R5, DEF-R2, FIND-ROWS, AP-ORD of the rules list.
"""

import numpy as np

from applier.binlog.changes_kernel import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from keysearch.memory import inline, load_i64, load_u8, store_i64

DEAD = -2
PATCH_ID = MAX_IMAGE_ID + 1
"""The layout number that marks a pointer to a patch. Number 0 marks a row of the base."""

# state, in bytes from its start
(NEXT, KEYS, LIVE, PATCHES, FREE_PATCH, PATCH_ROOM, INSERTED, UPDATED, DELETED, ARENA) = range(0, 80, 8)
STATE_WORDS = 16

# why a kernel stopped
DONE, INDEX_FULL, PATCHES_FULL, ARENA_FULL, DUPLICATE, MISSING, SPLIT_PATCH = range(7)
"""SPLIT_PATCH: a partial image moves a row out of the unit or into it; the planner must not let that happen."""


@inline
def add(address, number):
    store_i64(address, load_i64(address) + number)


@inline
def patch_of(pointer, patches, columns):
    """The address of the patch that a pointer leads to."""
    return patches + 8 * columns * (pointer & ((np.int64(1) << IMAGE_ID_SHIFT) - 1))


@inline
def free_patch(pointer, patches, columns, state):
    """Give back the patch that a pointer led to, if it did."""
    if pointer >> IMAGE_ID_SHIFT == PATCH_ID:
        store_i64(patch_of(pointer, patches, columns), load_i64(state + FREE_PATCH))
        store_i64(state + FREE_PATCH, pointer & ((np.int64(1) << IMAGE_ID_SHIFT) - 1))


@inline
def updated_pointer(old, image, present, columns, patches, state):
    """The pointer of a row after an update with this after-image (DEF-R2: what it does not have stays).

    `present` is the address of uint8[layout, columns + 1]: first whether the layout has all columns, then which it has.
    """
    has = present + (image >> IMAGE_ID_SHIFT) * (columns + 1)
    if load_u8(has):
        free_patch(old, patches, columns, state)
        return image
    pointer = old
    if old >> IMAGE_ID_SHIFT != PATCH_ID:
        slot = load_i64(state + FREE_PATCH)
        if slot >= 0:
            store_i64(state + FREE_PATCH, load_i64(patches + 8 * columns * slot))
        else:
            slot = load_i64(state + PATCHES)
            store_i64(state + PATCHES, slot + 1)
        pointer = (np.int64(PATCH_ID) << IMAGE_ID_SHIFT) | slot
    patch = patch_of(pointer, patches, columns)
    if pointer != old:
        for c in range(columns):
            store_i64(patch + 8 * c, image if load_u8(has + 1 + c) else old)
    else:
        for c in range(columns):
            if load_u8(has + 1 + c):
                store_i64(patch + 8 * c, image)
    return pointer


@inline
def no_patch_left(state):
    return load_i64(state + FREE_PATCH) < 0 and load_i64(state + PATCHES) >= load_i64(state + PATCH_ROOM)
