# mypy: allow-untyped-defs, no-check-untyped-defs
"""Writes a rows event with fuller images: their missing columns (RW-FULL), and documents instead
of JSON diffs (RW-DOC).

An event has one bitmap for all of its before-images and one for its after-images. So a column is added to these only if
it is known for all rows of the event.
"""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.rows.change_records import DELETE, INSERT, UPDATE
from applier.jobs.rewrite.kernels.image_kernel import (
    CORRUPT,
    NO_DIFFS,
    add,
    diffs_at,
    find_values,
    has,
    length_of,
    put_image,
    remove,
    set_value,
)
from applier.jobs.rewrite.kernels.records import BITMAP_BYTES, VALUE_BYTES, WHOLE_DOCUMENTS, column_at, fill_at
from keysearch.memory import copy_bytes, inline, load_i64, store_u8

_UPDATE_ROWS = 31
BAD_ROWS, NO_ROOM = -3, -5
"""As rows_kernel has them."""


@inline
def put_whole_rows(start, stop, to, at, kind, n_columns, json_bytes, table, state):
    """Put the rows event in [start, stop) to `to`, its bitmaps are at `at`; as `put_rows`, and NO_ROOM, if there is not
    enough for what it becomes."""
    n_bytes = (n_columns + 7) >> 3
    before = at if kind != INSERT else np.int64(0)
    after = np.int64(0) if kind == DELETE else at + n_bytes if kind == UPDATE else at
    first = at + n_bytes * (2 if kind == UPDATE else 1)
    if _has_all(before, n_columns) and _has_all(after, n_columns) and (
            json_bytes < 0 or not state.completes & WHOLE_DOCUMENTS):
        return to
    fill = _first_fill(table, state)
    whole_before, whole_after = state.bitmaps, state.bitmaps + BITMAP_BYTES
    rows = _choose(first, stop, fill, before, after, json_bytes, table, n_columns, state)
    if rows == CORRUPT:
        return np.int64(BAD_ROWS)
    if rows == 0:
        if json_bytes < 0 or not state.completes & WHOLE_DOCUMENTS:
            return to
        return _put_without_options(start, stop, to, at, first, before, after, json_bytes, table, n_columns, state)
    table.next_fill = fill + rows
    makes_documents = json_bytes >= 0 and _has_documents(first, stop, fill, before, after, json_bytes, table, n_columns,
                                                         state)
    gets_more = _gets_more(before, whole_before, n_columns) or _gets_more(after, whole_after, n_columns)
    if not makes_documents and not gets_more:
        return to
    if state.wanted_bytes > state.room - state.used:
        table.next_fill = fill
        return np.int64(NO_ROOM)
    event = to
    to = copy_bytes(to, start, at - start)
    if makes_documents:
        event_header(event).type = np.uint8(_UPDATE_ROWS)
    if before:
        to = _put_bitmap(to, whole_before, n_columns, state)
    if after:
        to = _put_bitmap(to, whole_after, n_columns, state)
    values = state.values
    others = values + 2 * VALUE_BYTES
    at = first
    for row in range(fill, fill + rows):
        known = fill_at(table.fills, row).at
        from_before = known + 3 * n_bytes
        from_after = from_before
        if before:
            at = find_values(at, stop, before, table.columns, n_columns, values)
            from_after = _fill_values(from_before, known, before, values, table.columns, n_columns, state)
            to = put_image(to, whole_before, n_columns, values, state.is_mariadb)
        if after:
            diffs, images = diffs_at(at, stop, json_bytes)
            present = after
            if makes_documents:
                present = state.bitmaps + 2 * BITMAP_BYTES
                _without_diffs(present, after, diffs, table.columns, n_columns)
            else:
                options = to
                to = copy_bytes(to, at, images - at)
                if diffs != NO_DIFFS:
                    _keep_diffs(options + 1, after, table.columns, n_columns)
            at = find_values(images, stop, after, table.columns, n_columns, others)
            _fill_values(from_after, known + n_bytes, present, others, table.columns, n_columns, state)
            _take_same(known + 2 * n_bytes, after, values, others, n_columns)
            to = put_image(to, whole_after, n_columns, others, state.is_mariadb)
    return to


@inline
def _has_all(bitmap, n_columns):
    """Return whether a bitmap has all columns; there may be none (0)."""
    if bitmap:
        for column in range(n_columns):
            if not has(bitmap, column):
                return False
    return True


@inline
def _put_bitmap(to, bitmap, n_columns, state):
    """Write a bitmap as the server does: if all columns are present, MySQL has ones behind the last bit, too."""
    end = copy_bytes(to, bitmap, (n_columns + 7) >> 3)
    if n_columns & 7 and not state.is_mariadb and _has_all(bitmap, n_columns):
        store_u8(end - 1, np.uint8(255))
    return end


@inline
def _gets_more(bitmap, whole, n_columns):
    if bitmap:
        for column in range(n_columns):
            if has(whole, column) and not has(bitmap, column):
                return True
    return False


@inline
def _first_fill(table, state):
    """Return the number of the first record for the event: the next one with its position."""
    if table.fill_turn != state.turn:
        low, high = np.int64(0), table.n_fills
        while low < high:
            middle = (low + high) >> 1
            if fill_at(table.fills, middle).position < state.position:
                low = middle + 1
            else:
                high = middle
        table.next_fill, table.fill_turn = low, state.turn
    return table.next_fill


