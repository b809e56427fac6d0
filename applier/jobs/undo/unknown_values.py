"""Which values of an undo are not in the log: a row that is older than the log is known by its first before-image,
which may have missing columns (binlog_row_image=MINIMAL, NOBLOB).

Everything is computed twice, with NULL and with made-up values for unknown ones: a result that is the same both times
does not depend on them. Old values must be known; a row is found by the columns that are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from applier.errors import ReplayStopped, UndoRefused, UnsupportedEvent, UsageError
from applier.jobs.diff.merging import unequal_columns
from applier.jobs.diff.rows import INSERT, POSTIMAGE
from applier.jobs.undo.table_undo import TableUndo

_HINT = ("logs with binlog_row_image=MINIMAL or NOBLOB do not have the old values of rows that are older than the log, "
         "and the server has only the new ones: leave the row out with --where, or give a --base (a snapshot, or an "
         "imported dump) from the time when the log begins")


def with_known(tables: Sequence[TableUndo], make_others: Callable[[], Sequence[TableUndo]]) -> list[TableUndo]:
    """Return the first of two undos of the same transactions, marked with the unknown values of its rows. Raises
    UnsupportedEvent if more is unknown than the columns that find rows."""
    try:
        others = make_others()
    except (UndoRefused, ReplayStopped):  # made-up values are in each other's way, or in that of others
        raise _depends(*tables[:1]) from None
    by_name = {one.definition.full_name: one for one in others}
    if by_name.keys() != {one.definition.full_name for one in tables}:
        raise _depends(*tables[:1])
    return [replace(one, unknown=_unknown(one, by_name[one.definition.full_name])) for one in tables]


def check_format(tables: Sequence[TableUndo], form: str) -> None:
    """Raise UsageError for events of rows with unknown values."""
    for one in tables:
        if form == "binlog" and one.unknown is not None:
            raise UsageError("the log does not have all columns of the rows that change, and events have whole rows",
                             table=one.definition.full_name,
                             hint="--server reads the columns that did not change; --format sql finds rows by what is "
                                  "known of them")


def notes_on_unknown(tables: Sequence[TableUndo]) -> list[str]:
    """Return lines that say which rows are found by less than all of their values."""
    found = []
    for one in tables:
        if one.unknown is not None:
            stored = one.definition.stored_columns
            names = [stored[number].name for number in np.flatnonzero(np.any(one.unknown, axis=0))]
            found.append(f"the log does not have all columns of {one.definition.full_name}: rows are found without "
                         f"comparing {', '.join(names)} where these are unknown, and these stay as they are")
    return found


def _unknown(one: TableUndo, other: TableUndo) -> np.ndarray | None:
    """Return which stored columns of which rows are unknown, bool[rows, columns]; None if all are known."""
    if (one.inserted, one.deleted, one.updated) != (other.inserted, other.deleted, other.updated):
        raise _depends(one)
    if not one.rows:
        return None
    rows, same = (pa.Table.from_batches(list(undo.batches())) for undo in (one, other))
    columns = [column.name for column in one.definition.stored_columns]
    if not all(rows.column(name).equals(same.column(name)) for name in ("_change_type", "_changed")):
        raise _depends(one)
    sides = [_batch(table.select(columns)) for table in (rows, same)]
    everywhere = np.arange(rows.num_rows)
    unequal = unequal_columns(sides[0], everywhere, sides[1], everywhere)
    if not unequal.any():
        return None
    kinds = rows.column("_change_type").combine_chunks().indices.to_numpy()
    wanted = np.repeat(kinds == INSERT, len(columns)).reshape(unequal.shape)
    lists = rows.column("_changed").combine_chunks()
    for row in np.flatnonzero((kinds == POSTIMAGE) & unequal.any(axis=1)).tolist():
        wanted[row] = np.isin(columns, lists[row].as_py())
    if (lost := np.argwhere(unequal & wanted)).size:
        row, number = lost[0].tolist()
        named = ", ".join(f"{name}={sides[0].column(name)[row]}" for name in one.key)
        raise UnsupportedEvent(f"the log does not say what column {columns[number]} of row {named} was before",
                               table=one.definition.full_name, hint=_HINT)
    after = np.flatnonzero(kinds == POSTIMAGE)
    unequal[after] = unequal[after - 1]  # the same row, in its current form
    return unequal


def _batch(table: pa.Table) -> pa.RecordBatch:
    [batch] = table.combine_chunks().to_batches()
    return batch


def _depends(*tables: TableUndo) -> UnsupportedEvent:
    return UnsupportedEvent("which rows are undone depends on values that the log does not have",
                            table=tables[0].definition.full_name if tables else None, hint=_HINT)
