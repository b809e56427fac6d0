# mypy: allow-untyped-defs, no-check-untyped-defs
"""Replaces updated documents with diffs (JD-TYPE, JD-WIRE)."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import read_bitmaps
from applier.jobs.rewrite.kernels.image_kernel import CORRUPT, add, find_values, has, is_same, length_of, set_value
from applier.jobs.rewrite.kernels.records import VALUE_BYTES, column_at, pair_at, state_at, table_at
from keysearch.memory import inline, kernel, load_i64, store_u8

_PLAIN, _PARTIAL_JSON = 0, 1


@inline
def changes_documents(before, after, columns, n_columns):
    """Return whether both images have a JSON column, by their bitmaps."""
    for column in range(n_columns):
        if column_at(columns, column).json >= 0 and has(before, column) and has(after, column):
            return True
    return False


@kernel
def find_documents(state_address, pairs, most):
    """Put the documents that the update at which a walk stopped changes into up to `most` records at `pairs`. Gives how
    many there are, also where that is more; -1 if a row is corrupt, which is found again when it is written."""
    state = state_at(state_address)
    start, stop, values = state.event, state.event_end, state.values
    table = table_at(state.tables, state.table)
    n_columns, before = read_bitmaps(start + state.header_bytes, stop, np.int64(event_header(start).type))
    after = before + ((n_columns + 7) >> 3)
    at, others = after + ((n_columns + 7) >> 3), values + 2 * VALUE_BYTES
    n, row = np.int64(0), np.int64(0)
    while at < stop:
        begin = at
        at = find_values(at, stop, before, table.columns, n_columns, values)
        if at != CORRUPT:
            at = find_values(at, stop, after, table.columns, n_columns, others)
        if at == CORRUPT or at == begin:
            return np.int64(-1)
        for column in range(n_columns):
            if column_at(table.columns, column).json < 0:
                continue
            old_length, new_length = length_of(values, column), length_of(others, column)
            if old_length >= 0 and new_length >= 0 and not is_same(values, others, column):
                if n < most:
                    pair = pair_at(pairs, n)
                    pair.row, pair.column = row, column
                    pair.old, pair.old_length = load_i64(values + 8 * column), old_length
                    pair.new, pair.new_length = load_i64(others + 8 * column), new_length
                n += 1
        row += 1
    state.n_rows = row
    return n


@inline
def put_diffs(to, row, pair, columns, json_bytes, state):
    """Put the value options of a row of PARTIAL_UPDATE_ROWS to `to`, and make its diffs the values of the image that
    was found; `pair` is the row's first one. The address after the options, and the next row's first pair."""
    bits, n_diffs = to + 1, np.int64(0)
    for i in range(json_bytes):
        store_u8(bits + i, np.uint8(0))
    while pair < state.n_pairs and pair_at(state.pairs, pair).row == row:
        known = pair_at(state.pairs, pair)
        if known.diffs:
            set_value(state.values, known.column, known.diffs, known.diffs_length)
            add(bits, column_at(columns, known.column).json)
            n_diffs += 1
        pair += 1
    store_u8(to, np.uint8(_PARTIAL_JSON if n_diffs else _PLAIN))
    return (bits + json_bytes if n_diffs else bits), pair
