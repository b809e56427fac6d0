"""The replica's algorithm as kernels: changes one after another against a hash index, moving pointers instead of
values.

For each key there is one pointer to where its row is: in the base (its row number), in an image of the log (layout
number and address), or, when updates had only some of the columns, in a *patch*: a record with one pointer a column.
Values are gathered at the end, for the rows that are left. A key that was deleted stays in the index with the pointer
DEAD.

    integer keys   index[i] = key, pointer                                  (EMPTY pointer: no such key yet)
    byte keys      index[i] = hash, slot (-1: free);  slots[s] = where the key is in the arena, its length, pointer

Everything that helpers share goes by address: an array handed to a function that is compiled on its own costs two
atomic reference counts a call, which is as much as finding a key.

Rules: FIND (by a key that is unique, the row found is the row), APP-R5, DEF-R2, FIND-ROWS, AP-ORD of the rules list.
"""

import numpy as np

from applier.binlog.changes_kernel import DELETE, IMAGE_ID_SHIFT, INSERT, MAX_IMAGE_ID, same_bytes
from keysearch.memory import copy_bytes, inline, kernel, load_i32, load_i64, load_u8, load_u64, prefetch, store_i64

EMPTY, DEAD = -1, -2
PATCH_ID = MAX_IMAGE_ID + 1
"""The layout number that marks a pointer to a patch. Number 0 marks a row of the base."""

# state, in bytes from its start
(NEXT, KEYS, LIVE, PATCHES, FREE_PATCH, PATCH_ROOM, INSERTED, UPDATED, DELETED, ARENA) = range(0, 80, 8)
STATE_WORDS = 16

# why a kernel stopped
DONE, INDEX_FULL, PATCHES_FULL, ARENA_FULL, DUPLICATE, MISSING, SPLIT_PATCH = range(7)
"""SPLIT_PATCH: a partial image moves a row out of the unit or into it; the planner must not let that happen."""

_AHEAD = 16
_BLOCK = 64
_SLOT = 24


@inline
def add(address, number):
    store_i64(address, load_i64(address) + number)


@inline
def hash_int(key):
    word = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return word ^ (word >> np.uint64(32))


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
        add(state + KEYS, 1)
    store_i64(entry + 8, pointer)


@kernel
def apply_ints(n, kinds, before_rows, after_rows, images, before_keys, after_keys, after_absent, low, last, index,
               present, columns, patches, state):
    """Apply `n` changes from NEXT on whose keys are int64 in [low, last]; says why it stopped. All but `index` (the
    array) and numbers are addresses.

    `kinds` … `images` are those of a batch's arrays, `before_keys` and `after_keys` of the key columns of its images,
    `after_absent` of the bitmap of after-images without the key (0: all have it; then the key stays).
    """
    mask = np.uint64(index.shape[0] - 1)
    limit = index.shape[0] >> 1
    table = index.ctypes.data
    j = load_i64(state + NEXT)
    status = DONE
    while j < n:
        if load_i64(state + KEYS) + 1 > limit:
            status = INDEX_FULL
            break
        if no_patch_left(state):
            status = PATCHES_FULL
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
                if load_i64(entry + 8) >= 0:
                    status = DUPLICATE
                    break
                put_int(entry, key, image, state)
                add(state + LIVE, 1)
                add(state + INSERTED, 1)
            j += 1
            continue
        key = load_i64(before_keys + 8 * np.int64(load_i32(before_rows + 4 * j)))
        inside = key >= low and key <= last
        if kind == DELETE:
            if inside:
                entry = int_entry(table, mask, key)
                pointer = load_i64(entry + 8)
                if pointer < 0:
                    status = MISSING
                    break
                free_patch(pointer, patches, columns, state)
                store_i64(entry + 8, DEAD)
                add(state + LIVE, -1)
                add(state + DELETED, 1)
            j += 1
            continue
        new_key = key
        if after_absent == 0 or load_u8(after_absent + (after >> 3)) >> (after & 7) & 1 == 0:
            new_key = load_i64(after_keys + 8 * after)
        lands_inside = new_key >= low and new_key <= last
        if inside:
            entry = int_entry(table, mask, key)
            pointer = load_i64(entry + 8)
            if pointer < 0:
                status = MISSING
                break
            if new_key == key:
                store_i64(entry + 8, updated_pointer(pointer, image, present, columns, patches, state))
            elif lands_inside:
                target = int_entry(table, mask, new_key)
                if load_i64(target + 8) >= 0:
                    status = DUPLICATE
                    break
                store_i64(entry + 8, DEAD)
                put_int(target, new_key, updated_pointer(pointer, image, present, columns, patches, state), state)
            else:
                free_patch(pointer, patches, columns, state)
                store_i64(entry + 8, DEAD)
                add(state + LIVE, -1)
            add(state + UPDATED, 1)
        elif lands_inside:
            if load_u8(present + (image >> IMAGE_ID_SHIFT) * (columns + 1)) == 0:
                status = SPLIT_PATCH
                break
            target = int_entry(table, mask, new_key)
            if load_i64(target + 8) >= 0:
                status = DUPLICATE
                break
            put_int(target, new_key, image, state)
            add(state + LIVE, 1)
        j += 1
    store_i64(state + NEXT, j)
    return status


@kernel
def seed_ints(keys, index):
    """Fill an empty index with the base's keys: key i stands for base row i."""
    mask = np.uint64(index.shape[0] - 1)
    table = index.ctypes.data
    for row in range(keys.shape[0]):
        if row + _AHEAD < keys.shape[0]:
            prefetch(table + 16 * np.int64(hash_int(keys[row + _AHEAD]) & mask))
        entry = int_entry(table, mask, keys[row])
        store_i64(entry, keys[row])
        store_i64(entry + 8, row)


