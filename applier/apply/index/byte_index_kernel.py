# mypy: allow-untyped-defs, no-check-untyped-defs
"""The pointer algorithm for keys that are byte strings.

    index[i] = hash, slot (-1: free)      an open-addressed table
    slots[s] = where the key's bytes are in the arena, their number, pointer (DEAD: deleted)
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
from applier.binlog.rows.table_ids_kernel import same_bytes
from keysearch.addresses import address_of
from keysearch.keybytes_kernel import compare_bytes
from keysearch.memory import copy_bytes, inline, kernel, load_i32, load_i64, load_u8, load_u64, prefetch, store_i64

_BLOCK = 64
_SLOT = 24


@inline
def hash_key(address, length):
    """64 bits of a byte string, eight bytes at a time."""
    word = np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(length)
    i = 0
    while i + 8 <= length:
        word = (word ^ load_u64(address + i)) * np.uint64(0xFF51AFD7ED558CCD)
        word ^= word >> np.uint64(32)
        i += 8
    tail, shift = np.uint64(0), np.uint64(0)
    while i < length:
        tail |= np.uint64(load_u8(address + i)) << shift
        shift += np.uint64(8)
        i += 1
    word = (word ^ tail) * np.uint64(0xFF51AFD7ED558CCD)
    return word ^ (word >> np.uint64(29))


@inline
def byte_entry(index, mask, slots, arena, word, key, length):
    """The address of a key's entry in the index, or of the free one where it would go."""
    entry = index + 16 * np.int64(word & mask)
    last = index + 16 * np.int64(mask)
    while load_i64(entry + 8) >= 0:
        if load_u64(entry) == word:
            slot = slots + _SLOT * load_i64(entry + 8)
            if load_i64(slot + 8) == length and same_bytes(arena + load_i64(slot), key, length):
                break
        entry = entry + 16 if entry < last else index
    return entry


@inline
def byte_pointer(entry, slots, change, patches, columns, state):
    """The pointer of an index entry when a change meets it, DEAD for a free one."""
    slot = load_i64(entry + 8)
    return live_pointer(slots + _SLOT * slot + 16, change, patches, columns, state) if slot >= 0 else np.int64(DEAD)


@inline
def put_bytes_key(entry, slots, arena, word, key, length, pointer, state):
    """Make a key live that was not; a new one gets a slot and a copy of its bytes."""
    slot = load_i64(entry + 8)
    if slot < 0:
        slot, used = state.keys, state.arena
        store_i64(entry, np.int64(word))
        store_i64(entry + 8, slot)
        store_i64(slots + _SLOT * slot, used)
        store_i64(slots + _SLOT * slot + 8, length)
        copy_bytes(arena + used, key, length)
        state.keys = slot + 1
        state.arena = used + length
    store_i64(slots + _SLOT * slot + 16, pointer)


@inline
def in_range(key, length, low, low_length, high, high_length):
    """low <= key < high as byte strings; a bound at address 0 is none."""
    return ((low == 0 or compare_bytes(low, low_length, key, length) <= 0)
            and (high == 0 or compare_bytes(key, length, high, high_length) < 0))


