# mypy: allow-untyped-defs, no-check-untyped-defs
"""The memory layout of a row store: records of eight-byte words, and small functions on them.

    store     one for all rows
    slot      a row: its pointer, the location of its record in the buffer, its rank in the table's order, the record's
              size
    record    the indexed data of a row: for each *part* where it ends (uint32, from the first part's start), then
              the parts' bytes. A part is a column, or the part of it that a key uses, as keysearch.keybytes encodes it
              after a byte that says whether it is NULL
    index     its parts, heads of buckets, and for each slot the next and the previous one in its bucket
              and the hash of its key
    input     a part of a batch's images: offsets, data, the rows without it (address 0: none), and their common value
              (0: each row's value is in the data)

Records and images are accessed by address, everything else as typed views.
"""

import numpy as np

from applier.apply.index.byte_keys_kernel import hash_key
from applier.kernels.byte_strings import same_bytes
from keysearch.keybytes_kernel import compare_bytes
from keysearch.memory import copy_bytes, inline, load_i64, load_u8, load_u32, store_i64, store_u32
from keysearch.records import struct

STORE, store_at, _ = struct("store", **dict.fromkeys((
    "n_parts", "slots", "slot_room", "slots_used", "free_slot", "buffer", "buffer_used", "buffer_room", "garbage",
    "next_order", "indexes", "n_indexes", "n_unique", "rank", "before", "after", "searches", "detail",
    "replaced_row_pointer", "replaced_row_record", "replaced_row_order", "awaited", "awaited_of"), np.int64))
"""`before` and `after` are the inputs of a batch's images, `searches` (uint8, by row of the before-images) the numbers
of indexes, `rank` the index with the table's order, -1 for the order of arrival. `free_slot` is -1 if there is none."""
NO_SEARCH, NO_ROW = 255, 254
"""In `searches`: a before-image by which no row can be searched, and one that finds no row."""
WAITS, TOLD = 1, 2
"""In `awaited` (uint8, by row of the after-images; address 0 if no image awaits a value): a part must be computed from
the row that is found; or it was computed, from the row's record at `awaited_of` (int64, by row of the after-images)."""

SLOT, _, _slot = struct("slot", **dict.fromkeys(("pointer", "record", "order", "size", "hash"), np.int64))
"""A free slot has the next free one as its pointer, and -1 as its record. `hash` is for a witness."""
INDEX, index_view, _index = struct("index", **dict.fromkeys(("n", "parts", "heads", "mask", "links", "kind"),
                                                            np.int64))
UNIQUE, ALIKE, UNLIKE = 0, 1, 2
"""The `kind` of an index: a key has one row; several rows, which are equal; or several rows, which may differ."""
LINK, _, link_at = struct("link", next=np.int64, previous=np.int64, hash=np.uint64)
INPUT, _, input_at = struct("input", **dict.fromkeys(("offsets", "data", "absent", "default", "default_length"),
                                                     np.int64))

_GOLDEN, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


@inline
def part_start(record, n, part):
    return record + 4 * n + (np.int64(load_u32(record + 4 * (part - 1))) if part else 0)


@inline
def part_end(record, n, part):
    return record + 4 * n + np.int64(load_u32(record + 4 * part))


@inline
def has_own(entry, row, old):
    """Return whether an image's part is in the input `entry`; `old` is 0 if there is no previous row."""
    absent = entry.absent
    return absent == 0 or load_u8(absent + row) == 0 or (old == 0 and entry.default == 0)


@inline
def record_size(inputs, n, row, old):
    """Return the size of an image's record in bytes. Missing parts are those of the record `old` (0: the defaults)."""
    size = 4 * n
    for part in range(n):
        entry = input_at(inputs, part)
        if has_own(entry, row, old):
            offsets = entry.offsets + 8 * row
            size += load_i64(offsets + 8) - load_i64(offsets)
        elif old:
            size += part_end(old, n, part) - part_start(old, n, part)
        else:
            size += entry.default_length
    return size


@inline
def put_record(inputs, n, row, old, to):
    """Write the record of an image at `to`, which does not overlap `old`."""
    at, first = to + 4 * n, to + 4 * n
    for part in range(n):
        entry = input_at(inputs, part)
        if has_own(entry, row, old):
            offsets = entry.offsets + 8 * row
            source = load_i64(offsets)
            length = load_i64(offsets + 8) - source
            source += entry.data
        elif old:
            source = part_start(old, n, part)
            length = part_end(old, n, part) - source
        else:
            source, length = entry.default, entry.default_length
        copy_bytes(at, source, length)
        at += length
        store_u32(to + 4 * part, np.uint32(at - first))


