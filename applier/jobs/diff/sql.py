"""The statements that make the snapshot before into the one after, on a server that holds the first.

Tables that only the one before has are dropped, and those that only the other has are made. So are those whose
definitions differ: their rows are inserted anew. Of the others rows are deleted, then updated, then inserted, so that
no unique key has a value twice on the way: a row whose value of another unique key changes is deleted and inserted.
Foreign keys are not checked, so that they change nothing themselves. Rows are found by their key, and where there is
none by all values, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from applier import __version__
from applier.jobs.diff.columns import AFTER
from applier.jobs.diff.result import Compared, TableDiff
from applier.jobs.diff.table_statements import TableStatements
from applier.jobs.exporting.statements import session
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition
from applier.schema.engines import is_transactional


def statements(diff: Compared) -> Iterator[bytes]:
    """The statements, many at a time."""
    yield (f"-- applier {__version__}: from {diff.before} to {diff.after}\n".encode() + session().encode())
    changed, made = (dict[bool, list[TableDiff]]({False: [], True: []}) for _ in range(2))
    for table in diff.tables.values():
        yield _definition_statements(table).encode()
        if _is_kept(table):
            changed[is_transactional(_definition_after(table))].append(table)
        elif (definition := table.definitions[AFTER]) is not None:
            made[is_transactional(definition)].append(table)
    yield from _changes(changed[False], made[False])  # with GTIDs, a server refuses these in transactions
    yield b"START TRANSACTION;\n"
    yield from _changes(changed[True], made[True])
    yield b"COMMIT;\n"


def _changes(kept: list[TableDiff], made: list[TableDiff]) -> Iterator[bytes]:
    tables = [_statements(table) for table in kept]
    for one in tables:
        yield from one.deletes()
    for one in tables:
        yield from one.updates()
    for one in tables:
        yield from one.inserts()
    for table in made:
        of_table = _statements(table)
        yield from map(of_table.inserted, table.all_rows_after())


def _statements(table: TableDiff) -> TableStatements:
    return TableStatements(_definition_after(table), table.key, table.differing_rows)


def _definition_after(table: TableDiff) -> TableDefinition:
    definition = table.definitions[AFTER]
    assert definition is not None
    return definition


def _is_kept(table: TableDiff) -> bool:
    """Whether the table has one definition, but for its next AUTO_INCREMENT."""
    before, after = (side and replace(side, first_number=1) for side in table.definitions)
    return before is not None and before == after


def _definition_statements(table: TableDiff) -> str:
    before, after = table.definitions
    name = f"{quote_name(table.database)}.{quote_name(table.name)}"
    if _is_kept(table):
        assert before is not None and after is not None
        if before.first_number == after.first_number:
            return ""
        return f"ALTER TABLE {name} AUTO_INCREMENT = {after.first_number};\n"
    drop = f"DROP TABLE {name};\n" if before is not None else ""
    if after is None:
        return drop
    return f"{drop}CREATE DATABASE IF NOT EXISTS {quote_name(after.database)};\n{after.to_sql()};\n"
