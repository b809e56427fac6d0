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


@dataclass(frozen=True)
class Edge:
    """Where all versions of a unit begin that were there at first, or end that are there at last: the commit, and what
    happened then."""

    commit: int
    kind: int


@dataclass(frozen=True)
class Versions:
    """Arrays of n, in no order: commits at which they begin and end, what happened then, the place among the steps, and
    pointers to the rows in `values`."""

    begins: np.ndarray
    ends: np.ndarray
    begun_by: np.ndarray
    ended_by: np.ndarray
    order: np.ndarray
    pointers: np.ndarray
    values: TracedRows

    def part(self, which: np.ndarray) -> Versions:
        """Some of them."""
        begins, ends, begun_by, ended_by, order, pointers = (array[which] for array in list(vars(self).values())[:-1])
        return Versions(begins, ends, begun_by, ended_by, order, pointers, self.values)

    def rows(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of the rows, in the order of the versions, some thousand at a time."""
        return self.values.at(self.pointers, columns)


class UnitSteps:
    """Collects the steps of the rows of a unit."""

    def __init__(self, unit: UnitApplier[Any], commits: Commits) -> None:
        self.unit, self._commits = unit, commits
        self._parts: list[tuple[np.ndarray, ...]] = []

    def take(self, batch: ChangeBatch | None, causes: Causes, groups: FileGroups) -> None:
        """Take the steps of a batch; `groups` are those of its file."""
        if len(steps := take_steps([self.unit], batch, causes)):
            self._parts.append((steps.old, steps.new, steps.is_update, self._commits.of(groups, steps.places)))

    def versions(self, first: Edge, last: Edge) -> Versions:
        """All versions. Those that were there before the first change begin at `first`, those that are there after the
        last one end at `last`."""
        nothing, values = np.empty(0, np.int64), self.unit.traced_rows()
        old, new, is_update, commits = (np.concatenate([nothing.astype(kind), *parts]) for kind, *parts in zip(
            (np.int64, np.int64, np.bool_, np.int64), *self._parts, strict=True))
        n_first, made, gone = values.at_first, np.flatnonzero(new >= 0), np.flatnonzero(old >= 0)
        pointers = np.concatenate([np.arange(n_first), new[made]])
        order = np.argsort(pointers, kind="stable")
        pointers = pointers[order]
        begins = np.concatenate([np.full(n_first, first.commit), commits[made]])[order]
        begun_by = np.concatenate([np.full(n_first, first.kind), np.where(is_update[made], UPDATED, INSERT)])[order]
        steps = np.concatenate([np.full(n_first, -1), made])[order]
        ends, ended_by = np.full(len(pointers), last.commit), np.full(len(pointers), last.kind)
        ended = np.searchsorted(pointers, old[gone])
        assert ended.max(initial=-1) < len(pointers) and (pointers[ended] == old[gone]).all(), "an end without a begin"
        ends[ended], ended_by[ended] = commits[gone], np.where(is_update[gone], UPDATED, DELETE)
        return Versions(begins, ends, begun_by, ended_by, steps, pointers, values)
