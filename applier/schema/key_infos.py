"""A table's columns and keys as the choice of a key sees them (keysearch.choose)."""

from __future__ import annotations

from applier.schema.definition import Column, TableDefinition
from applier.schema.types import CHARACTER
from keysearch.choose import ColumnInfo, KeyInfo


def column_infos(definition: TableDefinition) -> list[ColumnInfo]:
    """All columns by their number; a snapshot has no values of VIRTUAL ones."""
    return [ColumnInfo(column.name, column.nullable, column.generated != "virtual") for column in definition.columns]


def key_infos(definition: TableDefinition) -> list[KeyInfo]:
    """All keys, in the definition's order."""
    return [KeyInfo(key.name, key.kind, tuple(
        (None if part.column is None else definition.column_index(part.column), part.length) for part in key.parts),
        key.visible) for key in definition.row_keys]


def key_collation(column: Column) -> str | None:
    """The collation by which a key compares the column's strings; None for other types, and for ENUM and SET, which go
    by number, so that no two labels are the same."""
    return column.type.collation if column.type.base in CHARACTER - {"enum", "set"} else None
