# mypy: allow-untyped-defs, no-check-untyped-defs
"""Decodes one row image from the log into column buffers, by a program in the form of data.

A row image is a bitmap of NULLs, one bit per present column, and the values one after another. A *step* says how to
process a column. One kernel runs the steps of every schema, so it is compiled only once.

A program has its steps in two forms: `steps` with one step per present column, so that NULL bits and steps correspond,
and `compact` for rows without NULLs, where adjacent unselected columns are skipped together. Every read is first
compared with the image's end: a hostile length makes the row CORRUPT, no byte past the end is read, and every loop is
bounded.
"""

import numpy as np

from applier.binlog.rows.value_kernel import (
    BAD_VALUE,
    big_endian,
    date,
    datetime2,
    decimal,
    little_endian,
    old_datetime,
    old_time,
    old_timestamp,
    time2,
    timestamp2,
)
from applier.mysql.values.zero_dates import BEFORE_ALL_DAYS, DAY
from keysearch.memory import (
    copy32,
    copy_bytes,
    inline,
    load_i32,
    load_i64,
    load_u8,
    load_u16,
    load_u32,
    load_u64,
    store_i32,
    store_i64,
    store_u8,
    store_u16,
    store_u64,
)
from keysearch.records import struct

STEP, _, step_at = struct("step", **dict.fromkeys((
    "operation", "need", "meta", "values", "column", "valid", "absent", "width"), np.int64))
"""A step for a column: the operation; the bytes that must exist before the value is read; depending on the operation,
its width, scale or digits; the addresses of the column's values or offsets, of its record, its validity bitmap, and its
bitmap of absent values; the bytes of a value in the log."""

# operations; those from WORD1 on put out a value, and those from DATE_DAYS on a day or a time
(SKIP, SKIP_BYTES, WORD1, WORD2, WORD4, WORD8, BYTES1, BYTES2, BYTES_N, INT24, KEY_INT, DECIMAL_128, YEAR_NUMBER,
 UNSIGNED, BITS, FIXED, DATE_DAYS, DATETIME2_US, TIMESTAMP2_US, TIME2_US, OLD_TIMESTAMP_US, OLD_DATETIME_US,
 OLD_TIME_US) = range(23)

COLUMN, column_view, _ = struct("column", **dict.fromkeys((
    "length", "capacity", "data", "has_nulls", "has_absent"), np.int64))
"""A column: the bytes of string data, how many fit, and their address; whether a value is NULL or absent."""

PROGRAM, program_view, _ = struct("image program", **dict.fromkeys((
    "n_present", "steps", "n_steps", "compact", "n_compact", "missing", "n_missing"), np.int64))
"""The number of present columns, and addresses and numbers of steps."""

CORRUPT = -1
"""The image contradicts its own lengths, or contains a value that no server writes."""
FULL = -2
"""A column's data buffer has no room for the value; the whole row does not count."""
GUARD = 32
"""The bytes of a data buffer beyond its capacity, since copies are rounded up."""

_BEFORE_ALL_TIMES = BEFORE_ALL_DAYS * DAY


@inline
def mark_null(step, row):
    """Set output row `row` to NULL: clear its validity bit, and repeat the offset if the column has offsets."""
    valid = step.valid + (row >> 3)
    store_u8(valid, np.uint8(load_u8(valid) & ~(1 << (row & 7))))
    column = column_view(step.column)
    column.has_nulls = 1
    if step.operation >= BYTES1 and step.operation <= BYTES_N:
        store_i32(step.values + 4 * (row + 1), np.int32(column.length))


@inline
def mark_absent(step, row):
    """Set output row `row` to NULL and mark it as absent: the image does not have the column."""
    mark_null(step, row)
    absent = step.absent + (row >> 3)
    store_u8(absent, np.uint8(load_u8(absent) | (1 << (row & 7))))
    column_view(step.column).has_absent = 1


@inline
def put_bytes(step, row, source, length, safe_end):
    """Append a string to the column's data. Returns False if it does not fit."""
    column = column_view(step.column)
    at = column.length
    if length > column.capacity - at:
        return False
    target = column.data + at
    if length <= 128 and length + 32 <= safe_end - source:
        copied = 0
        while copied < length:
            copy32(target + copied, source + copied)
            copied += 32
    else:
        copy_bytes(target, source, length)
    column.length = at + length
    store_i32(step.values + 4 * (row + 1), np.int32(at + length))
    return True


@inline
def _key_integer(step, at):
    """Return an integer key as 64 bits that compare in order: sign-extended, unchanged, or biased (BIGINT UNSIGNED)."""
    width, meta = step.width, step.meta
    if width == 4:
        return np.int64(load_i32(at)) if meta == 0 else np.int64(load_u32(at))
    if width == 8:
        return load_i64(at) ^ (np.int64(meta) << 63)
    word = np.int64(little_endian(at, width))
    if meta == 0:
        sign = np.int64(1) << (8 * width - 1)
        word = (word ^ sign) - sign
    return word


