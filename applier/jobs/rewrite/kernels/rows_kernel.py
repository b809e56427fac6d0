# mypy: allow-untyped-defs, no-check-untyped-defs
"""Writes a rows event with smaller images (IMG-U, IMG-D), or with fuller ones (whole_rows_kernel).

An event has one bitmap for all of its before-images and one for its after-images. So a column stays in these if one row
of the event needs it there.
"""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import read_bitmaps, table_id_at
from applier.binlog.rows.change_records import INSERT, UPDATE
from applier.binlog.rows.rows_event_kernel import ALL_ONES, DUMMY_TABLE_ID, rows_kind
from applier.binlog.rows.table_ids_kernel import id_entry
from applier.jobs.rewrite.kernels.documents_kernel import changes_documents, put_diffs
from applier.jobs.rewrite.kernels.image_kernel import (
    CORRUPT,
    NO_DIFFS,
    add,
    diffs_at,
    find_values,
    has,
    is_same,
    put_image,
)
from applier.jobs.rewrite.kernels.records import BITMAP_BYTES, VALUE_BYTES, column_at, table_at
from applier.jobs.rewrite.kernels.whole_rows_kernel import put_whole_rows
from keysearch.memory import copy_bytes, inline, load_u8, store_u8

_UPDATE_ROWS, _PARTIAL_UPDATE = 31, 39
BAD_LENGTH, UNKNOWN_TABLE, BAD_ROWS, NEED_DIFFS, NO_ROOM = -1, -2, -3, -4, -5
"""The error in an event, or the missing information, instead of an address."""


@inline
def put_rows(start, stop, to, state):
    """Write the rows event in [start, stop), which has no checksum there, to `to`, where there is room for it
    unchanged. Returns the address after the output: `to` if the event stays unchanged, below 0 an error."""
    body, event_type = start + state.header_bytes, np.int64(event_header(start).type)
    if stop - body < 8:
        return np.int64(BAD_LENGTH)
    entry = id_entry(state.ids, state.ids_mask, table_id_at(body))
    if entry.id == -1:
        is_dummy = table_id_at(body) == DUMMY_TABLE_ID or table_id_at(body) == ALL_ONES
        return to if is_dummy else np.int64(UNKNOWN_TABLE)
    state.table = entry.table
    table, kind = table_at(state.tables, entry.table), rows_kind(event_type)
    if table.wanted == 0 or (kind == INSERT and not state.completes):
        return to
    n_columns, at = read_bitmaps(body, stop, event_type)
    if at == 0 or n_columns != table.n_columns:
        return np.int64(BAD_ROWS)
    json_bytes = (table.n_json + 7) >> 3 if event_type == _PARTIAL_UPDATE else np.int64(-1)
    if state.completes:
        return put_whole_rows(start, stop, to, at, kind, n_columns, json_bytes, table, state)
    n_bytes = (n_columns + 7) >> 3
    before, after = at, at + n_bytes if kind == UPDATE else np.int64(0)
    first = at + n_bytes * (2 if kind == UPDATE else 1)
    less_before = state.bitmaps
    less_after = less_before + BITMAP_BYTES
    _choose_before(before, less_before, table.columns, n_columns)
    if kind == UPDATE:
        if not _choose_after(first, stop, before, after, less_after, table.columns, n_columns, json_bytes,
                             state.values):
            return np.int64(BAD_ROWS)
        if state.makes_diffs and event_type == _UPDATE_ROWS and state.pairs_of != start and changes_documents(
                before, less_after, table.columns, n_columns):
            state.event_end = stop
            return np.int64(NEED_DIFFS)
    has_diffs = state.pairs_of == start and state.n_pairs > 0
    is_less = has_diffs or not _same_columns(before, less_before, n_columns)
    if kind == UPDATE:
        is_less |= not _same_columns(after, less_after, n_columns)
    if not is_less:
        return to
    event = to
    to = copy_bytes(to, start, at - start)
    if has_diffs:
        event_header(event).type = np.uint8(_PARTIAL_UPDATE)
    to = copy_bytes(to, less_before, n_bytes)
    if kind == UPDATE:
        to = copy_bytes(to, less_after, n_bytes)
    at, row, pair = first, np.int64(0), np.int64(0)
    while at < stop:
        begin = at
        at = find_values(at, stop, before, table.columns, n_columns, state.values)
        if at != CORRUPT:
            to = put_image(to, less_before, n_columns, state.values, state.is_mariadb)
        if kind == UPDATE and at != CORRUPT:
            _, images = diffs_at(at, stop, json_bytes)
            if images != CORRUPT:
                to = copy_bytes(to, at, images - at)
                at = find_values(images, stop, after, table.columns, n_columns, state.values)
            else:
                at = images
            if has_diffs and at != CORRUPT:
                to, pair = put_diffs(to, row, pair, table.columns, (table.n_json + 7) >> 3, state)
            if at != CORRUPT:
                to = put_image(to, less_after, n_columns, state.values, state.is_mariadb)
        if at == CORRUPT or at == begin:
            return np.int64(BAD_ROWS)
        row += 1
    return to


@inline
def _same_columns(one, other, n_columns):
    """Return whether two bitmaps have the same columns; bits behind the last one say nothing."""
    for column in range(n_columns):
        if has(one, column) != has(other, column):
            return False
    return True


@inline
def _copy_bitmap(to, bitmap, n_columns):
    copy_bytes(to, bitmap, (n_columns + 7) >> 3)


@inline
def _clear(bitmap, n_columns):
    for i in range((n_columns + 7) >> 3):
        store_u8(bitmap + i, np.uint8(0))


@inline
def _choose_before(before, less, columns, n_columns):
    """Choose the columns of before-images: those of the key, if they have all of it, and the wanted ones."""
    _clear(less, n_columns)
    for column in range(n_columns):
        known = column_at(columns, column)
        if known.key and not has(before, column):
            _copy_bitmap(less, before, n_columns)
            return
        if (known.key or known.before) and has(before, column):
            add(less, column)


@inline
def _choose_after(at, stop, before, after, less, columns, n_columns, json_bytes, values):
    """Choose the columns of after-images: those that some row has changed, or whose value before is unknown, and the
    wanted ones. If none is needed, those of the key stay, so that there is an image. False if a row is corrupt."""
    _clear(less, n_columns)
    open_columns = np.int64(0)
    for column in range(n_columns):
        if has(after, column):
            if column_at(columns, column).after or not has(before, column):
                add(less, column)
            else:
                open_columns += 1
    others = values + 2 * VALUE_BYTES
    n_open = open_columns
    while at < stop and n_open:
        begin = at
        at = find_values(at, stop, before, columns, n_columns, values)
        if at == CORRUPT:
            return False
        diffs, at = diffs_at(at, stop, json_bytes)
        if at == CORRUPT:
            return False
        at = find_values(at, stop, after, columns, n_columns, others)
        if at == CORRUPT or at == begin:
            return False
        for column in range(n_columns):
            if has(after, column) and not has(less, column):
                json = column_at(columns, column).json
                if (diffs != NO_DIFFS and json >= 0 and has(diffs, json)) or not is_same(values, others, column):
                    add(less, column)
                    n_open -= 1
    for i in range((n_columns + 7) >> 3):
        if load_u8(less + i):
            return True
    for column in range(n_columns):
        if column_at(columns, column).key and has(after, column):
            add(less, column)
    for i in range((n_columns + 7) >> 3):
        if load_u8(less + i):
            return True
    _copy_bitmap(less, after, n_columns)
    return True
