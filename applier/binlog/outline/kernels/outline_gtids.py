# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels of the outline that read the GTID of a group, and compare its source with earlier ones.

GTID, ANONYMOUS_GTID   flags u8, UUID 16 bytes, transaction number i64, …
GTID_TAGGED            MySQL's serialization: integers of variable length, fields by number (events._tagged_gtid)
MariaDB GTID           sequence number u64, domain u32, flags u8; its server id is in the header. Then, as flags say, a
                       commit id u64, an XID (format u32, lengths u8 u8, bytes), more flags u8, and, as those say,
                       engines u8, the number of an ALTER u64, the thread u32 (11.5 and newer)
"""

import numpy as np

from applier.binlog.events.format import EventType
from applier.binlog.outline.kernels.outline_leaving_out import choose_by_gtid
from applier.binlog.outline.kernels.outline_recording import SOURCE_RECORD, Status, append
from applier.binlog.outline.kernels.outline_rule import MOST_TAG_BYTES, NO_SERVER, SOURCE_BYTES, TAG_AT
from applier.kernels.byte_strings import hash_bytes, same_bytes
from keysearch.memory import copy_bytes, inline, load_i64, load_u8, load_u32, load_u64, store_i64, store_u8

_GTID_LEAST, _MARIADB_GTID_LEAST = 25, 13
_COMMIT_ID, _XA, _MORE_ENGINES, _ENDS_ALTER, _HAS_THREAD = 0x02, 0xC0, 0x01, 0x0C, 0x10


@inline
def read_gtid(state, event_type, position, body, end, server_id):
    """Read the GTID of the group that was just opened. Returns (result, MariaDB's flags)."""
    state.group_gtid = position
    if event_type == EventType.ANONYMOUS_GTID:
        return Status.DONE, np.int64(0)
    free = append(state.sources, SOURCE_RECORD)  # given back if the source is known
    if free == 0:
        return Status.NEED_ROOM, np.int64(0)
    for i in range(0, SOURCE_RECORD, 8):
        store_i64(free + i, 0)
    flags = np.int64(0)
    state.group_server = NO_SERVER
    if event_type == EventType.GTID_TAGGED:
        number = _read_tagged(free, body, end)
    elif event_type == EventType.MARIADB_GTID:
        if end - body < _MARIADB_GTID_LEAST:
            return Status.BAD_EVENT, flags
        number = np.int64(load_u64(body))
        store_i64(free, np.int64(load_u32(body + 8)))
        flags = np.int64(load_u8(body + 12))
        state.group_server = server_id
        _read_thread(state, body + _MARIADB_GTID_LEAST, end, flags)
    else:
        if end - body < _GTID_LEAST:
            return Status.BAD_EVENT, flags
        copy_bytes(free, body + 1, TAG_AT)
        number = np.int64(load_u64(body + 17))
    if number < 0 or (number == 0 and event_type != EventType.MARIADB_GTID):
        return Status.BAD_EVENT, flags
    state.group_number = number
    state.group_source = _known_source(state, free)
    choose_by_gtid(state, source_address(state, state.group_source), number)
    return Status.DONE, flags


@inline
def _read_thread(state, at, end, flags):
    """Read the thread of the group, after MariaDB's flags, if the event has it."""
    if flags & _COMMIT_ID:
        at += 8
    if flags & _XA:
        if end - at < 6:
            return
        at += 6 + np.int64(load_u8(at + 4)) + np.int64(load_u8(at + 5))
    if at >= end:
        return
    more = np.int64(load_u8(at))
    at += 1 + (more & _MORE_ENGINES) + 8 * (more & _ENDS_ALTER != 0)
    if more & _HAS_THREAD and end - at >= 4:
        state.group_thread = np.int64(load_u32(at))


@inline
def source_address(state, number):
    return state.sources.start + SOURCE_RECORD * number


@inline
def _known_source(state, free):
    """Return the index of the source in the last record; if an earlier record is equal, its index, and the last record
    is freed."""
    last = state.sources.used - 1
    if last > 0 and same_bytes(free, source_address(state, state.group_source), SOURCE_BYTES):
        state.sources.used = last
        return state.group_source
    mask = state.room_source_slots - 1
    slot = np.int64(hash_bytes(free, SOURCE_BYTES)) & mask
    while True:
        known = load_i64(state.source_slots + 8 * slot)  # source + 1
        if known == 0:
            store_i64(state.source_slots + 8 * slot, last + 1)
            return last
        if same_bytes(free, source_address(state, known - 1), SOURCE_BYTES):
            state.sources.used = last
            return known - 1
        slot = (slot + 1) & mask


@inline
def _read_variable(at, end):
    """Read an unsigned integer of MySQL's serialization. Returns (value, next address); next address 0 if it is
    truncated."""
    if at >= end:
        return np.uint64(0), np.int64(0)
    first = np.uint64(load_u8(at))
    extra = 0
    while (first >> np.uint64(extra)) & np.uint64(1):
        extra += 1
    if extra + 1 > end - at:
        return np.uint64(0), np.int64(0)
    drop = min(extra + 1, 8)
    value = first >> np.uint64(drop)
    for i in range(extra):
        value |= np.uint64(load_u8(at + 1 + i)) << np.uint64(8 * (i + 1) - drop)
    return value, np.int64(at + extra + 1)


@inline
def _read_tagged(source, at, end):
    """Read UUID and tag of a GTID_TAGGED body into `source`. Returns the transaction's number; -1 if the body is
    malformed."""
    number = np.int64(-1)
    for _ in range(3):  # version, size, last required field
        _, at = _read_variable(at, end)
        if at == 0:
            return np.int64(-1)
    while True:
        field, at = _read_variable(at, end)
        if at == 0:
            return np.int64(-1)
        if field == 0:  # flags
            _, at = _read_variable(at, end)
        elif field == 1:
            for i in range(TAG_AT):
                byte, at = _read_variable(at, end)
                if at == 0 or byte > 255:
                    return np.int64(-1)
                store_u8(source + i, np.uint8(byte))
        elif field == 2:
            value, at = _read_variable(at, end)
            number = np.int64(value >> np.uint64(1)) if value & np.uint64(1) == 0 else np.int64(-1)
        elif field == 3:
            length, at = _read_variable(at, end)
            if at == 0 or length > MOST_TAG_BYTES or np.int64(length) > end - at:
                return np.int64(-1)
            store_u8(source + TAG_AT, np.uint8(length))
            for i in range(np.int64(length)):
                store_u8(source + TAG_AT + 1 + i, load_u8(at + i))
            return number
        else:  # the fields from 4 on are no part of the GTID
            return number
        if at == 0:
            return np.int64(-1)
