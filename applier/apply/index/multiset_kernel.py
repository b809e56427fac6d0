# mypy: allow-untyped-defs, no-check-untyped-defs
"""The pointer algorithm for rows that are found by all they hold: a table as a multiset of row images.

Rows whose images are the same bytes are the same rows, so nothing is decoded and nothing copied: an image is hashed and
compared where it lies. A row that an image with other bytes stands for (a date that is none beside NULL, JSON stored in
another way) is not found here; whoever calls knows what to do then (multiset_search).

    set       words named below
    slot      a row: pointer to its image, the next row whose image has the same hash, its place in the table's order,
              the image's bytes; a free one has -1 as its pointer
    entry     hash, the first row that has it (-1: the entry is free): an open-addressed table, of which one entry in
              two is always free

Removing an entry moves those behind it up (Knuth, 6.4, algorithm R), so rows that come and go leave nothing behind.

Rules: FIND (a row found by a scan equals the before-image in every column), FIND-ROWS.
"""

import numpy as np

from applier.apply.index.pointer_kernel import add, state_at
from applier.apply.index.status import Status
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.binlog.rows.table_ids_kernel import same_bytes
from keysearch.memory import inline, kernel, load_i32, load_i64, load_u8, load_u64, prefetch, store_i64, store_u64

# a set, in bytes from its start
ENTRIES, MASK, SLOTS, SLOT_ROOM, SLOTS_USED, FREE_SLOT, NEXT_PLACE = range(0, 56, 8)
SET_WORDS = 8

# a slot
POINTER, FOLLOWING, PLACE, LENGTH = range(0, 32, 8)
SLOT_BYTES = 32

_HASH, _FIRST, _ENTRY_BYTES = 0, 8, 16
_BLOCK = 64
_AHEAD = 16
_ADDRESS = (1 << IMAGE_ID_SHIFT) - 1
_LINES = 4
"""Memory lines of an image that are asked for before it is compared."""
_MIX, _LAST_MIX = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_SEEDS = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))


@inline
def mixed(state, word):
    state = (state ^ word) * _MIX
    return state ^ (state >> np.uint64(32))


@inline
def hash_image(at, length):
    """64 bits of a row image: four words at a time, each into a state of its own, so that they do not wait for each
    other."""
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
    """The address of a hash's entry, or of the free one where it would go."""
    entry, last = entries + _ENTRY_BYTES * np.int64(word & mask), entries + _ENTRY_BYTES * np.int64(mask)
    while load_i64(entry + _FIRST) >= 0 and load_u64(entry + _HASH) != word:
        entry = entry + _ENTRY_BYTES if entry < last else entries
    return entry


@inline
def free_entry(entries, mask, entry):
    """Make an entry free, so that those behind it are still found."""
    last = np.int64(mask)
    hole = (entry - entries) // _ENTRY_BYTES
    at = hole
    while True:
        at = (at + 1) & last
        other = entries + _ENTRY_BYTES * at
        if load_i64(other + _FIRST) < 0:
            break
        home = np.int64(load_u64(other + _HASH) & mask)
        if (at - home) & last >= (at - hole) & last:
            free = entries + _ENTRY_BYTES * hole
            store_u64(free + _HASH, load_u64(other + _HASH))
            store_i64(free + _FIRST, load_i64(other + _FIRST))
            hole = at
    store_i64(entries + _ENTRY_BYTES * hole + _FIRST, -1)


@inline
def link(entries, mask, slots, word, number):
    """Put a row among those of its hash."""
    entry = entry_of(entries, mask, word)
    store_i64(slots + SLOT_BYTES * number + FOLLOWING, load_i64(entry + _FIRST))
    store_u64(entry + _HASH, word)
    store_i64(entry + _FIRST, number)


@inline
def find_row(entries, mask, slots, word, image, length):
    """A row with this image: (its number, -1 if there is none; the address of where the number stands)."""
    place = entry_of(entries, mask, word) + _FIRST
    number = load_i64(place)
    while number >= 0:
        slot = slots + SLOT_BYTES * number
        if load_i64(slot + LENGTH) == length and same_bytes(load_i64(slot + POINTER) & _ADDRESS, image, length):
            break
        place = slot + FOLLOWING
        number = load_i64(place)
    return number, place


@inline
def unlink(entries, mask, slots, number, place):
    """Take a row out from among those of its hash, given what `find_row` gave."""
    following = load_i64(slots + SLOT_BYTES * number + FOLLOWING)
    store_i64(place, following)
    entry = place - _FIRST
    if following < 0 and entry >= entries and entry <= entries + _ENTRY_BYTES * np.int64(mask):
        free_entry(entries, mask, entry)


@inline
def take_slot(rows):
    """The number of a slot for a new row; there has to be one."""
    number = load_i64(rows + FREE_SLOT)
    if number >= 0:
        store_i64(rows + FREE_SLOT, load_i64(load_i64(rows + SLOTS) + SLOT_BYTES * number + FOLLOWING))
        return number
    number = load_i64(rows + SLOTS_USED)
    store_i64(rows + SLOTS_USED, number + 1)
    return number


@inline
def put_row(rows, word, pointer, length, place):
    """A new row."""
    number, slots = take_slot(rows), load_i64(rows + SLOTS)
    slot = slots + SLOT_BYTES * number
    store_i64(slot + POINTER, pointer)
    store_i64(slot + PLACE, place)
    store_i64(slot + LENGTH, length)
    link(load_i64(rows + ENTRIES), np.uint64(load_i64(rows + MASK)), slots, word, number)


