# mypy: allow-untyped-defs, no-check-untyped-defs
"""The pointer algorithm for rows that are found by their whole content: a table as a multiset of row images.

Rows whose images have the same bytes are equal, so no value is decoded or copied: an image is hashed and compared in
place. An image with other bytes for the same values (an invalid date instead of NULL, JSON stored in another way) does
not find the row here; the caller handles that (multiset_search).

    set       one for all rows
    slot      a row: pointer to its image, the next row whose image has the same hash, its rank in the table's order,
              the image's bytes; a free one has -1 as its pointer
    entry     hash, the last row that has it (-1: the entry is free): an open-addressed table, of which one entry in
              two is always free

The rows with one hash form a ring in the table's order: the last one leads to the first. So among equal rows the first
one is found, like in a server's scan of the table, and a new last row is added in constant time.

Removing an entry moves those after it up (Knuth, 6.4, algorithm R), so deleted rows leave no trace.

Rules: FIND (a row found by a scan equals the before-image in every column), FIND-ROWS.
"""

import numpy as np

from applier.apply.index.pointer_kernel import state_at
from applier.apply.index.status import Status
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.kernels.byte_strings import same_bytes
from keysearch.memory import inline, kernel, load_i32, load_i64, load_u8, load_u64, prefetch, store_i64, store_u64
from keysearch.records import struct

SET, set_at, _ = struct("set", **dict.fromkeys((
    "entries", "mask", "slots", "slot_room", "slots_used", "free_slot", "next_order", "before_images",
    "before_lengths", "image_lengths", "hashes", "likely"), np.int64))
"""`before_images` … `image_lengths` are the addresses of the arrays of the current batch. Of a block of its changes,
`hashes` has the hashes of both images of each, `likely` the rows to which those of the before-images probably lead."""
SLOT, _, slot_at = struct("slot", pointer=np.int64, following=np.int64, order=np.int64, length=np.int64)
"""`following` is the next row whose image has the same hash; for the last one, the first one; for a free slot, the next
free slot."""
ENTRY, entry_at, _ = struct("entry", hash=np.uint64, last=np.int64)

_ENTRY_BYTES, _SLOT_BYTES = ENTRY.itemsize, SLOT.itemsize
BLOCK = 64
_AHEAD = 16
_ADDRESS = (1 << IMAGE_ID_SHIFT) - 1
_LINES = 4
"""The number of memory lines of an image to prefetch before it is compared."""
_MIX, _LAST_MIX = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_SEEDS = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))


@inline
def mixed(state, word):
    state = (state ^ word) * _MIX
    return state ^ (state >> np.uint64(32))


@inline
def hash_image(at, length):
    """Return a hash of 64 bits of a row image, computed four words at a time, each with a state of its own, so that
    they do not depend on each other."""
    a, b, c, d = _SEEDS[0] ^ np.uint64(length), _SEEDS[1], _SEEDS[2], _SEEDS[3]
    end = at + length
    while at + 32 <= end:
        a, b = mixed(a, load_u64(at)), mixed(b, load_u64(at + 8))
        c, d = mixed(c, load_u64(at + 16)), mixed(d, load_u64(at + 24))
        at += 32
    while at + 8 <= end:
        a = mixed(a, load_u64(at))
        at += 8
    tail, shift = np.uint64(0), np.uint64(0)
    while at < end:
        tail |= np.uint64(load_u8(at)) << shift
        shift += np.uint64(8)
        at += 1
    b = mixed(b, tail)
    word = mixed(mixed(mixed(a, b), c), d) * _LAST_MIX
    return word ^ (word >> np.uint64(29))


@inline
def entry_of(entries, mask, word):
    """Return the address of a hash's entry, or of the free one where it belongs."""
    entry, last = entries + _ENTRY_BYTES * np.int64(word & mask), entries + _ENTRY_BYTES * np.int64(mask)
    while entry_at(entry).last >= 0 and entry_at(entry).hash != word:
        entry = entry + _ENTRY_BYTES if entry < last else entries
    return entry


