# mypy: allow-untyped-defs, no-check-untyped-defs
"""The pointer algorithm for rows that are found by one key: applies changes one after another to a hash index.

For each key there is one pointer to its row (pointer_kernel). A deleted key stays in the index with the pointer DEAD.
The *encoding* of a key is a module with functions that read a key from an image, compare two, check whether it is in
the unit's range, find it, and store it (int_keys_kernel, byte_keys_kernel). Another module defines what a pointer leads
to: pointer_kernel, or foreign_keys.watched_kernel if rows wait for later effects of foreign keys. Everything else is
here: the effect of a change on the row that it finds, and conflicts in either mode.

Idempotent mode (APP-R7, AP-IDEM) differs only if a change meets a conflict: it is recorded, as the number of the change
and that of the duplicate unique key, or ROW_GONE. Strict mode stops there. JSON diffs are added before a key is found
to be a duplicate, so they exist when a kernel returns DUPLICATE for an update.

Rules: FIND (by a key that is unique, the row found is the row), APP-R5, DEF-R2, FIND-ROWS, AP-ORD of the rules list.
"""

from types import ModuleType
from typing import Any

import numpy as np

from applier.apply.index import byte_keys_kernel, int_keys_kernel, pointer_kernel
from applier.apply.index.pointer_kernel import (
    DEAD,
    NO_ROW,
    ROW_GONE,
    is_whole,
    no_column_pointers_left,
    on_conflict,
    state_at,
    trace,
)
from applier.apply.index.status import Status
from applier.apply.index.witness.witness_kernel import after_hash, dispute, is_disputed
from applier.binlog.rows.change_records import DELETE, INSERT
from keysearch.memory import always_inline, inline, kernel, load_i32, load_i64, load_u8, store_i64


