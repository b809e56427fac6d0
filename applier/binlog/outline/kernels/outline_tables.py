# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels of the outline for tables: distinct table maps, the contents of their rows events, the contents of splits.

TABLE_MAP   table id (6 bytes), then the body that makes tables distinct
rows        table id (6), flags u16, in v2 extra data (u16 length, itself included), column count, bitmap(s)
"""

import numpy as np

from applier.binlog.events.format import DUMMY_TABLE_ID, STATEMENT_END_FLAG, WITHOUT_CASCADES, EventType
from applier.binlog.events.packed_kernel import read_bitmaps, table_id_at
from applier.binlog.outline.kernels.outline_recording import (
    AFTER_COLUMNS,
    LACKED_COLUMNS,
    N_SAMPLES_KEPT,
    SAMPLE_BITS,
    SAMPLE_BYTES,
    SAMPLES,
    SPLIT_RECORD,
    SPLIT_TABLE_BYTES,
    TABLE_BYTES,
    Status,
    append,
    kept,
    split_table_view,
    split_view,
    table_id_entry,
    table_view,
)
from applier.kernels.byte_strings import hash_bytes, same_bytes
from keysearch.memory import inline, load_i64, load_u8, load_u16, store_i64, store_u8

_TABLE_MAP_LEAST, ROWS_LEAST = 8, 8
_NO_TABLE_ID = (1 << 48) - 1
_WRITE, _UPDATE, _DELETE = range(3)
NO_TABLE = -1
PARTIAL_IMAGES, PARTIAL_VALUES, MAY_CASCADE = 1, 2, 4
"""Properties of a table's use: some image has missing columns; some after-image has all columns, and may have JSON
diffs instead of values; some update or delete may make foreign keys change rows that the log does not have."""


@inline
def _find_table_id(state, table_id):
    """Return the record of a table id, or the free one where it belongs. Half of the records are always free."""
    mask = state.table_ids.room - 1
    slot = (table_id ^ table_id >> 16) & mask
    while True:
        entry = table_id_entry(state.table_ids.start, slot)
        if entry.plus_one == 0 or entry.plus_one == table_id + 1:
            return entry
        slot = (slot + 1) & mask


@inline
def map_table(state, position, body, end):
    """Handle a TABLE_MAP: its id stands for a table use from here to the end of the group."""
    if end - body < 6 + _TABLE_MAP_LEAST:
        return Status.BAD_EVENT
    table_id = table_id_at(body)
    entry = _find_table_id(state, table_id)
    body += 6
    length = end - body
    use = np.int64(NO_TABLE)
    if entry.plus_one == 0:
        if 2 * state.table_ids.used + 2 > state.table_ids.room:
            return Status.NEED_ROOM
        state.table_ids.used += 1
        entry.plus_one = table_id + 1
    elif _has_body(state, table_view(table_address(state, entry.use)), body, length):
        use = entry.use
    if use == NO_TABLE:
        use = _find_or_add_table(state, position, body, length)
        if use == NO_TABLE:
            return Status.NEED_ROOM
    entry.use = use
    entry.group = state.n_groups
    return Status.DONE


@inline
def table_address(state, use):
    return state.tables.start + TABLE_BYTES * use


@inline
def _has_body(state, table, body, length):
    return table.body_length == length and same_bytes(state.base + table.body, body, length)


@inline
def _find_or_add_table(state, position, body, length):
    """Return the table use with this body; NO_TABLE if there is no room for a new one."""
    mask = state.room_table_slots - 1
    slot = np.int64(hash_bytes(body, length)) & mask
    while True:
        known = load_i64(state.table_slots + 8 * slot)  # table use + 1
        if known == 0:
            break
        if _has_body(state, table_view(table_address(state, known - 1)), body, length):
            return known - 1
        slot = (slot + 1) & mask
    use = state.tables.used
    address = append(state.tables, TABLE_BYTES)
    if address == 0:
        return np.int64(NO_TABLE)
    table = table_view(address)
    store_i64(state.table_slots + 8 * slot, use + 1)
    table.body = kept(state, body, length)
    table.body_length = length
    table.first_position = position
    table.stride = 1
    return use


@inline
def _image_kinds(event_type):
    """Return which images a rows event has: _WRITE the after-image, _DELETE the before-image, _UPDATE both."""
    if event_type == EventType.PARTIAL_UPDATE_ROWS:
        return _UPDATE
    first = 23 if event_type < 26 else 30 if event_type < 33 else 166 if event_type < 169 else 169
    return event_type - first


@inline
def use_table(state, header, event_type, body, end, size):
    """Count a rows event for its table. Returns (result, table use or NO_TABLE for a dummy event, ends the statement).
    """
    none = np.int64(NO_TABLE)
    if end - body < ROWS_LEAST:
        return Status.BAD_EVENT, none, False
    last = load_u16(body + 6) & STATEMENT_END_FLAG != 0
    table_id = table_id_at(body)
    entry = _find_table_id(state, table_id)
    if entry.plus_one == 0 or entry.group != state.n_groups:
        dummy = last and (table_id == DUMMY_TABLE_ID or table_id == _NO_TABLE_ID)
        return Status.DONE if dummy else Status.UNMAPPED_TABLE, none, last
    updates = _image_kinds(event_type) == _UPDATE
    n_columns, at = read_bitmaps(body, end, event_type)
    if at == 0:
        return Status.BAD_EVENT, none, False
    n_bytes = (n_columns + 7) >> 3
    use = entry.use
    address = table_address(state, use)
    table = table_view(address)
    if _image_kinds(event_type) != _WRITE and load_u16(body + 6) & WITHOUT_CASCADES == 0:
        table.partial |= MAY_CASCADE
    if not _all_ones(at, n_columns):
        table.partial |= PARTIAL_IMAGES
        if _image_kinds(event_type) != _WRITE:
            for i in range(n_bytes):
                lacked = address + LACKED_COLUMNS + i
                store_u8(lacked, load_u8(lacked) | np.uint8(load_u8(at + i) ^ np.uint8(255)))
    if updates and not _all_ones(at + n_bytes, n_columns):
        table.partial |= PARTIAL_IMAGES
        for i in range(n_bytes):
            seen = address + AFTER_COLUMNS + i
            store_u8(seen, load_u8(seen) | load_u8(at + n_bytes + i))
    elif event_type == EventType.PARTIAL_UPDATE_ROWS:
        table.partial |= PARTIAL_VALUES
    _keep_sample(state, table, address + SAMPLES, header, size)
    table.rows_events += 1
    table.rows_bytes += size
    table.in_split = 1
    return Status.DONE, use, last


@inline
def _all_ones(bitmap, n_columns):
    for i in range(n_columns >> 3):
        if load_u8(bitmap + i) != 0xFF:
            return False
    rest = np.int64((1 << (n_columns & 7)) - 1)
    return rest == 0 or np.int64(load_u8(bitmap + (n_columns >> 3))) & rest == rest


@inline
def _keep_sample(state, table, samples, header, size):
    """Keep a rows event as a sample if the table's bytes reach a multiple of `stride`, a power of two, within it. If
    there are too many samples, the stride doubles, and samples that do not reach a multiple of it are dropped. In
    addition to its position, a sample has the bits that change in the count of bytes."""
    changing = np.int64(0)
    while (table.rows_bytes ^ (table.rows_bytes + size)) >> changing != 0:
        changing += 1
    if np.int64(1) << changing <= table.stride:
        return
    while table.n_samples == N_SAMPLES_KEPT:
        table.stride = 2 * table.stride
        left = np.int64(0)
        for i in range(N_SAMPLES_KEPT):
            sample = load_i64(samples + 8 * i)
            if np.int64(1) << (sample & (1 << SAMPLE_BITS) - 1) > table.stride:
                store_i64(samples + 8 * left, sample)
                left += 1
        table.n_samples = left
    if np.int64(1) << changing <= table.stride:
        return
    at = kept(state, header, min(size, SAMPLE_BYTES))
    store_i64(samples + 8 * table.n_samples, at << SAMPLE_BITS | changing)
    table.n_samples += 1


@inline
def cut_split(state, end):
    """End the open split, if there is one, with the tables of its rows events."""
    if state.split_start < 0:
        return Status.DONE
    split = state.splits.used
    address = append(state.splits, SPLIT_RECORD)
    if address == 0:
        return Status.NEED_ROOM
    entry = split_view(address)
    entry.first = state.split_start
    entry.end = end
    entry.digest = state.last_digest
    state.split_start = -1
    for use in range(state.tables.used):
        table = table_view(table_address(state, use))
        if table.in_split != 0:
            address = append(state.split_tables, SPLIT_TABLE_BYTES)
            if address == 0:
                return Status.NEED_ROOM
            part = split_table_view(address)
            part.split = split
            part.use = use
            table.in_split = 0
    return Status.DONE
