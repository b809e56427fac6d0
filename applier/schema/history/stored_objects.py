"""Triggers, views, routines and events, as the log's statements make and drop them: no replay keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from applier.io.packing import log_name
from applier.schema.ddl.alter_actions import RenameTo
from applier.schema.ddl.schema_changes import (
    AlterTable,
    CreateDatabase,
    DropDatabase,
    DropTable,
    Ignored,
    NamedObject,
    RenameTables,
    SchemaChange,
    TableName,
)
from applier.schema.history.table_versions import Position, StatementOrigin
from applier.sql.tokens import tokenize


@dataclass(frozen=True)
class StoredObject:
    """An object from the statement that made it to the end of the one that dropped it (None: it is there). `statements`
    are that one's text and those of its ALTERs, `origin` where it was made, in a session with this default `database`
    and `sql_mode`."""

    object: NamedObject
    statements: tuple[str, ...]
    origin: StatementOrigin
    database: str
    sql_mode: str
    end: Position | None = None

    @property
    def place(self) -> str:
        """Where the log has the statement that made it."""
        return f"{log_name(self.origin.file or '')}:{self.origin.position}"

    def __str__(self) -> str:
        return f"{self.object} ({self.place})"

    def sets(self, flavour: str) -> tuple[str, ...]:
        """Return the columns of the trigger's own row that it sets, as SET NEW.column says."""
        tokens = tokenize(self.statements[0], sql_mode=self.sql_mode, flavour=flavour)
        return tuple(dict.fromkeys(
            tokens[at + 3].text for at in range(len(tokens) - 4)
            if (tokens[at].keyword == "SET" or tokens[at].text == ",") and tokens[at + 1].keyword == "NEW"
            and tokens[at + 2].text == "." and tokens[at + 4].text in ("=", ":")))


class StoredObjects:
    """All of them, in the order in which they were made."""

    def __init__(self) -> None:
        self._all: list[StoredObject] = []
        self._live: dict[tuple[str, str, str], int] = {}

    def __iter__(self) -> Iterator[StoredObject]:
        return iter(self._all)

    def triggers(self, table: TableName, *, since: Position | None = None) -> list[StoredObject]:
        """Return the triggers that a table has where the log ends, or had at a position or later."""
        return [one for one in self._all if one.object.table == table
                and (one.end is None or (since is not None and one.end > since))]

    def is_there(self, object: NamedObject) -> bool:
        """Return True if there is an object of this kind and name where the log ends."""
        return object.key in self._live

    def apply(self, change: SchemaChange, origin: StatementOrigin, database: str, sql_mode: str) -> None:
        """Take in what a statement does; `database` and `sql_mode` are its session's."""
        match change:
            case Ignored(objects=(first, *_)) if change.what.startswith("CREATE"):
                if not (change.if_not_exists and first.key in self._live):
                    self._end(first.key, origin.end)
                    self._live[first.key] = len(self._all)
                    self._all.append(StoredObject(first, (origin.sql,), origin, database, sql_mode))
            case Ignored(objects=objects) if change.what.startswith("ALTER"):
                for number in (self._live[one.key] for one in objects if one.key in self._live):
                    self._all[number] = replace(self._all[number],
                                                statements=(*self._all[number].statements, origin.sql))
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
