# mypy: allow-untyped-defs, no-check-untyped-defs
"""One row image from the log into column buffers, by a program that is data.

A row image is a bitmap of NULLs, a bit for each column that is present, and the values one after another. What to do
with a column is a *step* of eight words; one kernel runs the steps of every schema, so there is one compilation for
all:

    OP, NEED (bytes that must be there before the value is looked at), META (by operation: width, scale, digits),
    VALUES (address of the column's values or offsets), RECORD (address of the column's record), VALID (address of its
    validity bitmap), ABSENT (address of its bitmap of values that no image had), WIDTH (bytes of a value in the log)

A program has its steps twice: `STEPS` with one step a present column, so that NULL bits and steps count alike, and
`COMPACT` for rows without NULLs, where columns that nobody wants are skipped together. Every read is compared with the
image's end first: a hostile length makes the row CORRUPT, nothing is read past the end, and nothing loops without end.
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
from applier.mysql.zero_dates import BEFORE_ALL_DAYS, DAY
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

# a step's words, in bytes from its start
OP, NEED, META, VALUES, RECORD, VALID, ABSENT, WIDTH = range(0, 64, 8)
STEP_BYTES = 64

# operations; those from WORD1 on put out a value
(SKIP, SKIP_BYTES, WORD1, WORD2, WORD4, WORD8, BYTES1, BYTES2, BYTES_N, INT24, KEY_INT, DECIMAL_128, DATE_DAYS,
 DATETIME2_US, TIMESTAMP2_US, TIME2_US, YEAR_NUMBER, UNSIGNED, BITS, FIXED, OLD_TIMESTAMP_US, OLD_DATETIME_US,
 OLD_TIME_US) = range(23)

# a column's record, in bytes from its start
LENGTH, CAPACITY, DATA, HAS_NULLS, HAS_ABSENT = range(0, 40, 8)
RECORD_BYTES = 64

# an image program, in bytes from its start
N_PRESENT, STEPS, N_STEPS, COMPACT, N_COMPACT, MISSING, N_MISSING = range(0, 56, 8)

CORRUPT = -1
"""The image contradicts its own lengths, or holds a value that no server writes."""
FULL = -2
"""A column's data buffer cannot take the value; nothing of the row counts."""
GUARD = 32
"""Bytes that a data buffer has beyond its capacity, as copies are rounded up."""

_BEFORE_ALL_MOMENTS = BEFORE_ALL_DAYS * DAY


@inline
def mark_null(step, row):
    """A NULL in output row `row`: its validity bit goes, and its offset, where it has one, repeats."""
    valid = load_i64(step + VALID) + (row >> 3)
    store_u8(valid, np.uint8(load_u8(valid) & ~(1 << (row & 7))))
    record = load_i64(step + RECORD)
    store_i64(record + HAS_NULLS, 1)
    operation = load_i64(step + OP)
    if operation >= BYTES1 and operation <= BYTES_N:
        store_i32(load_i64(step + VALUES) + 4 * (row + 1), np.int32(load_i64(record + LENGTH)))


@inline
def mark_absent(step, row):
    """A column that the image does not have: NULL, and marked as absent, which is another thing."""
    mark_null(step, row)
    absent = load_i64(step + ABSENT) + (row >> 3)
    store_u8(absent, np.uint8(load_u8(absent) | (1 << (row & 7))))
    store_i64(load_i64(step + RECORD) + HAS_ABSENT, 1)


@inline
def put_bytes(step, row, source, length, safe_end):
    """Append a string to the column's data; False where it does not fit."""
    record = load_i64(step + RECORD)
    at = load_i64(record + LENGTH)
    if length > load_i64(record + CAPACITY) - at:
        return False
    target = load_i64(record + DATA) + at
    if length <= 128 and length + 32 <= safe_end - source:
        copied = 0
        while copied < length:
            copy32(target + copied, source + copied)
            copied += 32
    else:
        copy_bytes(target, source, length)
    store_i64(record + LENGTH, at + length)
    store_i32(load_i64(step + VALUES) + 4 * (row + 1), np.int32(at + length))
    return True


