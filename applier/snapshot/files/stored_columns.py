"""The types of columns in files of a snapshot, chosen so that every reader supports them.

    BIGINT UNSIGNED   as --unsigned-bigint says (applier.snapshot.files.unsigned_bigints)
    TIME              int64, microseconds: Parquet has no type for -838:59:59, and readers of Iceberg and Delta refuse
                      Arrow's durations
    DOUBLE(M,D)       as a SELECT shows it (applier.mysql.values.doubles)
    text              as a SELECT shows it (applier.mysql.reader_values)
    every column      its number (applier.schema.column_ids) is Parquet's field id

Files of older versions have durations and no field ids, and can still be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from applier.mysql.reader_values import as_shown, lossy_charset
from applier.mysql.types import DATES, ColumnType
from applier.mysql.values.doubles import has_two_forms
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column
from applier.snapshot.files.unsigned_bigints import EXACT, NONE, STORED, UnsignedBigints, unsigned_bigints

TIME = pa.duration("us")
_MICROSECONDS = pa.int64()
_FIELD_ID = b"PARQUET:field_id"


@dataclass(frozen=True)
class StoredColumns:
    """The columns of a table that are stored in files in another form than rows have them, and the numbers of all
    columns. `charsets` are the character sets of text that does not determine its bytes, by column name; `digits` the
    types of DOUBLE(M,D)."""

    bigints: UnsignedBigints = NONE
    ids: Mapping[str, int] = field(default_factory=dict)
    charsets: Mapping[str, str] = field(default_factory=dict)
    digits: Mapping[str, ColumnType] = field(default_factory=dict)

    @classmethod
    def of(cls, definition: TableDefinition, key: tuple[str, ...] = ()) -> StoredColumns:
        """Return those of a table. Errors name its rows by `key`."""
        return cls(unsigned_bigints(definition, key),
                   {column.name: column.id for column in definition.stored_columns if column.id},
                   {column.name: charset for column in definition.stored_columns
                    if (charset := lossy_charset(column.type)) is not None},
                   {column.name: column.type for column in definition.stored_columns if has_two_forms(column.type)})

    def schema(self, rows: pa.Schema, choice: str) -> pa.Schema:
        """Return the schema of files, given that of rows and the type of BIGINT UNSIGNED in files."""
        return pa.schema([self._numbered(column.with_type(_MICROSECONDS) if column.type == TIME else column)
                          for column in self.bigints.stored_schema(rows, choice)])

    def as_stored(self, rows: pa.Table, choice: str) -> pa.Table:
        """Convert rows to the form in files. Raises ReplayStopped for a value that does not fit."""
        rows = self.bigints.as_stored(rows, choice)
        for number, column in enumerate(rows.schema):
            if column.type == TIME:
                rows = rows.set_column(number, column.with_type(_MICROSECONDS), rows.column(number).cast(_MICROSECONDS))
            elif column.name in self.digits:
                rows = rows.set_column(number, column, as_shown(rows.column(number), self.digits[column.name]))
        return rows

    def _numbered(self, column: pa.Field) -> pa.Field:
        number = self.ids.get(column.name)
        if number is None:
            return column
        if pa.types.is_list(column.type):
            elements = column.type.value_field.with_name("element").with_metadata({_FIELD_ID: str(number + 1)})
            column = column.with_type(pa.list_(elements))
        return column.with_metadata({_FIELD_ID: str(number)})


def is_never_null(column: Column) -> bool:
    """Return whether readers of files find a value in every row. An invalid date is null to them, even if the server
    has NOT NULL."""
    return not column.nullable and column.type.base not in DATES


AS_ROWS = StoredColumns()
"""Columns without numbers, none of which is a BIGINT UNSIGNED."""


def is_stored_as(found: pa.Schema, schema: pa.Schema) -> bool:
    """Return whether a file with one schema may hold rows with another one."""
    return found.names == schema.names and all(
        have.type == wanted.type or (wanted.type == EXACT and have.type in STORED.values())
        or (wanted.type == TIME and have.type == _MICROSECONDS) for have, wanted in zip(found, schema, strict=True))


def as_rows(stored: pa.Table, schema: pa.Schema) -> pa.Table:
    """Convert columns of a file to the form in rows, given the schema of rows, which may have more columns."""
    for number, column in enumerate(stored.schema):
        kind: Any = schema.field(column.name).type
        if column.type != kind or pa.types.is_list(kind):
            stored = stored.set_column(number, column.with_type(kind), stored.column(number).cast(kind))
    return stored.replace_schema_metadata(None)
