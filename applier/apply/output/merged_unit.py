"""Writes the changes of a unit beside the files with its rows, in a lake that merges on read.

The files stay. Deleted rows and old versions of updated rows are dead, wherever they are stored; new rows and new
versions go into row files. If these are too large a share of the unit's rows, all rows are rewritten, and readers have
nothing to merge. Changes of earlier versions are merged elsewhere (applier.snapshot.lake.compaction).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from applier.apply.merged_changes import MergedChanges, RangeChange
from applier.apply.output.unit_files import table_writer
from applier.apply.spec import FromBase, UnitSpec
from applier.columns.table_key import TableKey
from applier.io.partial_copy import at_once
from applier.io.resolver import is_far
from applier.schema.definition import TableDefinition, table_schema, without_rows
from applier.snapshot.files.file_entries import FileEntry, KeyValue, MergedFile
from applier.snapshot.files.value_marks import for_nulls
from applier.snapshot.lake import compaction
from applier.snapshot.lake.key_order import KeyOrder, reached
from applier.snapshot.lake.merged_rows import Part, RangeReader, RowFiles
from applier.snapshot.writer import POSITIONS
from keysearch.keybytes import KeyBytes

_INLINE_BYTES = 32 << 10
"""The most Arrow data of a unit that a task returns to the driver, which writes the rows of many units into one file.
"""


class StoredRows:
    """The rows of a unit's base, read on demand: all, or the parts that may have some keys. Row i is stored at
    `positions[i]` (int64) in the file `names[files[i]]` (int32); the first `n_own` names are the unit's files. Errors:
    SnapshotError as in merged_rows.RangeReader."""

    def __init__(self, origin: FromBase, definition: TableDefinition, low: KeyValue | None,
                 high: KeyValue | None) -> None:
        self._origin, self._definition, self._schema = origin, definition, table_schema(definition)
        self._names = {file.stem: number for number, file in enumerate(origin.files)}
        self.n_own = len(origin.files)
        self._edges = [low, *(file.min_key for file in origin.files[1:]), high]
        self._readers: dict[int, RangeReader] = {}
        self._read: dict[int, set[int]] = {}
        self._is_complete = False
        self._files, self._positions = [np.empty(0, np.int32)], [np.empty(0, np.int64)]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, by number."""
        return tuple(self._names)

    @property
    def files(self) -> np.ndarray:
        """The file of each row that was read."""
        return np.concatenate(self._files)

    @property
    def positions(self) -> np.ndarray:
        """The position in its file of each row that was read."""
        return np.concatenate(self._positions)

    @property
    def is_complete(self) -> bool:
        """True if all rows were read."""
        return self._is_complete

    def all(self) -> pa.Table:
        """Return the rows that were not read yet."""
        self._is_complete = True
        fetch([self], None)
        return self._rows(part for number in range(self.n_own) for part in self._missing(number, None))

    def with_keys(self, keys: Sequence[np.ndarray | KeyBytes]) -> pa.Table:
        """Return the rows, of those not read yet, of all parts that may contain one of these keys."""
        fetch([self], keys)
        return self._rows(part for number in range(self.n_own) for part in self._missing(number, keys))

    @property
    def is_far(self) -> bool:
        """True if the files are on a store."""
        return is_far(self._origin.uri)

    def openings(self, keys: Sequence[np.ndarray | KeyBytes] | None) -> dict[str, Callable[[], object]]:
        """Return functions, by path, that open the files that `with_keys` (None: `all`) reads and that are not open
        yet, and the files merged with them. They may be called in parallel."""
        numbers = [number for number in range(self.n_own)
                   if number not in self._readers and self._concerns(number, keys)]
        files = [self._origin.files[number] for number in numbers]
        found: dict[str, Callable[[], object]] = {}
        if layers := [file.overlay.layer for file in files if isinstance(file, MergedFile)]:
            bounds = [(self._edges[number], self._edges[number + 1]) for number in numbers]
            found |= RowFiles(self._origin.uri, layers[0], self._schema).openings(bounds)
        return found | {file.path: partial(self._reader, number) for file, number in zip(files, numbers, strict=True)}

    def fetches(self, keys: Sequence[np.ndarray | KeyBytes] | None) -> list[Callable[[], object]]:
        """Return functions that fetch the parts of open files that `with_keys` (None: `all`) reads. They may be called
        in parallel."""
        return [request for number in sorted(self._readers) if self._concerns(number, keys)
                for request in self._readers[number].fetches(self._wanted(number, keys))]

    def _concerns(self, number: int, keys: Sequence[np.ndarray | KeyBytes] | None) -> bool:
        """Return whether one of these keys (None: any key) may be in a file's range."""
        if keys is None:
            return True
        low, high = self._edges[number:number + 2]
        return any((self._within(one, low, high, []) >= 0).any() for one in keys)

    def _reader(self, number: int) -> RangeReader:
        if number not in self._readers:
            self._readers[number] = RangeReader(self._origin.uri, self._origin.files[number], self._schema)
        return self._readers[number]

    def _wanted(self, number: int, keys: Sequence[np.ndarray | KeyBytes] | None) -> list[int]:
        """The parts of a file that were not read yet; with `keys` those in which one may be."""
        reader, done = self._reader(number), self._read.setdefault(number, set())
        if keys is None:
            return sorted(set(range(reader.n_parts)) - done)
        low, high = self._edges[number:number + 2]
        return sorted({part for one in keys for part in np.unique(self._within(one, low, high, reader.lows)).tolist()}
                      - done - {-1})

    def _missing(self, number: int, keys: Sequence[np.ndarray | KeyBytes] | None) -> Iterator[Part]:
        """The parts of a file that were not read yet; with `keys` those in which one may be."""
        if not self._concerns(number, keys):
            return
        reader, missing = self._reader(number), self._wanted(number, keys)
        self._read[number].update(missing)
        is_whole = len(missing) == reader.n_parts
        numbers = np.array([self._names.setdefault(name, len(self._names)) for name in reader.names], np.int32)
        for part in reader.all() if is_whole else reader.some(missing):
            yield Part(part.rows, numbers[part.files], part.positions)

    @staticmethod
    def _within(keys: np.ndarray | KeyBytes, low: KeyValue | None, high: KeyValue | None,
                lows: Sequence[KeyValue]) -> np.ndarray:
        """Return the number of each key's range; ranges begin at `low` and at each of `lows`. -1 for a key outside of
        all: int64[n]."""
        bounds = [*([] if low is None else [low]), *lows, *([] if high is None else [high])]
        numbers = reached(keys, bounds) - (low is not None)
        if high is not None:
            numbers[numbers > len(lows)] = -1
        return numbers

    def _rows(self, parts: Iterable[Part]) -> pa.Table:
        rows = [without_rows(self._schema)]
        for part in parts:
            rows.append(part.rows.replace_schema_metadata(self._schema.metadata))
            self._files.append(part.files)
            self._positions.append(part.positions)
        return for_nulls(pa.concat_tables(rows), self._definition)


