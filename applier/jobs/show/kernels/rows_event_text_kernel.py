# mypy: allow-untyped-defs, no-check-untyped-defs
"""Prints a rows event: its header and title with those of its statement, and its rows behind them."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import bitmaps_of, read_bitmaps, table_id_at
from applier.binlog.rows.change_records import UPDATE
from applier.binlog.rows.rows_event_kernel import ALL_ONES, DUMMY_TABLE_ID
from applier.binlog.rows.table_ids_kernel import id_entry
from applier.jobs.show.kernels.base64_kernel import put_event
from applier.jobs.show.kernels.fixed_texts import Text, put_text
from applier.jobs.show.kernels.rows_text_kernel import put_rows
from applier.jobs.show.kernels.statement_end_kernel import ask_for_heads, end_statement, put_header, put_title
from applier.jobs.show.kernels.statements_text_kernel import EVENT_ROOM
from applier.jobs.show.kernels.walk_records import Status, table_at
from applier.kernels.put_kernel import put_byte
from jsondiff.kernels.numbers import put_unsigned
from keysearch.memory import inline, load_u8, load_u16

_PARTITION = 1
"""In the extra data of a rows event."""


@inline
def put_rows_event(out, base, body, stop, kind, rows, state):
    """Print its title, if that is not printed yet, and its rows; those of a statement's last event follow the text that
    has waited for it."""
    columns, at = read_bitmaps(body, stop, kind)
    if at == 0:
        return Status.BAD_ROWS
    table_id, is_text, is_resumed = table_id_at(body), state.is_json == 0, state.row_at != 0
    is_last = load_u16(body + 6) & 1 != 0
    if is_text and not is_resumed:
        if state.is_never:
            return Status.ROWS_IN_NEVER
        if state.is_short == 0:
            waits, to = state.as_mysql == 0, out
            if waits:
                to = state.heads_out
                if EVENT_ROOM > state.heads_end - to:
                    return ask_for_heads(np.int64(0), state)
                to = put_header(to, state.start, base + state.position, state.size, state)
                if to < 0:
                    return to
            to = put_title(to, base, body, state)
            if state.shows_binlog:
                status = put_event(base, state)
                if status < 0:
                    return status
            if waits:
                state.heads_out = to
            else:
                out = to
        state.out = out
        state.row_at = at + ((columns + 7) >> 3) * bitmaps_of(kind) - state.start
        state.stage = 0
    if is_text and is_last and state.stage == 0:
        out = end_statement(out, state)
        if out < 0:
            return out
        state.out = out
        state.stage = 1
    entry = id_entry(state.ids, state.ids_mask, table_id)
    if entry.id == -1:
        if table_id != DUMMY_TABLE_ID and table_id != ALL_ONES:
            return Status.UNKNOWN_TABLE
        return out if is_text else Status.NEED_DETAILS
    state.table = entry.table
    table = table_at(state.tables, entry.table)
    if columns != table.n_columns:
        return Status.BAD_ROWS
    if is_text:
        return _put_text_of_rows(out, base, body, at, rows, is_last, table, state)
    after = put_rows(out, base, at, rows, table, state)
    if (after == Status.BAD_ROWS or after == Status.BAD_VALUE) and table.is_unsure:
        return Status.NEED_NOTE
    if after == out and not is_resumed:
        return Status.NEED_DETAILS  # an event without rows is one line
    return after


@inline
def _put_text_of_rows(out, base, body, at, rows, is_last, table, state):
    """Rows as text: at once, or into what waits for the end of the statement."""
    if state.shows_rows == 0 and (state.as_mysql or state.is_short):
        return out
    state.header_end = out
    out_end = state.out_end
    if not is_last:
        state.out = state.rows_out
        state.out_end = state.rows_end
    to = state.out
    if 2 * EVENT_ROOM > state.out_end - to:
        after = np.int64(Status.FULL)
    else:
        if state.stage < 2:
            to = _put_partition(to, body, rows, state)
            state.out = to
            state.stage = 2
        after = put_rows(to, base, at, rows, table, state)
        if state.shows_rows == 0:  # they are counted
            state.out = to
            after = to if after >= 0 else after
        if after >= 0 and state.as_mysql == 0 and is_last:
            if EVENT_ROOM > state.out_end - after:
                state.out = after
                after = np.int64(Status.FULL)
            else:
                after = put_unsigned(put_text(after, state, Text.N_ROWS), np.uint64(state.n_rows))
                after = put_byte(after, 10)
                state.n_rows = 0
    if not is_last:
        state.rows_out = after if after >= 0 else state.out
        state.out = out
        state.out_end = out_end
        if after == Status.FULL:
            state.wanted_bytes = 0
            return np.int64(Status.FULL_LATER)
        after = out if after >= 0 else after
    if (after == Status.BAD_ROWS or after == Status.BAD_VALUE) and table.is_unsure:
        return np.int64(Status.NEED_NOTE)
    return after


@inline
def _put_partition(out, body, rows, state):
    """Which partition the rows are of, where the event says it."""
    kind = np.int64(event_header(state.start).type)
    has_extra = (kind >= 30 and kind <= 32) or kind == 39
    if not has_extra or load_u16(body + 8) < 5 or load_u8(body + 10) != _PARTITION:
        return out
    target = np.uint64(load_u16(body + 11))
    if rows == UPDATE and load_u16(body + 8) >= 7:
        out = put_unsigned(put_text(out, state, Text.PARTITIONS), np.uint64(load_u16(body + 13)))
        return put_byte(put_unsigned(put_text(out, state, Text.TARGET), target), 10)
    return put_byte(put_unsigned(put_text(out, state, Text.PARTITION), target), 10)
