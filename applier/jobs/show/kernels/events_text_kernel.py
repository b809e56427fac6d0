# mypy: allow-untyped-defs, no-check-untyped-defs
"""Prints events as the servers' own programs do: the header line of each, and the contents of frequent kinds; or rows
as JSON.

The rows of a statement follow the headers of all of its events, with BINLOG statements in between: text that comes too
early waits in buffers of its own, which Python takes over when they are full. The kernel stops with a status where
Python is needed: for the contents of rare kinds, the text of a new second, a new table map, a full buffer, and errors
in an event.
"""

import numpy as np

from applier.binlog.events.compression.compressed_kernel import ZSTD, describe_payload
from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import table_id_at
from applier.binlog.rows.rows_event_kernel import rows_kind
from applier.binlog.rows.table_ids_kernel import id_entry, is_mapped
from applier.jobs.show.kernels.base64_kernel import put_event
from applier.jobs.show.kernels.events_json_kernel import HEADER_BYTES, put_event_line, put_head
from applier.jobs.show.kernels.fixed_texts import Text, put_text
from applier.jobs.show.kernels.gtid_text_kernel import put_gtid, put_mariadb_gtid
from applier.jobs.show.kernels.rows_event_text_kernel import put_rows_event
from applier.jobs.show.kernels.statement_end_kernel import (
    ask_for_heads,
    end_statement,
    put_header,
    put_heads,
    put_own_name,
    put_title,
)
from applier.jobs.show.kernels.statements_text_kernel import (
    ANNOTATE,
    EVENT_ROOM,
    LOAD_QUERY,
    QUERY,
    ROWS_QUERY,
    put_query,
    put_statement,
)
from applier.jobs.show.kernels.walk_kernel import PAYLOAD, find_event, leave_payload, pass_event
from applier.jobs.show.kernels.walk_records import (
    AT_EVENT,
    AT_PAYLOAD_END,
    Status,
    state_at,
    table_at,
)
from applier.kernels.put_kernel import put_byte
from jsondiff.kernels.numbers import put_unsigned
from keysearch.memory import copy_bytes, inline, kernel, load_u64

_XID, _TABLE_MAP, _GTID, _ANONYMOUS, _MARIADB_GTID = 16, 19, 33, 34, 162
_PREVIOUS, _TAGGED, _INTVAR, _RAND, _USER_VAR = 35, 42, 5, 13, 14
_FIRST_PRE_GA, _LAST_PRE_GA = 20, 22


@kernel
def print_events(base, state_address):
    """Print the events in some ranges (offsets from address `base`); says why it stopped."""
    state = state_at(state_address)
    while True:
        found = find_event(base, state)
        if found == AT_PAYLOAD_END:
            status = _end_payload(state)
            if status < 0:
                return status
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
    """Print the end of the events in a payload: 0, or why not."""
    out = state.out
    if EVENT_ROOM > state.out_end - out:
        return np.int64(Status.FULL)
    if state.n_inner_printed and state.is_json == 0 and state.is_short == 0:
        out = end_statement(out, state)
        if out < 0:
            return out
        state.out = put_text(out, state, Text.PAYLOAD_ENDS)
    return np.int64(0)


