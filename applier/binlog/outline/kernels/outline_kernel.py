# mypy: allow-untyped-defs, no-check-untyped-defs
"""The one pass over a binlog file: headers, checksums, event groups, tables, split points.

`walk` reads every event once and records only what a plan needs, in the arrays of a `Recording`. Events that Python
must read (DDL, file borders, unreplayable events) become notes; notes are few, row events are many.

Event groups (GRP-1) as MySQL and MariaDB write them. A group is opened by any GTID event, or, in logs without GTIDs, by
its first event, and is in one of these states:

    ANNOUNCED    a GTID, INTVAR, … was seen: BEGIN makes it a TRANSACTION, any other statement is the whole group
    STANDALONE   MariaDB's GTID event says that the group is one statement
    TRANSACTION  up to XID, COMMIT or ROLLBACK; statements within do not end it
    ROWS         row events without BEGIN: up to the one that ends the statement

Every read is checked against the end of its event, and every event against the end of the file. No write goes beyond an
array: if one is full, `walk` returns NEED_ROOM, and the caller starts again with larger arrays.
"""

import numpy as np

from applier.binlog.events.compression.compressed_kernel import CONTENT_BYTES, content_view
from applier.binlog.events.digest_kernel import with_event
from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.format import IGNORABLE_FLAG, MARIADB_STANDALONE, STATEMENT_END_FLAG, EventType
from applier.binlog.outline.kernels.outline_groups import ROLLED_BACK, end_group, is_past_stop, open_group, run_by
from applier.binlog.outline.kernels.outline_gtids import read_gtid, source_address
from applier.binlog.outline.kernels.outline_recording import (
    ANNOUNCED,
    BLOCKED,
    FILE_EVENT,
    NEVER,
    OUTSIDE,
    ROW_STATEMENT_BYTES,
    ROWS,
    SAMPLE_BYTES,
    STANDALONE,
    STATEMENT,
    TRANSACTION,
    Status,
    append,
    kept,
    row_statement_view,
    state_at,
)
from applier.binlog.outline.kernels.outline_rule import EXECUTED
from applier.binlog.outline.kernels.outline_statements import ENDS_GROUP, note, note_once, query, xa_prepare
from applier.binlog.outline.kernels.outline_tables import NO_TABLE, ROWS_LEAST, cut_split, map_table, use_table
from applier.kernels.crc32 import crc32
from keysearch.memory import inline, kernel, load_u16, load_u32, load_u64, prefetch

# The action for an event, by its type.
(
    _PASSED_OVER, _GTID, _TABLE_MAP, _ROWS_V1, _ROWS_V2, _QUERY, _XID, _CONTEXT, _BLOCKED_STATEMENT, _LOAD_DATA,
    _XA_PREPARE, _COMPRESSED, _FILE, _BLOCKED_EVENT, _UNKNOWN, _ROW_STATEMENT,
) = range(16)  # fmt: skip


def _actions() -> np.ndarray:
    kinds = {
        _PASSED_OVER: (3, 27, 28, 36, 37, 41, 161, 35, 163),
        _ROW_STATEMENT: (29, 160),
        _GTID: (33, 34, 42, 162),
        _TABLE_MAP: (19,),
        _ROWS_V1: (23, 24, 25),
        _ROWS_V2: (30, 31, 32, 39),
        _QUERY: (2,),
        _XID: (16,),
        _CONTEXT: (5, 9, 11, 13, 14, 17),
        _BLOCKED_STATEMENT: (6, 10, 12),
        _LOAD_DATA: (18,),
        _XA_PREPARE: (38,),
        _COMPRESSED: (40, *range(165, 172)),
        _FILE: (4, 15, 164),
        _BLOCKED_EVENT: (1, 7, 8, 20, 21, 22, 26),
    }
    actions = np.full(256, _UNKNOWN, np.uint8)
    for action, types in kinds.items():
        actions[list(types)] = action
    return actions


_ACTIONS = _actions()


@inline
def _statement_end(state, result):
    """Handle the end of an event that is a statement in a form of its own: outside transactions it is the whole group.
    """
    if result != Status.DONE or state.group_state == TRANSACTION:
        return result
    return ENDS_GROUP


@inline
def _row_statement(state, event_type, position, body, end):
    """Record the statement that made the rows events that follow (EV-ANN)."""
    state.n_row_statements += 1
    if state.row_statements.room == 0:
        return Status.DONE
    record = append(state.row_statements, ROW_STATEMENT_BYTES)
    if record == 0:
        return Status.NEED_ROOM
    text = min(body + (event_type == EventType.ROWS_QUERY), end)  # MySQL has a byte before it
    statement = row_statement_view(record)
    statement.position, statement.end = position, NEVER
    statement.text, statement.length = kept(state, text, end - text), end - text
    return Status.DONE


