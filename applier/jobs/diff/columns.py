"""The columns that two versions of a table share, and its rows in them.

Columns match by name, ignoring case. A column that only one side has is NULL on the other. If
the two have different Arrow types, both sides are texts, as a server prints them: 1 is 1 before and after an ALTER from
INT to BIGINT.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from applier.jobs.exporting.cells import texts_of, vector_bytes
from applier.mysql.character_sets.exact_text import shown
from applier.mysql.names import folded
from applier.mysql.reader_values import lossy_charset
from applier.mysql.type_registry import Family
from applier.mysql.types import arrow_type
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column

BEFORE, AFTER = 0, 1
"""The two sides, as indexes of pairs."""


@dataclass(frozen=True)
class SharedColumn:
    """A column of both sides, or of one, and its type in rows of the difference."""

    name: str
    sides: tuple[Column | None, Column | None]
    type: pa.DataType

    def of(self, side: int, rows: pa.RecordBatch) -> pa.Array:
        """Its values in rows of one side."""
        column = self.sides[side]
        if column is None:
            return pa.nulls(rows.num_rows, self.type)
        values = rows.column(rows.schema.get_field_index(column.name))
        charsets = {side.type.charset for side in self.sides if side is not None}
        values = values if len(charsets) == 1 else shown(values, lossy_charset(column.type))
        return values if values.type == self.type else texts_of(column, values).cast(self.type)


@dataclass(frozen=True)
class SharedColumns:
    """The stored columns of two definitions, one of which may be missing: those of the later one, then the others."""

    columns: tuple[SharedColumn, ...]

    @classmethod
    def of(cls, before: TableDefinition | None, after: TableDefinition | None) -> SharedColumns:
        """Return the columns of both."""
        sides = [{folded(column.name): column for column in (definition.stored_columns if definition else ())}
                 for definition in (before, after)]
        names = [*sides[AFTER], *(name for name in sides[BEFORE] if name not in sides[AFTER])]
        return cls(tuple(_shared(sides[BEFORE].get(name), sides[AFTER].get(name)) for name in names))

    @cached_property
    def schema(self) -> pa.Schema:
        """Their Arrow schema."""
        return pa.schema([pa.field(column.name, column.type) for column in self.columns])

    def rows(self, side: int, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of one side in these columns."""
        return pa.RecordBatch.from_arrays([column.of(side, batch) for column in self.columns], schema=self.schema)


def exact(values: pa.Array) -> pa.Array:
    """Return values of a type whose equality is that of their bytes: -0.0 is not 0.0, and vectors compare."""
    if pa.types.is_floating(values.type):
        return values.view(pa.int32() if values.type == pa.float32() else pa.int64())
    return vector_bytes(values) if pa.types.is_list(values.type) else values


def _shared(before: Column | None, after: Column | None) -> SharedColumn:
    column = after or before
    assert column is not None
    types = [arrow_type(side.type) for side in (before, after) if side is not None]
    if len(set(types)) == 1:
        return SharedColumn(column.name, (before, after), types[0])
    has_bytes = any(side is not None and side.type.entry.family in _OF_BYTES for side in (before, after))
    return SharedColumn(column.name, (before, after), pa.binary() if has_bytes else pa.string())


_OF_BYTES = (Family.BYTES, Family.GEOMETRY, Family.VECTOR)
