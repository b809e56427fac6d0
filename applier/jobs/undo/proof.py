"""The proof: the undo as events is read back, and applied to the rows at the end of the log; the result must be the
rows before the transactions.

The events go through the bytes of a file and the decoder of logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from applier.errors import ApplierError
from applier.jobs.changes.job import ChangeLog
from applier.jobs.diff.merging import unequal_columns
from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE
from applier.jobs.undo.table_undo import TableUndo
from applier.mysql.reader_values import as_shown
from applier.mysql.type_registry import Family
from applier.options import ChangesOptions
from applier.options.running import OF_COLUMNS
from applier.schema.definition import TableDefinition
from applier.schema.table_filter import EVERYTHING
from applier.schema.table_parts import Column

_MADE = ", and its statements the tables with their partitions"
_ORDER = np.zeros(4, np.int8)
_ORDER[[DELETE, INSERT, PREIMAGE, POSTIMAGE]] = 0, 1, 2, 2
"""By kind, in which order changes are written."""


def proof(tables: Sequence[TableUndo], log: str, folder: Path, on_conflict: str) -> tuple[str, ...]:
    """Compare the rows of a binlog file with those that are to be undone; notes for the user. Raises ApplierError if
    they are others."""
    schema = folder / "schema.sql"
    schema.write_text("".join(f"{one.now.to_sql()};\n" for one in tables if not one.recreated))
    events = ChangeLog(ChangesOptions((log,), schema=str(schema), ignore_foreign_keys=True))
    lines, rows, made = list[str](), 0, 0
    for one in tables:
        if one.statements and _live(events, one.definition) != one.definition.to_sql():
            raise _wrong(one, "another definition")
        made += bool(one.statements)
        if not one.rows:  # it is only made
            continue
        columns = one.definition.stored_columns
        feed = events.feed((one.definition.database, one.definition.name), tuple(column.name for column in columns))
        read, wanted = _rows(feed.batches(), columns), _rows(one.batches(), columns)
        if read.num_rows != wanted.num_rows:
            raise _wrong(one, f"{read.num_rows} rows, not {wanted.num_rows}")
        everywhere = np.arange(read.num_rows)
        unequal = unequal_columns(read, everywhere, wanted, everywhere)
        unequal[:, 1:][:, _documents(columns)] &= _are_written(wanted)[:, 1:][:, _documents(columns)]
        for number in np.flatnonzero(unequal.any(axis=0)).tolist():
            count, column = int(unequal[:, number].sum()), columns[max(0, number - 1)]
            if number == 0 or column.type.entry.family is not Family.DOCUMENT:
                raise _wrong(one, f"{count} other values of {column.name}")
            lines.append(f"Not exact: {count:,} documents of {one.definition.full_name}.{column.name} have numbers "
                         "that JSON text does not hold (DECIMAL): they become the nearest double.")
        rows += one.rows
    return (f"Proof: read back as events and applied to the rows as the log leaves them, the undo of {rows:,} rows "
            f"gives the rows as they were before, {_in_which(tables, on_conflict)}{_MADE * bool(made)}.", *lines)


def _in_which(tables: Sequence[TableUndo], on_conflict: str) -> str:
    """Return the columns in which rows are as before."""
    partly = sum(one.partly for one in tables)
    known = " that the log has" * any(one.unknown is not None for one in tables)
    if not partly:
        return f"in all columns{known}"
    if on_conflict == OF_COLUMNS:
        return f"but in {partly:,} of them for the columns that others have changed since"
    following = sum(one.following for one in tables)
    but = f", but in {following:,} of them for those that follow their parent rows" * bool(following)
    return f"in all columns{known}{but}, so that in {partly:,} of them what others have changed since is lost"


def _live(log: ChangeLog, definition: TableDefinition) -> str:
    """Return the definition of a table at the end of a log, as SQL."""
    return next((one.to_sql() for one in log.history(EVERYTHING).definitions()
                 if (one.database, one.name) == (definition.database, definition.name)), "")


def _documents(columns: Sequence[Column]) -> np.ndarray:
    """Return which of the columns have documents."""
    return np.array([column.type.entry.family is Family.DOCUMENT for column in columns], np.bool_)


def _are_written(rows: pa.RecordBatch) -> np.ndarray:
    """Return which values the undo gives to rows, bool[rows, columns]: those of inserts, and of updates those that
    change."""
    n, kinds = rows.num_rows, rows.column("_change_type").to_numpy()
    written = np.zeros((n, rows.num_columns), np.bool_)
    written[1:] = unequal_columns(rows, np.arange(1, n), rows, np.arange(n - 1)) if n > 1 else False
    written[(kinds == DELETE) | (kinds == PREIMAGE)] = False
    written[kinds == INSERT] = True
    return written


def _wrong(table: TableUndo, what: str) -> ApplierError:
    return ApplierError(f"the undo does not restore the rows: {what}", table=table.definition.full_name,
                        hint="this is a bug in applier; nothing was written")


def _rows(batches: Iterable[pa.RecordBatch], columns: Sequence[Column]) -> pa.RecordBatch:
    """Return rows of changes or differences, whose kinds have the same numbers, in the order in which they are
    written."""
    table = pa.Table.from_batches(batches)
    kinds = np.concatenate([chunk.indices.to_numpy() for chunk in table.column("_change_type").chunks])
    order = np.argsort(_ORDER[kinds], kind="stable")
    arrays = [as_shown(table.column(column.name).combine_chunks(), column.type).take(pa.array(order))
              for column in columns]
    return pa.RecordBatch.from_arrays([pa.array(kinds[order]), *arrays],
                                      names=["_change_type", *(column.name for column in columns)])