@inline
def _rows(state, header, event_type, body, end, size, next_position):
    result, use, ends_statement = use_table(state, header, event_type, body, end, size)
    if result != Status.DONE:
        return result
    if ends_statement and state.row_statements.used:
        last = state.row_statements.start + (state.row_statements.used - 1) * ROW_STATEMENT_BYTES
        row_statement_view(last).end = min(row_statement_view(last).end, next_position)
    if use != NO_TABLE:
        state.n_row_events += 1
        state.n_row_bytes += size
        state.group_row_events += 1
    if result == Status.DONE and ends_statement and state.group_state == ROWS:
        return ENDS_GROUP
    return result


@inline
def _left_out_rows(state, action, body, end):
    """Handle a table map or rows event of an excluded group, about whose table nothing is known."""
    if action == _TABLE_MAP:
        return Status.DONE
    if end - body < ROWS_LEAST:
        return Status.BAD_EVENT
    if state.group_left_out != EXECUTED:
        state.n_left_out_rows += 1
    ends_statement = load_u16(body + 6) & STATEMENT_END_FLAG != 0
    return ENDS_GROUP if ends_statement and state.group_state == ROWS else Status.DONE


@inline
def _gtid(state, header, position, event_type, body, end):
    if state.group_state != OUTSIDE:  # the group before was never ended
        result = end_group(state, position, ROLLED_BACK)
        if result != Status.DONE:
            return result
    result = open_group(state, position, header, ANNOUNCED)
    if result != Status.DONE:
        return result
    server_id = np.int64(event_header(header).server_id)
    result, flags = read_gtid(state, event_type, position, body, end, server_id)
    if event_type == EventType.MARIADB_GTID:
        state.group_state = STANDALONE if flags & MARIADB_STANDALONE else TRANSACTION
        if result == Status.DONE and is_past_stop(state, source_address(state, state.group_source), state.group_number,
                                                  server_id):
            return Status.STOPPED
    return result


@inline
def _incident(state, header, position):
    """Handle an INCIDENT event. In MySQL's logs it follows a GTID event, in MariaDB's it is alone; in both it ends its
    group."""
    if state.group_state == OUTSIDE:
        result = open_group(state, position, header, ANNOUNCED)
        if result != Status.DONE:
            return result
    return _statement_end(state, note_once(state, BLOCKED, EventType.INCIDENT, position))


@inline
def _event(state, header, end, position, next_position, event_type, size):
    """Handle one whole event with a correct checksum, from address `header` to `end`, which excludes the checksum.
    `position` and `next_position` are those of the event in the file that it is, or that contains it."""
    body = header + state.header_bytes
    action = _ACTIONS[event_type]
    if action == _GTID:
        return _gtid(state, header, position, event_type, body, end)
    if action == _QUERY:
        return query(state, header, position, next_position, body, end)
    if action == _PASSED_OVER or (action == _UNKNOWN and event_header(header).flags & IGNORABLE_FLAG):
        return Status.DONE
    if action == _ROW_STATEMENT:
        return _row_statement(state, event_type, position, body, end)
    if action == _FILE:
        return note(state, FILE_EVENT, position, NO_TABLE)
    if event_type == EventType.INCIDENT:
        return _incident(state, header, position)
    if action == _BLOCKED_EVENT or action == _UNKNOWN:
        return note_once(state, BLOCKED, event_type, position)
    if state.group_state == OUTSIDE:
        rows = _TABLE_MAP <= action <= _ROWS_V2
        result = open_group(state, position, header, ROWS if rows else ANNOUNCED)
        if result != Status.DONE:
            return result
    elif state.group_state < TRANSACTION and _TABLE_MAP <= action <= _ROWS_V2:
        state.group_state = ROWS
    if action <= _ROWS_V2 and state.group_left_out != 0:
        return _left_out_rows(state, action, body, end)
    if action == _TABLE_MAP:
        return map_table(state, position, body, end)
    if action <= _ROWS_V2:
        return _rows(state, header, event_type, body, end, size, next_position)
    if action == _XID:
        if end - body >= 8:
            state.group_xid = np.int64(load_u64(body))
        return ENDS_GROUP
    if action == _BLOCKED_STATEMENT:
        return _statement_end(state, note_once(state, BLOCKED, event_type, position))
    if action == _LOAD_DATA:
        if end - body < 4:
            return Status.BAD_EVENT
        run_by(state, body)
        return _statement_end(state, note(state, STATEMENT, position, NO_TABLE))
    if action == _XA_PREPARE:
        return xa_prepare(state, position, body, end)
    return Status.DONE  # _CONTEXT: it belongs to the statement that follows


