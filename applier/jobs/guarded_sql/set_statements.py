"""Statements that change many rows of a table at once: the rows are loaded into temporary tables first, and joined.

Rows are found by their key and by all values, byte for byte, as by TableStatements. Each statement is followed by one
that fails unless it changed as many rows as were loaded, and preceded by a SELECT of rows that are not as expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE
from applier.jobs.exporting.cells import cells_of, has_no_member, rows_text
from applier.jobs.exporting.text_kernel import PLAIN
from applier.jobs.guarded_sql.table_statements import Batches, TableStatements, is_rounded, rows_of_kind
from applier.jobs.json_lines.steps import Cells
from applier.mysql.client_sql import for_clients
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType, quote_name, quote_text
from applier.schema.definition import TableDefinition
from applier.schema.engines import is_transactional
from applier.schema.table_parts import Column

AT_ONCE = 500
"""The fewest rows of a table for a set: fewer are a statement each, which people can read."""
_MOST_COLUMNS = 400
"""A temporary table has each column twice, and InnoDB's have 1,017 at most."""
_SHOWN = 20
_TEXTS = frozenset({Family.TEXT, Family.DOCUMENT, Family.NETWORK})
_BYTES = frozenset({Family.BYTES, Family.GEOMETRY, Family.VECTOR})
_SO_MANY = "SET @rows = @rows + {rows} * (~0 + (ROW_COUNT() <> {rows}) = ~0);\n"
_OLD, _NEW = "o", "n"


def can_be_set(definition: TableDefinition, key: Sequence[str], rows: int, *, as_printed: bool) -> bool:
    """Return True if `rows` changed rows of a table are worth a set, and can be found by one: by a key, and, if values
    may be those that a server prints, by exact ones; and if all of that can be reverted."""
    inexact = as_printed and any(is_rounded(column) or column.type.entry.family is Family.DOCUMENT
                                 for column in definition.columns)
    return rows >= AT_ONCE and bool(key) and not inexact and len(definition.columns) <= _MOST_COLUMNS and \
        is_transactional(definition)