def changes_by(encoding: ModuleType, rows: ModuleType) -> Any:
    """Return the function that applies changes to an index, given the module of the keys' encoding and the module that
    defines what pointers lead to. Its steps return DONE, or why they stopped without a change."""
    block = encoding.BLOCK

    @always_inline
    def insert(index, key, j, after, image, state):
        if encoding.lacks_room(index, key, state):
            return Status.BUFFER_FULL
        entry = encoding.find(index, key)
        at = encoding.pointer_address(index, entry)
        there = rows.live_pointer(at, j, state)
        if there >= 0:
            status = on_conflict(state, j, 0, Status.DUPLICATE)
            if status != Status.DONE:
                return status
            pointer = rows.pointer_after_update(there, image, j, after, state)
            store_i64(at, pointer)
            keep_hash(index, at, image, j, state)
            row = encoding.row_at(index, at)
            trace(state, j, there, pointer, row, row)
        else:
            put(index, entry, key, j, after, image, state)
        state.inserted += 1
        return Status.DONE

    @inline
    def put(index, entry, key, j, after, image, state):
        pointer = rows.pointer_after_insert(image, after, state)
        encoding.put(index, entry, key, pointer, state)
        at = encoding.pointer_address(index, entry)
        keep_hash(index, at, image, j, state)
        trace(state, j, NO_ROW, pointer, NO_ROW, encoding.row_at(index, at))
        state.live += 1

    @always_inline
    def delete(index, key, j, state):
        at = encoding.pointer_address(index, encoding.find(index, key))
        pointer = rows.live_pointer(at, j, state)
        if pointer < 0:
            return on_conflict(state, j, ROW_GONE, Status.MISSING)
        remove(index, at, pointer, j, state)
        state.deleted += 1
        return Status.DONE

    @always_inline
    def keep_hash(index, at, image, j, state):
        """Keep the hash of the image that is now the row, for the witness."""
        if state.witness:
            encoding.set_hash(index, at, after_hash(image, j, state))

    @always_inline
    def ask_witness(index, at, pointer, j, state):
        """If there is a witness, compare the row that was found with the before-image."""
        if state.witness:
            if is_disputed(encoding.hash_at(index, at), pointer, j, state):
                dispute(j, rows.held_pointer(pointer, state), state)

    @inline
    def remove(index, at, pointer, j, state):
        ask_witness(index, at, pointer, j, state)
        rows.release_row(pointer, state)
        trace(state, j, pointer, NO_ROW, encoding.row_at(index, at), NO_ROW)
        store_i64(at, DEAD)
        state.live -= 1

    @always_inline
    def update(index, key, new_key, j, after, image, state):
        old_in_range, new_in_range = encoding.is_inside(index, key), encoding.is_inside(index, new_key)
        if old_in_range != new_in_range and state.noted:
            return Status.SPLIT_MOVE
        if encoding.lacks_room(index, new_key, state):
            return Status.BUFFER_FULL
        if not old_in_range:
            return insert_moved_row(index, new_key, j, after, image, state) if new_in_range else Status.DONE
        at = encoding.pointer_address(index, encoding.find(index, key))
        pointer = rows.live_pointer(at, j, state)
        if pointer < 0:
            return on_conflict(state, j, ROW_GONE, Status.MISSING)
        if not new_in_range:
            remove(index, at, pointer, j, state)
        elif encoding.is_same(key, new_key):
            ask_witness(index, at, pointer, j, state)
            updated = rows.pointer_after_update(pointer, image, j, after, state)
            store_i64(at, updated)
            keep_hash(index, at, image, j, state)
            row = encoding.row_at(index, at)
            trace(state, j, pointer, updated, row, row)
        else:
            return change_key(index, at, pointer, new_key, j, after, image, state)
        state.updated += 1
        return Status.DONE

    @inline
    def change_key(index, at, pointer, new_key, j, after, image, state):
        """Change the key of a row within the unit."""
        entry = encoding.find(index, new_key)
        is_taken = rows.live_pointer(encoding.pointer_address(index, entry), j, state) >= 0
        if is_taken and state.noted:
            return on_conflict(state, j, 0, Status.DUPLICATE)
        ask_witness(index, at, pointer, j, state)
        updated = rows.pointer_after_update(pointer, image, j, after, state)
        if is_taken:
            return Status.DUPLICATE
        encoding.put(index, entry, new_key, updated, state)
        store_i64(at, DEAD)
        new_at = encoding.pointer_address(index, entry)
        keep_hash(index, new_at, image, j, state)
        trace(state, j, pointer, updated, encoding.row_at(index, at), encoding.row_at(index, new_at))
        state.updated += 1
        return Status.DONE

    @inline
    def insert_moved_row(index, key, j, after, image, state):
        """Insert a row of another unit that gets a key of this one."""
        if not is_whole(image, state):
            return Status.SPLIT_PARTIAL_IMAGE
        entry = encoding.find(index, key)
        if rows.live_pointer(encoding.pointer_address(index, entry), j, state) >= 0:
            return Status.DUPLICATE
        put(index, entry, key, j, after, image, state)
        return Status.DONE

    @always_inline
    def apply_change(index, j, i, state):
        """Apply change j of the batch, which is number i of its block."""
        if state.keys >= index.key_room:
            return Status.INDEX_FULL
        if no_column_pointers_left(state):
            return Status.COLUMN_POINTERS_FULL
        kind, image = load_u8(state.kinds + j), load_i64(state.images + 8 * j)
        after = np.int64(load_i32(state.after_rows + 4 * j))
        if kind == INSERT:
            key = encoding.after_key(index, after, i)
            return insert(index, key, j, after, image, state) if encoding.is_inside(index, key) else Status.DONE
        key = encoding.before_key(index, np.int64(load_i32(state.before_rows + 4 * j)), i)
        if kind == DELETE:
            return delete(index, key, j, state) if encoding.is_inside(index, key) else Status.DONE
        new_key = key if encoding.keeps_key(index, after) else encoding.after_key(index, after, i)
        return update(index, key, new_key, j, after, image, state)

    @inline
    def apply_changes(n, index, state):
        """Apply n changes of the batch from the state's `next` on. Returns why it stopped."""
        j, status = state.next, Status.DONE
        while j < n and status == Status.DONE:
            encoding.look_ahead(index, state, j, n)
            for i in range(min(np.int64(block), n - j)):
                status = apply_change(index, j, i, state)
                if status != Status.DONE:
                    break
                j += 1
        state.next = j
        return status

    return apply_changes


_apply_ints = changes_by(int_keys_kernel, pointer_kernel)
_apply_bytes = changes_by(byte_keys_kernel, pointer_kernel)


@kernel
def apply_ints(n, index_address, state_address):
    return _apply_ints(n, int_keys_kernel.index_at(index_address), state_at(state_address))


@kernel
def apply_bytes(n, index_address, state_address):
    return _apply_bytes(n, byte_keys_kernel.index_at(index_address), state_at(state_address))
