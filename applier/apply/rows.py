"""The rows that are left in a unit, as Arrow: every value is decoded once, late, and in the order of the keys.

A pointer leads to a row of the base, to an image in the log, or to a patch with a pointer a column. Rows come in
chunks, so memory is bounded by the chunk, not by the unit. What an image did not have is the table's default (DEF-R1b).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply import rows_kernel
from applier.apply.key_index import Patches
from applier.apply.pointer_kernel import PATCH_ID
from applier.binlog.changes import ImageLayouts
from applier.binlog.changes_kernel import IMAGE_ID_SHIFT
from applier.binlog.image_kernel import FULL
from applier.binlog.layout import MOST_BYTES, NO_NULLS, ImageBuffers, ImageProgram
from applier.binlog.mapping import MappedFile
from applier.binlog.values import finish_column
from applier.errors import ArchiveError
from applier.schema.defaults import default_scalar
from applier.schema.definition import TableDefinition
from applier.schema.types import arrow_type

CHUNK_ROWS = 1 << 15
CHUNK_BYTES = 256 << 20
"""What one string column of a chunk takes at most, but for a single row: memory, and Arrow's offsets of 31 bits."""


@dataclasses.dataclass(frozen=True)
class LoggedColumns:
    """The log's columns of a table: which are stored (`stored[i]` is the number in the log of the i-th column of the
    snapshot), and the wire type and metadata of each column of the log."""

    stored: tuple[int, ...]
    types: tuple[int, ...]
    metadata: tuple[int, ...]


