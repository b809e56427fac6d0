# mypy: allow-untyped-defs, no-check-untyped-defs
"""Statements as `details` prints them: of QUERY events in a context that is printed, and those behind rows."""

import numpy as np

from applier.binlog.rows.table_ids_kernel import same_bytes
from applier.jobs.show.kernels.gtid_text_kernel import put_bytes
from applier.jobs.show.kernels.number_kernel import put_byte, put_unsigned
from applier.jobs.show.kernels.rows_text_kernel import put_text
from applier.jobs.show.kernels.walk_records import (
    CONTEXT,
    CONTEXT_LENGTH,
    DATABASE,
    DATABASE_LENGTH,
    FULL,
    NEED_PYTHON,
    OUT_END,
    T_ANNOTATE,
    T_ERROR,
    T_EXEC,
    T_QUERY,
    T_QUERY_COMPRESSED,
    T_QUERY_END,
    T_ROWS_QUERY,
    T_STATEMENT,
    T_TERMINATOR,
    T_THREAD,
    T_TIMESTAMP,
    THREAD,
)
from keysearch.memory import inline, load_i64, load_u8, load_u16, load_u32, store_i64

ROWS_QUERY, ANNOTATE = 29, 160
_QUERY_FIXED, _SUPPRESS_USE = 13, 8
EVENT_ROOM = 2048
"""Bytes that a frequent event without its statement, name and rows takes at most."""


@inline
def put_query(out, start, body, stop, was_compressed, state):
    """A statement in the context that was printed last, but for its thread."""
    if stop - body < _QUERY_FIXED:
        return np.int64(NEED_PYTHON)
    context_length, database_length = np.int64(load_u16(body + 11)), np.int64(load_u8(body + 8))
    context = body + _QUERY_FIXED
    database = context + context_length
    sql = database + database_length + 1
    if (sql > stop or context_length != load_i64(state + CONTEXT_LENGTH)
            or not same_bytes(context, load_i64(state + CONTEXT), context_length)):
        return np.int64(NEED_PYTHON)
    if database_length and not load_u16(start + 17) & _SUPPRESS_USE:
        if (database_length != load_i64(state + DATABASE_LENGTH)
                or not same_bytes(database, load_i64(state + DATABASE), database_length)):
            return np.int64(NEED_PYTHON)
    if EVENT_ROOM + (stop - sql) > load_i64(state + OUT_END) - out:
        return np.int64(FULL)
    thread = np.int64(load_u32(body))
    out = put_text(out, state, T_QUERY_COMPRESSED if was_compressed else T_QUERY)
    out = put_unsigned(out, np.uint64(thread))
    out = put_unsigned(put_text(out, state, T_EXEC), np.uint64(load_u32(body + 4)))
    out = put_unsigned(put_text(out, state, T_ERROR), np.uint64(load_u16(body + 9)))
    out = put_text(put_unsigned(put_text(out, state, T_TIMESTAMP), np.uint64(load_u32(start))), state, T_TERMINATOR)
    if thread != load_i64(state + THREAD):
        out = put_text(put_unsigned(put_text(out, state, T_THREAD), np.uint64(thread)), state, T_TERMINATOR)
        store_i64(state + THREAD, thread)
    return put_text(put_bytes(out, sql, stop - sql), state, T_QUERY_END)


@inline
def put_statement(out, body, stop, kind, state):
    """The text behind rows, a line each."""
    if kind == ROWS_QUERY:
        body += 1
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
