"""Changes with whole rows before and after each, which are had by applying the log to a base.

So a row has its columns that an image leaves out, its JSON documents after their diffs, and what a replica computes;
and rows that foreign keys change below the log have changes, too, in the place of the one that they follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.output.row_steps import NO_CAUSES, Causes, RowSteps, merged
from applier.apply.routes.task import steps, table_walks
from applier.apply.tables.table_walk import TableWalk
from applier.apply.tables.unit import UnitApplier
from applier.apply.tasks import ApplyTask, LogSegment, Refused
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.same_bytes import SameBytes
from applier.errors import UnsupportedEvent
from applier.jobs.changes.feed import ALL_PRESENT, ALTER, DELETE, INSERT, KINDS, OF_CHANGES, POSTIMAGE, PREIMAGE
from applier.jobs.changes.groups import FileGroups
from applier.jobs.changes.log import FeedLog, ReadLog
from applier.jobs.changes.statements import Statement
from applier.mysql.zero_dates import as_nulls

STEP_BYTES = 32 << 20
_CHUNK_ROWS = 1 << 15


class WholeRows:
    """Applies a task, and tells what it does to rows of one of its tables. Where rows are chosen, the task may be one
    for these alone, and `whole` applies all: where a row gets another key, that has its other row, too."""

    def __init__(self, log: FeedLog, task: ApplyTask, whole: ApplyTask | None = None) -> None:
        alters = any(statement.kind == ALTER for statement in log.statements)  # whose rows have numbers among all
        self._log, self._task, self._whole = log, whole if whole is not None and alters else task, whole
        for version in log.versions.values():
            if version.definition.versioning is not None:
                raise UnsupportedEvent("a system-versioned table keeps its past rows itself",
                                       table=version.definition.full_name, hint="ask for changes that are not complete")

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in commit order. Where an ALTER has changed values, all rows follow it, as inserts. Raises
        ReplayStopped where a change cannot be applied."""
        given = 0
        try:
            for batch in self._batches(self._task):
                given += batch.num_rows
                yield batch
        except _OtherRow:
            assert self._whole is not None
            for batch in self._batches(self._whole):
                if given < batch.num_rows:
                    yield batch.slice(given)
                given = max(0, given - batch.num_rows)

    def _batches(self, task: ApplyTask) -> Iterator[pa.RecordBatch]:
        log, walks, made = ReadLog(self._log), table_walks(task, {}), list[tuple[int, RowSteps]]()
        for version in self._log.versions.keys() & walks.keys():
            walks[version].trace(partial(_read, made, version))
        segment: LogSegment | None = None
        with SameBytes() as outlined:
            for following in steps(task, walks, outlined):
                self._check_pairs(task, made)
                yield from self._made(made, log, segment)
                check(walks)
                segment = following
                for statement in log.statements_until((segment.file, segment.start)):
                    yield from self._below(statement, log, walks)
        self._check_pairs(task, made)
        yield from self._made(made, log, segment)
        check(walks)
        for statement in log.statements_until(None):
            yield from self._below(statement, log, walks)

    def _check_pairs(self, task: ApplyTask, made: list[tuple[int, RowSteps]]) -> None:
        """Raise _OtherRow if a task for chosen rows has one row of an update only: the other one has another key."""
        for _, found in made if self._whole is not None and task is not self._whole else ():
            half = found.changes[found.is_update & ((found.before < 0) | (found.after < 0))]
            if (np.unique(half, return_counts=True)[1] == 1).any():
                raise _OtherRow

    def _made(self, made: list[tuple[int, RowSteps]], log: ReadLog,
              segment: LogSegment | None) -> Iterator[pa.RecordBatch]:
        """What batches did that were taken since the last call; all are of the segment's file."""
        for version, found in made:
            assert segment is not None
            groups = log.groups(segment.file)
            wanted = groups.are_wanted(found.places)
            if self._log.chosen is not None:
                chosen = np.append(self._are_chosen(version, found.values), False)  # and of NO_ROW, the last one
                wanted &= chosen[np.maximum(found.before, -1)] | chosen[np.maximum(found.after, -1)]
            before, after = wanted & (found.before >= 0), wanted & (found.after >= 0)
            counts = before.astype(np.int64) + after
            which = np.repeat(np.arange(len(counts)), counts)
            if not len(which):
                continue
            is_before = np.zeros(len(which), np.bool_)
            is_before[(np.cumsum(counts) - counts)[before]] = True
            kinds = np.where(found.is_update[which], np.where(is_before, PREIMAGE, POSTIMAGE),
                             np.where(is_before, DELETE, INSERT)).astype(np.int8)
            rows = np.where(is_before, found.before[which], found.after[which])
            yield self._batch(version, found.values, rows, kinds, groups, found.places[which],
                              found.rows[which], found.by_foreign_keys[which])
        made.clear()

    def _are_chosen(self, version: int, rows: pa.Table) -> np.ndarray:
        """Whether rows of a version are chosen by their keys: bool[n]."""
        if self._log.chosen is None:
            return np.ones(rows.num_rows, np.bool_)
        chosen = self._log.chosen.get(version)
        return np.zeros(rows.num_rows, np.bool_) if chosen is None else chosen.of_rows(
            [rows.column(name) for name in chosen.key.names])

    def _below(self, statement: Statement, log: ReadLog, walks: dict[int, TableWalk]) -> Iterator[pa.RecordBatch]:
        """What a statement does."""
        yield from log.markers([statement])
        if statement.kind != ALTER or statement.made not in walks or not log.is_wanted(statement):
            return
        file, end = statement.end
        for unit in walks[statement.made].units:
            rows = unit.rows_at_first
            numbers = np.flatnonzero(self._are_chosen(statement.made, rows)).astype(np.int32) + 1  # the marker has 0
            if len(numbers) < rows.num_rows:
                rows = rows.take(pa.array(numbers - 1))
            for start in range(0, rows.num_rows, _CHUNK_ROWS):
                n = min(_CHUNK_ROWS, rows.num_rows - start)
                groups = log.groups(file)
                places = np.full(n, groups.starts(np.array([end - 1]))[0])
                yield self._batch(statement.made, rows.slice(start, n), np.arange(n), np.full(n, INSERT, np.int8),
                                  groups, places, numbers[start:start + n], np.zeros(n, np.bool_))
        check(walks)

    def _batch(self, version: int, values: pa.Table, rows: np.ndarray, kinds: np.ndarray, groups: FileGroups,
               places: np.ndarray, numbers: np.ndarray, by_foreign_keys: np.ndarray) -> pa.RecordBatch:
        """Rows of `values`, each with what the feed says of the change that it was in."""
        definition, picks = self._log.versions[version].definition, pa.array(rows)
        names = {name: definition.columns[number].name for number, name in self._log.names[version].items()}
        arrays = [_picked(values.column(names[field.name]), picks) if field.name in names
                  else pa.nulls(len(rows), field.type)
                  for field in self._log.schema if field.name not in OF_CHANGES.names]
        arrays += [pa.DictionaryArray.from_arrays(kinds, KINDS), *groups.columns(places), pa.array(places),
                   pa.array(numbers), pa.array(by_foreign_keys), ALL_PRESENT.slice(0, len(rows))]
        return pa.RecordBatch.from_arrays(arrays, schema=self._log.schema)


