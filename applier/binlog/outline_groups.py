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
    GTIDS_TO_STOP,
    LAST_END,
    LAST_GTID,
    LAST_TIME,
    MOST_TAG_BYTES,
    N_GROUPS,
    N_RUNS,
    N_SOURCES,
    N_VOIDS,
    NEED_ROOM,
    OUTSIDE,
    SOURCE_LENGTH,
    SPLIT_START,
    STOPPED,
    TAG_AT,
)
from applier.binlog.outline_tables import cut_split, equal_bytes, hash_bytes
from keysearch.memory import inline, load_u8, load_u32, load_u64

NO_NUMBER = -1


@inline
def open_group(recording, limits, position, timestamp, group_state):
    """A group starts here. STOPPED where the stop time says that it, and so all that follows, does not count."""
    state = recording.state
    if timestamp >= limits.stop_time:
        return STOPPED
    state[GROUP_STATE] = group_state
    state[GROUP_START] = position
    state[GROUP_TIME] = timestamp
    state[GROUP_ROW_EVENTS] = 0
    state[GROUP_GTID] = 0
    state[GROUP_NUMBER] = NO_NUMBER
    if state[FIRST_START] < 0:
        state[FIRST_START] = position
    if state[SPLIT_START] < 0:
        state[SPLIT_START] = position
    return DONE


@inline
def end_group(recording, limits, end, void):
    """The group is whole at `end`. A void one took its rows back, but it was executed and its GTID counts."""
    state = recording.state
    if void:
        if state[N_VOIDS] == recording.voids.shape[0]:
            return NEED_ROOM
        recording.voids[state[N_VOIDS], 0] = state[GROUP_START]
        recording.voids[state[N_VOIDS], 1] = end
        state[N_VOIDS] += 1
    state[GROUP_STATE] = OUTSIDE
    if state[N_GROUPS] == 0:
        state[FIRST_TIME] = state[GROUP_TIME]
    state[N_GROUPS] += 1
    state[LAST_END] = end
    state[LAST_TIME] = state[GROUP_TIME]
    if end - state[SPLIT_START] >= limits.split_bytes and cut_split(recording, end) == NEED_ROOM:
        return NEED_ROOM
    if state[GROUP_GTID] == 0:
        return DONE
    state[LAST_GTID] = state[GROUP_GTID]
    if state[GROUP_NUMBER] == NO_NUMBER:
        return DONE
    return _count_gtid(recording, limits)


@inline
def _count_gtid(recording, limits):
    """The open group's GTID is executed: lengthen its source's run, and see whether the stop set is complete."""
    state = recording.state
    source, number, server = state[GROUP_SOURCE], state[GROUP_NUMBER], state[GROUP_SERVER]
    run = recording.source_run[source]
    if server >= 0:  # MariaDB: a domain stands at its last group
        if run == 0:
            run = state[N_RUNS] + 1
            if run > recording.runs.shape[0]:
                return NEED_ROOM
            state[N_RUNS] = run
            recording.source_run[source] = run
        recording.runs[run - 1, 0] = source
        recording.runs[run - 1, 1] = server
        recording.runs[run - 1, 2] = number
    elif run > 0 and recording.runs[run - 1, 2] + 1 == number:
        recording.runs[run - 1, 2] = number
    else:
        run = state[N_RUNS]
        if run == recording.runs.shape[0]:
            return NEED_ROOM
        recording.runs[run, 0] = source
        recording.runs[run, 1] = number
        recording.runs[run, 2] = number
        state[N_RUNS] = run + 1
        recording.source_run[source] = run + 1
    if state[GTIDS_TO_STOP] > 0:
        return _count_towards_stop(recording, limits)
    return DONE


@inline
def _count_towards_stop(recording, limits):
    state = recording.state
    source, number = recording.sources[state[GROUP_SOURCE]].ctypes.data, state[GROUP_NUMBER]
    for i in range(limits.stop_numbers.shape[0]):
        numbers = limits.stop_numbers[i]
        if not equal_bytes(source, limits.stop_sources[i].ctypes.data, SOURCE_LENGTH):
            continue
        if state[GROUP_SERVER] >= 0:
            if numbers[2] == 1 and number >= numbers[0]:
                numbers[2] = 0
                state[GTIDS_TO_STOP] -= 1
        elif numbers[0] <= number <= numbers[1]:
            state[GTIDS_TO_STOP] -= 1
    return STOPPED if state[GTIDS_TO_STOP] == 0 else DONE


