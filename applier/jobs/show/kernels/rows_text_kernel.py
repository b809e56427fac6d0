# mypy: allow-untyped-defs, no-check-untyped-defs
"""The rows of a rows event as `mysqlbinlog -v` prints them, a line a column."""

import numpy as np

from applier.jobs.show.kernels.number_kernel import put_byte, put_unsigned
from applier.jobs.show.kernels.value_kernel import (
    COLUMN_BYTES,
    CORRUPT,
    NO_DOCUMENT,
    NO_ROOM,
    PREFIX,
    PREFIX_LENGTH,
    put_value,
)
from applier.jobs.show.kernels.walk_records import (
    COLUMNS,
    FULL,
    LINE_LENGTHS,
    LINES,
    N_COLUMNS,
    NEED_DOCUMENT,
    NEED_PYTHON,
    OUT,
    OUT_END,
    ROW_AT,
    T_COMPLETE,
    T_FLAGS,
    T_NO_FK,
    T_NULL,
    T_RELAXED,
    T_SET,
    T_SQL_FK,
    T_STMT_END,
    T_TABLE_ID,
    T_WRITE,
    T_WRITE_COMPRESSED,
    TEXT_BYTES,
    TEXTS,
)
from keysearch.memory import copy32, copy_bytes, inline, load_i64, load_u8, store_i64

INSERT, UPDATE, DELETE = 0, 1, 2
_NULL_BYTES = 16


@inline
def put_text(out, state, number):
    """One of the fixed texts, which have up to 64 bytes."""
    text = load_i64(state + TEXTS) + TEXT_BYTES * number
    copy32(out, text + 8)
    copy32(out + 32, text + 40)
    return out + load_i64(text)


@inline
def put_rows_title(out, state, kind, table_id, flags, was_compressed):
    """Write_rows: table id 7 flags: STMT_END_F"""
    out = put_text(out, state, (T_WRITE_COMPRESSED if was_compressed else T_WRITE) + kind)
    out = put_unsigned(put_text(out, state, T_TABLE_ID), np.uint64(table_id))
    if flags & 31:
        out = put_text(out, state, T_FLAGS)
        for bit, text in ((1, T_STMT_END), (2, T_NO_FK), (4, T_RELAXED), (8, T_COMPLETE), (16, T_SQL_FK)):
            if flags & bit:
                out = put_text(out, state, text)
    return put_byte(out, 10)


@inline
def _put_image(out, room_end, at, end, bitmap, table, state):
    """One row image: (where the text ends, or why it does not, and where the next image is)."""
    n_columns, column = load_i64(table + N_COLUMNS), load_i64(table + COLUMNS)
    present = 0
    for i in range(n_columns):
        present += (load_u8(bitmap + (i >> 3)) >> (i & 7)) & 1
    null_bytes = (present + 7) >> 3
    if null_bytes > end - at:
        return np.int64(CORRUPT), at
    nulls, at = at, at + null_bytes
    bit = 0
    for i in range(n_columns):
        if (load_u8(bitmap + (i >> 3)) >> (i & 7)) & 1:
            length = load_i64(column + PREFIX_LENGTH)
            if length + _NULL_BYTES + 64 > room_end - out:
                return np.int64(NO_ROOM), at
            copy32(out, load_i64(column + PREFIX))
            out += length
            if (load_u8(nulls + (bit >> 3)) >> (bit & 7)) & 1:
                out = put_text(out, state, T_NULL)
            else:
                out, at = put_value(out, room_end - 1, at, end, column, state)
                if out < 0:
                    return out, at
                out = put_byte(out, 10)
            bit += 1
        column += COLUMN_BYTES
    return out, at


@inline
def put_rows(out, start, at, end, kind, bitmaps, table, state):
    """The rows of an event from ROW_AT on, or from `at` if that is 0; OUT and ROW_AT are kept after each. Where the
    text ends, or why it does not."""
    room_end = load_i64(state + OUT_END)
    bitmap_bytes = (load_i64(table + N_COLUMNS) + 7) >> 3
    resume = load_i64(state + ROW_AT)
    at = start + resume if resume else at
    # an insert of no column at all takes no byte, and is one row
    empty_insert = kind == INSERT and at == end and resume == 0
    for i in range(bitmap_bytes):
        empty_insert = empty_insert and load_u8(bitmaps + i) == 0
    if empty_insert:
        return np.int64(NEED_PYTHON)
    lines, length = load_i64(table + LINES + 8 * kind), load_i64(table + LINE_LENGTHS + 8 * kind)
    while at < end:
        if length + 128 > room_end - out:
            return np.int64(FULL)
        row = at
        copy_bytes(out, lines, length)
        to, at = _put_image(out + length, room_end, at, end, bitmaps, table, state)
        if kind == UPDATE and to >= 0:
            if 128 > room_end - to:
                return np.int64(FULL)
            to, at = _put_image(put_text(to, state, T_SET), room_end, at, end, bitmaps + bitmap_bytes, table, state)
        if to == NO_ROOM:
            return np.int64(FULL)
        if to == NO_DOCUMENT:
            return np.int64(NEED_DOCUMENT)
        if to == CORRUPT or at == row:
            return np.int64(NEED_PYTHON)
        out = to
        store_i64(state + OUT, out)
        store_i64(state + ROW_AT, at - start)
    return out
