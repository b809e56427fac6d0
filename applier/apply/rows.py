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
from applier.apply.base_rows import BaseRows
from applier.apply.key_index import Patches
from applier.apply.pointer_kernel import PATCH_ID
from applier.binlog.changes import ImageLayouts
from applier.binlog.changes_kernel import IMAGE_ID_SHIFT
from applier.binlog.image_kernel import FULL
from applier.binlog.layout import MOST_BYTES, NO_NULLS, ColumnPlan, ImageBuffers, ImageProgram
from applier.binlog.mapping import MappedFile
from applier.binlog.values import finish_column
from applier.errors import CORRUPT_EVENT, ApplierError, ArchiveError, UnsupportedEvent
from applier.schema.defaults import default_scalar
from applier.schema.definition import TableDefinition
from applier.schema.types import arrow_type

_ADDRESS = (1 << IMAGE_ID_SHIFT) - 1
CHUNK_ROWS = 1 << 15
CHUNK_VALUES = 1 << 20
"""Rows of wide tables are fewer in a chunk: as many as have so many values."""
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

    def __init__(self, definition: TableDefinition, logged: LoggedColumns, layouts: ImageLayouts, patches: Patches,
                 base: pa.Table, files: list[MappedFile]):
        self.schema = table_schema(definition)
        self.zero_dates = 0
        self._definition, self._logged, self._patches = definition, logged, patches
        self._base = BaseRows(base)
        self._files = sorted(files, key=lambda file: file.address)
        self._starts = np.array([file.address for file in self._files], np.int64)
        self._ends = np.array([file.address + file.size for file in self._files], np.int64)
        self._rows = min(CHUNK_ROWS, max(1024, CHUNK_VALUES // len(logged.stored)))
        wanted: list[ColumnPlan | None] = [None] * len(layouts.plans)
        for column in logged.stored:
            wanted[column] = layouts.plans[column]
        self._buffers = ImageBuffers(wanted, self._rows)
        self._kept = [ImageProgram(layouts.plans, list(present), self._buffers) for present in layouts.present]
        self._programs = np.array([program.address for program in self._kept], np.int64)

    def batches(self, pointers: np.ndarray) -> Iterator[pa.Table]:
        """The rows that `pointers` (int64[n]) lead to, in their order, some thousand at a time; fewer of long ones."""
        start, rows = 0, self._rows
        while start < len(pointers):
            zero_dates = self.zero_dates
            try:
                chunk = self._chunk(pointers[start:start + rows])
            except _TooMuch:
                rows, self.zero_dates = max(1, min(rows, len(pointers) - start) // 2), zero_dates
                continue
            yield chunk
            start, rows = start + rows, min(2 * rows, self._rows)

    def _chunk(self, pointers: np.ndarray) -> pa.Table:
        numbers = pointers >> IMAGE_ID_SHIFT
        in_base = numbers == 0
        if (numbers == PATCH_ID).any():
            return self._patched_chunk(pointers, numbers == PATCH_ID)
        if not in_base.any():
            return pa.Table.from_arrays([_copied(array) for array in self._decode(pointers)], schema=self.schema)
        base = self._rows_of_base(pointers[in_base])
        if in_base.all():
            return base
        images = self._decode(pointers[~in_base])
        picks = np.empty(len(pointers), np.int64)
        picks[in_base], picks[~in_base] = np.arange(base.num_rows), base.num_rows + np.arange(len(images[0]))
        return pa.Table.from_arrays([_take([*rows.chunks, decoded], picks)
                                     for rows, decoded in zip(base.columns, images, strict=True)], schema=self.schema)

    def _patched_chunk(self, pointers: np.ndarray, patched: np.ndarray) -> pa.Table:
        """A chunk with rows whose columns come from different places: each image is decoded once, and columns pick."""
        slots = pointers[patched] & _ADDRESS
        places = np.repeat(pointers[:, None], len(self._logged.stored), axis=1)
        places[patched] = self._patches.pointers[slots][:, self._logged.stored]
        distinct, which = np.unique(places, return_inverse=True)
        which = which.reshape(places.shape)
        n_base = int(np.searchsorted(distinct, 1 << IMAGE_ID_SHIFT))
        if len(distinct) > 4 * self._rows and len(pointers) > 1:
            raise _TooMuch
        picked = np.zeros((len(distinct), places.shape[1]), np.bool_)
        np.put_along_axis(picked, which, True, axis=0)
        base = self._rows_of_base(distinct[:n_base])
        parts: list[list[pa.Array]] = [column.chunks for column in base.columns]
        for start in range(n_base, len(distinct), self._rows):
            chunk = slice(start, start + self._rows)
            for part, array in zip(parts, self._decode(distinct[chunk], picked[chunk]), strict=True):
                part.append(_copied(array))
            if len(pointers) > 1 and max(sum(array.nbytes for array in part) for part in parts) > CHUNK_BYTES:
                raise _TooMuch
        return pa.Table.from_arrays([_take(part, which[:, c]) for c, part in enumerate(parts)], schema=self.schema)

    def _rows_of_base(self, rows: np.ndarray) -> pa.Table:
        taken = self._base.take(rows)
        if len(rows) > 1 and max(column.nbytes for column in taken.columns) > CHUNK_BYTES:
            raise _TooMuch
        return taken

    def _decode(self, pointers: np.ndarray, picked: np.ndarray | None = None) -> list[pa.Array]:
        """The finished columns of the images at `pointers`; good until the next call. Columns that an image lacks get
        their default (DEF-R1b) where `picked` (bool[n, columns]; None: all) says that they are used: what an update's
        after-image lacks, its row has from elsewhere (DEF-R2). An error names the image that it is about."""
        try:
            self._fill_buffers(np.ascontiguousarray(pointers))
            return [self._finished(column, len(pointers), None if picked is None else picked[:, column])
                    for column in range(len(self.schema))]
        except ApplierError as error:
            if len(pointers) == 1:
                raise self._placed(error, int(pointers[0])) from error
            middle = len(pointers) // 2
            for half in (slice(None, middle), slice(middle, None)):
                self._decode(pointers[half], None if picked is None else picked[half])
            raise
        except pa.ArrowCapacityError as error:
            if len(pointers) == 1:
                too_long = UnsupportedEvent(f"a value of more than 2 GiB: {error}")
                raise self._placed(too_long, int(pointers[0])) from error
            raise _TooMuch from error

    def _fill_buffers(self, pointers: np.ndarray) -> None:
        buffers, most = self._buffers, CHUNK_BYTES if len(pointers) > 1 else MOST_BYTES
        buffers.reset()
        buffers.limit(most)
        ends = self._ends[self._files_of(pointers)]
        zero_dates, row = np.zeros(1, np.int64), 0
        while row < len(pointers):
            done = int(rows_kernel.decode_images(pointers, ends, self._programs, row, zero_dates.ctypes.data,
                                                 NO_NULLS.ctypes.data))
            if done >= 0 and done < len(pointers):
                raise ArchiveError("a row image holds a value that no server writes", errno=CORRUPT_EVENT,
                                   hint="the file is damaged; copy it again from the server")
            row = done if done >= 0 else FULL - done
            if done < 0:
                if len(pointers) > 1 and buffers.room >= CHUNK_BYTES:
                    raise _TooMuch
                buffers.double(row)
                buffers.limit(most)
        self.zero_dates += int(zero_dates[0])

    def _files_of(self, pointers: np.ndarray) -> np.ndarray:
        """The number of the file that each image lies in."""
        if len(self._files) == 1:
            return np.zeros(len(pointers), np.int64)
        return np.searchsorted(self._starts, pointers & _ADDRESS, side="right") - 1

    def _placed(self, error: ApplierError, pointer: int) -> ApplierError:
        file = self._files[int(self._files_of(np.array([pointer]))[0])]
        return error.at(file=file.uri, position=file.position_of(pointer & _ADDRESS), table=self._definition.full_name)

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


def _take(parts: list[pa.Array], picks: np.ndarray) -> pa.Array:
    return pa.concat_arrays(parts).take(pa.array(picks))


def _copied(array: pa.Array) -> pa.Array:
    """The same values in memory of their own."""
    return pa.concat_arrays([array, array.slice(0, 0)])
