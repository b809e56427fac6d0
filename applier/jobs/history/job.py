"""The job: every version of every row of a table, in key order.

The thread, user and statement that changed a row are looked up for single versions, as far as the log has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.apply.tasks import ApplyTask, ApplyTasks
from applier.binlog.locating.groups import GroupPass
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

OF_THREADS = pa.schema([pa.field("_from_thread", pa.int64()), pa.field("_to_thread", pa.int64())])
"""The threads that began and ended versions on the server; null where the log has none."""


@dataclass(frozen=True)
class Origin:
    """The thread that ran a change on the server, and its SQL; None where the log has none."""

    thread_id: int | None
    statement: str | None


class Origins:
    """Finds the origins of changes in these files by the names of files and the offsets of events."""

    def __init__(self, files: Iterable[LogFile], statements: RowStatements) -> None:
        self._threads, self._statements = _Threads(files), statements

    def of(self, file: str, offset: int) -> Origin:
        """Return the origin of a change. Raises ArchiveError for an event that is malformed."""
        files = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array([file]))
        [thread] = self._threads.of(files, pa.array([offset])).to_pylist()
        return Origin(thread, self._statements.at(file, offset))


class _Threads:
    """Finds the threads that ran changes, by the names of files and the offsets of events. Of each file that has some,
    the groups' ends and threads stay in memory."""

    def __init__(self, files: Iterable[LogFile]) -> None:
        self._files = LogFiles(files)
        self._known: dict[LogFile, tuple[np.ndarray, np.ndarray]] = {}

    def of(self, files: pa.DictionaryArray, offsets: pa.Array) -> pa.Array:
        """Return the threads of changes; null without a place, and where the log has none."""
        numbers, at = np.asarray(files.indices.fill_null(-1)), np.asarray(offsets.fill_null(-1))
        found = np.full(len(at), -1, np.int64)
        for number, name in enumerate(files.dictionary.to_pylist()):
            here = np.flatnonzero(numbers == number)
            for part, inside in self._files.having(name, at[here]):
                ends, threads = self._of(part)
                found[here[inside]] = threads[np.searchsorted(ends, at[here[inside]], side="right")]
        return pa.array(found, mask=found < 0)

    def _of(self, part: LogFile) -> tuple[np.ndarray, np.ndarray]:
        if part not in self._known:
            groups = GroupPass(part.uri).groups(part.start, part.end)
            self._known[part] = groups.ends.copy(), groups.threads.copy()
        return self._known[part]


@dataclass(frozen=True)
class Histories:
    """The common part of the histories of all key ranges of a table; picklable. `walked` is the schema of a walk's
    batches: with origins they have OF_POSITIONS and OF_THREADS, with statements `_statement` at their end."""

    log: FeedLog
    stored: StoredAs
    walked: pa.Schema
    base: BinlogPosition | None
    has_statements: bool
    has_origins: bool

    @property
    def schema(self) -> pa.Schema:
        """That of batches."""
        fields = list(self._with_origins)
        if self.has_statements and not self.has_origins:
            fields = [field for field in fields if field.name not in OF_POSITIONS.names]
        return pa.schema([*fields, *[STATEMENT] * self.has_statements])

    @property
    def _with_origins(self) -> pa.Schema:
        """The stored columns, and the threads."""
        return pa.schema([*self.stored.schema, *(OF_THREADS if self.has_origins else ())])

    def batches(self, task: ApplyTask) -> Iterator[pa.RecordBatch]:
        """Return the versions of the rows that a task has, as HistoryWalk.batches."""
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
        if self.has_origins:
            stored = self._threaded(stored)
        if statements is None:
            return stored
        return (more for batch in stored for more in statements.added(batch, self.schema, "_from_file", "_from_pos"))

    def _threaded(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        threads, schema = _Threads(self.log.files.values()), self._with_origins
        for batch in batches:
            yield pa.RecordBatch.from_arrays([*batch.columns, *(
                threads.of(batch.column(f"_{end}_file"), batch.column(f"_{end}_pos")) for end in ("from", "to"))],
                schema=schema)


@dataclass(frozen=True)
class RowHistory:
    """The versions of a table's rows; `notes` are notes for the user. With statements batches have `_statement`, the
    SQL that began a version where the log has it; with origins OF_POSITIONS and OF_THREADS."""

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
        """Return the versions by key, and of a row in the order of their beginning; those of a table without a key as
        they began. Raises ArchiveError for damage, and ReplayStopped where a replica would stop."""
        return self._common.batches(self._task)

    def in_parts(self, cores: int) -> tuple[Histories, ApplyTasks, float]:
        """Return the history in ranges of keys, for tasks on `cores` cores: the common part, the tasks, and the core
        seconds that it takes to apply the changes."""
        return self._common, *self._changes.applied_in_parts(self.table, self._common.log, cores)

    @property
    def locations(self) -> tuple[str, ...]:
        """The inputs."""
        return self._changes.locations


def row_history(changes: ChangeLog, table: TableName, columns: tuple[str, ...] | None = None,
                keys: KeyValues | None = None, *, origins: bool = False, statements: bool = False) -> RowHistory:
    """Plan how the table's changes, which must be complete, are applied; of all rows, or of those with these keys.
    Raises the errors of their feed."""
    compiling.ensure("history", changes.progress)
    changes = changes.from_first_images([table])
    log, task = changes.applied(table, columns, keys)
    for version in log.versions.values():
        if version.definition.versioning is not None:
            raise UnsupportedEvent("a system-versioned table keeps its own history of rows",
                                   table=version.definition.full_name, hint="replay these logs to get the rows")
    fields = [field for field in log.schema if field.name not in OF_CHANGES.names]
    walked = [*OF_VERSIONS, *(OF_POSITIONS if origins or statements else ())]
    own = [*walked, *(OF_THREADS if origins else ()), *[STATEMENT] * statements]
    if taken := [field.name for field in fields if field.name in pa.schema(own).names]:
        raise UsageError(f"column {taken[0]} has the name of one of the history's own columns",
                         hint="ask for its other columns")
    schema = pa.schema([*fields, *walked])
    common = Histories(log, changes.stored_as(table, log, schema), schema, changes.begins_at, statements, origins)
    return RowHistory(changes.notes_on(table, log), table, changes, common, task)