@inline
def _choose(at, stop, fill, before, after, json_bytes, table, n_columns, state):
    """Choose the columns that images get, in the state's bitmaps, and say what room the event takes then at most.
    The number of its rows; 0 where they are not all known, CORRUPT if one is."""
    n_bytes = (n_columns + 7) >> 3
    whole_before, whole_after = state.bitmaps, state.bitmaps + BITMAP_BYTES
    for i in range(n_bytes):
        store_u8(whole_before + i, np.uint8(0))
        store_u8(whole_after + i, np.uint8(0))
    is_empty_insert = before == 0 and at == stop
    for column in range(n_columns):
        add(whole_before, column)
        add(whole_after, column)
        is_empty_insert = is_empty_insert and not has(after, column)
    begin, rows, known_bytes = at, np.int64(0), np.int64(0)
    while at < stop or (is_empty_insert and rows == 0):  # an insert of no column at all takes no byte, and is one row
        if fill + rows >= table.n_fills:
            return np.int64(0)
        known = fill_at(table.fills, fill + rows)
        if known.position != state.position or known.row != rows:
            return np.int64(0)
        known_bytes += known.length
        row = at
        if before:
            at = find_values(at, stop, before, table.columns, n_columns, state.values)
        if after and at != CORRUPT:
            _, at = diffs_at(at, stop, json_bytes)
            if at != CORRUPT:
                at = find_values(at, stop, after, table.columns, n_columns, state.values)
        if at == CORRUPT or (at == row and at < stop):
            return np.int64(CORRUPT)
        of_before, of_after, same = known.at, known.at + n_bytes, known.at + 2 * n_bytes
        for column in range(n_columns):
            is_known = before != 0 and (has(before, column) or has(of_before, column))
            if not is_known:
                remove(whole_before, column)
            if after and not (has(after, column) or has(of_after, column) or (is_known and has(same, column))):
                remove(whole_after, column)
        rows += 1
    state.wanted_bytes = (stop - begin) * 2 + known_bytes * 2 + rows * 2 * n_bytes + (at - begin) + BITMAP_BYTES * 4
    return rows


@inline
def _fill_values(at, bitmap, present, values, columns, n_columns, state):
    """Add the values of the image at `at`, whose columns a bitmap says, to those of an image that has the `present`
    ones. The address after it."""
    found = state.values + 4 * VALUE_BYTES
    at = find_values(at, at + (np.int64(1) << 40), bitmap, columns, n_columns, found)
    for column in range(n_columns):
        if has(bitmap, column) and not has(present, column):
            set_value(values, column, load_i64(found + 8 * column), length_of(found, column))
    return at


@inline
def _take_same(same, present, values, others, n_columns):
    """Give the row after what it has of the row before."""
    for column in range(n_columns):
        if has(same, column) and not has(present, column):
            set_value(others, column, load_i64(values + 8 * column), length_of(values, column))


@inline
def _has_documents(at, stop, fill, before, after, json_bytes, table, n_columns, state):
    """Return whether all documents that an event has diffs of are known."""
    if not state.completes & WHOLE_DOCUMENTS:
        return False
    values, n_bytes = state.values, (n_columns + 7) >> 3
    while at < stop:
        at = find_values(at, stop, before, table.columns, n_columns, values)
        diffs, at = diffs_at(at, stop, json_bytes)
        of_after = fill_at(table.fills, fill).at + n_bytes
        for column in range(n_columns):
            if _is_diff(diffs, after, column, table.columns) and not has(of_after, column):
                return False
        at = find_values(at, stop, after, table.columns, n_columns, values)
        fill += 1
    return True


@inline
def _put_without_options(start, stop, to, at, first, before, after, json_bytes, table, n_columns, state):
    """Write an event in which no row has diffs as UPDATE_ROWS; leave another one unchanged."""
    row = first
    while row < stop:
        begin = row
        row = find_values(row, stop, before, table.columns, n_columns, state.values)
        if row == CORRUPT:
            return np.int64(BAD_ROWS)
        diffs, row = diffs_at(row, stop, json_bytes)
        if diffs != NO_DIFFS:
            return to
        if row != CORRUPT:
            row = find_values(row, stop, after, table.columns, n_columns, state.values)
        if row == CORRUPT or row == begin:
            return np.int64(BAD_ROWS)
    event, row = to, first
    to = copy_bytes(to, start, first - start)
    event_header(event).type = np.uint8(_UPDATE_ROWS)
    while row < stop:
        options = find_values(row, stop, before, table.columns, n_columns, state.values)
        to = copy_bytes(to, row, options - row)
        row = find_values(options + 1, stop, after, table.columns, n_columns, state.values)
        to = copy_bytes(to, options + 1, row - options - 1)
    return to


@inline
def _is_diff(diffs, after, column, columns):
    json = column_at(columns, column).json
    return diffs != NO_DIFFS and json >= 0 and has(after, column) and has(diffs, json)


@inline
def _without_diffs(present, after, diffs, columns, n_columns):
    """Put a bitmap of the columns of an after-image that are no diffs."""
    copy_bytes(present, after, (n_columns + 7) >> 3)
    for column in range(n_columns):
        if _is_diff(diffs, after, column, columns):
            remove(present, column)


@inline
def _keep_diffs(bits, after, columns, n_columns):
    """Leave no bit for a document that the after-image did not have: it gets all of it."""
    for column in range(n_columns):
        json = column_at(columns, column).json
        if json >= 0 and not has(after, column):
            remove(bits, json)
