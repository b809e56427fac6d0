# mypy: allow-untyped-defs, no-check-untyped-defs
"""Prints events as `mysqlbinlog -v` does: the header line of each, and the contents of frequent kinds; or rows as JSON.

It stops with a status where Python is needed: for the contents of rare kinds, the text of a new second, a new table
map, a full buffer, and errors in an event.
"""

import numpy as np

from applier.binlog.events.compressed_kernel import ZSTD, describe_payload
from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import read_bitmaps, table_id_at
from applier.binlog.rows.rows_event_kernel import ALL_ONES, DUMMY_TABLE_ID, rows_kind
from applier.binlog.rows.table_ids_kernel import id_entry, is_mapped
from applier.jobs.show.kernels.events_json_kernel import HEADER_BYTES, put_event_line, put_head
from applier.jobs.show.kernels.fixed_texts import Text, put_name, put_text
from applier.jobs.show.kernels.gtid_text_kernel import find_time, put_gtid, put_mariadb_gtid
from applier.jobs.show.kernels.places_kernel import PAYLOAD, find_event, leave_payload, pass_event
from applier.jobs.show.kernels.rows_text_kernel import put_rows, put_rows_title
from applier.jobs.show.kernels.statements_text_kernel import (
    ANNOTATE,
    EVENT_ROOM,
    LOAD_QUERY,
    QUERY,
    ROWS_QUERY,
    put_query,
    put_statement,
)
from applier.jobs.show.kernels.walk_records import (
    AT_EVENT,
    AT_PAYLOAD_END,
    HEADERS,
    SHORT_AT,
    SHORT_LENGTH,
    Status,
    state_at,
    table_at,
)
from applier.kernels.put_kernel import put_byte, put_hex
from jsondiff.kernels.numbers import put_unsigned
from keysearch.memory import copy32, copy_bytes, inline, kernel, load_u16, load_u32, load_u64

_ROTATE, _FORMAT, _XID, _TABLE_MAP, _GTID, _ANONYMOUS, _MARIADB_GTID = 4, 15, 16, 19, 33, 34, 162
_FIRST_PRE_GA, _LAST_PRE_GA = 20, 22


@kernel
def print_events(base, state_address):
    """Print the events in some ranges (offsets from address `base`); says why it stopped."""
    state = state_at(state_address)
    while True:
        found = find_event(base, state)
        if found == AT_PAYLOAD_END:
            if not _end_payload(state):
                return Status.FULL
            leave_payload(state)
            continue
        if found != AT_EVENT:
            return found
        out = _put_event(base, state)
        if out < 0:
            return out
        state.out = out
        state.n_inner_printed += 1
        pass_event(base, state)


@kernel
def skip_event(base, state_address):
    """Go past the event that the walk is at, which was printed otherwise."""
    pass_event(base, state_at(state_address))


@inline
def _end_payload(state):
    """Print the end of the events in a payload; False where that has no room."""
    out = state.out
    if EVENT_ROOM > state.out_end - out:
        return False
    if state.n_inner_printed and state.is_json == 0:
        state.out = put_text(out, state, Text.PAYLOAD_ENDS)
    return True


@inline
def _put_event(base, state):
    """Where the text of the event ends, or why it has none."""
    out, start, stop = state.out, state.start, state.stop
    body, kind = start + state.header_bytes, np.int64(event_header(start).type)
    is_text, is_pre_ga = state.is_json == 0, kind >= _FIRST_PRE_GA and kind <= _LAST_PRE_GA
    rows = rows_kind(kind)
    if EVENT_ROOM > state.out_end - out:
        return Status.FULL
    if is_text and state.row_at == 0:
        out = _put_header(out, base, state)
        if out < 0:
            return out
        state.header_end = out
    if rows >= 0:
        return _put_rows_event(out, base, body, stop, kind, rows, state)
    if kind == _TABLE_MAP:
        return _put_table_map(out, base, body, stop, is_text, state)
    if not is_text:
        return np.int64(Status.NEED_NOTE) if is_pre_ga else put_event_line(out, base, body, stop, kind, state)
    if kind == _XID and stop - body >= 8:
        return put_text(put_unsigned(put_text(out, state, Text.XID), load_u64(body)), state, Text.COMMIT)
    if kind == QUERY or kind == LOAD_QUERY:
        return put_query(_put_own_name(out, base, state), start, body, stop, kind, state)
    if kind == _GTID or kind == _ANONYMOUS:
        return put_gtid(out, body, stop, kind, state)
    if kind == _MARIADB_GTID:
        return put_mariadb_gtid(out, start, body, stop, state)
    if kind == ANNOTATE or kind == ROWS_QUERY:
        return put_statement(out, body, stop, kind, state)
    if kind == PAYLOAD and state.inner == 0:
        return _put_payload(out, body, stop, state)
    if is_pre_ga and stop - body >= 8:
        _put_title(out, base, body, state)
        return Status.NEED_NOTE
    return Status.NEED_DETAILS


