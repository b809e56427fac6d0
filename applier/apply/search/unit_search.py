"""How the rows of a unit are found: what all ways have in common."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from applier.apply.index.image_witness import ImageWitness
from applier.apply.index.unit_index import Conflict, UnitIndex
from applier.binlog.rows.changes import Changes, ImageLayouts


class TakenBatch(Protocol):
    """A batch with what a search needs of it: KeyedChanges, StoredChanges or ImageChanges."""

    @property
    def batch(self) -> Changes: ...


Taken = TypeVar("Taken", bound=TakenBatch)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RefusedChange:
    """A change, by its number in its batch, whose key is there already (`duplicate`) or whose row is not there; the key
    for people."""

    change: int
    duplicate: bool
    key: str


@dataclasses.dataclass(frozen=True)
class LeavesUnit:
    """An update that moves a row to another unit, where idempotent mode has to know both."""


class UnitSearch(ABC, Generic[Taken]):
    """An index of a unit's rows, and how it is filled, emptied and reported on."""

    index: UnitIndex[Any]

    @abstractmethod
    def apply(self, changes: Taken, layouts: ImageLayouts) -> RefusedChange | LeavesUnit | None:
        """Apply a batch, up to the first change that cannot be."""

    def trace(self) -> None:
        """Keep the steps that rows take from here on."""
        self.index.trace()

    def compare_images(self, witness: ImageWitness) -> None:
        """Have `witness` compare before-images with the rows that they find; to be asked for before any row comes."""
        self.index.compare_images(witness)

    def are_here(self, changes: Taken, numbers: np.ndarray) -> np.ndarray:
        """Which of these changes (int64[n], their numbers in the batch) have an after-image that is a row of the unit:
        bool[n]. All units of a table may see all of its changes."""
        return np.ones(len(numbers), np.bool_)

    @property
    def agreed_by_search(self) -> int:
        """How many before-images found rows that agree with them, since that is how they are searched."""
        return 0

    @property
    @abstractmethod
    def found(self) -> Counter[str]:
        """How many rows were found in which way (keysearch.choose.AccessPath.kind), so far."""

    @abstractmethod
    def suppressed_conflicts(self, table: str, changes: Taken) -> list[pa.Table]:
        """The conflicts of the last batch of a table (db.table) that were suppressed, as conflicts.CONFLICTS."""

    @abstractmethod
    def seed(self, rows: pa.Table) -> None:
        """Put in the rows that are there before the first change."""

    def add(self, rows: pa.Table, first: int) -> None:
        """Put in more rows that were there before the first change, numbered from `first` on, whose keys no change was
        about."""
        raise NotImplementedError

    @abstractmethod
    def pointers(self) -> np.ndarray:
        """Pointers to the rows that are left, int64[n], in the order in which they are written."""


def refused(conflict: Conflict, key: str) -> RefusedChange:
    """The change of an index's conflict."""
    return RefusedChange(change=conflict.change, duplicate=conflict.duplicate, key=key)
