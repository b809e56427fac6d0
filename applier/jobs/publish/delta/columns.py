"""A table's definition as Delta has it: columns by their names, with comments.

All columns may be null: a date that is none is null to readers, also where the server has NOT NULL.
"""

from __future__ import annotations

import pyarrow as pa
from deltalake import Field, Schema

from applier.errors import UsageError
from applier.schema.definition import Column, TableDefinition, table_schema
from applier.snapshot.stored_columns import StoredColumns

_TIME = "TIME in microseconds"
_ORDINAL = "mysql.ordinal"
"""A column's place, from 1: deltalake takes columns that only changed places for the same schema."""


def stored_schema(definition: TableDefinition, unsigned_bigint: str) -> pa.Schema:
    """The columns of a table's files. Raises UsageError for a type that Delta lacks."""
    stored = StoredColumns.of(definition).schema(table_schema(definition), unsigned_bigint)
    if found := [field.name for field in stored if field.type == pa.uint64()]:
        raise UsageError(f"Delta has no unsigned integers, and column {found[0]} is unsigned",
                         table=definition.full_name,
                         hint="replay or import with --unsigned-bigint decimal or long")
    return stored


def delta_schema(definition: TableDefinition, unsigned_bigint: str) -> Schema:
    """The columns as Delta has them. Raises UsageError for a type that it lacks."""
    plain = Schema.from_arrow(pa.schema([pa.field(field.name, field.type)
                                         for field in stored_schema(definition, unsigned_bigint)]))
    columns = zip(plain.fields, definition.stored_columns, strict=True)
    return Schema([Field(field.name, field.type, nullable=True, metadata=_metadata(column) | {_ORDINAL: place})
                   for place, (field, column) in enumerate(columns, 1)])


def same_columns(one: Schema, other: Schema) -> bool:
    """Whether two schemas have columns of the same names and types in the same order."""
    return [(field.name, field.type) for field in one.fields] == [(field.name, field.type) for field in other.fields]


def has_local_times(schema: Schema) -> bool:
    """Whether a column has the type that Delta tables have to announce, as a feature: timestamp_ntz."""
    return any(getattr(field.type, "type", "") == "timestamp_ntz" for field in schema.fields)


def _metadata(column: Column) -> dict[str, str | int]:
    parts = [column.comment, _TIME if column.type.base == "time" else ""]
    comment = "; ".join(part for part in parts if part)
    return {"comment": comment} if comment else {}