@inline
def _put_number(step, operation, row, at):
    """Output a value of `width` bytes that has another form in Arrow. Returns False if no server writes it."""
    values, width = step.values, step.width
    if operation == INT24:
        word = np.int32(little_endian(at, 3))
        store_i32(values + 4 * row, (word ^ np.int32(0x800000)) - np.int32(0x800000))
    elif operation == DECIMAL_128:
        low, high, valid = decimal(at, step.meta >> 8, step.meta & 255)
        if not valid:
            return False
        store_u64(values + 16 * row, low)
        store_u64(values + 16 * row + 8, high)
    elif operation == UNSIGNED:
        # ENUM (2 bytes a value in Arrow) and SET (8)
        word8 = little_endian(at, width)
        if step.meta == 2:
            store_u16(values + 2 * row, np.uint16(word8))
        else:
            store_u64(values + 8 * row, word8)
    elif operation == BITS:
        store_u64(values + 8 * row, big_endian(at, width))
    elif operation == YEAR_NUMBER:
        year = np.uint16(load_u8(at))
        store_u16(values + 2 * row, year + np.uint16(1900) if year else year)
    else:
        copy_bytes(values + width * row, at, width)
    return True


@inline
def _old_temporal(step, operation, at):
    """Return the microseconds of a type that servers wrote before 5.6; BAD_VALUE for any other operation."""
    if operation == OLD_TIMESTAMP_US:
        return old_timestamp(at, step.meta)
    if operation == OLD_DATETIME_US:
        return old_datetime(at, step.width, step.meta)
    if operation == OLD_TIME_US:
        return old_time(at, step.width, step.meta)
    return np.int64(BAD_VALUE)


@inline
def run_steps(at, end, safe_end, steps, n_steps, nulls, row, invalid_dates):
    """Decode one image by its steps; NULL bit c belongs to step c. Returns the address after the image, or CORRUPT or
    FULL.

    `invalid_dates` is the address of their counter. Strings and times are read in place: decoding them in functions,
    called or inlined, was 4 to 6 % slower (measured).
    """
    null_bits = np.uint8(0)
    n_invalid = 0
    for c in range(n_steps):
        step = step_at(steps, c)
        if c & 7 == 0:
            null_bits = load_u8(nulls + (c >> 3))
        is_null = null_bits & 1 != 0
        null_bits >>= np.uint8(1)
        operation = step.operation
        if is_null:
            if operation >= WORD1:
                mark_null(step, row)
            continue
        if step.need > end - at:
            return np.int64(CORRUPT)
        if operation == WORD4:
            store_i32(step.values + 4 * row, load_i32(at))
            at += 4
        elif operation == BYTES1 or operation == BYTES2 or operation == BYTES_N:
            if operation == BYTES1:
                length = np.int64(load_u8(at))
                at += 1
            elif operation == BYTES2:
                length = np.int64(load_u16(at))
                at += 2
            else:
                length = np.int64(little_endian(at, step.meta))
                at += step.meta
            if length > end - at:
                return np.int64(CORRUPT)
            if not put_bytes(step, row, at, length, safe_end):
                return np.int64(FULL)
            at += length
        elif operation == SKIP:
            at += step.width
        elif operation == SKIP_BYTES:
            length = np.int64(load_u8(at)) if step.meta == 1 else np.int64(little_endian(at, step.meta))
            at += step.meta
            if length > end - at:
                return np.int64(CORRUPT)
            at += length
        elif operation == KEY_INT:
            store_i64(step.values + 8 * row, _key_integer(step, at))
            at += step.width
        elif operation == WORD8:
            store_u64(step.values + 8 * row, load_u64(at))
            at += 8
        elif operation == WORD1:
            store_u8(step.values + row, load_u8(at))
            at += 1
        elif operation == WORD2:
            store_u16(step.values + 2 * row, load_u16(at))
            at += 2
        elif operation < DATE_DAYS:
            if not _put_number(step, operation, row, at):
                return np.int64(CORRUPT)
            at += step.width
        else:
            if operation == DATETIME2_US:
                value = datetime2(at, step.meta)
            elif operation == TIMESTAMP2_US:
                value = timestamp2(at, step.meta)
            elif operation == DATE_DAYS:
                value = date(at)
            elif operation == TIME2_US:
                value = time2(at, step.meta)
            else:
                value = _old_temporal(step, operation, at)
            if value == BAD_VALUE:
                return np.int64(CORRUPT)
            if operation == DATE_DAYS:
                n_invalid += value < BEFORE_ALL_DAYS
                store_i32(step.values + 4 * row, np.int32(value))
            else:
                n_invalid += value < _BEFORE_ALL_TIMES
                store_i64(step.values + 8 * row, value)
            at += step.width
    if n_invalid:
        store_i64(invalid_dates, load_i64(invalid_dates) + n_invalid)
    return at


@inline
def read_image(at, end, safe_end, program_address, row, invalid_dates, no_nulls):
    """Decode the row image at `at` into output row `row`. Returns the address after it, or CORRUPT or FULL.

    `no_nulls` is the address of 512 zero bytes: the NULL bitmap of a row without NULLs, for tables of 4096 columns.
    """
    program = program_view(program_address)
    present = program.n_present
    bitmap_bytes = (present + 7) >> 3
    if bitmap_bytes > end - at:
        return np.int64(CORRUPT)
    nulls = at
    any_null = np.uint8(0)
    for i in range(bitmap_bytes - 1):
        any_null |= load_u8(nulls + i)
    if present:
        # servers leave ones in the bits beyond the last column
        any_null |= load_u8(nulls + bitmap_bytes - 1) & np.uint8((1 << (((present - 1) & 7) + 1)) - 1)
    at += bitmap_bytes
    if any_null:
        at = run_steps(at, end, safe_end, program.steps, program.n_steps, nulls, row, invalid_dates)
    else:
        at = run_steps(at, end, safe_end, program.compact, program.n_compact, no_nulls, row, invalid_dates)
    if at > 0:
        for i in range(program.n_missing):
            mark_absent(step_at(program.missing, i), row)
    return at
