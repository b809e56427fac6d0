# mypy: allow-untyped-defs, no-check-untyped-defs
"""Drops or changes filtered events, and adjusts their statements and groups (RW-FILT).

    statement   from its ANNOTATE_ROWS, ROWS_QUERY, INTVAR … or first table map to the rows event that ends it: without
                a remaining rows event it is removed; if its last rows event is removed, the last remaining one ends it
    group       without remaining content, it becomes empty if its GTID must stay (MySQL), else it is removed
"""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import table_id_at
from applier.binlog.rows.rows_event_kernel import ALL_ONES, DUMMY_TABLE_ID, rows_kind
from applier.binlog.rows.table_ids_kernel import id_entry
from applier.jobs.rewrite.kernels.records import ANSWERS, LONG_STATEMENT, PLAIN, answer_at, out_at, table_at
from applier.kernels.byte_strings import hash_bytes, same_bytes
from keysearch.memory import copy_bytes, inline, kernel, load_i64, load_u8, load_u16, store_u8, store_u16, store_u32

_QUERY, _INTVAR, _RAND, _USER_VAR, _XID, _TABLE_MAP, _ROWS_QUERY, _XA_PREPARE, _ANNOTATE, _CHECKPOINT = (
    2, 5, 13, 14, 16, 19, 29, 38, 160, 161)
_APPEND_BLOCK, _BEGIN_LOAD, _EXECUTE_LOAD = 9, 17, 18
_GTID, _ANONYMOUS_GTID, _GTID_TAGGED, _MARIADB_GTID = 33, 34, 42, 162
_KEEP, _, _BEGIN, _END, _DROP = range(5)
_THREAD_BYTES, _FLAGS_AT, _STATEMENT_END, _HEADER_BYTES = 8, 17, 1, 19
_SUPPRESS_USE = 8
AS_IS, DROPPED, UNKNOWN_TABLE, NEED_ANSWER, NO_ROOM, BAD_LENGTH = range(6)
"""The decision about an event that was not output changed: it is output as usual; it is dropped; or it cannot be
decided yet."""


@inline
def is_gtid(event_type):
    """Return whether an event begins a group and names it."""
    return (event_type == _GTID or event_type == _ANONYMOUS_GTID or event_type == _GTID_TAGGED
            or event_type == _MARIADB_GTID)


@inline
def _goes_as_a_whole(state):
    """Return whether the group at the walk's position goes; skips the ranges before it."""
    while state.n_ranges and load_i64(state.ranges + 8) <= state.position:
        state.ranges += 16
        state.n_ranges -= 1
    return state.n_ranges != 0 and load_i64(state.ranges) <= state.position


@inline
def open_group(state):
    """A group begins with the next record."""
    state.group_open = 1
    state.group_first, state.group_used = state.n_events, state.used
    state.group_kept = state.group_dropped = state.group_removed = state.group_has_gtid = 0
    state.group_named = state.group_ended = state.group_prepares = 0
    state.statement_open = state.statement_rows = 0


@inline
def close_group(state):
    """The open group ends: if it has lost all of its content, it becomes empty, or goes. False if there is no room."""
    state.emptied_prepares = 0
    if state.group_open == 0:
        return True
    first = state.group_first
    if state.group_dropped and state.group_kept == 0:
        if state.group_has_gtid:
            if state.empty_bytes + 2 * _HEADER_BYTES > state.room - state.used or \
                    state.n_events + 2 > state.most_events:
                state.wanted_bytes = state.empty_bytes + 2 * _HEADER_BYTES
                return False
            for i in range(first + 1, state.n_events):
                state.group_removed += out_at(state.events, i).source
            gtid = out_at(state.events, first)
            state.n_events, state.used = first + 1, gtid.start + gtid.length
            _put_empty(state, gtid.start, np.int64(0), state.empty_begin)
            _put_empty(state, gtid.start, state.empty_begin, state.empty_bytes)
        else:
            state.n_events, state.used = first, state.group_used
        state.group = 0  # it is not compressed
        state.n_emptied += 1
        state.emptied_prepares = state.group_prepares
    if state.group_named and state.n_events > first:
        out_at(state.events, first).removed = state.group_removed
    state.group_open = state.group_ended = 0
    return True


@inline
def _put_empty(state, gtid, begin, end):
    """Put a QUERY with the time and the server of a GTID event (its offset)."""
    to = state.out + state.used
    stop = copy_bytes(to, state.out + gtid, state.header_bytes)
    stop = copy_bytes(stop, state.empty + begin, end - begin)
    store_u8(to + 4, np.uint8(_QUERY))
    store_u32(to + 13, np.uint32(0))
    store_u16(to + _FLAGS_AT, np.uint16(_SUPPRESS_USE))
    event_header(to).size = np.uint32(stop - to)
    out = out_at(state.events, state.n_events)
    out.start, out.length, out.source, out.unit, out.form = state.used, stop - to, 0, 0, PLAIN
    out.type, out.moves, out.begins, out.removed = _QUERY, 1, 0, 0
    state.used += stop - to
    state.n_events += 1


@inline
def drop(size, state):
    """An event goes, which had `size` bytes in the archive (0: within a compressed one)."""
    state.changed = 1
    state.group_dropped = 1
    state.group_removed += size


@inline
def _open_statement(state):
    if state.statement_open == 0:
        state.statement_open, state.statement_rows = 1, 0
        state.statement_first, state.statement_used = state.n_events, state.used


