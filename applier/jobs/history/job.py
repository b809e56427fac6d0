"""The job: every version of every row of a table, in key order.

The thread, user and statement that changed a row are looked up for single versions, as far as the log has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from applier.apply.tasks import ApplyTask, ApplyTasks
from applier.binlog.locating.groups import GroupPass, Groups
from applier.engine import compiling
from applier.errors import UnsupportedEvent, UsageError
from applier.jobs.changes.feed import OF_CHANGES
from applier.jobs.changes.job import ChangeLog
from applier.jobs.changes.log import FeedLog, LogFile
from applier.jobs.changes.log_files import LogFiles
from applier.jobs.changes.row_statements import STATEMENT, RowStatements
from applier.jobs.changes.stored import Batches, StoredAs
from applier.jobs.history.walk import OF_POSITIONS, OF_VERSIONS, HistoryWalk
from applier.option_texts import KeyValues
from applier.schema.ddl.schema_changes import TableName
from applier.schema.table_parts import Column
from applier.snapshot.manifest import BinlogPosition

_KEPT_FILES = 4
"""The files whose groups are in memory; versions of a row are in log order."""


@dataclass(frozen=True)
class Origin:
    """The thread that ran a change on the server, and its SQL; None where the log has none."""

    thread_id: int | None
    statement: str | None


class Origins:
    """Finds the origins of changes in these files by the names of files and the offsets of events."""

    def __init__(self, files: Iterable[LogFile], statements: RowStatements) -> None:
        self._files, self._statements = LogFiles(files), statements
        self._groups = lru_cache(_KEPT_FILES)(_groups_of)

    def of(self, file: str, offset: int) -> Origin:
        """The origin of a change. Raises ArchiveError for an event that is malformed."""
        threads = [self._thread(part, offset) for part, _ in self._files.having(file, np.array([offset]))]
        return Origin(threads[0] if threads else None, self._statements.at(file, offset))

    def _thread(self, part: LogFile, offset: int) -> int | None:
        groups = self._groups(part)
        thread = int(groups.threads[np.searchsorted(groups.ends, offset, side="right")])
        return None if thread < 0 else thread


def _groups_of(part: LogFile) -> Groups:
    return GroupPass(part.uri).groups(part.start, part.end)


@dataclass(frozen=True)
class Histories:
    """The data that the histories of all ranges of a table's keys share; picklable. `walked` is the schema of a walk's
    result; with statements, batches have `_statement` instead of OF_POSITIONS."""

    log: FeedLog
    stored: StoredAs
    walked: pa.Schema
    base: BinlogPosition | None
    has_statements: bool

    @property
    def schema(self) -> pa.Schema:
        """That of batches."""
        stored = self.stored.schema
        if not self.has_statements:
            return stored
        return pa.schema([*(field for field in stored if field.name not in OF_POSITIONS.names), STATEMENT])

    def batches(self, task: ApplyTask) -> Iterator[pa.RecordBatch]:
        """The versions of the rows that a task has, as HistoryWalk.batches."""
        return self._given(HistoryWalk(self.log, self.base, self.walked, task).batches(), self._statements())

    def by_range(self, task: ApplyTask) -> Iterator[tuple[int, Iterator[pa.RecordBatch]]]:
        """The same by range of keys, as HistoryWalk.by_range."""
        statements = self._statements()
        for number, batches in HistoryWalk(self.log, self.base, self.walked, task).by_range():
            yield number, self._given(batches, statements)

    def _statements(self) -> RowStatements | None:
        return RowStatements(self.log.files.values()) if self.has_statements else None

    def _given(self, batches: Iterator[pa.RecordBatch], statements: RowStatements | None) -> Iterator[pa.RecordBatch]:
        stored = self.stored.part(Batches(batches)).batches()
        if statements is None:
            return stored
        return (more for batch in stored for more in statements.added(batch, self.schema, "_from_file", "_from_pos"))


@dataclass(frozen=True)
class RowHistory:
    """The versions of a table's rows; `notes` are notes for the user. With statements batches have `_statement`, the
    SQL that began a version where the log has it; else they may have OF_POSITIONS."""

    notes: tuple[str, ...]
    table: TableName
    _changes: ChangeLog
    _common: Histories
    _task: ApplyTask

    @property
    def schema(self) -> pa.Schema:
        """That of the batches."""
        return self._common.schema

    @property
    def origins(self) -> Origins:
        """Finds the transactions that made changes, by their positions."""
        return Origins(self._common.log.files.values(), self._changes.row_statements)

    @property
    def columns(self) -> dict[str, Column]:
        """The table's columns in the history, by name."""
        return self._common.log.columns

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the columns of the table's key, where it has one."""
        return self._common.log.key

    @property
    def ends_at(self) -> BinlogPosition:
        """Where the log ends: the versions without an end are those of the rows there."""
        return self._changes.ends_at

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The versions by key, and of a row in the order of their beginning; those of a table without a key as they
        began. Raises ArchiveError for damage, and ReplayStopped where a replica would stop."""
        return self._common.batches(self._task)

    def in_parts(self, cores: int) -> tuple[Histories, ApplyTasks, float]:
        """Return the same by ranges of keys, for tasks on `cores` cores: the shared data, the tasks, and how many core
        seconds it takes to apply the changes."""
        return self._common, *self._changes.applied_in_parts(self.table, self._common.log, cores)

    @property
    def locations(self) -> tuple[str, ...]:
        """The inputs."""
        return self._changes.locations


def row_history(changes: ChangeLog, table: TableName, columns: tuple[str, ...] | None = None,
                keys: KeyValues | None = None, *, positions: bool = False, statements: bool = False) -> RowHistory:
    """Plan how the table's changes are applied, which are to be complete ones; of all rows, or of those with these
    keys. Raises what a feed of them raises."""
    compiling.ensure("history", changes.progress)
    changes = changes.from_first_images([table])
    log, task = changes.applied(table, columns, keys)
    for version in log.versions.values():
        if version.definition.versioning is not None:
            raise UnsupportedEvent("a system-versioned table keeps its own history of rows",
                                   table=version.definition.full_name, hint="replay these logs to get the rows")
    fields = [field for field in log.schema if field.name not in OF_CHANGES.names]
    own = [*OF_VERSIONS, *(OF_POSITIONS if positions or statements else ()), *([STATEMENT] if statements else ())]
    if taken := [field.name for field in fields if field.name in pa.schema(own).names]:
        raise UsageError(f"column {taken[0]} has the name of one of the history's own columns",
                         hint="ask for its other columns")
    schema = pa.schema([*fields, *(field for field in own if field != STATEMENT)])
    common = Histories(log, changes.stored_as(table, log, schema), schema, changes.begins_at, statements)
    return RowHistory(changes.notes_on(table, log), table, changes, common, task)
