# mypy: allow-untyped-defs, no-check-untyped-defs
"""Statements as `mysqlbinlog -v` prints them: of QUERY events, and those behind rows."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.jobs.show.kernels.fixed_texts import Text, put_text
from applier.jobs.show.kernels.walk_records import Status
from applier.kernels.byte_strings import same_bytes
from applier.kernels.put_kernel import put_byte
from jsondiff.kernels.numbers import put_unsigned
from keysearch.memory import copy_bytes, inline, load_u8, load_u16, load_u32

QUERY, LOAD_QUERY, ROWS_QUERY, ANNOTATE = 2, 18, 29, 160
_QUERY_FIXED, _LOAD_FIXED, _SUPPRESS_USE = 13, 26, 8
EVENT_ROOM = 2048
"""Bytes that a frequent event without its statement, name and rows takes at most."""


@inline
def put_query(out, start, body, stop, kind, state):
    """A statement; what is printed of its context is Python's to say where that is another one than the last."""
    fixed = _LOAD_FIXED if kind == LOAD_QUERY else _QUERY_FIXED
    if stop - body < fixed:
        return Status.NEED_DETAILS
    context, context_length, database_length = body + fixed, np.int64(load_u16(body + 11)), np.int64(load_u8(body + 8))
    database = context + context_length
    sql = database + database_length + 1
    if sql > stop:
        return Status.NEED_DETAILS
    if state.has_settings == 0:
        if not _is_last(context, context_length, state.context):
            return Status.NEED_SETTINGS
        if (database_length and not event_header(start).flags & _SUPPRESS_USE
                and not _is_last(database, database_length, state.database)):
            return Status.NEED_SETTINGS
    settings = state.use.length + state.title_more.length + state.settings.length
    if EVENT_ROOM + settings + (stop - sql) > state.out_end - out:
        return Status.FULL
    thread = np.int64(load_u32(body))
    out = put_unsigned(put_text(out, state, Text.THREAD_ID), np.uint64(thread))
    out = put_unsigned(put_text(out, state, Text.EXEC), np.uint64(load_u32(body + 4)))
    out = put_unsigned(put_text(out, state, Text.ERROR), np.uint64(load_u16(body + 9)))
    out = put_byte(_put_span(out, state.title_more), 10)
    out = put_unsigned(put_text(_put_span(out, state.use), state, Text.TIMESTAMP), np.uint64(event_header(start).time))
    out = put_text(_put_span(out, state.micros), state, Text.TERMINATOR)
    if thread != state.thread:
        out = put_text(put_unsigned(put_text(out, state, Text.THREAD), np.uint64(thread)), state, Text.TERMINATOR)
        state.thread = thread
    out = copy_bytes(_put_span(out, state.settings), sql, stop - sql)
    out = put_text(out, state, Text.QUERY_END)
    if kind == LOAD_QUERY:
        out = put_byte(put_unsigned(put_text(out, state, Text.FILE_ID), np.uint64(load_u32(body + _QUERY_FIXED))), 10)
    state.has_settings = 0
    state.title_more.length = 0
    state.use.length = 0
    state.micros.length = 0
    state.settings.length = 0
    return out


@inline
def _is_last(at, length, span):
    """Return whether these bytes are those of a span in the state."""
    return length == span.length and same_bytes(at, span.start, length)


@inline
def _put_span(out, span):
    return copy_bytes(out, span.start, span.length)


@inline
def put_statement(out, body, stop, kind, state):
    """The text behind rows, one line each."""
    body += kind == ROWS_QUERY
    if body > stop:
        return Status.NEED_DETAILS
    lines = 1
    for at in range(body, stop):
        lines += load_u8(at) == 10
    if EVENT_ROOM + (stop - body) + 6 * lines > state.out_end - out:
        return Status.FULL
    out = put_text(put_text(out, state, Text.ANNOTATE if kind == ANNOTATE else Text.ROWS_QUERY), state, Text.STATEMENT)
    for at in range(body, stop):
        if load_u8(at) == 10:
            out = put_text(out, state, Text.STATEMENT)
        else:
            out = put_byte(out, load_u8(at))
    return put_byte(out, 10)
