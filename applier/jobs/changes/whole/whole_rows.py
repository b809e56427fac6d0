"""Changes with whole rows before and after each, computed by applying the log to a base.

So a row has the columns that an image omits, its JSON documents after their diffs, and computed values of a replica.
Rows that foreign keys change outside the log have changes, too, at the position of the change that caused them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from applier.apply.output.row_steps import Causes, ReadSteps, StepReader, Steps, give_back, take_steps
from applier.apply.routes.task import steps, table_walks
from applier.apply.tables.table_walk import TableWalk
from applier.apply.tables.unit import UnitApplier
from applier.apply.tables.unit_outcome import stops
from applier.apply.tasks import ApplyTask, LogSegment, Refused
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.same_bytes import SameBytes
from applier.errors import UnsupportedEvent
from applier.jobs.changes.columns import as_type
from applier.jobs.changes.event_groups.groups import FileGroups
from applier.jobs.changes.feed import ALL_PRESENT, ALTER, DELETE, INSERT, KINDS, OF_CHANGES, POSTIMAGE, PREIMAGE
from applier.jobs.changes.keys import ChosenKeys
from applier.jobs.changes.log import FeedLog, ReadLog
from applier.jobs.changes.statements import Statement
from applier.mysql.reader_values import as_shown
from applier.schema.table_parts import Column

_CHUNK_ROWS = 1 << 15


class WholeRows:
    """Applies a task, and yields its effects on rows of one of its tables. If rows are chosen, the task may be one for
    these alone, and `whole` applies all: for a row that gets another key, that has its other row, too."""

    def __init__(self, log: FeedLog, task: ApplyTask, whole: ApplyTask | None = None) -> None:
        alters = any(statement.kind == ALTER for statement in log.statements)  # whose rows have numbers among all
        self._log, self._task, self._whole = log, whole if whole is not None and alters else task, whole
        for version in log.versions.values():
            if version.definition.versioning is not None:
                raise UnsupportedEvent("a system-versioned table keeps its own history of rows",
                                       table=version.definition.full_name, hint="ask for changes that are not complete")

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the changes in commit order. Where an ALTER has changed values, all rows follow it, as inserts. Raises
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
        log, walks = ReadLog(self._log), table_walks(task, {})
        traced = {version: _TracedVersion(walks[version], self._columns(version), self._log.chosen_of(version),
                                           of_pairs=self._whole is not None and task is not self._whole)
                  for version in sorted(self._log.versions.keys() & walks.keys()) if self._log.has_rows_of(version)}
        segment: LogSegment | None = None
        with SameBytes() as outlined:
            for following in steps(task, walks, outlined):
                yield from self._made(traced, log, segment)
                check(walks)
                segment = following
                for statement in log.statements_until((segment.file, segment.start)):
                    yield from self._below(statement, log, walks)
        yield from self._made(traced, log, segment)
        check(walks)
        for statement in log.statements_until(None):
            yield from self._below(statement, log, walks)

    def _columns(self, version: int) -> list[str]:
        """Return the columns of a version that the feed has; one of them at least, whose rows can be counted."""
        definition, names = self._log.versions[version].definition, self._log.names[version]
        wanted = [definition.columns[number].name for number, name in names.items() if name in self._log.columns]
        return wanted or [definition.stored_columns[0].name]

    def _made(self, traced: dict[int, _TracedVersion], log: ReadLog,
              segment: LogSegment | None) -> Iterator[pa.RecordBatch]:
        """Yield the changes of the batches taken since the last call; all are of the segment's file."""
        if segment is not None:
            groups = log.groups(segment.file)
            for version, of_version in traced.items():
                for read in of_version.read(groups):
                    yield self._changes(version, read, groups)

    def _changes(self, version: int, read: ReadSteps, groups: FileGroups) -> pa.RecordBatch:
        """Return steps as changes: the row before each, and then the one after it."""
        before, after = read.before >= 0, read.after >= 0
        counts = before.astype(np.int64) + after
        which = np.repeat(np.arange(len(counts)), counts)
        is_before = np.zeros(len(which), np.bool_)
        is_before[(np.cumsum(counts) - counts)[before]] = True
        steps = read.steps
        kinds = np.where(steps.is_update[which], np.where(is_before, PREIMAGE, POSTIMAGE),
                         np.where(is_before, DELETE, INSERT)).astype(np.int8)
        rows = np.where(is_before, read.before[which], read.after[which])
        return self._batch(version, read.values, rows, kinds, groups, steps.positions[which], steps.rows[which],
                           steps.seqs[which], steps.by_foreign_keys[which])

    def _below(self, statement: Statement, log: ReadLog, walks: dict[int, TableWalk]) -> Iterator[pa.RecordBatch]:
        """Yield the changes of a statement."""
        yield from log.markers([statement])
        if statement.kind != ALTER or statement.made not in walks or not log.is_wanted(statement) \
                or not self._log.has_rows_of(statement.made):
            return
        (file, end), known = statement.end, 1  # the marker has 0
        for unit in walks[statement.made].units:
            rows = unit.rows_at_first
            numbers = np.arange(known, known + rows.num_rows, dtype=np.int32)
            known += rows.num_rows
            if (chosen := self._log.chosen_of(statement.made)) is not None:
                of_keys = chosen.of_table(rows)
                numbers = numbers[of_keys]
                rows = rows.filter(pa.array(of_keys))
            for start in range(0, rows.num_rows, _CHUNK_ROWS):
                n = min(_CHUNK_ROWS, rows.num_rows - start)
                groups = log.groups(file)
                positions = np.full(n, groups.starts(np.array([end - 1]))[0])
                yield self._batch(statement.made, rows.slice(start, n), np.arange(n), np.full(n, INSERT, np.int8),
                                  groups, positions, numbers[start:start + n],
                                  statement.seq + numbers[start:start + n].astype(np.int64), np.zeros(n, np.bool_))
        check(walks)

    def _batch(self, version: int, values: pa.Table, rows: np.ndarray, kinds: np.ndarray, groups: FileGroups,
               positions: np.ndarray, numbers: np.ndarray, seqs: np.ndarray,
               by_foreign_keys: np.ndarray) -> pa.RecordBatch:
        """Return the rows of `values`, each with the feed's description of its change."""
        definition, picks = self._log.versions[version].definition, pa.array(rows)
        names = {name: definition.columns[number].name for number, name in self._log.names[version].items()}
        arrays = [as_type(_picked(values, definition.column(names[field.name]), picks), field.type)
                  if field.name in names else pa.nulls(len(rows), field.type)
                  for field in self._log.schema if field.name not in OF_CHANGES.names]
        arrays += [pa.DictionaryArray.from_arrays(kinds, KINDS), *groups.columns(positions, seqs),
                   pa.array(positions), pa.array(numbers), pa.array(by_foreign_keys), ALL_PRESENT.slice(0, len(rows)),
                   pa.nulls(len(rows), pa.string())]
        return pa.RecordBatch.from_arrays(arrays, schema=self._log.schema)


