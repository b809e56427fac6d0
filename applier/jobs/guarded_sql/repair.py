"""The statements that turn the earlier snapshot into the later one, on a server that holds the earlier one.

Rows are deleted, inserted and updated, each found by all of its values. Tables that only one side has, and definitions
that differ, are unchanged unless `definitions` asks for DDL: then tables that only the earlier one has are dropped,
new ones are created, and those whose definitions differ are altered if rows keep their columns, or
else recreated with all of their rows. Foreign keys are checked where possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from applier.columns.altering import Alters, alters
from applier.columns.definition_differences import same_columns
from applier.errors import UsageError
from applier.jobs.diff.columns import AFTER, BEFORE
from applier.jobs.diff.result import Compared, TableDiff
from applier.jobs.guarded_sql.log_file import write_log
from applier.jobs.guarded_sql.script import EVENTS, Guard, Script, events_of, if_so_many, no_other_children
from applier.jobs.guarded_sql.set_statements import SetStatements, can_be_set
from applier.jobs.guarded_sql.table_order import needs_checks_off, parents_first
from applier.jobs.guarded_sql.table_statements import TableStatements, columns_of_unique_keys, is_rounded
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition
from applier.schema.schema_file import create_database

_FIRST = "-- What may be in the way of rows goes first; an error further down leaves tables as they are then.\n"


@dataclass(frozen=True)
class _Change:
    """The changes of one table; `definition` is the one for which its rows are written. `recreated`: it is created, and
    gets all of its rows."""

    table: TableDiff
    definition: TableDefinition
    recreated: bool = False

    @property
    def deleted(self) -> int:
        return 0 if self.recreated else self.table.removed

    @property
    def updated(self) -> int:
        return 0 if self.recreated else self.table.changed

    @property
    def anew(self) -> int:
        moves = columns_of_unique_keys(self.definition, self.table.key) or any(map(is_rounded, self.definition.columns))
        return self.updated if moves else 0

    @property
    def name(self) -> tuple[str, str]:
        return self.definition.database, self.definition.name

    @property
    def events(self) -> tuple[str, ...]:
        """The events for which the table must have no triggers."""
        if self.recreated:
            return EVENTS
        return events_of(self.table.added + self.anew, self.updated, self.deleted + self.anew)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the differences, where rows whose unique keys change are deleted and inserted."""
        statements = self.statements()
        return map(statements.without_moves, self.table.differing_rows())

    def statements(self, number: int = 0) -> TableStatements:
        if self.recreated:
            return TableStatements(self.definition, (), self.table.differing_rows,
                                   all_rows=self.table.all_rows_after)
        rows = self.deleted + self.updated + self.table.added
        if can_be_set(self.definition, self.table.key, rows, as_printed=True):
            return SetStatements(self.definition, self.table.key, self.table.differing_rows, number)
        return TableStatements(self.definition, self.table.key, self.table.differing_rows, as_printed=True)


