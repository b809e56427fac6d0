# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels of the outline for excluded groups: whether the open group is excluded, and its entry when it ends.

The decision for a group is a binary search: a rule may have as many intervals as a log has groups.
"""

import numpy as np

from applier.binlog.outline.kernels.outline_recording import RANGE_BYTES, Status, append, range_view
from applier.binlog.outline.kernels.outline_rule import (
    BY_GTID,
    BY_SERVER,
    CHOSEN,
    COUNTS,
    EXECUTED,
    LEFT_OUT_GTIDS,
    OTHER,
    RULE_SOURCE,
    SOURCE_BYTES,
    interval_at,
    left_out_gtids_at,
    rule_source_at,
    server_at,
)
from keysearch.memory import inline, load_u8

_RULE_SOURCE_BYTES, _LEFT_OUT_GTIDS_BYTES = RULE_SOURCE.itemsize, LEFT_OUT_GTIDS.itemsize


@inline
def choose_by_server(state, server_id):
    """Decide by its server whether the opened group is excluded."""
    state.group_left_out = COUNTS
    if state.leaves_out & BY_SERVER == 0:
        return
    low, high = np.int64(0), state.rule_servers.used
    while low < high:
        middle = (low + high) >> 1
        if server_at(state.rule_servers.start, middle).id < server_id:
            low = middle + 1
        else:
            high = middle
    is_named = low < state.rule_servers.used and server_at(state.rule_servers.start, low).id == server_id
    if is_named != (state.other_servers != 0):
        state.group_left_out = OTHER


@inline
def choose_by_gtid(state, source, number):
    """Decide by its GTID whether the open group is excluded; `source` is the address of its source."""
    if state.leaves_out & BY_GTID == 0:
        return
    if state.rule_known != state.group_source + 1 or state.rule_server != state.group_server:
        _find_source(state, source)
    low, high = state.rule_first, state.rule_end  # the first interval that ends at the number or after it
    while low < high:
        middle = (low + high) >> 1
        if interval_at(state.rule_intervals.start, middle).last < number:
            low = middle + 1
        else:
            high = middle
    if low < state.rule_end and interval_at(state.rule_intervals.start, low).first <= number:
        state.group_left_out = interval_at(state.rule_intervals.start, low).kind


@inline
def _find_source(state, source):
    """Find and keep the intervals of the group's source and server."""
    state.rule_known, state.rule_server = state.group_source + 1, state.group_server
    state.rule_first = state.rule_end = 0
    low, high = np.int64(0), state.rule_sources.used
    while low < high:
        middle = (low + high) >> 1
        entry = rule_source_at(state.rule_sources.start, middle)
        order = _compare(state.rule_sources.start + _RULE_SOURCE_BYTES * middle, source)
        if order == 0:
            order = np.int64(entry.server) - state.group_server
        if order == 0:
            state.rule_first, state.rule_end = entry.first, entry.end
            return
        if order < 0:
            low = middle + 1
        else:
            high = middle


@inline
def _compare(a, b):
    """Return a negative number, 0 or a positive one: the order of the bytes at two addresses."""
    for i in range(SOURCE_BYTES):
        step = np.int64(load_u8(a + i)) - np.int64(load_u8(b + i))
        if step != 0:
            return step
    return np.int64(0)


@inline
def leave_out(state, end):
    """Record an excluded group that ends here: extend the last range or begin a new one, and record its GTID if it was
    excluded by GTID."""
    if state.group_left_out == EXECUTED:
        state.n_executed += 1
    else:
        state.n_left_out += 1
    ranges = state.left_out
    last = ranges.start + RANGE_BYTES * (ranges.used - 1)
    if ranges.used != 0 and range_view(last).end == state.group_start:
        range_view(last).end = end
    else:
        address = append(ranges, RANGE_BYTES)
        if address == 0:
            return Status.NEED_ROOM
        range_view(address).start, range_view(address).end = state.group_start, end
    return _write_gtid(state) if state.group_left_out == CHOSEN else np.int64(Status.DONE)


@inline
def _write_gtid(state):
    gtids = state.left_out_gtids
    if gtids.used != 0:
        last = left_out_gtids_at(gtids.start, gtids.used - 1)
        if last.source == state.group_source and last.server == state.group_server \
                and last.last + 1 == state.group_number:
            last.last += 1
            return np.int64(Status.DONE)
    if append(gtids, _LEFT_OUT_GTIDS_BYTES) == 0:
        return np.int64(Status.NEED_ROOM)
    entry = left_out_gtids_at(gtids.start, gtids.used - 1)
    entry.source, entry.server = state.group_source, state.group_server
    entry.first = entry.last = state.group_number
    return np.int64(Status.DONE)
