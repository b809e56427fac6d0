"""The versions of rows in one unit: each step of a row (apply.output.row_steps) ends one, begins one, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.output.row_steps import Causes, take_steps
from applier.apply.tables.traced_rows import TracedRows
from applier.apply.tables.unit import UnitApplier
from applier.binlog.rows.changes import ChangeBatch
from applier.jobs.changes.groups import FileGroups
from applier.jobs.history.commits import Commits

KINDS = ("insert", "update", "delete", "truncate", "alter", "base")
INSERT, UPDATED, DELETE, TRUNCATE, ALTER, BASE = range(6)
NOTHING = -1
"""In place of a kind: the version has not ended."""


NOWHERE = NO_STEP = -1
_FILE_BITS = 40


def place_of(file: int, offsets: np.ndarray) -> np.ndarray:
    """One number for the file, by its own, and offsets in it."""
    return file << _FILE_BITS | offsets


def files_and_offsets(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What `place_of` was given."""
    return places >> _FILE_BITS, places & (1 << _FILE_BITS) - 1


@dataclass(frozen=True)
class Edge:
    """Where all versions of a unit begin that were there at first, or end that are there at last: the commit, what
    happened then, and its place (`place_of`)."""

    commit: int
    kind: int
    place: int = NOWHERE


@dataclass(frozen=True)
class StepsOfUnit:
    """All steps of a unit, in order: whether each is part of an update, the commit it is in, and its place. The last
    entry stands for what was there `first`; `last` is how versions end that are there at last."""

    is_update: np.ndarray
    commits: np.ndarray
    places: np.ndarray
    first: Edge
    last: Edge


@dataclass(frozen=True)
class Versions:
    """Versions of rows, in no order: the numbers of the steps that began and ended them (int64[n], NO_STEP: they were
    there at first, they are there at last), and pointers to the rows in `values`."""

    begun: np.ndarray
    ended: np.ndarray
    pointers: np.ndarray
    values: TracedRows
    steps: StepsOfUnit

    def __len__(self) -> int:
        return len(self.pointers)

    def part(self, which: np.ndarray) -> Versions:
        """Some of them."""
        return Versions(self.begun[which], self.ended[which], self.pointers[which], self.values, self.steps)

    def rows(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of the rows, in the order of the versions, some thousand at a time."""
        return self.values.at(self.pointers, columns)

    @property
    def begins(self) -> np.ndarray:
        """The commits that they begin with."""
        begins: np.ndarray = self.steps.commits[self.begun]
        return begins

    @property
    def ends(self) -> np.ndarray:
        """The commits that they end with; NEVER for those that are still there."""
        return np.where(self.ended == NO_STEP, self.steps.last.commit, self.steps.commits[self.ended])

    @property
    def begun_by(self) -> np.ndarray:
        """What began them: one of KINDS."""
        return np.where(self.begun == NO_STEP, self.steps.first.kind,
                        np.where(self.steps.is_update[self.begun], UPDATED, INSERT))

    @property
    def ended_by(self) -> np.ndarray:
        """What ended them: one of KINDS, or NOTHING."""
        return np.where(self.ended == NO_STEP, self.steps.last.kind,
                        np.where(self.steps.is_update[self.ended], UPDATED, DELETE))

    @property
    def begun_at(self) -> np.ndarray:
        """Where they were begun (`place_of`)."""
        places: np.ndarray = self.steps.places[self.begun]
        return places

    @property
    def ended_at(self) -> np.ndarray:
        """Where they were ended (`place_of`)."""
        return np.where(self.ended == NO_STEP, self.steps.last.place, self.steps.places[self.ended])


class UnitSteps:
    """Collects the steps of the rows of a unit."""

    def __init__(self, unit: UnitApplier[Any], commits: Commits) -> None:
        self.unit, self._commits = unit, commits
        self._parts: list[tuple[np.ndarray, ...]] = []

    def take(self, batch: ChangeBatch | None, causes: Causes, file: int, groups: FileGroups) -> None:
        """Take the steps of a batch; `groups` are those of its file."""
        if len(steps := take_steps([self.unit], batch, causes)):
            self._parts.append((steps.old, steps.new, steps.is_update, self._commits.of(groups, steps.places),
                                place_of(file, steps.places)))

    def versions(self, first: Edge, last: Edge) -> Versions:
        """All versions. Those that were there before the first change begin at `first`, those that are there after the
        last one end at `last`."""
        values = self.unit.traced_rows()
        behind = (np.empty(0, np.int64), np.empty(0, np.int64), np.array([False]), np.array([first.commit]),
                  np.array([first.place]))  # so that NO_STEP, the last one, is `first`
        old, new, is_update, commits, places = map(np.concatenate, zip(*self._parts, behind, strict=True))
        made, gone = np.flatnonzero(new >= 0), np.flatnonzero(old >= 0)
        pointers = np.concatenate([np.arange(values.at_first), new[made]])
        order = np.argsort(pointers, kind="stable")
        pointers = pointers[order]
        ended = np.full(len(pointers), NO_STEP)
        ends = np.searchsorted(pointers, old[gone])
        assert ends.max(initial=-1) < len(pointers) and (pointers[ends] == old[gone]).all(), "an end without a begin"
        ended[ends] = gone
        return Versions(np.concatenate([np.full(values.at_first, NO_STEP), made])[order], ended, pointers, values,
                        StepsOfUnit(is_update, commits, places, first, last))
