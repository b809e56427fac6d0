# mypy: allow-untyped-defs, no-check-untyped-defs
"""The VALUES of INSERT statements as spans: the location and kind of each literal. Nothing is converted.

A statement's list continues in the next statement if that begins with the same bytes, as in a dump with one INSERT per
row. An expression that is not a literal is a span, too: a caller that needs its value must evaluate it.
Source: MySQL manual, "INSERT Statement" and "Literal Values".
"""

from enum import IntEnum

import numpy as np

from applier.jobs.importing.sql.scan_kernel import MORE, blanks_end, comment_after, quote_end
from keysearch.memory import inline, kernel, load_i64, load_u8, store_i64, store_u8
from keysearch.records import struct

# Kinds of values. The span of a text is the part between the quotes, and so is that of digits in quotes.
# FIELD and ENCLOSED have escapes as LOAD DATA reads them, without and with quotes around. HEX_TEXT is _utf8mb4 x'…'.
NULL, DEFAULT, INTEGER, DECIMAL, DOUBLE, TRUE, FALSE, TEXT, ESCAPED, BINARY_TEXT, BINARY_ESCAPED, HEX, BITS, \
    EXPRESSION, FIELD, ENCLOSED, BASE64, HEX_TEXT = range(18)


class Status(IntEnum):
    """Why a kernel that finds spans stopped."""

    ENDED = 0
    """The statement."""
    FULL = 1
    """There is no room for more rows."""
    NEEDS_MORE = 2
    """A row continues behind the known bytes."""
    NO_LIST = 3
    WRONG_COUNT = 4
    """A row does not have a value for each column."""
    ON_DUPLICATE = 5


BACKSLASH, ANSI_QUOTES = 1, 2
"""Flags: a backslash escapes; text in double quotes is a name."""

SPANS, spans_at, _ = struct("spans", **dict.fromkeys((
    "columns", "capacity", "starts", "lengths", "kinds", "seen"), np.int64))
"""Where spans go: `starts` and `lengths` (int64) and `kinds` (uint8) are addresses of [columns, capacity], `seen` of a
set of kinds (bits of an int64) a column; nothing is kept where `capacity` is 0."""


@inline
def put_span(spans, column, row, kind, start, end):
    """Keep the span of a value, if its column is one of the table's."""
    if spans.capacity and column < spans.columns:
        cell = column * spans.capacity + row
        store_i64(spans.starts + 8 * cell, np.int64(start))
        store_i64(spans.lengths + 8 * cell, np.int64(end - start))
        store_u8(spans.kinds + cell, np.uint8(kind))
        seen = spans.seen + 8 * column
        store_i64(seen, load_i64(seen) | np.int64(1) << kind)


@inline
def _lower(byte):
    return byte | 32 if 65 <= byte <= 90 else byte


@inline
def _in_word(byte):
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 95 or byte == 36 or byte >= 128


@inline
def _is_word(data, at, end, word):
    """Is the word at `at` (which the bytes hold to its end) this one, in small letters?"""
    if end - at != len(word):
        return False
    for offset in range(len(word)):
        if _lower(load_u8(data + at + offset)) != word[offset]:
            return False
    return True


_NULL, _DEFAULT, _TRUE, _FALSE, _BINARY, _CONVERT, _USING, _UTF8MB4, _INTRODUCER = (
    np.frombuffer(word, np.uint8)
    for word in (b"null", b"default", b"true", b"false", b"_binary", b"convert", b"using", b"utf8mb4",
                 b"_utf8mb4"))


@inline
def _expression_end(data, at, end, flags):
    """Return the offset of the comma or bracket that ends the expression at `at`, or MORE."""
    depth = 0
    while at < end:
        byte = load_u8(data + at)
        if byte == 39 or byte == 34 or byte == 96:
            at, _ = quote_end(data, at, end, flags & BACKSLASH != 0 and byte != 96)
            if at < 0:
                return at
            continue
        if byte == 35 or byte == 45 or byte == 47:
            after = comment_after(data, at, end)
            if after != at:
                if after < 0:
                    return after
                at = after
                continue
        if depth == 0 and (byte == 44 or byte == 41):
            return at
        if byte == 40:
            depth += 1
        elif byte == 41:
            depth -= 1
        at += 1
    return np.int64(MORE)


