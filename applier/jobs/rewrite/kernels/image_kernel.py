# mypy: allow-untyped-defs, no-check-untyped-defs
"""Finds the values of a row image, and copies them into another one with fewer columns.

An image is a bitmap of NULLs, a bit for each column that is present, and the values one after another.
"""

import numpy as np

from applier.binlog.rows.value_kernel import little_endian
from applier.jobs.rewrite.kernels.records import VALUE_BYTES, column_at
from applier.kernels.byte_strings import same_bytes
from keysearch.memory import copy_bytes, inline, load_i64, load_u8, store_i64, store_u8

CORRUPT = -1
NO_DIFFS = 0
_NULL, _ABSENT = -1, -2
_PARTIAL_JSON = 1


@inline
def has(bitmap, column):
    """Return whether a bitmap has a column's bit."""
    return load_u8(bitmap + (column >> 3)) >> (column & 7) & 1 != 0


@inline
def add(bitmap, column):
    """Set a column's bit."""
    at = bitmap + (column >> 3)
    store_u8(at, np.uint8(load_u8(at) | np.uint8(1 << (column & 7))))


@inline
def remove(bitmap, column):
    """Clear a column's bit."""
    at = bitmap + (column >> 3)
    store_u8(at, np.uint8(load_u8(at) & ~(1 << (column & 7))))


@inline
def length_of(values, column):
    """The length of a value that was found, with its prefix; below 0 for NULL and for a column that does not exist."""
    return load_i64(values + VALUE_BYTES + 8 * column)


@inline
def set_value(values, column, address, length):
    """Put another value, with its prefix, instead of one that was found."""
    store_i64(values + 8 * column, address)
    store_i64(values + VALUE_BYTES + 8 * column, length)


@inline
def find_values(at, stop, present, columns, n_columns, values):
    """Find the values of the image at `at`, whose columns a bitmap says: where each begins, and how long it is, in two
    arrays at `values`. The address after it, or CORRUPT."""
    n_present = np.int64(0)
    for column in range(n_columns):
        n_present += has(present, column)
    nulls = at
    if (n_present + 7) >> 3 > stop - at:
        return np.int64(CORRUPT)
    at += (n_present + 7) >> 3
    bit = np.int64(0)
    for column in range(n_columns):
        length = np.int64(_ABSENT)
        if has(present, column):
            length = np.int64(_NULL)
            if not has(nulls, bit):
                known = column_at(columns, column)
                prefix, length = known.prefix, known.width
                if prefix > stop - at:
                    return np.int64(CORRUPT)
                if prefix:
                    length = np.int64(little_endian(at, prefix))
                    if length > stop - at - prefix:
                        return np.int64(CORRUPT)
                    length += prefix
                if length > stop - at:
                    return np.int64(CORRUPT)
                store_i64(values + 8 * column, at)
                at += length
            bit += 1
        store_i64(values + VALUE_BYTES + 8 * column, length)
    return at


@inline
def is_same(before, after, column):
    """Return whether a column has the same bytes in two images, and is in both."""
    length = length_of(before, column)
    if length != length_of(after, column) or length == _ABSENT:
        return False
    return length == _NULL or same_bytes(load_i64(before + 8 * column), load_i64(after + 8 * column), length)


@inline
def put_image(to, present, n_columns, values, unused):
    """Put an image with these columns to `to`; the address after it. `unused` is 1 if the bits behind the last NULL's
    are ones, as MariaDB has them, else 0."""
    n_present = np.int64(0)
    for column in range(n_columns):
        n_present += has(present, column)
    nulls = to
    for i in range((n_present + 7) >> 3):
        store_u8(to + i, np.uint8(255))
    if n_present & 7 and not unused:
        store_u8(to + (n_present >> 3), np.uint8((1 << (n_present & 7)) - 1))
    to += (n_present + 7) >> 3
    bit = np.int64(0)
    for column in range(n_columns):
        if has(present, column):
            length = length_of(values, column)
            if length >= 0:
                at = nulls + (bit >> 3)
                store_u8(at, np.uint8(load_u8(at) & ~(1 << (bit & 7))))
                to = copy_bytes(to, load_i64(values + 8 * column), length)
            bit += 1
    return to


@inline
def diffs_at(at, stop, json_bytes):
    """Return the options between the images of a row of PARTIAL_UPDATE_ROWS (JD-TYPE): the bitmap of JSON columns with
    diffs, if there is one, and the address of the image after it, or CORRUPT; other events (-1 `json_bytes`) have
    none."""
    if json_bytes < 0:
        return np.int64(NO_DIFFS), at
    if at >= stop or load_u8(at) > _PARTIAL_JSON:
        return np.int64(NO_DIFFS), np.int64(CORRUPT)
    if load_u8(at) != _PARTIAL_JSON:
        return np.int64(NO_DIFFS), at + 1
    if json_bytes > stop - at - 1:
        return np.int64(NO_DIFFS), np.int64(CORRUPT)
    return at + 1, at + 1 + json_bytes
