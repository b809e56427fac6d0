"""Walks the events of a stretch of a binlog and prints them as `details` and `text` do, the frequent kinds by itself.

It stops and says why where Python must do something: a kind of event or a table that it does not print, a second that
has no text yet, a table map that is new, a full buffer. What is wrong with an event is for Python to say, too.
"""

import numpy as np

from applier.binlog.table_ids_kernel import BODY, BODY_LENGTH, NUMBER, id_entry, same_bytes
from applier.show.gtid_text_kernel import find_moment, put_bytes, put_gtid, put_mariadb_gtid
from applier.show.number_kernel import put_byte, put_hex, put_unsigned
from applier.show.rows_text_kernel import UPDATE, put_rows, put_rows_title, put_text
from applier.show.walk_records import (
    CHECKSUM_BYTES,
    CONTEXT,
    CONTEXT_LENGTH,
    DATABASE,
    DATABASE_LENGTH,
    DONE,
    FULL,
    HEADER_BYTES,
    IDS,
    IDS_MASK,
    IN_MAPS,
    IS_PLAIN,
    MAPS_AT,
    N_COLUMNS,
    NEED_MOMENT,
    NEED_PYTHON,
    NEW_TABLE,
    OUT,
    OUT_END,
    POSITION,
    RANGE,
    RANGES_END,
    ROW_AT,
    SHORT,
    SHORT_LENGTH,
    T_ANNOTATE,
    T_AT,
    T_COMMIT,
    T_CRC,
    T_END,
    T_ERROR,
    T_EXEC,
    T_GROUP,
    T_HEADER,
    T_QUERY,
    T_QUERY_END,
    T_ROWS_QUERY,
    T_SERVER,
    T_STATEMENT,
    T_TAB,
    T_TERMINATOR,
    T_THREAD,
    T_TIMESTAMP,
    T_XID,
    TABLE_BYTES,
    TABLES,
    THREAD,
    TITLE,
    TITLE_LENGTH,
)
from keysearch.memory import copy32, inline, kernel, load_i64, load_u8, load_u16, load_u32, load_u64, store_i64

_QUERY, _XID, _TABLE_MAP, _ROWS_QUERY, _GTID, _ANONYMOUS, _ANNOTATE, _MARIADB_GTID = 2, 16, 19, 29, 33, 34, 160, 162
_QUERY_FIXED, _SUPPRESS_USE = 13, 8
_EVENT_ROOM = 2048
"""Bytes that a frequent event without its statement, name and rows takes at most."""
_TABLE_ID = np.uint64(0xFFFFFFFFFFFF)


@kernel
def walk(base, state):
    """Print the events from POSITION on in RANGE and those after it (offsets from address `base`); says why it
    stopped."""
    position, end = load_i64(state + POSITION), load_i64(load_i64(state + RANGE) + 8)
    header, checksum = load_i64(state + HEADER_BYTES), load_i64(state + CHECKSUM_BYTES)
    while True:
        while position >= end:
            range_ = load_i64(state + RANGE) + 16
            if range_ == load_i64(state + RANGES_END):
                return DONE
            position, end = load_i64(range_), load_i64(range_ + 8)
            store_i64(state + RANGE, range_)
            store_i64(state + POSITION, position)
        start = base + position
        if position + header > end:
            return NEED_PYTHON
        size = np.int64(load_u32(start + 9))
        if size < header + checksum or position + size > end:
            return NEED_PYTHON
        out = _put_event(start, start + header, start + size - checksum, position, checksum, state)
        if out < 0:
            return out
        position += size
        store_i64(state + OUT, out)
        store_i64(state + ROW_AT, 0)
        store_i64(state + POSITION, position)


@inline
def _put_event(start, body, stop, position, checksum, state):
    """Where the text of an event ends, or why it has none."""
    out, kind = load_i64(state + OUT), np.int64(load_u8(start + 4))
    is_rows = (kind >= 23 and kind <= 25) or (kind >= 30 and kind <= 32)
    if is_rows and load_i64(state + ROW_AT):
        return _put_rows_event(out, start, body, stop, kind, state)
    if out + _EVENT_ROOM > load_i64(state + OUT_END):
        return np.int64(FULL)
    if kind != _TABLE_MAP:
        store_i64(state + IN_MAPS, 0)
    moment = find_moment(np.int64(load_u32(start)), state)
    if moment == 0:
        return np.int64(NEED_MOMENT)
    out = put_unsigned(put_text(out, state, T_AT), np.uint64(position))
    out = put_text(out, state, T_HEADER)
    copy32(out, moment + SHORT)
    out = put_text(out + SHORT_LENGTH, state, T_SERVER)
    out = put_unsigned(out, np.uint64(load_u32(start + 5)))
    out = put_unsigned(put_text(out, state, T_END), np.uint64(load_u32(start + 13)))
    if body - start > 19:
        out = put_unsigned(put_text(out, state, T_GROUP), load_u64(start + 19))
    if checksum:
        out = put_hex(put_text(out, state, T_CRC), np.uint64(load_u32(stop)), 8)
    out = put_text(out, state, T_TAB)
    if is_rows:
        return _put_rows_event(out, start, body, stop, kind, state)
    if kind == _TABLE_MAP:
        return _put_table_map(out, start, body, stop, position, state)
    if kind == _XID and stop - body >= 8:
        return put_text(put_unsigned(put_text(out, state, T_XID), load_u64(body)), state, T_COMMIT)
    if kind == _QUERY:
        return _put_query(out, start, body, stop, state)
    if kind == _GTID or kind == _ANONYMOUS:
        return put_gtid(out, body, stop, kind, state)
    if kind == _MARIADB_GTID:
        return put_mariadb_gtid(out, start, body, stop, state)
    if kind == _ANNOTATE or kind == _ROWS_QUERY:
        return _put_statement(out, body, stop, kind, state)
    return np.int64(NEED_PYTHON)


