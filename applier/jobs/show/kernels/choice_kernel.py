# mypy: allow-untyped-defs, no-check-untyped-defs
"""Selects the events about some tables, also in payloads: their ranges of offsets, and those of the frames of
their transactions and of the statements behind their rows (EV-ANN).

A transaction's first events wait until one about such a table comes; a statement's text waits for its table maps.
It reads no rows. It stops with a status where Python is needed: to decide whether a new table, or a
statement, is selected.
"""

from enum import IntEnum

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import read_bitmaps, table_id_at
from applier.binlog.rows.table_ids_kernel import id_entry, is_mapped
from applier.jobs.show.kernels.walk_kernel import (
    PAYLOAD,
    find_event,
    leave_payload,
    pass_event,
    position_after,
    position_of,
)
from applier.jobs.show.kernels.walk_records import (
    AT_EVENT,
    AT_PAYLOAD_END,
    RANGE_BYTES,
    Status,
    range_view,
    state_at,
)
from applier.kernels.byte_strings import same_bytes
from keysearch.memory import inline, kernel, load_u8, load_u16


class Role(IntEnum):
    """The role of an event in the choice. Python decides if it is UNKNOWN."""

    UNKNOWN = 0
    CHOSEN = 1
    OTHER = 2
    FRAME = 3
    """It belongs to a transaction whatever its tables are."""
    FRAME_END = 4


_QUERY, _STOP, _ROTATE, _FORMAT, _XID, _TABLE_MAP, _ROWS_QUERY, _GTID, _ANONYMOUS = 2, 3, 4, 15, 16, 19, 29, 33, 34
_PREVIOUS_GTIDS, _GTID_TAGGED = 35, 42
_ANNOTATE, _CHECKPOINT, _MARIADB_GTID, _GTID_LIST = 160, 161, 162, 163
_QUERY_FIXED, _FLAGS_AT, _STATEMENT_END = 13, 6, 1
_BEGIN, _COMMIT = 0x4E49474542, 0x54494D4D4F43
_MOST_RANGES = 3 * RANGE_BYTES
"""Bytes that an event adds to the ranges at most: its own range, and its statement's."""


@kernel
def choose(base, state_address):
    """Choose among the events of a range (offsets from address `base`); says why it stopped."""
    state = state_at(state_address)
    while True:
        found = find_event(base, state)
        if found == AT_PAYLOAD_END:
            leave_payload(state)
            continue
        if found != AT_EVENT:
            return found
        if _MOST_RANGES > state.room_end - state.ranges_out:
            return Status.FULL
        start, stop = state.start, state.stop
        body, kind = start + state.header_bytes, np.int64(event_header(start).type)
        position, after = position_of(state), position_after(base, state)
        if kind == _FORMAT or kind == _STOP or kind == _ROTATE or kind == _PREVIOUS_GTIDS or kind == _GTID_LIST \
                or kind == _CHECKPOINT:
            _begin(state)
            if kind == _FORMAT:
                _add(state, position, after)
                _keep(state)
        elif stop < body:
            return Status.NO_EVENT
        elif kind == _GTID or kind == _ANONYMOUS or kind == _GTID_TAGGED or kind == _MARIADB_GTID:
            _begin(state)  # its GTID is shown with any part of a group
            _put_range(state.ranges_out, position, after)
            state.ranges_out += RANGE_BYTES
        elif kind == _ROWS_QUERY or kind == _ANNOTATE:
            state.text_start = position
            state.text_end = after
        else:
            role = state.verdict
            state.verdict = Role.UNKNOWN
            if role == Role.UNKNOWN:
                role = _of_event(body, stop, kind, state)
            if role == Role.UNKNOWN:
                return Status.NEED_VERDICT
            if role < 0:
                return role
            _take(state, role, position, after)
        pass_event(base, state)


@inline
def _begin(state):
    """Drop the waiting events, which are not chosen."""
    state.ranges_out = state.chosen_end
    state.text_start = -1
    state.is_chosen = 0


@inline
def _add(state, start, end):
    if start >= state.choose_from:
        _put_range(state.ranges_out, start, end)
        state.ranges_out += RANGE_BYTES


@inline
def _put_range(at, start, end):
    range_ = range_view(at)
    range_.start = start
    range_.end = end


@inline
def _keep(state):
    """All that waits is chosen; ranges that follow one another become one."""
    to, out = state.chosen_end, state.ranges_out
    for at in range(to, out, RANGE_BYTES):
        start, end = range_view(at).start, range_view(at).end
        if to > state.room and range_view(to - RANGE_BYTES).end == start:
            range_view(to - RANGE_BYTES).end = end
        else:
            _put_range(to, start, end)
            to += RANGE_BYTES
    state.ranges_out = to
    state.chosen_end = to


@inline
def _take(state, role, position, after):
    if role == Role.CHOSEN:
        if state.text_start >= 0:
            _add(state, state.text_start, state.text_end)
            state.text_start = -1
        _add(state, position, after)
        if position >= state.choose_from:
            _keep(state)
        state.is_chosen = 1
    elif role == Role.FRAME or role == Role.FRAME_END:
        _add(state, position, after)
        if state.is_chosen and position >= state.choose_from:
            _keep(state)
        if role == Role.FRAME_END:
            _begin(state)


@inline
def _of_event(body, stop, kind, state):
    """Return the role of an event, or why that is unknown: of table maps, rows events, the frame of most transactions,
    and the frame of statements in a readable context."""
    if kind == _TABLE_MAP:
        return _of_table_map(body, stop, state)
    if (kind >= 20 and kind <= 25) or (kind >= 30 and kind <= 32) or kind == 39 or (kind >= 166 and kind <= 171):
        return _of_rows(body, stop, kind, state)
    if kind == PAYLOAD:
        return Role.FRAME
    if kind == _XID and stop - body >= 8:
        return Role.FRAME_END
    if kind == _QUERY and stop - body >= _QUERY_FIXED:
        length = np.int64(load_u16(body + 11))
        sql = body + _QUERY_FIXED + length + np.int64(load_u8(body + 8)) + 1
        if (sql > stop or length != state.context.length
                or not same_bytes(body + _QUERY_FIXED, state.context.start, length)):
            return Role.UNKNOWN
        if stop - sql == 5 and _word(sql, 5) == _BEGIN:
            return Role.FRAME
        if stop - sql == 6 and _word(sql, 6) == _COMMIT:
            return Role.FRAME_END
    return Role.UNKNOWN


@inline
def _word(at, length):
    word = np.int64(0)
    for i in range(length):
        word |= np.int64(load_u8(at + i)) << (8 * i)
    return word


@inline
def _of_table_map(body, stop, state):
    length = stop - body - 6
    if length < 2:
        return Role.UNKNOWN
    entry = id_entry(state.ids, state.ids_mask, table_id_at(body))
    if not is_mapped(entry, body + 6, length):
        state.detail = body
        state.wanted_bytes = stop - body
        return np.int64(Status.NEW_TABLE)
    return entry.table


@inline
def _of_rows(body, stop, kind, state):
    if stop - body < 8:
        return Role.UNKNOWN
    entry = id_entry(state.ids, state.ids_mask, table_id_at(body))
    if entry.id == -1:
        return Role.UNKNOWN
    if entry.table == Role.CHOSEN:
        return Role.CHOSEN
    _, bitmaps = read_bitmaps(body, stop, kind)
    if bitmaps == 0:  # it is too short for the fields before its rows
        return Role.UNKNOWN
    if load_u16(body + _FLAGS_AT) & _STATEMENT_END:
        state.text_start = -1
    return Role.OTHER
