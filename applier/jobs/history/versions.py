"""The versions of rows in one unit: each step of a row (apply.output.row_steps) ends one, begins one, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.output.row_steps import Causes
from applier.apply.tables.traced_rows import TracedRows
from applier.apply.tables.unit import UnitApplier
from applier.binlog.rows.changes import ChangeBatch
from applier.jobs.changes.groups import FileGroups
from applier.jobs.history import versions_kernel as k
from applier.jobs.history.commits import Commits
from keysearch.addresses import address_of

KINDS = ("insert", "update", "delete", "truncate", "alter", "base")
TRUNCATE, ALTER, BASE = range(3, 6)
NOTHING = k.NO_STEP
"""In place of a kind: the version has not ended."""


NOWHERE = k.NO_STEP
_FILE_BITS = 40
_FIRST_ROOM = 1 << 13
_NO_KINDS, _NO_PLACES = np.empty(0, np.uint8), np.empty(0, np.int64)


def place_of(file: int, offset: int) -> int:
    """One number for the file, by its own, and an offset in it."""
    return file << _FILE_BITS | offset


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

    @property
    def step(self) -> int:
        """The commit and what happened, as versions_kernel has it."""
        return self.commit << k.KIND_BITS | self.kind


@dataclass(frozen=True)
class Edges:
    """The begins or the ends of versions: commits (NEVER: it has not ended), what happened (NOTHING), and places
    (NOWHERE), where these are wanted."""

    commits: np.ndarray
    kinds: np.ndarray
    places: np.ndarray | None

    @classmethod
    def of(cls, words: np.ndarray, step: int, place: int) -> Edges:
        """Those in some words of versions."""
        steps = words[:, step]
        return cls(steps >> k.KIND_BITS, steps.astype(np.int8), words[:, place] if place < words.shape[1] else None)


@dataclass(frozen=True)
class Versions:
    """Versions of rows in the order of their beginning, those that were there at first before the others: their `words`
    (int64[n, 3], or 5 with places: see versions_kernel.POINTER), and the rows that the pointers lead to."""

    words: np.ndarray
    values: TracedRows

    def __len__(self) -> int:
        return len(self.words)

    def part(self, which: np.ndarray) -> Versions:
        """Some of them, by their numbers, ascending."""
        return Versions(self.words.take(which, axis=0), self.values)

    def rows(self, columns: Sequence[str], order: np.ndarray | None = None) -> Iterator[pa.Table]:
        """Some columns of the rows, in the order of the versions or in this one, some thousand at a time."""
        pointers = self.words[:, k.POINTER]
        return self.values.at(np.ascontiguousarray(pointers) if order is None else pointers[order], columns)


def begins_of(words: np.ndarray) -> Edges:
    """The begins of versions, by their words."""
    return Edges.of(words, k.BEGINS, k.BEGUN_AT)


def ends_of(words: np.ndarray) -> Edges:
    """The ends of versions, by their words."""
    return Edges.of(words, k.ENDS, k.ENDED_AT)


class UnitSteps:
    """Makes versions of the steps of the rows of a unit, with places where these are wanted."""

    def __init__(self, unit: UnitApplier[Any], commits: Commits, *, places: bool) -> None:
        self.unit, self._commits = unit, commits
        self._state = np.zeros((), k.STATE)
        self._state["words"] = 1 + (k.ENDED_AT if places else k.ENDS)
        self._words, self._table = np.empty((0, 0), np.int64), np.empty(0, np.int64)

    def take(self, batch: ChangeBatch | None, causes: Causes, file: int, groups: FileGroups) -> None:
        """Take the steps of a batch; `groups` are those of its file."""
        steps = self.unit.take_steps()
        if not len(steps):
            return
        self._make_room(len(steps))
        kinds, places = (_NO_KINDS, _NO_PLACES) if batch is None else (batch.kinds, batch.places)
        taken = k.take_steps(address_of(steps), len(steps), kinds, places, causes.places, groups.all_starts,
                             self._commits.first_of(groups), place_of(file, 0), address_of(self._state))
        assert taken == len(steps), "an end without a begin"

    def versions(self, first: Edge, last: Edge) -> Versions:
        """All versions. Those that were there before the first change begin at `first`, those that are there after the
        last one end at `last`."""
        self._make_room(0)
        words = self._words[:self._n]
        at_first = words[:int(self._state["at_first"])]
        at_first[:, k.BEGINS] = first.step
        at_last = slice(0) if last.step == k.NO_STEP else np.flatnonzero(words[:, k.ENDS] == k.NO_STEP)
        words[at_last, k.ENDS] = last.step
        if self._state["words"] > k.ENDED_AT:
            at_first[:, k.BEGUN_AT], words[at_last, k.ENDED_AT] = first.place, last.place
        self._table = self._table[:0]
        return Versions(words, self.unit.traced_rows())

    @property
    def _n(self) -> int:
        return int(self._state["n"])

    def _make_room(self, more: int) -> None:
        """Have room for so many more versions; at first, begin with the rows that are there."""
        width = int(self._state["words"])
        if not len(self._table):
            at_first = self.unit.traced_rows().at_first
            self._words = np.full((at_first + _FIRST_ROOM, width), k.NO_STEP)
            self._words[:at_first, k.POINTER] = np.arange(at_first)
            self._state["n"] = self._state["at_first"] = at_first
        if self._n + more > len(self._words):
            words = np.empty((self._n + max(more, self._n), width), np.int64)
            words[:self._n] = self._words[:self._n]
            self._words = words
        self._state["versions"] = address_of(self._words)
        made = self._n + more - int(self._state["at_first"])
        if 4 * made > 3 * len(self._table):
            self._table = np.zeros(max(_FIRST_ROOM, 1 << int(2 * made - 1).bit_length()), np.int64)
            self._state["table"], self._state["mask"] = address_of(self._table), len(self._table) - 1
            k.index_versions(address_of(self._state))
