"""Rows that cannot go, since others refer to them by now, or cannot come back, since what they refer to is gone.

Foreign keys held before the chosen transactions. So what breaks them has happened since: a row that was made since
refers to one that is to go, or a row that was there since is gone that one refers to which is to come back (UNDO-REF).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.history.commits import NEVER
from applier.jobs.undo.row_keys import row_keys
from applier.jobs.undo.rows_to_undo import RowsToUndo
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import Column, TableDefinition
from applier.schema.foreign_keys import ForeignKey


def leave_broken_references(tables: Mapping[TableName, RowsToUndo]) -> bool:
    """Leave the rows of these tables that foreign keys between them keep from being undone; whether there are some."""
    found = False
    for rows in tables.values():
        for key in rows.table.definition.foreign_keys:
            if (parents := tables.get((key.database, key.table))) is not None:
                found |= _leave(rows, parents, key)
    return found


def _leave(children: RowsToUndo, parents: RowsToUndo, key: ForeignKey) -> bool:
    own, referenced = _columns(children.table.definition, parents.table.definition, key)
    if not own:
        return False
    gone = _gone(parents, referenced)
    if not len(gone):
        return False
    found = False
    back = children.back
    lost = np.flatnonzero(_are_in(_keys(children, own, children.chains.before_units[back],
                                        children.chains.before[back]), gone))
    if len(lost):
        found = True
        children.leave(back[lost], f"its row of {parents.table.definition.full_name} is gone",
                       np.full(len(lost), NEVER))
    others, steps = children.others, children.chains.steps
    refer = _keys(children, own, steps.units[others], steps.new[others])
    leaving = np.flatnonzero(parents.undone & (parents.chains.now >= 0))
    now = _keys(parents, referenced, parents.chains.now_units[leaving], parents.chains.now[leaving])
    used = pc.index_in(now, value_set=refer, skip_nulls=True)
    kept = np.flatnonzero(np.asarray(used.is_valid()) & _are_in(now, gone))
    if len(kept):
        found = True
        by = steps.commits[others[used.take(pa.array(kept)).to_numpy()]]
        parents.leave(leaving[kept], f"rows of {children.table.definition.full_name} refer to it now", by)
    return found


def _columns(child: TableDefinition, parent: TableDefinition,
             key: ForeignKey) -> tuple[list[Column], list[Column]]:
    """The columns of both sides; none where rows do not have them."""
    primary = () if parent.primary_key is None else parent.primary_key.parts
    names = key.referenced or tuple(part.column or "" for part in primary)
    found = [[column for name in of_side for column in definition.stored_columns
              if column.name.casefold() == name.casefold()]
             for definition, of_side in ((child, key.columns), (parent, names))]
    return (found[0], found[1]) if len(found[0]) == len(found[1]) == len(key.columns) else ([], [])


def _gone(parents: RowsToUndo, columns: list[Column]) -> pa.Array:
    """The keys that rows had since the first chosen transaction, and that none has afterwards."""
    chains, steps = parents.chains, parents.chains.steps
    ended, leaving = np.flatnonzero(steps.old >= 0), np.flatnonzero(parents.undone & (chains.now >= 0))
    back, others = parents.back, parents.others
    had = _keys(parents, columns, np.concatenate([steps.units[ended], chains.now_units[leaving]]),
                np.concatenate([steps.old[ended], chains.now[leaving]]))
    have = _keys(parents, columns, np.concatenate([chains.before_units[back], steps.units[others]]),
                 np.concatenate([chains.before[back], steps.new[others]]))
    had = had.unique().drop_null()
    return had.filter(pc.invert(pc.is_in(had, value_set=have)))


def _keys(rows: RowsToUndo, columns: list[Column], units: np.ndarray, pointers: np.ndarray) -> pa.Array:
    return row_keys(rows.table, columns, [None] * len(columns), units, pointers)


def _are_in(keys: pa.Array, values: pa.Array) -> np.ndarray:
    return np.asarray(pc.and_(keys.is_valid(), pc.is_in(keys, value_set=values)))
