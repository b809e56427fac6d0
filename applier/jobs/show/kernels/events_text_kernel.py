# mypy: allow-untyped-defs, no-check-untyped-defs
"""Prints events as `mysqlbinlog -v` does: the header line of each, and what frequent kinds hold; or rows as JSON.

It stops and says why where Python must do something: say what rare kinds hold, a second that has no text yet, a table
map that is new, a full buffer. What is wrong with an event is for Python to say, too.
"""

import numpy as np

from applier.binlog.events.compressed_kernel import (
    FOUND_DATA,
    FOUND_END,
    FOUND_FORM,
    FOUND_INFLATED,
    ZSTD,
    describe_payload,
)
from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import read_bitmaps
from applier.binlog.rows.change_records import UPDATE
from applier.binlog.rows.rows_event_kernel import ALL_ONES, DUMMY_TABLE_ID, rows_kind
from applier.binlog.rows.table_ids_kernel import BODY, BODY_LENGTH, NUMBER, id_entry, same_bytes
from applier.jobs.show.kernels.gtid_text_kernel import find_moment, put_bytes, put_gtid, put_mariadb_gtid
from applier.jobs.show.kernels.number_kernel import put_byte, put_hex, put_unsigned
from applier.jobs.show.kernels.places_kernel import PAYLOAD, find_event, leave_payload, pass_event
from applier.jobs.show.kernels.rows_text_kernel import put_name, put_rows, put_rows_title, put_text
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
    BAD_ROWS,
    BAD_VALUE,
    CHECKSUM_BYTES,
    DESCRIBED,
    DETAIL,
    FULL,
    HEADER_BYTES,
    HEADER_END,
    HEADERS,
    IDS,
    IDS_MASK,
    INNER,
    IS_JSON,
    IS_UNSURE,
    N_COLUMNS,
    N_INNER_PRINTED,
    NEED_DETAILS,
    NEED_MOMENT,
    NEED_NOTE,
    NEW_TABLE,
    OUT,
    OUT_END,
    POSITION,
    ROW_AT,
    SHORT,
    SHORT_LENGTH,
    SIZE,
    START,
    STOP,
    T_AT,
    T_COMMIT,
    T_CRC,
    T_END,
    T_GROUP,
    T_HEADER,
    T_NONE,
    T_PAYLOAD,
    T_PAYLOAD_BEGINS,
    T_PAYLOAD_ENDS,
    T_SERVER,
    T_TAB,
    T_XID,
    T_ZSTD,
    TABLE,
    TABLE_BYTES,
    TABLES,
    TITLE,
    TITLE_LENGTH,
    UNKNOWN_TABLE,
    WANTED_BYTES,
)
from keysearch.memory import copy32, inline, kernel, load_i64, load_u16, load_u32, load_u64, store_i64

_ROTATE, _FORMAT, _XID, _TABLE_MAP, _GTID, _ANONYMOUS, _MARIADB_GTID = 4, 15, 16, 19, 33, 34, 162
_FIRST_PRE_GA, _LAST_PRE_GA = 20, 22
_TABLE_ID = np.uint64(0xFFFFFFFFFFFF)
_MOST_NUMBER = 64
"""Bytes of text that a number takes at most, and a fixed text."""


@kernel
def print_events(base, state):
    """Print the events in some ranges (offsets from address `base`); says why it stopped."""
    while True:
        found = find_event(base, state)
        if found == AT_PAYLOAD_END:
            if not _end_payload(state):
                return np.int64(FULL)
            leave_payload(state)
            continue
        if found != AT_EVENT:
            return np.int64(found)
        out = _put_event(base, state)
        if out < 0:
            return out
        store_i64(state + OUT, out)
        store_i64(state + N_INNER_PRINTED, load_i64(state + N_INNER_PRINTED) + 1)
        pass_event(base, state)


@kernel
def skip_event(base, state):
    """Go past the event that the walk is at, which was printed otherwise."""
    pass_event(base, state)


@inline
def _end_payload(state):
    """Print the end of the events in a payload; False where that has no room."""
    out = load_i64(state + OUT)
    if EVENT_ROOM > load_i64(state + OUT_END) - out:
        return False
    if load_i64(state + N_INNER_PRINTED) and load_i64(state + IS_JSON) == 0:
        store_i64(state + OUT, put_text(out, state, T_PAYLOAD_ENDS))
    return True


@inline
def _put_event(base, state):
    """Where the text of the event ends, or why it has none."""
    out, start, stop = load_i64(state + OUT), load_i64(state + START), load_i64(state + STOP)
    body, kind = start + load_i64(state + HEADER_BYTES), np.int64(event_header(start).type)
    is_text, is_pre_ga = load_i64(state + IS_JSON) == 0, kind >= _FIRST_PRE_GA and kind <= _LAST_PRE_GA
    rows = rows_kind(kind)
    if EVENT_ROOM > load_i64(state + OUT_END) - out:
        return np.int64(FULL)
    if is_text and load_i64(state + ROW_AT) == 0:
        out = _put_header(out, base, state)
        if out < 0:
            return out
        store_i64(state + HEADER_END, out)
    if rows >= 0:
        return _put_rows_event(out, base, body, stop, kind, rows, state)
    if kind == _TABLE_MAP:
        return _put_table_map(out, body, stop, is_text, state)
    if not is_text:
        return np.int64(NEED_NOTE if is_pre_ga else NEED_DETAILS)
    if kind == _XID and stop - body >= 8:
        return put_text(put_unsigned(put_text(out, state, T_XID), load_u64(body)), state, T_COMMIT)
    if kind == QUERY or kind == LOAD_QUERY:
        return put_query(_put_own_name(out, base, state), start, body, stop, kind, state)
    if kind == _GTID or kind == _ANONYMOUS:
        return put_gtid(out, body, stop, kind, state)
    if kind == _MARIADB_GTID:
        return put_mariadb_gtid(out, start, body, stop, state)
    if kind == ANNOTATE or kind == ROWS_QUERY:
        return put_statement(out, body, stop, kind, state)
    if kind == PAYLOAD and load_i64(state + INNER) == 0:
        return _put_payload(out, body, stop, state)
    if is_pre_ga and stop - body >= 8:
        _put_title(out, base, body, state)
        return np.int64(NEED_NOTE)
    return np.int64(NEED_DETAILS)


