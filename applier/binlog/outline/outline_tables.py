# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels of the outline about tables: which table map is which, what its rows events hold, what a split holds.

TABLE_MAP   table id (6 bytes), then the body that makes tables distinct
rows        table id (6), flags u16, in v2 extra data (u16 length, itself included), column count, bitmap(s)
"""

import numpy as np

from applier.binlog.events.format import DUMMY_TABLE_ID, STATEMENT_END_FLAG, WITHOUT_CASCADES, EventType
from applier.binlog.events.packed_kernel import read_bitmaps, table_id_at
from applier.binlog.outline.outline_recording import (
    AFTER_COLUMNS,
    BASE,
    BODY,
    BODY_LENGTH,
    FIRST_POSITION,
    ID_GROUP,
    ID_LENGTH,
    ID_PLUS_ONE,
    ID_USE,
    LACKED_COLUMNS,
    LAST_DIGEST,
    N_GROUPS,
    N_SAMPLES,
    N_SAMPLES_KEPT,
    PARTIAL,
    ROOM_TABLE_SLOTS,
    ROWS_BYTES,
    ROWS_EVENTS,
    SAMPLE_BYTES,
    SAMPLES,
    SPLIT_BYTES,
    SPLIT_DIGEST,
    SPLIT_END,
    SPLIT_FIRST,
    SPLIT_LENGTH,
    SPLIT_START,
    SPLIT_TABLE_BYTES,
    SPLIT_TABLE_LENGTH,
    SPLIT_TABLE_SPLIT,
    SPLIT_TABLE_USE,
    SPLIT_TABLES,
    SPLITS,
    STRIDE,
    TABLE_IDS,
    TABLE_LENGTH,
    TABLE_SLOTS,
    TABLES,
    Status,
    append,
    at,
    get,
    increase,
    kept,
    put,
)
from keysearch.memory import inline, load_u8, load_u16, load_u64, store_u8

_TABLE_MAP_LEAST, _ROWS_LEAST = 8, 8
_NO_TABLE_ID = (1 << 48) - 1
_WRITE, _UPDATE, _DELETE = range(3)
NO_TABLE = -1
PARTIAL_IMAGES, PARTIAL_VALUES, MAY_CASCADE = 1, 2, 4
"""Some image lacks columns; some after-image has all columns, and may have JSON diffs in place of values; some update
or delete may make foreign keys change rows that the log does not have."""


@inline
def equal_bytes(a, b, length):
    """Are `length` bytes at two addresses the same?"""
    at = 0
    while at + 8 <= length:
        if load_u64(a + at) != load_u64(b + at):
            return False
        at += 8
    while at < length:
        if load_u8(a + at) != load_u8(b + at):
            return False
        at += 1
    return True


@inline
def hash_bytes(address, length):
    """A hash of bytes, uint64."""
    mixer, result = np.uint64(0xFF51AFD7ED558CCD), np.uint64(length)
    at = 0
    while at + 8 <= length:
        result = (result ^ load_u64(address + at)) * mixer
        result ^= result >> np.uint64(32)
        at += 8
    while at < length:
        result = (result ^ np.uint64(load_u8(address + at))) * mixer
        result ^= result >> np.uint64(32)
        at += 1
    return result


@inline
def _find_table_id(state, table_id):
    """The record of a table id, or the free one where it belongs. One record in two is always free."""
    mask = get(state, TABLE_IDS + 2) - 1
    slot = (table_id ^ table_id >> 16) & mask
    while True:
        entry = at(state, TABLE_IDS, ID_LENGTH, slot)
        if get(entry, ID_PLUS_ONE) == 0 or get(entry, ID_PLUS_ONE) == table_id + 1:
            return entry
        slot = (slot + 1) & mask


@inline
def map_table(state, position, body, end):
    """TABLE_MAP: remember which table use its id stands for from here to the end of the group."""
    if end - body < 6 + _TABLE_MAP_LEAST:
        return Status.BAD_EVENT
    table_id = table_id_at(body)
    entry = _find_table_id(state, table_id)
    body += 6
    length = end - body
    use = np.int64(NO_TABLE)
    if get(entry, ID_PLUS_ONE) == 0:
        if 2 * get(state, TABLE_IDS) + 2 > get(state, TABLE_IDS + 2):
            return Status.NEED_ROOM
        increase(state, TABLE_IDS, 1)
        put(entry, ID_PLUS_ONE, table_id + 1)
    elif _has_body(state, at(state, TABLES, TABLE_LENGTH, get(entry, ID_USE)), body, length):
        use = get(entry, ID_USE)
    if use == NO_TABLE:
        use = _find_or_add_table(state, position, body, length)
        if use == NO_TABLE:
            return Status.NEED_ROOM
    put(entry, ID_USE, use)
    put(entry, ID_GROUP, get(state, N_GROUPS))
    return Status.DONE


@inline
def _has_body(state, table, body, length):
    return get(table, BODY_LENGTH) == length and equal_bytes(get(state, BASE) + get(table, BODY), body, length)


@inline
def _find_or_add_table(state, position, body, length):
    """The table use with this body; NO_TABLE where there is no room for a new one."""
    mask = get(state, ROOM_TABLE_SLOTS) - 1
    slot = np.int64(hash_bytes(body, length)) & mask
    while True:
        known = get(get(state, TABLE_SLOTS), slot)  # table use + 1
        if known == 0:
            break
        if _has_body(state, at(state, TABLES, TABLE_LENGTH, known - 1), body, length):
            return known - 1
        slot = (slot + 1) & mask
    use = get(state, TABLES)
    table = append(state, TABLES, TABLE_LENGTH)
    if table == 0:
        return np.int64(NO_TABLE)
    put(get(state, TABLE_SLOTS), slot, use + 1)
    put(table, BODY, kept(state, body, length))
    put(table, BODY_LENGTH, length)
    put(table, FIRST_POSITION, position)
    put(table, STRIDE, 1)
    return use


@inline
def _image_kinds(event_type):
    """Which images a rows event has: _WRITE the after-image, _DELETE the before-image, _UPDATE both."""
    if event_type == EventType.PARTIAL_UPDATE_ROWS:
        return _UPDATE
    first = 23 if event_type < 26 else 30 if event_type < 33 else 166 if event_type < 169 else 169
    return event_type - first


@inline
def use_table(state, header, event_type, version, body, end, size):
    """A rows event: count it for its table. (result, table use or NO_TABLE for a dummy event, ends the statement)"""
    none = np.int64(NO_TABLE)
    if end - body < _ROWS_LEAST:
        return Status.BAD_EVENT, none, False
    last = load_u16(body + 6) & STATEMENT_END_FLAG != 0
    table_id = table_id_at(body)
    entry = _find_table_id(state, table_id)
    if get(entry, ID_PLUS_ONE) == 0 or get(entry, ID_GROUP) != get(state, N_GROUPS):
        dummy = last and (table_id == DUMMY_TABLE_ID or table_id == _NO_TABLE_ID)
        return Status.DONE if dummy else Status.UNMAPPED_TABLE, none, last
    updates = _image_kinds(event_type) == _UPDATE
    n_columns, place = read_bitmaps(body, end, version == 2, 2 if updates else 1)
    if place == 0:
        return Status.BAD_EVENT, none, False
    n_bytes = (n_columns + 7) >> 3
    use = get(entry, ID_USE)
    table = at(state, TABLES, TABLE_LENGTH, use)
    if _image_kinds(event_type) != _WRITE and load_u16(body + 6) & WITHOUT_CASCADES == 0:
        put(table, PARTIAL, get(table, PARTIAL) | MAY_CASCADE)
    if not _all_ones(place, n_columns):
        put(table, PARTIAL, get(table, PARTIAL) | PARTIAL_IMAGES)
        if _image_kinds(event_type) != _WRITE:
            for i in range(n_bytes):
                lacked = table + 8 * LACKED_COLUMNS + i
                store_u8(lacked, load_u8(lacked) | np.uint8(load_u8(place + i) ^ np.uint8(255)))
    if updates and not _all_ones(place + n_bytes, n_columns):
        put(table, PARTIAL, get(table, PARTIAL) | PARTIAL_IMAGES)
        for i in range(n_bytes):
            seen = table + 8 * AFTER_COLUMNS + i
            store_u8(seen, load_u8(seen) | load_u8(place + n_bytes + i))
    elif event_type == EventType.PARTIAL_UPDATE_ROWS:
        put(table, PARTIAL, get(table, PARTIAL) | PARTIAL_VALUES)
    _keep_sample(state, table, header, size)
    increase(table, ROWS_EVENTS, 1)
    increase(table, ROWS_BYTES, size)
    increase(table, SPLIT_BYTES, size)
    return Status.DONE, use, last


@inline
def _all_ones(bitmap, n_columns):
    for i in range(n_columns >> 3):
        if load_u8(bitmap + i) != 0xFF:
            return False
    rest = np.int64((1 << (n_columns & 7)) - 1)
    return rest == 0 or np.int64(load_u8(bitmap + (n_columns >> 3))) & rest == rest


@inline
def _keep_sample(state, table, header, size):
    """Every STRIDE-th rows event is a sample. Where there are too many, every other one goes and the stride doubles."""
    if get(table, ROWS_EVENTS) & (get(table, STRIDE) - 1) != 0:
        return
    if get(table, N_SAMPLES) == N_SAMPLES_KEPT:
        for i in range(N_SAMPLES_KEPT // 2):
            put(table, SAMPLES + i, get(table, SAMPLES + 2 * i))
        put(table, N_SAMPLES, N_SAMPLES_KEPT // 2)
        put(table, STRIDE, 2 * get(table, STRIDE))
        if get(table, ROWS_EVENTS) & (get(table, STRIDE) - 1) != 0:
            return
    put(table, SAMPLES + get(table, N_SAMPLES), kept(state, header, min(size, SAMPLE_BYTES)))
    increase(table, N_SAMPLES, 1)


@inline
def cut_split(state, end):
    """End the split that is open, if any, with the bytes of each table in it."""
    if get(state, SPLIT_START) < 0:
        return Status.DONE
    split = get(state, SPLITS)
    entry = append(state, SPLITS, SPLIT_LENGTH)
    if entry == 0:
        return Status.NEED_ROOM
    put(entry, SPLIT_FIRST, get(state, SPLIT_START))
    put(entry, SPLIT_END, end)
    put(entry, SPLIT_DIGEST, get(state, LAST_DIGEST))
    put(state, SPLIT_START, -1)
    for use in range(get(state, TABLES)):
        table = at(state, TABLES, TABLE_LENGTH, use)
        if get(table, SPLIT_BYTES) > 0:
            entry = append(state, SPLIT_TABLES, SPLIT_TABLE_LENGTH)
            if entry == 0:
                return Status.NEED_ROOM
            put(entry, SPLIT_TABLE_SPLIT, split)
            put(entry, SPLIT_TABLE_USE, use)
            put(entry, SPLIT_TABLE_BYTES, get(table, SPLIT_BYTES))
            put(table, SPLIT_BYTES, 0)
    return Status.DONE