@inline
def _put_event(base, state):
    """Where the text of the event ends, or why it has none."""
    out, start, stop = state.out, state.start, state.stop
    body, kind = start + state.header_bytes, np.int64(event_header(start).type)
    is_text, is_pre_ga = state.is_json == 0, kind >= _FIRST_PRE_GA and kind <= _LAST_PRE_GA
    rows = rows_kind(kind)
    if EVENT_ROOM > state.out_end - out:
        return Status.FULL
    takes_heads = kind == _TABLE_MAP or (state.as_mysql and (kind == QUERY or kind == LOAD_QUERY or _is_variable(kind)))
    if is_text and state.row_at == 0 and rows < 0 and kind != ANNOTATE and kind != _TABLE_MAP and (
            (state.heads_out != state.heads_start and not takes_heads) or state.code_out != state.code_start
            or state.rows_out != state.rows_start or state.has_parts):
        out = end_statement(out, state)
        if out < 0:
            return out
        state.out = out
    if is_text and state.row_at == 0 and state.is_short == 0:
        position = state.position + state.size if state.inner else state.position
        out = put_byte(put_unsigned(put_text(out, state, Text.AT), np.uint64(position)), 10)
        if _is_left_out(kind, state):
            return out
    if is_text and takes_heads and not _is_variable(kind):
        out = put_heads(out, state)
        if out < 0:
            return out
    if is_text and state.row_at == 0 and state.is_short == 0:
        state.header_start = out
        if kind != ANNOTATE and (rows < 0 or state.as_mysql):
            out = put_header(out, state.start, base + state.position, state.size, state)
            if out < 0:
                return out
            state.header_end = out
    if rows >= 0:
        return put_rows_event(out, base, body, stop, kind, rows, state)
    if kind == _TABLE_MAP:
        return _put_table_map(out, base, body, stop, is_text, state)
    if not is_text:
        return np.int64(Status.NEED_NOTE) if is_pre_ga else put_event_line(out, base, body, stop, kind, state)
    if kind == _XID and stop - body >= 8:
        if state.is_short == 0:
            out = put_byte(put_unsigned(put_text(out, state, Text.XID), load_u64(body)), 10)
        state.is_open = 0
        return put_text(out, state, Text.COMMIT)
    if kind == QUERY or kind == LOAD_QUERY:
        if state.is_short == 0:
            out = put_own_name(out, base, state)
        return put_query(out, start, body, stop, kind, state)
    if kind == _GTID or kind == _ANONYMOUS:
        return put_gtid(out, body, stop, kind, state)
    if kind == _MARIADB_GTID:
        return put_mariadb_gtid(out, start, body, stop, state)
    if kind == ANNOTATE:
        status = _put_annotation(base, body, stop, state)
        return out if status == 0 else status
    if kind == ROWS_QUERY:
        return _put_rows_query(out, base, body, stop, state)
    if kind == PAYLOAD and state.inner == 0:
        return out if state.is_short else _put_payload(out, body, stop, state)
    if is_pre_ga and stop - body >= 8:
        state.header_end = put_title(out, base, body, state)
        return Status.NEED_NOTE
    return Status.NEED_DETAILS


@inline
def _is_left_out(kind, state):
    """Whether only a line with the position is printed of an event for now."""
    if kind == ROWS_QUERY:
        return state.shows_statements == 0
    return state.shows_gtids == 0 and (kind == _GTID or kind == _ANONYMOUS or kind == _TAGGED or kind == _PREVIOUS)


@inline
def _put_annotation(base, body, stop, state):
    """Append the text behind the rows that follow, and its header line, to the headers that wait: 0, or why not."""
    out, start = state.heads_out, state.start
    if EVENT_ROOM > state.heads_end - out:
        return ask_for_heads(stop - body, state)
    if state.is_short:
        out = put_text(out, state, Text.STATEMENT)
    else:
        out = put_header(out, start, base + state.position, state.size, state)
        if out < 0:
            return out
    out = put_byte(put_text(out, state, Text.ANNOTATE), 10)
    out = put_statement(out, body, stop, ANNOTATE, state.heads_end, state)
    if out < 0:
        return ask_for_heads(stop - body, state)
    state.heads_out = out
    return np.int64(0)


@inline
def _put_rows_query(out, base, body, stop, state):
    if body + 1 > stop:
        return Status.NEED_DETAILS
    if state.shows_statements == 0 or state.is_short:
        return out
    out = put_byte(put_text(out, state, Text.ROWS_QUERY), 10)
    out = put_statement(out, body + 1, stop, ROWS_QUERY, state.out_end, state)
    if out >= 0 and state.shows_binlog:
        status = put_event(base, state)
        if status < 0:
            return status
    return out


@inline
def _is_variable(kind):
    """Whether it belongs to the following statement: MySQL's program prints it with that."""
    return kind == _INTVAR or kind == _RAND or kind == _USER_VAR


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
    if EVENT_ROOM + table.title.length + table.end.length > state.out_end - out:
        return Status.FULL
    if not is_text:
        if state.header_bytes != HEADER_BYTES:
            return Status.NEED_DETAILS
        out = put_unsigned(put_text(put_head(out, base, state), state, Text.JSON_TABLE_ID), np.uint64(table_id))
        return copy_bytes(out, table.title.start, table.title.length)
    if state.is_short == 0:
        out = copy_bytes(out, table.title.start, table.title.length)
        out = copy_bytes(put_unsigned(out, np.uint64(table_id)), table.end.start, table.end.length)
        if state.shows_binlog:
            status = put_event(base, state)
            if status < 0:
                return status
    state.heads_out = state.heads_start
    return out
