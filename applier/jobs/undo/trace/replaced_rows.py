"""Rows that a transaction deletes and inserts again with the same key, as REPLACE and LOAD DATA … REPLACE are logged:
each counts as one changed row (UNDO-REPLACE)."""

from __future__ import annotations

import numpy as np

from applier.columns.table_key import table_key
from applier.jobs.undo.trace.row_keys import keys_by, unique_keys
from applier.jobs.undo.trace.traced_table import TracedTable


def replaced_rows(table: TracedTable) -> np.ndarray:
    """Return, for each step of a table that inserts such a row, the number of the step that deleted it: int64[n] (-1
    for all others). The key is the one that tells rows apart; without one, no row is the same row again."""
    steps, found = table.steps, np.full(len(table.steps), -1)
    key = table_key(table.definition)
    alone = steps.moves < 0
    deletes, inserts = alone & (steps.new < 0), alone & (steps.old < 0)
    numbers = np.flatnonzero((deletes | inserts) & np.isin(
        steps.commits, np.intersect1d(steps.commits[deletes], steps.commits[inserts])))
    if key is None or not len(numbers):
        return found
    [own] = [one for one in unique_keys(table.definition) if one.name == key.choice.name]
    is_delete = deletes[numbers]
    pointers = np.where(is_delete, steps.old[numbers], steps.new[numbers])
    codes = keys_by(table, own)(steps.units[numbers], pointers).dictionary_encode().indices.to_numpy()
    order = np.lexsort((numbers, codes, steps.commits[numbers]))
    first, second = order[:-1], order[1:]
    pairs = is_delete[first] & ~is_delete[second]
    for of_steps in (codes, steps.commits[numbers], steps.units[numbers]):
        pairs &= of_steps[first] == of_steps[second]
    found[numbers[second[pairs]]] = numbers[first[pairs]]
    return found
