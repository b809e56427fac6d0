"""The one reader of tables in lakes that merge on read.

A table of such a lake consists of files, each with a range of keys; row files, with rows added since; and positions of
dead rows in files and row files. The rows of a file's range are the live ones of the file and those of the row files
with keys in the range, in key order. They are read in parts, one for each row group of the file, so that single parts
can be read.

Everything read is verified: bytes by their digests (applier.snapshot.files.row_groups), positions against the existing
rows, keys against each other, and the rows of a whole range against the counts in the manifest.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.fs import FileSystem

from applier.errors import SnapshotError
from applier.io.partial_copy import at_once
from applier.io.resolver import is_local
from applier.schema.definition import without_rows
from applier.snapshot.files import location
from applier.snapshot.files.checks import REPLACE, check_columns, reading
from applier.snapshot.files.file_entries import FileEntry, KeyValue, Layer, MergedFile
from applier.snapshot.files.row_groups import GroupedFile
from applier.snapshot.files.stored_columns import as_rows
from applier.snapshot.files.value_marks import MarkedValues
from applier.snapshot.lake.key_order import KeyOrder
from applier.snapshot.lake.recent_values import Recent
from applier.snapshot.writer import POSITIONS

_REMEMBERED_BYTES, _REMEMBERED = 64 << 20, 1024
"""The limits of the cache of row files and positions, in bytes and in files. Files never change, so the next ranges can
use them."""
_Bounds = tuple[KeyValue | None, KeyValue | None]


@dataclass(frozen=True)
class Part:
    """Rows of a range in key order, and where each is stored: `files[i]` (int32) is a number in
    RangeReader.names, `positions[i]` (int64) the row's number in that file, from 0."""

    rows: pa.Table
    files: np.ndarray
    positions: np.ndarray


class RowFiles:
    """The files that are merged with those of a table, in the snapshot at a path or URI; `names` are the names of the
    row files, which are numbered from 1 on. Errors: SnapshotError for a file that is missing or damaged."""

    def __init__(self, base: str, layer: Layer, schema: pa.Schema) -> None:
        self._filesystem, self._root = location.resolve(base)
        self._layer, self._schema, self.key = layer, schema, KeyOrder.of(layer)
        self.names = [one.stem for one in layer.row_files]

    def within(self, wanted: Sequence[_Bounds], names: Sequence[str] | None = None) -> Part:
        """Return the live rows with keys in one of these ascending ranges, and possibly some more, with all columns or
        some. They are not ordered."""
        self._fetch(wanted)
        found = [Part(without_rows(self._schema), np.empty(0, np.int32), np.empty(0, np.int64))]
        for number, file in enumerate(self._layer.row_files, 1):
            found += [Part(rows, np.full(rows.num_rows, number, np.int32), positions)
                      for rows, positions in self._rows_of(file, wanted)]
        rows = pa.concat_tables([part.rows.replace_schema_metadata(None) for part in found])
        files, positions = (np.concatenate([getattr(part, name) for part in found]) for name in ("files", "positions"))
        return Part(rows if names is None else rows.select(list(names)), files, positions)

    def openings(self, wanted: Sequence[_Bounds]) -> dict[str, Callable[[], object]]:
        """Return functions, by path, that open the row files and positions on a store that these ranges need. They may
        be called in parallel. Nothing for files on this machine, nor if they exceed the cache: those are read when they
        are needed."""
        row_files = [file for file in self._layer.row_files if _meet(file.min_key, file.max_key, wanted)]
        files = [*row_files, *self._layer.positions]
        if is_local(self._filesystem) or sum(file.bytes for file in files) > _REMEMBERED_BYTES // 2:
            return {}
        return {file.path: partial(self._opened, file) for file in files}

    def _opened(self, file: FileEntry) -> GroupedFile:
        path = f"{self._root}/{file.path}"
        with reading(path):
            return _remembered_file(self._filesystem, path, file)

    def _fetch(self, wanted: Sequence[_Bounds]) -> None:
        """Have what these ranges need of row files and positions on a store here, in a few round trips instead of some
        for each file."""
        openings = self.openings(wanted)

        def read(file: FileEntry, number: int) -> None:
            path = f"{self._root}/{file.path}"
            with reading(path):
                _remembered_rows(self._filesystem, path, file, self._opened(file), number)

        at_once(list(openings.values()))
        at_once([partial(read, file, number) for files, are_rows in ((self._layer.row_files, True),
                                                                     (self._layer.positions, False))
                 for file in files if file.path in openings
                 for number, group in enumerate(self._opened(file).groups)
                 if not are_rows or _meet(*group.keys(), wanted)])

    def dead_in(self, file: FileEntry) -> np.ndarray:
        """Return the positions of a file's dead rows, ascending: int64[n]. Raises SnapshotError for a position that is
        not in the file."""
        found = [np.empty(0, np.int64)]
        name: Any = file.stem.encode()
        for entry in self._layer.positions:
            path = f"{self._root}/{entry.path}"
            if not _meet(entry.min_key, entry.max_key, [(name, name + b"\0")]):
                continue
            with reading(path):
                grouped = _remembered_file(self._filesystem, path, entry)
                check_columns(grouped.schema, POSITIONS, path)
                for number, group in enumerate(grouped.groups):
                    if _meet(*group.keys(), [(name, name + b"\0")]):
                        rows = _remembered_rows(self._filesystem, path, entry, grouped, number)
                        of_file = pc.equal(rows.column("file"), file.stem)
                        found.append(rows.column("position").filter(of_file).to_numpy())
        dead: np.ndarray = np.unique(np.concatenate(found))
        if len(dead) and not (dead[0] >= 0 and dead[-1] < file.stored_rows):
            raise SnapshotError("a list of dead rows names a row that the file does not have",
                                file=f"{self._root}/{file.path}", hint=REPLACE)
        return dead

    def _rows_of(self, file: FileEntry, wanted: Sequence[_Bounds]) -> Iterator[tuple[pa.Table, np.ndarray]]:
        """Return the live rows of those row groups of a row file that may have keys in one of the ranges, with their
        positions."""
        if not _meet(file.min_key, file.max_key, wanted):
            return
        path = f"{self._root}/{file.path}"
        with reading(path):
            grouped = _remembered_file(self._filesystem, path, file)
            check_columns(grouped.schema, self._schema, path)
            marked = MarkedValues(grouped.metadata.metadata, path)
            numbers = [number for number, group in enumerate(grouped.groups) if _meet(*group.keys(), wanted)]
            dead = self.dead_in(file) if numbers else np.empty(0, np.int64)
            for number in numbers:
                first = int(grouped.firsts[number])
                stored = _remembered_rows(self._filesystem, path, file, grouped, number)
                rows = _as_rows(marked.put_into(stored, first), self._schema, self.key, None, path)
                lives = np.ones(rows.num_rows, np.bool_)
                lives[dead[bisect_left(dead, first):bisect_left(dead, first + rows.num_rows)] - first] = False
                yield rows.filter(pa.array(lives)), first + np.flatnonzero(lives)