@inline
def _number(data, at, end):
    """Parse the number at `at`: (offset after it, kind); the kind is EXPRESSION if it is not a number."""
    start, kind, digits = at, INTEGER, 0
    if load_u8(data + at) == 45:
        at += 1
    while at < end:
        byte = load_u8(data + at)
        if 48 <= byte <= 57:
            digits += 1
        elif byte == 46 and kind == INTEGER:
            kind = DECIMAL
        elif (byte == 101 or byte == 69) and digits and kind != DOUBLE:
            kind = DOUBLE
            if at + 1 < end and (load_u8(data + at + 1) == 45 or load_u8(data + at + 1) == 43):
                at += 1
        elif _in_word(byte) or byte == 46:
            return start, EXPRESSION
        else:
            return (at, kind) if digits and (kind != DOUBLE or load_u8(data + at - 1) <= 57) else (start, EXPRESSION)
        at += 1
    return np.int64(MORE), kind


@inline
def _digits_end(data, at, end, kind):
    """Return the offset after hexadecimal digits or bits."""
    while at < end:
        byte = _lower(load_u8(data + at))
        if not (48 <= byte <= 57 or 97 <= byte <= 102) or (kind == BITS and byte > 49):
            break
        at += 1
    return at


@inline
def _quoted_digits(data, at, end, kind):
    """The digits in quotes behind the letter at `at`: as `_value` returns them."""
    after = _digits_end(data, at + 2, end, kind)
    if after < end and load_u8(data + after) != 39:
        kind = EXPRESSION
    return after + 1 if after < end else np.int64(MORE), kind, at + 2, after


@inline
def _word_end(data, at, end):
    while at < end and _in_word(load_u8(data + at)):
        at += 1
    return at if at < end else np.int64(MORE)


@inline
def _converted(data, at, end, flags):
    """Parse what follows CONVERT, if it is a text USING utf8mb4, as mydumper writes JSON: the result is that of
    `_value`."""
    at = blanks_end(data, at, end)
    if at < 0 or load_u8(data + at) != 40:
        return at, EXPRESSION, at, at
    at = blanks_end(data, at + 1, end)
    if at < 0:
        return at, EXPRESSION, at, at
    quote = load_u8(data + at)
    if quote != 39 and (quote != 34 or flags & ANSI_QUOTES):
        return at, EXPRESSION, at, at
    span = at + 1
    at, escaped = quote_end(data, at, end, flags & BACKSLASH != 0)
    span_end = at - 1
    for word in (_USING, _UTF8MB4):
        if at >= 0:
            at = blanks_end(data, at, end)
        if at < 0:
            return at, EXPRESSION, at, at
        after = _word_end(data, at, end)
        if after < 0:
            return after, EXPRESSION, at, at
        if not _is_word(data, at, after, word):
            return at, EXPRESSION, at, at
        at = after
    at = blanks_end(data, at, end)
    if at < 0 or load_u8(data + at) != 41:
        return at, EXPRESSION, at, at
    return at + 1, ESCAPED if escaped else TEXT, span, span_end


