"""Finds rows by one key, in one key range of the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.index.key_index import ByteIndex, IntIndex, KeyIndex
from applier.apply.index.key_index_kernel import apply_bytes, apply_ints
from applier.apply.index.pointer_kernel import ROW_GONE
from applier.apply.index.unit_index import Conflict
from applier.apply.search.keyed_changes import KeyedChanges
from applier.apply.search.unit_search import IndexSearch
from applier.apply.spec import KeyRange, UnitSpec
from applier.binlog.rows.changes import UPDATE, ImageLayouts
from applier.columns.generated_columns import computed_of_images
from keysearch.numba_private import Kernel

_INDEXES: dict[str, Callable[..., KeyIndex[Any]]] = {"int": IntIndex, "bytes": ByteIndex}
"""The index by the form of the key."""


class KeySearch(IndexSearch[KeyedChanges[Any]]):
    """The access method by one key, an integer or a byte string."""

    index: KeyIndex[Any]

    kernels: Mapping[str, Kernel] = {"int": apply_ints, "bytes": apply_bytes}
    """The kernel that applies changes, by the form of the key."""

    def __init__(self, spec: UnitSpec, rows: KeyRange):
        self._key, self._table, form = rows.key, spec.definition.full_name, rows.key.form
        self.index = _INDEXES[form](len(spec.definition.columns), rows.low, rows.high, idempotent=spec.idempotent,
                                    kernel=self.kernels[form])
        self.index.column_pointers.made_of = computed_of_images(spec.definition)
        self._matched_but_suppressed = 0

    def prepare(self, changes: KeyedChanges[Any], layouts: ImageLayouts) -> None:
        self.index.prepare(changes.batch, layouts, changes.keys)

    def finish_batch(self, changes: KeyedChanges[Any], conflict: Conflict | None) -> Conflict | None:
        noted = self.index.noted
        if len(noted):
            matched = (changes.batch.kinds[noted[:, 0]] == UPDATE) & (noted[:, 1] != ROW_GONE)
            self._matched_but_suppressed += int(matched.sum())
        return super().finish_batch(changes, conflict)

    def are_here(self, changes: KeyedChanges[Any], numbers: np.ndarray) -> np.ndarray:
        return self.index.in_range(changes.keys, changes.batch.after_rows[numbers])

    @property
    def found(self) -> Counter[str]:
        return Counter({self._key.choice.kind: self.index.updated + self.index.deleted + self._matched_but_suppressed})

    def seed(self, rows: pa.Table) -> None:
        self._seed(rows, np.arange(rows.num_rows))

    def _seed(self, rows: pa.Table, pointers: np.ndarray) -> None:
        """Insert the rows to which pointers (int64[n]) lead."""
        self.index.seed(self._key.of_rows(rows, self._table), pointers)

    def add(self, rows: pa.Table, first: int) -> None:
        self.index.add(self._key.of_rows(rows, self._table), np.arange(first, first + rows.num_rows))

    def pointers(self) -> np.ndarray:
        return self.index.pointers()
