"""Kernels of the outline about tables: which table map is which, what its rows events hold, what a split holds.

    TABLE_MAP   table id (6 bytes), then the body that makes tables distinct
    rows        table id (6), flags u16, in v2 extra data (u16 length, itself included), column count, bitmap(s)
"""

import numpy as np

from applier.binlog.format import DUMMY_TABLE_ID, STATEMENT_END_FLAG, EventType
from applier.binlog.outline_recording import (
    BAD_EVENT,
    BODY,
    BODY_LENGTH,
    DONE,
    FIRST_POSITION,
    MOST_COLUMNS,
    N_GROUPS,
    N_SAMPLES,
    N_SAMPLES_KEPT,
    N_SPLIT_TABLES,
    N_SPLITS,
    N_TABLE_IDS,
    N_TABLES,
    NEED_ROOM,
    PARTIAL,
    ROWS_BYTES,
    ROWS_EVENTS,
    SPLIT_BYTES,
    SPLIT_START,
    STRIDE,
    UNMAPPED_TABLE,
)
from keysearch.memory import inline, load_u8, load_u16, load_u32, load_u64

_TABLE_MAP_LEAST = 8
_WRITE, _UPDATE, _DELETE = range(3)
NO_TABLE = -1


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
def _load_table_id(address):
    return np.int64(load_u32(address)) | np.int64(load_u16(address + 4)) << 32


@inline
def _table_id_slot(recording, table_id):
    """The slot that holds a table id, or the free one where it belongs. One slot in two is always free."""
    mask = np.int64(recording.table_ids.shape[0] - 1)
    slot = (table_id ^ table_id >> 16) & mask
    while recording.table_ids[slot, 0] != 0 and recording.table_ids[slot, 0] != table_id + 1:
        slot = (slot + 1) & mask
    return slot


@inline
def map_table(recording, base, position, body, end):
    """TABLE_MAP: remember which table use its id stands for from here to the end of the group."""
    if end - body < 6 + _TABLE_MAP_LEAST:
        return BAD_EVENT
    state = recording.state
    slot = _table_id_slot(recording, _load_table_id(body))
    entry = recording.table_ids[slot]
    body += 6
    length = end - body
    if entry[0] == 0:
        if 2 * state[N_TABLE_IDS] + 2 > recording.table_ids.shape[0]:
            return NEED_ROOM
        state[N_TABLE_IDS] += 1
        entry[0] = _load_table_id(body - 6) + 1
        use = np.int64(NO_TABLE)
    else:
        use = entry[1]
        known = recording.tables[use]
        if known[BODY_LENGTH] != length or not equal_bytes(base + known[BODY], body, length):
            use = np.int64(NO_TABLE)
    if use == NO_TABLE:
        use = _find_or_add_table(recording, base, position, body, length)
        if use == NO_TABLE:
            return NEED_ROOM
    entry[1] = use
    entry[2] = state[N_GROUPS]
    return DONE


@inline
def _find_or_add_table(recording, base, position, body, length):
    """The table use with this body; NO_TABLE where there is no room for a new one."""
    state = recording.state
    mask = np.int64(recording.table_slots.shape[0] - 1)
    slot = np.int64(hash_bytes(body, length)) & mask
    while recording.table_slots[slot] != 0:
        known = recording.tables[recording.table_slots[slot] - 1]
        if known[BODY_LENGTH] == length and equal_bytes(base + known[BODY], body, length):
            return recording.table_slots[slot] - 1
        slot = (slot + 1) & mask
    use = state[N_TABLES]
    if use == recording.tables.shape[0]:
        return np.int64(NO_TABLE)
    state[N_TABLES] += 1
    recording.table_slots[slot] = use + 1
    table = recording.tables[use]
    table[BODY] = body - base
    table[BODY_LENGTH] = length
    table[FIRST_POSITION] = position
    table[STRIDE] = 1
    return use


@inline
def _image_kinds(event_type):
    """Which images a rows event has: _WRITE the after-image, _DELETE the before-image, _UPDATE both."""
    if event_type == EventType.PARTIAL_UPDATE_ROWS:
        return _UPDATE
    first = 23 if event_type < 26 else 30 if event_type < 33 else 166 if event_type < 169 else 169
    return event_type - first


