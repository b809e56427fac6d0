"""Sums of a snapshot's rows, by range, from its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
import pyarrow as pa

from applier.engine.threads import map_on_threads
from applier.io.progress import Progress
from applier.jobs.verify.canonical import hashed
from applier.jobs.verify.plan import ComparedTable, ComparisonPlan
from applier.jobs.verify.sums_kernel import add_sums, hash_rows, hash_values
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.reader import read_batches
from keysearch.addresses import address_of

_HALF = 32


@dataclass(frozen=True)
class RangeSums:
    """The number of rows of a range, the sum of the hashes of its rows, and of each column's values."""

    rows: int
    row: int
    columns: tuple[int, ...]


@dataclass
class TableSums:
    """Sums of all ranges of a table, and which ranges have rows of which of its files."""

    table: ComparedTable
    _ranges: dict[str, np.ndarray] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._counts, self._sums = self._new()

    def __getitem__(self, number: int) -> RangeSums:
        low, high = self._sums[number].T.tolist()
        row, *columns = (first + (second << _HALF) for first, second in zip(low, high, strict=True))
        return RangeSums(int(self._counts[number]), row, tuple(columns))

    def add_file(self, uri: str, file: FileEntry) -> None:
        """Add the rows of a file. Raises SnapshotError as `read_batches` does."""
        counts, sums = self._new()
        for batch in read_batches(uri, file, self.table.definition):
            hashes = hashes_of(self.table, batch)
            add_sums(hashes, self.table.ranges_of(batch, hashes), counts, sums)
        with self._lock:
            self._counts += counts
            self._sums += sums
            self._ranges[file.path] = np.flatnonzero(counts)

    def files_with(self, number: int) -> Iterator[FileEntry]:
        """Return the files that have rows of a range."""
        return (file for file in self.table.entry.files if number in self._ranges.get(file.path, ()))

    def _new(self) -> tuple[np.ndarray, np.ndarray]:
        ranges = self.table.ranges
        return np.zeros(ranges, np.int64), np.zeros((ranges, len(self.table.columns) + 1, 2), np.uint64)


def hashes_of(table: ComparedTable, batch: pa.RecordBatch) -> np.ndarray:
    """Return the hashes of each row, and of each column's value in it: uint64[columns + 1, rows]."""
    hashes = np.empty((len(table.columns) + 1, batch.num_rows), np.uint64)
    by_sha2 = table.hash == "sha2"
    for number, (column, values) in enumerate(zip(table.columns, batch.columns, strict=True), 1):
        cells = hashed(column, values)
        hash_values(address_of(cells.data), address_of(cells.offsets), address_of(cells.nulls), cells.cut, by_sha2,
                    hashes[number])
    hash_rows(hashes, by_sha2)
    return hashes


def sums_of(plan: ComparisonPlan, progress: Progress) -> dict[str, TableSums]:
    """Return the sums of all tables, by their names, computed by a thread a core. Raises SnapshotError for a file that
    is missing or damaged."""
    found = {table.full_name: TableSums(table) for table in plan.tables}
    files = [(found[table.full_name], file) for table in plan.tables for file in table.entry.files if file.rows]
    progress.phase("verify", len(files), "files")

    def add(work: tuple[TableSums, FileEntry]) -> int:
        sums, file = work
        sums.add_file(plan.snapshot.root, file)
        return file.rows

    map_on_threads(add, files, os.cpu_count() or 1, lambda done, _: progress.update(done))
    return found
