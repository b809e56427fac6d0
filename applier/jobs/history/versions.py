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


NOWHERE = -1
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
class Versions:
    """Arrays of n, in no order: commits at which they begin and end, what happened then, and its places (`place_of`);
    their order among the steps, and pointers to the rows in `values`."""

    begins: np.ndarray
    ends: np.ndarray
    begun_by: np.ndarray
    ended_by: np.ndarray
    begun_at: np.ndarray
    ended_at: np.ndarray
    order: np.ndarray
    pointers: np.ndarray
    values: TracedRows

    def part(self, which: np.ndarray) -> Versions:
        """Some of them."""
        begins, ends, begun_by, ended_by, begun_at, ended_at, order, pointers = (
            array[which] for array in list(vars(self).values())[:-1])
        return Versions(begins, ends, begun_by, ended_by, begun_at, ended_at, order, pointers, self.values)

    def rows(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of the rows, in the order of the versions, some thousand at a time."""
        return self.values.at(self.pointers, columns)


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
        nothing, values = np.empty(0, np.int64), self.unit.traced_rows()
        old, new, is_update, commits, places = (np.concatenate([nothing.astype(kind), *parts]) for kind, *parts in zip(
            (np.int64, np.int64, np.bool_, np.int64, np.int64), *self._parts, strict=True))
        n_first, made, gone = values.at_first, np.flatnonzero(new >= 0), np.flatnonzero(old >= 0)
        pointers = np.concatenate([np.arange(n_first), new[made]])
        order = np.argsort(pointers, kind="stable")
        pointers = pointers[order]

        def begun(edge: int, of_steps: np.ndarray) -> np.ndarray:
            return np.concatenate([np.full(n_first, edge), of_steps])[order]

        ended = np.searchsorted(pointers, old[gone])
        assert ended.max(initial=-1) < len(pointers) and (pointers[ended] == old[gone]).all(), "an end without a begin"

        def closed(edge: int, of_steps: np.ndarray) -> np.ndarray:
            found = np.full(len(pointers), edge)
            found[ended] = of_steps
            return found

        return Versions(
            begun(first.commit, commits[made]), closed(last.commit, commits[gone]),
            begun(first.kind, np.where(is_update[made], UPDATED, INSERT)),
            closed(last.kind, np.where(is_update[gone], UPDATED, DELETE)),
            begun(first.place, places[made]), closed(last.place, places[gone]), begun(-1, made), pointers, values)