@inline
def free_entry(entries, mask, entry):
    """Free an entry, and move the entries after it so that they are still found."""
    last = np.int64(mask)
    hole = (entry - entries) // _ENTRY_BYTES
    at = hole
    while True:
        at = (at + 1) & last
        other = entries + _ENTRY_BYTES * at
        if entry_at(other).last < 0:
            break
        home = np.int64(entry_at(other).hash & mask)
        if (at - home) & last >= (at - hole) & last:
            free = entries + _ENTRY_BYTES * hole
            entry_at(free).hash = entry_at(other).hash
            entry_at(free).last = entry_at(other).last
            hole = at
    entry_at(entries + _ENTRY_BYTES * hole).last = -1


@inline
def link(entries, mask, slots, word, number):
    """Insert a row among those with its hash, by its rank."""
    entry = entry_at(entry_of(entries, mask, word))
    row, last = slot_at(slots, number), entry.last
    if last < 0:
        entry.hash = word
        before = number
    else:
        before = last
        if slot_at(slots, last).order > row.order:
            while slot_at(slots, slot_at(slots, before).following).order < row.order:
                before = slot_at(slots, before).following
    if last < 0 or slot_at(slots, last).order < row.order:
        entry.last = number
    if before != number:
        row.following = slot_at(slots, before).following
    slot_at(slots, before).following = number


@inline
def find_row(entries, mask, slots, word, image, length):
    """Find the first row with this image. Returns (its number, -1 if there is none; the number of the row before it in
    the ring)."""
    last = entry_at(entry_of(entries, mask, word)).last
    if last < 0:
        return last, last
    before = last
    while True:
        number = slot_at(slots, before).following
        slot = slot_at(slots, number)
        if slot.length == length and same_bytes(slot.pointer & _ADDRESS, image, length):
            return number, before
        if number == last:
            return np.int64(-1), before
        before = number


@inline
def unlink(entries, mask, slots, word, number, before):
    """Remove a row from those with its hash, given the result of `find_row`."""
    entry = entry_of(entries, mask, word)
    if before == number:
        free_entry(entries, mask, entry)
        return
    slot_at(slots, before).following = slot_at(slots, number).following
    if entry_at(entry).last == number:
        entry_at(entry).last = before


@inline
def take_slot(rows):
    """Return the number of a free slot for a new row; there must be one."""
    number = rows.free_slot
    if number >= 0:
        rows.free_slot = slot_at(rows.slots, number).following
        return number
    number = rows.slots_used
    rows.slots_used = number + 1
    return number


@inline
def put_row(rows, word, pointer, length, order):
    """Add a new row."""
    number, slots = take_slot(rows), rows.slots
    slot = slot_at(slots, number)
    slot.pointer = pointer
    slot.order = order
    slot.length = length
    link(rows.entries, np.uint64(rows.mask), slots, word, number)


@inline
def hash_ahead(rows, image, length, to):
    """Compute the hash of an image, and prefetch its entry."""
    word = hash_image(image & _ADDRESS, length)
    store_u64(to, word)
    prefetch(rows.entries + _ENTRY_BYTES * np.int64(word & np.uint64(rows.mask)))


