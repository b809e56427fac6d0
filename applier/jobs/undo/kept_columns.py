"""For rows that others have changed since: the columns that they changed, which keep their values (UNDO-BACK)."""

from __future__ import annotations

import numpy as np

from applier.jobs.diff.merging import unequal_columns
from applier.jobs.guarded_sql.table_statements import columns_of_unique_keys
from applier.jobs.undo.trace.chains import Chains
from applier.jobs.undo.trace.traced_table import TracedTable


def kept_columns(table: TracedTable, chains: Chains) -> tuple[np.ndarray, np.ndarray]:
    """Return, for n chains, which rows can be undone except for columns that others changed (bool[n]), and these
    columns (bool[n, columns]). Rows that were inserted or deleted by the transactions or later are not among them, nor
    rows that others gave another key, also in another table."""
    steps, n = chains.steps, len(chains)
    known = chains.of_step >= 0
    by_others = np.flatnonzero(known & ~steps.chosen)
    by_others = by_others[by_others > chains.first[chains.of_step[by_others]]]
    first = np.where(steps.replaces >= 0, steps.replaces, np.arange(len(steps)))
    changes = by_others[(steps.old[first[by_others]] >= 0) & (steps.new[by_others] >= 0)]
    kept, done = np.zeros((n, len(table.columns)), np.bool_), 0
    for read in table.read(steps.units[changes], steps.old[first[changes]], steps.new[changes], table.columns):
        values = read.values.combine_chunks()
        [rows] = values.to_batches()
        of_chain = chains.of_step[changes[done:done + len(read.steps)]]
        np.logical_or.at(kept, of_chain, unequal_columns(rows, read.before, rows, read.after))
        done += len(read.steps)
    keys = columns_of_unique_keys(table.definition) | {
        name for key in table.definition.foreign_keys for name in key.columns}
    in_keys = np.array([name in keys for name in table.columns], np.bool_)
    can_be = chains.touched_later & (chains.before >= 0) & (chains.now >= 0) & ~kept[:, in_keys].any(axis=1)
    can_be &= chains.before_units == chains.now_units
    return can_be, kept
