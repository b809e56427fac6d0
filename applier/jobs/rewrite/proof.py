"""The proof: both archives are replayed from the same base, and the snapshots and all changes are compared.

All row changes are compared with whole rows before and after each, so intermediate states, and tables that are dropped
later, count, too. Values that depend on positions are excluded: a rewritten archive has its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from tempfile import TemporaryDirectory

import pyarrow as pa

from applier.binlog.events.gtid import GtidSet
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.io.disk.temporary import temporary_directory
from applier.io.progress import Progress
from applier.jobs.changes.job import ChangeLog
from applier.jobs.diff.job import diff
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.result import ReplayResult
from applier.jobs.rewrite.result import Proof
from applier.options import ChangesOptions, DiffOptions, ReplayOptions, RewriteOptions
from applier.schema.ddl.schema_changes import TableName
from applier.snapshot import manifest

_OF_POSITIONS = ("_commit_version", "_seq", "_pos", "_present")


class _Unreadable(Exception):
    """The first archive's changes cannot be read one by one, though it can be replayed."""


def compare_changes(options: RewriteOptions, after: tuple[str, ...], progress: Progress) -> list[str]:
    """Compare the changes of an archive, as far as filters keep them, with those of its rewritten form, which both
    begin at the base. Returns a note for each table whose changes cannot be read in the first one: only its final rows
    are compared. Raises ApplierError if they are not the same."""
    first = ChangeLog(ChangesOptions(options.binlogs, options.base, complete=True,
                                     system_time_zone=options.system_time_zone), progress,
                      replaying=options.replaying(""))
    second = ChangeLog(ChangesOptions(after, options.base, complete=True, system_time_zone=options.system_time_zone),
                       progress)
    notes = []
    try:
        tables = first.tables(options.filter)
    except ApplierError as error:
        return [f"only the final rows were compared, and not each change: {error.message}"]
    if tables != second.tables(options.filter):
        raise ApplierError("the rewritten archive changes different tables", hint=_HINT)
    for table in tables:
        try:
            where = _first_difference(table, first, second)
        except _Unreadable as error:
            notes.append(f"of {'.'.join(table)}, only the final rows were compared, and not each change: {error}")
            continue
        if where is not None:
            raise ApplierError(f"the rewritten archive has different changes at {where}",
                               table=".".join(table), hint=_HINT)
    return notes


def _first_difference(table: TableName, first: ChangeLog, second: ChangeLog) -> str | None:
    """Return where the first change is that is not the same: its GTID, or its position in the first archive; None if
    all are. Raises _Unreadable."""
    before = _Reader(_of_first(first, table))
    before.available()
    after = _Reader(second.feed(table).batches())
    while n := min(before.available(), after.available()):
        one, other = before.take(n), after.take(n)
        for name in one.schema.names:
            if name not in _OF_POSITIONS and not one[name].equals(other[name]):
                row = next(row for row in range(n) if one[name][row] != other[name][row])
                return str(one["_gtid"][row].as_py() or f"{one['_file'][row]}:{one['_pos'][row]}")
    return "their end" if before.available() or after.available() else None


def _of_first(log: ChangeLog, table: TableName) -> Iterator[pa.RecordBatch]:
    """Yield the changes of the archive that is replayed without an error already. Raises _Unreadable."""
    try:
        yield from log.feed(table).batches()
    except ApplierError as error:
        raise _Unreadable(error.message) from error


class _Reader:
    """Batches of a feed, from which as many rows are taken as both feeds have."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._left: pa.RecordBatch | None = None

    def available(self) -> int:
        """Return how many rows can be taken now; 0 at the end."""
        while self._left is None or self._left.num_rows == 0:
            batch = next(self._batches, None)
            if batch is None:
                return 0
            self._left = _decoded(batch)
        return int(self._left.num_rows)

    def take(self, n: int) -> pa.RecordBatch:
        """Return the next rows, of those that are available."""
        assert self._left is not None
        taken, self._left = self._left.slice(0, n), self._left.slice(n)
        return taken


def _decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionaries, which may differ where values do not."""
    columns = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
               for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


_HINT = "this is a bug in applier; nothing was written"


class Replays:
    """Replays of an archive and of its rewritten form. The first is made before anything is written, since an archive
    that cannot be replayed cannot be proven."""

    def __init__(self, options: RewriteOptions, progress: Progress) -> None:
        self._options, self._progress = options, progress
        self._folder = TemporaryDirectory(prefix="applier-rewrite-", dir=temporary_directory())
        self._made: list[ReplayResult] = []
        self.notes: list[str] = []  # of the proof, for people

    def __enter__(self) -> Replays:
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def original(self) -> ReplayResult:
        """Replay the archive, with its filters. Raises ApplierError where a replica would stop."""
        return self._add(self._options.replaying)

    def rewritten(self, binlogs: tuple[str, ...]) -> ReplayResult:
        """Replay the rewritten archive, without filters."""
        self._output = binlogs
        return self._add(lambda output: ReplayOptions(binlogs, output, self._options.base,
                                                          system_time_zone=self._options.system_time_zone))

    def _add(self, options: Callable[[str], ReplayOptions]) -> ReplayResult:
        output = os.path.join(self._folder.name, str(len(self._made)))
        self._made.append(replay_with(ThisProcess(os.cpu_count() or 1), options(output), self._progress))
        return self._made[-1]

    def proof(self, emptied: AbstractSet[str] = frozenset()) -> Proof:
        """Compare both. `emptied` are the XA transactions at the end that the filters have emptied, which the rewritten
        archive does not prepare. Raises ApplierError if they are not the same."""
        (before, after), options = self._made, self._options
        if not _executes_as(before.gtid_set, after.gtid_set, options):
            raise ApplierError(f"the rewritten archive executes {after.gtid_set}, not {before.gtid_set}", hint=_HINT)
        for was, now, what in ((_changes(before), _changes(after), "changes"),
                               (_prepared(before) - emptied, _prepared(after), "prepared transactions")):
            if was != now:
                raise ApplierError(f"the rewritten archive has different {what}", hint=_HINT)
        compared = diff(DiffOptions(before.snapshot, after.snapshot, options.filter), self._progress)
        for table in compared.tables.values():
            if not table.same or table.definitions[0] != table.definitions[1]:
                raise ApplierError("the rewritten archive produces different rows", table=table.full_name, hint=_HINT)
        self.notes += compare_changes(options, self._output, self._progress)
        return Proof(len(compared.tables), sum(table.rows_after for table in compared.tables.values()), after.changes,
                     after.gtid_set, after.position)


def _executes_as(before: str, after: str, options: RewriteOptions) -> bool:
    """Return whether both execute the same. MariaDB has no GTIDs of groups that a filter empties."""
    first, second = GtidSet.parse(before), GtidSet.parse(after)
    return before == after or bool(options.filters and first.domains and not second.subtract(first))


def _changes(result: ReplayResult) -> dict[str, tuple[int, ...]]:
    """Return how many changes there were, by table and kind."""
    return {table.full_name: (table.inserts, table.updates, table.deletes, table.by_foreign_keys)
            for table in result.tables}


def _prepared(result: ReplayResult) -> set[str]:
    """Return the XA transactions that are prepared at the end."""
    return {entry.xid for entry in manifest.load(result.snapshot).prepared}
