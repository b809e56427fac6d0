# mypy: allow-untyped-defs, no-check-untyped-defs
"""The rows of a rows event: as `mysqlbinlog -v` prints them, a line a column; or as JSON, an object a row."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.rows.change_records import DELETE, INSERT, UPDATE
from applier.jobs.show.kernels.number_kernel import put_byte, put_unsigned
from applier.jobs.show.kernels.value_kernel import (
    COLUMN_BYTES,
    JSON,
    OP,
    PREFIX,
    PREFIX_LENGTH,
    WIDTH,
    escape,
    put_value,
    value_length,
)
from applier.jobs.show.kernels.walk_records import (
    BAD_ROWS,
    COLUMN,
    COLUMNS,
    DETAIL,
    DIFF,
    DIFFS,
    FULL,
    INNER,
    INNER_NUMBER,
    IS_JSON,
    IS_UNSURE,
    LINE_LENGTHS,
    LINES,
    N_COLUMNS,
    N_DIFFS,
    N_JSON,
    NAME_BYTES,
    NAMES,
    NEED_DIFF,
    OUT,
    OUT_END,
    POSITION,
    ROW_AT,
    START,
    STOP,
    T_COMPLETE,
    T_END_DELETE,
    T_END_ROW,
    T_FLAGS,
    T_JSON_END,
    T_JSON_SET,
    T_NEXT_VALUE,
    T_NO_FK,
    T_NULL,
    T_POS,
    T_RELAXED,
    T_SET,
    T_SQL_FK,
    T_STMT_END,
    T_TABLE_ID,
    T_TYPE,
    T_WITHIN,
    TEXT_BYTES,
    TEXTS,
    WANTED_BYTES,
)
from keysearch.memory import copy32, copy_bytes, inline, load_i64, load_u8, store_i64

_PARTIAL_UPDATE = 39
_PLAIN, _PARTIAL_JSON = 0, 1
"""Value options: of a row of PARTIAL_UPDATE_ROWS, before its second image."""
_ROOM = 512
"""What is printed of a row, at most, beside its values and its table's name."""


@inline
def put_text(out, state, number):
    """One of the fixed texts, which have up to 64 bytes."""
    text = load_i64(state + TEXTS) + TEXT_BYTES * number
    copy32(out, text + 8)
    copy32(out + 32, text + 40)
    return out + load_i64(text)


@inline
def put_name(out, state, kind):
    """The name of a type of events, which has up to 32 bytes."""
    name = load_i64(state + NAMES) + NAME_BYTES * kind
    copy32(out, name + 8)
    return out + load_i64(name)


@inline
def put_rows_title(out, state, table_id, flags):
    """: table id 7 flags: STMT_END_F"""
    out = put_unsigned(put_text(out, state, T_TABLE_ID), np.uint64(table_id))
    if flags & 31:
        out = put_text(out, state, T_FLAGS)
        for bit, text in ((1, T_STMT_END), (2, T_NO_FK), (4, T_RELAXED), (8, T_COMPLETE), (16, T_SQL_FK)):
            if flags & bit:
                out = put_text(out, state, text)
    return put_byte(out, 10)


@inline
def put_rows(out, base, at, kind, table, state):
    """The rows of an event, whose bitmaps are at `at`, from ROW_AT on; OUT and ROW_AT are kept after each, but where
    the table's rows are guessed at. Where the text ends, or why it does not."""
    room_end, start, end = load_i64(state + OUT_END), load_i64(state + START), load_i64(state + STOP)
    bitmaps, bitmap_bytes = at, (load_i64(table + N_COLUMNS) + 7) >> 3
    at += bitmap_bytes * (2 if kind == UPDATE else 1)
    is_empty = kind == INSERT and at == end and load_i64(state + ROW_AT) == 0
    for i in range(bitmap_bytes):
        is_empty = is_empty and load_u8(bitmaps + i) == 0
    if load_i64(state + ROW_AT):
        at = start + load_i64(state + ROW_AT)
    lines, length = load_i64(table + LINES + 8 * kind), load_i64(table + LINE_LENGTHS + 8 * kind)
    is_json = load_i64(state + IS_JSON) != 0
    while at < end or is_empty:  # an insert of no column at all takes no byte, and is one row
        if length + _ROOM > room_end - out:
            return np.int64(FULL)
        row = at
        store_i64(state + DIFF, 0)
        to = _put_place(out, base, state) if is_json else out
        copy_bytes(to, lines, length)
        to, at = _put_image(to + length, room_end, at, end, bitmaps, np.int64(0), table, state)
        if kind == UPDATE and to >= 0:
            diffs, at = _read_options(at, end, table, state)
            if at == BAD_ROWS:
                return np.int64(BAD_ROWS)
            if _ROOM > room_end - to:
                return np.int64(FULL)
            to = put_text(to, state, T_JSON_SET if is_json else T_SET)
            to, at = _put_image(to, room_end, at, end, bitmaps + bitmap_bytes, diffs, table, state)
        if to < 0:
            return to
        if at == row and not is_empty:
            return np.int64(BAD_ROWS)
        if is_json:
            if _ROOM > room_end - to:
                return np.int64(FULL)
            to = put_text(to, state, T_END_DELETE if kind == DELETE else T_END_ROW)
        out, is_empty = to, False
        store_i64(state + N_DIFFS, 0)
        if load_i64(table + IS_UNSURE) == 0:
            store_i64(state + OUT, out)
            store_i64(state + ROW_AT, at - start)
    return out