@inline
def _put_header(out, base, state):
    """# at 126
    #261122 19:00:00 server id 7  end_log_pos 197 CRC32 0x0badcafe"""
    outer, start, header = base + state.position, state.start, state.header_bytes
    time = find_time(np.int64(event_header(start).time), HEADERS, state)
    if time == 0:
        return Status.NEED_TIME
    out = put_unsigned(put_text(out, state, Text.AT), np.uint64(state.position))
    out = put_text(out, state, Text.HEADER)
    copy32(out, time + SHORT_AT)
    out = put_text(out + SHORT_LENGTH, state, Text.SERVER)
    out = put_unsigned(out, np.uint64(event_header(start).server_id))
    out = put_unsigned(put_text(out, state, Text.END), np.uint64(event_header(outer).next_position))
    if state.inner == 0:
        kind = event_header(outer).type
        if header > 19 and kind != _FORMAT and kind != _ROTATE:
            out = put_unsigned(put_text(out, state, Text.GROUP), load_u64(start + 19))
        if state.checksum_bytes:
            out = put_hex(put_text(out, state, Text.CRC), np.uint64(load_u32(outer + state.size - 4)), 8)
    return put_text(out, state, Text.TAB)


@inline
def _put_own_name(out, base, state):
    """The name of the event's type: in the file, or within a payload."""
    start = state.start if state.inner else base + state.position
    return put_name(out, state, np.int64(event_header(start).type))


@inline
def _put_title(out, base, body, state):
    """What a rows event is, and about which table; a note may follow."""
    table_id = table_id_at(body)
    out = put_rows_title(_put_own_name(out, base, state), state, table_id, np.int64(load_u16(body + 6)))
    state.header_end = out
    return out


@inline
def _put_payload(out, body, stop, state):
    described = state.described
    describe_payload(described, 0, body, stop)
    out = put_unsigned(put_text(out, state, Text.PAYLOAD), np.uint64(described.end - described.data))
    out = put_text(out, state, Text.ZSTD if described.form == ZSTD else Text.NONE)
    out = put_unsigned(out, np.uint64(described.inflated))
    return put_text(out, state, Text.PAYLOAD_BEGINS)


@inline
def _put_table_map(out, base, body, stop, is_text, state):
    if stop - body < 8:
        return Status.NEED_DETAILS
    table_id = table_id_at(body)
    entry = id_entry(state.ids, state.ids_mask, table_id)
    if not is_mapped(entry, body + 6, stop - body - 6):
        state.detail = body
        state.wanted_bytes = stop - body
        return Status.NEW_TABLE
    table = table_at(state.tables, entry.table)
    if EVENT_ROOM + table.title.length > state.out_end - out:
        return Status.FULL
    if not is_text:
        if state.header_bytes != HEADER_BYTES:
            return Status.NEED_DETAILS
        out = put_unsigned(put_text(put_head(out, base, state), state, Text.JSON_TABLE_ID), np.uint64(table_id))
        return copy_bytes(out, table.title.start, table.title.length)
    out = copy_bytes(out, table.title.start, table.title.length)
    return put_byte(put_unsigned(out, np.uint64(table_id)), 10)


@inline
def _put_rows_event(out, base, body, stop, kind, rows, state):
    """Its title, if none of its rows is printed yet, and its rows."""
    columns, at = read_bitmaps(body, stop, kind)
    if at == 0:
        return Status.BAD_ROWS
    table_id = table_id_at(body)
    is_text, is_resumed = state.is_json == 0, state.row_at != 0
    if is_text and not is_resumed:
        out = _put_title(out, base, body, state)
    entry = id_entry(state.ids, state.ids_mask, table_id)
    if entry.id == -1:
        if table_id != DUMMY_TABLE_ID and table_id != ALL_ONES:
            return Status.UNKNOWN_TABLE
        return out if is_text else Status.NEED_DETAILS
    state.table = entry.table
    table = table_at(state.tables, entry.table)
    if columns != table.n_columns:
        return Status.BAD_ROWS
    after = put_rows(out, base, at, rows, table, state)
    if (after == Status.BAD_ROWS or after == Status.BAD_VALUE) and table.is_unsure:
        return Status.NEED_NOTE
    if after == out and not is_text and not is_resumed:
        return Status.NEED_DETAILS  # an event without rows is one line
    return after