@kernel
def grow_ints(old, new):
    """Copy the live keys of one index into another, empty one; how many there are."""
    mask = np.uint64(new.shape[0] - 1)
    table = new.ctypes.data
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
def byte_pointer(entry, slots):
    """The pointer of an index entry, DEAD for a free one."""
    slot = load_i64(entry + 8)
    return load_i64(slots + _SLOT * slot + 16) if slot >= 0 else np.int64(DEAD)


@inline
def put_bytes_key(entry, slots, arena, word, key, length, pointer, state):
    """Make a key live that was not; a new one gets a slot and a copy of its bytes."""
    slot = load_i64(entry + 8)
    if slot < 0:
        slot, used = load_i64(state + KEYS), load_i64(state + ARENA)
        store_i64(entry, np.int64(word))
        store_i64(entry + 8, slot)
        store_i64(slots + _SLOT * slot, used)
        store_i64(slots + _SLOT * slot + 8, length)
        copy_bytes(arena + used, key, length)
        store_i64(state + KEYS, slot + 1)
        store_i64(state + ARENA, used + length)
    store_i64(slots + _SLOT * slot + 16, pointer)


@inline
def in_range(key, length, low, low_length, high, high_length):
    """low <= key < high as byte strings; a bound at address 0 is none."""
    return ((low == 0 or compare_bytes(low, low_length, key, length) <= 0)
            and (high == 0 or compare_bytes(key, length, high, high_length) < 0))


@inline
def compare_bytes(a, a_length, b, b_length):
    """memcmp order, the shorter one first: negative, 0 or positive."""
    shorter = min(a_length, b_length)
    for i in range(shorter):
        difference = np.int64(load_u8(a + i)) - np.int64(load_u8(b + i))
        if difference:
            return difference
    return a_length - b_length


@kernel
def apply_bytes(n, kinds, before_rows, after_rows, images, before_offsets, before_data, after_offsets, after_data, low,
                high, index, slots, arena, present, columns, patches, state):
    """`apply_ints` for keys that are byte strings: key r of an image is data[offsets[r]:offsets[r + 1]].

    `low` (inclusive) and `high` (exclusive) are bounds as uint8 arrays; an empty array is no bound. Every after-image
    has its key. Hashes are taken for a block of changes before the index is looked at, then the slots that they likely
    lead to, then those slots' keys, so that each memory line is there when it is needed.
    """
    mask = np.uint64(index.shape[0] - 1)
    limit = min(index.shape[0] >> 1, slots.shape[0])
    table, slot_base, arena_base, arena_room = index.ctypes.data, slots.ctypes.data, arena.ctypes.data, arena.shape[0]
    before_base, after_base = before_data.ctypes.data, after_data.ctypes.data
    low_length, high_length = low.shape[0], high.shape[0]
    low_at = low.ctypes.data if low_length else 0
    high_at = high.ctypes.data if high_length else 0
    words = np.empty(2 * _BLOCK, np.uint64)
    likely = np.empty(_BLOCK, np.int64)
    j = load_i64(state + NEXT)
    status = DONE
    while j < n and status == DONE:
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
            if load_i64(state + KEYS) + 1 > limit:
                status = INDEX_FULL
                break
            if no_patch_left(state):
                status = PATCHES_FULL
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
                if load_i64(state + ARENA) + new_length > arena_room:
                    status = ARENA_FULL
                    break
            pointer, found = np.int64(DEAD), np.int64(0)
            if inside:
                found = byte_entry(table, mask, slot_base, arena_base, words[2 * i], old_at, old_length)
                pointer = byte_pointer(found, slot_base)
                if pointer < 0:
                    status = MISSING
                    break
                if lands_inside and old_length == new_length and same_bytes(old_at, new_at, new_length):
                    pointer = updated_pointer(pointer, image, present, columns, patches, state)
                    store_i64(slot_base + _SLOT * load_i64(found + 8) + 16, pointer)
                    add(state + UPDATED, 1)
                    j += 1
                    continue
            if lands_inside:
                word = words[2 * i + 1]
                target = byte_entry(table, mask, slot_base, arena_base, word, new_at, new_length)
                if byte_pointer(target, slot_base) >= 0:
                    status = DUPLICATE
                    break
                if inside:
                    image = updated_pointer(pointer, image, present, columns, patches, state)
                elif kind != INSERT and load_u8(present + (image >> IMAGE_ID_SHIFT) * (columns + 1)) == 0:
                    status = SPLIT_PATCH
                    break
                put_bytes_key(target, slot_base, arena_base, word, new_at, new_length, image, state)
                add(state + LIVE, 1)
            elif inside:
                free_patch(pointer, patches, columns, state)
            if inside:
                store_i64(slot_base + _SLOT * load_i64(found + 8) + 16, DEAD)
                add(state + LIVE, -1)
            if kind == INSERT:
                add(state + INSERTED, 1 if lands_inside else 0)
            elif inside:
                add(state + (DELETED if kind == DELETE else UPDATED), 1)
            j += 1
    store_i64(state + NEXT, j)
    return status


@kernel
def grow_bytes(slots, keys, index, arena):
    """Fill an empty index with the first `keys` slots."""
    mask = np.uint64(index.shape[0] - 1)
    base = arena.ctypes.data
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
    to, origin = data.ctypes.data, arena.ctypes.data
    for i in range(starts.shape[0]):
        copy_bytes(to + offsets[i], origin + starts[i], offsets[i + 1] - offsets[i])


@kernel
def copy_images(addresses, offsets, target):
    """Copy images, image i from addresses[i], to offsets[i] … offsets[i + 1] from the address `target`."""
    for i in range(addresses.shape[0]):
        copy_bytes(target + offsets[i], addresses[i], offsets[i + 1] - offsets[i])
