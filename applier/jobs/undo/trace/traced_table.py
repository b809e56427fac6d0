"""One walk over the log for one table: the steps of its rows, from the first chosen transaction on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from applier.apply.output.row_steps import Causes, ReadSteps, StepReader, Steps, give_back, take_steps
from applier.apply.routes.task import steps, table_walks
from applier.apply.tables.unit import UnitApplier
from applier.apply.tasks import ApplyTask
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.same_bytes import SameBytes
from applier.errors import SchemaError, UnsupportedEvent
from applier.jobs.changes.event_groups.groups import version_at
from applier.jobs.changes.log import FeedLog, ReadLog
from applier.jobs.changes.whole.whole_rows import check
from applier.jobs.history.commits import Commits
from applier.jobs.undo.losses import Loss
from applier.jobs.undo.trace.chains import Carried, RowSteps
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import same_to_rows
from applier.schema.history.table_versions import Position, TableVersion

_NO_STEPS = RowSteps(*(np.empty(0, kind) for kind in (np.int32, np.int64, np.int64, np.int64, np.bool_, np.int64,
                                                      np.int64)))


@dataclass(frozen=True)
class LossSince:
    """A statement after the first chosen commit that removed rows: which rows, where it ends, whether the table did not
    exist afterwards, whether it is chosen, its commit, and how many of the first units had the table's rows until
    then."""

    loss: Loss
    end: Position
    drops_table: bool
    is_chosen: bool
    commit: int
    n_units: int


class TracedTable:
    """The steps that a task makes of a table's rows from a commit version on; the wanted part of its log is chosen. At
    statements that removed rows (`losses`, by their ends), these rows go.

    Raises the errors of a replay, and SchemaError if another statement has changed the table since."""

    def __init__(self, log: FeedLog, task: ApplyTask, first_version: int, losses: Mapping[Position, Loss],
                 commits: Commits) -> None:
        self.commits, self._first_version, self._losses = commits, first_version, losses
        self._log, self._read, self._file, self._batches = log, ReadLog(log), 0, 0
        self._walks = table_walks(task, {})
        self._last = log.versions[max(log.versions)]
        self.definition: TableDefinition = self._last.definition
        if any(version.definition.versioning is not None for version in log.versions.values()):
            raise UnsupportedEvent("a system-versioned table keeps its own history of rows",
                                   table=self.definition.full_name, hint="leave it out with --ignore-tables")
        line = self._versions_like_the_last()
        self._line = [id for id in line if id in self._walks]
        self._units, self._offsets = list[UnitApplier](), dict[int, int]()
        for version in self._line:
            self._offsets[version] = len(self._units)
            self._units += self._walks[version].units
        self._parts = {version: [_NO_STEPS] for version in self._line}
        self._grown = dict.fromkeys(sorted(log.versions.keys() & self._walks.keys()), 0)
        for version in self._grown:
            self._walks[version].trace(partial(self._take, version), keeping=version in self._line)
        with SameBytes() as outlined:
            for segment in steps(task, self._walks, outlined):
                check(self._walks)
                self._file = segment.file
        check(self._walks)
        self._check_that_no_rows_are_out_of(line)
        self.losses = self._losses_of(line)
        found, self.carried = [_NO_STEPS], list[Carried]()
        for version in self._line:
            found += [*self._parts[version], *self._lost(version)]
        check(self._walks)
        self.steps = RowSteps.joined(found)

    @property
    def is_there(self) -> bool:
        """True if the table exists at the end of the log."""
        return self._last.end is None

    @property
    def is_dropped_by_chosen(self) -> bool:
        """True if the table does not exist because the undone transactions dropped it."""
        return not self.is_there and bool(self.losses) and self.losses[-1].is_chosen

    def check_that_it_was_not_dropped_again(self) -> None:
        """Raise SchemaError where others have dropped a table since that a chosen statement dropped before."""
        if not self.is_there and not self.is_dropped_by_chosen and any(
                since.is_chosen and since.drops_table for since in self.losses):
            file, position = self.losses[-1].end
            raise SchemaError("the table that the undo restores was dropped again later",
                              file=self._log.files[file].name, position=position, table=self.definition.full_name,
                              hint="also undo that statement, or leave the table out with --ignore-tables")

    @property
    def rows(self) -> int:
        """How many rows the table has where the log ends."""
        return self._rows_at_the_end_of(self._last.id) if self.is_there else 0

    @property
    def columns(self) -> list[str]:
        """The names of the columns that rows have."""
        return [column.name for column in self.definition.stored_columns]

    def position_of(self, version: int) -> str:
        """Return where the transaction with a commit version ends, as FILE:POS."""
        return next((f"{file.name}:{version - start}" for file in self._log.files.values()
                     if 0 < version - (start := version_at(file.name, file.number, 0)) <= file.end), "?")

    def read(self, units: np.ndarray, old: np.ndarray, new: np.ndarray,
             columns: Sequence[str]) -> Iterator[ReadSteps]:
        """Return some columns of the rows at pointers of units, as steps from the old ones to the new ones."""
        n = len(units)
        zeros = np.zeros(n, np.int64)
        made = Steps(np.arange(n), zeros, zeros.astype(np.int32), zeros, (old >= 0) & (new >= 0), old, new, units)
        return StepReader(self._units, columns).read(made) if n else iter(())

    def _take(self, version: int, units: Sequence[UnitApplier], batch: ChangeBatch | None, causes: Causes) -> None:
        made = take_steps(units, batch, causes)
        self._batches += 1
        if not len(made):
            return
        self._grown[version] += int((made.new >= 0).sum() - (made.old >= 0).sum())
        groups = self._read.groups(self._file)
        late, chosen = groups.versions(made.positions) >= self._first_version, groups.are_wanted(made.positions)
        if chosen.any() and version not in self._line:
            raise self._altered(self._log.versions[version])
        if (made.halves & made.by_foreign_keys).any():
            raise UnsupportedEvent("foreign keys give rows another key, in another file of the base",
                                   table=self.definition.full_name,
                                   hint="make the base again with a larger --target-file-size")
        if version in self._line:
            moves = np.where(made.halves, self._batches << 32 | made.changes, -1)
            found = RowSteps(made.units + self._offsets[version], made.old, made.new,
                             self.commits.of(groups, made.positions), chosen, moves,
                             np.full(len(made), -1))
            if late.any():
                self._parts[version].append(found.part(late))
        if not late.any():  # what happens to these rows later begins with what they are now
            give_back(units, made)

    def _versions_like_the_last(self) -> list[int]:
        """Return the versions of the table, from an earlier one to the last, between which statements since the first
        chosen commit took rows away, and did nothing else."""
        found = list[int]()
        for id, version in sorted(self._log.versions.items(), reverse=True):
            if version.end is not None and (
                    version.end not in self._losses or not self._is_late(version.end)
                    or not same_to_rows(version.definition, self.definition)):
                break
            found.insert(0, id)
        return found

    def _rows_at_the_end_of(self, version: int) -> int:
        """Of a version whose rows went nowhere, or stay known."""
        if version not in self._grown:
            return 0
        return self._grown[version] + sum(unit.traced_rows().at_first for unit in self._walks[version].units)

    def _check_that_no_rows_are_out_of(self, line: Sequence[int]) -> None:
        """Raises SchemaError where a chosen TRUNCATE or DROP took rows, or partitions, of a table that is another one
        now."""
        for id, version in self._log.versions.items():
            end = version.end
            if id not in line and end is not None and end in self._losses and self._is_wanted(end) and (
                    self._losses[end].part is not None or self._rows_at_the_end_of(id)):
                raise self._altered(version)

    def _losses_of(self, line: Sequence[int]) -> tuple[LossSince, ...]:
        """Return the rows that were removed since the first chosen commit. A version without changes has no rows of its
        own, but rows of those before it would have been in it."""
        n_units, found = 0, list[LossSince]()
        starts = {version.start for version in self._log.versions.values()}
        for version in line:
            end = self._log.versions[version].end
            if version in self._offsets:
                n_units = self._offsets[version] + len(self._walks[version].units)
            if end is not None:
                found.append(LossSince(self._losses[end], end, end not in starts, self._is_wanted(end),
                                       self._commit(end), n_units))
        return tuple(found)

    def _lost(self, version: int) -> Iterator[RowSteps]:
        """Yield the steps of the statement that ended a version: rows that were there go, or continue to the next
        one."""
        end = self._log.versions[version].end
        if end is None:
            return
        loss, next_one = self._losses[end], self._line.index(version) + 1
        commit, chosen = self._commit(end), self._is_wanted(end)
        for number, unit in enumerate(self._walks[version].units):
            unit_number, left = self._offsets[version] + number, unit.pointers_left
            goes = self.are_lost(np.full(len(left), unit_number), left, loss)
            n = int(goes.sum())
            yield RowSteps(np.full(n, unit_number), left[goes], np.full(n, -1), np.full(n, commit), np.full(n, chosen),
                           np.full(n, -1), np.full(n, -1))
            if loss.part is not None:
                self.carried.append(Carried(self._offsets[self._line[next_one]] + number, unit_number, left[~goes]))

    def are_lost(self, units: np.ndarray, pointers: np.ndarray, loss: Loss) -> np.ndarray:
        """Return which rows at pointers of units a statement would have taken away: bool[n]."""
        if loss.part is None:
            return np.ones(len(units), np.bool_)
        found = [np.empty(0, np.bool_)]
        for read in self.read(units, pointers, np.full(len(units), -1), loss.columns):
            found.append(loss.has(read.values)[read.before])
        return np.concatenate(found)

    def _is_late(self, end: Position) -> bool:
        """Return whether a statement, by where it ends, is none of those before the first chosen commit."""
        return int(self._read.groups(end[0]).versions(np.array([end[1] - 1]))[0]) >= self._first_version

    def _is_wanted(self, end: Position) -> bool:
        return bool(self._read.groups(end[0]).are_wanted(np.array([end[1] - 1]))[0])

    def _commit(self, end: Position) -> int:
        return int(self.commits.of(self._read.groups(end[0]), np.array([end[1] - 1]))[0])

    def _altered(self, version: TableVersion) -> SchemaError:
        """Return the error for rows of a version that is not the last one any more, nor like that."""
        ends = [one.end for id, one in sorted(self._log.versions.items()) if id >= version.id and one.end is not None]
        file, position = next((end for end in ends if end not in self._losses), ends[0])
        return SchemaError("a later statement changed the table", file=self._log.files[file].name,
                           position=position, table=self.definition.full_name,
                           hint="its rows are those of another table now: give --until with a place before the "
                                "statement to see what there was to undo, or restore a snapshot from before it")