class SetStatements(TableStatements):
    """The statements of one table; `number` tells its temporary tables from others."""

    def __init__(self, definition: TableDefinition, key: tuple[str, ...], batches: Batches, number: int) -> None:
        super().__init__(definition, key, batches)
        self._number, self._lenient = number, False
        self._rows = dict.fromkeys((DELETE, INSERT, POSTIMAGE), 0)
        self._patterns = dict[bytes, int]()
        self._rows_of_pattern = list[int]()

    def prepared(self) -> Iterator[bytes]:
        """Yield the temporary tables, with the rows that go, come, and change."""
        for kind, sides in ((DELETE, (_OLD,)), (INSERT, (_NEW,)), (POSTIMAGE, (_OLD, _NEW))):
            types = [_type(column, column in self._key, self.definition.flavour) for column in self._columns]
            columns = [f"`{_named(side, at)}` {kind_of} NULL" for side in sides for at, kind_of in enumerate(types)]
            columns += ["`p` int NULL, KEY (p)"] * (kind == POSTIMAGE)
            yield for_clients(f"CREATE TEMPORARY TABLE {self._temporary(kind)} ({', '.join(columns)}) "
                              "ENGINE=InnoDB;\n").encode()
        for batch in self._differences():
            moved = [rows_of_kind(batch, kind)[self._anew(batch, kind)] for kind in (PREIMAGE, POSTIMAGE)]
            stay = ~self._anew(batch, PREIMAGE)
            yield self._loaded_rows(DELETE, batch, [np.concatenate([rows_of_kind(batch, DELETE), moved[0]])])
            yield self._loaded_rows(INSERT, batch, [np.concatenate([rows_of_kind(batch, INSERT), moved[1]])])
            yield self._loaded_rows(POSTIMAGE, batch, [rows_of_kind(batch, kind)[stay]
                                                       for kind in (PREIMAGE, POSTIMAGE)])

    def deletes(self) -> Iterator[bytes]:
        """Of rows that are gone, and of those that are inserted again."""
        if rows := self._rows[DELETE]:
            joined = self._joined(DELETE)
            yield self._changed_rows(DELETE, rows, f"DELETE {self._name} FROM {joined}", joined)

    def inserts(self) -> Iterator[bytes]:
        """Of rows that are new, and of those that were deleted for it."""
        if rows := self._rows[INSERT]:
            names = ", ".join(quote_name(column.name) for column in self._columns)
            values = ", ".join(quote_name(_named(_NEW, at)) for at in range(len(self._columns)))
            yield self._changed_rows(INSERT, rows, f"INSERT INTO {self._name} ({names}) SELECT {values} "
                                                   f"FROM {self._temporary(INSERT)}")

    def updates(self) -> Iterator[bytes]:
        """Of rows that have other values, those with the same columns together."""
        for pattern, number in self._patterns.items():
            changed = np.flatnonzero(np.frombuffer(pattern, np.bool_)).tolist()
            values = ", ".join(f"{self._column(self._columns[at])} = c.{quote_name(_named(_NEW, at))}"
                               for at in changed)
            joined = self._joined(POSTIMAGE)
            yield self._changed_rows(POSTIMAGE, self._rows_of_pattern[number],
                                     f"UPDATE {joined} SET {values} WHERE c.p = {number}", joined,
                                     f" AND c.p = {number}")

    def _loaded_rows(self, kind: int, batch: pa.RecordBatch, sides: list[np.ndarray]) -> bytes:
        """Load rows into a temporary table: those before, after, or both."""
        n = len(sides[0])
        if kind == POSTIMAGE and n:
            changed = self._changed(batch.take(pa.array(sides[0])))
            kept = np.flatnonzero(changed.any(axis=1))
            sides, changed, n = [rows[kept] for rows in sides], changed[kept], len(kept)
        if not n:
            return b""
        taken = [batch.take(pa.array(rows)) for rows in sides]
        values = [(column, rows.column(column.name)) for rows in taken for column in self._columns]
        cells = [cells_of(column, array) for column, array in values]
        if kind == POSTIMAGE:
            cells.append(self._pattern_cells(changed))
        self._rows[kind] += n
        lenient = any(has_no_member(column, array) for column, array in values)
        self._lenient |= lenient
        head = np.frombuffer(f"INSERT INTO {self._temporary(kind)} VALUES\n".encode(), np.uint8)
        return self._in_mode(bytes(rows_text(cells, n, True, head)), lenient)

    def _pattern_cells(self, changed: np.ndarray) -> Cells:
        """Return the numbers of the sets of columns that change."""
        distinct, of_row = np.unique(changed, axis=0, return_inverse=True)
        numbers = []
        for pattern, count in zip(distinct, np.bincount(of_row.reshape(-1)).tolist(), strict=True):
            number = self._patterns.setdefault(pattern.tobytes(), len(self._patterns))
            self._rows_of_pattern += [0] * (number == len(self._rows_of_pattern))
            self._rows_of_pattern[number] += count
            numbers.append(number)
        values = pa.array(np.array(numbers)[of_row.reshape(-1)], pa.int32())
        return replace(cells_of(Column("p", ColumnType("int")), values), mode=PLAIN)

    def _changed_rows(self, kind: int, rows: int, statement: str, joined: str = "", chosen: str = "") -> bytes:
        """Return a statement, with those that show and count rows that are not as expected."""
        self.count += rows
        shown = ""
        if joined:
            keys = ", ".join(f"c.{quote_name(_named(_OLD, self._columns.index(column)))} AS {quote_name(column.name)}"
                             for column in self._key)
            missing = joined.replace("STRAIGHT_JOIN", "LEFT JOIN")
            shown = (f"SELECT {quote_text(f'not as expected: {self.definition.full_name}')} AS ` `, {keys} "
                     f"FROM {missing} WHERE {self._column(self._key[0])} IS NULL{chosen} LIMIT {_SHOWN};\n")
        text = for_clients(f"{shown}{statement};\n{_SO_MANY.format(rows=rows)}").encode()
        return self._in_mode(text, self._lenient and kind != DELETE)

    def _joined(self, kind: int) -> str:
        """Return the rows of a temporary table, and those of the table that are as expected."""
        conditions = [f"{self._column(column)} = c.{quote_name(_named(_OLD, self._columns.index(column)))}"
                      for column in self._key]
        conditions += [_same(column, self._column(column), f"c.{quote_name(_named(_OLD, at))}")
                       for at, column in enumerate(self._columns)]
        return f"{self._temporary(kind)} AS c STRAIGHT_JOIN {self._name} ON {' AND '.join(conditions)}"

    def _column(self, column: Column) -> str:
        """Return a column of the table by its full name: an alias takes a default database."""
        return f"{self._name}.{quote_name(column.name)}"

    def _temporary(self, kind: int) -> str:
        word = {DELETE: "deleted", INSERT: "inserted", POSTIMAGE: "updated"}[kind]
        return f"{quote_name(self.definition.database)}.`applier {word} {self._number}`"


def _named(side: str, at: int) -> str:
    return f"{side}{at}"


def _type(column: Column, is_key: bool, flavour: str) -> str:
    """Return the type of a column of a temporary table: one that has all values, and takes little of a row's size."""
    family = column.type.entry.family
    if family is Family.DOCUMENT:
        return "longtext CHARACTER SET utf8mb4"
    if not is_key and family in _TEXTS and column.type.charset is not None:
        return replace(column.type, base="longtext", length=None, compressed=False).sql(flavour)
    if not is_key and family in _BYTES:
        return "longblob"
    return replace(column.type, compressed=False, srid=None).sql(flavour)


def _same(column: Column, one: str, other: str) -> str:
    """That two columns have the same bytes."""
    family = column.type.entry.family
    if family is Family.DOCUMENT:
        return f"HEX(CONVERT({one} USING utf8mb4)) <=> HEX({other})"
    if family in _BYTES or family in _TEXTS or family is Family.MEMBERS:
        return f"HEX({one}) <=> HEX({other})"
    return f"{one} <=> {other}"