class RangeReader:
    """Reads the rows of one file's range, in the snapshot whose files are below a path or URI. `names` are the names of
    the file and of its row files, as in positions. Errors: SnapshotError for a file that is missing or damaged."""

    def __init__(self, base: str, file: FileEntry, schema: pa.Schema, key: KeyOrder | None = None) -> None:
        self._filesystem, self._root = location.resolve(base)
        self._file, self._schema = file, schema
        self._row_files: RowFiles | None = None
        self._bounds: _Bounds = (None, None)
        if isinstance(file, MergedFile):
            self._row_files = RowFiles(base, file.overlay.layer, schema)
            self._bounds = file.overlay.low, file.overlay.high
        self._key = key if self._row_files is None else self._row_files.key
        self.names = [file.stem, *([] if self._row_files is None else self._row_files.names)]
        with self._reading(file):
            self._grouped = GroupedFile(self._filesystem, f"{self._root}/{file.path}", file)
            check_columns(self._grouped.schema, schema, f"{self._root}/{file.path}")
            self._marked = MarkedValues(self._grouped.metadata.metadata, f"{self._root}/{file.path}")
        self.lows: list[Any] = [group.keys()[0] for group in self._grouped.groups][1:]
        """The key at which each part except the first begins."""

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self._grouped.groups)

    def bytes_of(self, part: int) -> int:
        """Return the approximate size of a part in the file, in bytes."""
        group = self._grouped.groups[part]
        return group.end - group.start or self._file.bytes

    def all(self, columns: Sequence[str] | None = None) -> Iterator[Part]:
        """Yield all parts, in key order, with all columns or some. Raises SnapshotError if their rows are not as many
        as the manifest says."""
        rows = own = 0
        for part in self.some(range(self.n_parts), columns):
            rows, own = rows + len(part.files), own + int((part.files == 0).sum())
            yield part
        changed = self._file.changed
        if rows != self._file.rows or (changed is not None and rows - own != changed.row_file_rows):
            raise self._damaged(f"its range has {rows} rows, {own} of them in it, but its manifest says "
                                f"{self._file.rows}, {rows if changed is None else changed.row_file_rows} of them in "
                                "row files")

    def fetches(self, numbers: Sequence[int]) -> list[Callable[[], object]]:
        """Return the requests that fetch the file's bytes of these parts for `some`; they may be made in parallel."""
        def fetch(number: int) -> None:
            with self._reading(self._file):
                self._grouped.fetch(number)

        return [partial(fetch, number) for number in numbers]

    def some(self, numbers: Sequence[int], columns: Sequence[str] | None = None) -> Iterator[Part]:
        """Yield these parts, given their ascending numbers."""
        names = None if columns is None else [
            name for name in self._schema.names if name in columns or (self._key and name in self._key.names)]
        over = self._over(numbers, names)
        for number in numbers:
            with self._reading(self._file):
                stored = self._grouped.read(number, names)
            first = int(self._grouped.firsts[number])
            rows = self._as_rows(self._marked.put_into(stored, first), names)
            positions = np.arange(first, first + rows.num_rows)
            if len(dead := self._dead_in_file[bisect_left(self._dead_in_file, first):
                                              bisect_left(self._dead_in_file, first + rows.num_rows)]):
                lives = np.ones(rows.num_rows, np.bool_)
                lives[dead - first] = False
                rows, positions = rows.filter(pa.array(lives)), positions[lives]
            part = Part(rows, np.zeros(len(positions), np.int32), positions)
            yield self._selected(self._merged(part, over[number]) if number in over else part, columns)

    def _selected(self, part: Part, columns: Sequence[str] | None) -> Part:
        return part if columns is None else Part(part.rows.select(list(columns)), part.files, part.positions)

    def _merged(self, part: Part, over: Part) -> Part:
        assert self._key is not None
        rows = pa.concat_tables([part.rows, over.rows.select(part.rows.schema.names)])
        try:
            order = self._key.order(rows)
        except ValueError as error:
            raise self._damaged(f"{error} in its range") from error
        return Part(rows.take(pa.array(order)), np.concatenate([part.files, over.files])[order],
                    np.concatenate([part.positions, over.positions])[order])

    def _over(self, numbers: Sequence[int], names: Sequence[str] | None) -> dict[int, Part]:
        """Return the live rows of row files that belong to these parts, by part. They are not ordered."""
        if self._row_files is None or not len(numbers):
            return {}
        low, high = self._bounds
        edges = [low, *self.lows, high]
        found = self._row_files.within([(edges[number], edges[number + 1]) for number in numbers], names)
        bounds = [bound for bound in edges if bound is not None]
        of_rows = self._row_files.key.numbers(found.rows, bounds) - (low is not None)
        parts = {}
        for number in numbers:
            own = np.flatnonzero(of_rows == number)
            if len(own):
                parts[number] = Part(found.rows.take(pa.array(own)), found.files[own], found.positions[own])
        return parts

    @cached_property
    def _dead_in_file(self) -> np.ndarray:
        if self._row_files is None:
            return np.empty(0, np.int64)
        return self._row_files.dead_in(self._file)

    def _as_rows(self, stored: pa.Table, names: Sequence[str] | None) -> pa.Table:
        return _as_rows(stored, self._schema, self._key, names, f"{self._root}/{self._file.path}")

    def _reading(self, file: FileEntry) -> Any:
        return reading(f"{self._root}/{file.path}")

    def _damaged(self, what: str) -> SnapshotError:
        return SnapshotError(f"a file of the snapshot is damaged, or one that is merged with it: {what}",
                             file=f"{self._root}/{self._file.path}", hint=REPLACE)