class _OtherRow(Exception):
    """An update moves a row to, or from, a key that the task does not have."""


def _read(made: list[tuple[int, RowSteps]], version: int, units: Sequence[UnitApplier[Any]],
          batch: ChangeBatch | None, causes: Causes) -> None:
    """Read what a batch did to rows in the units of a version."""
    for numbers in _some_at_a_time(batch) if batch is not None and causes is NO_CAUSES else (None,):
        parts = [found for unit in units if (found := unit.steps(batch, causes, numbers)) is not None]
        if parts:
            made.append((version, merged(parts)))
    for unit in units:
        unit.forget_steps()


def _some_at_a_time(batch: ChangeBatch) -> Iterator[range]:
    """The numbers of a batch's changes, as many at a time as have about STEP_BYTES in their images."""
    ends = np.cumsum(np.maximum(batch.image_lengths, batch.before_lengths), dtype=np.int64)
    first = 0
    while first < batch.n:
        before = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + STEP_BYTES)))
        yield range(first, end)
        first = end


def _picked(column: pa.ChunkedArray, picks: pa.Array) -> pa.Array:
    taken: pa.Array = as_nulls(column.combine_chunks()).take(picks)
    return taken


def check(walks: Mapping[int, TableWalk]) -> None:
    """Raise what has stopped a unit, if something has."""
    stops = [stop for walk in walks.values() for unit in walk.units for stop in unit.stops]
    errors = [error for stop in stops if isinstance(stop, Refused) for error in stop.errors]
    if errors:
        raise min(errors, key=lambda error: error.position or 0)