@inline
def _put_table_map(out, start, body, stop, position, state):
    if body + 8 > stop:
        return np.int64(NEED_PYTHON)
    if load_i64(state + IN_MAPS) == 0:
        store_i64(state + MAPS_AT, position)
    table_id = np.int64(load_u64(body) & _TABLE_ID)
    entry, length = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), table_id), stop - body - 6
    if (load_i64(entry) == -1 or load_i64(entry + BODY_LENGTH) != length
            or not same_bytes(load_i64(entry + BODY), body + 6, length)):
        return np.int64(NEW_TABLE)
    store_i64(state + IN_MAPS, 1)
    table = load_i64(state + TABLES) + TABLE_BYTES * load_i64(entry + NUMBER)
    out = put_bytes(out, load_i64(table + TITLE), load_i64(table + TITLE_LENGTH))
    return put_byte(put_unsigned(out, np.uint64(table_id)), 10)


@inline
def _put_rows_event(out, start, body, stop, kind, state):
    """Its title, if none of its rows is printed yet, and its rows."""
    at = body + 8
    if kind >= 30:
        at += np.int64(load_u16(at)) if at + 2 <= stop else 0
    if at + 1 > stop:
        return np.int64(NEED_PYTHON)
    table_id = np.int64(load_u64(body) & _TABLE_ID)
    entry = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), table_id)
    if load_i64(entry) == -1:
        return np.int64(NEED_PYTHON)
    table = load_i64(state + TABLES) + TABLE_BYTES * load_i64(entry + NUMBER)
    columns = np.int64(load_u8(at))
    at += 1
    if columns == 252 and at + 2 <= stop:
        columns = np.int64(load_u16(at))
        at += 2
    row_kind = (kind - 30) if kind >= 30 else (kind - 23)
    bitmap_bytes = (columns + 7) >> 3
    rows_at = at + bitmap_bytes * (2 if row_kind == UPDATE else 1)
    if load_i64(table + IS_PLAIN) == 0 or columns != load_i64(table + N_COLUMNS) or rows_at > stop:
        return np.int64(NEED_PYTHON)
    if load_i64(state + ROW_AT) == 0:
        out = put_rows_title(out, state, row_kind, table_id, np.int64(load_u16(body + 6)))
    return put_rows(out, start, rows_at, stop, row_kind, at, table, state)


@inline
def _put_query(out, start, body, stop, state):
    """A statement in the context that was printed last, but for its thread."""
    if body + _QUERY_FIXED > stop:
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
    if out + _EVENT_ROOM + (stop - sql) > load_i64(state + OUT_END):
        return np.int64(FULL)
    thread = np.int64(load_u32(body))
    out = put_unsigned(put_text(out, state, T_QUERY), np.uint64(thread))
    out = put_unsigned(put_text(out, state, T_EXEC), np.uint64(load_u32(body + 4)))
    out = put_unsigned(put_text(out, state, T_ERROR), np.uint64(load_u16(body + 9)))
    out = put_text(put_unsigned(put_text(out, state, T_TIMESTAMP), np.uint64(load_u32(start))), state, T_TERMINATOR)
    if thread != load_i64(state + THREAD):
        out = put_text(put_unsigned(put_text(out, state, T_THREAD), np.uint64(thread)), state, T_TERMINATOR)
        store_i64(state + THREAD, thread)
    return put_text(put_bytes(out, sql, stop - sql), state, T_QUERY_END)


@inline
def _put_statement(out, body, stop, kind, state):
    """The text behind rows, a line each."""
    if kind == _ROWS_QUERY:
        body += 1
    lines = 1
    for at in range(body, stop):
        lines += load_u8(at) == 10
    if out + _EVENT_ROOM + (stop - body) + 6 * lines > load_i64(state + OUT_END):
        return np.int64(FULL)
    out = put_text(put_text(out, state, T_ANNOTATE if kind == _ANNOTATE else T_ROWS_QUERY), state, T_STATEMENT)
    for at in range(body, stop):
        if load_u8(at) == 10:
            out = put_text(out, state, T_STATEMENT)
        else:
            out = put_byte(out, load_u8(at))
    return put_byte(out, 10)
