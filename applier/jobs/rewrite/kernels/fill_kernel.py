# mypy: allow-untyped-defs, no-check-untyped-defs
"""Assembles the missing columns of images from their sources (records.SOURCES): other images of the log, or memory."""

import numpy as np

from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.jobs.rewrite.kernels.image_kernel import CORRUPT, add, find_values, length_of, put_image, remove, set_value
from applier.jobs.rewrite.kernels.records import ABSENT, IN_IMAGE, VALUE_BYTES, fill_at, sources_at
from keysearch.memory import inline, kernel, load_i64, load_u8

_ADDRESS = (np.int64(1) << IMAGE_ID_SHIFT) - 1
_FAR = np.int64(1) << 40
"""More than an image has: its event was checked when it was walked."""


@kernel
def put_fills(sources_address, first):
    """Assemble the missing parts of the images of changes from the number `first` on, each with its record, whose
    position and row are set. Returns the number of the first change for which there is no room, or the number of
    changes."""
    sources = sources_at(sources_address)
    n, n_columns, n_bytes = sources.n, sources.n_columns, (sources.n_columns + 7) >> 3
    values = sources.values
    for change in range(first, n):
        n_values = sources.used
        to = sources.out + n_values
        length = 5 * n_bytes
        for image in range(2):
            length += _find(sources, image * n + change, values + image * 2 * VALUE_BYTES)
        if length > sources.room - n_values:
            return change
        same = sources.same + change * n_columns
        for column in range(n_columns):
            _mark(to, column, length_of(values, column) > _NOT_THERE)
            _mark(to + n_bytes, column, length_of(values + 2 * VALUE_BYTES, column) > _NOT_THERE)
            _mark(to + 2 * n_bytes, column, load_u8(same + column) != 0)
        end = put_image(to + 3 * n_bytes, to, n_columns, values, np.int64(0))
        end = put_image(end, to + n_bytes, n_columns, values + 2 * VALUE_BYTES, np.int64(0))
        fill = fill_at(sources.fills, change)
        fill.at, fill.length = n_values, end - to
        sources.used = n_values + end - to
    return n


_NOT_THERE = -2


@inline
def _mark(bitmap, column, is_set):
    if is_set:
        add(bitmap, column)
    else:
        remove(bitmap, column)


@inline
def _find(sources, row, values):
    """Find the values of a row of the arrays by image and change; their bytes in all."""
    n_columns, n_bytes = sources.n_columns, (sources.n_columns + 7) >> 3
    kinds, at = sources.kinds + row * n_columns, row * n_columns * 8
    found = sources.values + 4 * VALUE_BYTES
    image, total = np.int64(-1), np.int64(0)
    for column in range(n_columns):
        kind, where = load_u8(kinds + column), load_i64(sources.where + at + 8 * column)
        length = np.int64(_NOT_THERE)
        if kind == IN_IMAGE:
            if where != image:
                image = where
                layout = sources.layouts + (where >> IMAGE_ID_SHIFT) * n_bytes
                address = where & _ADDRESS
                find_values(address, address + _FAR, layout, sources.columns, n_columns, found)
            length = length_of(found, column)
            where = load_i64(found + 8 * column)
        elif kind != ABSENT:
            length = load_i64(sources.lengths + at + 8 * column)
        set_value(values, column, where, length)
        total += max(length, np.int64(0))
    return total


@kernel
def find_column(pointers, column, layouts, columns, n_columns, values, addresses, lengths):
    """Find a column's values in images: their addresses, and lengths with the prefix (-1: NULL, -2: not there)."""
    n_bytes = (n_columns + 7) >> 3
    for i in range(pointers.shape[0]):
        address = pointers[i] & _ADDRESS
        layout = layouts + (pointers[i] >> IMAGE_ID_SHIFT) * n_bytes
        if find_values(address, address + _FAR, layout, columns, n_columns, values) == CORRUPT:
            return i
        addresses[i], lengths[i] = load_i64(values + 8 * column), length_of(values, column)
    return pointers.shape[0]