def fetch(units: Iterable[StoredRows], keys: Sequence[np.ndarray | KeyBytes] | None) -> None:
    """Fetch everything that `with_keys` (None: `all`) of these units reads of files on a store, in a few round trips
    instead of several per file."""
    far = [unit for unit in units if unit.is_far]
    at_once(list({path: opening for unit in far for path, opening in unit.openings(keys).items()}.values()))
    at_once([request for unit in far for request in unit.fetches(keys)])


class ChangedUnit:
    """The changes of a unit. `rows` are those of its base; `stays` (bool[n]) marks the unchanged ones."""

    def __init__(self, spec: UnitSpec, key: TableKey, rows: pa.Table, stored: StoredRows, stays: np.ndarray) -> None:
        self._spec, self._key, self._stored = spec, key, stored
        self._files: tuple[FileEntry, ...] = spec.base_files
        self._order = KeyOrder(key.names, key.form, key.rules)
        self._lows: list[KeyValue] = [file.min_key for file in self._files[1:] if file.min_key is not None]
        self._dead = np.flatnonzero(~stays)
        self._dead_files, self._dead_positions = stored.files[self._dead], stored.positions[self._dead]
        self._dead_keys = rows.select(list(key.names)).take(pa.array(self._dead))

    def write(self, rows: Iterable[pa.Table]) -> tuple[MergedChanges, dict[str, dict[str, int]]]:
        """Write the added rows, which come in key order, if they are many. Returns the changes, and the numbers of
        invalid dates in files, by path and column."""
        target = self._spec.target
        assert target is not None, "a unit without a target is not written"
        few, n_bytes, added = list[pa.Table](), 0, _Added(self._key, self._order, self._lows)
        with table_writer(target.changes, self._spec.number, self._spec.definition) as writer:
            for chunk in rows:
                added.count(chunk)
                few.append(chunk)
                n_bytes += chunk.nbytes
                if n_bytes > _INLINE_BYTES:
                    for one in few:
                        writer.write(one)
                    few = []
            files = tuple(writer.close())
        inline = pa.concat_tables([without_rows(table_schema(self._spec.definition)), *few])
        return MergedChanges(inline, files, self._positions(), self._ranges(added)), writer.zero_dates

    def _positions(self) -> pa.Table:
        names = pa.array(self._stored.names, pa.string()).take(pa.array(self._dead_files))
        dead = pa.table([names, self._dead_positions], schema=POSITIONS)
        return dead.sort_by([("file", "ascending"), ("position", "ascending")])

    def _ranges(self, added: _Added) -> tuple[RangeChange, ...]:
        n, ranges = len(self._files), self._order.numbers(self._dead_keys, self._lows)
        is_own = self._dead_files < self._stored.n_own
        own, others = (np.bincount(ranges[which], minlength=n).tolist() for which in (is_own, ~is_own))
        ends = [added.ends.get(number, (None, None)) for number in range(n)]
        return tuple(RangeChange(added.counts[number], low, high, own[number], others[number])
                     for number, (low, high) in enumerate(ends))


