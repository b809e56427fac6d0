"""Rows that an SQL expression selects, as the project's evaluator computes it: by their values before or after the
transactions."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.columns.conditions import are_true
from applier.jobs.undo.trace.chains import Chains
from applier.jobs.undo.trace.traced_table import TracedTable


def chosen_rows(table: TracedTable, chains: Chains, where: str) -> np.ndarray:
    """Return which chains are of rows for which the expression is true, before or after: bool[n]. Raises UsageError."""
    steps, last = chains.steps, np.full(len(chains), -1)
    chosen = np.flatnonzero((chains.of_step >= 0) & steps.chosen)
    np.maximum.at(last, chains.of_step[chosen], chosen)
    found = np.zeros(len(chains), np.bool_)
    for units, pointers in ((chains.before_units, chains.before), (steps.units[last], steps.new[last])):
        there, done = np.flatnonzero(pointers >= 0), 0
        for read in table.read(units[there], pointers[there], np.full(len(there), -1), table.columns):
            rows = read.values.take(pa.array(read.before))
            found[there[done:done + rows.num_rows]] |= are_true(table.definition, rows, where)
            done += rows.num_rows
    return found
