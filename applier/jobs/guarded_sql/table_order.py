"""The order in which tables are changed, so that foreign keys hold all the time; and the cases without such an
order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from applier.schema.definition import TableDefinition


class ChangedTable(Protocol):
    """A table with how many of its rows are deleted, updated, and deleted and inserted again; and whether it is
    made by a CREATE TABLE first."""

    @property
    def definition(self) -> TableDefinition: ...
    @property
    def deleted(self) -> int: ...
    @property
    def updated(self) -> int: ...
    @property
    def anew(self) -> int: ...
    @property
    def recreated(self) -> bool: ...


_Table = TypeVar("_Table", bound=ChangedTable)


def parents_first(tables: Sequence[_Table]) -> list[_Table]:
    """Return the tables, those that others refer to before these; in a circle, as they come."""
    left, found = list(tables), list[_Table]()
    while left:
        names = {(one.definition.database, one.definition.name) for one in left}
        ready = [one for one in left if not _referenced(one.definition) & names] or left[:1]
        found += ready
        left = [one for one in left if one not in ready]
    return found


def needs_checks_off(tables: Sequence[ChangedTable], definitions: Sequence[TableDefinition]) -> bool:
    """Return whether foreign keys must not be checked, given all definitions of the server: they would change rows
    themselves, a row that others refer to is deleted and inserted again, or goes while others stop referring to it, or
    tables refer to each other or to themselves."""
    changed = {(one.definition.database, one.definition.name): bool(one.anew)
               for one in tables if one.deleted or one.updated}
    if any(one.recreated for one in tables):  # by a CREATE TABLE, which may refer to tables that come later
        return True
    if any(key.cascades or changed[key.database, key.table] for one in definitions for key in one.foreign_keys
           if (key.database, key.table) in changed):
        return True
    deleted = {(one.definition.database, one.definition.name) for one in tables if one.deleted}
    updated = {(one.definition.database, one.definition.name) for one in tables if one.updated}
    if any((key.database, key.table) in deleted and (one.database, one.name) in updated
           for one in definitions for key in one.foreign_keys):
        return True
    order = parents_first(tables)
    numbers = {(one.definition.database, one.definition.name): number for number, one in enumerate(order)}
    return any((key.database, key.table) == (one.definition.database, one.definition.name)
               or numbers.get((key.database, key.table), -1) > number
               for number, one in enumerate(order) for key in one.definition.foreign_keys)


def _referenced(definition: TableDefinition) -> set[tuple[str, str]]:
    own = definition.database, definition.name
    return {(key.database, key.table) for key in definition.foreign_keys} - {own}
