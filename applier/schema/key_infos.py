"""A table's columns and keys in the form that keysearch.choose takes."""

from __future__ import annotations

from applier.mysql.type_registry import Family
from applier.mysql.types import BINARY, CHARACTER, TEXT
from applier.mysql.value_sizes import most_bytes
from applier.mysql.versions import is_since
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Key
from keysearch.choose import ColumnInfo, KeyInfo, server_order
from keysearch.collation import collation_of

_LONGEST_KEY = 3072
"""Bytes of the longest key that InnoDB indexes without a hash."""


def column_infos(definition: TableDefinition) -> list[ColumnInfo]:
    """Return all columns by their number; a snapshot stores no VIRTUAL ones."""
    return [ColumnInfo(column.name, column.nullable, column.generated != "virtual") for column in definition.columns]


def key_infos(definition: TableDefinition) -> list[KeyInfo]:
    """Return all keys, in the definition's order."""
    return [KeyInfo(key.name, key.kind, tuple(
        (None if part.column is None else definition.column_index(part.column), part.length) for part in key.parts),
        key.visible) for key in definition.row_keys]


def sorts_descending(flavour: str, server_version: str) -> bool:
    """Return False for a server that parses DESC in a key and ignores it: MySQL before 8.0, MariaDB before 10.8."""
    return not server_version or is_since(server_version, (10, 8) if flavour == "mariadb" else (8, 0))


def is_innodb(definition: TableDefinition) -> bool:
    """Return whether the table's engine is InnoDB, the default if none is named."""
    return (definition.engine or "InnoDB").upper() == "INNODB"


def is_hashed(definition: TableDefinition, key: Key) -> bool:
    """Return whether a unique key is a hash of its columns (MariaDB): over a whole BLOB, TEXT or geometry, or longer
    than an index may be."""
    if definition.flavour != "mariadb" or key.kind != "unique":
        return False
    types = [definition.column(part.column).type for part in key.parts
             if part.length is None and part.column is not None]
    return any(kind.entry.prefix or kind.entry.family is Family.GEOMETRY for kind in types) or sum(
        most_bytes(kind) for kind in types if kind.base in CHARACTER | BINARY) > _LONGEST_KEY


def clustered_key(definition: TableDefinition) -> Key | None:
    """Return the clustered key, by which InnoDB orders rows: the primary key, which may have prefixes, else the first
    unique key of whole NOT NULL columns. None: rows are in the order of insertion."""
    columns = column_infos(definition)
    by_name = {key.name: key for key in definition.row_keys}
    for info in server_order(columns, [key for key in key_infos(definition) if key.kind in ("primary", "unique")]):
        key = by_name[info.name]
        if key.kind == "primary" or (not is_hashed(definition, key) and all(
                column is not None and prefix is None and not columns[column].nullable and columns[column].stored
                for column, prefix in info.parts)):
            return key
    return None


def key_collation(column: Column, flavour: str) -> str | None:
    """Return the collation by which a key compares the column's strings, as keysearch.collation names it; None for
    other types, and for ENUM and SET, which compare by number, so that all labels differ."""
    if column.type.base not in TEXT or column.type.collation is None:
        return None
    return collation_of(column.type.collation, flavour)
