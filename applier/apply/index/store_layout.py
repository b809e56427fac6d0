# mypy: allow-untyped-defs, no-check-untyped-defs
"""How a row store lies in memory: records of eight-byte words, and the kernels' small moves between them.

    store     words named below, one record for the whole store
    slot      a row: its pointer, where its record is in the arena, its place in the table's order, the record's bytes
    record    what indexes need of a row: for each *piece* where it ends (uint32, from the first piece's start), then
              the pieces' bytes. A piece is a column, or what a key takes of it, as keysearch.keybytes encodes it with a
              byte before it that says whether it is NULL
    index     which pieces it is over, heads of buckets, and for each slot the next and the previous one in its bucket
              and the hash of its key
    input     a piece of a batch's images: offsets, data, which rows lack it (0: none), and what these have instead (0:
              a value of its own each, which lies where others have theirs)

Everything goes by address (see pointer_kernel).
"""

import numpy as np

from applier.apply.index.byte_index_kernel import hash_key
from applier.binlog.rows.table_ids_kernel import same_bytes
from keysearch.keybytes_kernel import compare_bytes
from keysearch.memory import copy_bytes, inline, load_i64, load_u8, load_u32, load_u64, store_i64, store_u32

# a store
(N_PIECES, SLOTS, SLOT_ROOM, SLOTS_USED, FREE_SLOT, ARENA, ARENA_USED, ARENA_ROOM, GARBAGE, NEXT_ORDER, INDEXES,
 N_INDEXES, N_UNIQUE, RANK, BEFORE, AFTER, SEARCHES, DETAIL, REPLACED_ROW_POINTER, REPLACED_ROW_RECORD, AWAITED,
 AWAITED_OF) = range(0, 176, 8)
STORE_WORDS = 22
NO_SEARCH, NO_ROW = 255, 254
"""In SEARCHES: a before-image by which no row can be searched, and one by which none is found."""

WAITS, TOLD = 1, 2
"""In AWAITED (uint8 by row of the after-images; the word is 0 where no image awaits anything): a piece has to be
computed of the row that is found; it was, of the row's record at AWAITED_OF (int64 by row of the after-images)."""

# a slot; a free one has the next free one as its pointer and -1 as its record
POINTER, RECORD, ORDER, SIZE = range(0, 32, 8)
SLOT_BYTES = 32

# an index, and one slot's links in it
INDEX_N, INDEX_PIECES, HEADS, MASK, LINKS, RANKED = range(0, 48, 8)
INDEX_BYTES = 64
LINK_NEXT, LINK_BEFORE, LINK_HASH = 0, 8, 16
LINK_BYTES = 24

# a piece of a batch's images
OFFSETS, DATA, ABSENT, DEFAULT, DEFAULT_LENGTH = range(0, 40, 8)
INPUT_BYTES = 64

_GOLDEN, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


@inline
def part_start(record, n, piece):
    return record + 4 * n + (np.int64(load_u32(record + 4 * (piece - 1))) if piece else 0)


@inline
def part_end(record, n, piece):
    return record + 4 * n + np.int64(load_u32(record + 4 * piece))


@inline
def has_own(entry, row, old):
    """Whether an image's piece lies in the piece's input `entry`; `old` is 0 where there is no row before."""
    absent = load_i64(entry + ABSENT)
    return absent == 0 or load_u8(absent + row) == 0 or (old == 0 and load_i64(entry + DEFAULT) == 0)


@inline
def record_size(inputs, n, row, old):
    """Bytes of the record of an image: what it lacks is as in the record `old` (0: the default)."""
    size = 4 * n
    for piece in range(n):
        entry = inputs + INPUT_BYTES * piece
        if has_own(entry, row, old):
            offsets = load_i64(entry + OFFSETS) + 8 * row
            size += load_i64(offsets + 8) - load_i64(offsets)
        elif old:
            size += part_end(old, n, piece) - part_start(old, n, piece)
        else:
            size += load_i64(entry + DEFAULT_LENGTH)
    return size


@inline
def put_record(inputs, n, row, old, to):
    """Write the record of an image at `to`, which does not overlap `old`."""
    at, first = to + 4 * n, to + 4 * n
    for piece in range(n):
        entry = inputs + INPUT_BYTES * piece
        if has_own(entry, row, old):
            offsets = load_i64(entry + OFFSETS) + 8 * row
            source = load_i64(offsets)
            length = load_i64(offsets + 8) - source
            source += load_i64(entry + DATA)
        elif old:
            source = part_start(old, n, piece)
            length = part_end(old, n, piece) - source
        else:
            source, length = load_i64(entry + DEFAULT), load_i64(entry + DEFAULT_LENGTH)
        copy_bytes(at, source, length)
        at += length
        store_u32(to + 4 * piece, np.uint32(at - first))


