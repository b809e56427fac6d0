"""One way through the log for one table: the steps of its rows, from the first chosen transaction on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

_NO_STEPS = RowSteps(*(np.empty(0, kind) for kind in (np.int32, np.int64, np.int64, np.int64, np.bool_, np.int64)))


class TracedTable:
    """The steps that a task makes of a table's rows from a commit version on; what is wanted of its log is chosen.
    Raises what a replay raises, and SchemaError where a statement has changed the table since."""

    def __init__(self, log: FeedLog, task: ApplyTask, first_version: int, commits: Commits) -> None:
        self.commits, self._first_version = commits, first_version
        self._log, self._read, self._file, self._batches, self._grown = log, ReadLog(log), 0, 0, 0
        self._parts = list[RowSteps]()
        self._walks = table_walks(task, {})
        self._version = max(log.versions)
        self.definition: TableDefinition = log.versions[self._version].definition
        if any(version.definition.versioning is not None for version in log.versions.values()):
            raise UnsupportedEvent("a system-versioned table keeps its past rows itself",
                                   table=self.definition.full_name, hint="leave it out with --ignore-tables")
        for version in sorted(log.versions.keys() & self._walks.keys()):
            self._walks[version].trace(partial(self._take, version))
        with SameBytes() as outlined:
            for segment in steps(task, self._walks, outlined):
                check(self._walks)
                self._file = segment.file
        check(self._walks)
        self.steps = RowSteps.joined([_NO_STEPS, *self._parts])
        units = self._walks[self._version].units if self._version in self._walks else ()
        self.rows = self._grown + sum(unit.traced_rows().at_first for unit in units)
        """How many rows the table has where the log ends."""

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
        return StepReader(self._walks[self._version].units, columns).read(made) if n else iter(())

    def _take(self, version: int, units: Sequence[UnitApplier[Any]], batch: ChangeBatch | None, causes: Causes) -> None:
        made = take_steps(units, batch, causes)
        self._batches += 1
        if not len(made):
            return
        if version == self._version:
            self._grown += int((made.new >= 0).sum() - (made.old >= 0).sum())
        groups = self._read.groups(self._file)
        late, chosen = groups.versions(made.places) >= self._first_version, groups.are_wanted(made.places)
        if not late.any():  # what happens to these rows later begins with what they are now
            give_back(units, made)
            return
        if chosen.any() and self._log.versions[version].end is not None:
            raise self._altered(version)
        if version != self._version:
            return
        if (made.halves & made.by_foreign_keys).any():
            raise UnsupportedEvent("foreign keys give rows another key, in another file of the base",
                                   table=self.definition.full_name,
                                   hint="make the base anew with a larger --target-file-size")
        moves = np.where(made.halves, self._batches << 32 | made.changes, -1)
        commits = self.commits.of(groups, made.places)
        self._parts.append(RowSteps(made.units, made.old, made.new, commits, chosen, moves).part(late))

    def _altered(self, version: int) -> SchemaError:
        end = self._log.versions[version].end
        assert end is not None
        file = self._log.files[end[0]].name
        return SchemaError("a statement has changed the table since", file=file, position=end[1],
                           table=self.definition.full_name,
                           hint="its rows are those of another table now: give --until with a place before the "
                                "statement to see what there was to undo, or restore a snapshot of a place before")