@inline
def _value(data, at, end, flags):
    """Parse the value at `at`, which is not a blank: (offset after it, kind, span's start, span's end); the offset is
    MORE, or the kind EXPRESSION if it is not a literal, and then the rest has no meaning."""
    byte = load_u8(data + at)
    if byte == 39 or (byte == 34 and not flags & ANSI_QUOTES):
        after, escaped = quote_end(data, at, end, flags & BACKSLASH != 0)
        return after, ESCAPED if escaped else TEXT, at + 1, after - 1
    if at + 1 >= end:
        return np.int64(MORE), NULL, at, at
    second = _lower(load_u8(data + at + 1))
    if byte == 48 and (second == 120 or second == 98):
        kind = HEX if second == 120 else BITS
        after = _digits_end(data, at + 2, end, kind)
        if after < end and _in_word(load_u8(data + after)):
            kind = EXPRESSION
        return after if after < end else np.int64(MORE), kind, at + 2, after
    if 48 <= byte <= 57 or byte == 45 or byte == 46:
        after, kind = _number(data, at, end)
        return after, kind, at, after
    first = _lower(byte)
    if second == 39 and (first == 120 or first == 98):
        return _quoted_digits(data, at, end, HEX if first == 120 else BITS)
    after = at
    while after < end and _in_word(load_u8(data + after)):
        after += 1
    if after >= end:
        return np.int64(MORE), NULL, at, at
    if first == 110 and _is_word(data, at, after, _NULL):
        return after, NULL, at, after
    if first == 95 and _is_word(data, at, after, _BINARY):
        start = blanks_end(data, after, end)
        if start < 0:
            return start, NULL, at, at
        quote = load_u8(data + start)
        if quote == 39 or (quote == 34 and not flags & ANSI_QUOTES):
            after, escaped = quote_end(data, start, end, flags & BACKSLASH != 0)
            return after, BINARY_ESCAPED if escaped else BINARY_TEXT, start + 1, after - 1
    if first == 95 and _is_word(data, at, after, _INTRODUCER):
        start = blanks_end(data, after, end)
        if start < 0 or start + 1 >= end:
            return np.int64(MORE), NULL, at, at
        if _lower(load_u8(data + start)) == 120 and load_u8(data + start + 1) == 39:
            return _quoted_digits(data, start, end, HEX_TEXT)
    if first == 99 and _is_word(data, at, after, _CONVERT):
        return _converted(data, after, end, flags)
    if first == 100 and _is_word(data, at, after, _DEFAULT):
        return after, DEFAULT, at, after
    if first == 116 and _is_word(data, at, after, _TRUE):
        return after, TRUE, at, after
    if first == 102 and _is_word(data, at, after, _FALSE):
        return after, FALSE, at, after
    return after, EXPRESSION, at, after


@inline
def _row(data, at, end, flags, row, spans):
    """Parse one row, its bracket at `at`: (offset after its closing bracket or MORE, number of its values)."""
    at = blanks_end(data, at + 1, end)
    if at < 0:
        return at, 0
    if load_u8(data + at) == 41:
        return at + 1, 0
    count = 0
    while True:
        start = at
        at, kind, span, span_end = _value(data, start, end, flags)
        if at < 0:
            return at, count
        at = blanks_end(data, at, end)
        if at < 0:
            return at, count
        byte = load_u8(data + at)
        if kind == EXPRESSION or (byte != 44 and byte != 41):
            kind, span = EXPRESSION, start
            at = span_end = _expression_end(data, start, end, flags)
            if at < 0:
                return at, count
            byte = load_u8(data + at)
        put_span(spans, count, row, kind, span, span_end)
        count += 1
        if byte == 41:
            return at + 1, count
        at = blanks_end(data, at + 1, end)
        if at < 0:
            return at, count


@kernel
def parse_rows(data, at, end, header, header_length, flags, spans_address, out):
    """Parse rows from `at` on, where the first bracket of a row is expected; `header` is the address of the statement's
    bytes up to there, in each of the statements that follow.

    Fills the SPANS at `spans_address`, `columns` values a row and `capacity` rows at most. Returns why it stopped, and
    in `out`: the number of rows, and the offset to continue from (after ";" if the statement ENDED, else of the error).
    """
    spans, row = spans_at(spans_address), np.int64(0)
    while True:
        out[0], out[1] = row, at
        if spans.capacity and row == spans.capacity:
            return Status.FULL
        at = blanks_end(data, at, end)
        if at < 0:
            return Status.NEEDS_MORE
        if load_u8(data + at) != 40:
            out[1] = at
            return Status.NO_LIST
        start = at
        at, count = _row(data, at, end, flags, row, spans)
        if at < 0:
            return Status.NEEDS_MORE
        if count != spans.columns and spans.capacity:
            out[1] = start
            return Status.WRONG_COUNT
        at = blanks_end(data, at, end)
        if at < 0:
            return Status.NEEDS_MORE
        byte = load_u8(data + at)
        if byte == 44:
            at += 1
            row += 1
            continue
        if byte != 59:
            out[1] = at
            return Status.ON_DUPLICATE if _lower(byte) == 111 else Status.NO_LIST
        row += 1
        out[0], out[1] = row, at + 1
        at = blanks_end(data, at + 1, end)
        if at < 0 or header_length > end - at:
            return Status.ENDED
        for offset in range(header_length):
            if load_u8(data + at + offset) != load_u8(header + offset):
                return Status.ENDED
        at += header_length
