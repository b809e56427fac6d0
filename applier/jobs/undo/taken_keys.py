"""Rows that cannot come back, since another row has their primary or unique key by now (UNDO-KEY)."""

from __future__ import annotations

import numpy as np

from applier.jobs.history.commits import NEVER
from applier.jobs.undo.row_keys import row_keys
from applier.jobs.undo.rows_to_undo import RowsToUndo
from applier.schema.definition import Key, TableDefinition


def leave_taken_keys(rows: RowsToUndo) -> bool:
    """Leave the rows whose keys others have; whether there are some.

    Only rows that a step made since the first chosen transaction can be in the way: all others were there beside the
    rows as they were before."""
    found, back, others, steps = False, rows.back, rows.others, rows.chains.steps
    if not len(back):
        return False
    units = np.concatenate([rows.chains.before_units[back], steps.units[others]])
    pointers = np.concatenate([rows.chains.before[back], steps.new[others]])
    for key in rows.table.definition.keys:
        if not _is_unique(key, rows.table.definition):
            continue
        columns = [rows.table.definition.column(part.column) for part in key.parts if part.column is not None]
        codes = row_keys(rows.table, columns, [part.length for part in key.parts], units,
                         pointers).dictionary_encode().indices
        valid, numbers = np.asarray(codes.is_valid()), codes.fill_null(0).to_numpy()
        own, of_others = numbers[:len(back)], np.flatnonzero(valid[len(back):])
        holders = np.full(int(numbers.max(initial=-1)) + 1, -1)
        holders[numbers[len(back):][of_others]] = others[of_others]
        twice = np.bincount(own[valid[:len(back)]], minlength=len(holders)) > 1
        holder = holders[own]
        taken = np.flatnonzero(valid[:len(back)] & ((holder >= 0) | twice[own]))
        if len(taken):
            found = True
            by = np.where(holder[taken] >= 0, steps.commits[holder[taken]], NEVER)
            rows.leave(back[taken], f"another row has its {key.name} now", by)
    return found


def _is_unique(key: Key, definition: TableDefinition) -> bool:
    """Whether rows must differ by it, and have its columns."""
    return key.kind in ("primary", "unique") and all(
        part.column is not None and definition.column(part.column) in definition.stored_columns for part in key.parts)
