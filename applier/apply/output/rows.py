"""The remaining rows of a unit, as Arrow: every value is decoded once, at the end, and in key order.

A pointer leads to a row of the base, to an image in the log, or to column pointers (one per column), of which those of
JSON columns may lead to diffs. Rows are output in chunks, so the chunk bounds the memory, not the unit. A column that
is missing in an image has the table's default (DEF-R1b).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
import pyarrow as pa

from applier.apply.index.column_pointers import ColumnPointers
from applier.apply.index.diff_kernel import DIFF_ID
from applier.apply.index.diff_nodes import DiffNodes
from applier.apply.index.pointer_kernel import COLUMN_POINTERS_ID, COMPUTED
from applier.apply.output import image_reader
from applier.apply.output.base_rows import BaseRows
from applier.apply.output.documents import Documents
from applier.apply.output.image_reader import ChunkTooLarge, ImageMemory, ImageReader
from applier.binlog.rows.changes import ImageLayout, ImageLayouts
from applier.binlog.rows.image_pointers import layouts_of, pointers_to
from applier.binlog.rows.layout import ColumnPlan
from applier.columns.extra_columns import GIVEN, KNOWN, UNKNOWN, ExtraColumns
from applier.columns.generated_columns import computed_of_images
from applier.columns.image_values import absent_flags, with_defaults, without_nulls
from applier.columns.replica_defaults import EventTimes, ReplicaDefaults, Seconds
from applier.columns.values import finish_column
from applier.errors import ApplierError, UnsupportedEvent
from applier.io.mapping import MappedFile
from applier.mysql.types import arrow_type
from applier.schema.definition import TableDefinition, without_rows
from applier.schema.table_parts import Column

_Made = TypeVar("_Made")
CHUNK_ROWS = 1 << 15
CHUNK_VALUES = 1 << 20
"""The most values of a chunk. Chunks of wide tables have fewer rows."""


@dataclasses.dataclass(frozen=True)
class LoggedColumns:
    """The log's columns of a table: the stored ones (`stored[i]` is the number in the log of column i of the snapshot),
    and the wire type and metadata of each column in the log."""

    stored: tuple[int, ...]
    types: tuple[int, ...]
    metadata: tuple[int, ...]


class RowGatherer:
    """Converts pointers to record batches of a table's schema, or of some of its columns (`logged.stored`).

    `base` has the rows to which pointers of layout 0 lead, `files` the memory of images, in commit order, `times` the
    event times that `defaults` need.
    """

    def __init__(self, definition: TableDefinition, logged: LoggedColumns, layouts: ImageLayouts,
                 column_pointers: ColumnPointers, diffs: DiffNodes, base: pa.Table, files: list[MappedFile],
                 defaults: ReplicaDefaults, times: EventTimes):
        self.schema = base.schema
        self._definition, self._logged, self._column_pointers = definition, logged, column_pointers
        self._defaults, self._times = defaults, times
        self._base = BaseRows(base)
        self._rows = min(CHUNK_ROWS, max(1024, CHUNK_VALUES // max(1, len(logged.stored))))
        wanted: list[ColumnPlan | None] = [None] * len(layouts.plans)
        for column in logged.stored:
            if column < len(wanted):
                wanted[column] = layouts.plans[column]
        self._extra = ExtraColumns(definition, len(logged.types), defaults.time_zone)
        memory = ImageMemory(files)
        self._reader = ImageReader(memory, layouts, wanted, self._rows)
        self._documents = Documents(definition, diffs, layouts, memory)
        self._computed = {
            logged.stored.index(number): np.array([0, *(_made_in(layout, number, made_of, layouts.takes_generated)
                                                        for layout in layouts.known[1:])], np.uint8)
            for number, made_of in computed_of_images(definition).items() if number < len(logged.types)}
        """By number in the schema, the argument of `ExtraColumns.computed` for images of each layout."""

    @property
    def zero_dates(self) -> int:
        """The number of invalid dates, which became null, in the rows so far."""
        return self._reader.zero_dates

    @property
    def failure(self) -> ApplierError | None:
        """The error of the JSON diff that did not fit, the first one in log order in the rows so far."""
        return self._documents.failure

    def batches(self, pointers: np.ndarray) -> Iterator[pa.Table]:
        """Yield the rows to which `pointers` (int64[n]) lead, in order, several thousand at a time; fewer if they are
        long."""
        for rows in self._in_chunks(pointers, self._chunk):
            yield self._extra.generated(rows)

    def base_rows(self, pointers: np.ndarray) -> np.ndarray:
        """Return the numbers of the base rows to which `pointers` (int64[n]) lead with all columns unchanged; -1 for
        other rows: int64[n]."""
        ids = layouts_of(pointers)
        found = np.where(ids == 0, pointers, -1)
        by_column = np.flatnonzero(ids == COLUMN_POINTERS_ID)
        for start in range(0, len(by_column), self._rows):
            at = by_column[start:start + self._rows]
            by_column = self._pointers_by_column(pointers[at])
            first = by_column[:, 0]
            found[at] = np.where((by_column == first[:, None]).all(axis=1) & (layouts_of(first) == 0), first, -1)
        return found

    def columns_at(self, pointers: np.ndarray, columns: tuple[int, ...]) -> pa.Table:
        """Return some columns (by number in the definition) of the rows to which `pointers` (int64[n]) lead."""
        numbers = [self._logged.stored.index(column) for column in columns]
        schema = pa.schema([self.schema.field(number) for number in numbers])

        def picked(some: np.ndarray) -> pa.Table:
            if not self._computed.keys().isdisjoint(numbers):
                return self._chunk_by_column(some).select(schema.names)
            pointers_here = self._pointers_by_column(some)[:, numbers]
            return pa.Table.from_arrays(self._columns(pointers_here, numbers), schema=schema)

        return pa.concat_tables([without_rows(schema), *self._in_chunks(pointers, picked)])

    def images_at(self, images: np.ndarray, columns: Sequence[int]) -> pa.Table:
        """Return some columns (by number in the definition) of row images (int64[n] pointers) that have them."""
        numbers = [self._logged.stored.index(column) for column in columns]
        schema = pa.schema([self.schema.field(number) for number in numbers])

        def decoded(some: np.ndarray) -> pa.Table:
            return pa.Table.from_arrays(self._decode(some, numbers), schema=schema)

        return pa.concat_tables([without_rows(schema), *self._in_chunks(images, decoded)])

    def failed_diff(self) -> ApplierError | None:
        """Return the error of the first JSON diff in the log that does not fit, after applying also the diffs of values
        that no longer exist; None if all fit."""
        zero_dates = self.zero_dates
        for column, tops in self._documents.not_applied().items():
            if column in self._logged.stored:
                apply = partial(self._documents_at, self._logged.stored.index(column))
                for _ in self._in_chunks(tops, apply):
                    pass
        self._reader.zero_dates = zero_dates
        return self.failure

    def _documents_at(self, column: int, pointers: np.ndarray) -> pa.Array:
        return self._columns(pointers[:, None].copy(), (column,))[0]

    def _in_chunks(self, pointers: np.ndarray, make: Callable[[np.ndarray], _Made]) -> Iterator[_Made]:
        start, rows = 0, self._rows
        while start < len(pointers):
            zero_dates = self.zero_dates
            try:
                made = make(pointers[start:start + rows])
            except ChunkTooLarge:
                rows, self._reader.zero_dates = max(1, min(rows, len(pointers) - start) // 2), zero_dates
                continue
            yield made
            start, rows = start + rows, min(2 * rows, self._rows)

    def _chunk(self, pointers: np.ndarray) -> pa.Table:
        if (layouts_of(pointers) == COLUMN_POINTERS_ID).any():
            return self._chunk_by_column(pointers)
        columns = self._columns_of_rows(pointers, range(len(self.schema)))
        rows = pa.Table.from_arrays(columns, schema=self.schema)
        return self._extra.computed(rows, self._made_by(dict.fromkeys(self._computed, pointers)))

    def _made_by(self, by_column: dict[int, np.ndarray]) -> dict[str, np.ndarray]:
        """Return how the generated columns are made, given their pointers by number in the schema, as
        `ExtraColumns.computed` takes it."""
        found = {}
        for column, pointers in by_column.items():
            ids = layouts_of(pointers)
            kinds = self._computed[column][np.where((ids < 0) | (ids == DIFF_ID), 0, ids)]
            kinds[pointers == COMPUTED] = UNKNOWN
            if kinds.any():
                found[self.schema.names[column]] = kinds
        return found

    def _columns_of_rows(self, pointers: np.ndarray, columns: range) -> list[pa.Array | pa.ChunkedArray]:
        """Return some columns (by number in the schema) of rows with one source each; those of the base ascend."""
        in_base = layouts_of(pointers) == 0
        if not in_base.any():
            return [*self._decode(pointers, columns)]
        base: list[pa.ChunkedArray] = self._rows_of_base(pointers[in_base]).columns[columns.start:columns.stop]
        if in_base.all():
            return base
        images = self._decode(pointers[~in_base], columns)
        picks = np.empty(len(pointers), np.int64)
        n_base = int(in_base.sum())
        picks[in_base], picks[~in_base] = np.arange(n_base), np.arange(n_base, len(pointers))
        return [_take([*rows.chunks, decoded], picks) for rows, decoded in zip(base, images, strict=True)]

    def _pointers_by_column(self, pointers: np.ndarray) -> np.ndarray:
        """Return the pointer of each column of the rows to which pointers lead: int64[n, columns of the snapshot]."""
        by_column: np.ndarray = self._column_pointers.by_column(pointers)[:, self._logged.stored]
        return by_column

    def _chunk_by_column(self, pointers: np.ndarray) -> pa.Table:
        """Return a chunk of rows whose columns have different sources. If all logged columns have one source and the
        others another one, as after full images, only the others are read column by column."""
        by_column = self._pointers_by_column(pointers)
        n_logged = sum(number < len(self._logged.types) for number in self._logged.stored)
        columns = range(len(self.schema))
        made = self._made_by({column: by_column[:, column] for column in self._computed})
        if n_logged < len(columns) and self._are_rows(by_column[:, :n_logged]):
            together = self._columns_of_rows(by_column[:, 0], columns[:n_logged])
            parts = [*together, *self._columns(by_column[:, n_logged:], columns[n_logged:])]
        else:
            parts = self._columns(by_column, columns)
        return self._extra.computed(pa.Table.from_arrays(parts, schema=self.schema), made)

    def _are_rows(self, by_column: np.ndarray) -> bool:
        """Return whether each row's columns (int64[n, columns]) come from one image or one row of the base, and these
        ascend."""
        first = by_column[:, 0]
        kinds = layouts_of(first)
        return bool((by_column == first[:, None]).all() and (np.diff(first[kinds == 0]) > 0).all()
                    and not (kinds == DIFF_ID).any())

    def _columns(self, by_column: np.ndarray, columns: Sequence[int]) -> list[pa.Array]:
        """Return the values of some columns (by number in the schema), given a pointer for each (int64[n, columns],
        which is changed). Each image is decoded once, columns take their values, and then diffs are applied to
        documents."""
        chains = [self._documents.unwind(by_column[:, c]) for c in range(len(columns))]
        if (none := by_column == COMPUTED).any():  # any value of the row will do
            by_column = np.where(none, by_column.max(axis=1, keepdims=True), by_column)
        distinct, which = np.unique(by_column, return_inverse=True)
        which = which.reshape(by_column.shape)
        n_base = int(np.searchsorted(distinct, pointers_to(1, 0)))
        if len(distinct) > 4 * self._rows and len(by_column) > 1:
            raise ChunkTooLarge
        picked = np.zeros((len(distinct), len(columns)), np.bool_)
        np.put_along_axis(picked, which, True, axis=0)
        base = self._rows_of_base(distinct[:n_base])
        parts: list[list[pa.Array]] = [base.column(column).chunks for column in columns]
        for start in range(n_base, len(distinct), self._rows):
            chunk = slice(start, start + self._rows)
            for part, array in zip(parts, self._decode(distinct[chunk], columns, picked[chunk]), strict=True):
                part.append(array)
            longest = max(sum(array.nbytes for array in part) for part in parts)
            if len(by_column) > 1 and longest > image_reader.CHUNK_BYTES:
                raise ChunkTooLarge
        arrays = [_take(part, which[:, c]) for c, part in enumerate(parts)]
        return [array if chain is None else self._documents.applied(self._logged.stored[column], array, chain)
                for column, array, chain in zip(columns, arrays, chains, strict=True)]

    def _rows_of_base(self, rows: np.ndarray) -> pa.Table:
        taken = self._base.take(rows)
        if len(rows) > 1 and max(column.nbytes for column in taken.columns) > image_reader.CHUNK_BYTES:
            raise ChunkTooLarge
        return taken

    def _decode(self, pointers: np.ndarray, columns: Sequence[int],
                picked: np.ndarray | None = None) -> list[pa.Array]:
        """Return finished columns of the images at `pointers`. A column that is missing in an image gets its default
        (DEF-R1b) if `picked` (bool[n, columns]; None: all) says that it is used: columns that an update's after-image
        omits keep the row's value (DEF-R2). An error names its image."""
        try:
            if any(self._logged.stored[column] < len(self._logged.types) for column in columns):
                self._reader.read(pointers)
            return [self._finished(column, pointers, None if picked is None else picked[:, c])
                    for c, column in enumerate(columns)]
        except ApplierError as error:
            if len(pointers) == 1:
                raise self._located(error, int(pointers[0])) from error.__cause__
            middle = len(pointers) // 2
            for half in (slice(None, middle), slice(middle, None)):
                self._decode(pointers[half], columns, None if picked is None else picked[half])
            raise
        except pa.ArrowCapacityError as error:
            if len(pointers) == 1:
                too_long = UnsupportedEvent(f"a value of more than 2 GiB: {error}")
                raise self._located(too_long, int(pointers[0])) from error
            raise ChunkTooLarge from error

    def _located(self, error: ApplierError, pointer: int) -> ApplierError:
        return self._reader.memory.located(error, pointer, self._definition.full_name)

    def _finished(self, column: int, pointers: np.ndarray, picked: np.ndarray | None) -> pa.Array:
        number, rows = self._logged.stored[column], len(pointers)
        defined = self._definition.columns[number]

        def seconds() -> np.ndarray:
            return self._times.of(pointers)

        if number >= len(self._logged.types):
            return self._not_logged(defined, rows, picked, seconds)
        buffer = self._reader.buffers.columns[number]
        values = finish_column(buffer.taken(rows), defined, self._logged.types[number], self._logged.metadata[number],
                               self._definition.flavour)
        absent = absent_flags(buffer.absent_rows(rows))
        values = without_nulls(values, defined, self._defaults, seconds, absent, picked)
        if absent is None:
            return values
        used = absent if picked is None else absent & picked
        if column in self._computed:
            return values  # it is computed once the row is known
        return with_defaults(values, defined, self._defaults, seconds, used)

    def _not_logged(self, column: Column, rows: int, picked: np.ndarray | None, seconds: Seconds) -> pa.Array:
        """Return a column that the log does not have: its default, unless `extra_columns` makes its values."""
        if column.generated or column.auto_increment or (picked is not None and not picked.any()):
            return pa.nulls(rows, arrow_type(column.type))
        values = self._defaults.left_out(column, seconds)
        return pa.repeat(values, rows) if isinstance(values, pa.Scalar) else values


def _made_in(layout: ImageLayout, number: int, made_of: frozenset[int], takes_generated: bool) -> int:
    """Return how a replica makes a generated column for images of a layout: it depends on whether they have its value.
    """
    if number not in layout.present:
        return UNKNOWN if layout.computes_omitted else 0
    if takes_generated:
        return 0
    return GIVEN if made_of.isdisjoint((*layout.present, *layout.diffs)) else KNOWN


def _take(parts: list[pa.Array], picks: np.ndarray) -> pa.Array:
    return pa.concat_arrays(parts).take(pa.array(picks))
