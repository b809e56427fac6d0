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

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier import __version__
from applier.jobs.diff.columns import AFTER
from applier.jobs.diff.result import Compared, TableDiff
from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE
from applier.jobs.exporting.cells import Cells, cells_of, has_no_member
from applier.jobs.exporting.statements import in_mode, insert_head, loaded_columns, session
from applier.jobs.exporting.text_kernel import BYTES, PLAIN
from applier.jobs.exporting.texts import literals_text, rows_text
from applier.mysql.type_registry import Family
from applier.mysql.types import quote_name
from applier.schema.definition import Column, TableDefinition
from applier.schema.engines import is_transactional

_EXACT_BY_TEXT = frozenset({Family.TEXT, Family.MEMBERS, Family.DOCUMENT})
"""Families whose equality on a server is not that of bytes."""


def statements(diff: Compared) -> Iterator[bytes]:
    """The statements, many at a time."""
    yield (f"-- applier {__version__}: from {diff.before} to {diff.after}\n".encode() + session().encode())
    changed, made = (dict[bool, list[_Table]]({False: [], True: []}) for _ in range(2))
    for table in diff.tables.values():
        yield _definition_statements(table).encode()
        if _is_kept(table):
            changed[is_transactional(_definition_after(table))].append(_Table(table))
        elif (definition := table.definitions[AFTER]) is not None:
            made[is_transactional(definition)].append(_Table(table))
    yield from _changes(changed[False], made[False])  # with GTIDs, a server refuses these in transactions
    yield b"START TRANSACTION;\n"
    yield from _changes(changed[True], made[True])
    yield b"COMMIT;\n"


def _changes(kept: list[_Table], made: list[_Table]) -> Iterator[bytes]:
    for one in kept:
        yield from one.deletes()
    for one in kept:
        yield from one.updates()
    for one in kept:
        yield from one.inserts()
    for one in made:
        yield from one.all_rows()


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


class _Table:
    """Statements that change the rows of one table."""

    def __init__(self, table: TableDiff) -> None:
        definition = _definition_after(table)
        self._table, self._definition = table, _loaded(definition)
        self._columns = loaded_columns(self._definition)
        self._name = f"{quote_name(table.database)}.{quote_name(table.name)}"
        self._key = [self._definition.column(name) for name in table.key]
        self._of_unique_keys = _columns_of_other_keys(definition, table.key)

    def deletes(self) -> Iterator[bytes]:
        """Of rows that are gone, and of those that are inserted again."""
        for batch in self._table.differing_rows():
            yield self._found(f"DELETE FROM {self._name}", [], batch, _rows(batch, DELETE), ";\n" if self._key else
                              " LIMIT 1;\n")
            yield self._found(f"DELETE FROM {self._name}", [], batch,
                              _rows(batch, PREIMAGE)[self._anew(batch, PREIMAGE)], ";\n")

    def updates(self) -> Iterator[bytes]:
        """Of rows that have other values, those with the same columns together."""
        for batch in self._table.differing_rows():
            stay = ~self._anew(batch, PREIMAGE)
            before, after = (_rows(batch, kind)[stay] for kind in (PREIMAGE, POSTIMAGE))
            changed = self._changed(batch.take(pa.array(before)))
            patterns, of_row = np.unique(changed, axis=0, return_inverse=True)
            for number, pattern in enumerate(patterns):
                columns = [column for column, is_changed in zip(self._columns, pattern, strict=True) if is_changed]
                rows = np.flatnonzero(of_row.reshape(-1) == number)
                if columns:
                    yield self._found(f"UPDATE {self._name} SET ", columns, batch, before[rows], ";\n", after[rows])

    def inserts(self) -> Iterator[bytes]:
        """Of rows that are new, and of those that were deleted for it."""
        for batch in self._table.differing_rows():
            rows = np.concatenate([_rows(batch, INSERT), _rows(batch, POSTIMAGE)[self._anew(batch, POSTIMAGE)]])
            yield self._inserted(batch.take(pa.array(rows)))

    def all_rows(self) -> Iterator[bytes]:
        """Of all rows that the one after has."""
        for batch in self._table.all_rows_after():
            yield self._inserted(batch)

    def _inserted(self, rows: pa.RecordBatch) -> bytes:
        if not rows.num_rows:
            return b""
        values = [rows.column(column.name) for column in self._columns]
        head = np.frombuffer(insert_head(self._definition), np.uint8)
        text = bytes(rows_text(list(map(cells_of, self._columns, values)), rows.num_rows, True, head))
        return self._in_mode(text, any(map(has_no_member, self._columns, values)))

    def _found(self, start: str, columns: list[Column], batch: pa.RecordBatch, before: np.ndarray, end: str,
               after: np.ndarray | None = None) -> bytes:
        """A statement for each row: these columns get the values after, where a row has those before."""
        if not len(before):
            return b""
        old = batch.take(pa.array(before))
        new = old if after is None else batch.take(pa.array(after))
        cells, words, opened = [], [], start
        for number, column in enumerate(columns):
            words.append(f"{opened}{', ' if number else ''}{quote_name(column.name)} = ")
            cells.append(cells_of(column, new.column(column.name)))
            opened = ""
        for number, column in enumerate(self._key or self._columns):
            left, made, closed = _compared(column, old.column(column.name), exactly=not self._key)
            words.append(f"{opened} {'AND' if number else 'WHERE'} {left}")
            cells.append(made)
            opened = closed
        text = bytes(literals_text(cells, len(before), [*words, opened + end]))
        lenient = any(has_no_member(column, new.column(column.name)) for column in columns)
        return self._in_mode(text, lenient)

    @staticmethod
    def _in_mode(text: bytes, lenient: bool) -> bytes:
        before, _, after = in_mode("\0", lenient).encode().partition(b"\0")
        return before + text + after

    def _changed(self, rows: pa.RecordBatch) -> np.ndarray:
        """Which of the columns changed in rows of updates: bool[rows, columns]."""
        lists = rows.column("_changed")
        places = pc.index_in(lists.flatten(), value_set=pa.array([column.name for column in self._columns]))
        of_row = np.repeat(np.arange(len(lists)), lists.value_lengths().fill_null(0).to_numpy())
        made, known = np.zeros((len(lists), len(self._columns)), bool), places.is_valid().to_numpy(zero_copy_only=False)
        made[of_row[known], places.drop_null().to_numpy()] = True
        return made

    def _anew(self, batch: pa.RecordBatch, kind: int) -> np.ndarray:
        """Which rows of updates are deleted and inserted."""
        changed = self._changed(batch.take(pa.array(_rows(batch, kind))))
        unique = np.array([column.name in self._of_unique_keys for column in self._columns], bool)
        return np.asarray(changed[:, unique].any(axis=1))


