"""The effects of changes on rows, step by step, for change feeds and histories.

An index keeps the pointers of each step (pointer_kernel.TRACED). They are taken after each batch. The rows are read on
demand, some steps at a time, so that not all rows of a batch are in memory together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from applier.apply.index.pointer_kernel import NO_ROW, TRACED
from applier.binlog.rows.changes import UPDATE, ChangeBatch

WINDOW_BYTES = 32 << 20
"""The approximate number of bytes of rows to read at a time."""
_FIRST_STEPS, _MOST_STEPS = 1 << 8, 1 << 13


@dataclass(frozen=True)
class Causes:
    """The locations of changes of several tables, in commit order: the offsets of their events, the rows in these, and
    `seqs` as in a ChangeBatch."""

    positions: np.ndarray
    rows: np.ndarray
    seqs: np.ndarray


NO_CAUSES = Causes(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))


class Rows(Protocol):
    """The rows to which pointers lead."""

    def at(self, pointers: np.ndarray, columns: Sequence[str]) -> Iterator[pa.Table]: ...


class TracedUnit(Protocol):
    """A unit of a table that keeps the steps of its rows."""

    def take_steps(self) -> np.ndarray: ...
    def give_back(self, pointers: np.ndarray) -> None: ...
    def traced_rows(self) -> Rows: ...


@dataclass(frozen=True)
class Steps:
    """Steps in commit order, arrays of n: the number of the change in its batch (negative: foreign keys made it), the
    offset of its event, and the row in the event; its number in its event group, where changes that foreign keys made
    are numbered after the change that caused them; whether it is part of an update; pointers to the row before and
    after it (NO_ROW: none), and the number of their unit among the table's."""

    changes: np.ndarray
    positions: np.ndarray
    rows: np.ndarray
    seqs: np.ndarray
    is_update: np.ndarray
    old: np.ndarray
    new: np.ndarray
    units: np.ndarray

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def by_foreign_keys(self) -> np.ndarray:
        """Which changes foreign keys made, so that the log does not contain them: bool[n]."""
        made: np.ndarray = self.changes < 0
        return made

    @property
    def halves(self) -> np.ndarray:
        """Which steps have only the row before or only the row after an update: bool[n]. The other one is in the
        adjacent step, if one of the units has it."""
        made: np.ndarray = self.is_update & ((self.old < 0) | (self.new < 0))
        return made

    def part(self, which: slice | np.ndarray) -> Steps:
        """Return some of the steps."""
        return Steps(*(array[which] for array in vars(self).values()))


@dataclass(frozen=True)
class ReadSteps:
    """Steps with their rows: `before` and `after` are the numbers in `values` of the row before and after each step
    (NO_ROW: none)."""

    steps: Steps
    before: np.ndarray
    after: np.ndarray
    values: pa.Table


def take_steps(units: Sequence[TracedUnit], batch: ChangeBatch | None, causes: Causes) -> Steps:
    """Return the steps of rows in a table's units after a batch. Steps that foreign keys made are numbered by `causes`.
    If a row moves between units, the step in the old unit comes first."""
    parts = [unit.take_steps() for unit in units]
    traced = np.concatenate(parts) if parts else np.empty(0, TRACED)
    numbers = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    if sum(len(part) > 0 for part in parts) > 1:
        order = np.argsort(2 * traced["change"] + (traced["old"] < 0), kind="stable")
        traced, numbers = traced[order], numbers[order]
    changes, old, new = (np.ascontiguousarray(traced[name]) for name in ("change", "old", "new"))
    positions, seqs = np.empty((2, len(traced)), np.int64)
    rows, own = np.empty(len(traced), np.int32), changes >= 0
    is_update = (old >= 0) & (new >= 0)
    if batch is not None:
        positions[own], rows[own], seqs[own] = (array[changes[own]] for array in (batch.positions, batch.rows,
                                                                                                  batch.seqs))
        is_update[own] |= batch.kinds[changes[own]] == UPDATE
    made = -1 - changes[~own]
    positions[~own], rows[~own] = causes.positions[made], causes.rows[made]
    seqs[~own] = causes.seqs[made] + 1 + _numbers_in_runs(made)
    return Steps(changes, positions, rows, seqs, is_update, old, new, numbers)


def _numbers_in_runs(values: np.ndarray) -> np.ndarray:
    """Return the number of each value in its run of equal values, from 0 on."""
    begins = np.flatnonzero(np.diff(values, prepend=-1))
    numbers: np.ndarray = np.arange(len(values)) - np.repeat(begins, np.diff(begins, append=len(values)))
    return numbers


def give_back(units: Sequence[TracedUnit], steps: Steps) -> None:
    """Release the pointers to the rows before these steps, which must be all steps that were taken from the units."""
    for number, unit in enumerate(units):
        unit.give_back(steps.old[steps.units == number])


class StepReader:
    """Reads some columns of the rows before and after steps, about WINDOW_BYTES at a time. The number of rows is
    estimated from earlier ones."""

    def __init__(self, units: Sequence[TracedUnit], columns: Sequence[str]) -> None:
        self._units, self._columns, self._n = units, columns, _FIRST_STEPS

    def read(self, steps: Steps) -> Iterator[ReadSteps]:
        """Yield the steps in order. Raises ApplierError for a JSON diff that does not fit, and if a column's values are
        numbers that are not known yet."""
        units = {number: self._units[number].traced_rows() for number in np.unique(steps.units).tolist()}
        first = 0
        while first < len(steps):
            end = first + self._n
            if end < len(steps) and steps.changes[end] == steps.changes[end - 1] and steps.is_update[end] \
                    and steps.old[end] < 0:
                end += 1  # both rows of an update are read together
            some = steps.part(slice(first, end))
            if (read := self._read(some, units)) is None:
                self._n = len(some) // 2
                continue
            yield read
            first += len(some)
            a_row = max(1, read.values.nbytes // max(1, read.values.num_rows))
            self._n = max(1, min(2 * self._n, WINDOW_BYTES // a_row, _MOST_STEPS))

    def _read(self, steps: Steps, units: Mapping[int, Rows]) -> ReadSteps | None:
        """Return steps with their rows; a row that is the result of one step and the start of the next one is read
        once. None if there are too many rows to read at a time."""
        before, after = np.empty(len(steps), np.int64), np.empty(len(steps), np.int64)
        parts, n = list[pa.Table](), 0
        for number, rows_of in units.items():
            own = slice(None) if len(units) == 1 else np.flatnonzero(steps.units == number)
            old, new = steps.old[own], steps.new[own]
            distinct, which = np.unique(np.concatenate([old, new]), return_inverse=True)
            none = int(np.searchsorted(distinct, 0))
            which = np.where(which < none, NO_ROW, which.reshape(-1) - none + n)
            before[own], after[own] = which[:len(old)], which[len(old):]
            n += len(distinct) - none
            for rows in rows_of.at(distinct[none:], self._columns):
                parts.append(rows)
                if len(steps) > 1 and rows.num_rows < len(distinct) - none:
                    return None
        return ReadSteps(steps, before, after, pa.concat_tables(parts))
