"""Encodes the parts of rows that a row store keeps (row_access), from a batch's images and a base's rows.

A part is a column's value as bytes that are equal if the values are (keysearch.keybytes, after a byte that says whether
it is NULL). For a part of a unique key, it is the bytes that the key compares: the first characters of a column, by its
collation. Before-images compare byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.store.row_parts import EncodedRowPart
from applier.apply.search.row_access import RowAccess
from applier.apply.spec import RowPart
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.columns.generated_columns import AfterImages, Completed, generated_column
from applier.columns.image_values import absent_flags, replaced, without_nulls
from applier.columns.replica_defaults import ReplicaDefaults, Seconds
from applier.columns.values import finish_column
from applier.errors import SchemaError
from applier.mysql.session import SYSTEM
from applier.mysql.types import arrow_type
from applier.mysql.values.doubles import as_shown
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column
from keysearch.collation import equality_column
from keysearch.keybytes import KeyBytes, encode_keys


class RowPartEncoder(RowAccess):
    """Encodes the parts of a table's rows."""

    def __init__(self, definition: TableDefinition, *, by_content: bool, also: tuple[RowPart, ...] = (),
                 time_zone: str = SYSTEM):
        super().__init__(definition, by_content=by_content, also=also)
        self._defaults = ReplicaDefaults(definition, time_zone)

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        """Return the columns to decode from each image."""
        columns = {part.column for part in self.parts} | self._made_of
        return [plan if c in columns else None for c, plan in enumerate(plans)]

    def of_images(self, images: ImageBuffers, rows: int, table_map: TableMap, seconds: Seconds,
                  inserted: np.ndarray | None = None) -> list[EncodedRowPart]:
        """Return the parts of the first `rows` images of a batch. A column that is missing in an insert's image gets
        its default (DEF-R1a, b); `inserted` (bool[rows]; None: no image) marks inserts. Columns that the log does not
        have are missing in all images."""
        finished = self._all_finished(images, rows, table_map, seconds, {})
        return self._inputs(finished, rows, seconds, inserted)

    def of_after_images(self, images: ImageBuffers, rows: int, table_map: TableMap, seconds: Seconds,
                        inserted: np.ndarray, computes_omitted: np.ndarray, takes_generated: bool,
                        documents: dict[int, pa.Array],
                        located: Callable[[SchemaError, np.ndarray], SchemaError],
                        ) -> tuple[list[EncodedRowPart], AwaitedImages | None]:
        """Return the parts of the first `rows` after-images of a batch, and the values that some await from the rows
        found. `computes_omitted` (bool[rows]) marks images whose missing generated columns a replica computes;
        `takes_generated` says whether a generated column takes the image's value. `documents` has the values of JSON
        columns with diffs. `located` adds the position to an error in some images (bool[rows])."""
        finished = self._all_finished(images, rows, table_map, seconds, documents)
        made: dict[int, Completed] = {}
        after = AfterImages(self.definition, self._defaults, inserted, computes_omitted, takes_generated, seconds,
                            finished)
        for column, keys in self.completed.items() if rows else ():
            if keys is None and column not in finished:
                continue  # no before-image has it, either
            try:
                made[column] = after.completed(column, located)
            except SchemaError as error:
                raise error.at(key=keys) from None
        inputs = [self.made_input(part, made[part.column]) if part.column in made else one
                  for part, one in zip(self.parts, self._inputs(finished, rows, seconds, inserted), strict=True)]
        awaits = any(column.waiting.any() for column in made.values())
        return inputs, AwaitedImages(self, after, made, inputs) if awaits else None

    def _all_finished(self, images: ImageBuffers, rows: int, table_map: TableMap, seconds: Seconds,
                      documents: dict[int, pa.Array]) -> dict[int, tuple[pa.Array, np.ndarray | None]]:
        return {column: self._finished(images, column, rows, table_map, seconds, documents.get(column))
                for column in {part.column for part in self.parts} | self._made_of
                if column < len(table_map.types)}

    def _inputs(self, finished: dict[int, tuple[pa.Array, np.ndarray | None]], rows: int, seconds: Seconds,
                inserted: np.ndarray | None) -> list[EncodedRowPart]:
        return [self._input(part, rows, seconds, inserted, *finished.get(part.column, (None, None)))
                for part in self.parts]

    def made_input(self, part: RowPart, made: Completed) -> EncodedRowPart:
        """Return the input for a part of a generated column."""
        return EncodedRowPart(self.encoded(part, made.values), made.left if made.left.any() else None)

    def null(self, part: RowPart) -> bytes:
        """Return the bytes of a part whose column is NULL."""
        return self.encoded(part, pa.nulls(1, arrow_type(self.definition.columns[part.column].type)))[0]

    def values(self, images: ImageBuffers, column: int, rows: int, table_map: TableMap, seconds: Seconds) -> pa.Array:
        """Return the values of a column in the first `rows` images of a batch."""
        return self._finished(images, column, rows, table_map, seconds, None)[0]

    def _finished(self, images: ImageBuffers, column: int, rows: int, table_map: TableMap, seconds: Seconds,
                  documents: pa.Array | None) -> tuple[pa.Array, np.ndarray | None]:
        values = documents if documents is not None else finish_column(
            images.columns[column].arrow(rows), self.definition.columns[column],
            table_map.types[column], table_map.metadata[column], self.definition.flavour)
        absent = absent_flags(images.columns[column].absent_rows(rows))
        return without_nulls(values, self.definition.columns[column], self._defaults, seconds, absent), absent

    def _input(self, part: RowPart, rows: int, seconds: Seconds, inserted: np.ndarray | None, values: pa.Array | None,
               absent: np.ndarray | None) -> EncodedRowPart:
        if values is not None and absent is None:
            return EncodedRowPart(self.encoded(part, values))
        column = self.definition.columns[part.column]
        absent = np.ones(rows, np.bool_) if values is None else absent
        default: pa.Array | pa.Scalar = pa.scalar(None, arrow_type(column.type))
        if inserted is not None and (absent & inserted).any():
            default = self._default(column, values is not None, seconds)
        if isinstance(default, pa.Array):
            values = default if values is None else pc.if_else(pa.array(absent), default, values)
            return EncodedRowPart(self.encoded(part, values), absent, None)
        keys = KeyBytes(np.zeros(rows + 1, np.int64), np.empty(0, np.uint8)) if values is None else \
            self.encoded(part, values)
        return EncodedRowPart(keys, absent, self.encoded(part, pa.repeat(default, 1))[0])

    def _default(self, column: Column, logged: bool, seconds: Seconds) -> pa.Array | pa.Scalar:
        """Return the value of inserts for a column that is missing in their images; `logged`: the log has the column.
        No key needs it for a generated column."""
        if column.generated or (not logged and column.auto_increment):
            return pa.scalar(None, arrow_type(column.type))  # no unique key compares it: each row gets one of its own
        return self._defaults.left_out(column, seconds)

    def encoded(self, part: RowPart, values: pa.Array | pa.ChunkedArray) -> KeyBytes:
        """Encode values of a part's column as the part's bytes."""
        if pa.types.is_list(values.type):  # VECTOR: by its numbers' bytes
            values = _vector_bytes(values)
        if part.by_bits and pa.types.is_floating(values.type):
            whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            whole = as_shown(whole, self.definition.columns[part.column].type)  # as images are decoded
            values = whole.view(pa.int32() if whole.type == pa.float32() else pa.int64())
        if part.prefix is not None:
            cut = pc.utf8_slice_codeunits if pa.types.is_string(values.type) else pc.binary_slice
            values = cut(values, 0, part.prefix)
        if part.collation is not None:
            values = equality_column(values, part.collation)
        return encode_keys([values], [True])

    def of_rows(self, rows: pa.Table) -> list[KeyBytes]:
        """Return the parts of a base's rows."""
        virtual = {column: self._virtual(column, rows) for column in self.generated if column not in self.stored}
        return [self.encoded(part, virtual[part.column] if part.column in virtual else
                             rows.column(self.definition.columns[part.column].name)) for part in self.parts]

    def _virtual(self, column: int, rows: pa.Table) -> pa.Array | pa.ChunkedArray:
        """Compute a VIRTUAL column of a base's rows, which do not have it."""
        try:
            return generated_column(self.definition.columns[column], self.definition, rows.column, rows.num_rows,
                                    time_zone=self._defaults.time_zone)
        except SchemaError as error:
            raise error.at(key=self.generated[column]) from None