@inline
def look_ahead(rows, state, first, block):
    """Hash a block of changes, then prefetch the slots that the hashes probably lead to, then these rows' images, so
    that each memory line is in the cache when it is needed."""
    entries, mask, slots, likely = rows.entries, np.uint64(rows.mask), rows.slots, rows.likely
    for i in range(block):
        j, word = first + i, rows.hashes + 16 * i
        before, after = load_i64(rows.before_images + 8 * j), load_i64(state.images + 8 * j)
        if before >= 0:
            hash_ahead(rows, before, np.int64(load_i32(rows.before_lengths + 4 * j)), word)
        if after >= 0:
            hash_ahead(rows, after, np.int64(load_i32(rows.image_lengths + 4 * j)), word + 8)
    for i in range(block):
        number = np.int64(-1)
        if load_i64(rows.before_images + 8 * (first + i)) >= 0:
            number = entry_at(entry_of(entries, mask, load_u64(rows.hashes + 16 * i))).last
            prefetch(slots + _SLOT_BYTES * number)
        store_i64(likely + 8 * i, number)
    for i in range(block):
        number = load_i64(likely + 8 * i)
        if number >= 0:
            image = slot_at(slots, number).pointer & _ADDRESS
            for line in range(_LINES):
                prefetch(image + 64 * line)


@inline
def delete_row(rows, word, number, before, state):
    """Delete a row that `find_row` returned."""
    slot = slot_at(rows.slots, number)
    unlink(rows.entries, np.uint64(rows.mask), rows.slots, word, number, before)
    slot.pointer = -1
    slot.following = rows.free_slot
    rows.free_slot = number
    state.live -= 1
    state.deleted += 1


@inline
def apply_change(rows, j, words, state):
    """Apply change j, given the address of the hashes of its images. Returns DONE or MISSING."""
    entries, mask, slots = rows.entries, np.uint64(rows.mask), rows.slots
    before, after = load_i64(rows.before_images + 8 * j), load_i64(state.images + 8 * j)
    word, new_word = load_u64(words), load_u64(words + 8)
    after_length = np.int64(load_i32(rows.image_lengths + 4 * j))
    if before < 0:
        put_row(rows, new_word, after, after_length, rows.next_order)
        rows.next_order += 1
        state.live += 1
        state.inserted += 1
        return Status.DONE
    length = np.int64(load_i32(rows.before_lengths + 4 * j))
    number, previous = find_row(entries, mask, slots, word, before & _ADDRESS, length)
    if number < 0:
        return Status.MISSING
    if after < 0:
        delete_row(rows, word, number, previous, state)
        return Status.DONE
    slot = slot_at(slots, number)
    slot.pointer = after
    if word != new_word:
        unlink(entries, mask, slots, word, number, previous)
        link(entries, mask, slots, new_word, number)
    slot.length = after_length
    state.updated += 1
    return Status.DONE


@kernel
def apply_images(n, set_address, state_address):
    """Apply n changes from the state's `next` on. Returns why it stopped."""
    rows, state = set_at(set_address), state_at(state_address)
    j, status = state.next, Status.DONE
    while j < n and status == Status.DONE:
        block = min(np.int64(BLOCK), n - j)
        if block > rows.slot_room - state.live:
            status = Status.INDEX_FULL
            break
        look_ahead(rows, state, j, block)
        for i in range(block):
            status = apply_change(rows, j, rows.hashes + 16 * i, state)
            if status != Status.DONE:
                break
            j += 1
    state.next = j
    return status


@kernel
def put_rows(pointers, lengths, orders, set_address):
    """Add rows, given their images, their lengths and their ranks in the table's order (int64[n]); there must be
    room."""
    rows = set_at(set_address)
    for i in range(pointers.shape[0]):
        put_row(rows, hash_image(pointers[i] & _ADDRESS, lengths[i]), pointers[i], lengths[i], orders[i])


@kernel
def grow_entries(old, n, new, mask):
    """Copy the `n` entries of one table into another, empty one, both by their addresses."""
    mask = np.uint64(mask)
    for i in range(n):
        entry = old + _ENTRY_BYTES * i
        if i + _AHEAD < n:
            prefetch(new + _ENTRY_BYTES * np.int64(entry_at(entry + _ENTRY_BYTES * _AHEAD).hash & mask))
        if entry_at(entry).last >= 0:
            word = entry_at(entry).hash
            to = entry_of(new, mask, word)
            entry_at(to).hash = word
            entry_at(to).last = entry_at(entry).last
