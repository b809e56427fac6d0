# mypy: allow-untyped-defs, no-check-untyped-defs
"""The pointer algorithm for keys that are one int64.

    index[i] = key, pointer          an open-addressed table; pointer EMPTY: no such key yet, DEAD: deleted
"""

import numpy as np

from applier.apply.index.pointer_kernel import (
    DEAD,
    ROW_GONE,
    no_patch_left,
    on_conflict,
    state_at,
)
from applier.apply.index.status import Status
from applier.apply.index.watched_kernel import live_pointer, pointer_after_insert, pointer_after_update, release_row
from applier.binlog.rows.change_records import DELETE, IMAGE_ID_SHIFT, INSERT
from keysearch.addresses import address_of
from keysearch.memory import inline, kernel, load_i32, load_i64, load_u8, prefetch, store_i64

EMPTY = -1
_AHEAD = 16


@inline
def hash_int(key):
    word = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return word ^ (word >> np.uint64(32))


@inline
def int_entry(index, mask, key):
    """The address of a key's entry, or of the empty one where it would go."""
    entry = index + 16 * np.int64(hash_int(key) & mask)
    last = index + 16 * np.int64(mask)
    while load_i64(entry + 8) != EMPTY and load_i64(entry) != key:
        entry = entry + 16 if entry < last else index
    return entry


@inline
def put_int(entry, key, pointer, state):
    """Make a key live that was not."""
    if load_i64(entry + 8) == EMPTY:
        store_i64(entry, key)
        state.keys += 1
    store_i64(entry + 8, pointer)


@kernel
def apply_ints(n, kinds, before_rows, after_rows, images, before_keys, after_keys, after_absent, low, last, index,
               present, columns, patches, state_address):
    """Apply `n` changes from the state's `next` on whose keys are int64 in [low, last]; says why it stopped. All but
    `index` (the array) and numbers are addresses.

    `kinds` … `images` are those of a batch's arrays, `before_keys` and `after_keys` of the key columns of its images,
    `after_absent` of the bitmap of after-images without the key (0: all have it; then the key stays).
    """
    state = state_at(state_address)
    mask = np.uint64(index.shape[0] - 1)
    limit = index.shape[0] >> 1
    table = address_of(index)
    j = state.next
    status = Status.DONE
    while j < n:
        if state.keys + 1 > limit:
            status = Status.INDEX_FULL
            break
        if no_patch_left(state):
            status = Status.PATCHES_FULL
            break
        if j + _AHEAD < n:
            ahead = np.int64(load_i32(before_rows + 4 * (j + _AHEAD)))
            if ahead >= 0:
                key = load_i64(before_keys + 8 * ahead)
            else:
                key = load_i64(after_keys + 8 * np.int64(load_i32(after_rows + 4 * (j + _AHEAD))))
            prefetch(table + 16 * np.int64(hash_int(key) & mask))
        kind = load_u8(kinds + j)
        after = np.int64(load_i32(after_rows + 4 * j))
        image = load_i64(images + 8 * j)
        if kind == INSERT:
            key = load_i64(after_keys + 8 * after)
            if key >= low and key <= last:
                entry = int_entry(table, mask, key)
                pointer = live_pointer(entry + 8, j, patches, columns, state)
                if pointer >= 0:
                    status = on_conflict(state, j, 0, Status.DUPLICATE)
                    if status != Status.DONE:
                        break
                    pointer = pointer_after_update(pointer, image, j, after, present, columns, patches, state)
                    store_i64(entry + 8, pointer)
                else:
                    put_int(entry, key, pointer_after_insert(image, after, state), state)
                    state.live += 1
                state.inserted += 1
            j += 1
            continue
        key = load_i64(before_keys + 8 * np.int64(load_i32(before_rows + 4 * j)))
        inside = key >= low and key <= last
        if kind == DELETE:
            if inside:
                entry = int_entry(table, mask, key)
                pointer = live_pointer(entry + 8, j, patches, columns, state)
                if pointer < 0:
                    status = on_conflict(state, j, ROW_GONE, Status.MISSING)
                    if status != Status.DONE:
                        break
                    j += 1
                    continue
                release_row(pointer, patches, columns, state)
                store_i64(entry + 8, DEAD)
                state.live -= 1
                state.deleted += 1
            j += 1
            continue
        new_key = key
        if after_absent == 0 or load_u8(after_absent + (after >> 3)) >> (after & 7) & 1 == 0:
            new_key = load_i64(after_keys + 8 * after)
        lands_inside = new_key >= low and new_key <= last
        if inside != lands_inside and state.noted:
            status = Status.SPLIT_MOVE
            break
        if inside:
            entry = int_entry(table, mask, key)
            pointer = live_pointer(entry + 8, j, patches, columns, state)
            if pointer < 0:
                status = on_conflict(state, j, ROW_GONE, Status.MISSING)
                if status != Status.DONE:
                    break
                j += 1
                continue
            if new_key == key:
                store_i64(entry + 8, pointer_after_update(pointer, image, j, after, present, columns, patches, state))
            elif lands_inside:
                target = int_entry(table, mask, new_key)
                taken = live_pointer(target + 8, j, patches, columns, state)
                if taken >= 0 and state.noted:
                    status = on_conflict(state, j, 0, Status.DUPLICATE)
                    if status != Status.DONE:
                        break
                    j += 1
                    continue
                pointer = pointer_after_update(pointer, image, j, after, present, columns, patches, state)
                if taken >= 0:
                    status = Status.DUPLICATE
                    break
                store_i64(entry + 8, DEAD)
                put_int(target, new_key, pointer, state)
            else:
                release_row(pointer, patches, columns, state)
                store_i64(entry + 8, DEAD)
                state.live -= 1
            state.updated += 1
        elif lands_inside:
            if load_u8(present + (image >> IMAGE_ID_SHIFT) * (columns + 1)) == 0:
                status = Status.SPLIT_PATCH
                break
            target = int_entry(table, mask, new_key)
            if live_pointer(target + 8, j, patches, columns, state) >= 0:
                status = Status.DUPLICATE
                break
            put_int(target, new_key, pointer_after_insert(image, after, state), state)
            state.live += 1
        j += 1
    state.next = j
    return status


@kernel
def seed_ints(keys, pointers, index):
    """Fill an empty index with the base's keys: key i stands for the row that pointer i leads to."""
    mask = np.uint64(index.shape[0] - 1)
    table = address_of(index)
    for row in range(keys.shape[0]):
        if row + _AHEAD < keys.shape[0]:
            prefetch(table + 16 * np.int64(hash_int(keys[row + _AHEAD]) & mask))
        entry = int_entry(table, mask, keys[row])
        store_i64(entry, keys[row])
        store_i64(entry + 8, pointers[row])


@kernel
def grow_ints(old, new):
    """Copy the live keys of one index into another, empty one; how many there are."""
    mask = np.uint64(new.shape[0] - 1)
    table = address_of(new)
    live = 0
    for i in range(old.shape[0]):
        if old[i, 1] >= 0:
            entry = int_entry(table, mask, old[i, 0])
            store_i64(entry, old[i, 0])
            store_i64(entry + 8, old[i, 1])
            live += 1
    return live


@kernel
def list_ints(index, keys, pointers):
    """All live keys and their pointers, in no order."""
    n = 0
    for i in range(index.shape[0]):
        if index[i, 1] >= 0:
            keys[n] = index[i, 0]
            pointers[n] = index[i, 1]
            n += 1
    return n
