"""The job: find the differences between two snapshots.

Files that both share are not read. The others of a table fall into ranges of keys, each compared separately, a chunk of
rows at a time; differences go into one file per range, so that counts are known before the first row is shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from applier.columns.definition_differences import differences
from applier.engine import compiling
from applier.engine.threads import map_on_threads
from applier.errors import UsageError
from applier.io.progress import Progress, Silent
from applier.jobs.diff.columns import AFTER, BEFORE, SharedColumns
from applier.jobs.diff.comparing import Done, Range, Side, Task, compare, different, ranges
from applier.jobs.diff.result import Compared, TableDiff
from applier.jobs.diff.rows import DELETE, INSERT, Differences, read_rows
from applier.mysql.names import folded
from applier.mysql.types import arrow_type
from applier.options import DiffOptions
from applier.schema.definition import TableDefinition
from applier.snapshot import manifest
from applier.snapshot.manifest import Snapshot
from applier.snapshot.reader import read_batches
from applier.snapshot.table_entry import TableEntry


def diff(options: DiffOptions, progress: Progress | None = None,
         kept: tuple[TemporaryDirectory[str], ...] = ()) -> Compared:
    """Compare two snapshots. Raises SnapshotError for a file that is missing or damaged, UsageError where no table is
    chosen. The result keeps the folders `kept`, in
    which a snapshot may be."""
    progress = progress or Silent()
    snapshots = manifest.load(options.before), manifest.load(options.after)
    compiling.ensure("diff", progress)
    folder = TemporaryDirectory(prefix="applier-diff-", ignore_cleanup_errors=True)
    tables = [_Table(snapshots, *pair, Path(folder.name) / str(number), (folder, *kept))
              for number, pair in enumerate(_pairs(options, snapshots))]
    tasks = [task for table in tables for task in table.tasks]
    progress.phase("diff", len(tasks), "ranges")
    done = iter(map_on_threads(compare, tasks, os.cpu_count() or 1, lambda count, _: progress.update(count)))
    found = {table.name: table.result([next(done) for _ in table.tasks]) for table in tables}
    return Compared(snapshots[BEFORE].position, snapshots[AFTER].position, found)


_Pair = tuple[TableEntry | None, TableEntry | None]


def _pairs(options: DiffOptions, snapshots: tuple[Snapshot, Snapshot]) -> list[_Pair]:
    """Return the tables of both sides, by their names."""
    names = sorted({(table.database, table.name) for snapshot in snapshots for table in snapshot.tables})
    wanted = [name for name in names if options.filter.wanted(*name)]
    if names and not wanted:
        raise UsageError("no table of the snapshots is selected", file=options.after,
                         hint="--tables and --ignore-tables exclude all of them; `applier status` lists them")
    return [(snapshots[BEFORE].table(*name), snapshots[AFTER].table(*name)) for name in wanted]


class _Table:
    """A table of both snapshots, or of one."""

    def __init__(self, snapshots: tuple[Snapshot, Snapshot], before: TableEntry | None, after: TableEntry | None,
                 target: Path, folders: tuple[TemporaryDirectory[str], ...]) -> None:
        self._folders = folders  # as long as rows may be requested
        entry = after or before
        assert entry is not None
        self._entry, self.name = entry, entry.full_name
        self._whole = _definition(before), _definition(after)
        self._definitions = _shown(self._whole[BEFORE]), _shown(self._whole[AFTER])
        self._columns = SharedColumns.of(*self._definitions)
        self._differences = Differences(self._columns.schema, self.name)
        self._sides = [None if side is None or definition is None else
                       Side(number, snapshots[number].root, side, definition, self._columns)
                       for number, side, definition in zip((BEFORE, AFTER), (before, after), self._definitions,
                                                           strict=True)]
        self._by_key = before is None or after is None or _same_key(before, after, self._definitions)
        self.tasks = self._tasks(before, after, target) if before is not None and after is not None else []

    def result(self, done: Sequence[Done]) -> TableDiff:
        """Return the differences of a table, given the results of its tasks."""
        left, right = self._sides
        rows = [0 if side is None else side.entry.rows for side in self._sides]
        added, removed = (sum(getattr(one, name) for one in done) for name in ("added", "removed"))
        if left is None or right is None:
            removed, added = rows
        files = [one.rows for one in done if one.rows is not None]
        return TableDiff(self._entry.database, self._entry.name, rows[BEFORE], rows[AFTER], removed, added,
                         sum(one.changed for one in done), self._entry.key if self._by_key else (),
                         self._differences.schema, self._notes(),
                         self._whole, partial(self._rows, files), self._rows_after)

    def _tasks(self, before: TableEntry, after: TableEntry, target: Path) -> list[Task]:
        left, right = self._sides
        assert left is not None and right is not None
        files = different((left.uri, right.uri), (before.files, after.files)) if self._same_columns() else \
            ([file for file in before.files if file.rows], [file for file in after.files if file.rows])
        if not any(files):
            return []
        by_key = self._by_key and bool(after.key)
        found = ranges(files) if by_key else [Range((tuple(files[BEFORE]), tuple(files[AFTER])))]
        return [Task((left, right), one, by_key, self._differences, target.with_name(f"{target.name}.{number}"))
                for number, one in enumerate(found)]

    def _same_columns(self) -> bool:
        """Return whether a file of the one side would have the same rows on the other."""
        stored = [[(column.name, column.type, column.nullable) for column in definition.stored_columns]
                  for definition in self._definitions if definition is not None]
        return stored[BEFORE] == stored[AFTER]

    def _notes(self) -> tuple[str, ...]:
        if self._sides[BEFORE] is None:
            return ("the table was added",)
        if self._sides[AFTER] is None:
            return ("the table was removed",)
        before, after = self._whole
        assert before is not None and after is not None
        notes = list(differences(before, after))
        if not self._by_key:
            notes.append("its key is another one, so rows are compared as a multiset")
        return tuple(notes)

    def _rows(self, files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that differ."""
        for side, kind in zip(self._sides, (DELETE, INSERT), strict=True):
            if None in self._sides and side is not None:
                for batch in side.rows(side.entry.files):
                    yield self._differences.single(batch, kind).batch
        yield from read_rows(files, self._folders)

    def _rows_after(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows of the table after."""
        side = self._sides[AFTER]
        if side is not None:
            for file in side.entry.files:
                yield from read_batches(side.uri, file, side.definition)


def _definition(entry: TableEntry | None) -> TableDefinition | None:
    return None if entry is None else entry.definition


def _shown(definition: TableDefinition | None) -> TableDefinition | None:
    """Return the columns in files of rows: of a versioned table, those of current rows."""
    return None if definition is None else definition.shown


def _same_key(before: TableEntry, after: TableEntry,
              definitions: tuple[TableDefinition | None, TableDefinition | None]) -> bool:
    """Return whether both sides are sorted by the same columns, and their keys compare with each other."""
    keys = [(tuple(map(folded, entry.key)), entry.key_kind, entry.key_rules) for entry in (before, after)]
    if keys[BEFORE] != keys[AFTER]:
        return False
    columns = [[definition.column(name).type for name in entry.key]
               for entry, definition in zip((before, after), definitions, strict=True) if definition is not None]
    if after.key_kind == "int":
        return len({kind.unsigned and kind.base == "bigint" for side in columns for kind in side}) == 1
    return [arrow_type(kind) for kind in columns[BEFORE]] == [arrow_type(kind) for kind in columns[AFTER]]