@inline
def _compressed(state, position, next_position):
    """Handle the events in a compressed event, as far as they are inflated. No group continues after its end."""
    header_length, result, goes_on = state.header_bytes, Status.DONE, True
    while goes_on:
        if state.contents_left == 0 or content_view(state.content).position != position:
            return Status.NEED_CONTENTS
        content = content_view(state.content)
        header, end = state.inner, content.end
        if header == 0:
            header = content.start
            state.n_inflated += end - header
            state.within = 1
        while header < end:
            state.inner = header
            if result >= ENDS_GROUP or header_length > end - header:
                return Status.BAD_EVENT
            size, event_type = np.int64(event_header(header).size), np.int64(event_header(header).type)
            action = _ACTIONS[event_type]
            if size < header_length or size > end - header or action == _GTID or _COMPRESSED <= action <= _FILE:
                return Status.BAD_EVENT
            wanted = np.int64(SAMPLE_BYTES) if action == _ROWS_V1 or action == _ROWS_V2 else 2 * size
            if state.kept_end - state.kept_at < wanted:
                state.kept_wanted = wanted
                return Status.NEED_MEMORY
            result = _event(state, header, header + size, position, next_position, event_type, size)
            if result != Status.DONE and result < ENDS_GROUP:
                return result
            header += size
        goes_on = content.goes_on != 0
        if goes_on and result != Status.DONE:
            return Status.BAD_EVENT
        state.content += CONTENT_BYTES
        state.contents_left -= 1
        state.inner = 0
    state.within = 0
    return result


_AHEAD = 2048
"""How many bytes ahead of an event to prefetch: processors do not predict which lines a pass over headers needs."""


@kernel
def walk(state_address):
    """Read events from `position` to `end` of the state. Returns how the pass ended; `position` says where.

    DONE: at `end`. STOPPED: a stop condition holds; `last_end` says where. CUT_SHORT: the event here goes past `end`.
    In these cases the last split is written, unless a group is open. NEED_CONTENTS, NEED_MEMORY: the next call
    continues from here. After any other result the recording is incomplete.
    """
    state = state_at(state_address)
    base, end, position, verify = state.base, state.end, state.position, state.verify
    header_length, checksum_bytes = state.header_bytes, state.checksum_bytes
    least = header_length + checksum_bytes
    result = Status.DONE
    while position < end:
        if header_length > end - position:
            result = Status.CUT_SHORT
            break
        header = base + position
        prefetch(header + _AHEAD)
        size = np.int64(event_header(header).size)
        if size < least:
            result = Status.BAD_LENGTH
            break
        if size > end - position:
            result = Status.CUT_SHORT
            break
        event_type = np.int64(event_header(header).type)
        # The format description's checksum is computed without a flag. Python verifies it.
        has_crc = verify != 0 and event_type != EventType.FORMAT_DESCRIPTION
        if has_crc and state.within == 0:
            crc = crc32(header, size - checksum_bytes, np.uint32(0))
            if checksum_bytes and crc != load_u32(header + size - 4):
                result = Status.BAD_CHECKSUM
                break
            state.event_crc = np.int64(crc)
        if _ACTIONS[event_type] == _COMPRESSED:
            result = _compressed(state, position, position + size)
        else:
            result = _event(state, header, header + size - checksum_bytes, position, position + size, event_type, size)
        if has_crc and (result == Status.DONE or result >= ENDS_GROUP):
            state.digest = with_event(state.digest, state.event_crc)
        if result >= ENDS_GROUP:
            result = end_group(state, position + size, result - ENDS_GROUP)
        if result != Status.DONE:
            break
        state.n_events += 1
        position += size
    if result == Status.STOPPED and state.last_end > position:  # this event ended the last group that counts
        state.n_events += 1
        position = state.last_end
    state.position = position
    is_whole = result == Status.DONE or result == Status.STOPPED or result == Status.CUT_SHORT
    if is_whole and state.group_state == OUTSIDE:
        if cut_split(state, state.last_end) == Status.NEED_ROOM:
            return Status.NEED_ROOM
    return result
