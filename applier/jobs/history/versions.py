"""The versions of rows in one unit: each step of a row (apply.output.row_steps) ends one, begins one, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from applier.apply.output.row_steps import Causes
from applier.apply.tables.traced_rows import TracedRows
from applier.apply.tables.unit import UnitApplier
from applier.binlog.rows.changes import ChangeBatch
from applier.jobs.changes.event_groups.groups import FileGroups
from applier.jobs.history import versions_kernel as k
from applier.jobs.history.commits import KIND_BITS, Commits
from keysearch.addresses import address_of

KINDS = ("insert", "update", "delete", "truncate", "alter", "base", "drop")
TRUNCATE, ALTER, BASE, DROP = range(3, 7)
NOTHING = k.NO_STEP
"""In place of a kind: the version has not ended."""


NOWHERE = k.NO_STEP
_FILE_BITS = 40
_FIRST_ROOM, _MOST_GROWTH = 1 << 15, 64
_NO_KINDS, _NO_POSITIONS = np.empty(0, np.uint8), np.empty(0, np.int64)


def position_of(file: int, offset: int) -> int:
    """Return one number for a position: a file's number, and an offset in the file."""
    return file << _FILE_BITS | offset


def files_and_offsets(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the arguments of `position_of`."""
    return positions >> _FILE_BITS, positions & (1 << _FILE_BITS) - 1


@dataclass(frozen=True)
class Edge:
    """The edge that all versions of a unit have that exist at first (as their beginning), or at last (as their end):
    the commit, the kind of change, its number, and its position (`position_of`)."""

    commit: int
    kind: int
    change: int = NOWHERE
    position: int = NOWHERE

    @property
    def step(self) -> int:
        """The commit and the kind of change as one number."""
        return self.commit << KIND_BITS | self.kind


@dataclass(frozen=True)
class Versions:
    """Versions of rows in the order of their keys, or, unless they are `by_key`, in the order of their beginnings: the
    `numbers` of the unit's steps that begin them, `pointers` to them (int64[n]) in `values`, and their `edges`
    (int64[n, 4], or 6 with positions: see versions_kernel.BEGINS)."""

    numbers: np.ndarray
    pointers: np.ndarray
    edges: np.ndarray
    by_key: bool
    values: TracedRows

    def __len__(self) -> int:
        return len(self.numbers)

    def part(self, which: np.ndarray) -> Versions:
        """Return some of the versions, by their numbers here."""
        return replace(self, numbers=self.numbers.take(which), pointers=self.pointers.take(which),
                       edges=self.edges.take(which, axis=0))

    def rows(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Return some columns of the rows, in the order of the versions, some thousand at a time."""
        return self.values.at(self.pointers, columns)


class UnitSteps:
    """Makes versions from the steps of a unit's rows, with positions if these are wanted."""

    def __init__(self, unit: UnitApplier, commits: Commits, *, positions: bool) -> None:
        self.unit, self._commits = unit, commits
        self._state = np.zeros((), k.STATE)
        self._state["n_words"] = 1 + (k.POSITION if positions else k.CHANGE)
        self._words = np.empty((0, 0), np.int64)

    def take(self, batch: ChangeBatch | None, causes: Causes, file: int, groups: FileGroups, share: float) -> None:
        """Take the steps of a batch; `groups` are those of its file, and this `share` of the log has been read."""
        steps = self.unit.take_steps()
        if not len(steps):
            return
        self._make_room(2 * len(steps), share)
        kinds, positions, seqs = (_NO_KINDS, _NO_POSITIONS, _NO_POSITIONS) if batch is None else (
            batch.kinds, batch.positions, batch.seqs)
        k.take_steps(address_of(steps), len(steps), kinds, positions, seqs, causes.positions, causes.seqs,
                     groups.all_starts, self._commits.first_of(groups), position_of(file, 0), address_of(self._state))

    def versions(self, first: Edge, last: Edge) -> Versions:
        """Return all versions. Those that exist before the first change begin at `first`, those that exist after the
        last one end at `last`."""
        self._make_room(0, 1)
        words, values = self._words[:self._n], self.unit.traced_rows()
        words[:values.at_first, k.STEP], words[:values.at_first, k.CHANGE] = first.step, first.change
        with_positions = words.shape[1] > k.POSITION
        if with_positions:
            words[:values.at_first, k.POSITION] = first.position
        order = stable_order(words[:, k.ROW])
        pointers, edges = np.empty(len(order), np.int64), np.empty((len(order), 6 if with_positions else 4), np.int64)
        n = int(k.end_versions(order, address_of(self._state), last.step, last.change, last.position, pointers, edges))
        assert n >= 0, "an end without a begin"
        self._words, by_key = self._words[:0], self.unit.spec.int_key is not None
        versions = Versions(order[:n], pointers[:n], edges[:n], by_key, values)
        return versions if by_key else versions.part(np.argsort(order[:n]))

    @property
    def _n(self) -> int:
        return int(self._state["n"])

    def _make_room(self, more: int, share: float) -> None:
        """Have room for `more` steps, or else for as many as the whole log may have: untouched memory is free. At
        first, begin with the existing rows."""
        if not len(self._words):
            self._begin()
        least = self._n + more
        if least > len(self._words):
            words = np.empty((int(least * min(1.1 / share, _MOST_GROWTH)), self._words.shape[1]), np.int64)
            words[:self._n] = self._words[:self._n]
            self._words = words
        self._state["words"] = address_of(self._words)

    def _begin(self) -> None:
        unit, at_first = self.unit, self.unit.traced_rows().at_first
        self._words = np.empty((at_first + _FIRST_ROOM, int(self._state["n_words"])), np.int64)
        self._state["n"] = at_first
        self._words[:at_first, k.POINTER] = self._words[:at_first, k.ROW] = np.arange(at_first)
        if (key := unit.spec.int_key) is not None:
            self._words[:at_first, k.ROW] = key.of_rows(unit.rows_at_first, unit.spec.definition.full_name)


def stable_order(keys: np.ndarray) -> np.ndarray:
    """Return the stable order of keys (int64[n]). If a key and its number fit into one integer, these integers are
    sorted, which takes a tenth of the time."""
    order = np.empty(len(keys), np.int64)
    bits = int(k.number_keys(address_of(keys), keys.strides[0], order))
    if bits < 0:
        return np.argsort(keys, kind="stable")
    order.sort()
    order &= (1 << bits) - 1
    return order
