"""Key values that are not in the log and depend on the rows that changes find. They are computed on demand."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa

from applier.apply.index.store import store_layout as s
from applier.apply.index.store.row_parts import EncodedRowPart
from applier.binlog.rows.changes import UPDATE, DecodedChanges
from keysearch.addresses import address_of


class AwaitedValues(Protocol):
    """Values of parts that depend on the rows found: those of the after-images `waiting` (bool[n]). `columns` are the
    columns of rows (by number in the definition) on which they depend."""

    @property
    def waiting(self) -> np.ndarray: ...
    @property
    def columns(self) -> tuple[int, ...]: ...

    def told(self, images: np.ndarray, rows: pa.Table) -> list[EncodedRowPart]:
        """Return all parts of a batch's after-images, given the rows that some of these (int64[m], distinct) find."""


class Awaited:
    """The values that changes of a batch need from the rows that they find, and how many have been computed."""

    def __init__(self, batch: DecodedChanges, values: AwaitedValues):
        self.batch, self._values = batch, values
        self._states = np.where(values.waiting, s.WAITS, 0).astype(np.uint8)
        self._records = np.full(batch.n_after, -1, np.int64)
        self._changes = np.flatnonzero((batch.kinds == UPDATE) & values.waiting[batch.after_rows])
        self._told_until, self._first, self._at_once = 0, 0, len(self._changes)

    @property
    def columns(self) -> tuple[int, ...]:
        return self._values.columns

    @property
    def addresses(self) -> tuple[int, int]:
        return address_of(self._states), address_of(self._records)

    def next_changes(self, first: int) -> np.ndarray:
        """Return the next changes to compute, from `first` on: fewer if the last ones were computed in vain because
        their rows changed meanwhile."""
        start = int(np.searchsorted(self._changes, first))
        if start < self._told_until:
            self._at_once = max(1, 2 * (start - self._first))
        self._first, self._told_until = start, min(start + self._at_once, len(self._changes))
        self._at_once = 2 * self._at_once
        return self._changes[self._first:self._told_until]

    def tell(self, changes: np.ndarray, rows: pa.Table, records: np.ndarray) -> list[EncodedRowPart]:
        """Return the parts of the batch's after-images, with the values that these changes await, given the rows that
        they find and the locations of their records."""
        images = self.batch.after_rows[changes]
        self._states[images], self._records[images] = s.TOLD, records
        return self._values.told(images, rows)

    def forget_records(self) -> None:
        """Drop all locations of records, which have moved."""
        self._states[self._states == s.TOLD] = s.WAITS
