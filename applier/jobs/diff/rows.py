"""Rows of a difference: their schema, and their record batches.

    the table's columns    those of both sides
    _change_type           insert, update_preimage, update_postimage, delete, as in a change feed; an update is two
                           rows, before and after
    _changed               for an update: the columns whose values differ
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from applier.errors import UsageError

INSERT, PREIMAGE, POSTIMAGE, DELETE = range(4)
CHANGE_TYPES = ("insert", "update_preimage", "update_postimage", "delete")
OF_DIFFERENCES = pa.schema([
    pa.field("_change_type", pa.dictionary(pa.int8(), pa.string()), nullable=False),
    pa.field("_changed", pa.list_(pa.string())),
])
_KINDS = pa.array(CHANGE_TYPES)


def read_rows(files: Sequence[Path], kept: object) -> Iterator[pa.RecordBatch]:
    """Yield the rows in files of IPC streams, one after the other; `kept` is the object that keeps the files."""
    for path in files:
        with pa.memory_map(str(path)) as source:
            yield from pa.ipc.open_stream(source)


@dataclass(frozen=True)
class Found:
    """Differences, and how many there are of each kind."""

    batch: pa.RecordBatch
    added: int
    removed: int
    changed: int


class Differences:
    """Makes record batches of the differences in a table with these columns. Raises UsageError for a column whose name
    is that of a column of differences."""

    def __init__(self, columns: pa.Schema, table: str) -> None:
        if taken := [name for name in columns.names if name in OF_DIFFERENCES.names]:
            raise UsageError(f"column {taken[0]} has the name of one of the diff's own columns", table=table,
                             hint="leave the table out with --ignore-tables")
        self._names = pa.array(columns.names, pa.string())
        self.schema = pa.schema([*columns, *OF_DIFFERENCES])

    def single(self, rows: pa.RecordBatch, kind: int) -> Found:
        """Return the rows that only one side has."""
        return self.made([rows], np.full(rows.num_rows, kind), np.zeros((rows.num_rows, len(self._names)), bool), None)

    def made(self, rows: Sequence[pa.RecordBatch], kinds: np.ndarray, changed: np.ndarray,
             order: pa.Array | None) -> Found:
        """Return the rows, one batch after the other, with their kinds and the columns that changed (bool[rows,
        columns]), in this order."""
        whole = pa.Table.from_batches(rows)
        kind = pa.DictionaryArray.from_arrays(pa.array(kinds, pa.int8()), _KINDS)
        is_update = (kinds == PREIMAGE) | (kinds == POSTIMAGE)
        offsets = np.concatenate([[0], np.cumsum(changed.sum(axis=1))])
        names = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()),
                                         self._names.take(pa.array(np.nonzero(changed)[1])),
                                         mask=pa.array(~is_update))
        for field, values in zip(OF_DIFFERENCES, (kind, names), strict=True):
            whole = whole.append_column(field, values)
        if order is not None:
            whole = whole.take(order)
        [batch] = whole.combine_chunks().cast(self.schema).to_batches()
        counts = np.bincount(kinds, minlength=len(CHANGE_TYPES))
        return Found(batch, int(counts[INSERT]), int(counts[DELETE]), int(counts[PREIMAGE]))
