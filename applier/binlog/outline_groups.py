"""Kernels of the outline about event groups: where they start and end, their GTIDs, and when to stop.

GTID, ANONYMOUS_GTID   flags u8, UUID 16 bytes, transaction number i64, …
GTID_TAGGED            MySQL's serialization: integers of variable length, fields by number (events._tagged_gtid)
MariaDB GTID           sequence number u64, domain u32, flags u8; its server id is in the header
"""

import numpy as np

from applier.binlog.format import EventType
from applier.binlog.outline_recording import (
    BAD_EVENT,
    DONE,
    ENTRY_END,
    ENTRY_LENGTH,
    ENTRY_NUMBER,
    ENTRY_SERVER,
    ENTRY_SOURCE,
    ENTRY_START,
    ENTRY_TIME,
    ENTRY_XID,
    FIRST_START,
    FIRST_TIME,
    GROUP_GTID,
    GROUP_NUMBER,
    GROUP_ROW_EVENTS,
    GROUP_SERVER,
    GROUP_SOURCE,
    GROUP_START,
    GROUP_STATE,
    GROUP_TIME,
    GROUP_XID,
    GROUPS,
    GTIDS_TO_STOP,
    LAST_END,
    LAST_GTID,
    LAST_TIME,
    MOST_TAG_BYTES,
    N_GROUPS,
    NEED_ROOM,
    NOTE_LENGTH,
    NOTE_POSITION,
    NOTED,
    NOTED_KINDS,
    NOTES,
    OUTSIDE,
    ROOM_SOURCE_SLOTS,
    RUN_FIRST,
    RUN_LAST,
    RUN_LENGTH,
    RUN_SOURCE,
    RUNS,
    SAVEPOINTS,
    SOURCE_BYTES,
    SOURCE_LENGTH,
    SOURCE_RUN,
    SOURCE_SLOTS,
    SOURCES,
    SPLIT_START,
    STOP_FIRST,
    STOP_GTIDS,
    STOP_LAST,
    STOP_LENGTH,
    STOP_REACHED,
    STOP_TIME,
    STOPPED,
    TAG_AT,
    VOID_END,
    VOID_LENGTH,
    VOID_START,
    VOIDS,
    WANTED_SPLIT,
    append,
    at,
    get,
    increase,
    put,
)
from applier.binlog.outline_tables import cut_split, equal_bytes, hash_bytes
from keysearch.memory import copy_bytes, inline, load_u8, load_u32, load_u64, store_u8

COMMITTED, ROLLED_BACK, PREPARED = range(3)  # how a group ends
NO_NUMBER = NO_SERVER = NO_XID = -1
_GTID_LEAST, _MARIADB_GTID_LEAST = 25, 13


@inline
def open_group(state, position, timestamp, group_state):
    """A group starts here. STOPPED where the stop time says that it, and so all that follows, does not count."""
    if timestamp >= get(state, STOP_TIME):
        return STOPPED
    put(state, GROUP_STATE, group_state)
    put(state, GROUP_START, position)
    put(state, GROUP_TIME, timestamp)
    put(state, GROUP_ROW_EVENTS, 0)
    put(state, GROUP_GTID, 0)
    put(state, GROUP_NUMBER, NO_NUMBER)
    put(state, GROUP_XID, NO_XID)
    put(state, SAVEPOINTS, 0)
    if get(state, FIRST_START) < 0:
        put(state, FIRST_START, position)
    if get(state, SPLIT_START) < 0:
        put(state, SPLIT_START, position)
    return DONE


@inline
def end_group(state, end, ending):
    """The group is whole at `end`. One that ROLLED_BACK took its rows back, but it was executed and its GTID counts;
    whether those of one that is PREPARED count is not known yet."""
    if ending == ROLLED_BACK and void(state, get(state, GROUP_START), end) == NEED_ROOM:
        return NEED_ROOM
    if ending != COMMITTED:
        forget_notes(state, get(state, GROUP_START))
    if get(state, N_GROUPS) == 0:
        put(state, FIRST_TIME, get(state, GROUP_TIME))
    put(state, GROUP_STATE, OUTSIDE)
    increase(state, N_GROUPS, 1)
    put(state, LAST_END, end)
    put(state, LAST_TIME, get(state, GROUP_TIME))
    put(state, LAST_GTID, get(state, GROUP_GTID))
    if end - get(state, SPLIT_START) >= get(state, WANTED_SPLIT) and cut_split(state, end) == NEED_ROOM:
        return NEED_ROOM
    if get(state, GROUPS + 2) != 0 and _record(state, end) == NEED_ROOM:
        return NEED_ROOM
    if get(state, GROUP_NUMBER) == NO_NUMBER:
        return DONE
    return _count_gtid(state)