@kernel
def apply_images(n, before_images, before_lengths, images, image_lengths, rows, state_address):
    """Apply `n` changes from the state's `next` on; says why it stopped. The arrays of a batch go by their addresses;
    `rows` is that of a set.

    Hashes are taken for a block of changes before the set is looked at, then come the slots that they likely lead to,
    then these rows' images, so that each memory line is there when it is needed.
    """
    state = state_at(state_address)
    entries, mask = load_i64(rows + ENTRIES), np.uint64(load_i64(rows + MASK))
    slots, room = load_i64(rows + SLOTS), load_i64(rows + SLOT_ROOM)
    words, likely = np.empty(2 * _BLOCK, np.uint64), np.empty(_BLOCK, np.int64)
    start = state.next
    status = Status.DONE
    while start < n and status == Status.DONE:
        block = min(np.int64(_BLOCK), n - start)
        if block > room - state.live:
            status = Status.INDEX_FULL
            break
        for i in range(block):
            before, after = load_i64(before_images + 8 * (start + i)), load_i64(images + 8 * (start + i))
            if before >= 0:
                word = hash_image(before & _ADDRESS, np.int64(load_i32(before_lengths + 4 * (start + i))))
                prefetch(entries + _ENTRY_BYTES * np.int64(word & mask))
                words[2 * i] = word
            if after >= 0:
                word = hash_image(after & _ADDRESS, np.int64(load_i32(image_lengths + 4 * (start + i))))
                prefetch(entries + _ENTRY_BYTES * np.int64(word & mask))
                words[2 * i + 1] = word
        for i in range(block):
            likely[i] = -1
            if load_i64(before_images + 8 * (start + i)) >= 0:
                likely[i] = load_i64(entry_of(entries, mask, words[2 * i]) + _FIRST)
                prefetch(slots + SLOT_BYTES * likely[i])
        for i in range(block):
            if likely[i] >= 0:
                image = load_i64(slots + SLOT_BYTES * likely[i] + POINTER) & _ADDRESS
                for line in range(_LINES):
                    prefetch(image + 64 * line)
        for i in range(block):
            j = start + i
            before, after = load_i64(before_images + 8 * j), load_i64(images + 8 * j)
            after_length = np.int64(load_i32(image_lengths + 4 * j))
            if before < 0:
                put_row(rows, words[2 * i + 1], after, after_length, load_i64(rows + NEXT_PLACE))
                add(rows + NEXT_PLACE, 1)
                state.live += 1
                state.inserted += 1
                continue
            length = np.int64(load_i32(before_lengths + 4 * j))
            number, place = find_row(entries, mask, slots, words[2 * i], before & _ADDRESS, length)
            if number < 0:
                status = Status.MISSING
                block = i
                break
            slot = slots + SLOT_BYTES * number
            if after < 0:
                unlink(entries, mask, slots, number, place)
                store_i64(slot + POINTER, -1)
                store_i64(slot + FOLLOWING, load_i64(rows + FREE_SLOT))
                store_i64(rows + FREE_SLOT, number)
                state.live -= 1
                state.deleted += 1
                continue
            store_i64(slot + POINTER, after)
            if words[2 * i] != words[2 * i + 1]:
                unlink(entries, mask, slots, number, place)
                link(entries, mask, slots, words[2 * i + 1], number)
            store_i64(slot + LENGTH, after_length)
            state.updated += 1
        start += block
    state.next = start
    return status


@kernel
def put_rows(pointers, lengths, places, rows):
    """Put rows in, given their images, their bytes and their places in the table's order (int64[n]); there has to be
    room."""
    for i in range(pointers.shape[0]):
        put_row(rows, hash_image(pointers[i] & _ADDRESS, lengths[i]), pointers[i], lengths[i], places[i])


@kernel
def missing_rows(n, before_images, before_lengths, rows, state_address, found):
    """Numbers of the changes from NEXT to before `n` whose before-image no row has now, into `found` (int64[n]); how
    many."""
    state = state_at(state_address)
    entries, mask = load_i64(rows + ENTRIES), np.uint64(load_i64(rows + MASK))
    slots, count = load_i64(rows + SLOTS), 0
    for j in range(state.next, n):
        before = load_i64(before_images + 8 * j)
        if before >= 0:
            image, length = before & _ADDRESS, np.int64(load_i32(before_lengths + 4 * j))
            number, _ = find_row(entries, mask, slots, hash_image(image, length), image, length)
            if number < 0:
                found[count] = j
                count += 1
    return count


@kernel
def grow_entries(old, n, new, mask):
    """Copy the `n` entries of one table into another, empty one, both by their addresses."""
    mask = np.uint64(mask)
    for i in range(n):
        entry = old + _ENTRY_BYTES * i
        if i + _AHEAD < n:
            prefetch(new + _ENTRY_BYTES * np.int64(load_u64(entry + _ENTRY_BYTES * _AHEAD + _HASH) & mask))
        if load_i64(entry + _FIRST) >= 0:
            word = load_u64(entry + _HASH)
            to = entry_of(new, mask, word)
            store_u64(to + _HASH, word)
            store_i64(to + _FIRST, load_i64(entry + _FIRST))