@inline
def key_hash(index, record, n):
    """Return a hash of 64 bits of a record's key in an index."""
    word = _GOLDEN
    parts = index.parts
    for i in range(index.n):
        part = load_i64(parts + 8 * i)
        start = part_start(record, n, part)
        word = (word ^ hash_key(start, part_end(record, n, part) - start)) * _MIX
        word ^= word >> np.uint64(32)
    return word


@inline
def same_key(index, a, b, n):
    """Return whether two records have the same key in an index."""
    parts = index.parts
    for i in range(index.n):
        part = load_i64(parts + 8 * i)
        a_start, b_start = part_start(a, n, part), part_start(b, n, part)
        length = part_end(a, n, part) - a_start
        if length != part_end(b, n, part) - b_start or not same_bytes(a_start, b_start, length):
            return False
    return True


@inline
def has_null(index, record, n):
    """Return whether a part of a record's key is NULL; then it equals no other key."""
    parts = index.parts
    for i in range(index.n):
        if load_u8(part_start(record, n, load_i64(parts + 8 * i))) == 0:
            return True
    return False


@inline
def compare_keys(index, a, b, n):
    """Compare two records by an index's key: negative, 0 or positive."""
    parts = index.parts
    for i in range(index.n):
        part = load_i64(parts + 8 * i)
        a_start, b_start = part_start(a, n, part), part_start(b, n, part)
        order = compare_bytes(a_start, part_end(a, n, part) - a_start, b_start, part_end(b, n, part) - b_start)
        if order:
            return order
    return np.int64(0)


@inline
def index_at(store, number):
    return _index(store.indexes, number)


@inline
def slot_at(store, number):
    return _slot(store.slots, number)


@inline
def record_of(store, slot):
    """Return the address of a slot's record."""
    return store.buffer + slot.record


@inline
def comes_before(store, a, b, n):
    """Return whether a scan of the table by a server finds row a before row b (slot numbers): the order is that of the
    clustered key, then that of arrival."""
    rank = store.rank
    if rank >= 0:
        order = compare_keys(index_at(store, rank), record_of(store, slot_at(store, a)),
                             record_of(store, slot_at(store, b)), n)
        if order:
            return order < 0
    return slot_at(store, a).order < slot_at(store, b).order


@inline
def find(store, index, record, n):
    """Return the number of the slot with the key of `record`; -1 if there is none. If there are several, the one that a
    server finds first."""
    word = key_hash(index, record, n)
    number = load_i64(index.heads + 8 * np.int64(word & np.uint64(index.mask)))
    links, kind = index.links, index.kind
    best = np.int64(-1)
    while number >= 0:
        link = link_at(links, number)
        if link.hash == word and same_key(index, record, record_of(store, slot_at(store, number)), n):
            if kind != UNLIKE:
                return number
            if best < 0 or comes_before(store, number, best, n):
                best = number
        number = link.next
    return best


@inline
def put_link(store, index, number, word):
    """Insert a slot into an index: at the start of its bucket, or, in an index with equal rows, by its order among
    those with its hash. The previous slot of a bucket's first one is its last one, inverted."""
    head = index.heads + 8 * np.int64(word & np.uint64(index.mask))
    links, first = index.links, load_i64(head)
    link = link_at(links, number)
    link.hash = word
    before = np.int64(-1)
    if first >= 0 and index.kind == ALIKE:
        before, order = ~link_at(links, first).previous, slot_at(store, number).order
        while before >= 0 and link_at(links, before).hash != word:
            before = link_at(links, before).previous
        if before >= 0 and slot_at(store, before).order > order:
            before, after = np.int64(-1), first
            while link_at(links, after).hash != word or slot_at(store, after).order < order:
                before, after = after, link_at(links, after).next
    if before < 0:
        link.next = first
        if first >= 0:
            link.previous = link_at(links, first).previous
            link_at(links, first).previous = number
        else:
            link.previous = ~number
        store_i64(head, number)
        return
    following = link_at(links, before).next
    link.next = following
    link.previous = before
    link_at(links, before).next = number
    if following >= 0:
        link_at(links, following).previous = number
    else:
        link_at(links, first).previous = ~number


@inline
def drop_link(index, number):
    """Remove a slot from an index."""
    links = index.links
    link = link_at(links, number)
    head = index.heads + 8 * np.int64(link.hash & np.uint64(index.mask))
    following, before = link.next, link.previous
    if before >= 0:
        link_at(links, before).next = following
    else:
        store_i64(head, following)
    if following >= 0:
        link_at(links, following).previous = before
    elif before >= 0:
        link_at(links, load_i64(head)).previous = ~before