def _rows(batch: pa.RecordBatch, kind: int) -> np.ndarray:
    """The numbers of the rows of one kind."""
    return np.flatnonzero(batch.column("_change_type").indices.to_numpy() == kind)


def _loaded(definition: TableDefinition) -> TableDefinition:
    """The table as statements see it: a server gives the rows of a versioned table their times."""
    shown, versioning = definition.shown, definition.versioning
    if versioning is None:
        return shown
    return replace(shown, columns=tuple(column for column in shown.columns if not versioning.has(column.name)))


def _columns_of_other_keys(definition: TableDefinition, key: tuple[str, ...]) -> set[str]:
    """The columns that unique keys depend on, but for the one that rows are found by; all, if an expression does."""
    own = {name.casefold() for name in key}
    named: set[str] = set()
    for other in definition.shown.keys:
        if other.kind not in ("primary", "unique"):
            continue
        columns = {part.column.casefold() for part in other.parts if part.column is not None}
        computed = any(definition.column(name).generated for name in columns)
        if len(columns) < len(other.parts) or computed:
            return {column.name for column in definition.columns}
        if columns != own:
            named |= columns
    return {column.name for column in definition.columns if column.name.casefold() in named}


def _compared(column: Column, values: pa.Array, *, exactly: bool) -> tuple[str, Cells, str]:
    """What stands before a value that a column has, its cells, and what stands after it."""
    family, name = column.type.entry.family, quote_name(column.name)
    if family is Family.FLOATING:  # a server compares doubles
        values, column = values.cast(pa.float64()), replace(column, type=replace(column.type, base="double"))
    cells = cells_of(column, values)
    if family in (Family.DECIMAL, Family.YEAR):  # as strings they would be compared as doubles
        cells = replace(cells, mode=PLAIN)
    if exactly and family in _EXACT_BY_TEXT:
        return f"HEX(CONVERT({name} USING utf8mb4)) <=> HEX(", cells, ")"
    if exactly and cells.mode == BYTES:
        return f"HEX({name}) <=> HEX(", cells, ")"
    return f"{name} <=> " if exactly else f"{name} = ", cells, ""
