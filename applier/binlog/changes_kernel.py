"""Walks the events of a stretch of a binlog and decodes the row changes of the wanted tables into their batches.

The kernel stops and says why whenever Python must decide something about a *kind*: a table map that it has not seen, a
row layout that it has no program for, a batch that is full. It then goes on exactly where it stopped. Tables, layouts
and batches are records of eight-byte words that Python fills in; their offsets are named below.

What a compressed event holds is asked for (compressed.Inflater), and its memory is used again: rows events with images
that are wanted are copied to an arena first.

A rows event: header (19 bytes), table id (6), flags (2), in version 2 the length of extra data (2, itself included) and
that data, the number of columns (packed), a bitmap of present columns for each image, then the images.

PARTIAL_UPDATE_ROWS (JD-TYPE) has between the two images of a row its value options, and if these say so a bitmap with
a bit for each JSON column of the table, in the image or not: columns whose value in the after-image is a diff. Rows of
one event may differ in it, so a row's layout is a *variant* of the event's.
"""

import numpy as np

from applier.binlog.arena import RECORD_BYTES
from applier.binlog.compressed_kernel import (
    CONTENT_END,
    CONTENT_GOES_ON,
    CONTENT_POSITION,
    CONTENT_START,
    CONTENT_WORDS,
    is_compressed,
)
from applier.binlog.crc32 import crc32
from applier.binlog.image_kernel import CORRUPT, FULL, N_PRESENT, read_image
from keysearch.memory import (
    copy_bytes,
    inline,
    kernel,
    load_i64,
    load_u8,
    load_u16,
    load_u32,
    load_u64,
    store_i32,
    store_i64,
    store_u8,
)

# a table's record (one for each distinct table map)
WANTED, N_COLUMNS, BATCH, LAYOUTS, N_LAYOUTS, LAST_BEFORE, LAST_AFTER, N_JSON_COLUMNS = range(0, 64, 8)
TABLE_WORDS = 8

# a layout's record: the bitmap it stands for, its number in image pointers, and the programs of both images; and its
# variants, which are records of the same form whose bitmap is that of partial JSON columns
BITMAP, IMAGE_ID, BEFORE, AFTER, VARIANTS, N_VARIANTS, LAST_VARIANT = range(0, 56, 8)
LAYOUT_BYTES = 64

# a batch's record: how many changes, before-images and after-images it has, and where its arrays are
(N, N_BEFORE, N_AFTER, CAPACITY, KINDS, PLACES, ROWS, BEFORE_ROWS, AFTER_ROWS, IMAGES, IMAGE_LENGTHS,
 ZERO_DATES) = range(0, 96, 8)
BATCH_WORDS = 16

# the walk's state, in bytes from its start
POSITION, ROW_AT, TABLE, DETAIL, LAYOUT, PARTIAL_BITS, EVENT = range(0, 56, 8)
# for compressed events: the next of what was inflated and how much is left of it, where that memory ends, the event in
# it (0 before the first), whether one has begun; where the rows event was copied to, and what is free of the arena
CONTENT, CONTENTS_LEFT, CONTENTS_END, INNER, WITHIN, COPY, ARENA, ARENA_END, WANTED_BYTES = range(56, 128, 8)
STATE_WORDS = 16

# an entry of the open-addressed table of table ids: id (-1: free), number of the table, address and length of the map's
# body
_ENTRY, _NUMBER, _BODY, _BODY_LENGTH = 32, 8, 16, 24

# why the kernel stopped
DONE, BATCH_FULL, NO_ROOM, NEW_TABLE_MAP, NEW_LAYOUT, NEW_VARIANT, NEED_CONTENTS, ARENA_FULL = range(8)
BAD_LENGTH, BAD_CHECKSUM, UNKNOWN_TABLE, BAD_ROWS = range(-1, -5, -1)

INSERT, UPDATE, DELETE = 0, 1, 2
IMAGE_ID_SHIFT = 48
"""An image pointer: the number of its layout from this bit on, its address below. User-space addresses have 47 bits on
x86-64, and 48 on ARM."""
MAX_IMAGE_ID = (1 << 15) - 3
"""Numbers of layouts are 1 to this; 0 and the two above it are free for what else a pointer may point to."""

_TABLE_MAP, _FORMAT_DESCRIPTION, _PARTIAL_UPDATE = 19, 15, 39
NO_OPTIONS = -1
_PLAIN, _PARTIAL_JSON = 0, 1
"""Value options."""
_DUMMY_TABLE_ID, _ALL_ONES = 0xFFFFFF, 0xFFFFFFFFFFFF
"""Ids of rows events without rows, which only end a statement."""


