"""An SQL file that changes rows of a server, all of them or none (UNDO-GUARD).

    description, session · guards: no triggers, and other conditions → DDL → non-transactional tables →
    a transaction: deletes, inserts, updates, and COMMIT if each statement has changed one row → tables that are dropped
    and created, and a transaction that fills these

A statement finds its row by all values, and is followed by one that fails unless it changed one row; if many rows
of a table change, one statement finds all of them. `@rows` counts the changes; NULL means that a guard has failed,
also for a client that continues after errors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from applier.io.printable import printable
from applier.jobs.exporting.statements import STRICT
from applier.jobs.guarded_sql.table_statements import TableStatements
from applier.mysql.client_sql import HEAD, for_clients
from applier.mysql.types import quote_text
from applier.schema.definition import TableDefinition
from applier.schema.engines import is_transactional
from applier.version import __version__

Name = tuple[str, str]
"""Of a table: database and name."""
EVENTS = "INSERT", "UPDATE", "DELETE"
"""Of triggers."""
_TITLE = HEAD + """\
-- applier {version}: {what}
-- Run it as  mysql < FILE  , which stops at the first error, and then nothing has happened. ERROR 1690 in a line says
-- that a row of the statement before it is not as {expected}.
"""
_SESSION = """\
SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET sql_mode = '{mode}';
SET foreign_key_checks = {checked};
SET unique_checks = 1;
SET @rows = NULL;
"""
_NO_TRIGGERS = """\
-- Triggers that these statements fire would change more: then this is an error{instead}.
SET @rows = ~0 + (SELECT COUNT(*) <> 0 FROM information_schema.TRIGGERS WHERE {tables}) - ~0{others};
"""
_END = """\
-- All {statements} changes are made, also where errors do not stop the client; else an error says so.
SET @end = IF(@rows = {statements}, 'COMMIT', 'SELECT 1 FROM `changes_are_incomplete`.`nothing_was_committed`');
PREPARE end_of_changes FROM @end;
EXECUTE end_of_changes;
DEALLOCATE PREPARE end_of_changes;
"""
_IF = """\
SET @next = IF(@rows = {rows}, {statement}, 'SELECT 1 FROM `changes_are_incomplete`.`nothing_was_dropped`');
PREPARE next_change FROM @next;
EXECUTE next_change;
DEALLOCATE PREPARE next_change;
"""


@dataclass(frozen=True)
class Guard:
    """A condition that must hold before anything is changed, for people, and SQL that is true if it does not."""

    why: str
    wrong: str

    @property
    def sql(self) -> str:
        """An expression that is an error, 1690, where it does not hold."""
        return f"~0 + ({self.wrong}) - ~0"


@dataclass(frozen=True)
class Script:
    """The contents of a file. `what`, `expected` and `notes` are for people: its title, the expected state of a row,
    and comments for its beginning; `instead`: what to do about triggers. `named`: all tables that it changes, makes or
    drops, with the events for which they must have no triggers. `first`: comments and statements before the changes;
    `tables`: those whose rows it changes, parents before children. After their COMMIT it runs `drops` and `creates`,
    and fills the tables `made`. `comments` are lines at its end."""

    what: str
    expected: str
    named: Mapping[Name, tuple[str, ...]]
    tables: Sequence[TableStatements]
    first: Sequence[str] = ()
    checks_off: bool = False
    instead: str = ""
    guards: Sequence[Guard] = ()
    notes: Sequence[str] = ()
    drops: Sequence[str] = ()
    creates: Sequence[str] = ()
    made: Sequence[TableStatements] = ()
    comments: Sequence[str] = ()

    def text(self) -> Iterator[bytes]:
        """Yield the file, many statements at a time. Raises SchemaError for a name or a text that a client could
        misread."""
        yield _TITLE.format(version=__version__, what=printable(self.what), expected=self.expected).encode()
        yield from (f"-- {printable(note)}\n".encode() for note in self.notes)
        yield _SESSION.format(mode=STRICT, checked=int(not self.checks_off)).encode()
        for number, guard in enumerate(self.guards):
            yield for_clients(f"-- {guard.why}: else this is an error.\nSET @guard{number} = NULL;\n"
                              f"SET @guard{number} = {guard.sql};\n").encode()
        yield for_clients(_NO_TRIGGERS.format(tables=self._triggers(), instead=self.instead, others="".join(
                                                  f" + @guard{number}" for number in range(len(self.guards))))).encode()
        yield for_clients("".join(self.first)).encode()
        yield from self._rows(self.tables, 0)
        if self.drops or self.creates:
            before = sum(table.count for table in self.tables)
            for statement in self.drops:
                yield for_clients(if_so_many(before, statement)).encode()
            yield for_clients("".join(f"{statement};\n" for statement in self.creates)).encode()
            yield from self._rows(self.made, before)
        yield from (f"-- {printable(line)}\n".encode() for line in self.comments)

    def _triggers(self) -> str:
        """Return a condition: a trigger would act."""
        by_events = dict[tuple[str, ...], list[Name]]()
        for name, events in self.named.items():
            by_events.setdefault(events, []).append(name)
        return " OR ".join(
            tables if events == EVENTS else
            f"(({tables}) AND EVENT_MANIPULATION IN ({', '.join(map(quote_text, events))}))"
            for events, names in by_events.items() if events
            for tables in [any_of(names, "EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE")]) or "FALSE"

    @staticmethod
    def _rows(tables: Sequence[TableStatements], before: int) -> Iterator[bytes]:
        """Yield the changes of rows, after `before` statements."""
        at_once, in_transaction = ([table for table in tables if is_transactional(table.definition) == wanted]
                                   for wanted in (False, True))
        for one in tables:
            yield from one.prepared()
        if at_once:  # with GTIDs, a server refuses these in transactions
            yield b"-- These tables have no transactions: what is changed stays changed.\n"
            yield from _changes(at_once)
        yield b"START TRANSACTION;\n"
        yield from _changes(in_transaction)
        yield _END.format(statements=before + sum(table.count for table in tables)).encode()


def _changes(tables: Sequence[TableStatements]) -> Iterator[bytes]:
    for one in reversed(tables):
        yield from one.deletes()
    for one in tables:  # no update changes a unique key
        yield from one.inserts()
        yield from one.updates()


def if_so_many(rows: int, statement: str) -> str:
    """Return a statement that runs if `rows` statements have changed a row each, and is an error else."""
    return _IF.format(rows=rows, statement=quote_text(statement))


def events_of(inserted: int, updated: int, deleted: int) -> tuple[str, ...]:
    """Return the events of statements that insert, update and delete this many rows."""
    return tuple(event for event, count in zip(EVENTS, (inserted, updated, deleted), strict=True) if count)


def no_other_children(parents: Sequence[Name], definitions: Iterable[TableDefinition], left: Collection[Name] = (), *,
                      checks_off: bool) -> Iterator[Guard]:
    """No table that these definitions, without those that are left, do not know refers to rows of the parents, if that
    is not checked, or if it would change with them."""
    children = {(child.database, child.name) for child in definitions for key in child.foreign_keys
                if (key.database, key.table) in parents} - {*left}
    rules = "('CASCADE', 'SET NULL', 'SET DEFAULT')"
    changing = "" if checks_off else f" AND (DELETE_RULE IN {rules} OR UPDATE_RULE IN {rules})"
    if parents:
        yield Guard("No other table has a foreign key to these that " + (
            "is not checked" if checks_off else "changes its rows"), (
            "SELECT COUNT(*) <> 0 FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE "
            f"({any_of(parents, 'UNIQUE_CONSTRAINT_SCHEMA', 'REFERENCED_TABLE_NAME')}){changing} AND NOT "
            f"({any_of(sorted(children), 'CONSTRAINT_SCHEMA', 'TABLE_NAME')})"))


def any_of(names: Iterable[Name], database: str, table: str) -> str:
    """Return a condition: the two columns have one of the names."""
    return " OR ".join(f"({database} = {quote_text(name[0])} AND {table} = {quote_text(name[1])})"
                       for name in names) or "FALSE"