class Repair:
    """The statements that turn the snapshot before into the one after, and their effects: the rows that they change,
    the objects that they drop, and those that they leave unchanged."""

    def __init__(self, diff: Compared, *, definitions: bool = False, what: str = "") -> None:
        self._diff, self._definitions = diff, definitions
        self._what = what or f"from {diff.before} to {diff.after}"
        differing = [table for table in diff.tables.values() if not table.same or table.notes]
        altered = [table for table in differing if None in table.definitions or table.notes]
        self._alters = {table.full_name: found for table in altered if definitions
                        and (found := _alters(table)) is not None}
        anew = [table for table in altered if table.full_name not in self._alters] if definitions else []
        kept = [table for table in differing if table not in anew and None not in table.definitions
                and table.differing and _fits(table)]
        self._changes = [_Change(table, _on_the_server(table)) for table in kept]
        self._changes += [_Change(table, after, recreated=True) for table in anew
                          if (after := table.definitions[AFTER]) is not None]
        self._dropped = [table for table in anew if table.definitions[BEFORE] is not None]
        self._left = [] if definitions else altered

    @cached_property
    def rows(self) -> dict[str, tuple[int, int, int]]:
        """How many rows of each table are deleted, inserted and updated, by "db.table"."""
        return {change.table.full_name: (
            (change.table.rows_before if change.table in self._dropped else 0, change.table.rows_after, 0)
            if change.recreated else (change.table.removed, change.table.added, change.table.changed))
            for change in self._changes}

    @property
    def not_repaired(self) -> tuple[str, ...]:
        """The remaining differences, and their reasons, a text for each table."""
        return tuple(map(_why, self._left))

    @property
    def destroyed(self) -> tuple[str, ...]:
        """The dropped data, a text for each table."""
        return tuple(f"DROP TABLE {table.full_name}, with {table.rows_before:,} rows, and with its triggers, "
                     "which a snapshot does not keep"
                     + (f"; it is recreated: {'; '.join(table.notes)}" if table.definitions[AFTER] is not None else "")
                     for table in self._dropped)

    @property
    def altered(self) -> tuple[str, ...]:
        """The altered tables, and the data that this destroys, a text for each table."""
        tables = {table.full_name: table for table in self._diff.tables.values()}
        return tuple(f"{name}: {'; '.join(tables[name].notes)}" + (f"; it loses {', '.join(found.lost)}" if found.lost
                                                                   else "") for name, found in self._alters.items())

    def statements(self) -> Iterator[bytes]:
        """Return the statements, many at a time."""
        changes = parents_first(self._changes)
        there = [side for table in self._diff.tables.values() for side in table.definitions if side is not None]
        checks_off = bool(self._dropped) or needs_checks_off(changes, there)
        dropped = [(table.database, table.name) for table in self._dropped]
        notes = [f"Not repaired: {text}" for text in self.not_repaired] + [
            f"It destroys: {text}" for text in self.destroyed] + [f"It alters {text}" for text in self.altered]
        first = [if_so_many(0, statement) for found in self._alters.values() for statement in found.before_rows]
        later = [statement for found in self._alters.values() for statement in found.after_rows]
        kept, made = ([change for change in changes if change.recreated == wanted] for wanted in (False, True))
        databases = {create_database(change.definition.database): None for change in made}
        return Script(self._what, "it was before",
                      {change.name: change.events for change in changes} | dict.fromkeys(dropped, EVENTS),
                      [change.statements(number) for number, change in enumerate(kept)],
                      [_FIRST, *first] if first else [],
                      checks_off=checks_off, instead=": drop them first, and create them again afterwards",
                      guards=[*self._no_other_children(there, checks_off=checks_off), *self._same_rows()],
                      notes=notes, drops=[*later, *(f"DROP TABLE {_name(table)}" for table in self._dropped)],
                      creates=[*databases, *(change.definition.to_sql() for change in made)],
                      made=[change.statements() for change in made]).text()

    def write_events(self, path: str) -> None:
        """Write the changes of rows as a binlog file, with its guards as statements. Definitions stay unchanged. Raises
        UsageError for values that cannot be written as events, and if definitions are to change."""
        if self._definitions:
            raise UsageError("events change no definitions", hint="write SQL, or repair rows alone")
        changes = parents_first(self._changes)
        there = [side for table in self._diff.tables.values() for side in table.definitions if side is not None]
        checks_off = needs_checks_off(changes, there)
        guards = [f"SET @guard = {guard.sql}" for guard in self._no_other_children(there, checks_off=checks_off)]
        probes = (probe for number, change in enumerate(changes) for probe in change.statements(number).probes())
        flavour = "mariadb" if self._diff.after.flavour == "mariadb" else "mysql"
        write_log(changes, guards, flavour, path, checks_off=checks_off, probes=probes)

    def _no_other_children(self, definitions: list[TableDefinition], *, checks_off: bool) -> Iterator[Guard]:
        """No table that is not repaired refers to rows that go or change, if that is not checked, or if it would change
        with them."""
        parents = [change.name for change in self._changes if change.deleted or change.updated]
        parents += [(table.database, table.name) for table in self._dropped]
        left = {(table.database, table.name) for table in self._left if not _fits(table)}
        yield from no_other_children(parents, definitions, left, checks_off=checks_off)

    def _same_rows(self) -> Iterator[Guard]:
        if self._dropped:
            yield Guard("Tables that are dropped have as many rows as before", " OR ".join(
                f"(SELECT COUNT(*) FROM {_name(table)}) <> {table.rows_before}" for table in self._dropped))


def _name(table: TableDiff) -> str:
    return f"{quote_name(table.database)}.{quote_name(table.name)}"


def _alters(table: TableDiff) -> Alters | None:
    """Return the statements that turn the table before into the one after; None if they are unknown."""
    before, after = table.definitions
    return None if before is None or after is None else alters(before, after)


def _fits(table: TableDiff) -> bool:
    """Return whether rows of the table after can be written into the one before."""
    before, after = table.definitions
    return before is not None and after is not None and same_columns(before, after)


def _on_the_server(table: TableDiff) -> TableDefinition:
    """Return the table after with the keys that the server has, which differ where its definition is not repaired."""
    before, after = table.definitions
    assert before is not None and after is not None
    return replace(after, keys=before.keys, foreign_keys=before.foreign_keys, engine=before.engine or after.engine)


def _why(table: TableDiff) -> str:
    before, after = table.definitions
    if after is None:
        return f"{table.full_name}: only the snapshot before has this table (--definitions drops it)"
    if before is None:
        return f"{table.full_name}: only the snapshot after has this table (--definitions makes it)"
    what = "; ".join(table.notes)
    if _fits(table):
        return f"{table.full_name}: its definition differs, and only rows are repaired: {what}"
    return f"{table.full_name}: its columns differ, and no row is repaired (--definitions makes the table anew): {what}"
