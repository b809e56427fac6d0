"""One way through the log for one table: the steps of its rows, from the first chosen transaction on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from applier.apply.output.row_steps import Causes, ReadSteps, StepReader, Steps, give_back, take_steps
from applier.apply.routes.task import steps, table_walks
from applier.apply.tables.unit import UnitApplier
from applier.apply.tasks import ApplyTask
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.same_bytes import SameBytes
from applier.errors import SchemaError, UnsupportedEvent
from applier.jobs.changes.log import FeedLog, ReadLog
from applier.jobs.changes.whole_rows import check
from applier.jobs.history.commits import Commits
from applier.jobs.undo.chains import RowSteps
from applier.schema.definition import TableDefinition
from applier.schema.history.table_versions import Position

_SHAPE = "columns", "keys", "foreign_keys", "partitioning"
"""What of a definition has to be the same for rows of one version to be those of another one."""
_NO_STEPS = RowSteps(*(np.empty(0, kind) for kind in (np.int32, np.int64, np.int64, np.int64, np.bool_, np.int64)))


class TracedTable:
    """The steps that a task makes of a table's rows from a commit version on; what is wanted of its log is chosen.
    Where a TRUNCATE or DROP ends (`emptied`), all rows go.

    Raises what a replay raises, and SchemaError where another statement has changed the table since."""

    def __init__(self, log: FeedLog, task: ApplyTask, first_version: int, emptied: Collection[Position],
                 commits: Commits) -> None:
        self.commits, self._first_version, self._emptied = commits, first_version, emptied
        self._log, self._read, self._file, self._batches = log, ReadLog(log), 0, 0
        self._walks = table_walks(task, {})
        self._last = log.versions[max(log.versions)]
        self.definition: TableDefinition = self._last.definition
        if any(version.definition.versioning is not None for version in log.versions.values()):
            raise UnsupportedEvent("a system-versioned table keeps its past rows itself",
                                   table=self.definition.full_name, hint="leave it out with --ignore-tables")
        line = self._versions_like_the_last()
        self._line = [id for id in line if id in self._walks]
        self._units, self._offsets = list[UnitApplier[Any]](), dict[int, int]()
        for version in self._line:
            self._offsets[version] = len(self._units)
            self._units += self._walks[version].units
        self._parts = {version: [_NO_STEPS] for version in self._line}
        self._all = {version: [_NO_STEPS] for version in self._line if log.versions[version].end is not None}
        self._grown = dict.fromkeys(sorted(log.versions.keys() & self._walks.keys()), 0)
        for version in self._grown:
            self._walks[version].trace(partial(self._take, version))
        with SameBytes() as outlined:
            for segment in steps(task, self._walks, outlined):
                check(self._walks)
                self._file = segment.file
        check(self._walks)
        self._check_that_no_rows_are_out_of_line()
        self.emptied_by_others = list(self._emptied_by_others(line))
        """Where others emptied or dropped it: how many of the first units had its rows until then, and the commit."""
        self.steps = RowSteps.joined([_NO_STEPS, *(part for version in self._line for part in (
            *self._parts[version], self._emptying(version)))])

    @property
    def is_there(self) -> bool:
        """Whether the table is there where the log ends."""
        return self._last.end is None

    @property
    def is_dropped_by_chosen(self) -> bool:
        """Whether the table is not there, since what is undone dropped it."""
        end = self._last.end
        return end is not None and end in self._emptied and self._is_chosen(end)

    @property
    def rows(self) -> int:
        """How many rows the table has where the log ends."""
        return self._rows_at_the_end_of(self._last.id) if self.is_there else 0

    @property
    def columns(self) -> list[str]:
        """The names of the columns that rows have."""
        return [column.name for column in self.definition.stored_columns]

    def read(self, units: np.ndarray, old: np.ndarray, new: np.ndarray,
             columns: Sequence[str]) -> Iterator[ReadSteps]:
        """Some columns of the rows at pointers of units, as steps from the old ones to the new ones."""
        n = len(units)
        zeros = np.zeros(n, np.int64)
        made = Steps(np.arange(n), zeros, zeros.astype(np.int32), (old >= 0) & (new >= 0), old, new, units)
        return StepReader(self._units, columns).read(made) if n else iter(())

    def _take(self, version: int, units: Sequence[UnitApplier[Any]], batch: ChangeBatch | None, causes: Causes) -> None:
        made = take_steps(units, batch, causes)
        self._batches += 1
        if not len(made):
            return
        self._grown[version] += int((made.new >= 0).sum() - (made.old >= 0).sum())
        groups = self._read.groups(self._file)
        late, chosen = groups.versions(made.places) >= self._first_version, groups.are_wanted(made.places)
        if chosen.any() and version not in self._line:
            raise self._altered(version)
        if (made.halves & made.by_foreign_keys).any():
            raise UnsupportedEvent("foreign keys give rows another key, in another file of the base",
                                   table=self.definition.full_name,
                                   hint="make the base anew with a larger --target-file-size")
        if version in self._line:
            moves = np.where(made.halves, self._batches << 32 | made.changes, -1)
            found = RowSteps(made.units + self._offsets[version], made.old, made.new,
                             self.commits.of(groups, made.places), chosen, moves)
            if version in self._all:
                self._all[version].append(found)
            if late.any():
                self._parts[version].append(found.part(late))
        if not late.any():  # what happens to these rows later begins with what they are now
            give_back(units, made)

    def _versions_like_the_last(self) -> list[int]:
        """The versions of the table, from an earlier one to the last, between which it was emptied alone."""
        found = list[int]()
        for id, version in sorted(self._log.versions.items(), reverse=True):
            same = all(getattr(version.definition, name) == getattr(self.definition, name) for name in _SHAPE)
            if not same or (version.end is not None and version.end not in self._emptied):
                break
            found.insert(0, id)
        return found

    def _rows_at_the_end_of(self, version: int) -> int:
        if version not in self._grown:
            return 0
        return self._grown[version] + sum(unit.traced_rows().at_first for unit in self._walks[version].units)

    def _check_that_no_rows_are_out_of_line(self) -> None:
        """Raises SchemaError where a chosen TRUNCATE or DROP took rows of a table that is another one now."""
        for version in self._grown.keys() - set(self._line):
            end = self._log.versions[version].end
            if end is not None and end in self._emptied and self._is_chosen(end) and self._rows_at_the_end_of(version):
                raise self._altered(version)

    def _is_chosen(self, end: Position) -> bool:
        return bool(self._read.groups(end[0]).are_wanted(np.array([end[1] - 1]))[0])

    def _emptied_by_others(self, line: Sequence[int]) -> Iterator[tuple[int, int]]:
        """A version without changes has no rows of its own, but rows of those before it would have been in it."""
        n_units = 0
        for version in line:
            end = self._log.versions[version].end
            if version in self._offsets:
                n_units = self._offsets[version] + len(self._walks[version].units)
            if end is not None:
                groups, place = self._read.groups(end[0]), np.array([end[1] - 1])
                if int(groups.versions(place)[0]) >= self._first_version and not groups.are_wanted(place)[0]:
                    yield n_units, int(self.commits.of(groups, place)[0])

    def _emptying(self, version: int) -> RowSteps:
        """The steps of a TRUNCATE or DROP at the end of a version: each row that is there then goes."""
        end = self._log.versions[version].end
        if end is None:
            return _NO_STEPS
        groups, place = self._read.groups(end[0]), np.array([end[1] - 1])
        if int(groups.versions(place)[0]) < self._first_version:
            return _NO_STEPS
        everything, parts = RowSteps.joined(self._all[version]), [_NO_STEPS]
        commit, chosen = int(self.commits.of(groups, place)[0]), bool(groups.are_wanted(place)[0])
        units, first = self._walks[version].units, self._offsets[version]
        for number, unit in enumerate(units, first):
            own = everything.part(everything.units == number)
            made, gone = own.new[own.new >= 0], own.old[own.old >= 0]
            pointers, which = np.unique(np.concatenate([np.arange(unit.traced_rows().at_first), made, gone]),
                                        return_inverse=True)
            counts = np.bincount(which.reshape(-1)[:len(which) - len(gone)], minlength=len(pointers))
            counts -= np.bincount(which.reshape(-1)[len(which) - len(gone):], minlength=len(pointers))
            there = pointers[counts > 0]
            n = len(there)
            parts.append(RowSteps(np.full(n, number), there, np.full(n, -1), np.full(n, commit), np.full(n, chosen),
                                  np.full(n, -1)))
        return RowSteps.joined(parts)

    def _altered(self, version: int) -> SchemaError:
        end = self._log.versions[version].end
        assert end is not None
        file = self._log.files[end[0]].name
        return SchemaError("a statement has changed the table since", file=file, position=end[1],
                           table=self.definition.full_name,
                           hint="its rows are those of another table now: give --until with a place before the "
                                "statement to see what there was to undo, or restore a snapshot of a place before")
