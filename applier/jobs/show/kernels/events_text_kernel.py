# mypy: allow-untyped-defs, no-check-untyped-defs
"""Walks the events of a stretch of a binlog and prints them as `details` and `text` do, the frequent kinds by itself.

It stops and says why where Python must do something: a kind of event or a table that it does not print, a second that
has no text yet, a table map that is new, a full buffer. What is wrong with an event is for Python to say, too.
"""

import numpy as np

from applier.binlog.events.compressed_kernel import (
    CONTENT_END,
    CONTENT_GOES_ON,
    CONTENT_POSITION,
    CONTENT_START,
    CONTENT_WORDS,
    FOUND_DATA,
    FOUND_END,
    FOUND_FORM,
    FOUND_INFLATED,
    NONE,
    ZSTD,
    describe_payload,
    is_compressed,
)
from applier.binlog.events.packed_kernel import read_bitmaps
from applier.binlog.rows.table_ids_kernel import BODY, BODY_LENGTH, NUMBER, id_entry, same_bytes
from applier.jobs.show.kernels.gtid_text_kernel import find_moment, put_bytes, put_gtid, put_mariadb_gtid
from applier.jobs.show.kernels.number_kernel import put_byte, put_hex, put_unsigned
from applier.jobs.show.kernels.rows_text_kernel import UPDATE, put_rows, put_rows_title, put_text
from applier.jobs.show.kernels.statements_text_kernel import ANNOTATE, EVENT_ROOM, ROWS_QUERY, put_query, put_statement
from applier.jobs.show.kernels.walk_records import (
    CHECKSUM_BYTES,
    CONTENT,
    CONTENTS_LEFT,
    DESCRIBED,
    DETAIL,
    DONE,
    FULL,
    HEADER_BYTES,
    IDS,
    IDS_MASK,
    IN_MAPS,
    INNER,
    INNER_NUMBER,
    IS_PLAIN,
    MAPS_AT,
    N_COLUMNS,
    NEED_CONTENTS,
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
    TABLE_BYTES,
    TABLES,
    TITLE,
    TITLE_LENGTH,
    WANTED_BYTES,
)
from keysearch.memory import copy32, inline, kernel, load_i64, load_u8, load_u16, load_u32, load_u64, store_i64

_QUERY, _XID, _TABLE_MAP, _GTID, _ANONYMOUS, _PAYLOAD, _MARIADB_GTID = 2, 16, 19, 33, 34, 40, 162
_TABLE_ID = np.uint64(0xFFFFFFFFFFFF)
_MOST_NUMBER = 64
"""Bytes of text that a number takes at most, and a fixed text."""


@kernel
def walk(base, state):
    """Print the events from POSITION on in RANGE and those after it (offsets from address `base`); says why it
    stopped."""
    position, end = load_i64(state + POSITION), load_i64(load_i64(state + RANGE) + 8)
    header, checksum = load_i64(state + HEADER_BYTES), load_i64(state + CHECKSUM_BYTES)
    while True:
        inner, was_compressed = load_i64(state + INNER), False
        while position >= end:
            range_ = load_i64(state + RANGE) + 16
            if range_ == load_i64(state + RANGES_END):
                return DONE
            position, end = load_i64(range_), load_i64(range_ + 8)
            store_i64(state + RANGE, range_)
            store_i64(state + POSITION, position)
        outer = base + position
        if header > end - position:
            return NEED_PYTHON
        size = np.int64(load_u32(outer + 9))
        if size < header + checksum or size > end - position:
            return NEED_PYTHON
        start, stop, kind = outer, outer + size - checksum, np.int64(load_u8(outer + 4))
        content = load_i64(state + CONTENT)
        if is_compressed(kind):
            if load_i64(state + CONTENTS_LEFT) == 0 or load_i64(content + 8 * CONTENT_POSITION) != position:
                return NEED_CONTENTS
            content_end = load_i64(content + 8 * CONTENT_END)
            if inner == content_end:
                if load_i64(content + 8 * CONTENT_GOES_ON):
                    return NEED_CONTENTS
                if not _end_payload(state):
                    return FULL
            elif inner:
                if header > content_end - inner:
                    return NEED_PYTHON
                inner_size = np.int64(load_u32(inner + 9))
                if inner_size < header or inner_size > content_end - inner:
                    return NEED_PYTHON
                start, stop = inner, inner + inner_size
            elif kind != _PAYLOAD:
                start, stop, was_compressed = load_i64(content + 8 * CONTENT_START), content_end, True
        if inner == 0 or start != outer:
            out = _put_event(outer, start, stop, position, header, checksum, was_compressed, state)
            if out < 0:
                return out
            store_i64(state + OUT, out)
            store_i64(state + ROW_AT, 0)
        if start == inner:
            store_i64(state + INNER, stop)
            store_i64(state + INNER_NUMBER, load_i64(state + INNER_NUMBER) + 1)
        elif kind == _PAYLOAD and inner == 0:
            store_i64(state + INNER, load_i64(content + 8 * CONTENT_START))
            store_i64(state + INNER_NUMBER, 0)
        else:
            if is_compressed(kind):
                store_i64(state + CONTENT, content + 8 * CONTENT_WORDS)
                store_i64(state + CONTENTS_LEFT, load_i64(state + CONTENTS_LEFT) - 1)
                store_i64(state + INNER, 0)
            position += size
            store_i64(state + POSITION, position)


@inline
def _end_payload(state):
    """Print the end of the events in a payload; False where that has no room."""
    out = load_i64(state + OUT)
    if EVENT_ROOM > load_i64(state + OUT_END) - out:
        return False
    if load_i64(state + INNER_NUMBER):
        store_i64(state + OUT, put_text(out, state, T_PAYLOAD_ENDS))
    return True