def _as_rows(stored: pa.Table, schema: pa.Schema, key: KeyOrder | None, names: Sequence[str] | None,
             path: str) -> pa.Table:
    """Convert columns of a file to the form in rows. Raises SnapshotError if a column of the key contains NULL."""
    rows = as_rows(stored, schema)
    for name in () if key is None else key.names:
        if rows.column(name).null_count:
            raise SnapshotError(f"a file of the snapshot has NULL in {name}, a column of the key", file=path,
                                hint=REPLACE)
    return rows if names is None else rows.select(list(names))


def _meet(low: Any, high: Any, wanted: Sequence[_Bounds]) -> bool:
    """Return whether keys from `low` up to `high` (None: unknown) may be in one of the ascending ranges."""
    if low is None or high is None:
        return True
    ends: list[Any] = [end for _, end in wanted if end is not None]
    number = bisect_right(ends, low)
    if number == len(wanted):
        return False
    begin: Any = wanted[number][0]
    return begin is None or begin <= high


_FILES, _ROWS = Recent(_REMEMBERED, _REMEMBERED_BYTES), Recent(_REMEMBERED, _REMEMBERED_BYTES)


def _remembered_file(filesystem: FileSystem, path: str, entry: FileEntry) -> GroupedFile:
    return _FILES.get((filesystem.type_name, path, entry.digest), lambda: GroupedFile(filesystem, path, entry),
                      lambda made: made.kept_bytes)


def _remembered_rows(filesystem: FileSystem, path: str, entry: FileEntry, file: GroupedFile, number: int) -> pa.Table:
    return _ROWS.get((filesystem.type_name, path, entry.digest, number), lambda: file.read(number),
                     lambda made: int(made.nbytes))
