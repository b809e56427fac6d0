"""Turns changes that units wrote beside a table's files into its manifest entry, in a lake that merges on read.

    files       stay; their ranges get new counts of rows and of rows in row files, and new first and last keys
    row files   one more, with the few rows that each unit has added; and those that units wrote themselves
    positions   one more file, with the dead rows: by changes, or because their range was rewritten

Then the ranges that are due (applier.snapshot.lake.compaction) are rewritten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from applier.apply.merged_changes import RangeChange
from applier.apply.output.unit_files import table_writer
from applier.apply.spec import UnitSpec
from applier.apply.tasks import UnitResult
from applier.schema.definition import TableDefinition, table_schema
from applier.snapshot.files import location
from applier.snapshot.files.file_entries import Changed, FileEntry, KeyValue, Layer, MergedFile
from applier.snapshot.lake.compaction import all_positions, live_rows, newest
from applier.snapshot.lake.merged_rows import RowFiles
from applier.snapshot.manifest import Snapshot
from applier.snapshot.reader import read_batches
from applier.snapshot.staging import Staging
from applier.snapshot.table_entry import TableEntry, under
from applier.snapshot.writer import POSITIONS, TableTarget, write_positions

Done = Sequence[tuple[UnitSpec, UnitResult]]


def changed_files(files: Iterable[FileEntry], changes: Sequence[RangeChange], version: int) -> Iterator[FileEntry]:
    """Return the entries of a unit's files, with its changes to their ranges in a version. A range without rows has
    none. Bounds only grow: a range whose added rows are gone again may be wider than the keys of its file."""
    for file, change in zip(files, changes, strict=True):
        if change == RangeChange():
            yield file
            continue
        before = file.changed or Changed(file.rows, 0, 0)
        own = file.rows - before.row_file_rows - change.dead_in_file
        others = before.row_file_rows + change.added - change.dead_in_row_files
        if own + others:
            yield replace(file, rows=own + others, min_key=_end(min, file.min_key, change.low),
                          max_key=_end(max, file.max_key, change.high),
                          changed=Changed(before.stored_rows, others, version))


def _end(choose: Any, known: KeyValue | None, added: KeyValue | None) -> Any:
    return known if added is None else choose(known, added)


def write_anew(root: str, file: FileEntry, table: TableDefinition,
               target: TableTarget) -> tuple[tuple[FileEntry, ...], dict[str, dict[str, int]]]:
    """Write files that have all rows of the range of a file below `root`: nothing has to be merged with them. Return
    their entries, and how many invalid dates they have, by path and column."""
    with table_writer(target, 0, table) as writer:
        for batch in read_batches(root, file, table):
            writer.write(batch)
        return tuple(writer.close()), writer.zero_dates


class MergedTable:
    """A table of the next version: its definition, as readers have it, its entry in the base, if it has one, and where
    files go. `written` are the files that are written here, `zero_dates` the invalid dates in them, by their paths
    and by column."""

    def __init__(self, table: TableDefinition, before: TableEntry | None, base: Snapshot | None,
                 staging: Staging) -> None:
        self._table, self._before, self._base, self._staging = table, before, base, staging
        self.written: list[FileEntry] = []
        self.zero_dates: dict[str, dict[str, int]] = {}

    def entry(self, entry: TableEntry, done: Done, anew: Collection[str]) -> TableEntry:
        """Return the entry of the table, given one with its files alone, the results of its units, and the paths of
        files whose ranges are to be rewritten."""
        target = self._staging.target(self._table.database, self._table.name)
        entry = replace(entry, folder=target.folder)
        if not any(file.changed for file in entry.files):
            return entry
        entry = self._written_anew(self._with_layer(entry, done), anew, target)
        of_ranges = [file.changed for file in entry.files if file.changed is not None]
        if not any(changed.row_file_rows for changed in of_ranges):
            entry = replace(entry, row_files=())
        entry = self._compacted(entry) if of_ranges else replace(entry, positions=())
        self._drop_unnamed({file.path for files in entry.lists for file in files})
        return replace(entry, files=under(entry.files, entry.layer))

    def _with_layer(self, entry: TableEntry, done: Done) -> TableEntry:
        """Return the entry with the changes that are merged with its files."""
        merged = [result.merged for _, result in done if result.merged is not None]
        dead = [one.dead for one in merged] + [self._of_base(unit) for unit, result in done if result.files is not None]
        self.written += [file for one in merged for file in one.files]
        written_positions, written_rows = location.at_once(location.resolve(self._staging.uri)[0], [
            partial(self._write_sorted, dead), partial(self._write, [one.rows for one in merged])])
        row_files = [*self._carried("row_files"), *(file for one in merged for file in one.files), *written_rows]
        return replace(entry, row_files=tuple(row_files), positions=(*self._carried("positions"), *written_positions))

    def _written_anew(self, entry: TableEntry, chosen: Collection[str], target: TableTarget) -> TableEntry:
        """Return the entry with these files' ranges rewritten, and their rows in row files marked as dead."""
        if not chosen or entry.layer is None:
            return entry
        files, dead = list[FileEntry](), list[pa.Table]()
        for file in under(entry.files, entry.layer):
            if not isinstance(file, MergedFile) or file.path not in chosen:
                files.append(file)
                continue
            written, zero_dates = write_anew(self._staging.uri, file, self._table, target)
            files += written
            dead.append(self._within(self._staging.uri, entry.layer, file.overlay.low, file.overlay.high))
            self.written += written
            self.zero_dates |= zero_dates
        return replace(entry, files=tuple(files), positions=(*entry.positions, *self._write_sorted(dead)))

    def _compacted(self, entry: TableEntry) -> TableEntry:
        """Return the entry with fewer row files and files of positions, where they are many."""
        layer, base = entry.layer, self._staging.uri
        if layer is not None and (n := newest(entry.row_files)):
            rows = live_rows(base, replace(layer, row_files=entry.row_files[-n:]), table_schema(self._table))
            entry = replace(entry, row_files=(*entry.row_files[:-n], *self._write([rows])))
        if n := newest(entry.positions):
            named = {file.stem for files in (entry.files, entry.row_files) for file in files}
            dead = all_positions(base, entry.positions[-n:], named)
            entry = replace(entry, positions=(*entry.positions[:-n], *(
                [self._write_positions(dead)] if dead.num_rows else [])))
        return entry

    def _drop_unnamed(self, named: set[str]) -> None:
        """Remove files that were written, and then put together with others."""
        filesystem, root = location.resolve(self._staging.uri)
        with suppress(OSError):  # a stray is no fault
            location.at_once(filesystem, [partial(filesystem.delete_file, f"{root}/{file.path}")
                                          for file in self.written if file.path not in named])
        self.written = [file for file in self.written if file.path in named]

    def _write_sorted(self, dead: Sequence[pa.Table]) -> list[FileEntry]:
        """Write a file of these positions, if there are any."""
        if not any(one.num_rows for one in dead):
            return []
        return [self._write_positions(pa.concat_tables(dead).sort_by([("file", "ascending"),
                                                                      ("position", "ascending")]))]

    def _write_positions(self, dead: pa.Table) -> FileEntry:
        target = self._staging.target(self._table.database, self._table.name)
        self.written.append(write_positions(target.changes, dead))
        return self.written[-1]

    def _carried(self, name: str) -> list[FileEntry]:
        if self._before is None or self._base is None or not getattr(self._before, name):
            return []
        return self._staging.carry_over(self._base, getattr(self._before, name), self._table.database,
                                        self._table.name, changes=True)

    def _write(self, rows: Iterable[pa.Table]) -> list[FileEntry]:
        """Write the rows that units have added, which come in key order."""
        some = [one for one in rows if one.num_rows]
        if not some:
            return []
        target = self._staging.target(self._table.database, self._table.name)
        with table_writer(target.changes, 0, self._table) as writer:
            for one in some:
                writer.write(one)
            files = writer.close()
        self.written += files
        self.zero_dates |= writer.zero_dates
        return files

    def _of_base(self, unit: UnitSpec) -> pa.Table:
        """Return the rows of the base's row files that are in the range of a unit that was written again: they are
        dead."""
        layer: Layer | None = None if self._before is None else self._before.layer
        if layer is None or self._base is None:
            return POSITIONS.empty_table()
        return self._within(self._base.root, layer, *unit.bounds)

    def _within(self, root: str, layer: Layer, low: KeyValue | None, high: KeyValue | None) -> pa.Table:
        """Return the live rows of row files that are in a range, as positions have them."""
        if not layer.row_files:
            return POSITIONS.empty_table()
        row_files = RowFiles(root, layer, table_schema(self._table))
        found = row_files.within([(low, high)], layer.key)
        bounds = [bound for bound in (low, high) if bound is not None]
        inside = row_files.key.numbers(found.rows, bounds) == (low is not None)
        names = pa.array(["", *row_files.names], pa.string()).take(pa.array(found.files[inside]))
        return pa.table([names, found.positions[inside]], schema=POSITIONS)