@inline
def _record(state, end):
    entry = append(state, GROUPS, ENTRY_LENGTH)
    if entry == 0:
        return NEED_ROOM
    put(entry, ENTRY_START, get(state, GROUP_START))
    put(entry, ENTRY_END, end)
    put(entry, ENTRY_TIME, get(state, GROUP_TIME))
    put(entry, ENTRY_SOURCE, get(state, GROUP_SOURCE))
    put(entry, ENTRY_NUMBER, get(state, GROUP_NUMBER))
    put(entry, ENTRY_SERVER, get(state, GROUP_SERVER))
    put(entry, ENTRY_XID, get(state, GROUP_XID))
    return DONE


@inline
def void(state, start, end):
    """Rows in [start, end) were taken back."""
    entry = append(state, VOIDS, VOID_LENGTH)
    if entry == 0:
        return NEED_ROOM
    put(entry, VOID_START, start)
    put(entry, VOID_END, end)
    return DONE


@inline
def forget_notes(state, start):
    """What blocks from `start` on may be taken back and stop nothing, so the next of its kind must be noted again."""
    notes = get(state, NOTES)
    if notes == 0 or get(at(state, NOTES, NOTE_LENGTH, notes - 1), NOTE_POSITION) < start:
        return
    for kind in range(NOTED_KINDS):
        store_u8(get(state, NOTED) + kind, np.uint8(0))


@inline
def _count_gtid(state):
    """The group's GTID is executed: lengthen its source's run, and see whether the stop set is complete."""
    number, server = get(state, GROUP_NUMBER), get(state, GROUP_SERVER)
    source = at(state, SOURCES, SOURCE_LENGTH, get(state, GROUP_SOURCE))
    known = get(source, SOURCE_RUN)
    run = at(state, RUNS, RUN_LENGTH, known - 1)
    if known > 0 and server == NO_SERVER and get(run, RUN_LAST) + 1 == number:
        put(run, RUN_LAST, number)
    else:
        if known == 0 or server == NO_SERVER:
            run = append(state, RUNS, RUN_LENGTH)
            if run == 0:
                return NEED_ROOM
            put(source, SOURCE_RUN, get(state, RUNS))
            put(run, RUN_SOURCE, get(state, GROUP_SOURCE))
        put(run, RUN_FIRST, number if server == NO_SERVER else server)
        put(run, RUN_LAST, number)
    if get(state, GTIDS_TO_STOP) > 0:
        return _count_towards_stop(state, source, number, server)
    return DONE


@inline
def _count_towards_stop(state, source, number, server):
    for i in range(get(state, STOP_GTIDS)):
        wanted = at(state, STOP_GTIDS, STOP_LENGTH, i)
        if not equal_bytes(source, wanted, SOURCE_BYTES):
            continue
        if server == NO_SERVER:
            if get(wanted, STOP_FIRST) <= number <= get(wanted, STOP_LAST):
                increase(state, GTIDS_TO_STOP, -1)
        elif get(wanted, STOP_REACHED) == 0 and number >= get(wanted, STOP_LAST):
            put(wanted, STOP_REACHED, 1)
            increase(state, GTIDS_TO_STOP, -1)
    return STOPPED if get(state, GTIDS_TO_STOP) == 0 else DONE


