"""Foreign keys between known tables: by the numbers of their columns, and their effects on rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from applier.schema.definition import TableDefinition
from applier.schema.engines import has_foreign_keys
from applier.schema.foreign_keys import RESTRICT, SET_NULL, ForeignKey


@dataclasses.dataclass(frozen=True)
class ColumnLink:
    """A column of a foreign key by its number in the table, and the number of the column that it refers to."""

    child: int
    parent: int


DELETED = frozenset((-1,))
"""Stands for the deletion of a row instead of the columns that change."""


@dataclasses.dataclass(frozen=True)
class Reference:
    """A foreign key between two tables, whatever identifies them."""

    key: ForeignKey
    child: Hashable
    parent: Hashable
    columns: tuple[ColumnLink, ...]

    def changes(self, changed: frozenset[int]) -> frozenset[int]:
        """Return the columns that change in a child if these columns of its parent change; empty if none do."""
        deleted = changed == DELETED
        action = self.key.on_delete if deleted else self.key.on_update
        here = [link.child for link in self.columns if deleted or link.parent in changed]
        if action == RESTRICT or not here:
            return frozenset()
        if action == SET_NULL:
            return frozenset(link.child for link in self.columns)
        return DELETED if deleted else frozenset(here)


def linked_columns(key: ForeignKey, child: TableDefinition, parent: TableDefinition) -> tuple[ColumnLink, ...]:
    """Return the columns of a foreign key; empty if it does nothing: an engine without foreign keys, or missing
    columns, which foreign_key_checks=0 allows."""
    if not (has_foreign_keys(child.engine) and has_foreign_keys(parent.engine)):
        return ()
    referenced = key.referenced
    if not referenced and parent.primary_key is not None:
        referenced = tuple(part.column for part in parent.primary_key.parts if part.column is not None)
    try:
        return tuple(ColumnLink(child.column_index(own), parent.column_index(other))
                     for own, other in zip(key.columns, referenced, strict=True))
    except (KeyError, ValueError):
        return ()
