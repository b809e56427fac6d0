# mypy: allow-untyped-defs, no-check-untyped-defs
"""Writes JSON lines (json_lines) for frequent kinds of events; Python writes those of all others."""

import numpy as np

from applier.binlog.events.compression.compressed_kernel import NONE, ZSTD, describe_payload
from applier.binlog.events.event_header_kernel import EVENT_HEADER, event_header
from applier.jobs.show.kernels.fixed_texts import Text, put_name, put_text
from applier.jobs.show.kernels.gtid_text_kernel import read_gtid
from applier.jobs.show.kernels.statements_text_kernel import ANNOTATE, EVENT_ROOM, QUERY, ROWS_QUERY
from applier.jobs.show.kernels.walk_records import N_STATEMENTS, Status, statement_at
from applier.kernels.byte_strings import hash_bytes, same_bytes
from applier.kernels.put_kernel import put_byte, put_hex, put_uuid
from jsondiff.kernels.numbers import put_signed, put_unsigned
from keysearch.memory import copy_bytes, inline, load_i64, load_u8, load_u16, load_u32, load_u64

_XID, _GTID, _ANONYMOUS, _PAYLOAD, _MARIADB_GTID = 16, 33, 34, 40, 162
_MOST_ESCAPED = 6
"""Bytes that a byte of a string takes at most: \\u001f."""
HEADER_BYTES = EVENT_HEADER.itemsize
_QUERY_FIXED, _CONTEXT_AT = 13, 8


@inline
def put_position(out, base, state):
    """{"pos":4,"end":99,"type":"WRITE_ROWS","within":2"""
    event = base + state.position
    out = put_unsigned(put_text(out, state, Text.POS), np.uint64(state.position))
    out = put_unsigned(put_text(out, state, Text.JSON_END), np.uint64(event_header(event).next_position))
    is_within = state.inner != 0
    kind = event_header(state.start if is_within else event).type
    out = put_byte(put_name(put_text(out, state, Text.TYPE), state, np.int64(kind)), 34)
    if is_within:
        out = put_unsigned(put_text(out, state, Text.WITHIN), np.uint64(state.inner_number + 1))
    return out


@inline
def put_event_line(out, base, body, stop, kind, state):
    """The line of an event: where it ends, or why it is not there. The caller has seen that EVENT_ROOM is left."""
    if state.header_bytes != HEADER_BYTES:
        return Status.NEED_DETAILS
    if kind == QUERY:
        return _put_query(out, base, body, stop, state)
    if kind == ANNOTATE or kind == ROWS_QUERY:
        return _put_statement(out, base, body + (kind == ROWS_QUERY), stop, state)
    if kind == _GTID or kind == _ANONYMOUS:
        return _put_gtid(out, base, body, stop, kind, state)
    if kind == _MARIADB_GTID:
        return _put_mariadb_gtid(out, base, body, stop, state)
    if kind == _XID and stop - body >= 8:
        out = put_text(put_head(out, base, state), state, Text.NUMBER)
        return put_text(put_unsigned(out, load_u64(body)), state, Text.END_ROW)
    if kind == _PAYLOAD and state.inner == 0:
        return _put_payload(out, base, body, stop, state)
    return Status.NEED_DETAILS


@inline
def put_head(out, base, state):
    """Write the beginning of an event's object, before its fields:
    {"pos":1310,"end":1341,"type":"XID","timestamp":1795203941,"server_id":7, "fields":{"""
    event = state.start if state.inner != 0 else base + state.position
    out = put_text(put_position(out, base, state), state, Text.JSON_TIME)
    out = put_text(put_unsigned(out, np.uint64(event_header(event).time)), state, Text.JSON_SERVER)
    return put_text(put_unsigned(out, np.uint64(event_header(event).server_id)), state, Text.FIELDS)


@inline
def _put_query(out, base, body, stop, state):
    """Write a statement. Its context is text that Python has made of the same bytes before."""
    if stop - body < _QUERY_FIXED:
        return Status.NEED_DETAILS
    sql = body + _QUERY_FIXED + np.int64(load_u16(body + 11)) + np.int64(load_u8(body + 8)) + 1
    if sql > stop:
        return Status.NEED_DETAILS
    context, length = body + _CONTEXT_AT, sql - body - _CONTEXT_AT
    number = np.int64(hash_bytes(context, length) >> np.uint64(32)) & (N_STATEMENTS - 1)
    known = statement_at(state.statements, number)
    if known.context.length != length or not same_bytes(context, known.context.start, length):
        state.wanted_bytes = number
        return Status.NEED_STATEMENT
    if EVENT_ROOM + known.before.length + known.after.length + _MOST_ESCAPED * (stop - sql) > state.out_end - out:
        return Status.FULL
    out = put_unsigned(put_text(put_head(out, base, state), state, Text.JSON_THREAD), np.uint64(load_u32(body)))
    out = put_unsigned(put_text(out, state, Text.JSON_EXEC), np.uint64(load_u32(body + 4)))
    out = put_string(copy_bytes(out, known.before.start, known.before.length), sql, stop)
    return copy_bytes(out, known.after.start, known.after.length)