@inline
def _put_header(out, base, state):
    """# at 126
    #261122 19:00:00 server id 7  end_log_pos 197 CRC32 0x0badcafe"""
    outer, start, header = base + load_i64(state + POSITION), load_i64(state + START), load_i64(state + HEADER_BYTES)
    moment = find_moment(np.int64(event_header(start).time), HEADERS, state)
    if moment == 0:
        return np.int64(NEED_MOMENT)
    out = put_unsigned(put_text(out, state, T_AT), np.uint64(load_i64(state + POSITION)))
    out = put_text(out, state, T_HEADER)
    copy32(out, moment + SHORT)
    out = put_text(out + SHORT_LENGTH, state, T_SERVER)
    out = put_unsigned(out, np.uint64(event_header(start).server_id))
    out = put_unsigned(put_text(out, state, T_END), np.uint64(event_header(outer).next_position))
    if load_i64(state + INNER) == 0:
        kind = event_header(outer).type
        if header > 19 and kind != _FORMAT and kind != _ROTATE:
            out = put_unsigned(put_text(out, state, T_GROUP), load_u64(start + 19))
        if load_i64(state + CHECKSUM_BYTES):
            out = put_hex(put_text(out, state, T_CRC), np.uint64(load_u32(outer + load_i64(state + SIZE) - 4)), 8)
    return put_text(out, state, T_TAB)


@inline
def _put_own_name(out, base, state):
    """The name of the event's type: in the file, or within a payload."""
    start = load_i64(state + START) if load_i64(state + INNER) else base + load_i64(state + POSITION)
    return put_name(out, state, np.int64(event_header(start).type))


@inline
def _put_title(out, base, body, state):
    """What a rows event is, and about which table; a note may follow."""
    table_id = np.int64(load_u64(body) & _TABLE_ID)
    out = put_rows_title(_put_own_name(out, base, state), state, table_id, np.int64(load_u16(body + 6)))
    store_i64(state + HEADER_END, out)
    return out


@inline
def _put_payload(out, body, stop, state):
    described = state + DESCRIBED
    describe_payload(described, 0, body, stop)
    form = load_i64(described + 8 * FOUND_FORM)
    size = load_i64(described + 8 * FOUND_END) - load_i64(described + 8 * FOUND_DATA)
    out = put_unsigned(put_text(out, state, T_PAYLOAD), np.uint64(size))
    out = put_text(out, state, T_ZSTD if form == ZSTD else T_NONE)
    out = put_unsigned(out, np.uint64(load_i64(described + 8 * FOUND_INFLATED)))
    return put_text(out, state, T_PAYLOAD_BEGINS)


@inline
def _put_table_map(out, body, stop, is_text, state):
    if stop - body < 8:
        return np.int64(NEED_DETAILS)
    table_id = np.int64(load_u64(body) & _TABLE_ID)
    entry, length = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), table_id), stop - body - 6
    if (load_i64(entry) == -1 or load_i64(entry + BODY_LENGTH) != length
            or not same_bytes(load_i64(entry + BODY), body + 6, length)):
        store_i64(state + DETAIL, body)
        store_i64(state + WANTED_BYTES, stop - body)
        return np.int64(NEW_TABLE)
    if not is_text:
        return np.int64(NEED_DETAILS)
    table = load_i64(state + TABLES) + TABLE_BYTES * load_i64(entry + NUMBER)
    if load_i64(table + TITLE_LENGTH) + _MOST_NUMBER > load_i64(state + OUT_END) - out:
        return np.int64(FULL)
    out = put_bytes(out, load_i64(table + TITLE), load_i64(table + TITLE_LENGTH))
    return put_byte(put_unsigned(out, np.uint64(table_id)), 10)


@inline
def _put_rows_event(out, base, body, stop, kind, rows, state):
    """Its title, if none of its rows is printed yet, and its rows."""
    columns, at = read_bitmaps(body, stop, kind >= 30, 2 if rows == UPDATE else 1)
    if at == 0:
        return np.int64(BAD_ROWS)
    table_id = np.int64(load_u64(body) & _TABLE_ID)
    is_text, is_resumed = load_i64(state + IS_JSON) == 0, load_i64(state + ROW_AT) != 0
    if is_text and not is_resumed:
        out = _put_title(out, base, body, state)
    entry = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), table_id)
    if load_i64(entry) == -1:
        if table_id != DUMMY_TABLE_ID and table_id != ALL_ONES:
            return np.int64(UNKNOWN_TABLE)
        return out if is_text else np.int64(NEED_DETAILS)
    store_i64(state + TABLE, load_i64(entry + NUMBER))
    table = load_i64(state + TABLES) + TABLE_BYTES * load_i64(entry + NUMBER)
    if columns != load_i64(table + N_COLUMNS):
        return np.int64(BAD_ROWS)
    after = put_rows(out, base, at, rows, table, state)
    if (after == BAD_ROWS or after == BAD_VALUE) and load_i64(table + IS_UNSURE):
        return np.int64(NEED_NOTE)
    if after == out and not is_text and not is_resumed:
        return np.int64(NEED_DETAILS)  # an event without rows is one line
    return after
