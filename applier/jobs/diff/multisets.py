"""Compares the rows of two sides as multisets, if no key identifies them.

Rows are divided into parts by a hash of all their bytes, so that one part of both sides is in memory at a time. The
parts are in files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from applier.jobs.diff.columns import AFTER, BEFORE, exact
from applier.jobs.diff.parts_kernel import part_of_rows
from applier.jobs.diff.rows import DELETE, INSERT, Differences, Found
from keysearch.addresses import address_of
from keysearch.keybytes import KeyBytes, encode_keys

PART_BYTES = 16 << 20
"""Bytes of both sides' files in a part. Compressed, these are: in memory their rows take several times as many."""
_MOST_PARTS = 256
_SPILLED = pa.ipc.IpcWriteOptions(compression="lz4")


def parts_of(file_bytes: int) -> int:
    """Return the number of parts for files of this many bytes."""
    return min(_MOST_PARTS, 1 + file_bytes // PART_BYTES)


@dataclass
class _Part:
    """A part of one side's rows: in memory if it is the only one, else in a file."""

    path: Path | None
    schema: pa.Schema
    _batches: list[pa.RecordBatch]
    _writer: pa.ipc.RecordBatchStreamWriter | None = None

    def add(self, rows: pa.RecordBatch) -> None:
        if self.path is None:
            self._batches.append(rows)
            return
        if self._writer is None:
            self._writer = pa.ipc.new_stream(str(self.path), self.schema, options=_SPILLED)
        self._writer.write_batch(rows)

    def rows(self) -> pa.Table:
        if self._writer is None:
            return pa.Table.from_batches(self._batches, self.schema)
        self._writer.close()
        with pa.ipc.open_stream(str(self.path)) as reader:
            return reader.read_all()


def compare(sides: tuple[Iterator[pa.RecordBatch], Iterator[pa.RecordBatch]], schema: pa.Schema, parts: int,
            folder: Path, differences: Differences) -> Iterator[Found]:
    """Yield the differences between rows of two sides with one schema; `folder` has room for files."""
    divided = [[_Part(folder / f"{side}.{number}" if parts > 1 else None, schema, []) for number in range(parts)]
               for side in (BEFORE, AFTER)]
    for side, batches in enumerate(sides):
        for batch in batches:
            for number, rows in _divided(batch, parts):
                divided[side][number].add(rows)
    for number in range(parts):
        yield from _compared(divided[BEFORE][number].rows(), divided[AFTER][number].rows(), differences)
        for side in (BEFORE, AFTER):
            if parts > 1:
                (folder / f"{side}.{number}").unlink(missing_ok=True)
            divided[side][number] = _Part(None, schema, [])


def _divided(batch: pa.RecordBatch, parts: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    if parts == 1:
        yield 0, batch
        return
    rows, numbers = _bytes_of(batch), np.empty(batch.num_rows, np.int64)
    part_of_rows(rows.offsets, address_of(rows.data), parts, numbers)
    order = np.argsort(numbers, kind="stable")
    edges = np.searchsorted(numbers[order], np.arange(parts + 1))
    for number in np.flatnonzero(np.diff(edges)).tolist():
        yield number, batch.take(pa.array(order[edges[number]:edges[number + 1]]))


def _compared(before: pa.Table, after: pa.Table, differences: Differences) -> Iterator[Found]:
    tables = before, after
    keys = [pa.chunked_array([_bytes_of(batch).to_arrow() for batch in table.to_batches()], pa.large_binary())
            for table in tables]
    codes = pa.chunked_array([*keys[0].chunks, *keys[1].chunks], pa.large_binary()).dictionary_encode()
    coded = np.concatenate([chunk.indices.to_numpy() for chunk in codes.chunks] or [np.zeros(0, np.int32)])
    of_side = [coded[:before.num_rows], coded[before.num_rows:]]
    n = int(coded.max(initial=-1)) + 1
    surplus = np.bincount(of_side[BEFORE], minlength=n) - np.bincount(of_side[AFTER], minlength=n)
    for side, kind, counts in ((BEFORE, DELETE, np.maximum(surplus, 0)), (AFTER, INSERT, np.maximum(-surplus, 0))):
        first = np.zeros(n, np.int64)
        first[of_side[side][::-1]] = np.arange(len(of_side[side]))[::-1]
        wanted = np.repeat(first, counts)
        wanted.sort()
        for start in range(0, len(wanted), _ROWS):
            rows = tables[side].take(pa.array(wanted[start:start + _ROWS])).combine_chunks()
            yield differences.single(rows.to_batches()[0], kind)


_ROWS = 1 << 15


def _bytes_of(batch: pa.RecordBatch) -> KeyBytes:
    """Return all values of each row as bytes, equal only where all of these are."""
    if not batch.num_columns:
        return KeyBytes(np.zeros(batch.num_rows + 1, np.int64), np.zeros(0, np.uint8))
    return encode_keys([exact(column) for column in batch.columns], [True] * batch.num_columns)