class _OtherRow(Exception):
    """An update moves a row to, or from, a key that the task does not have."""


class _TracedVersion:
    """The steps of the rows of a version: some columns of all rows, or of those that are `chosen`. Where units do not
    have all rows, updates must be `of_pairs`: of a row before and one after them."""

    def __init__(self, walk: TableWalk, columns: Sequence[str], chosen: ChosenKeys | None, *, of_pairs: bool) -> None:
        self._units, self._chosen, self._taken, self._of_pairs = walk.units, chosen, list[Steps](), of_pairs
        self._reader = StepReader(walk.units, columns)
        self._keys = None if chosen is None else StepReader(walk.units, chosen.key.names)
        walk.trace(self._take)

    def _take(self, units: Sequence[UnitApplier], batch: ChangeBatch | None, causes: Causes) -> None:
        if len(made := take_steps(units, batch, causes)):
            self._taken.append(made)

    def read(self, groups: FileGroups) -> Iterator[ReadSteps]:
        """Yield the steps of the batches taken since the last call, of the wanted groups. Raises _OtherRow."""
        for made in self._taken:
            if self._of_pairs and (np.unique(made.changes[made.halves], return_counts=True)[1] == 1).any():
                raise _OtherRow
            wanted = groups.are_wanted(made.positions)
            yield from self._reader.read(self._of_chosen(made if wanted.all() else made.part(wanted)))
            give_back(self._units, made)
        self._taken.clear()

    def _of_chosen(self, steps: Steps) -> Steps:
        """Return those of chosen rows. Where an update's row before and the one after are in two units, that is two
        steps, and either chooses both."""
        if self._keys is None or self._chosen is None:
            return steps
        found = [np.empty(0, np.bool_)]
        for read in self._keys.read(steps):
            chosen = np.append(self._chosen.of_table(read.values), False)  # of NO_ROW, too, which is the last one
            found.append(chosen[read.before] | chosen[read.after])
        wanted, halves = np.concatenate(found), steps.halves
        return steps.part(wanted | (halves & np.isin(steps.changes, steps.changes[halves & wanted])))


def _picked(values: pa.Table, column: Column, picks: pa.Array) -> pa.Array:
    taken: pa.Array = as_shown(values.column(column.name).combine_chunks(), column.type).take(picks)
    return taken


def check(walks: Mapping[int, TableWalk]) -> None:
    """Raise the error that has stopped a unit, if any."""
    found = [stop for walk in walks.values() for unit in walk.units for stop in stops(unit)]
    errors = [error for stop in found if isinstance(stop, Refused) for error in stop.errors]
    if errors:
        raise min(errors, key=lambda error: error.position or 0)
