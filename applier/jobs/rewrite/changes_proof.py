"""Compares all row changes of two archives, with whole rows before and after each: states in between, and tables that
are dropped later, are in them.

What positions decide is left out: a rewritten archive has its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from applier.errors import ApplierError
from applier.io.progress import Progress
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions, RewriteOptions
from applier.schema.ddl.schema_changes import TableName

_OF_POSITIONS = ("_commit_version", "_seq", "_pos", "_present")
_HINT = "this is a bug in applier; nothing was written"


class _Unreadable(Exception):
    """The first archive's changes cannot be read one by one, though it can be replayed."""


def compare_changes(options: RewriteOptions, after: tuple[str, ...], progress: Progress) -> list[str]:
    """Compare the changes of an archive, as far as filters keep them, and of what is written of it, which both begin at
    the base. Returns a note for each table whose changes cannot be read in the first one: only its final rows are
    compared. Raises ApplierError if they are not the same."""
    first = ChangeLog(ChangesOptions(options.binlogs, options.base, complete=True), progress,
                      replaying=options.replaying(""))
    second = ChangeLog(ChangesOptions(after, options.base, complete=True), progress)
    notes = []
    try:
        tables = first.tables(options.filter)
    except ApplierError as error:
        return [f"only the final rows were compared, and not each change: {error.message}"]
    if tables != second.tables(options.filter):
        raise ApplierError("the rewritten archive changes different tables", hint=_HINT)
    for table in tables:
        try:
            place = _first_difference(table, first, second)
        except _Unreadable as error:
            notes.append(f"of {'.'.join(table)}, only the final rows were compared, and not each change: {error}")
            continue
        if place is not None:
            raise ApplierError(f"the rewritten archive has different changes at {place}",
                               table=".".join(table), hint=_HINT)
    return notes


def _first_difference(table: TableName, first: ChangeLog, second: ChangeLog) -> str | None:
    """Where the first change is that is not the same: its GTID, or its position in the first archive; None if all are.
    Raises _Unreadable."""
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
    """The changes of the archive that is replayed without an error already. Raises _Unreadable."""
    try:
        yield from log.feed(table).batches()
    except ApplierError as error:
        raise _Unreadable(error.message) from error


class _Reader:
    """Batches of a feed, of which as many rows can be taken as there are in both."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._left: pa.RecordBatch | None = None

    def available(self) -> int:
        """How many rows can be taken now; 0 at the end."""
        while self._left is None or self._left.num_rows == 0:
            batch = next(self._batches, None)
            if batch is None:
                return 0
            self._left = _decoded(batch)
        return int(self._left.num_rows)

    def take(self, n: int) -> pa.RecordBatch:
        """The next rows, of those that are available."""
        assert self._left is not None
        taken, self._left = self._left.slice(0, n), self._left.slice(n)
        return taken


def _decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch without dictionaries, which may differ where values do not."""
    columns = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
               for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)