@inline
def run_steps(at, end, safe_end, steps, n_steps, nulls, row, zero_dates):
    """Decode one image by its steps; NULL bit c belongs to step c. The address after it, or CORRUPT or FULL.

    `zero_dates` is the address of a counter of dates that no calendar has.
    """
    null_bits = np.uint8(0)
    no_dates = 0
    step = steps
    for c in range(n_steps):
        if c & 7 == 0:
            null_bits = load_u8(nulls + (c >> 3))
        is_null = null_bits & 1 != 0
        null_bits >>= np.uint8(1)
        operation = load_i64(step)
        if is_null:
            if operation >= WORD1:
                mark_null(step, row)
            step += STEP_BYTES
            continue
        if load_i64(step + NEED) > end - at:
            return np.int64(CORRUPT)
        if operation == WORD4:
            store_i32(load_i64(step + VALUES) + 4 * row, load_i32(at))
            at += 4
        elif operation == BYTES1 or operation == BYTES2 or operation == BYTES_N:
            if operation == BYTES1:
                length = np.int64(load_u8(at))
                at += 1
            elif operation == BYTES2:
                length = np.int64(load_u16(at))
                at += 2
            else:
                prefix = load_i64(step + META)
                length = np.int64(little_endian(at, prefix))
                at += prefix
            if length > end - at:
                return np.int64(CORRUPT)
            if not put_bytes(step, row, at, length, safe_end):
                return np.int64(FULL)
            at += length
        elif operation == SKIP:
            at += load_i64(step + WIDTH)
        elif operation == SKIP_BYTES:
            prefix = load_i64(step + META)
            length = np.int64(load_u8(at)) if prefix == 1 else np.int64(little_endian(at, prefix))
            at += prefix
            if length > end - at:
                return np.int64(CORRUPT)
            at += length
        elif operation == KEY_INT:
            # an integer key as 64 bits that compare in order: sign-extended, or as it is, or biased (BIGINT UNSIGNED)
            width = load_i64(step + WIDTH)
            meta = load_i64(step + META)
            if width == 4:
                word = np.int64(load_i32(at)) if meta == 0 else np.int64(load_u32(at))
            elif width == 8:
                word = load_i64(at) ^ (np.int64(meta) << 63)
            else:
                word = np.int64(little_endian(at, width))
                if meta == 0:
                    sign = np.int64(1) << (8 * width - 1)
                    word = (word ^ sign) - sign
            store_i64(load_i64(step + VALUES) + 8 * row, word)
            at += width
        elif operation == WORD8:
            store_u64(load_i64(step + VALUES) + 8 * row, load_u64(at))
            at += 8
        elif operation == WORD1:
            store_u8(load_i64(step + VALUES) + row, load_u8(at))
            at += 1
        elif operation == WORD2:
            store_u16(load_i64(step + VALUES) + 2 * row, load_u16(at))
            at += 2
        elif operation == INT24:
            word = np.int32(little_endian(at, 3))
            store_i32(load_i64(step + VALUES) + 4 * row, (word ^ np.int32(0x800000)) - np.int32(0x800000))
            at += 3
        elif operation == DECIMAL_128:
            meta = load_i64(step + META)
            low, high, valid = decimal(at, meta >> 8, meta & 255)
            if not valid:
                return np.int64(CORRUPT)
            target = load_i64(step + VALUES) + 16 * row
            store_u64(target, low)
            store_u64(target + 8, high)
            at += load_i64(step + WIDTH)
        elif operation == UNSIGNED:
            # ENUM (2 bytes a value in Arrow) and SET (8)
            width = load_i64(step + WIDTH)
            word8 = little_endian(at, width)
            if load_i64(step + META) == 2:
                store_u16(load_i64(step + VALUES) + 2 * row, np.uint16(word8))
            else:
                store_u64(load_i64(step + VALUES) + 8 * row, word8)
            at += width
        elif operation == BITS:
            width = load_i64(step + WIDTH)
            store_u64(load_i64(step + VALUES) + 8 * row, big_endian(at, width))
            at += width
        elif operation == YEAR_NUMBER:
            year = np.uint16(load_u8(at))
            store_u16(load_i64(step + VALUES) + 2 * row, year + np.uint16(1900) if year else year)
            at += 1
        elif operation == FIXED:
            width = load_i64(step + WIDTH)
            copy_bytes(load_i64(step + VALUES) + width * row, at, width)
            at += width
        else:
            width = load_i64(step + WIDTH)
            meta = load_i64(step + META)
            if operation == DATETIME2_US:
                moment = datetime2(at, meta)
            elif operation == TIMESTAMP2_US:
                moment = timestamp2(at, meta)
            elif operation == DATE_DAYS:
                moment = date(at)
            elif operation == TIME2_US:
                moment = time2(at, meta)
            elif operation == OLD_TIMESTAMP_US:
                moment = old_timestamp(at, meta)
            elif operation == OLD_DATETIME_US:
                moment = old_datetime(at, width, meta)
            elif operation == OLD_TIME_US:
                moment = old_time(at, width, meta)
            else:
                return np.int64(CORRUPT)
            if moment == BAD_VALUE:
                return np.int64(CORRUPT)
            if operation == DATE_DAYS:
                no_dates += moment < BEFORE_ALL_DAYS
                store_i32(load_i64(step + VALUES) + 4 * row, np.int32(moment))
            else:
                no_dates += moment < _BEFORE_ALL_MOMENTS
                store_i64(load_i64(step + VALUES) + 8 * row, moment)
            at += width
        step += STEP_BYTES
    if no_dates:
        store_i64(zero_dates, load_i64(zero_dates) + no_dates)
    return at


@inline
def read_image(at, end, safe_end, program, row, zero_dates, no_nulls):
    """Decode the row image at `at` into output row `row`: the address after it, or CORRUPT or FULL.

    `no_nulls` is the address of 512 zero bytes: the NULL bitmap of a row without NULLs, for tables of 4096 columns.
    """
    present = load_i64(program + N_PRESENT)
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
        at = run_steps(at, end, safe_end, load_i64(program + STEPS), load_i64(program + N_STEPS), nulls, row,
                       zero_dates)
    else:
        at = run_steps(at, end, safe_end, load_i64(program + COMPACT), load_i64(program + N_COMPACT), no_nulls, row,
                       zero_dates)
    if at > 0:
        step = load_i64(program + MISSING)
        for _ in range(load_i64(program + N_MISSING)):
            mark_absent(step, row)
            step += STEP_BYTES
    return at