@inline
def same_bytes(a, b, length):
    i = 0
    while i + 8 <= length:
        if load_u64(a + i) != load_u64(b + i):
            return False
        i += 8
    while i < length:
        if load_u8(a + i) != load_u8(b + i):
            return False
        i += 1
    return True


@inline
def id_entry(ids, mask, table_id):
    """The address of a table id's entry, or of the free one where it would go."""
    slot = np.int64((np.uint64(table_id) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & mask
    while load_i64(ids + _ENTRY * slot) != -1 and load_i64(ids + _ENTRY * slot) != table_id:
        slot = (slot + 1) & mask
    return ids + _ENTRY * slot


@inline
def find_layout(layouts, last, bitmap, bitmap_bytes):
    """The layout with this bitmap (0: none) among those that two words at `layouts` say (where they are, how many); the
    one used last, whose address is at `last`, is tried first."""
    layout = load_i64(last)
    if layout and same_bytes(load_i64(layout + BITMAP), bitmap, bitmap_bytes):
        return layout
    layout = load_i64(layouts)
    for _ in range(load_i64(layouts + 8)):
        if same_bytes(load_i64(layout + BITMAP), bitmap, bitmap_bytes):
            store_i64(last, layout)
            return layout
        layout += LAYOUT_BYTES
    return np.int64(0)


@inline
def rows_kind(event_type):
    """INSERT, UPDATE or DELETE for the rows events of versions 1 and 2, else -1."""
    if event_type >= 30 and event_type <= 32:
        return event_type - 30
    if event_type >= 23 and event_type <= 25:
        return event_type - 23
    if event_type == _PARTIAL_UPDATE:
        return UPDATE
    return -1


@kernel
def walk(base, end, safe_end, state, tables, ids, ids_mask, checksum_bytes, verify, no_nulls):
    """Decode the events from POSITION up to `end` (offsets from address `base`); says why it stopped.

    `ids` is the address of the table of table ids (ids_mask + 1 entries, a power of two), `tables` of the tables'
    records. With `verify`, every event's CRC32 is compared first.
    """
    position = load_i64(state + POSITION)
    while position < end:
        start = base + position
        if position + 19 > end:
            return BAD_LENGTH
        size = np.int64(load_u32(start + 9))
        if size < 19 + checksum_bytes or position + size > end:
            return BAD_LENGTH
        event_type = load_u8(start + 4)
        stop = start + size - checksum_bytes
        if (verify and load_i64(state + ROW_AT) == 0 and load_i64(state + WITHIN) == 0
                and event_type != _FORMAT_DESCRIPTION):
            if crc32(start, size - checksum_bytes, np.uint32(0)) != load_u32(stop):
                return BAD_CHECKSUM
        if is_compressed(event_type):
            status = compressed_event(position, start, state, tables, ids, ids_mask, no_nulls)
        else:
            status = plain_event(start, stop, safe_end, event_type, start, state, tables, ids, ids_mask, no_nulls)
        if status != DONE:
            return status
        position += size
        store_i64(state + POSITION, position)
        store_i64(state + ROW_AT, 0)
    return DONE


@inline
def compressed_event(position, place, state, tables, ids, ids_mask, no_nulls):
    """The events that a compressed event holds, as far as they are inflated; all have its place."""
    goes_on = True
    while goes_on:
        content = load_i64(state + CONTENT)
        if load_i64(state + CONTENTS_LEFT) == 0 or load_i64(content + 8 * CONTENT_POSITION) != position:
            return NEED_CONTENTS
        start, content_end = load_i64(state + INNER), load_i64(content + 8 * CONTENT_END)
        if start == 0:
            start = load_i64(content + 8 * CONTENT_START)
            store_i64(state + WITHIN, 1)
        while start < content_end:
            store_i64(state + INNER, start)
            if start + 19 > content_end:
                return BAD_LENGTH
            size = np.int64(load_u32(start + 9))
            if size < 19 or start + size > content_end:
                return BAD_LENGTH
            status = plain_event(start, start + size, load_i64(state + CONTENTS_END), load_u8(start + 4), place, state,
                                 tables, ids, ids_mask, no_nulls)
            if status != DONE:
                return status
            start += size
            store_i64(state + ROW_AT, 0)
        goes_on = load_i64(content + 8 * CONTENT_GOES_ON) != 0
        store_i64(state + CONTENT, content + 8 * CONTENT_WORDS)
        store_i64(state + CONTENTS_LEFT, load_i64(state + CONTENTS_LEFT) - 1)
        store_i64(state + INNER, 0)
    store_i64(state + WITHIN, 0)
    return DONE


@inline
def plain_event(start, stop, safe_end, event_type, place, state, tables, ids, ids_mask, no_nulls):
    """One event that is not compressed, or was; `place` is the address of the event in the file."""
    store_i64(state + EVENT, start)
    kind = rows_kind(np.int64(event_type))
    if event_type == _TABLE_MAP:
        if start + 27 > stop:
            return BAD_LENGTH
        entry = id_entry(ids, ids_mask, np.int64(load_u64(start + 19) & np.uint64(0xFFFFFFFFFFFF)))
        body, length = start + 25, stop - start - 25
        if (load_i64(entry) == -1 or load_i64(entry + _BODY_LENGTH) != length
                or not same_bytes(load_i64(entry + _BODY), body, length)):
            return NEW_TABLE_MAP
        return DONE
    if kind < 0:
        return DONE
    return rows_event(start, stop, safe_end, kind, event_type, place, state, tables, ids, ids_mask, no_nulls)


@inline
def to_arena(start, length, place, state):
    """Copy a rows event to the arena; the address there, 0 where it is full."""
    free = load_i64(state + ARENA)
    if load_i64(state + ARENA_END) - free < length + RECORD_BYTES:
        store_i64(state + WANTED_BYTES, length)
        return np.int64(0)
    store_i64(free, place)
    store_i64(free + 8, length)
    copy_bytes(free + RECORD_BYTES, start, length)
    store_i64(state + COPY, free + RECORD_BYTES)
    store_i64(state + ARENA, free + RECORD_BYTES + length)
    return free + RECORD_BYTES


@inline
def rows_event(start, stop, safe_end, kind, event_type, place, state, tables, ids, ids_mask, no_nulls):
    """Decode one rows event, from the row at ROW_AT on if that is not 0."""
    version2 = event_type >= 30
    at = start + (29 if version2 else 27)
    if at >= stop:
        return BAD_LENGTH
    table_id = np.int64(load_u64(start + 19) & np.uint64(0xFFFFFFFFFFFF))
    if version2:
        extra = np.int64(load_u16(start + 27))
        at = start + 27 + extra
        if extra < 2 or at >= stop:
            return BAD_LENGTH
    entry = id_entry(ids, ids_mask, table_id)
    if load_i64(entry) == -1:
        return DONE if table_id == _DUMMY_TABLE_ID or table_id == _ALL_ONES else UNKNOWN_TABLE
    number = load_i64(entry + _NUMBER)
    store_i64(state + TABLE, number)
    table = tables + 8 * TABLE_WORDS * number
    if load_i64(table + WANTED) == 0:
        return DONE
    columns = np.int64(load_u8(at))
    at += 1
    if columns == 252:
        if at + 2 > stop:
            return BAD_ROWS
        columns = np.int64(load_u16(at))
        at += 2
    if columns != load_i64(table + N_COLUMNS):
        return BAD_ROWS
    bitmap_bytes = (columns + 7) >> 3
    if at + bitmap_bytes * (2 if kind == UPDATE else 1) > stop:
        return BAD_ROWS
    before, after = np.int64(0), np.int64(0)
    if kind != INSERT:
        before = find_layout(table + LAYOUTS, table + LAST_BEFORE, at, bitmap_bytes)
        if before == 0:
            store_i64(state + DETAIL, at)
            return NEW_LAYOUT
        at += bitmap_bytes
    if kind != DELETE:
        after = find_layout(table + LAYOUTS, table + LAST_AFTER, at, bitmap_bytes)
        if after == 0:
            store_i64(state + DETAIL, at)
            return NEW_LAYOUT
        at += bitmap_bytes
    json_columns = load_i64(table + N_JSON_COLUMNS) if event_type == _PARTIAL_UPDATE else np.int64(NO_OPTIONS)
    if place != start and kind != DELETE:
        copy = load_i64(state + COPY) if load_i64(state + ROW_AT) else to_arena(start, stop - start, place, state)
        if copy == 0:
            return ARENA_FULL
        start, at, stop, safe_end = copy, at + copy - start, stop + copy - start, load_i64(state + ARENA_END)
    return rows_of_event(start, at, stop, safe_end, kind, before, after, json_columns, load_i64(table + BATCH), place,
                         state, no_nulls)


@inline
def read_options(at, stop, json_columns, layout, state):
    """What stands between the images of a row of PARTIAL_UPDATE_ROWS: the address after it, and the row's layout (0: a
    variant that is not known yet). The address is CORRUPT where it makes no sense."""
    if at >= stop or load_u8(at) > _PARTIAL_JSON:
        return np.int64(CORRUPT), layout
    options = load_u8(at)
    at += 1
    if options == _PLAIN:
        return at, layout
    bitmap_bytes = (json_columns + 7) >> 3
    if at + bitmap_bytes > stop:
        return np.int64(CORRUPT), layout
    variant = find_layout(layout + VARIANTS, layout + LAST_VARIANT, at, bitmap_bytes)
    if variant == 0:
        store_i64(state + LAYOUT, layout)
        store_i64(state + PARTIAL_BITS, at)
    return at + bitmap_bytes, variant


@inline
def rows_of_event(start, first, stop, safe_end, kind, before, after, json_columns, batch, place, state, no_nulls):
    """The images of one rows event into its table's batch; where a row is bad, those before it are there.

    `json_columns` is how many the table has, NO_OPTIONS where nothing stands between the images of a row.
    """
    resume = load_i64(state + ROW_AT)
    at = start + resume if resume else first
    row = load_i64(state + DETAIL) if resume else np.int64(0)
    n, n_before, n_after = load_i64(batch + N), load_i64(batch + N_BEFORE), load_i64(batch + N_AFTER)
    capacity, zero_dates = load_i64(batch + CAPACITY), batch + ZERO_DATES
    kinds, places, rows = load_i64(batch + KINDS), load_i64(batch + PLACES), load_i64(batch + ROWS)
    before_rows, after_rows = load_i64(batch + BEFORE_ROWS), load_i64(batch + AFTER_ROWS)
    images, image_lengths = load_i64(batch + IMAGES), load_i64(batch + IMAGE_LENGTHS)
    before_program = load_i64(before + BEFORE) if before else np.int64(0)
    after_program = load_i64(after + AFTER) if after else np.int64(0)
    image_id = load_i64(after + IMAGE_ID) << IMAGE_ID_SHIFT if after else np.int64(0)
    # an insert of no column at all takes no byte, and is one row
    empty_insert = kind == INSERT and at == stop and row == 0 and load_i64(after_program + N_PRESENT) == 0
    status = DONE
    while at < stop or empty_insert:
        empty_insert = False
        if n >= capacity:
            status = BATCH_FULL
            break
        next_at, zero_before = at, load_i64(zero_dates)
        if before:
            next_at = read_image(next_at, stop, safe_end, before_program, n_before, zero_dates, no_nulls)
        if json_columns != NO_OPTIONS and next_at >= 0:
            next_at, variant = read_options(next_at, stop, json_columns, after, state)
            if variant == 0:
                store_i64(zero_dates, zero_before)
                status = NEW_VARIANT
                break
            after_program, image_id = load_i64(variant + AFTER), load_i64(variant + IMAGE_ID) << IMAGE_ID_SHIFT
        image = next_at
        if after and next_at >= 0:
            next_at = read_image(next_at, stop, safe_end, after_program, n_after, zero_dates, no_nulls)
        if next_at == FULL:
            store_i64(zero_dates, zero_before)
            status = NO_ROOM
            break
        if next_at == CORRUPT or (next_at == at and at < stop):
            status = BAD_ROWS
            break
        store_u8(kinds + n, np.uint8(kind))
        store_i64(places + 8 * n, place)
        store_i32(rows + 4 * n, np.int32(row))
        store_i32(before_rows + 4 * n, np.int32(n_before if before else -1))
        store_i32(after_rows + 4 * n, np.int32(n_after if after else -1))
        store_i64(images + 8 * n, image_id | image if after else -1)
        store_i32(image_lengths + 4 * n, np.int32(next_at - image if after else 0))
        n += 1
        row += 1
        n_before += 1 if before else 0
        n_after += 1 if after else 0
        at = next_at
    store_i64(batch + N, n)
    store_i64(batch + N_BEFORE, n_before)
    store_i64(batch + N_AFTER, n_after)
    if status != DONE:
        store_i64(state + ROW_AT, at - start)
        store_i64(state + DETAIL, row)
    return status
