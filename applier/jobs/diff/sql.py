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
from applier.io.printable import printable
from applier.jobs.diff.columns import AFTER, in_full
from applier.jobs.diff.result import Compared, TableDiff
from applier.jobs.diff.table_statements import TableStatements
from applier.jobs.exporting.statements import session
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition
from applier.schema.engines import is_transactional


def statements(diff: Compared) -> Iterator[bytes]:
    """The statements, many at a time."""
    what = printable(f"from {diff.before} to {diff.after}")
    yield f"-- applier {__version__}: {what}\n{session()}".encode()
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
    """Whether the table has one definition, but for its next AUTO_INCREMENT: as a CREATE TABLE has it, or as a server
    that was asked, which names the engine and each DEFAULT NULL."""
    before, after = table.definitions
    if before is None or after is None:
        return False
    engine = before.engine if after.engine is None else after.engine
    sides = [replace(side, first_number=1, columns=tuple(map(in_full, side.columns)), engine=side.engine or engine)
             for side in (before, after)]
    return sides[0] == sides[1]


def _definition_statements(table: TableDiff) -> str:
    before, after = table.definitions
    name = f"{quote_name(table.database)}.{quote_name(table.name)}"
    if _is_kept(table):
        assert before is not None and after is not None
        if after.first_number in (before.first_number, 1):  # without one, a server goes on from its largest number
            return ""
        return f"ALTER TABLE {name} AUTO_INCREMENT = {after.first_number};\n"
    drop = f"DROP TABLE {name};\n" if before is not None else ""
    if after is None:
        return drop
    return f"{drop}CREATE DATABASE IF NOT EXISTS {quote_name(after.database)};\n{after.to_sql()};\n"
