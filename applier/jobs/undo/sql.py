"""The statements that undo: one for each row, found by all of its values, and after each one that stops all if it did
not change exactly this row (UNDO-GUARD)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from applier import __version__
from applier.io.printable import printable
from applier.jobs.diff.table_statements import TableStatements
from applier.jobs.exporting.statements import STRICT
from applier.jobs.undo.table_undo import TableUndo
from applier.mysql.client_sql import HEAD, for_clients
from applier.mysql.types import quote_name, quote_text
from applier.schema.definition import TableDefinition
from applier.schema.engines import is_transactional

_HEAD = HEAD + """\
-- applier {version}: undo of {what}
-- Run it as  mysql < FILE  , which stops at the first error, and then nothing has happened. ERROR 1690 in a line says
-- that the row of the statement before it is not as the log left it.
SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET sql_mode = '{mode}';
SET foreign_key_checks = {checked};
SET unique_checks = 1;
SET @rows = NULL;
"""
_NO_TRIGGERS = """\
-- Triggers of these tables would change more: then this is an error, and the other format has no triggers.
SET @rows = ~0 + (SELECT COUNT(*) <> 0 FROM information_schema.TRIGGERS WHERE {tables}) - ~0;
"""
_FIRST = b"-- Tables and partitions that are not there; an error further down leaves them as they are made here.\n"
_END = """\
-- All {statements} statements have changed a row each, also where errors do not stop the client; else an error says so.
SET @end = IF(@rows = {statements}, 'COMMIT', 'SELECT 1 FROM `undo_is_incomplete`.`nothing_was_committed`');
PREPARE end_of_undo FROM @end;
EXECUTE end_of_undo;
DEALLOCATE PREPARE end_of_undo;
"""


def statements(tables: Sequence[TableUndo], what: str, *, checks_off: bool) -> Iterator[bytes]:
    """The statements, many at a time; tables are in order, those that others refer to first. Raises SchemaError for a
    name or a text that a client could misread."""
    yield _HEAD.format(version=__version__, what=printable(what), mode=STRICT, checked=int(not checks_off)).encode()
    conditions = " OR ".join(f"(EVENT_OBJECT_SCHEMA = {quote_text(one.definition.database)} AND EVENT_OBJECT_TABLE = "
                             f"{quote_text(one.definition.name)})" for one in tables) or "FALSE"
    yield for_clients(_NO_TRIGGERS.format(tables=conditions)).encode()
    made = [TableStatements(one.definition, one.key, one.batches, guarded=True) for one in tables]
    at_once, in_transaction = ([of_table for of_table, one in zip(made, tables, strict=True)
                                if is_transactional(one.definition) == wanted] for wanted in (False, True))
    if first := [statement for one in tables for statement in one.statements]:
        yield _FIRST
        yield for_clients("".join(f"{statement};\n" for statement in first)).encode()
    if at_once:  # with GTIDs, a server refuses these in transactions
        yield b"-- These tables have no transactions: what is changed stays changed.\n"
        yield from _changes(at_once)
    yield b"START TRANSACTION;\n"
    yield from _changes(in_transaction)
    yield _END.format(statements=sum(of_table.count for of_table in made)).encode()


def _changes(tables: Sequence[TableStatements]) -> Iterator[bytes]:
    for one in reversed(tables):
        yield from one.deletes()
    for one in tables:  # no update changes a unique key
        yield from one.inserts()
        yield from one.updates()


def checks(tables: Sequence[TableUndo], children: Sequence[TableDefinition]) -> Iterator[tuple[str, int]]:
    """SELECTs for afterwards, with their results: how many rows there are, and, of these children, that each row of
    them refers to one."""
    for one in tables:
        yield f"SELECT COUNT(*) FROM {_name(one.definition.database, one.definition.name)}", one.rows_after
    changed = {(one.definition.database, one.definition.name) for one in tables}
    for child in children:
        for key in child.foreign_keys:
            if key.referenced and ((key.database, key.table) in changed or (child.database, child.name) in changed):
                pairs = [(quote_name(own), quote_name(other)) for own, other in
                         zip(key.columns, key.referenced, strict=True)]
                yield (f"SELECT COUNT(*) FROM {_name(child.database, child.name)} AS c WHERE "
                       + " AND ".join(f"c.{own} IS NOT NULL" for own, _ in pairs)
                       + f" AND NOT EXISTS (SELECT 1 FROM {_name(key.database, key.table)} AS p WHERE "
                       + " AND ".join(f"p.{other} = c.{own}" for own, other in pairs) + ")", 0)


def _name(database: str, table: str) -> str:
    return f"{quote_name(database)}.{quote_name(table)}"
