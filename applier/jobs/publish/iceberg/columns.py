"""A table's definition as Iceberg has it: columns by their numbers, with comments, the key, and the order of rows.

Every column is optional but those of a primary key, which identify a row: a date that is none is null to readers, also
where the server has NOT NULL.
"""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.io.pyarrow import pyarrow_to_schema
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import IdentityTransform

from applier.errors import UsageError
from applier.mysql.types import DATES
from applier.schema.definition import TableDefinition, table_schema
from applier.snapshot.stored_columns import StoredColumns
from applier.snapshot.table_entry import TableEntry


def iceberg_schema(definition: TableDefinition, unsigned_bigint: str) -> Schema:
    """The columns of a table's files. Raises UsageError for a type that Iceberg lacks."""
    stored = StoredColumns.of(definition).schema(table_schema(definition), unsigned_bigint)
    if found := [field.name for field in stored if field.type == pa.uint64()]:
        raise UsageError(f"Iceberg has no unsigned integers, and column {found[0]} is unsigned",
                         table=definition.full_name,
                         hint="replay or import with --unsigned-bigint decimal or long")
    plain, key = pyarrow_to_schema(stored, format_version=2), set(_identifying(definition))
    return Schema(*(field.model_copy(update={"doc": column.comment or None, "required": column.name in key})
                    for field, column in zip(plain.fields, definition.stored_columns, strict=True)),
                  identifier_field_ids=[column.id for column in definition.stored_columns if column.name in key])


def sort_order(entry: TableEntry) -> SortOrder:
    """The order of a table's rows: by its key, where that is compared as Iceberg compares values."""
    if not entry.key or any(rule for rule in entry.key_rules):
        return SortOrder(order_id=0)
    columns = {column.name: column.id for column in entry.definition.stored_columns}
    return SortOrder(*(SortField(columns[name], IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_FIRST)
                       for name in entry.key), order_id=1)


def _identifying(definition: TableDefinition) -> list[str]:
    """The columns of a primary key, where Iceberg takes them: no floats, and no dates, which may be none."""
    key = definition.primary_key
    if key is None:
        return []
    columns = [definition.column(part.column) for part in key.parts if part.column is not None]
    fits = len(columns) == len(key.parts) and all(
        column.generated != "virtual" and column.type.base not in ("float", "double", *DATES) for column in columns)
    return [column.name for column in columns] if fits else []