@inline
def _put_statement(out, base, sql, stop, state):
    """The text behind rows."""
    if sql > stop:
        return Status.NEED_DETAILS
    if EVENT_ROOM + _MOST_ESCAPED * (stop - sql) > state.out_end - out:
        return Status.FULL
    out = put_text(put_head(out, base, state), state, Text.JSON_SQL)
    return put_text(put_string(out, sql, stop), state, Text.END_ROW)


@inline
def _put_gtid(out, base, body, stop, kind, state):
    """MySQL's, as servers have written it since 8.0.14."""
    is_usual, immediate, original, length, version, original_version = read_gtid(body, stop)
    if not is_usual:
        return Status.NEED_DETAILS
    number = load_i64(body + 17)
    out = put_text(put_head(out, base, state), state, Text.JSON_TEXT)
    if kind == _GTID:
        out = put_byte(put_uuid(put_byte(out, 34), body + 1), 58)
        out = put_byte(put_signed(out, number), 34)
    else:
        out = put_text(out, state, Text.JSON_NULL)
    out = put_unsigned(put_text(out, state, Text.JSON_FLAGS), np.uint64(load_u8(body)))
    out = put_signed(put_text(out, state, Text.JSON_NUMBER), number)
    out = put_signed(put_text(out, state, Text.JSON_COMMITTED), load_i64(body + 26))
    out = put_signed(put_text(out, state, Text.JSON_SEQUENCE), load_i64(body + 34))
    out = put_unsigned(put_text(out, state, Text.JSON_IMMEDIATE), immediate)
    out = put_unsigned(put_text(out, state, Text.JSON_ORIGINAL), original)
    out = put_unsigned(put_text(out, state, Text.JSON_LENGTH), np.uint64(length))
    out = put_unsigned(put_text(out, state, Text.JSON_VERSION), np.uint64(version))
    out = put_unsigned(put_text(out, state, Text.JSON_ORIGINAL_VERSION), np.uint64(original_version))
    return put_text(out, state, Text.END_ROW)


@inline
def _put_mariadb_gtid(out, base, body, stop, state):
    if stop - body < 13:
        return Status.NEED_DETAILS
    flags, server = np.int64(load_u8(body + 12)), event_header(state.start).server_id
    if flags & 2 and stop - body < 21:
        return Status.NEED_DETAILS
    out = put_byte(put_text(put_head(out, base, state), state, Text.JSON_TEXT), 34)
    out = put_byte(put_unsigned(out, np.uint64(load_u32(body + 8))), 45)
    out = put_byte(put_unsigned(out, np.uint64(server)), 45)
    out = put_byte(put_unsigned(out, load_u64(body)), 34)
    out = put_unsigned(put_text(out, state, Text.JSON_FLAGS), np.uint64(flags))
    out = put_unsigned(put_text(out, state, Text.JSON_NUMBER), load_u64(body))
    out = put_text(out, state, Text.JSON_COMMIT_ID)
    if flags & 2:
        out = put_unsigned(out, load_u64(body + 13))
    else:
        out = put_text(out, state, Text.JSON_NULL)
    out = put_text(put_text(out, state, Text.JSON_NO_TIMES), state, Text.JSON_NO_VERSIONS)
    return put_text(put_text(out, state, Text.JSON_NO_VERSION), state, Text.END_ROW)


@inline
def _put_payload(out, base, body, stop, state):
    described = state.described
    describe_payload(described, 0, body, stop)
    if described.form != ZSTD and described.form != NONE:
        return Status.NEED_DETAILS
    out = put_text(put_head(out, base, state), state, Text.JSON_ZSTD if described.form == ZSTD else Text.JSON_NONE)
    out = put_unsigned(out, np.uint64(described.end - described.data))
    out = put_unsigned(put_text(out, state, Text.JSON_INFLATED), np.uint64(described.inflated))
    return put_text(out, state, Text.END_ROW)


@inline
def put_string(out, at, end):
    """These bytes as a string of JSON, in its quotes."""
    out = put_byte(out, 34)
    while at < end:
        byte = np.int64(load_u8(at))
        at += 1
        short = _short_escape(byte)
        if short:
            out = put_byte(put_byte(out, 92), short)
        elif byte < 32:
            out = put_hex(put_byte(put_byte(out, 92), 117), np.uint64(byte), 4)
        else:
            out = put_byte(out, byte)
    return put_byte(out, 34)


@inline
def _short_escape(byte):
    """The letter behind the backslash for a character that has one; else 0."""
    if byte == 34 or byte == 92:
        return byte
    if byte == 8:
        return np.int64(98)
    if byte == 9:
        return np.int64(116)
    if byte == 10:
        return np.int64(110)
    if byte == 12:
        return np.int64(102)
    if byte == 13:
        return np.int64(114)
    return np.int64(0)
