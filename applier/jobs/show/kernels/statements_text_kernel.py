# mypy: allow-untyped-defs, no-check-untyped-defs
"""Statements as `mysqlbinlog -v` prints them: of QUERY events, and those behind rows."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.rows.table_ids_kernel import same_bytes
from applier.jobs.show.kernels.gtid_text_kernel import put_bytes
from applier.jobs.show.kernels.number_kernel import put_byte, put_unsigned
from applier.jobs.show.kernels.rows_text_kernel import put_text
from applier.jobs.show.kernels.walk_records import (
    CONTEXT,
    DATABASE,
    FULL,
    HAS_SETTINGS,
    MICROS,
    MICROS_LENGTH,
    NEED_DETAILS,
    NEED_SETTINGS,
    OUT_END,
    SETTINGS,
    SETTINGS_LENGTH,
    T_ANNOTATE,
    T_ERROR,
    T_EXEC,
    T_FILE_ID,
    T_QUERY_END,
    T_ROWS_QUERY,
    T_STATEMENT,
    T_TERMINATOR,
    T_THREAD,
    T_THREAD_ID,
    T_TIMESTAMP,
    THREAD,
    TITLE_MORE,
    TITLE_MORE_LENGTH,
    USE,
    USE_LENGTH,
)
from keysearch.memory import inline, load_i64, load_u8, load_u16, load_u32, store_i64

QUERY, LOAD_QUERY, ROWS_QUERY, ANNOTATE = 2, 18, 29, 160
_QUERY_FIXED, _LOAD_FIXED, _SUPPRESS_USE = 13, 26, 8
EVENT_ROOM = 2048
"""Bytes that a frequent event without its statement, name and rows takes at most."""


@inline
def put_query(out, start, body, stop, kind, state):
    """A statement; what is printed of its context is Python's to say where that is another one than the last."""
    fixed = _LOAD_FIXED if kind == LOAD_QUERY else _QUERY_FIXED
    if stop - body < fixed:
        return np.int64(NEED_DETAILS)
    context, context_length, database_length = body + fixed, np.int64(load_u16(body + 11)), np.int64(load_u8(body + 8))
    database = context + context_length
    sql = database + database_length + 1
    if sql > stop:
        return np.int64(NEED_DETAILS)
    if load_i64(state + HAS_SETTINGS) == 0:
        if not _is_last(context, context_length, CONTEXT, state):
            return np.int64(NEED_SETTINGS)
        if (database_length and not event_header(start).flags & _SUPPRESS_USE
                and not _is_last(database, database_length, DATABASE, state)):
            return np.int64(NEED_SETTINGS)
    settings = load_i64(state + USE_LENGTH) + load_i64(state + TITLE_MORE_LENGTH) + load_i64(state + SETTINGS_LENGTH)
    if EVENT_ROOM + settings + (stop - sql) > load_i64(state + OUT_END) - out:
        return np.int64(FULL)
    thread = np.int64(load_u32(body))
    out = put_unsigned(put_text(out, state, T_THREAD_ID), np.uint64(thread))
    out = put_unsigned(put_text(out, state, T_EXEC), np.uint64(load_u32(body + 4)))
    out = put_unsigned(put_text(out, state, T_ERROR), np.uint64(load_u16(body + 9)))
    out = put_byte(_put_piece(out, state + TITLE_MORE), 10)
    out = put_unsigned(put_text(_put_piece(out, state + USE), state, T_TIMESTAMP), np.uint64(event_header(start).time))
    out = put_text(_put_piece(out, state + MICROS), state, T_TERMINATOR)
    if thread != load_i64(state + THREAD):
        out = put_text(put_unsigned(put_text(out, state, T_THREAD), np.uint64(thread)), state, T_TERMINATOR)
        store_i64(state + THREAD, thread)
    out = put_bytes(_put_piece(out, state + SETTINGS), sql, stop - sql)
    out = put_text(out, state, T_QUERY_END)
    if kind == LOAD_QUERY:
        out = put_byte(put_unsigned(put_text(out, state, T_FILE_ID), np.uint64(load_u32(body + _QUERY_FIXED))), 10)
    store_i64(state + HAS_SETTINGS, 0)
    for length in (TITLE_MORE_LENGTH, USE_LENGTH, MICROS_LENGTH, SETTINGS_LENGTH):
        store_i64(state + length, 0)
    return out


@inline
def _is_last(at, length, words, state):
    """Whether these bytes are those whose address and length are in the state."""
    return length == load_i64(state + words + 8) and same_bytes(at, load_i64(state + words), length)


@inline
def _put_piece(out, words):
    return put_bytes(out, load_i64(words), load_i64(words + 8))


@inline
def put_statement(out, body, stop, kind, state):
    """The text behind rows, a line each."""
    body += kind == ROWS_QUERY
    if body > stop:
        return np.int64(NEED_DETAILS)
    lines = 1
    for at in range(body, stop):
        lines += load_u8(at) == 10
    if EVENT_ROOM + (stop - body) + 6 * lines > load_i64(state + OUT_END) - out:
        return np.int64(FULL)
    out = put_text(put_text(out, state, T_ANNOTATE if kind == ANNOTATE else T_ROWS_QUERY), state, T_STATEMENT)
    for at in range(body, stop):
        if load_u8(at) == 10:
            out = put_text(out, state, T_STATEMENT)
        else:
            out = put_byte(out, load_u8(at))
    return put_byte(out, 10)