@inline
def read_gtid(state, event_type, position, body, end, server_id):
    """The GTID of the group that was just opened. (result, MariaDB's flags)"""
    put(state, GROUP_GTID, position)
    if event_type == EventType.ANONYMOUS_GTID:
        return DONE, np.int64(0)
    free = append(state, SOURCES, SOURCE_LENGTH)  # given back if the source is known
    if free == 0:
        return NEED_ROOM, np.int64(0)
    for i in range(SOURCE_LENGTH):
        put(free, i, 0)
    flags = np.int64(0)
    put(state, GROUP_SERVER, NO_SERVER)
    if event_type == EventType.GTID_TAGGED:
        number = _read_tagged(free, body, end)
    elif event_type == EventType.MARIADB_GTID:
        if end - body < _MARIADB_GTID_LEAST:
            return BAD_EVENT, flags
        number = np.int64(load_u64(body))
        put(free, 0, load_u32(body + 8))
        flags = np.int64(load_u8(body + 12))
        put(state, GROUP_SERVER, server_id)
    else:
        if end - body < _GTID_LEAST:
            return BAD_EVENT, flags
        copy_bytes(free, body + 1, TAG_AT)
        number = np.int64(load_u64(body + 17))
    if number < 0 or (number == 0 and event_type != EventType.MARIADB_GTID):
        return BAD_EVENT, flags
    put(state, GROUP_NUMBER, number)
    put(state, GROUP_SOURCE, _known_source(state, free))
    return DONE, flags


@inline
def _known_source(state, free):
    """The index of the source in the last record, which is given back where an earlier one is equal."""
    last = get(state, SOURCES) - 1
    if last > 0 and equal_bytes(free, at(state, SOURCES, SOURCE_LENGTH, get(state, GROUP_SOURCE)), SOURCE_BYTES):
        put(state, SOURCES, last)
        return get(state, GROUP_SOURCE)
    mask = get(state, ROOM_SOURCE_SLOTS) - 1
    slot = np.int64(hash_bytes(free, SOURCE_BYTES)) & mask
    while True:
        known = get(get(state, SOURCE_SLOTS), slot)  # source + 1
        if known == 0:
            put(get(state, SOURCE_SLOTS), slot, last + 1)
            return last
        if equal_bytes(free, at(state, SOURCES, SOURCE_LENGTH, known - 1), SOURCE_BYTES):
            put(state, SOURCES, last)
            return known - 1
        slot = (slot + 1) & mask


@inline
def _read_variable(place, end):
    """An unsigned integer of MySQL's serialization: (value, next address), or next address 0 where it is cut short."""
    if place >= end:
        return np.uint64(0), np.int64(0)
    first = np.uint64(load_u8(place))
    extra = 0
    while (first >> np.uint64(extra)) & np.uint64(1):
        extra += 1
    if place + extra + 1 > end:
        return np.uint64(0), np.int64(0)
    drop = min(extra + 1, 8)
    value = first >> np.uint64(drop)
    for i in range(extra):
        value |= np.uint64(load_u8(place + 1 + i)) << np.uint64(8 * (i + 1) - drop)
    return value, np.int64(place + extra + 1)


@inline
def _read_tagged(source, place, end):
    """UUID and tag of a GTID_TAGGED body into `source`; the transaction's number, or -1 where it is malformed."""
    number = np.int64(-1)
    for _ in range(3):  # version, size, last required field
        _, place = _read_variable(place, end)
        if place == 0:
            return np.int64(-1)
    while True:
        field, place = _read_variable(place, end)
        if place == 0:
            return np.int64(-1)
        if field == 0:  # flags
            _, place = _read_variable(place, end)
        elif field == 1:
            for i in range(TAG_AT):
                byte, place = _read_variable(place, end)
                if place == 0 or byte > 255:
                    return np.int64(-1)
                store_u8(source + i, np.uint8(byte))
        elif field == 2:
            value, place = _read_variable(place, end)
            number = np.int64(value >> np.uint64(1)) if value & np.uint64(1) == 0 else np.int64(-1)
        elif field == 3:
            length, place = _read_variable(place, end)
            if place == 0 or length > MOST_TAG_BYTES or place + np.int64(length) > end:
                return np.int64(-1)
            store_u8(source + TAG_AT, np.uint8(length))
            for i in range(np.int64(length)):
                store_u8(source + TAG_AT + 1 + i, load_u8(place + i))
            return number
        else:  # the fields from 4 on are no part of the GTID
            return number
        if place == 0:
            return np.int64(-1)