@inline
def _put_place(out, base, state):
    """{"pos":4,"end":99,"type":"WRITE_ROWS","within":2"""
    event = base + load_i64(state + POSITION)
    out = put_unsigned(put_text(out, state, T_POS), np.uint64(load_i64(state + POSITION)))
    out = put_unsigned(put_text(out, state, T_JSON_END), np.uint64(event_header(event).next_position))
    is_within = load_i64(state + INNER) != 0
    kind = event_header(load_i64(state + START) if is_within else event).type
    out = put_byte(put_name(put_text(out, state, T_TYPE), state, np.int64(kind)), 34)
    if is_within:
        out = put_unsigned(put_text(out, state, T_WITHIN), np.uint64(load_i64(state + INNER_NUMBER) + 1))
    return out


@inline
def _read_options(at, end, table, state):
    """What stands between the images of a row of PARTIAL_UPDATE_ROWS: (the bits of the columns of JSON that are diffs
    in the second one, where that is). No bits (0) in other events; BAD_ROWS for the address where it makes no sense."""
    if load_u8(load_i64(state + START) + 4) != _PARTIAL_UPDATE:
        return np.int64(0), at
    if at >= end or load_u8(at) > _PARTIAL_JSON:
        return np.int64(0), np.int64(BAD_ROWS)
    if load_u8(at) == _PLAIN:
        return np.int64(0), at + 1
    length = (load_i64(table + N_JSON) + 7) >> 3
    if length > end - at - 1:
        return np.int64(0), np.int64(BAD_ROWS)
    return at + 1, at + 1 + length


@inline
def _bit(bits, number):
    return (load_u8(bits + (number >> 3)) >> (number & 7)) & 1


@inline
def _put_image(out, room_end, at, end, bitmap, diffs, table, state):
    """One row image: (where the text ends, or why it does not, and where the next image is)."""
    n_columns, column = load_i64(table + N_COLUMNS), load_i64(table + COLUMNS)
    is_json = load_i64(state + IS_JSON) != 0
    present = 0
    for i in range(n_columns):
        present += _bit(bitmap, i)
    null_bytes = (present + 7) >> 3
    if null_bytes > end - at:
        return np.int64(BAD_ROWS), at
    nulls, at = at, at + null_bytes
    bit, document = 0, 0
    for i in range(n_columns):
        is_diff = False
        if load_i64(column + OP) == JSON:
            is_diff = diffs != 0 and _bit(diffs, document) != 0
            document += 1
        if _bit(bitmap, i):
            if _ROOM > room_end - out:
                return np.int64(FULL), at
            copy32(out, load_i64(column + PREFIX))
            out += load_i64(column + PREFIX_LENGTH)
            is_null = _bit(nulls, bit) != 0
            if is_diff or not is_null:
                store_i64(state + COLUMN, i)
                if is_diff:
                    out, at = _put_diff(out, room_end, at, end, is_null, column, state)
                else:
                    out, at = put_value(out, room_end - 8, at, end, column, state)
                if out < 0:
                    return out, at
            else:
                out = put_text(out, state, T_NULL)
            out = put_text(out, state, T_NEXT_VALUE) if is_json else put_byte(out, 10)
            bit += 1
        column += COLUMN_BYTES
    return out - (is_json and present > 0), at


@inline
def _put_diff(out, room_end, at, end, is_null, column, state):
    """What Python has made of the JSON diff at `at`: as put_value."""
    length = np.int64(-1)
    if not is_null:
        length = value_length(at, end, load_i64(column + WIDTH))
        at += load_i64(column + WIDTH)
        if length < 0:
            return np.int64(BAD_ROWS), at
    number = load_i64(state + DIFF)
    if number == load_i64(state + N_DIFFS):
        store_i64(state + DETAIL, at)
        store_i64(state + WANTED_BYTES, length)
        return np.int64(NEED_DIFF), at
    store_i64(state + DIFF, number + 1)
    text = load_i64(state + DIFFS) + 16 * number
    text_length = load_i64(text + 8)
    if text_length + _ROOM > room_end - out:
        return np.int64(FULL), at
    copy_bytes(out, load_i64(text), text_length)
    return escape(out, out + text_length, room_end - _ROOM, state), at + length
