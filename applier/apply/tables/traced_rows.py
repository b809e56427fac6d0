"""Reads the rows that a unit had at any time, by the pointers of its steps (pointer_kernel.TRACED)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.index.diff_nodes import DiffNodes
from applier.apply.index.unit_index import UnitIndex
from applier.apply.output.base_rows import BaseRows
from applier.apply.output.rows import CHUNK_ROWS
from applier.apply.tables.unit_memory import UnitMemory
from applier.errors import UnsupportedEvent
from applier.schema.definition import TableDefinition


class TracedRows:
    """The rows of a unit, even after it has passed them on. `base` are the rows before the first change; without an
    index there were no changes."""

    def __init__(self, definition: TableDefinition, memory: UnitMemory, base: pa.Table,
                 index: UnitIndex[Any] | None) -> None:
        self._definition, self._memory, self._index = definition, copy.copy(memory), index
        self._memory.base, self._memory.files = base, [*memory.files]  # which the unit forgets when it passes rows on

    @property
    def at_first(self) -> int:
        """The number of rows before the first change; their pointers are the numbers from 0 on."""
        rows: int = self._memory.base.num_rows
        return rows

    @property
    def diffs(self) -> DiffNodes:
        """The JSON diffs to which pointers of columns lead."""
        return DiffNodes() if self._index is None else self._index.diffs

    def by_column(self, pointers: np.ndarray) -> np.ndarray:
        """Return the pointer of each column, by its number in the log, of the rows to which pointers lead: int64[n,
        columns]."""
        if self._index is None:
            return np.repeat(pointers[:, None], len(self._definition.columns), axis=1)
        return self._index.column_pointers.by_column(pointers)

    def at(self, pointers: np.ndarray, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some stored columns of the rows to which pointers lead, in order, several thousand at a time. Raises
        ApplierError for a JSON diff that does not fit, and if a column's values are numbers that are not known yet."""
        if self._index is None:
            base = BaseRows(self._memory.base.select(columns))
            for start in range(0, len(pointers), CHUNK_ROWS):
                yield base.take(pointers[start:start + CHUNK_ROWS])
            return
        unnumbered = self._definition.columns[self._memory.n_logged:]
        if any(column.auto_increment for column in unnumbered):
            raise UnsupportedEvent("rows are numbered by a column that the log does not have",
                                   table=self._definition.full_name, hint="replay these logs to get the rows")
        gatherer = self._memory.gatherer(self._index, columns)
        for rows in gatherer.batches(pointers):
            if gatherer.failure is not None:
                raise gatherer.failure
            yield rows.select(columns)