@inline
def key_hash(index, record, n):
    """64 bits of a record's key in an index."""
    word = _GOLDEN
    pieces = load_i64(index + INDEX_PIECES)
    for i in range(load_i64(index + INDEX_N)):
        piece = load_i64(pieces + 8 * i)
        start = part_start(record, n, piece)
        word = (word ^ hash_key(start, part_end(record, n, piece) - start)) * _MIX
        word ^= word >> np.uint64(32)
    return word


@inline
def same_key(index, a, b, n):
    """Whether two records have the same key in an index."""
    pieces = load_i64(index + INDEX_PIECES)
    for i in range(load_i64(index + INDEX_N)):
        piece = load_i64(pieces + 8 * i)
        a_start, b_start = part_start(a, n, piece), part_start(b, n, piece)
        length = part_end(a, n, piece) - a_start
        if length != part_end(b, n, piece) - b_start or not same_bytes(a_start, b_start, length):
            return False
    return True


@inline
def has_null(index, record, n):
    """Whether a part of a record's key is NULL: then it is like no other key."""
    pieces = load_i64(index + INDEX_PIECES)
    for i in range(load_i64(index + INDEX_N)):
        if load_u8(part_start(record, n, load_i64(pieces + 8 * i))) == 0:
            return True
    return False


@inline
def compare_keys(index, a, b, n):
    """The order of two records by an index's key: negative, 0 or positive."""
    pieces = load_i64(index + INDEX_PIECES)
    for i in range(load_i64(index + INDEX_N)):
        piece = load_i64(pieces + 8 * i)
        a_start, b_start = part_start(a, n, piece), part_start(b, n, piece)
        order = compare_bytes(a_start, part_end(a, n, piece) - a_start, b_start, part_end(b, n, piece) - b_start)
        if order:
            return order
    return np.int64(0)


@inline
def index_at(store, number):
    return load_i64(store + INDEXES) + INDEX_BYTES * number


@inline
def slot_at(store, number):
    return load_i64(store + SLOTS) + SLOT_BYTES * number


@inline
def record_of(store, slot):
    """The address of a slot's record; `slot` is the slot's address."""
    return load_i64(store + ARENA) + load_i64(slot + RECORD)


@inline
def comes_before(store, a, b, n):
    """Whether a server that looks through the table meets row a first (slot numbers): the order of its clustered key,
    and where that is the same, or there is none, that in which the rows came."""
    rank = load_i64(store + RANK)
    if rank >= 0:
        order = compare_keys(index_at(store, rank), record_of(store, slot_at(store, a)),
                             record_of(store, slot_at(store, b)), n)
        if order:
            return order < 0
    return load_i64(slot_at(store, a) + ORDER) < load_i64(slot_at(store, b) + ORDER)


@inline
def find(store, index, record, word, n):
    """The number of the slot whose key is that of `record`, -1 if there is none; where several may be, and they are not
    all alike (RANKED), the one that a server meets first."""
    number = load_i64(load_i64(index + HEADS) + 8 * np.int64(word & np.uint64(load_i64(index + MASK))))
    links, ranked = load_i64(index + LINKS), load_i64(index + RANKED)
    best = np.int64(-1)
    while number >= 0:
        link = links + LINK_BYTES * number
        if load_u64(link + LINK_HASH) == word and same_key(index, record, record_of(store, slot_at(store, number)), n):
            if not ranked:
                return number
            if best < 0 or comes_before(store, number, best, n):
                best = number
        number = load_i64(link + LINK_NEXT)
    return best


@inline
def put_link(index, number, word):
    """Put a slot into an index."""
    head = load_i64(index + HEADS) + 8 * np.int64(word & np.uint64(load_i64(index + MASK)))
    links, first = load_i64(index + LINKS), load_i64(head)
    link = links + LINK_BYTES * number
    store_i64(link + LINK_NEXT, first)
    store_i64(link + LINK_BEFORE, -1)
    store_i64(link + LINK_HASH, np.int64(word))
    if first >= 0:
        store_i64(links + LINK_BYTES * first + LINK_BEFORE, number)
    store_i64(head, number)


@inline
def drop_link(index, number):
    """Take a slot out of an index."""
    links = load_i64(index + LINKS)
    link = links + LINK_BYTES * number
    following, before = load_i64(link + LINK_NEXT), load_i64(link + LINK_BEFORE)
    if before >= 0:
        store_i64(links + LINK_BYTES * before + LINK_NEXT, following)
    else:
        word = load_u64(link + LINK_HASH)
        store_i64(load_i64(index + HEADS) + 8 * np.int64(word & np.uint64(load_i64(index + MASK))), following)
    if following >= 0:
        store_i64(links + LINK_BYTES * following + LINK_BEFORE, before)