@kernel
def apply_bytes(n, kinds, before_rows, after_rows, images, before_offsets, before_data, after_offsets, after_data, low,
                high, index, slots, arena, present, columns, patches, state_address):
    """`apply_ints` for keys that are byte strings: key r of an image is data[offsets[r]:offsets[r + 1]].

    `low` (inclusive) and `high` (exclusive) are bounds as uint8 arrays; an empty array is no bound. Every after-image
    has its key. Hashes are taken for a block of changes before the index is looked at, then the slots that they likely
    lead to, then those slots' keys, so that each memory line is there when it is needed.
    """
    state = state_at(state_address)
    mask = np.uint64(index.shape[0] - 1)
    limit = min(index.shape[0] >> 1, slots.shape[0])
    table, slot_base = address_of(index), address_of(slots)
    arena_base, arena_room = address_of(arena), arena.shape[0]
    before_base, after_base = address_of(before_data), address_of(after_data)
    low_length, high_length = low.shape[0], high.shape[0]
    low_at = address_of(low) if low_length else np.int64(0)
    high_at = address_of(high) if high_length else np.int64(0)
    words = np.empty(2 * _BLOCK, np.uint64)
    likely = np.empty(_BLOCK, np.int64)
    j = state.next
    status = Status.DONE
    while j < n and status == Status.DONE:
        block = min(_BLOCK, n - j)
        for i in range(block):
            before, after = np.int64(load_i32(before_rows + 4 * (j + i))), np.int64(load_i32(after_rows + 4 * (j + i)))
            words[2 * i] = 0
            if before >= 0:
                at = before_offsets[before]
                words[2 * i] = hash_key(before_base + at, before_offsets[before + 1] - at)
                prefetch(table + 16 * np.int64(words[2 * i] & mask))
            if after >= 0:
                at = after_offsets[after]
                words[2 * i + 1] = hash_key(after_base + at, after_offsets[after + 1] - at)
                prefetch(table + 16 * np.int64(words[2 * i + 1] & mask))
        for i in range(block):
            likely[i] = load_i64(table + 16 * np.int64(words[2 * i] & mask) + 8)
            prefetch(slot_base + _SLOT * likely[i])
        for i in range(block):
            if likely[i] >= 0:
                prefetch(arena_base + load_i64(slot_base + _SLOT * likely[i]))
        for i in range(block):
            if state.keys + 1 > limit:
                status = Status.INDEX_FULL
                break
            if no_patch_left(state):
                status = Status.PATCHES_FULL
                break
            kind = load_u8(kinds + j)
            image = load_i64(images + 8 * j)
            before, after = np.int64(load_i32(before_rows + 4 * j)), np.int64(load_i32(after_rows + 4 * j))
            old_at, old_length, new_at, new_length = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            inside, lands_inside = False, False
            if before >= 0:
                old_at = before_base + before_offsets[before]
                old_length = before_offsets[before + 1] - before_offsets[before]
                inside = in_range(old_at, old_length, low_at, low_length, high_at, high_length)
            if after >= 0:
                new_at = after_base + after_offsets[after]
                new_length = after_offsets[after + 1] - after_offsets[after]
                lands_inside = in_range(new_at, new_length, low_at, low_length, high_at, high_length)
                if new_length > arena_room - state.arena:
                    status = Status.ARENA_FULL
                    break
            if inside != lands_inside and before >= 0 and after >= 0 and state.noted:
                status = Status.SPLIT_MOVE
                break
            pointer, found = np.int64(DEAD), np.int64(0)
            if inside:
                found = byte_entry(table, mask, slot_base, arena_base, words[2 * i], old_at, old_length)
                pointer = byte_pointer(found, slot_base, j, patches, columns, state)
                if pointer < 0:
                    status = on_conflict(state, j, ROW_GONE, Status.MISSING)
                    if status != Status.DONE:
                        break
                    j += 1
                    continue
                if lands_inside and old_length == new_length and same_bytes(old_at, new_at, new_length):
                    pointer = pointer_after_update(pointer, image, j, after, present, columns, patches, state)
                    store_i64(slot_base + _SLOT * load_i64(found + 8) + 16, pointer)
                    state.updated += 1
                    j += 1
                    continue
            if lands_inside:
                word = words[2 * i + 1]
                target = byte_entry(table, mask, slot_base, arena_base, word, new_at, new_length)
                taken = byte_pointer(target, slot_base, j, patches, columns, state)
                if taken >= 0 and state.noted:
                    status = on_conflict(state, j, 0, Status.DUPLICATE)
                    if status != Status.DONE:
                        break
                    if kind == INSERT:
                        image = pointer_after_update(taken, image, j, after, present, columns, patches, state)
                        store_i64(slot_base + _SLOT * load_i64(target + 8) + 16, image)
                        state.inserted += 1
                    j += 1
                    continue
                if not inside and kind != INSERT and load_u8(present + (image >> IMAGE_ID_SHIFT) * (columns + 1)) == 0:
                    status = Status.SPLIT_PATCH
                    break
                if inside:
                    image = pointer_after_update(pointer, image, j, after, present, columns, patches, state)
                else:
                    image = pointer_after_insert(image, after, state)
                if taken >= 0:
                    status = Status.DUPLICATE
                    break
                put_bytes_key(target, slot_base, arena_base, word, new_at, new_length, image, state)
                state.live += 1
            elif inside:
                release_row(pointer, patches, columns, state)
            if inside:
                store_i64(slot_base + _SLOT * load_i64(found + 8) + 16, DEAD)
                state.live -= 1
            if kind == INSERT:
                state.inserted += 1 if lands_inside else 0
            elif inside and kind == DELETE:
                state.deleted += 1
            elif inside:
                state.updated += 1
            j += 1
    state.next = j
    return status


@kernel
def grow_bytes(slots, keys, index, arena):
    """Fill an empty index with the first `keys` slots."""
    mask = np.uint64(index.shape[0] - 1)
    base = address_of(arena)
    for slot in range(keys):
        word = hash_key(base + slots[slot, 0], slots[slot, 1])
        i = np.int64(word & mask)
        while index[i, 1] >= 0:
            i = np.int64((np.uint64(i) + np.uint64(1)) & mask)
        index[i, 0], index[i, 1] = np.int64(word), slot


@kernel
def key_words(starts, lengths, arena, skip, words):
    """For each byte string the eight bytes after its first `skip` as a big-endian number, zero bytes beyond its end."""
    for i in range(starts.shape[0]):
        word = np.uint64(0)
        left = min(np.int64(8), lengths[i] - skip)
        for j in range(left):
            word |= np.uint64(load_u8(arena + starts[i] + skip + j)) << np.uint64(56 - 8 * j)
        words[i] = word


@kernel
def gather_keys(starts, offsets, arena, data):
    """Copy byte strings from `arena` (string i begins at starts[i]) to data[offsets[i]:offsets[i + 1]]."""
    to, origin = address_of(data), address_of(arena)
    for i in range(starts.shape[0]):
        copy_bytes(to + offsets[i], origin + starts[i], offsets[i + 1] - offsets[i])