@inline
def use_table(recording, position, event_type, version, body, end, size):
    """A rows event: count it for its table. (result, table use or NO_TABLE for a dummy event, ends the statement)"""
    at = body + 8
    if at + 2 > end:
        return BAD_EVENT, np.int64(NO_TABLE), False
    last = load_u16(body + 6) & STATEMENT_END_FLAG != 0
    table_id = _load_table_id(body)
    slot = _table_id_slot(recording, table_id)
    entry = recording.table_ids[slot]
    if entry[0] == 0 or entry[2] != recording.state[N_GROUPS]:
        dummy = last and (table_id == DUMMY_TABLE_ID or table_id == (1 << 48) - 1)
        return DONE if dummy else UNMAPPED_TABLE, np.int64(NO_TABLE), last
    if version == 2:
        extra = np.int64(load_u16(at))
        at += max(extra, 2)
    if at >= end:
        return BAD_EVENT, np.int64(NO_TABLE), False
    n_columns = np.int64(load_u8(at))
    at += 1
    if n_columns == 252 and at + 2 <= end:
        n_columns = np.int64(load_u16(at))
        at += 2
    elif n_columns > 250:
        return BAD_EVENT, np.int64(NO_TABLE), False
    n_bytes = (n_columns + 7) >> 3
    kind = _image_kinds(event_type)
    if n_columns > MOST_COLUMNS or at + n_bytes * (2 if kind == _UPDATE else 1) > end:
        return BAD_EVENT, np.int64(NO_TABLE), False
    use = entry[1]
    table = recording.tables[use]
    if not _all_ones(at, n_columns):
        table[PARTIAL] = 1
    if kind == _UPDATE and not _all_ones(at + n_bytes, n_columns):
        table[PARTIAL] = 1
        for i in range(n_bytes):
            recording.after_columns[use, i] |= load_u8(at + n_bytes + i)
    _keep_sample(recording, use, position)
    table[ROWS_EVENTS] += 1
    table[ROWS_BYTES] += size
    table[SPLIT_BYTES] += size
    return DONE, use, last


@inline
def _all_ones(bitmap, n_columns):
    for i in range(n_columns >> 3):
        if load_u8(bitmap + i) != 0xFF:
            return False
    rest = n_columns & 7
    return rest == 0 or np.int64(load_u8(bitmap + (n_columns >> 3))) & ((1 << rest) - 1) == (1 << rest) - 1


@inline
def _keep_sample(recording, use, position):
    """Every STRIDE-th rows event is a sample. Where there are too many, every other one goes and the stride doubles."""
    table, samples = recording.tables[use], recording.samples[use]
    if table[ROWS_EVENTS] & (table[STRIDE] - 1) != 0:
        return
    if table[N_SAMPLES] == N_SAMPLES_KEPT:
        for i in range(N_SAMPLES_KEPT // 2):
            samples[i] = samples[2 * i]
        table[N_SAMPLES] = N_SAMPLES_KEPT // 2
        table[STRIDE] *= 2
        if table[ROWS_EVENTS] & (table[STRIDE] - 1) != 0:
            return
    samples[table[N_SAMPLES]] = position
    table[N_SAMPLES] += 1


@inline
def cut_split(recording, end):
    """End the split that is open, if any, with the bytes of each table in it."""
    state = recording.state
    if state[SPLIT_START] < 0:
        return DONE
    split = state[N_SPLITS]
    if split == recording.splits.shape[0] or state[N_SPLIT_TABLES] + state[N_TABLES] > recording.split_tables.shape[0]:
        return NEED_ROOM
    recording.splits[split, 0] = state[SPLIT_START]
    recording.splits[split, 1] = end
    state[N_SPLITS] += 1
    state[SPLIT_START] = -1
    for use in range(state[N_TABLES]):
        if recording.tables[use, SPLIT_BYTES] > 0:
            row = recording.split_tables[state[N_SPLIT_TABLES]]
            row[0] = split
            row[1] = use
            row[2] = recording.tables[use, SPLIT_BYTES]
            state[N_SPLIT_TABLES] += 1
            recording.tables[use, SPLIT_BYTES] = 0
    return DONE
