# mypy: allow-untyped-defs, no-check-untyped-defs
"""The rows of a rows event: as `mysqlbinlog -v` prints them, one line per column; or as JSON, one object per row."""

import numpy as np

from applier.binlog.rows.change_records import DELETE, INSERT, UPDATE
from applier.jobs.show.kernels.events_json_kernel import put_position
from applier.jobs.show.kernels.fixed_texts import Text, put_text
from applier.jobs.show.kernels.value_kernel import (
    JSON,
    escape,
    put_value,
    value_length,
)
from applier.jobs.show.kernels.walk_records import Status, column_at, span_at
from applier.kernels.put_kernel import put_byte
from jsondiff.kernels.numbers import put_unsigned
from keysearch.memory import copy32, copy_bytes, inline, load_u8

_PARTIAL_UPDATE = 39
_PLAIN, _PARTIAL_JSON = 0, 1
"""Value options: of a row of PARTIAL_UPDATE_ROWS, before its second image."""
_FLAGS = (1, Text.STMT_END), (2, Text.NO_FK), (4, Text.RELAXED), (8, Text.COMPLETE), (16, Text.SQL_FK)
_NO_SET = 9
"""Bytes of a line end and "### SET" with its own."""
_ROOM = 512
"""The most bytes that are printed of a row, besides its values and its table's name."""


@inline
def put_rows_title(out, state, table_id, flags):
    """: table id 7 flags: STMT_END_F"""
    out = put_unsigned(put_text(out, state, Text.TABLE_ID), np.uint64(table_id))
    flags &= 31 if state.as_mysql else 1
    if flags:
        out = put_text(out, state, Text.FLAGS)
        for bit, text in _FLAGS:
            if flags & bit:
                out = put_text(out, state, text)
    return put_byte(out, 10)


@inline
def put_rows(out, base, at, kind, table, state):
    """The rows of an event, whose bitmaps are at `at`, from `row_at` on; `out` and `row_at` are kept after each, but
    where the table's rows are guessed at. Where the text ends, or why it does not."""
    room_end, start, end = state.out_end, state.start, state.stop
    bitmaps, bitmap_bytes = at, (table.n_columns + 7) >> 3
    at += bitmap_bytes * (2 if kind == UPDATE else 1)
    is_empty = kind == INSERT and at == end
    for i in range(bitmap_bytes):
        is_empty = is_empty and load_u8(bitmaps + i) == 0
    if state.row_at:
        at = start + state.row_at
    lines, length = table.inserts.start, table.inserts.length
    if kind == UPDATE:
        lines, length = table.updates.start, table.updates.length
    elif kind == DELETE:
        lines, length = table.deletes.start, table.deletes.length
    is_json = state.is_json != 0
    has_after = False
    for i in range(bitmap_bytes if kind == UPDATE else 0):
        has_after = has_after or load_u8(bitmaps + bitmap_bytes + i) != 0
    while at < end or is_empty:  # an insert of no column at all takes no byte, and is one row
        if length + _ROOM > room_end - out:
            return Status.FULL
        row = at
        state.diff = 0
        to = put_position(out, base, state) if is_json else out
        if is_empty and not is_json:
            out = put_text(copy_bytes(to, lines, length - _NO_SET), state, Text.NO_VALUES)
            state.n_rows += 1
            break
        copy_bytes(to, lines, length)
        to, at = _put_image(to + length, room_end, at, end, bitmaps, np.int64(0), table, state)
        if kind == UPDATE and to >= 0:
            diffs, at = _read_options(at, end, table, state)
            if at == Status.BAD_ROWS:
                return Status.BAD_ROWS
            if _ROOM > room_end - to:
                return Status.FULL
            to = put_text(to, state, Text.JSON_SET if is_json else
                          Text.SET if state.as_mysql or has_after else Text.NO_COLUMNS)
            to, at = _put_image(to, room_end, at, end, bitmaps + bitmap_bytes, diffs, table, state)
        if to < 0:
            return to
        if at == row and not is_empty:
            return Status.BAD_ROWS
        if is_json:
            if _ROOM > room_end - to:
                return Status.FULL
            to = put_text(to, state, Text.END_DELETE if kind == DELETE else Text.END_ROW)
        out, is_empty = to, False
        state.n_diffs = 0
        state.n_rows += 1
        if table.is_unsure == 0:
            state.out = out
            state.row_at = at - start
    return out


@inline
def _read_options(at, end, table, state):
    """Read the options between the images of a row of PARTIAL_UPDATE_ROWS: (the bits of the JSON columns that are diffs
    in the second one, the address of that). Other events have no bits (0); the address is BAD_ROWS for malformed
    options."""
    if load_u8(state.start + 4) != _PARTIAL_UPDATE:
        return np.int64(0), at
    if at >= end or load_u8(at) > _PARTIAL_JSON:
        return np.int64(0), Status.BAD_ROWS
    if load_u8(at) == _PLAIN:
        return np.int64(0), at + 1
    length = (table.n_json_columns + 7) >> 3
    if length > end - at - 1:
        return np.int64(0), Status.BAD_ROWS
    return at + 1, at + 1 + length


@inline
def _bit(bits, number):
    return (load_u8(bits + (number >> 3)) >> (number & 7)) & 1


@inline
def _put_image(out, room_end, at, end, bitmap, diffs, table, state):
    """One row image: (where the text ends, or why it does not, and where the next image is)."""
    n_columns, columns = table.n_columns, table.columns
    is_json = state.is_json != 0
    present = 0
    for i in range(n_columns):
        present += _bit(bitmap, i)
    null_bytes = (present + 7) >> 3
    if null_bytes > end - at:
        return Status.BAD_ROWS, at
    nulls, at = at, at + null_bytes
    bit, document = 0, 0
    for i in range(n_columns):
        column, is_diff = column_at(columns, i), False
        if column.kind == JSON:
            is_diff = diffs != 0 and _bit(diffs, document) != 0
            document += 1
        if _bit(bitmap, i):
            if _ROOM > room_end - out:
                return Status.FULL, at
            copy32(out, column.prefix.start)
            out += column.prefix.length
            is_null = _bit(nulls, bit) != 0
            if is_diff or not is_null:
                state.column = i
                if is_diff:
                    out, at = _put_diff(out, room_end, at, end, is_null, column, state)
                else:
                    out, at = put_value(out, room_end - 8, at, end, column, state)
                if out < 0:
                    return out, at
            else:
                out = put_text(out, state, Text.NULL)
            if state.shows_types:
                out = put_byte(copy_bytes(out, column.type.start, column.type.length), 48 + is_null)
                out = put_text(out, state, Text.TYPE_ENDS)
            out = put_text(out, state, Text.NEXT_VALUE) if is_json else put_byte(out, 10)
            bit += 1
    return out - (is_json and present > 0), at


@inline
def _put_diff(out, room_end, at, end, is_null, column, state):
    """Write the text that Python has made of the JSON diff at `at`: as put_value."""
    length = np.int64(-1)
    if not is_null:
        length = value_length(at, end, column.width)
        at += column.width
        if length < 0:
            return Status.BAD_ROWS, at
    number = state.diff
    if number == state.n_diffs:
        state.detail = at
        state.wanted_bytes = length
        return Status.NEED_DIFF, at
    state.diff = number + 1
    text = span_at(state.diffs, number)
    if text.length + _ROOM > room_end - out:
        return Status.FULL, at
    copy_bytes(out, text.start, text.length)
    return escape(out, out + text.length, room_end - _ROOM, state), at + length
