"""Writes what a unit has changed beside the files that have its rows, where these are merged when they are read.

The files stay. Rows that are not there any more, or are not as they were, are dead, wherever they are stored; rows that
are new, or not as they were, come into row files. Where that would make too large a share of the unit's rows, all of
them are written anew, and nothing has to be merged there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from applier.apply.merged_changes import MergedChanges, RangeChange
from applier.apply.output.unit_files import table_writer
from applier.apply.spec import FromBase, UnitSpec
from applier.columns.table_key import TableKey
from applier.schema.definition import table_schema, without_rows
from applier.snapshot.date_marks import for_nulls
from applier.snapshot.file_entries import FileEntry, KeyValue
from applier.snapshot.merged_rows import KeyOrder, RangeReader
from applier.snapshot.writer import POSITIONS

MOST_MERGED = 0.2
"""The largest share that dead rows and rows of row files may have, of the rows that the files themselves have."""
_INLINE_BYTES = 32 << 10
"""Arrow data that a task hands to the driver, which puts those of many units into one file."""


@dataclasses.dataclass(frozen=True)
class StoredRows:
    """Where each row of a unit's base is stored: `files[i]` (int32) is a number in `names`, those of the unit's `n_own`
    files first, `positions[i]` (int64) the row's number in that file."""

    names: tuple[str, ...]
    n_own: int
    files: np.ndarray
    positions: np.ndarray


def read_stored(origin: FromBase, spec: UnitSpec) -> tuple[pa.Table, StoredRows]:
    """The rows of a unit's base, and where they are stored. Errors: as reader.read_unit."""
    schema, names = table_schema(spec.definition), {file.stem: number for number, file in enumerate(origin.files)}
    rows, files, positions = [without_rows(schema)], [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for file in origin.files:
        reader = RangeReader(origin.uri, file, schema)
        numbers = np.array([names.setdefault(name, len(names)) for name in reader.names], np.int32)
        for part in reader.all():
            rows.append(part.rows.replace_schema_metadata(schema.metadata))
            files.append(numbers[part.files])
            positions.append(part.positions)
    return for_nulls(pa.concat_tables(rows), spec.definition), StoredRows(
        tuple(names), len(origin.files), np.concatenate(files), np.concatenate(positions))


class ChangedUnit:
    """The changes of a unit: `rows` are those of its base, `stays` (bool[n]) says which of them are as they were."""

    def __init__(self, spec: UnitSpec, key: TableKey, rows: pa.Table, stored: StoredRows, stays: np.ndarray) -> None:
        self._spec, self._key, self._stored = spec, key, stored
        self._files: tuple[FileEntry, ...] = spec.base_files
        self._order = KeyOrder(key.names, key.form, key.rules)
        self._lows: list[KeyValue] = [file.min_key for file in self._files[1:] if file.min_key is not None]
        self._dead = np.flatnonzero(~stays)
        self._dead_keys = rows.select(list(key.names)).take(pa.array(self._dead))

    def is_small(self, added: int) -> bool:
        """Whether the changes may be merged, given how many rows were added."""
        stored = sum(file.stored_rows for file in self._files)
        merged = sum(0 if file.changed is None else file.changed.row_file_rows for file in self._files)
        lives = sum(file.rows for file in self._files) - merged
        return len(self._dead) + added + merged + stored - lives <= MOST_MERGED * stored

    def write(self, rows: Iterable[pa.Table]) -> tuple[MergedChanges, dict[str, int]]:
        """Write the rows that were added, which come in the order of the key, if they are many. Returns the changes,
        and how many invalid dates the files have, by their paths."""
        place = self._spec.place
        assert place is not None, "a unit without a place is not written"
        few, n_bytes, added = list[pa.Table](), 0, _Added(self._key, self._order, self._lows)
        with table_writer(place.changes, self._spec.number, self._spec.definition) as writer:
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
        names = pa.array(self._stored.names, pa.string()).take(pa.array(self._stored.files[self._dead]))
        dead = pa.table([names, self._stored.positions[self._dead]], schema=POSITIONS)
        return dead.sort_by([("file", "ascending"), ("position", "ascending")])

    def _ranges(self, added: _Added) -> tuple[RangeChange, ...]:
        n, ranges = len(self._files), self._order.numbers(self._dead_keys, self._lows)
        is_own = self._stored.files[self._dead] < self._stored.n_own
        own, others = (np.bincount(ranges[which], minlength=n).tolist() for which in (is_own, ~is_own))
        ends = [added.ends.get(number, (None, None)) for number in range(n)]
        return tuple(RangeChange(added.counts[number], low, high, own[number], others[number])
                     for number, (low, high) in enumerate(ends))


class _Added:
    """How many rows were added in each range, and the first and the last key there. `lows` are the keys at which the
    ranges begin, but for the first one."""

    def __init__(self, key: TableKey, order: KeyOrder, lows: list[KeyValue]) -> None:
        self._key, self._order, self._lows = key, order, lows
        self.counts = [0] * (len(lows) + 1)
        self.ends: dict[int, tuple[KeyValue, KeyValue]] = {}

    def count(self, rows: pa.Table) -> None:
        """Count rows that come after all before them."""
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
