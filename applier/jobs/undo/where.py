"""Rows that an expression chooses, in SQL, as the project's evaluator computes it: of what they were before the
transactions, or what these made of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable, UsageError
from applier.jobs.undo.chains import Chains
from applier.jobs.undo.traced_table import TracedTable
from applier.mysql.session import Session
from applier.mysql.zero_dates import as_nulls
from applier.sql.evaluator import Typed, evaluate


def chosen_rows(table: TracedTable, chains: Chains, where: str) -> np.ndarray:
    """Which chains are of rows for which the expression is true, before or after: bool[n]. Raises UsageError."""
    steps, last = chains.steps, np.full(len(chains), -1)
    chosen = np.flatnonzero((chains.of_step >= 0) & steps.chosen)
    np.maximum.at(last, chains.of_step[chosen], chosen)
    found = np.zeros(len(chains), np.bool_)
    for units, pointers in ((chains.before_units, chains.before), (steps.units[last], steps.new[last])):
        there, done = np.flatnonzero(pointers >= 0), 0
        for read in table.read(units[there], pointers[there], np.full(len(there), -1), table.columns):
            rows = read.values.take(pa.array(read.before))
            found[there[done:done + rows.num_rows]] |= _are_true(table, rows, where)
            done += rows.num_rows
    return found


def _are_true(table: TracedTable, rows: pa.Table, where: str) -> np.ndarray:
    columns = {column.name.casefold(): column for column in table.definition.stored_columns}

    def column(name: str) -> Typed:
        known = columns[name.casefold()]
        return as_nulls(rows.column(known.name)), known.type

    session = Session(flavour=table.definition.flavour, time_zone="+00:00")
    try:
        values = evaluate(where, column, rows.num_rows, session).of_rows(rows.num_rows)
    except NotComputable as error:
        raise UsageError(f"the rows of --where cannot be told: {error.message}", table=table.definition.full_name,
                         hint="name columns of this table, and choose it with --tables if there are others") from None
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if not (pa.types.is_decimal(whole.type) or pa.types.is_primitive(whole.type)):
        raise UsageError("--where is neither true nor false", hint="compare columns with values, as in n = 5")
    are: np.ndarray = np.asarray(pc.not_equal(whole.cast(pa.float64()), 0.0).fill_null(False))
    return are
