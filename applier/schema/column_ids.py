"""Numbers of columns, which stay while a column lives, whatever its name, its table's name and its position.

A number is given once, to one column of one table: a column that is dropped and added again has a new one, as has every
column of a table that is created again. A list's elements have the number after the column's. Files of snapshots have
the numbers as Parquet's field ids, by which readers of Iceberg tell columns apart. So a column whose type becomes one
that such readers cannot read its old values as gets a new number, too.

Source for these types: Iceberg's specification, "Schema Evolution".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from applier.mysql.types import arrow_type
from applier.schema.definition import TableDefinition

_SMALL = (pa.int8(), pa.int16(), pa.int32())
"""All are Iceberg's int."""


def numbered(definition: TableDefinition, last: int) -> tuple[TableDefinition, int]:
    """Return the definition with a number for each column that has none, after the last one that was given; and the
    last one now."""
    if all(column.id for column in definition.columns):
        return definition, last
    columns = []
    for column in definition.columns:
        if not column.id:
            column, last = replace(column, id=last + 1), last + 1 + pa.types.is_list(arrow_type(column.type))
        columns.append(column)
    return replace(definition, columns=tuple(columns)), last


def continued(old: TableDefinition, new: TableDefinition, sources: Sequence[int | None]) -> TableDefinition:
    """Return a definition with the numbers of the columns that its own continue: `sources` are their indexes in the old
    one, None for an added column."""
    return replace(new, columns=tuple(
        replace(column, id=old.columns[source].id if source is not None and _reads_as(
            arrow_type(old.columns[source].type), arrow_type(column.type)) else 0)
        for column, source in zip(new.columns, sources, strict=True)))


def unnumbered(definition: TableDefinition) -> TableDefinition:
    """Return the definition for another table, which is made like this one."""
    return replace(definition, columns=tuple(replace(column, id=0) for column in definition.columns))


def _reads_as(old: Any, new: Any) -> bool:
    """Return whether readers take values of one type for the other one's."""
    if pa.types.is_decimal(old) and pa.types.is_decimal(new):
        return bool(old.scale == new.scale and old.precision <= new.precision)
    return bool(old == new or (old in _SMALL and new in (*_SMALL, pa.int64()))
                or (old == pa.float32() and new == pa.float64()))
