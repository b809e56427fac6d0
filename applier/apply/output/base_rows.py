"""Rows of a unit's base by number, across the batches in which they were read.

The batches are not joined: a column of long strings could exceed Arrow's offsets (2 GiB), and all rows would be in
memory twice for a while.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa


class BaseRows:
    """The rows of a table, numbered from 0 on."""

    def __init__(self, table: pa.Table):
        self._schema, self._batches = table.schema, table.to_batches()
        self._starts = np.cumsum([0, *(batch.num_rows for batch in self._batches)])

    def take(self, rows: np.ndarray) -> pa.Table:
        """Return the rows with these numbers (int64[n], distinct): views of memory if the numbers are consecutive."""
        if (np.diff(rows) < 0).any():
            order = np.argsort(rows)
            inverse = np.empty(len(rows), np.int64)
            inverse[order] = np.arange(len(rows))
            return self.take(rows[order]).take(pa.array(inverse))
        parts = []
        edges = np.searchsorted(rows, self._starts)
        for number in np.flatnonzero(np.diff(edges)):
            inside = rows[edges[number]:edges[number + 1]] - self._starts[number]
            batch = self._batches[number]
            are_neighbours = inside[-1] - inside[0] == len(inside) - 1
            parts.append(batch.slice(inside[0], len(inside)) if are_neighbours else batch.take(pa.array(inside)))
        return pa.Table.from_batches(parts, self._schema)