@inline
def _drop_statement(state):
    """Drop the output of the open statement, too."""
    if state.statement_open:
        for i in range(state.statement_first, state.n_events):
            state.group_removed += out_at(state.events, i).source
        state.n_events, state.used = state.statement_first, state.statement_used
        state.statement_open = 0


@inline
def filter_event(start, stop, size, event_type, state):
    """Decide about an event, in the form of the walk's `plain_event`: return the address after its replacement, or one
    of the above. Table maps are known."""
    goes = _goes_as_a_whole(state)
    if is_gtid(event_type):
        open_group(state)
        state.group_named, state.group_dropped = 1, np.int64(goes)
        state.group_has_gtid = event_type == _GTID or event_type == _GTID_TAGGED
        return AS_IS
    if event_type == _XA_PREPARE:
        state.group_prepares = start
        if not goes:
            return AS_IS
    if goes:
        drop(size, state)
        return DROPPED
    if event_type == _QUERY or event_type == _EXECUTE_LOAD:
        return _statement(start, stop, size, state)
    if event_type == _TABLE_MAP:
        return _table_map(start, stop, size, state)
    if rows_kind(event_type) >= 0:
        return _rows(start, size, state)
    if event_type == _ROWS_QUERY or event_type == _ANNOTATE or event_type == _INTVAR or event_type == _RAND \
            or event_type == _USER_VAR or event_type == _BEGIN_LOAD or event_type == _APPEND_BLOCK:
        _open_statement(state)
    elif event_type == _XID:
        state.group_ended = state.group_named == 0
    elif event_type != _CHECKPOINT:
        state.group_kept += 1
    return AS_IS


@inline
def _statement(start, stop, size, state):
    key, length = start + state.header_bytes + _THREAD_BYTES, stop - start - state.header_bytes - _THREAD_BYTES
    if length < 5:
        return BAD_LENGTH
    answer = answer_at(state.answers, answer_slot(key, length))
    if answer.key_length != length or not same_bytes(answer.key, key, length):
        return NEED_ANSWER
    if answer.once:
        answer.key_length = -1
    if answer.action == _DROP:
        _drop_statement(state)
        drop(size, state)
        state.n_emptied += state.group_open == 0
        return DROPPED
    if answer.action == _BEGIN and state.group_open == 0:
        open_group(state)
    if answer.action == _END:
        state.group_ended = state.group_open != 0 and state.group_named == 0
    if answer.action == _KEEP:
        state.group_kept += 1
    state.statement_open = 0
    if answer.value == 0:
        return AS_IS
    if not _has_room(stop - start + answer.value_length - length, state):
        return NO_ROOM
    to = state.out + state.used
    end = copy_bytes(to, start, key - start)
    return copy_bytes(end, answer.value, answer.value_length)


@inline
def answer_slot(key, length):
    """Where the answer about a statement is."""
    if length > LONG_STATEMENT:
        return np.int64(0)
    return np.int64(hash_bytes(key, length) & np.uint64(ANSWERS - 1))


@inline
def _table_map(start, stop, size, state):
    _open_statement(state)
    body = start + state.header_bytes
    table = table_at(state.tables, id_entry(state.ids, state.ids_mask, table_id_at(body)).table)
    if table.goes:
        drop(size, state)
        return DROPPED
    if table.database == 0:
        return AS_IS
    if not _has_room(stop - start + table.database_length + 1, state):
        return NO_ROOM
    name = body + 8
    to = copy_bytes(state.out + state.used, start, name - start)
    store_u8(to, np.uint8(table.database_length))
    to = copy_bytes(to + 1, table.database, table.database_length + 1)
    rest = name + 2 + np.int64(load_u8(name))
    return copy_bytes(to, rest, stop - rest)


@inline
def _rows(start, size, state):
    """Keep a rows event, with the events before it in its statement, or drop it."""
    body = start + state.header_bytes
    entry = id_entry(state.ids, state.ids_mask, table_id_at(body))
    ends = load_u16(body + 6) & _STATEMENT_END != 0
    if entry.id == -1:
        if table_id_at(body) != DUMMY_TABLE_ID and table_id_at(body) != ALL_ONES:
            return UNKNOWN_TABLE
        goes = state.group_dropped != 0 and state.statement_rows == 0
    else:
        goes = table_at(state.tables, entry.table).goes != 0
    if not goes:
        return AS_IS
    drop(size, state)
    state.n_dropped += 1
    if ends:
        if state.statement_rows == 0:
            _drop_statement(state)
        else:
            flags = state.out + state.last_rows + state.header_bytes + 6
            store_u16(flags, np.uint16(load_u16(flags) | np.uint16(_STATEMENT_END)))
        state.statement_open = state.statement_rows = 0
    return DROPPED


@inline
def rows_stay(start, at, state):
    """A rows event was put out, at an offset."""
    state.group_kept += 1
    state.statement_rows += 1
    state.last_rows = at
    if load_u16(start + state.header_bytes + 6) & _STATEMENT_END:
        state.statement_open = state.statement_rows = 0


@inline
def _has_room(length, state):
    state.wanted_bytes = length
    return length <= state.room - state.used and state.n_events < state.most_events


@kernel
def slot_of(key, length):
    """Where the answer about a statement is, for Python."""
    return answer_slot(key, length)
