"""The indexes by which foreign keys find rows, on either side.

Source: MySQL manual, "FOREIGN KEY Constraints": the foreign key's columns are the first of an index, in their order, on
both sides, and columns of the clustered key that InnoDB adds to an index count on the side that is referred to. In the
child's table the server makes an index of the columns where there is none, of which a definition says nothing; it takes
that away where another key has the same columns first (seen on MySQL 9.7 and MariaDB 10.11).
"""

from __future__ import annotations

from collections.abc import Iterator

from applier.schema.definition import Key, KeyPart, TableDefinition
from applier.schema.foreign_keys import ForeignKey
from applier.schema.key_infos import clustered_key, column_infos, key_infos
from keysearch.choose import server_order

Columns = tuple[int, ...]


def has_index(definition: TableDefinition, columns: Columns) -> bool:
    """True if an index starts with these columns, as far as the definition tells."""
    clustered = clustered_key(definition)
    suffix = () if clustered is None else clustered.parts
    keys = (_numbers((*key.parts, *suffix), definition)[:len(columns)] == columns for key in _keys(definition))
    return any(keys) or makes_index(definition, columns)


def makes_index(definition: TableDefinition, columns: Columns) -> bool:
    """True if one of the table's foreign keys starts with these columns."""
    return any(made[:len(columns)] == columns for made in _made(definition))


def parts_behind(definition: TableDefinition, columns: Columns) -> list[tuple[KeyPart, ...]]:
    """What follows the foreign key's columns in the index that it finds rows by; several answers if the definition does
    not tell which index that is."""
    found: list[tuple[KeyPart, ...]] = []
    for key in _keys(definition):
        if _numbers(key.parts[:len(columns)], definition) == columns:
            found.append(key.parts[len(columns):])
            if key.kind != "key":
                return found
            break
    given = [_numbers(key.parts, definition) for key in _keys(definition)]
    for made in _made(definition):  # another foreign key's index, with more columns, serves this one, too
        if made[:len(columns)] == columns != made and not any(parts[:len(made)] == made for parts in given):
            found.append(tuple(KeyPart(definition.columns[column].name) for column in made[len(columns):]))
            break
    return found or [()]


def _keys(definition: TableDefinition) -> Iterator[Key]:
    by_name = {key.name: key for key in definition.row_keys}
    for info in server_order(column_infos(definition), key_infos(definition)):
        if info.kind in ("primary", "unique", "key"):
            yield by_name[info.name]


def own_columns(key: ForeignKey, definition: TableDefinition) -> Columns:
    """The columns of one of the table's foreign keys; empty if some do not exist."""
    try:
        return tuple(map(definition.column_index, key.columns))
    except KeyError:
        return ()


def _made(definition: TableDefinition) -> list[Columns]:
    """The columns of the table's foreign keys."""
    return [own_columns(key, definition) for key in definition.foreign_keys]


def _numbers(parts: tuple[KeyPart, ...], definition: TableDefinition) -> tuple[int | None, ...]:
    """The columns of parts that are whole columns, else None."""
    return tuple(None if part.column is None or part.length is not None else definition.column_index(part.column)
                 for part in parts)
