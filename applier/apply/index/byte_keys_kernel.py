# mypy: allow-untyped-defs, no-check-untyped-defs
"""Keys that are byte strings, as an encoding of `key_index_kernel`.

    entry     hash, slot (FREE: none): an open-addressed table
    slot      the location and length of the key's bytes in the buffer, pointer (DEAD: deleted), the number of the row,
              and, for a witness, the hash of the row's image

Here a key is (address, length, hash).
"""

import numpy as np

from applier.kernels.byte_strings import same_bytes
from keysearch.keybytes_kernel import compare_bytes
from keysearch.memory import (
    copy_bytes,
    inline,
    kernel,
    load_i32,
    load_i64,
    load_u8,
    load_u64,
    prefetch,
    store_i64,
    store_u64,
)
from keysearch.records import offset, struct

INDEX, index_at, _ = struct("byte keys", table=np.int64, mask=np.uint64, **dict.fromkeys((
    "key_room", "slots", "buffer", "buffer_room", "low", "low_length", "high", "high_length", "before_offsets",
    "before_data", "after_offsets", "after_data", "hashes", "likely", "next_row"), np.int64))
"""The table and its last entry's number, the number of keys that fit, their slots and bytes, and the bounds of the
unit's keys (address 0: none). Of the current batch: key r of an image is data[offsets[r]:offsets[r + 1]]. Of a block of
changes: the hashes of both keys of each, and the slots to which the hashes of before-images probably lead. `next_row`
is the number of the next new slot: slots move when those of deleted keys are freed, but keep their numbers."""
ENTRY, entry_at, _ = struct("entry", hash=np.uint64, slot=np.int64)
SLOT, slot_view, slot_at = struct("slot", **dict.fromkeys(("start", "length", "pointer", "row", "hash"), np.int64))
FREE = -1

_ENTRY_BYTES, _SLOT_BYTES = ENTRY.itemsize, SLOT.itemsize
_SLOT, _POINTER = offset(ENTRY, "slot"), offset(SLOT, "pointer")
BLOCK = 64


@inline
def hash_key(address, length):
    """Return a hash of 64 bits of a byte string, computed eight bytes at a time."""
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
def home(index, word):
    """Return the address of the entry at which the search for a hash begins."""
    return index.table + _ENTRY_BYTES * np.int64(word & index.mask)


@inline
def hash_ahead(index, offsets, data, row, to):
    """Compute the hash of an image's key, and prefetch its entry."""
    start = load_i64(offsets + 8 * row)
    word = hash_key(data + start, load_i64(offsets + 8 * row + 8) - start)
    store_u64(to, word)
    prefetch(home(index, word))


@inline
def image_key(offsets, data, row, word):
    start = load_i64(offsets + 8 * row)
    return data + start, load_i64(offsets + 8 * row + 8) - start, load_u64(word)


# ---- the functions of an encoding


@inline
def look_ahead(index, state, first, n):
    """Hash the keys of a block of changes, then prefetch the slots that the hashes probably lead to, then those slots'
    keys, so that each memory line is in the cache when it is needed."""
    block, slots, likely = min(np.int64(BLOCK), n - first), index.slots, index.likely
    for i in range(block):
        word = index.hashes + 16 * i
        before = np.int64(load_i32(state.before_rows + 4 * (first + i)))
        after = np.int64(load_i32(state.after_rows + 4 * (first + i)))
        store_u64(word, np.uint64(0))
        if before >= 0:
            hash_ahead(index, index.before_offsets, index.before_data, before, word)
        if after >= 0:
            hash_ahead(index, index.after_offsets, index.after_data, after, word + 8)
    for i in range(block):
        slot = entry_at(home(index, load_u64(index.hashes + 16 * i))).slot
        store_i64(likely + 8 * i, slot)
        prefetch(slots + _SLOT_BYTES * slot)
    for i in range(block):
        slot = load_i64(likely + 8 * i)
        if slot >= 0:
            prefetch(index.buffer + slot_at(slots, slot).start)


@inline
def before_key(index, before, i):
    return image_key(index.before_offsets, index.before_data, before, index.hashes + 16 * i)