def table_schema(definition: TableDefinition) -> pa.Schema:
    """The Arrow schema of a table in a snapshot: its columns but the VIRTUAL ones."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in definition.stored_columns])


class RowGatherer:
    """Turns pointers into record batches of a table's schema.

    `base` holds the rows that pointers of layout 0 mean, `files` the memory that images lie in.
    """

    def __init__(self, definition: TableDefinition, logged: LoggedColumns | None, layouts: ImageLayouts | None,
                 patches: Patches, base: pa.Table, files: list[MappedFile]):
        self.schema = table_schema(definition)
        self.zero_dates = 0
        self._definition, self._logged, self._layouts, self._patches = definition, logged, layouts, patches
        self._base = [column.combine_chunks() for column in base.columns]
        order = sorted(files, key=lambda file: file.address)
        self._starts = np.array([file.address for file in order], np.int64)
        self._ends = np.array([file.address + file.size for file in order], np.int64)
        if layouts is not None:
            wanted: list = [None] * len(layouts.plans)
            for column in logged.stored:
                wanted[column] = layouts.plans[column]
            self._buffers = ImageBuffers(wanted, CHUNK_ROWS)
            programs = [ImageProgram(layouts.plans, list(present), self._buffers) for present in layouts.present]
            self._kept = programs
            self._programs = np.array([program.address for program in programs], np.int64)

    def batches(self, pointers: np.ndarray) -> Iterator[pa.Table]:
        """The rows that `pointers` (int64[n]) lead to, in their order, some ten thousand at a time; fewer of long ones."""
        start, rows = 0, CHUNK_ROWS
        while start < len(pointers):
            zero_dates = self.zero_dates
            try:
                chunk = self._chunk(pointers[start:start + rows])
            except _TooMuch:
                rows, self.zero_dates = max(1, min(rows, len(pointers) - start) // 2), zero_dates
                continue
            yield chunk
            start, rows = start + rows, min(2 * rows, CHUNK_ROWS)

    def _chunk(self, pointers: np.ndarray) -> pa.Table:
        numbers = pointers >> IMAGE_ID_SHIFT
        in_base, patched = numbers == 0, numbers == PATCH_ID
        if not in_base.any() and not patched.any():
            return pa.Table.from_arrays([_copied(array) for array in self._decode(pointers)], schema=self.schema)
        if patched.any():
            return self._patched_chunk(pointers, patched)
        low, high = int(pointers[in_base].min()), int(pointers[in_base].max()) + 1
        images = np.ascontiguousarray(pointers[~in_base])
        if not len(images) and high - low == len(pointers):
            kept = [column.slice(low, high - low) for column in self._base]
            return pa.Table.from_arrays(kept, schema=self.schema)
        decoded = self._decode(images) if len(images) else [pa.array([], field.type) for field in self.schema]
        picks = np.empty(len(pointers), np.int64)
        picks[in_base] = pointers[in_base] - low
        picks[~in_base] = high - low + np.arange(len(images))
        pairs = zip(self._base, decoded, strict=True)
        return pa.Table.from_arrays([_take(column.slice(low, high - low), part, picks) for column, part in pairs],
                                    schema=self.schema)

    def _patched_chunk(self, pointers: np.ndarray, patched: np.ndarray) -> pa.Table:
        """A chunk with rows whose columns come from different places: each image is decoded once, and columns pick."""
        slots = pointers[patched] & ((1 << IMAGE_ID_SHIFT) - 1)
        places = np.repeat(pointers[:, None], len(self._logged.stored), axis=1)
        places[patched] = self._patches.pointers[slots][:, self._logged.stored]
        distinct, which = np.unique(places, return_inverse=True)
        which = which.reshape(places.shape)
        n_base = int(np.searchsorted(distinct, 1 << IMAGE_ID_SHIFT))
        picked = np.zeros((len(distinct), places.shape[1]), np.bool_)
        np.put_along_axis(picked, which, True, axis=0)
        images: list[list[pa.Array]] = []
        for start in range(n_base, len(distinct), CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            images.append([_copied(array) for array in self._decode(distinct[chunk], picked[chunk])])
            if len(pointers) > 1 and max(sum(part[c].nbytes for part in images) for c in range(places.shape[1])) > CHUNK_BYTES:
                raise _TooMuch
        rows_of_base = pa.array(distinct[:n_base])
        columns = []
        for c, field in enumerate(self.schema):
            parts = [part[c] for part in images] or [pa.array([], field.type)]
            base = self._base[c].take(rows_of_base)
            columns.append(_take(base, pa.concat_arrays(parts), which[:, c]))
        return pa.Table.from_arrays(columns, schema=self.schema)

    def _decode(self, pointers: np.ndarray, picked: np.ndarray | None = None) -> list[pa.Array]:
        """The finished columns of the images at `pointers`; good until the next call. Columns that an image lacks get
        their default (DEF-R1b) where `picked` (bool[n, columns]; None: all) says that they are used: what an update's
        after-image lacks, its row has from elsewhere (DEF-R2)."""
        pointers, buffers = np.ascontiguousarray(pointers), self._buffers
        most = CHUNK_BYTES if len(pointers) > 1 else MOST_BYTES
        buffers.reset()
        buffers.limit(most)
        if len(self._ends) == 1:
            ends = np.full(len(pointers), self._ends[0])
        else:
            addresses = pointers & ((1 << IMAGE_ID_SHIFT) - 1)
            ends = self._ends[np.searchsorted(self._starts, addresses, side="right") - 1]
        zero_dates, row = np.zeros(1, np.int64), 0
        while row < len(pointers):
            done = int(rows_kernel.decode_images(pointers, ends, self._programs, row, zero_dates.ctypes.data,
                                                 NO_NULLS.ctypes.data))
            if done >= 0 and done < len(pointers):
                raise ArchiveError("a row image changed while it was read", errno=1610)
            row = done if done >= 0 else FULL - done
            if done < 0:
                if len(pointers) > 1 and buffers.room >= CHUNK_BYTES:
                    raise _TooMuch
                buffers.double(row)
                buffers.limit(most)
        self.zero_dates += int(zero_dates[0])
        return [self._finished(column, len(pointers), None if picked is None else picked[:, column])
                for column in range(len(self.schema))]

    def _finished(self, column: int, rows: int, picked: np.ndarray | None) -> pa.Array:
        number = self._logged.stored[column]
        buffer, defined = self._buffers.columns[number], self._definition.stored_columns[column]
        values = finish_column(buffer.arrow(rows), defined, self._logged.types[number], self._logged.metadata[number])
        absent = buffer.absent_rows(rows)
        if absent is not None and picked is not None:
            absent = pc.and_(absent, pa.array(picked))
        if absent is None or not pc.any(absent).as_py():
            return values
        return pc.if_else(absent, default_scalar(defined, self._definition), values)


class _TooMuch(Exception):
    """The rows of a chunk take more than CHUNK_BYTES in a column: it has to be smaller."""


def _take(first: pa.Array, second: pa.Array, picks: np.ndarray) -> pa.Array:
    return pa.concat_arrays([first, second]).take(pa.array(picks))


def _copied(array: pa.Array) -> pa.Array:
    """The same values in memory of their own."""
    return pa.concat_arrays([array, array.slice(0, 0)])
