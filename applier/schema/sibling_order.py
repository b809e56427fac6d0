"""The order in which a foreign key's children are changed, if it matters (AP-FK).

A change of one child touches another, or a row that refers to the other, only if some table below can be reached in two
ways: by two foreign keys, one of them the child's own. If all changes below are deletes, the same rows are gone in the
end in any order.

Foreign keys find rows by indexes on either side. Source: MySQL manual, "FOREIGN KEY Constraints": the foreign key's
columns are the first of an index, in their order, on both sides, and columns of the clustered key that InnoDB adds to
an index count on the referenced side. In the child's table the server makes an index of the columns if there is none,
which a definition does not show; it drops that if another key has the same columns first (seen on MySQL 9.7 and MariaDB
10.11)."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from applier.errors import SchemaError
from applier.schema.definition import TableDefinition
from applier.schema.foreign_keys import ForeignKey
from applier.schema.key_infos import clustered_key, column_infos, key_infos
from applier.schema.references import DELETED, Reference, linked_columns
from applier.schema.table_parts import Key, KeyPart
from keysearch.choose import server_order

Columns = tuple[int, ...]


def has_index(definition: TableDefinition, columns: Columns) -> bool:
    """Return whether an index starts with these columns, as far as the definition tells."""
    clustered = clustered_key(definition)
    suffix = () if clustered is None else clustered.parts
    keys = (_numbers((*key.parts, *suffix), definition)[:len(columns)] == columns for key in _keys(definition))
    return any(keys) or makes_index(definition, columns)


def makes_index(definition: TableDefinition, columns: Columns) -> bool:
    """Return whether one of the table's foreign keys starts with these columns."""
    return any(made[:len(columns)] == columns for made in _made(definition))


def parts_behind(definition: TableDefinition, columns: Columns) -> list[tuple[KeyPart, ...]]:
    """Return the key parts behind the foreign key's columns in the index by which it finds rows; several answers if the
    definition does not tell which index that is."""
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
    """Return the columns of one of the table's foreign keys; empty if some do not exist."""
    try:
        return tuple(map(definition.column_index, key.columns))
    except KeyError:
        return ()


def _made(definition: TableDefinition) -> list[Columns]:
    """Return the columns of the table's foreign keys."""
    return [own_columns(key, definition) for key in definition.foreign_keys]


def _numbers(parts: tuple[KeyPart, ...], definition: TableDefinition) -> tuple[int | None, ...]:
    """Return the columns of parts that are whole columns, else None."""
    return tuple(None if part.column is None or part.length is not None else definition.column_index(part.column)
                 for part in parts)


@dataclasses.dataclass(frozen=True)
class SiblingOrder:
    """A foreign key changes its children in the order of an index: the parts that follow the key in it. `moves`:
    changes below one child may change rows below another."""

    behind: tuple[KeyPart, ...]
    moves: bool


BY_CLUSTERED_KEY = SiblingOrder((), moves=False)
"""An order for where none matters to the rows."""


def sibling_orders(references: Sequence[Reference],
                   tables: Mapping[Hashable, TableDefinition]) -> list[SiblingOrder | None]:
    """Return the order of each foreign key's children; None if it does not matter. An order that matters among some
    foreign keys also matters among more of them.

    Raises SchemaError if an order matters that depends on computed values, or on an index that is unknown.
    """
    below = _below(references)
    return [_order(reference, tables[reference.child], below) for reference in references]


def acts_alike(old: TableDefinition, new: TableDefinition, others: Iterable[TableDefinition]) -> bool:
    """Return whether foreign keys do the same to rows under both definitions of a table, which have the same columns
    and cascading foreign keys except for names, among the other existing tables."""
    keys = [[key.name for key in definition.foreign_keys if key.cascades] for definition in (old, new)]
    if keys[0] != keys[1]:
        return False
    if old.keys == new.keys:
        return True
    own = {key.name: own_columns(key, new) for key in new.foreign_keys if key.cascades}
    moved = {name for name, columns in own.items() if parts_behind(old, columns) != parts_behind(new, columns)}
    if not moved and new.flavour != "mariadb":
        return True
    tables, name = {(table.database, table.name): table for table in (*others, new)}, (new.database, new.name)
    references = [Reference(key, child, parent, columns) for child, table in tables.items()
                  for key in table.foreign_keys if key.cascades and (parent := (key.database, key.table)) in tables
                  and (columns := linked_columns(key, table, tables[parent]))]
    if new.flavour == "mariadb" and any(has_index(old, columns) != has_index(new, columns) for columns in (
            tuple(link.parent for link in reference.columns) for reference in references if reference.parent == name)):
        return False
    below = _below(references)
    return not any(reference.child == name and reference.key.name in moved and _events(reference, below)
                   for reference in references)


def _below(references: Iterable[Reference]) -> dict[Hashable, list[Reference]]:
    below: dict[Hashable, list[Reference]] = {}
    for reference in references:
        below.setdefault(reference.parent, []).append(reference)
    return below


def _events(reference: Reference, below: dict[Hashable, list[Reference]]) -> list[_Happening]:
    """Return all changes that may follow from a change of a parent, for each kind of change with children whose order
    matters."""
    updated = frozenset(link.parent for link in reference.columns)
    return [happening for root in (DELETED, updated) if _matters(happening := _happening(reference, root, below))]


def _order(reference: Reference, child: TableDefinition,
           below: dict[Hashable, list[Reference]]) -> SiblingOrder | None:
    events = _events(reference, below)
    if not events:
        return None
    behind, columns = _behind(reference, child), set()
    for happening in events:
        columns |= {column for other, changed in happening if other.child == reference.child for column in changed}
    ordering = {child.column_index(part.column) for part in behind if part.column is not None}
    return SiblingOrder(behind, not columns.isdisjoint(ordering))


_Happening = set[tuple[Reference, frozenset[int]]]


def _happening(first: Reference, root: frozenset[int], below: dict[Hashable, list[Reference]]) -> _Happening:
    """Return all changes that may follow from a change of a parent: foreign keys, and the columns that each changes."""
    left = [(first, first.changes(root))] * bool(first.changes(root))
    seen = set(left)
    while left:
        reference, changed = left.pop()
        for other in below.get(reference.child, ()):
            made = other, other.changes(changed)
            if made[1] and made not in seen:
                seen.add(made)
                left.append(made)
    return seen


def _matters(happening: _Happening) -> bool:
    ways: dict[Hashable, set[Reference]] = {}
    for reference, _ in happening:
        ways.setdefault(reference.child, set()).add(reference)
    return any(changed != DELETED for _, changed in happening) and any(len(keys) > 1 for keys in ways.values())


def _behind(reference: Reference, child: TableDefinition) -> tuple[KeyPart, ...]:
    behind, *others = parts_behind(child, tuple(link.child for link in reference.columns))
    why = ""
    if others:
        why = f"which index is used, {_shown(behind)} or {_shown(others[0])} behind the key"
    elif any(part.column is None or child.column(part.column).generated for part in behind):
        why = f"computed values: {_shown(behind)}"
    if why:
        raise SchemaError(f"the order in which the foreign key {reference.key.name} changes rows depends on {why}",
                          table=child.full_name,
                          hint="leave out the tables that foreign keys connect to it with --ignore-tables")
    return behind


def _shown(parts: tuple[KeyPart, ...]) -> str:
    return f"({', '.join(part.sql() for part in parts)})"