def is_small(files: Sequence[FileEntry], changes: int) -> bool:
    """Return whether changes may be merged with these files, given the largest number of rows that die or are added."""
    return changes <= compaction.MOST_MERGED * sum(file.stored_rows for file in files)


class _Added:
    """The number of rows added in each range, with their first and last key. `lows` are the keys at which the ranges
    begin, except for the first range."""

    def __init__(self, key: TableKey, order: KeyOrder, lows: list[KeyValue]) -> None:
        self._key, self._order, self._lows = key, order, lows
        self.counts = [0] * (len(lows) + 1)
        self.ends: dict[int, tuple[KeyValue, KeyValue]] = {}

    def count(self, rows: pa.Table) -> None:
        """Count rows, which come after all earlier ones."""
        ranges = self._order.numbers(rows, self._lows)
        firsts = np.flatnonzero(np.diff(ranges, prepend=-1))
        lasts = np.append(firsts[1:], len(ranges)) - 1
        columns = [rows.column(name) for name in self._key.names]
        first_keys: Sequence[KeyValue] = self._key.keys([column.take(pa.array(firsts)) for column in columns])
        last_keys: Sequence[KeyValue] = self._key.keys([column.take(pa.array(lasts)) for column in columns])
        counts = lasts - firsts + 1
        for number, count, low, high in zip(ranges[firsts].tolist(), counts.tolist(), first_keys, last_keys,
                                            strict=True):
            self.counts[number] += count
            self.ends[number] = self.ends.get(number, (low, high))[0], high
