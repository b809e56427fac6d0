# mypy: allow-untyped-defs, no-check-untyped-defs
"""Rows of a file for LOAD DATA as spans: the location and kind of each field. Nothing is converted.

Fields end at one byte, lines at one or two; a field may be enclosed; a backslash, or nothing, escapes.
Source: MySQL manual, "LOAD DATA Statement", "Field and Line Handling".
"""

import numpy as np

from applier.jobs.importing.sql.scan_kernel import MORE
from applier.jobs.importing.sql.tuple_kernel import (
    ENCLOSED,
    FIELD,
    NULL,
    TEXT,
    Status,
    put_span,
    spans_at,
)
from keysearch.memory import inline, kernel, load_u8
from keysearch.records import struct

BACKSLASH = 92
NONE = -1
"""In place of a byte that encloses or escapes, or of the second byte of a line's end, if there is none."""
FIELDS, fields_at, _ = struct("fields", **dict.fromkeys((
    "field_end", "line", "second", "enclosing", "escape", "coded"), np.int64))
"""The byte that ends a field, those that end a line, those that enclose and escape; `coded` is the address of
uint8[columns], for each column the kind of its fields where a function is to decode them, else 0."""


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
def _field(data, at, end, fields):
    """Parse one field: (offset of the end that follows it or MORE, kind, span's start, span's end)."""
    field_end, line, enclosing, escape = fields.field_end, fields.line, fields.enclosing, fields.escape
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
            length = _line_ends(data, at, end, line, fields.second)
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
def _row(data, at, end, fields, row, spans):
    """Parse one line: (offset after it or MORE, number of its fields)."""
    coded, count = fields.coded, 0
    while True:
        at, kind, span, span_end = _field(data, at, end, fields)
        if at < 0 or at >= end:
            return np.int64(MORE), count
        if count < spans.columns and kind != NULL and load_u8(coded + count):
            kind = np.int64(load_u8(coded + count))
        put_span(spans, count, row, kind, span, span_end)
        count += 1
        length = _line_ends(data, at, end, fields.line, fields.second)
        if length < 0:
            return length, count
        if length:
            return at + length, count
        if load_u8(data + at) != fields.field_end:  # something after the closing quote
            return at, np.int64(-1)
        at += 1


@kernel
def parse_fields(data, at, end, fields_address, spans_address, out):
    """Parse lines from `at` on, with the FIELDS at an address. Fills the SPANS of `parse_rows`, and returns as it does:
    FULL, NEEDS_MORE (at the end of the file, where `out[1]` is `end`, all is done) or WRONG_COUNT; `out` has the number
    of rows, and the offset to continue from, or of the wrong line."""
    fields, spans, row = fields_at(fields_address), spans_at(spans_address), np.int64(0)
    while True:
        out[0], out[1] = row, at
        if spans.capacity and row == spans.capacity:
            return Status.FULL
        if at >= end:
            return Status.NEEDS_MORE
        after, count = _row(data, at, end, fields, row, spans)
        if after < 0:
            return Status.NEEDS_MORE
        if count != spans.columns and spans.capacity:
            return Status.WRONG_COUNT
        at = after
        row += 1
