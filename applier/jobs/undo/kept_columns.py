"""For rows that others have changed since: the columns that they changed, which keep the values that others gave them
(UNDO-BACK)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa

from applier.jobs.diff.merging import unequal_columns
from applier.jobs.guarded_sql.table_statements import columns_of_unique_keys
from applier.jobs.undo.trace.chains import Chains, RowSteps
from applier.jobs.undo.trace.traced_table import TracedTable

GivenValues: TypeAlias = dict[str, tuple[np.ndarray, pa.Array]]
"""Values that columns get instead of the previous ones, by name: of which of n chains, bool[n], and n values."""


def kept_columns(table: TracedTable, chains: Chains) -> tuple[np.ndarray, np.ndarray, GivenValues]:
    """Of n chains: which rows can be undone except for columns that others changed (bool[n]); these columns, as they
    are now (bool[n, columns]); and the values that others gave columns which chosen transactions changed again later.
    Rows cannot that were made or deleted by the transactions or since, and those that others gave another key, also of
    another table."""
    steps, n = chains.steps, len(chains)
    known = chains.of_step >= 0
    by_others = np.flatnonzero(known & ~steps.chosen)
    by_others = by_others[by_others > chains.first[chains.of_step[by_others]]]
    first = np.where(steps.replaces >= 0, steps.replaces, np.arange(len(steps)))
    changes = by_others[(steps.old[first[by_others]] >= 0) & (steps.new[by_others] >= 0)]
    last, done = np.full((n, len(table.columns)), -1), 0
    for read in table.read(steps.units[changes], steps.old[first[changes]], steps.new[changes], table.columns):
        values = read.values.combine_chunks()
        [rows] = values.to_batches()
        part = changes[done:done + len(read.steps)]
        changed = unequal_columns(rows, read.before, rows, read.after)
        np.maximum.at(last, chains.of_step[part], np.where(changed, part[:, None], -1))
        done += len(read.steps)
    kept = last >= 0
    keys = columns_of_unique_keys(table.definition) | {
        name for key in table.definition.foreign_keys for name in key.columns}
    in_keys = np.array([name in keys for name in table.columns], np.bool_)
    can_be = chains.touched_later & (chains.before >= 0) & (chains.now >= 0) & ~kept[:, in_keys].any(axis=1)
    can_be &= chains.before_units == chains.now_units
    chosen, last_chosen = np.flatnonzero(known & steps.chosen), np.full(n, -1)
    np.maximum.at(last_chosen, chains.of_step[chosen], chosen)
    again = kept & can_be[:, None] & (last < last_chosen[:, None])
    return can_be, kept & ~again, _values_after(table, steps, last, again)


def _values_after(table: TracedTable, steps: RowSteps, last: np.ndarray, wanted: np.ndarray) -> GivenValues:
    """The values of columns after these steps (the numbers of steps, and where they are wanted: [n, columns])."""
    found: GivenValues = {}
    for number, name in enumerate(table.columns):
        is_wanted = wanted[:, number]
        if is_wanted.any():
            made = last[is_wanted, number]
            values = pa.chunked_array([chunk for read in table.read(
                steps.units[made], np.full(len(made), -1), steps.new[made], [name])
                for chunk in read.values.column(0).take(pa.array(read.after)).chunks]).combine_chunks()
            found[name] = is_wanted, values.take(pa.array(np.cumsum(is_wanted) - 1, mask=~is_wanted))
    return found