@inline
def _put_event(outer, start, stop, position, header, checksum, was_compressed, state):
    """Where the text ends of the event at `start`, or why it has none: it is the one at `outer` in the file, or what
    that one `was_compressed` of, or within it."""
    out, kind, body = load_i64(state + OUT), np.int64(load_u8(start + 4)), start + header
    is_rows = (kind >= 23 and kind <= 25) or (kind >= 30 and kind <= 32)
    if is_rows and load_i64(state + ROW_AT):
        return _put_rows_event(out, start, body, stop, kind, was_compressed, state)
    if EVENT_ROOM > load_i64(state + OUT_END) - out:
        return np.int64(FULL)
    is_within = start != outer and not was_compressed
    if kind != _TABLE_MAP or is_within:
        store_i64(state + IN_MAPS, 0)
    moment = find_moment(np.int64(load_u32(start)), state)
    if moment == 0:
        return np.int64(NEED_MOMENT)
    out = put_unsigned(put_text(out, state, T_AT), np.uint64(position))
    out = put_text(out, state, T_HEADER)
    copy32(out, moment + SHORT)
    out = put_text(out + SHORT_LENGTH, state, T_SERVER)
    out = put_unsigned(out, np.uint64(load_u32(start + 5)))
    out = put_unsigned(put_text(out, state, T_END), np.uint64(load_u32(outer + 13)))
    if not is_within:
        if header > 19:
            out = put_unsigned(put_text(out, state, T_GROUP), load_u64(start + 19))
        if checksum:
            crc = np.uint64(load_u32(outer + np.int64(load_u32(outer + 9)) - checksum))
            out = put_hex(put_text(out, state, T_CRC), crc, 8)
    out = put_text(out, state, T_TAB)
    if is_rows:
        return _put_rows_event(out, start, body, stop, kind, was_compressed, state)
    if kind == _TABLE_MAP:
        return _put_table_map(out, start, body, stop, -1 if is_within else position, state)
    if kind == _XID and stop - body >= 8:
        return put_text(put_unsigned(put_text(out, state, T_XID), load_u64(body)), state, T_COMMIT)
    if kind == _QUERY:
        return put_query(out, start, body, stop, was_compressed, state)
    if kind == _GTID or kind == _ANONYMOUS:
        return put_gtid(out, body, stop, kind, state)
    if kind == _MARIADB_GTID:
        return put_mariadb_gtid(out, start, body, stop, state)
    if kind == ANNOTATE or kind == ROWS_QUERY:
        return put_statement(out, body, stop, kind, state)
    if kind == _PAYLOAD and not is_within:
        return _put_payload(out, body, stop, state)
    return np.int64(NEED_PYTHON)


@inline
def _put_payload(out, body, stop, state):
    described = state + DESCRIBED
    describe_payload(described, 0, body, stop)
    form = load_i64(described + 8 * FOUND_FORM)
    if form != ZSTD and form != NONE:
        return np.int64(NEED_PYTHON)
    size = load_i64(described + 8 * FOUND_END) - load_i64(described + 8 * FOUND_DATA)
    out = put_unsigned(put_text(out, state, T_PAYLOAD), np.uint64(size))
    out = put_text(out, state, T_ZSTD if form == ZSTD else T_NONE)
    out = put_unsigned(out, np.uint64(load_i64(described + 8 * FOUND_INFLATED)))
    return put_text(out, state, T_PAYLOAD_BEGINS)


@inline
def _put_table_map(out, start, body, stop, position, state):
    if stop - body < 8:
        return np.int64(NEED_PYTHON)
    if load_i64(state + IN_MAPS) == 0 and position >= 0:
        store_i64(state + MAPS_AT, position)
    table_id = np.int64(load_u64(body) & _TABLE_ID)
    entry, length = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), table_id), stop - body - 6
    if (load_i64(entry) == -1 or load_i64(entry + BODY_LENGTH) != length
            or not same_bytes(load_i64(entry + BODY), body + 6, length)):
        store_i64(state + DETAIL, body)
        store_i64(state + WANTED_BYTES, stop - body)
        return np.int64(NEW_TABLE)
    table = load_i64(state + TABLES) + TABLE_BYTES * load_i64(entry + NUMBER)
    if load_i64(table + TITLE_LENGTH) + _MOST_NUMBER > load_i64(state + OUT_END) - out:
        return np.int64(FULL)
    store_i64(state + IN_MAPS, position >= 0)
    out = put_bytes(out, load_i64(table + TITLE), load_i64(table + TITLE_LENGTH))
    return put_byte(put_unsigned(out, np.uint64(table_id)), 10)


@inline
def _put_rows_event(out, start, body, stop, kind, was_compressed, state):
    """Its title, if none of its rows is printed yet, and its rows."""
    row_kind = (kind - 30) if kind >= 30 else (kind - 23)
    columns, at = read_bitmaps(body, stop, kind >= 30, 2 if row_kind == UPDATE else 1)
    if at == 0:
        return np.int64(NEED_PYTHON)
    table_id = np.int64(load_u64(body) & _TABLE_ID)
    entry = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), table_id)
    if load_i64(entry) == -1:
        return np.int64(NEED_PYTHON)
    table = load_i64(state + TABLES) + TABLE_BYTES * load_i64(entry + NUMBER)
    if load_i64(table + IS_PLAIN) == 0 or columns != load_i64(table + N_COLUMNS):
        return np.int64(NEED_PYTHON)
    rows_at = at + ((columns + 7) >> 3) * (2 if row_kind == UPDATE else 1)
    if load_i64(state + ROW_AT) == 0:
        out = put_rows_title(out, state, row_kind, table_id, np.int64(load_u16(body + 6)),
                             was_compressed)
    return put_rows(out, start, rows_at, stop, row_kind, at, table, state)
