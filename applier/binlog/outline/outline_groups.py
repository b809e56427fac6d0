# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels of the outline about event groups: where they start and end, which are executed, and when to stop.
"""

import numpy as np

from applier.binlog.outline.outline_gtids import NO_SERVER
from applier.binlog.outline.outline_recording import (
    DIGEST,
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
    LAST_DIGEST,
    LAST_END,
    LAST_GTID,
    LAST_TIME,
    N_GROUPS,
    NOTE_LENGTH,
    NOTE_POSITION,
    NOTED,
    NOTED_KINDS,
    NOTES,
    OUTSIDE,
    RUN_FIRST,
    RUN_LAST,
    RUN_LENGTH,
    RUN_SOURCE,
    RUNS,
    SAVEPOINTS,
    SOURCE_BYTES,
    SOURCE_LENGTH,
    SOURCE_RUN,
    SOURCES,
    SPLIT_START,
    STOP_FIRST,
    STOP_GTIDS,
    STOP_LAST,
    STOP_LENGTH,
    STOP_REACHED,
    STOP_TIME,
    VOID_END,
    VOID_LENGTH,
    VOID_START,
    VOIDS,
    WANTED_SPLIT,
    Status,
    append,
    at,
    get,
    increase,
    put,
)
from applier.binlog.outline.outline_tables import cut_split, equal_bytes
from keysearch.memory import inline, store_u8

COMMITTED, ROLLED_BACK, PREPARED = range(3)  # how a group ends
NO_NUMBER = NO_XID = -1


@inline
def open_group(state, position, timestamp, group_state):
    """A group starts here. STOPPED where the stop time says that it, and so all that follows, does not count."""
    if timestamp >= get(state, STOP_TIME):
        return Status.STOPPED
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
        put(state, DIGEST, 0)
    return Status.DONE


@inline
def end_group(state, end, ending):
    """The group is whole at `end`. One that ROLLED_BACK took its rows back, but it was executed and its GTID counts;
    whether those of one that is PREPARED count is not known yet."""
    if ending == ROLLED_BACK and void(state, get(state, GROUP_START), end) == Status.NEED_ROOM:
        return Status.NEED_ROOM
    if ending != COMMITTED:
        forget_notes(state, get(state, GROUP_START))
    if get(state, N_GROUPS) == 0:
        put(state, FIRST_TIME, get(state, GROUP_TIME))
    put(state, GROUP_STATE, OUTSIDE)
    increase(state, N_GROUPS, 1)
    put(state, LAST_END, end)
    put(state, LAST_DIGEST, get(state, DIGEST))
    put(state, LAST_TIME, get(state, GROUP_TIME))
    put(state, LAST_GTID, get(state, GROUP_GTID))
    if end - get(state, SPLIT_START) >= get(state, WANTED_SPLIT) and cut_split(state, end) == Status.NEED_ROOM:
        return Status.NEED_ROOM
    if get(state, GROUPS + 2) != 0 and _record(state, end) == Status.NEED_ROOM:
        return Status.NEED_ROOM
    if get(state, GROUP_NUMBER) == NO_NUMBER:
        return Status.DONE
    return _count_gtid(state)


@inline
def _record(state, end):
    entry = append(state, GROUPS, ENTRY_LENGTH)
    if entry == 0:
        return Status.NEED_ROOM
    put(entry, ENTRY_START, get(state, GROUP_START))
    put(entry, ENTRY_END, end)
    put(entry, ENTRY_TIME, get(state, GROUP_TIME))
    put(entry, ENTRY_SOURCE, get(state, GROUP_SOURCE))
    put(entry, ENTRY_NUMBER, get(state, GROUP_NUMBER))
    put(entry, ENTRY_SERVER, get(state, GROUP_SERVER))
    put(entry, ENTRY_XID, get(state, GROUP_XID))
    return Status.DONE


@inline
def void(state, start, end):
    """Rows in [start, end) were taken back."""
    entry = append(state, VOIDS, VOID_LENGTH)
    if entry == 0:
        return Status.NEED_ROOM
    put(entry, VOID_START, start)
    put(entry, VOID_END, end)
    return Status.DONE


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
                return Status.NEED_ROOM
            put(source, SOURCE_RUN, get(state, RUNS))
            put(run, RUN_SOURCE, get(state, GROUP_SOURCE))
        put(run, RUN_FIRST, number if server == NO_SERVER else server)
        put(run, RUN_LAST, number)
    if get(state, GTIDS_TO_STOP) > 0:
        return _count_towards_stop(state, source, number, server)
    return Status.DONE


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
    return Status.STOPPED if get(state, GTIDS_TO_STOP) == 0 else Status.DONE
