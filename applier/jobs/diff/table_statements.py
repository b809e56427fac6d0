"""Statements that change the rows of one table on a server: those of a difference, row by row.

Rows are found by their key, and where there is none by all values, byte for byte; `guarded` ones by both, and each
statement is followed by one that fails unless it changed one row. A row whose value of another unique key changes is
deleted and inserted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE
from applier.jobs.exporting.cells import Cells, cells_of, has_no_member
from applier.jobs.exporting.statements import in_mode, insert_head, loaded_columns
from applier.jobs.exporting.text_kernel import BYTES, PLAIN
from applier.jobs.exporting.texts import literals_text, rows_text
from applier.mysql.type_registry import Family
from applier.mysql.types import quote_name
from applier.schema.definition import Column, TableDefinition

_EXACT_BY_TEXT = frozenset({Family.TEXT, Family.MEMBERS, Family.DOCUMENT})
"""Families whose equality on a server is not that of bytes."""
ONE_ROW = "SET @rows = @rows + (~0 + (ROW_COUNT() <> 1) = ~0);\n"
"""Counts a statement that changed one row; else it is an error, 1690, as a sum above ~0 is."""
Batches = Callable[[], Iterator[pa.RecordBatch]]


class TableStatements:
    """Statements that change the rows of a table with this definition, and this key; `batches` are differences."""

    def __init__(self, definition: TableDefinition, key: tuple[str, ...], batches: Batches, *,
                 guarded: bool = False) -> None:
        self._batches, self._definition, self._guarded = batches, _loaded(definition), guarded
        self._columns = loaded_columns(self._definition)
        self._name = f"{quote_name(definition.database)}.{quote_name(definition.name)}"
        self._key = [self._definition.column(name) for name in key]
        self._of_unique_keys = columns_of_unique_keys(definition, key)
        self.count = 0
        """How many guarded statements there were so far."""
        self._end = f";\n{ONE_ROW}" if guarded else ";\n"

    def deletes(self) -> Iterator[bytes]:
        """Of rows that are gone, and of those that are inserted again."""
        for batch in self._batches():
            yield self._found(f"DELETE FROM {self._name}", [], batch, _rows(batch, DELETE),
                              self._end if self._key else f" LIMIT 1{self._end}")
            yield self._found(f"DELETE FROM {self._name}", [], batch,
                              _rows(batch, PREIMAGE)[self._anew(batch, PREIMAGE)], self._end)

    def updates(self) -> Iterator[bytes]:
        """Of rows that have other values, those with the same columns together."""
        for batch in self._batches():
            stay = ~self._anew(batch, PREIMAGE)
            before, after = (_rows(batch, kind)[stay] for kind in (PREIMAGE, POSTIMAGE))
            changed = self._changed(batch.take(pa.array(before)))
            patterns, of_row = np.unique(changed, axis=0, return_inverse=True)
            for number, pattern in enumerate(patterns):
                columns = [column for column, is_changed in zip(self._columns, pattern, strict=True) if is_changed]
                rows = np.flatnonzero(of_row.reshape(-1) == number)
                if columns:
                    yield self._found(f"UPDATE {self._name} SET ", columns, batch, before[rows], self._end,
                                      after[rows])

    def inserts(self) -> Iterator[bytes]:
        """Of rows that are new, and of those that were deleted for it."""
        for batch in self._batches():
            rows = np.concatenate([_rows(batch, INSERT), _rows(batch, POSTIMAGE)[self._anew(batch, POSTIMAGE)]])
            yield self.inserted(batch.take(pa.array(rows)))

    def inserted(self, rows: pa.RecordBatch) -> bytes:
        """The statements that insert rows."""
        if not rows.num_rows:
            return b""
        values = [rows.column(column.name) for column in self._columns]
        head, cells = insert_head(self._definition), list(map(cells_of, self._columns, values))
        if self._guarded:
            self.count += rows.num_rows
            words = [f"{head.decode()}(", *[","] * (len(cells) - 1), f"){self._end}"]
            text = bytes(literals_text(cells, rows.num_rows, words))
        else:
            text = bytes(rows_text(cells, rows.num_rows, True, np.frombuffer(head, np.uint8)))
        return self._in_mode(text, any(map(has_no_member, self._columns, values)))

    def _found(self, start: str, columns: list[Column], batch: pa.RecordBatch, before: np.ndarray, end: str,
               after: np.ndarray | None = None) -> bytes:
        """A statement for each row: these columns get the values after, where a row has those before."""
        if not len(before):
            return b""
        self.count += len(before)
        old = batch.take(pa.array(before))
        new = old if after is None else batch.take(pa.array(after))
        cells, words, opened = [], [], start
        for number, column in enumerate(columns):
            words.append(f"{opened}{', ' if number else ''}{quote_name(column.name)} = ")
            cells.append(cells_of(column, new.column(column.name)))
            opened = ""
        for number, (column, exactly) in enumerate(self._compared):
            left, made, closed = _compared(column, old.column(column.name), exactly=exactly)
            words.append(f"{opened} {'AND' if number else 'WHERE'} {left}")
            cells.append(made)
            opened = closed
        text = bytes(literals_text(cells, len(before), [*words, opened + end]))
        lenient = any(has_no_member(column, new.column(column.name)) for column in columns)
        return self._in_mode(text, lenient)

    @property
    def _compared(self) -> list[tuple[Column, bool]]:
        """The columns by which a row is found, and whether byte for byte; an index is used where they are not."""
        by_key = [(column, False) for column in self._key]
        return by_key + [(column, True) for column in self._columns] if self._guarded or not by_key else by_key

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


def columns_of_unique_keys(definition: TableDefinition, key: tuple[str, ...] = ()) -> set[str]:
    """The columns that unique keys depend on, but for the one with these columns; all, if an expression does."""
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
