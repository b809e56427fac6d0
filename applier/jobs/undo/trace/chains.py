"""Follows rows through the log: each step of a row begins with the version that another one ended with.

From a row's chain of steps, undo needs the version before its first chosen step, the current one, and whether
all steps from the first chosen one on are chosen: otherwise others have touched the row later (UNDO-CHAIN).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from applier.jobs.history.commits import NEVER

_NONE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class RowSteps:
    """Steps of a table's rows in commit order, arrays of n: the unit, pointers to the rows before and after (NO_ROW:
    none), the commit, whether it is chosen, and, of an update whose rows are in two units, the number that both of its
    steps have (below 0: none). A row that REPLACE deletes and inserts has two steps, too: `replaces` of the second one
    is the number of the first (below 0: none)."""

    units: np.ndarray
    old: np.ndarray
    new: np.ndarray
    commits: np.ndarray
    chosen: np.ndarray
    moves: np.ndarray
    replaces: np.ndarray

    def __len__(self) -> int:
        return len(self.units)

    def part(self, which: np.ndarray) -> RowSteps:
        """Return some of them."""
        return RowSteps(*(getattr(self, field.name)[which] for field in fields(self)))

    @classmethod
    def joined(cls, parts: list[RowSteps]) -> RowSteps:
        """Return the steps of all parts, one part after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


@dataclass(frozen=True)
class Carried:
    """Rows that a statement left unchanged, in a new version of the table: row i that `unit` has at first is the row
    that `pointers[i]` led to in the unit `source`."""

    unit: int
    source: int
    pointers: np.ndarray


@dataclass(frozen=True)
class Chains:
    """Rows that chosen transactions touched, arrays of n, in the order of their first chosen steps: units of, and
    pointers to, the version `before` that step and the one that exists `now` (NO_ROW: none); the number of the `first`
    chosen step; and the last commit by others since then (NEVER: none). `steps` are all steps, `of_step` the chain of
    each (below 0: of a row that nothing chosen touched), and `followed` whether there is a later step of its row."""

    before_units: np.ndarray
    before: np.ndarray
    now_units: np.ndarray
    now: np.ndarray
    first: np.ndarray
    last_later: np.ndarray
    steps: RowSteps
    of_step: np.ndarray
    followed: np.ndarray

    def __len__(self) -> int:
        return len(self.before)

    def known(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the units of, and the pointers to, one row of each of these chains: the row before its first chosen
        step, or else the row that this step made."""
        first, has_before = self.first[which], self.before[which] >= 0
        return (np.where(has_before, self.before_units[which], self.steps.units[first]),
                np.where(has_before, self.before[which], self.steps.new[first]))

    def part(self, which: np.ndarray) -> Chains:
        """Return some of them (bool[n]); to the others nothing is done."""
        numbers = np.where(which, np.cumsum(which) - 1, -1)
        of_step = np.where(self.of_step >= 0, numbers[self.of_step], -1)
        return Chains(self.before_units[which], self.before[which], self.now_units[which], self.now[which],
                      self.first[which], self.last_later[which], self.steps, of_step, self.followed)

    @property
    def touched_later(self) -> np.ndarray:
        """Which of the rows others have touched since: bool[n]."""
        later: np.ndarray = self.last_later != NEVER
        return later

    @property
    def last_steps_by_others(self) -> np.ndarray:
        """The number of the last step by others since the first chosen one: int64[n] (-1: none)."""
        last, by_others = np.full(len(self), -1), np.flatnonzero((self.of_step >= 0) & ~self.steps.chosen)
        np.maximum.at(last, self.of_step[by_others], by_others)
        return np.where(last > self.first, last, -1)


def chains(steps: RowSteps, carried: Sequence[Carried] = ()) -> Chains:
    """Return the chains of the rows that chosen steps touched; `carried` are in the order of the statements."""
    n = len(steps)
    previous, numbers = _previous(steps, carried), np.arange(n)
    roots, followed = _roots(previous), np.zeros(n, bool)
    followed[previous[previous >= 0]] = True
    first, tail = np.full(n, _NONE), np.full(n, -1)
    np.minimum.at(first, roots[steps.chosen], numbers[steps.chosen])
    np.maximum.at(tail, roots, numbers)
    touched = np.flatnonzero(first != _NONE)  # the roots of chains, which are steps
    touched = touched[np.argsort(first[touched])]
    chain_of_root = np.full(n, -1)
    chain_of_root[touched] = np.arange(len(touched))
    of_step = chain_of_root[roots]
    begins, ends = first[touched], tail[touched]
    made = Chains(steps.units[begins], steps.old[begins], steps.units[ends], steps.new[ends], begins,
                  np.full(len(touched), NEVER), steps, of_step, followed)
    last = made.last_steps_by_others
    made.last_later[last >= 0] = steps.commits[last[last >= 0]]
    return made


def _previous(steps: RowSteps, carried: Sequence[Carried]) -> np.ndarray:
    """Return the step that made the row which a step begins with; -1 if it was there at first, or the step makes it."""
    previous, units, old = np.full(len(steps), -1), steps.units.copy(), steps.old.copy()
    for link in reversed(carried):
        own = np.flatnonzero((units == link.unit) & (old >= 0) & (old < len(link.pointers)))
        units[own], old[own] = link.source, link.pointers[old[own]]
    for unit in np.unique(steps.units):
        made = np.flatnonzero((steps.units == unit) & (steps.new >= 0))
        _link(previous, steps.new, made, old, np.flatnonzero((units == unit) & (old >= 0)))
    moves = steps.moves >= 0
    again = np.flatnonzero(steps.replaces >= 0)
    previous[again] = steps.replaces[again]
    _link(previous, steps.moves, np.flatnonzero(moves & (steps.old >= 0)), steps.moves,
          np.flatnonzero(moves & (steps.old < 0)))
    return previous


def _link(previous: np.ndarray, made: np.ndarray, makers: np.ndarray, used: np.ndarray, users: np.ndarray) -> None:
    """Link steps that use the results of others: each is made once."""
    if not len(makers):
        return
    makers = makers[np.argsort(made[makers])]
    found_at = np.minimum(np.searchsorted(made[makers], used[users]), len(makers) - 1)
    found = made[makers[found_at]] == used[users]
    previous[users[found]] = makers[found_at[found]]


def _roots(previous: np.ndarray) -> np.ndarray:
    """Return the first step of each step's chain: in each round, the way that is left is halved."""
    roots = np.where(previous < 0, np.arange(len(previous)), previous)
    while True:
        further = roots[roots]
        if (further == roots).all():
            return roots
        roots = further

