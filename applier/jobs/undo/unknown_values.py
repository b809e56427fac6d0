"""Which values of an undo are not in the log: a row that is older than the log is known by its first before-image, which
may lack columns (binlog_row_image=MINIMAL, NOBLOB). All that is made of rows is made twice, with NULL and with another
value for what is unknown: what is the same both times does not depend on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from applier.errors import UnsupportedEvent
from applier.jobs.diff.merging import unequal_columns
from applier.jobs.diff.rows import INSERT, POSTIMAGE
from applier.jobs.undo.table_undo import TableUndo

_HINT = ("logs with binlog_row_image=MINIMAL or NOBLOB do not have the old values of rows that are older than the log, and "
         "the server has them no longer: leave the row out with --where, or give a --base (a snapshot, or an imported "
         "dump) from the time when the log begins")


def check_known(tables: Sequence[TableUndo], others: Sequence[TableUndo]) -> None:
    """Raise UnsupportedEvent where these two undos of the same transactions are not the same."""
    by_name = {one.definition.full_name: one for one in others}
    for one in tables:
        other = by_name.pop(one.definition.full_name, None)
        if other is None:
            raise _unknown(one)
        _check(one, other)
    for other in by_name.values():
        raise _unknown(other)


def _check(one: TableUndo, other: TableUndo) -> None:
    rows, same = (pa.Table.from_batches(list(undo.batches())) for undo in (one, other))
    kinds, columns = rows.column("_change_type"), [column.name for column in one.definition.stored_columns]
    if not kinds.equals(same.column("_change_type")):
        raise _unknown(one)
    if not rows.num_rows:
        return
    sides = [_batch(table.select(columns)) for table in (rows, same)]
    everywhere = np.arange(rows.num_rows)
    unequal = unequal_columns(sides[0], everywhere, sides[1], everywhere)
    if not unequal.any():
        return
    comes = np.isin(kinds.combine_chunks().indices.to_numpy(), [INSERT, POSTIMAGE])
    row = int(np.lexsort([~unequal.any(axis=1) | ~comes, ~unequal.any(axis=1)])[0])
    column = columns[int(np.flatnonzero(unequal[row])[0])]
    named = ", ".join(f"{name}={sides[0].column(name)[row]}" for name in one.key)
    what = "was before" if comes[row] else "is now, by which the row is to be found"
    raise UnsupportedEvent(f"the log does not say what column {column} of row {named} {what}",
                           table=one.definition.full_name, hint=_HINT)


def _batch(table: pa.Table) -> pa.RecordBatch:
    [batch] = table.combine_chunks().to_batches()
    return batch


def _unknown(table: TableUndo) -> UnsupportedEvent:
    return UnsupportedEvent("which rows are undone depends on values that the log does not have",
                            table=table.definition.full_name, hint=_HINT)
