"""Applies statements to triggers, views, routines and events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from applier.io.packing import log_name
from applier.schema.ddl.alter_actions import RenameTo
from applier.schema.ddl.schema_changes import (
    AlterTable,
    CreateDatabase,
    DropDatabase,
    DropTable,
    Ignored,
    RenameTables,
    SchemaChange,
    TableName,
)
from applier.schema.history.table_versions import Position, StatementOrigin
from applier.schema.stored_object import NamedObject, StoredObject
from applier.schema.table_filter import TableFilter


class StoredObjects:
    """All of them, in the order in which they were made."""

    def __init__(self) -> None:
        self._all: list[StoredObject] = []
        self._live: dict[tuple[str, str, str], int] = {}

    def __iter__(self) -> Iterator[StoredObject]:
        return iter(self._all)

    def live(self, filter: TableFilter) -> tuple[StoredObject, ...]:
        """Return the objects that exist at the end of the log, and are about tables of a filter."""
        return tuple(one for one in self._all if one.end is None and one.is_about(filter))

    def load(self, objects: Iterable[StoredObject]) -> None:
        """Begin with the objects of a base."""
        for one in objects:
            self._live[one.object.key] = len(self._all)
            self._all.append(one)

    def triggers(self, table: TableName) -> list[StoredObject]:
        """Return the triggers that a table has where the log ends."""
        return [one for one in self._all if one.object.table == table and one.end is None]

    def is_there(self, object: NamedObject) -> bool:
        """Return True if there is an object of this kind and name where the log ends."""
        return object.key in self._live

    def apply(self, change: SchemaChange, origin: StatementOrigin, database: str, sql_mode: str) -> None:
        """Apply the effects of a statement; `database` and `sql_mode` are its session's."""
        match change:
            case Ignored(objects=(first, *_)) if change.what.startswith("CREATE"):
                if not (change.if_not_exists and first.key in self._live):
                    self._end(first.key, origin.end)
                    self._live[first.key] = len(self._all)
                    place = "" if origin.file is None else f"{log_name(origin.file)}:{origin.position}"
                    self._all.append(StoredObject(first, (_text(origin.sql),), database, sql_mode, place))
            case Ignored(objects=objects) if change.what.startswith("ALTER"):
                for number in (self._live[one.key] for one in objects if one.key in self._live):
                    self._all[number] = replace(self._all[number],
                                                statements=(*self._all[number].statements, _text(origin.sql)))
            case Ignored(objects=objects) if change.what.startswith("DROP"):
                for one in objects:
                    self._end(one.key, origin.end)
            case DropTable(tables):
                self._end_where(origin.end, lambda one: one.table in tables)
            case DropDatabase(name):
                self._end_where(origin.end, lambda one: one.database == name)
            case CreateDatabase(name, or_replace=True):
                self._end_where(origin.end, lambda one: one.database == name)
            case RenameTables(pairs):
                for old, new in pairs:
                    self._move(old, new)
            case AlterTable(table, actions):
                for action in actions:
                    if isinstance(action, RenameTo):
                        self._move(table, (action.database, action.table))

    def _end(self, key: tuple[str, str, str], end: Position) -> None:
        if key in self._live:
            number = self._live.pop(key)
            self._all[number] = replace(self._all[number], end=end)

    def _end_where(self, end: Position, ends: Callable[[NamedObject], bool]) -> None:
        for key in [key for key, number in self._live.items() if ends(self._all[number].object)]:
            self._end(key, end)

    def _move(self, old: TableName, new: TableName) -> None:
        """The triggers of a table that gets another name stay with it."""
        for key, number in [*self._live.items()]:
            one = self._all[number]
            if one.object.table == old:
                moved = replace(one.object, database=new[0], table=new)
                self._all[number] = replace(one, object=moved)
                self._live[moved.key] = self._live.pop(key)


def _text(sql: str) -> str:
    """Return a statement as text that can be written as UTF-8."""
    return sql.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