class AwaitedImages:
    """The values that after-images of a batch need from the rows that they find (row_store.AwaitedValues): generated
    columns that depend on columns of both images and rows. `made` and `inputs` are the values and inputs that are known
    without the rows."""

    def __init__(self, parts: RowPartEncoder, after: AfterImages, made: dict[int, Completed],
                 inputs: list[EncodedRowPart]):
        self._parts, self._after, self._made, self._inputs = parts, after, made, inputs
        self.waiting = np.logical_or.reduce([column.waiting for column in made.values()])
        self.columns = parts.kept_for_generated

    def told(self, images: np.ndarray, rows: pa.Table) -> list[EncodedRowPart]:
        for column, made in self._made.items():
            chosen = made.waiting[images]
            if chosen.any():
                self._made[column] = self._told(column, made, images[chosen], rows.filter(pa.array(chosen)))
        self._inputs = [self._parts.made_input(part, self._made[part.column]) if part.column in self._made else one
                        for part, one in zip(self._parts.parts, self._inputs, strict=True)]
        return self._inputs

    def _told(self, column: int, made: Completed, images: np.ndarray, rows: pa.Table) -> Completed:
        try:
            values = self._after.of_found_rows(column, images, rows)
        except SchemaError as error:
            raise error.at(key=self._parts.completed[column]) from None
        chosen, order = np.zeros(len(made.left), np.bool_), np.argsort(images)
        chosen[images] = True
        return Completed(replaced(made.values, chosen, values.take(pa.array(order))),
                         made.left & ~chosen, made.waiting)


def _vector_bytes(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return each list of floats as the bytes of its items."""
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    offsets = (values.offsets.to_numpy().astype(np.int64) * 4).astype(np.int32)
    items = pa.py_buffer(np.ascontiguousarray(values.values.to_numpy(zero_copy_only=False), np.float32))
    valid = pa.array(values.is_valid()).buffers()[1] if values.null_count else None
    return pa.Array.from_buffers(pa.binary(), len(values), [valid, pa.py_buffer(offsets), items])