@inline
def read_gtid(recording, event_type, position, body, end, server_id):
    """The GTID of the group that was just opened. (result, MariaDB's flags)"""
    state = recording.state
    state[GROUP_GTID] = position
    if event_type == EventType.ANONYMOUS_GTID:
        return DONE, 0
    if state[N_SOURCES] == recording.sources.shape[0]:
        return NEED_ROOM, 0
    source = recording.sources[state[N_SOURCES]]  # the next free one: kept if it is a new one
    source[:] = 0
    flags = 0
    if event_type == EventType.GTID_TAGGED:
        number = _read_tagged(source, body, end)
        state[GROUP_SERVER] = -1
    elif event_type == EventType.MARIADB_GTID:
        if end - body < 13:
            return BAD_EVENT, 0
        number = np.int64(load_u64(body))
        for i in range(4):
            source[i] = load_u8(body + 8 + i)
        flags = np.int64(load_u8(body + 12))
        state[GROUP_SERVER] = server_id
    else:
        if end - body < 25:
            return BAD_EVENT, 0
        for i in range(TAG_AT):
            source[i] = load_u8(body + 1 + i)
        number = np.int64(load_u64(body + 17))
        state[GROUP_SERVER] = -1
    if number < 0 or (number == 0 and state[GROUP_SERVER] < 0):
        return BAD_EVENT, 0
    state[GROUP_NUMBER] = number
    state[GROUP_SOURCE] = _find_or_keep_source(recording)
    return DONE, flags


@inline
def _find_or_keep_source(recording):
    """The index of the source written into the next free row, which is taken if no other row is equal."""
    state = recording.state
    free = state[N_SOURCES]
    new = recording.sources[free].ctypes.data
    if free > 0 and equal_bytes(new, recording.sources[state[GROUP_SOURCE]].ctypes.data, SOURCE_LENGTH):
        return state[GROUP_SOURCE]
    mask = np.int64(recording.source_slots.shape[0] - 1)
    slot = np.int64(hash_bytes(new, SOURCE_LENGTH)) & mask
    while recording.source_slots[slot] != 0:
        known = recording.source_slots[slot] - 1
        if equal_bytes(new, recording.sources[known].ctypes.data, SOURCE_LENGTH):
            return known
        slot = (slot + 1) & mask
    recording.source_slots[slot] = free + 1
    state[N_SOURCES] = free + 1
    return free


@inline
def _read_variable(at, end):
    """An unsigned integer of MySQL's serialization: (value, next address), or next address 0 where it is cut short."""
    if at >= end:
        return np.uint64(0), np.int64(0)
    first = np.uint64(load_u8(at))
    extra = 0
    while (first >> np.uint64(extra)) & np.uint64(1):
        extra += 1
    if at + extra + 1 > end:
        return np.uint64(0), np.int64(0)
    drop = min(extra + 1, 8)
    value = first >> np.uint64(drop)
    for i in range(extra):
        value |= np.uint64(load_u8(at + 1 + i)) << np.uint64(8 * (i + 1) - drop)
    return value, np.int64(at + extra + 1)


@inline
def _read_tagged(source, at, end):
    """UUID and tag of a GTID_TAGGED body into `source`; the transaction's number, or -1 where it is malformed."""
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
                source[i] = byte
        elif field == 2:
            value, at = _read_variable(at, end)
            number = np.int64(value >> np.uint64(1)) if value & np.uint64(1) == 0 else np.int64(-1)
        elif field == 3:
            length, at = _read_variable(at, end)
            if at == 0 or length > MOST_TAG_BYTES or at + np.int64(length) > end:
                return np.int64(-1)
            source[TAG_AT] = length
            for i in range(np.int64(length)):
                source[TAG_AT + 1 + i] = load_u8(at + i)
            return number
        else:  # the fields from 4 on are no part of the GTID
            return number
        if at == 0:
            return np.int64(-1)
