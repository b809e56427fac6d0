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
_THREAD_SPECIFIC, _ANY_THREAD = 4, 999999999
_NO_FRAME, _BEGIN, _WITHIN, _END = range(4)
_BEGINS, _COMMITS, _ROLLS_BACK, _SAVEPOINT = (np.uint32(int.from_bytes(word, "little"))
                                              for word in (b"BEGI", b"COMM", b"ROLL", b"SAVE"))
EVENT_ROOM = 2048
"""Bytes that a frequent event without its statement, name and rows takes at most."""


@inline
def put_query(out, start, body, stop, kind, state):
    """Write a statement; Python writes its context if that differs from the last one."""
    fixed = _LOAD_FIXED if kind == LOAD_QUERY else _QUERY_FIXED
    if stop - body < fixed:
        return Status.NEED_DETAILS
    context, context_length, database_length = body + fixed, np.int64(load_u16(body + 11)), np.int64(load_u8(body + 8))
    database = context + context_length
    sql = database + database_length + 1
    if sql > stop:
        return Status.NEED_DETAILS
    suppresses = event_header(start).flags & _SUPPRESS_USE != 0
    frame = _frame_of(sql, stop - sql)
    if state.has_settings == 0:
        if kind == LOAD_QUERY and state.extracts:
            return Status.NEED_SETTINGS
        if not _is_last(context, context_length, state.context):
            return Status.NEED_SETTINGS
        if suppresses:
            if frame == _NO_FRAME and state.database.length:
                return Status.NEED_SETTINGS
        elif not _is_last(database, database_length, state.database):
            return Status.NEED_SETTINGS
    settings = state.use.length + state.title_more.length + state.settings.length + state.instead.length
    if EVENT_ROOM + settings + (stop - sql) > state.out_end - out:
        return Status.FULL
    thread = np.int64(load_u32(body))
    if state.is_short == 0:
        out = put_unsigned(put_text(out, state, Text.THREAD_ID), np.uint64(thread))
        out = put_unsigned(put_text(out, state, Text.EXEC), np.uint64(load_u32(body + 4)))
        out = put_unsigned(put_text(out, state, Text.ERROR), np.uint64(load_u16(body + 9)))
        out = _put_span(out, state.title_more)
        if state.title_more.length == 0 and state.as_mysql == 0:
            out = put_text(out, state, Text.NO_XID)
        out = put_byte(out, 10)
    out = put_unsigned(put_text(_put_span(out, state.use), state, Text.TIMESTAMP), np.uint64(event_header(start).time))
    out = put_text(_put_span(out, state.micros), state, Text.TERMINATOR)
    if state.thread == -1 or (event_header(start).flags & _THREAD_SPECIFIC and thread != state.thread):
        shown = _ANY_THREAD if state.is_short else thread
        out = put_text(put_unsigned(put_text(out, state, Text.THREAD), np.uint64(shown)), state, Text.TERMINATOR)
        state.thread = thread
    out = _put_span(out, state.settings)
    if state.has_instead:
        out = _put_span(out, state.instead)
    else:
        out = put_text(copy_bytes(out, sql, stop - sql), state, Text.QUERY_END)
    if kind == LOAD_QUERY and state.is_short == 0:
        out = put_unsigned(put_text(out, state, Text.FILE_ID), np.uint64(load_u32(body + _QUERY_FIXED)))
        out = put_byte(put_byte(out, 32), 10)
    state.has_settings = 0
    state.title_more.length = 0
    state.use.length = 0
    state.micros.length = 0
    state.settings.length = 0
    state.has_instead = 0
    state.heads_out = state.heads_start
    if frame == _BEGIN or frame == _END:
        state.is_open = frame == _BEGIN
    return out


@inline
def _frame_of(sql, length):
    """Return the role of a statement in its transaction; statements with a role do not change the default database."""
    if length < 2:
        return _NO_FRAME
    word = load_u32(sql) if length >= 4 else np.uint32(0)
    if length == 5 and word == _BEGINS and load_u8(sql + 4) == 78:
        return _BEGIN
    if (length == 6 and word == _COMMITS) or (length == 8 and word == _ROLLS_BACK):
        return _END
    is_xa = load_u8(sql) == 88 and load_u8(sql + 1) == 65
    return _WITHIN if is_xa or word == _ROLLS_BACK or word == _SAVEPOINT else _NO_FRAME


@inline
def _is_last(at, length, span):
    """Return whether these bytes are those of a span in the state."""
    return length == span.length and same_bytes(at, span.start, length)


@inline
def _put_span(out, span):
    return copy_bytes(out, span.start, span.length)


@inline
def put_statement(out, body, stop, kind, room_end, state):
    """The text behind rows, one line each, without empty lines."""
    before = Text.ANNOTATED if kind == ANNOTATE else Text.STATEMENT
    lines = 1
    for at in range(body, stop):
        lines += load_u8(at) == 10
    if EVENT_ROOM + (stop - body) + 6 * lines > room_end - out:
        return np.int64(Status.FULL)
    is_new = True
    for at in range(body, stop):
        byte = np.int64(load_u8(at))
        if byte == 10 or (byte == 13 and kind == ANNOTATE):
            out = out if is_new else put_byte(out, 10)
            is_new = True
        else:
            out = put_byte(put_text(out, state, before) if is_new else out, byte)
            is_new = False
    return out if is_new else put_byte(out, 10)
