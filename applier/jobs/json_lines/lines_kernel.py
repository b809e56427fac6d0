# mypy: allow-untyped-defs, no-check-untyped-defs
"""Writes rows as JSON, one object per line: cells of columns, with each column's bytes contiguous, assembled by steps
that are the same for every line (WORK, STEP, LINE, COLUMN)."""

import numpy as np

from applier.jobs.json_lines.document_kernel import MAX_DEPTH, is_document
from applier.kernels.put_kernel import put_byte
from jsondiff.kernels.numbers import put_unsigned
from jsondiff.kernels.string_kernel import put_base64, put_string
from keysearch.addresses import address_of
from keysearch.memory import copy_bytes, inline, keep, kernel, load_i64, load_u8, load_u32, store_i64, store_u8
from keysearch.records import struct

TEXT, OPERATION, VALUE, OPEN, MEMBER, CLOSE = range(6)
"""The kinds of steps. A step writes: its text; the line's operation; a value of the line's first row; the brace that
opens the object of one of its rows, or null instead of the object, whose steps are then skipped; a member of the
object, or of the line; the brace that ends the object."""
FIRST, BEFORE, AFTER, OWN = range(4)
"""Of which row: the one before the change if there is one, else the one after; the one before; the one after; the first
that the line is about."""
PLAIN, QUOTED, DOCUMENT, BASE64, GEOMETRY = range(5)
"""How a value's bytes are written: unchanged; as a string; as a JSON document, or a string if it is not one; as a
string in base64; as an object of a geometry's WKB and its SRID."""
GIVEN, NULL, ABSENT = range(3)
"""The state of a cell: a value, null, or omitted."""
MOST = {PLAIN: 1, QUOTED: 6, DOCUMENT: 6, BASE64: 2, GEOMETRY: 2}
"""Bytes that one of a value becomes, at most."""
CELL_BYTES = 48
"""The most bytes of a cell besides those of the value, including up to 32 written beyond its end."""

STEP, _, step_at = struct("step", **dict.fromkeys((
    "kind", "row", "text", "length", "column", "mode", "jump"), np.int64))
"""`text` is at an address; a member's begins with a comma. `jump` is the step behind the CLOSE of an OPEN."""
LINE, _, line_at = struct("line", **dict.fromkeys(("operation", "row", "before", "after"), np.int64))
"""`row` is the first that the line is about; -1 where there is no row before or after. `operation` is its number."""
COLUMN, _, column_at = struct("column", **dict.fromkeys(("data", "end", "offsets", "states"), np.int64))
"""Addresses: of the bytes and of their end, of int64[rows + 1] into them, of uint8[rows] (GIVEN, NULL, ABSENT)."""
WORK, work_at, _ = struct("work", **dict.fromkeys((
    "steps", "n_steps", "lines", "n_lines", "columns", "operations", "operation_offsets", "ends"), np.int64))
"""`operations` are texts, at int64 offsets into them. `ends`, int64[n_lines], are the offsets of the ends of lines in
the output."""

_QUOTE = 34
_WKB = np.frombuffer(b'{"wkb":"', np.uint8)
_SRID = np.frombuffer(b',"srid":', np.uint8)


@inline
def _put_text(out, text):
    for byte in text:
        out = put_byte(out, byte)
    return out


@inline
def _put_null(out):
    return put_byte(put_byte(put_byte(put_byte(out, 110), 117), 108), 108)


@inline
def _put_document(out, at, end, limit, stack):
    """A JSON document on one line."""
    if not is_document(at, end, stack):
        return put_string(at, end, limit, out)
    copy_bytes(out, at, end - at)
    stop = out + (end - at)
    while out < stop:  # in a document a line feed is space, since strings have none
        byte = load_u8(out)
        if byte == 10 or byte == 13:
            store_u8(out, np.uint8(32))
        out += 1
    return stop


@inline
def _put_base64(out, at, end):
    return put_byte(put_base64(put_byte(out, _QUOTE), at, end, 0), _QUOTE)


@inline
def _put_geometry(out, at, end):
    """Write a server's geometry: four bytes of SRID, 0 for none, and WKB. A shorter value has no SRID."""
    srid = np.int64(0)
    if end - at >= 4:
        srid = np.int64(load_u32(at))
        at += 4
    out = _put_text(_put_base64(_put_text(out, _WKB) - 1, at, end), _SRID)
    if srid == 0:
        return put_byte(_put_null(out), 125)
    return put_byte(put_unsigned(out, np.uint64(srid)), 125)


@inline
def _put_value(out, column, row, mode, stack):
    if load_u8(column.states + row) != GIVEN:
        return _put_null(out)
    at, end = column.data + load_i64(column.offsets + 8 * row), column.data + load_i64(column.offsets + 8 * row + 8)
    if mode == PLAIN:
        copy_bytes(out, at, end - at)
        return out + (end - at)
    if mode == QUOTED:
        return put_string(at, end, column.end, out)
    if mode == DOCUMENT:
        return _put_document(out, at, end, column.end, stack)
    if mode == BASE64:
        return _put_base64(out, at, end)
    return _put_geometry(out, at, end)


@inline
def _row_of(line, which):
    if which == OWN:
        return line.row
    if which == BEFORE or (which == FIRST and line.before >= 0):
        return line.before
    return line.after


@kernel
def write_lines(work_address, out):
    """Write the lines of a WORK to the address `out`, which has room, and fill `ends`. Returns the number of bytes."""
    work, to = work_at(work_address), out
    stack = np.empty(MAX_DEPTH, np.uint8)
    for number in range(work.n_lines):
        line = line_at(work.lines, number)
        index, is_first = 0, False
        while index < work.n_steps:
            step = step_at(work.steps, index)
            index += 1
            kind, text, length = step.kind, step.text, step.length
            if kind == MEMBER:
                column, row = column_at(work.columns, step.column), _row_of(line, step.row)
                if load_u8(column.states + row) == ABSENT:
                    continue
                if is_first:
                    text, length, is_first = text + 1, length - 1, False
                copy_bytes(to, text, length)
                to = _put_value(to + length, column, row, step.mode, address_of(stack))
            elif kind == OPEN:
                is_first = _row_of(line, step.row) >= 0
                if is_first:
                    to = put_byte(to, 123)
                else:
                    to = _put_null(to)
                    index = step.jump
            elif kind == CLOSE:
                is_first = False
                to = put_byte(to, 125)
            elif kind == TEXT:
                copy_bytes(to, text, length)
                to += length
            elif kind == VALUE:
                to = _put_value(to, column_at(work.columns, step.column), line.row, step.mode, address_of(stack))
            else:
                at = load_i64(work.operation_offsets + 8 * line.operation)
                size = load_i64(work.operation_offsets + 8 * line.operation + 8) - at
                copy_bytes(to, work.operations + at, size)
                to += size
        store_i64(work.ends + 8 * number, to - out)
    keep(stack)
    return to - out
