"""Rows that cannot be restored, because another row has their primary or unique key now (UNDO-KEY)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.jobs.history.commits import NEVER
from applier.jobs.undo.later_changes import SAME_KEY
from applier.jobs.undo.rows_to_undo import RowsToUndo
from applier.jobs.undo.trace.row_keys import key_columns, row_keys, unique_keys


def leave_taken_keys(rows: RowsToUndo) -> bool:
    """Exclude the rows whose keys other rows have; return whether there are some.

    Only rows that a step made since the first chosen transaction can be in the way: all others existed together with
    the previous rows."""
    found, back, others, steps = False, rows.back, rows.others, rows.chains.steps
    if not len(back):
        return False
    for key in unique_keys(rows.table.definition):
        columns, prefixes = key_columns(rows.table.definition, key), [part.length for part in key.parts]
        codes = pa.concat_arrays([rows.keys_back(back, columns, prefixes), row_keys(
            rows.table, columns, prefixes, steps.units[others], steps.new[others])]).dictionary_encode().indices
        valid, numbers = np.asarray(codes.is_valid()), codes.fill_null(0).to_numpy()
        own, of_others = numbers[:len(back)], np.flatnonzero(valid[len(back):])
        holders = np.full(int(numbers.max(initial=-1)) + 1, -1)
        holders[numbers[len(back):][of_others]] = others[of_others]
        twice = np.bincount(own[valid[:len(back)]], minlength=len(holders)) > 1
        holder = holders[own]
        taken = np.flatnonzero(valid[:len(back)] & ((holder >= 0) | twice[own]))
        if len(taken):
            found = True
            came_back = (key.name == rows.own_key) & (rows.chains.now[back[taken]] < 0)
            for which, reason in ((came_back, SAME_KEY.format(key.name)),
                                  (~came_back, f"another row has its {key.name} now")):
                by_others = taken[which & (holder[taken] >= 0)]
                rows.leave(back[by_others], reason, steps.commits[holder[by_others]])
            of_undo = taken[holder[taken] < 0]
            rows.leave(back[of_undo], f"another row that comes back has the same {key.name}",
                       np.full(len(of_undo), NEVER))
    return found
