"""Triggers, views, routines and events as text: snapshots keep only the text, and undos do not restore them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.sql.tokens import tokenize


@dataclass(frozen=True, slots=True)
class NamedObject:
    """A view, trigger, routine, package or event, by its kind and name; for a CREATE TRIGGER also its table, and when
    it runs, such as BEFORE UPDATE."""

    kind: str
    database: str
    name: str
    table: tuple[str, str] | None = None
    event: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The object's identity."""
        return self.kind, self.database, self.name

    def __str__(self) -> str:
        text = f"{self.kind} {self.database}.{self.name}"
        return text if self.table is None else f"{text} ({self.event} ON {'.'.join(self.table)})"


@dataclass(frozen=True)
class StoredObject:
    """An object from the statement that made it to the end of the one that dropped it (None: it exists). `statements`
    are the first one's text and those of its ALTERs, in sessions with this default `database` and `sql_mode`; `place`
    is the position of the first one in a log, FILE:POS ("": it is from a dump or a schema file)."""

    object: NamedObject
    statements: tuple[str, ...]
    database: str
    sql_mode: str
    place: str = ""
    end: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.object} ({self.place})" if self.place else str(self.object)

    def is_about(self, filter: TableFilter) -> bool:
        """Return True if the object is of the tables of a filter, or of a database that it has."""
        if filter == EVERYTHING:
            return True
        if self.object.kind == "VIEW" or self.object.table is not None:
            return filter.wanted(*(self.object.table or (self.object.database, self.object.name)))
        return filter.keeps(self.object.database, None)

    def sets(self, flavour: str) -> tuple[str, ...]:
        """Return the columns of the trigger's own row that it sets, as SET NEW.column says."""
        tokens = tokenize(self.statements[0], sql_mode=self.sql_mode, flavour=flavour)
        return tuple(dict.fromkeys(
            tokens[at + 3].text for at in range(len(tokens) - 4)
            if (tokens[at].keyword == "SET" or tokens[at].text == ",") and tokens[at + 1].keyword == "NEW"
            and tokens[at + 2].text == "." and tokens[at + 4].text in ("=", ":")))


def comments(objects: Iterable[StoredObject], what: str) -> Iterator[str]:
    """Yield notes for the user on the objects that are not made, with the statements that made them."""
    for one in objects:
        where = f", made at {one.place}" if one.place else ""
        mode = f" and sql_mode '{one.sql_mode}'" if one.sql_mode else ""
        yield f"{what}: {one.object}{where}; its statements, with the default database {one.database or 'NULL'}{mode}:"
        for statement in one.statements:
            yield from (f"  {line}" for line in f"{statement};".splitlines())
