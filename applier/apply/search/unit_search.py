"""The common interface of all access methods: how the rows of a unit are found."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from applier.apply.index.unit_index import Conflict, UnitIndex
from applier.apply.index.witness.image_witness import ImageWitness
from applier.apply.search.conflicts import ConflictTexts, conflict_rows
from applier.binlog.rows.changes import Changes, ImageLayouts


class TakenBatch(Protocol):
    """A batch as the input of a search: KeyedChanges, StoredChanges or ImageChanges."""

    @property
    def batch(self) -> Changes: ...


class TakenWithTexts(TakenBatch, Protocol):
    """A batch with the keys of its images for messages."""

    @property
    def texts(self) -> ConflictTexts: ...


Taken = TypeVar("Taken", bound=TakenBatch)
WithTexts = TypeVar("WithTexts", bound=TakenWithTexts)


class UnitSearch(ABC, Generic[Taken]):
    """The access method of a unit: by a key, by content, or as a multiset of images. It fills an index, applies changes
    to it, reports refused changes, and returns the rows. `index` has the current rows."""

    index: UnitIndex[Any]

    @abstractmethod
    def apply(self, changes: Taken, layouts: ImageLayouts) -> Conflict | None:
        """Apply a batch, up to the first change that is refused."""

    def end(self) -> int:
        """Finish after the last change. Return how many rows foreign keys changed or deleted."""
        return 0

    def trace(self) -> None:
        """Keep the steps of rows from now on."""
        self.index.trace()

    def compare_images(self, witness: ImageWitness) -> None:
        """Have `witness` compare before-images with the rows that they find. To be called before any row is inserted.
        """
        self.index.compare_images(witness)

    def are_here(self, changes: Taken, numbers: np.ndarray) -> np.ndarray:
        """Return which of these changes (int64[n], numbers in the batch) have an after-image that is a row of the unit:
        bool[n]. All units of a table may see all of its changes."""
        return np.ones(len(numbers), np.bool_)

    @property
    def agreed_by_search(self) -> int:
        """The number of before-images that agree with their rows because they were searched by content."""
        return 0

    @property
    @abstractmethod
    def found(self) -> Counter[str]:
        """The number of rows found so far, by the kind of access path (keysearch.choose.AccessPath.kind)."""

    @abstractmethod
    def suppressed_conflicts(self, table: str, changes: Taken) -> list[pa.Table]:
        """Return the suppressed conflicts of the last batch of a table (db.table), in the form of conflicts.CONFLICTS.
        """

    @abstractmethod
    def seed(self, rows: pa.Table) -> None:
        """Add the rows from before the first change."""

    def add(self, rows: pa.Table, first: int) -> None:
        """Add more rows from before the first change, numbered from `first` on, whose keys no change had."""
        raise NotImplementedError

    @abstractmethod
    def pointers(self) -> np.ndarray:
        """Return pointers to the remaining rows, int64[n], in the order in which they are written."""

    def ranks(self, before: np.ndarray) -> np.ndarray | None:
        """Return the ranks of the remaining rows by their arrival, int64[n], given those of the existing rows; None if
        this search does not know them. To be called after `pointers`."""
        return None


class IndexSearch(UnitSearch[WithTexts], Generic[WithTexts]):
    """An access method with all rows in one index."""

    def apply(self, changes: WithTexts, layouts: ImageLayouts) -> Conflict | None:
        self.prepare(changes, layouts)
        return self.finish_batch(changes, self.index.run(changes.batch))

    @abstractmethod
    def prepare(self, changes: WithTexts, layouts: ImageLayouts) -> None:
        """Prepare the index for a batch, which kernels then apply."""

    def finish_batch(self, changes: WithTexts, conflict: Conflict | None) -> Conflict | None:
        """Record the result of a batch that kernels applied. Return the conflict with its key for messages."""
        batch, texts = changes.batch, changes.texts
        self.index.finish_batch(batch)
        if conflict is None or conflict.moves:
            return conflict
        key = texts.key_text(int(batch.after_rows[conflict.change]), True, self.index.unique_met) \
            if conflict.duplicate else texts.found_by(int(batch.before_rows[conflict.change]))
        return dataclasses.replace(conflict, key=key)

    def suppressed_conflicts(self, table: str, changes: WithTexts) -> list[pa.Table]:
        noted = self.index.noted
        return [conflict_rows(table, changes.batch, noted, changes.texts)] if len(noted) else []
