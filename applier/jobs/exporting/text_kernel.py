# mypy: allow-untyped-defs, no-check-untyped-defs
"""Rows as text: cells of columns, with each column's bytes contiguous, assembled row by row.

As SQL: INSERT statements with many rows each; text in quotes with backslash escapes, bytes as x'…'. Text in which an
escape follows a non-ASCII character is written as _utf8mb4 x'…': a client of another character set could treat the
backslash as part of that character (applier.mysql.client_sql). As TSV: input for LOAD DATA with its default
options; bytes as hexadecimal digits. Source: MySQL manual, "String Literals", "LOAD DATA".
"""

import numpy as np

from keysearch.memory import copy_bytes, inline, kernel, load_i64, load_u8, store_u8
from keysearch.records import struct

PLAIN, TEXT, BYTES = range(3)
"""How a column's bytes are written: unchanged, quoted or escaped, or as hexadecimal digits."""
CELL_BYTES, ROW_BYTES = 15, 8
"""The most bytes of a cell and a row besides those of the value, of which each may become two."""
_INTRODUCER = np.frombuffer(b"_utf8mb4 ", np.uint8)
CELLS, cells_at, _ = struct("cells", **dict.fromkeys((
    "columns", "rows", "addresses", "offsets", "nulls", "modes"), np.int64))
"""Cells of columns and rows, by addresses: `addresses`, int64[columns], where each column's bytes are; `offsets`,
int64[columns, rows + 1]; `nulls`, uint8[columns, rows]; `modes`, uint8[columns]."""


@inline
def _escape(byte, sql):
    """Return the byte that follows a backslash for this byte, or a quote that follows a quote; 0 if the byte needs no
    escape."""
    if byte == 92:
        return 92
    if byte == 0:
        return 48
    if byte == 10:
        return 110
    if byte == 13:
        return 114
    if sql:
        return 39 if byte == 39 else 90 if byte == 26 else 0
    return 116 if byte == 9 else 0


@inline
def _escaped(data, at, end, sql, out, to):
    """Write the bytes from `at` to `end` with escapes. Returns the offset after them, -1 if an escape in SQL would
    follow a byte of a character beyond ASCII."""
    start = first = at
    while at < end:
        escape = _escape(load_u8(data + at), sql)
        if escape:
            if sql and escape != 39 and at > first and load_u8(data + at - 1) >= 128:
                return np.int64(-1)
            copy_bytes(out + to, data + start, at - start)
            to += at - start
            store_u8(out + to, np.uint8(39 if escape == 39 else 92))
            store_u8(out + to + 1, np.uint8(escape))
            to += 2
            start = at + 1
        at += 1
    copy_bytes(out + to, data + start, end - start)
    return to + end - start


@inline
def _digit(nibble):
    return np.uint8(nibble + 48 if nibble < 10 else nibble + 55)


@inline
def _hexadecimal(data, at, end, out, to):
    while at < end:
        byte = load_u8(data + at)
        store_u8(out + to, _digit(byte >> 4))
        store_u8(out + to + 1, _digit(byte & 15))
        at += 1
        to += 2
    return to


@inline
def _cell(data, at, end, mode, sql, out, to):
    """Write one value. Returns the offset after it."""
    if mode == PLAIN:
        copy_bytes(out + to, data + at, end - at)
        return to + end - at
    if not sql:
        return _escaped(data, at, end, sql, out, to) if mode == TEXT else _hexadecimal(data, at, end, out, to)
    if mode == TEXT:
        store_u8(out + to, np.uint8(39))
        after = _escaped(data, at, end, sql, out, to + 1)
        if after >= 0:
            store_u8(out + after, np.uint8(39))
            return after + 1
        for letter in _INTRODUCER:
            store_u8(out + to, letter)
            to += 1
    store_u8(out + to, np.uint8(120))
    store_u8(out + to + 1, np.uint8(39))
    to = _hexadecimal(data, at, end, out, to + 2)
    store_u8(out + to, np.uint8(39))
    return to + 1


@inline
def _null(sql, out, to):
    if not sql:
        store_u8(out + to, np.uint8(92))
        store_u8(out + to + 1, np.uint8(78))
        return to + 2
    for letter in (78, 85, 76, 76):
        store_u8(out + to, np.uint8(letter))
        to += 1
    return to


@inline
def _value(cells, row, column, sql, out, to):
    """One of CELLS."""
    if load_u8(cells.nulls + column * cells.rows + row):
        return _null(sql, out, to)
    offsets, mode = cells.offsets + 8 * (column * (cells.rows + 1) + row), load_u8(cells.modes + column)
    data = load_i64(cells.addresses + 8 * column)
    return _cell(data, load_i64(offsets), load_i64(offsets + 8), mode, sql, out, to)


@kernel
def write_rows(cells_address, sql, head, head_length, statement_bytes, out):
    """The rows of CELLS to the address `out`, which has room (CELL_BYTES and ROW_BYTES say how much is needed, and the
    head for each statement). Returns the number of bytes.

    As SQL, the head (from INSERT to VALUES) begins a statement, and a statement of `statement_bytes` or more is ended.
    """
    cells, to, began = cells_at(cells_address), np.int64(0), np.int64(-1)
    rows = cells.rows
    for row in range(rows):
        if sql:
            if began < 0:
                began = to
                copy_bytes(out + to, head, head_length)
                to += head_length
            store_u8(out + to, np.uint8(40))
            to += 1
        for column in range(cells.columns):
            if column:
                store_u8(out + to, np.uint8(44 if sql else 9))
                to += 1
            to = _value(cells, row, column, sql, out, to)
        if sql:
            store_u8(out + to, np.uint8(41))
            to += 1
            ends = row + 1 == rows or to - began >= statement_bytes
            store_u8(out + to, np.uint8(59 if ends else 44))
            to += 1
            if ends:
                began = np.int64(-1)
        store_u8(out + to, np.uint8(10))
        to += 1
    return to


@kernel
def write_literals(cells_address, words, edges, out):
    """The rows of CELLS as SQL literals to the address `out`, which has room. Returns the number of bytes.

    Before the cell of column i stand the words (bytes at an address) from edges[i] to edges[i + 1], and those that
    follow the last one at the end of the row: int64[columns + 2].
    """
    cells, to = cells_at(cells_address), np.int64(0)
    rows, columns = cells.rows, cells.columns
    for row in range(rows):
        for column in range(columns + 1):
            length = edges[column + 1] - edges[column]
            copy_bytes(out + to, words + edges[column], length)
            to += length
            if column == columns:
                break
            to = _value(cells, row, column, True, out, to)
    return to