@inline
def after_key(index, after, i):
    return image_key(index.after_offsets, index.after_data, after, index.hashes + 16 * i + 8)


@inline
def keeps_key(index, after):
    """Return whether an update leaves the key out, and so keeps it: never, since every after-image has its key here."""
    return False


@inline
def is_same(key, other):
    return key[1] == other[1] and same_bytes(key[0], other[0], key[1])


@inline
def is_inside(index, key):
    """Return low <= key < high, as byte strings."""
    low, high = index.low, index.high
    return ((low == 0 or compare_bytes(low, index.low_length, key[0], key[1]) <= 0)
            and (high == 0 or compare_bytes(key[0], key[1], high, index.high_length) < 0))


@inline
def lacks_room(index, key, state):
    return key[1] > index.buffer_room - state.buffer_used


@inline
def find(index, key):
    """Return the address of a key's entry, or of the free one where it belongs."""
    address, length, word = key
    entry, last = home(index, word), index.table + _ENTRY_BYTES * np.int64(index.mask)
    while entry_at(entry).slot >= 0:
        if entry_at(entry).hash == word:
            slot = slot_at(index.slots, entry_at(entry).slot)
            if slot.length == length and same_bytes(index.buffer + slot.start, address, length):
                break
        entry = entry + _ENTRY_BYTES if entry < last else index.table
    return entry


@inline
def pointer_address(index, entry):
    """Return the address of an entry's pointer, which is negative if the key does not exist: FREE for a free entry."""
    slot = entry_at(entry).slot
    return index.slots + _SLOT_BYTES * slot + _POINTER if slot >= 0 else entry + _SLOT


@inline
def row_at(index, at):
    """Return the number in steps of the row whose pointer is at an address."""
    return slot_view(at - _POINTER).row


@inline
def hash_at(index, at):
    """Return the hash of the image that is the current row, given the address of its pointer."""
    return slot_view(at - _POINTER).hash


@inline
def set_hash(index, at, word):
    slot_view(at - _POINTER).hash = word


@inline
def put(index, entry, key, pointer, state):
    """Make a key live. A new key gets a slot and a copy of its bytes."""
    number = entry_at(entry).slot
    if number < 0:
        number, used = state.keys, state.buffer_used
        entry_at(entry).hash = key[2]
        entry_at(entry).slot = number
        slot_at(index.slots, number).start = used
        slot_at(index.slots, number).length = key[1]
        slot_at(index.slots, number).row = index.next_row
        index.next_row += 1
        copy_bytes(index.buffer + used, key[0], key[1])
        state.keys = number + 1
        state.buffer_used = used + key[1]
    slot_at(index.slots, number).pointer = pointer


# ---- the table as a whole


@kernel
def index_slots(n, index_address):
    """Fill an empty table with the first n slots, whose keys differ."""
    index = index_at(index_address)
    last = index.table + _ENTRY_BYTES * np.int64(index.mask)
    for number in range(n):
        slot = slot_at(index.slots, number)
        word = hash_key(index.buffer + slot.start, slot.length)
        entry = home(index, word)
        while entry_at(entry).slot >= 0:
            entry = entry + _ENTRY_BYTES if entry < last else index.table
        entry_at(entry).hash = word
        entry_at(entry).slot = number


@kernel
def key_words(starts, lengths, buffer, skip, words):
    """Write the eight bytes after the first `skip` bytes of each byte string to `words`, as a big-endian number, with
    zero bytes beyond its end."""
    for i in range(starts.shape[0]):
        word = np.uint64(0)
        left = min(np.int64(8), lengths[i] - skip)
        for j in range(left):
            word |= np.uint64(load_u8(buffer + starts[i] + skip + j)) << np.uint64(56 - 8 * j)
        words[i] = word


@kernel
def gather_keys(starts, offsets, buffer, data):
    """Copy byte strings (string i begins at the address buffer + starts[i]) to data + offsets[i], up to data +
    offsets[i + 1]."""
    for i in range(starts.shape[0]):
        copy_bytes(data + offsets[i], buffer + starts[i], offsets[i + 1] - offsets[i])
