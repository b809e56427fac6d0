# mypy: allow-untyped-defs, no-check-untyped-defs
"""Rows of a file for LOAD DATA as spans: where each field lies, and of which kind it is. Nothing is converted.

Fields end at one byte, lines at one or two; a field may be enclosed; a backslash, or nothing, escapes.
Source: MySQL manual, "LOAD DATA Statement", "Field and Line Handling".
"""

import numpy as np

from applier.jobs.importing.sql.scan_kernel import MORE
from applier.jobs.importing.sql.tuple_kernel import ENCLOSED, FIELD, FULL, NEEDS_MORE, NULL, TEXT, WRONG_COUNT
from keysearch.memory import inline, kernel, load_i64, load_u8, store_i64, store_u8

BACKSLASH = 92
NONE = -1
"""In place of a byte that encloses or escapes, or of the second byte of a line's end: there is none."""


@inline
def _line_ends(data, at, end, line, second):
    """Length of the line's end at `at`, 0 if there is none, MORE."""
    if load_u8(data + at) != line:
        return np.int64(0)
    if second == NONE:
        return np.int64(1)
    if at + 1 >= end:
        return np.int64(MORE)
    return np.int64(2 if load_u8(data + at + 1) == second else 0)


@inline
def _field(data, at, end, field_end, line, second, enclosing, escape):
    """One field: (place of the end that follows it or MORE, kind, span's start, span's end)."""
    start, kind = at, TEXT
    if enclosing != NONE and at < end and load_u8(data + at) == enclosing:
        at += 1
        while at + 1 < end:
            byte = load_u8(data + at)
            if byte == enclosing:
                if load_u8(data + at + 1) != enclosing:
                    return at + 1, kind, start + 1, at
                kind, at = ENCLOSED, at + 2
            elif byte == escape:
                kind, at = ENCLOSED, at + 2
            else:
                at += 1
        return np.int64(MORE), kind, start, start
    while at < end:
        byte = load_u8(data + at)
        if byte == escape:
            kind, at = FIELD, at + 2
            continue
        if byte == field_end or byte == line:
            if byte == field_end:
                break
            length = _line_ends(data, at, end, line, second)
            if length < 0:
                return length, kind, start, start
            if length:
                break
        at += 1
    if at >= end:
        return np.int64(MORE), kind, start, start
    if at - start == 2 and kind == FIELD and load_u8(data + start + 1) == 78:
        kind = NULL  # \N
    elif at - start == 4 and enclosing != NONE and load_u8(data + start) == 78 and load_u8(data + start + 1) == 85 \
            and load_u8(data + start + 2) == 76 and load_u8(data + start + 3) == 76:
        kind = NULL  # the bare word
    return at, kind, start, at


@inline
def _row(data, at, end, field_end, line, second, enclosing, escape, coded, columns, row, capacity, starts, lengths,
         kinds, seen):
    """One line: (place after it or MORE, number of its fields). The arrays are those of tuple_kernel's rows."""
    count = 0
    while True:
        at, kind, span, span_end = _field(data, at, end, field_end, line, second, enclosing, escape)
        if at < 0 or at >= end:
            return np.int64(MORE), count
        if capacity and count < columns:
            if kind != NULL and load_u8(coded + count):
                kind = np.int64(load_u8(coded + count))
            cell = count * capacity + row
            store_i64(starts + 8 * cell, np.int64(span))
            store_i64(lengths + 8 * cell, np.int64(span_end - span))
            store_u8(kinds + cell, np.uint8(kind))
            store_i64(seen + 8 * count, load_i64(seen + 8 * count) | np.int64(1) << kind)
        count += 1
        length = _line_ends(data, at, end, line, second)
        if length < 0:
            return length, count
        if length:
            return at + length, count
        if load_u8(data + at) != field_end:  # something after the closing quote
            return at, np.int64(-1)
        at += 1


@kernel
def parse_fields(data, at, end, field_end, line, second, enclosing, escape, coded, columns, capacity, starts, lengths,
                 kinds, seen, out):
    """Lines from `at` on; `coded` is the address of uint8[columns], for each column the kind of its fields where a
    function is to decode them, else 0. Fills the arrays of `parse_rows`, and returns as it does: FULL, NEEDS_MORE (at
    the end of the file, where `out[1]` is `end`, all is done) or WRONG_COUNT; `out` has the number of rows, and the
    place to go on from, or of the line that is wrong.
    """
    row = np.int64(0)
    while True:
        out[0], out[1] = row, at
        if capacity and row == capacity:
            return FULL
        if at >= end:
            return NEEDS_MORE
        after, count = _row(data, at, end, field_end, line, second, enclosing, escape, coded, columns, row, capacity,
                            starts, lengths, kinds, seen)
        if after < 0:
            return NEEDS_MORE
        if count != columns and capacity:
            return WRONG_COUNT
        at = after
        row += 1
