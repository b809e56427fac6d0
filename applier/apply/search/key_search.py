"""Rows found by one key, in one key range of the table."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from typing import Generic

import numpy as np
import pyarrow as pa

from applier.apply.index.key_index import ByteIndex, IntIndex
from applier.apply.index.unit_index import ROW_GONE, Conflict
from applier.apply.index.watched_rows import WatchedRows
from applier.apply.search.conflicts import conflict_rows
from applier.apply.search.keyed_changes import BytesImageKeys, ImageKeys, IntImageKeys, KeyedChanges
from applier.apply.search.unit_search import LeavesUnit, RefusedChange, UnitSearch, refused
from applier.apply.spec import BytesRange, IntRange, UnitSpec
from applier.binlog.rows.changes import UPDATE, ImageLayouts
from applier.columns.generated_columns import computed_of_images
from applier.columns.table_key import TableKey
from applier.schema.definition import TableDefinition


class KeySearch(UnitSearch[KeyedChanges[ImageKeys]], Generic[ImageKeys]):
    """Of `watched` rows, foreign keys may change some."""

    index: IntIndex | ByteIndex

    def __init__(self, definition: TableDefinition, key: TableKey, index: IntIndex | ByteIndex,
                 watched: WatchedRows | None):
        self._key_for_messages, self.index, self._table = key, index, definition.full_name
        self.index.column_pointers.made_of = computed_of_images(definition)
        self.index.watched = watched
        self._matched_but_suppressed = self._first_given = 0

    @abstractmethod
    def _apply(self, changes: KeyedChanges[ImageKeys], layouts: ImageLayouts) -> Conflict | None:
        """Have the index apply a batch."""

    @abstractmethod
    def _seed(self, rows: pa.Table, pointers: np.ndarray) -> None:
        """Put rows into the index, given pointers (int64[n]) to them."""

    @abstractmethod
    def _add(self, rows: pa.Table, pointers: np.ndarray) -> None:
        """The same, of rows whose keys are not in the index, which may have others."""

    @abstractmethod
    def _in_range(self, keys: ImageKeys, rows: np.ndarray) -> np.ndarray:
        """Which after-images, by their row (int64[n]), have a key that is known and in the unit's range: bool[n]."""

    def are_here(self, changes: KeyedChanges[ImageKeys], numbers: np.ndarray) -> np.ndarray:
        return self._in_range(changes.keys, changes.batch.after_rows[numbers])

    def apply(self, changes: KeyedChanges[ImageKeys], layouts: ImageLayouts) -> RefusedChange | LeavesUnit | None:
        conflict, batch = self._apply(changes, layouts), changes.batch
        noted = self.index.noted
        if len(noted):
            matched = (batch.kinds[noted[:, 0]] == UPDATE) & (noted[:, 1] != ROW_GONE)
            self._matched_but_suppressed += int(matched.sum())
        if conflict is None:
            return None
        if conflict.moves:
            return LeavesUnit()
        rows = batch.after_rows if conflict.duplicate else batch.before_rows
        text = changes.texts.text(int(rows[conflict.change]), conflict.duplicate)
        return refused(conflict, f"{self._key_for_messages} = {text}")

    def suppressed_conflicts(self, table: str, changes: KeyedChanges[ImageKeys]) -> list[pa.Table]:
        noted = self.index.noted
        return [conflict_rows(table, changes.batch, noted, changes.texts)] if len(noted) else []

    @property
    def found(self) -> Counter[str]:
        return Counter({self._key_for_messages.choice.kind:
                        self.index.updated + self.index.deleted + self._matched_but_suppressed})

    def seed(self, rows: pa.Table) -> None:
        watched, self._first_given = self.index.watched, rows.num_rows
        if watched is not None:
            watched.give_after(rows.num_rows)
        self._seed(rows, np.arange(rows.num_rows) if watched is None else watched.base_pointers(rows))

    def add(self, rows: pa.Table, first: int) -> None:
        self._add(rows, np.arange(first, first + rows.num_rows))

    def pointers(self) -> np.ndarray:
        pointers, watched = self.index.pointers(), self.index.watched
        if watched is None:
            return pointers
        return watched.resolved(pointers, self.index.column_pointers, self.index.column_pointers_used,
                                self._first_given)


class IntKeySearch(KeySearch[IntImageKeys]):
    """By an integer key."""

    index: IntIndex

    def __init__(self, spec: UnitSpec, rows: IntRange, watched: WatchedRows | None = None):
        self._key, self._rows = rows.key, rows
        super().__init__(spec.definition, rows.key, IntIndex(
            len(spec.definition.columns), rows.low, rows.high, idempotent=spec.idempotent), watched)

    def _apply(self, changes: KeyedChanges[IntImageKeys], layouts: ImageLayouts) -> Conflict | None:
        return self.index.apply(changes.batch, layouts, *changes.keys.addresses)

    def _in_range(self, keys: IntImageKeys, rows: np.ndarray) -> np.ndarray:
        here = np.ones(len(rows), np.bool_) if keys.absent is None else \
            np.unpackbits(keys.absent, bitorder="little")[rows] == 0
        if self._rows.low is not None:
            here &= keys.after[rows] >= self._rows.low
        if self._rows.high is not None:
            here &= keys.after[rows] < self._rows.high
        return here

    def _seed(self, rows: pa.Table, pointers: np.ndarray) -> None:
        self.index.seed(self._key.of_rows(rows, self._table), pointers)

    def _add(self, rows: pa.Table, pointers: np.ndarray) -> None:
        self.index.add(self._key.of_rows(rows, self._table), pointers)


class BytesKeySearch(KeySearch[BytesImageKeys]):
    """By a key of bytes."""

    index: ByteIndex

    def __init__(self, spec: UnitSpec, rows: BytesRange, watched: WatchedRows | None = None):
        self._key, self._rows = rows.key, rows
        super().__init__(spec.definition, rows.key, ByteIndex(
            len(spec.definition.columns), rows.low, rows.high, idempotent=spec.idempotent), watched)

    def _apply(self, changes: KeyedChanges[BytesImageKeys], layouts: ImageLayouts) -> Conflict | None:
        return self.index.apply(changes.batch, layouts, changes.keys.before, changes.keys.after)

    def _in_range(self, keys: BytesImageKeys, rows: np.ndarray) -> np.ndarray:
        low, high = self._rows.low, self._rows.high
        return np.array([(low is None or keys.after[row] >= low) and (high is None or keys.after[row] < high)
                         for row in rows.tolist()], np.bool_)

    def _seed(self, rows: pa.Table, pointers: np.ndarray) -> None:
        self.index.seed(self._key.of_rows(rows, self._table), pointers)

    def _add(self, rows: pa.Table, pointers: np.ndarray) -> None:
        self.index.add(self._key.of_rows(rows, self._table), pointers)
