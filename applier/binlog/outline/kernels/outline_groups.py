# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels of the outline for event groups: where they start and end, which are executed, and when to stop."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.outline.kernels.outline_gtids import source_address
from applier.binlog.outline.kernels.outline_leaving_out import choose_by_server, leave_out
from applier.binlog.outline.kernels.outline_recording import (
    GROUP_BYTES,
    NOTED_KINDS,
    OUTSIDE,
    RANGE_BYTES,
    RUN_BYTES,
    STOP_BYTES,
    Status,
    append,
    group_view,
    note_at,
    range_view,
    run_at,
    source_view,
    stop_view,
)
from applier.binlog.outline.kernels.outline_rule import NO_SERVER, SOURCE_BYTES
from applier.binlog.outline.kernels.outline_tables import cut_split
from applier.kernels.byte_strings import same_bytes
from keysearch.memory import inline, load_u32, store_u8

COMMITTED, ROLLED_BACK, PREPARED = range(3)  # how a group ends
NO_NUMBER = NO_XID = NO_THREAD = -1
_RUNS_SEARCHED = 64


@inline
def open_group(state, position, header, group_state):
    """Open a group that starts with the event whose header is at an address. Returns STOPPED if the group is not before
    the stop time: neither it nor later groups count."""
    timestamp = np.int64(event_header(header).time)
    if timestamp >= state.stop_time:
        return Status.STOPPED
    state.group_state = group_state
    state.group_start = position
    state.group_time = timestamp
    state.group_row_events = 0
    state.group_gtid = 0
    state.group_number = NO_NUMBER
    state.group_xid = NO_XID
    state.group_thread = NO_THREAD
    state.savepoints.used = 0
    choose_by_server(state, np.int64(event_header(header).server_id))
    if state.first_start < 0:
        state.first_start = position
    if state.split_start < 0:
        state.split_start = position
        state.digest = 0
    return Status.DONE


@inline
def end_group(state, end, ending):
    """Close the group, which is whole at `end`. If it ROLLED_BACK, its rows do not count, but it was executed and its
    GTID counts. If it is PREPARED, it is unknown yet whether its rows count."""
    if ending == ROLLED_BACK and roll_back(state, state.group_start, end) == Status.NEED_ROOM:
        return Status.NEED_ROOM
    if ending != COMMITTED:
        forget_notes(state, state.group_start)
    if state.group_left_out != 0:
        if leave_out(state, end) == Status.NEED_ROOM:
            return Status.NEED_ROOM
        state.group_left_out = 0
    if state.n_groups == 0:
        state.first_time = state.group_time
    state.group_state = OUTSIDE
    state.n_groups += 1
    state.last_end = end
    state.last_digest = state.digest
    state.last_time = state.group_time
    state.last_gtid = state.group_gtid
    if end - state.split_start >= state.wanted_split and cut_split(state, end) == Status.NEED_ROOM:
        return Status.NEED_ROOM
    if state.groups.room != 0 and _record(state, end) == Status.NEED_ROOM:
        return Status.NEED_ROOM
    if state.group_number == NO_NUMBER:
        return Status.DONE
    return _count_gtid(state)


@inline
def run_by(state, body):
    """Record the thread of the open group, which is the first field of a statement's event."""
    if state.group_thread == NO_THREAD:
        state.group_thread = np.int64(load_u32(body))


@inline
def _record(state, end):
    address = append(state.groups, GROUP_BYTES)
    if address == 0:
        return Status.NEED_ROOM
    entry = group_view(address)
    entry.start = state.group_start
    entry.end = end
    entry.time = state.group_time
    entry.source = state.group_source
    entry.number = state.group_number
    entry.server = state.group_server
    entry.xid = state.group_xid
    entry.thread = state.group_thread
    return Status.DONE


@inline
def roll_back(state, start, end):
    """Record that rows in [start, end) are rolled back."""
    address = append(state.rolled_back, RANGE_BYTES)
    if address == 0:
        return Status.NEED_ROOM
    entry = range_view(address)
    entry.start = start
    entry.end = end
    return Status.DONE


@inline
def forget_notes(state, start):
    """Drop the notes about unreplayable events from `start` on, which were rolled back and so do not stop the replay.
    The next event of such a kind must be noted again."""
    notes = state.notes.used
    if notes == 0 or note_at(state.notes.start, notes - 1).position < start:
        return
    for kind in range(NOTED_KINDS):
        store_u8(state.noted + kind, np.uint8(0))


@inline
def _count_gtid(state):
    """Count the group's GTID as executed: extend its source's run, and check whether the stop set is complete."""
    number, server = state.group_number, state.group_server
    address = source_address(state, state.group_source)
    source = source_view(address)
    if server != NO_SERVER:
        source.run = _run_of_server(state, source.run, server)
    elif source.run != 0 and run_at(state.runs.start, source.run - 1).last + 1 != number:
        source.run = 0
    if source.run == 0:
        if append(state.runs, RUN_BYTES) == 0:
            return Status.NEED_ROOM
        source.run = state.runs.used
        run_at(state.runs.start, source.run - 1).source = state.group_source
        run_at(state.runs.start, source.run - 1).first = number if server == NO_SERVER else server
    run_at(state.runs.start, source.run - 1).last = number
    if state.gtids_to_stop > 0:
        return _count_towards_stop(state, address, number, server)
    return Status.DONE


@inline
def _run_of_server(state, run, server):
    """Return the run of the group's domain and a server, given the domain's latest run; 0 if a new one is needed. Only
    the latest runs are searched; a server without any of them gets another one."""
    if run == 0 or run_at(state.runs.start, run - 1).first == server:
        return run
    for number in range(state.runs.used, max(state.runs.used - _RUNS_SEARCHED, 0), -1):
        known = run_at(state.runs.start, number - 1)
        if known.source == state.group_source and known.first == server:
            return np.int64(number)
    return np.int64(0)


@inline
def is_past_stop(state, source, number, server):
    """Return True if the group that opens comes after the stop set's group, which the log does not have: it is a later
    group of the same server in the domain. MariaDB's START SLAVE UNTIL decides in the same way."""
    if state.gtids_to_stop == 0 or server == NO_SERVER:
        return False
    for i in range(state.stop_gtids.used):
        address = state.stop_gtids.start + STOP_BYTES * i
        wanted = stop_view(address)
        if wanted.reached == 0 and wanted.first == server and number > wanted.last and same_bytes(
                source, address, SOURCE_BYTES):
            wanted.reached = 1
            state.gtids_to_stop -= 1
            return state.gtids_to_stop == 0
    return False


@inline
def _count_towards_stop(state, source, number, server):
    for i in range(state.stop_gtids.used):
        address = state.stop_gtids.start + STOP_BYTES * i
        wanted = stop_view(address)
        if not same_bytes(source, address, SOURCE_BYTES):
            continue
        if server == NO_SERVER:
            if wanted.first <= number <= wanted.last:
                state.gtids_to_stop -= 1
        elif wanted.reached == 0 and server == wanted.first and number == wanted.last:
            wanted.reached = 1
            state.gtids_to_stop -= 1
    return Status.STOPPED if state.gtids_to_stop == 0 else Status.DONE
