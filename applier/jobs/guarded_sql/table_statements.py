"""Statements that change the rows of one table on a server: those of a difference, row by row.

Rows are found by their key and by all values, byte for byte, and each statement is followed by one that fails unless it
changed one row. A row whose value of another unique key changes is deleted and inserted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE
from applier.jobs.exporting.cells import cells_of, has_no_member, literals_text, rows_text
from applier.jobs.exporting.statements import in_mode, insert_head, loaded_columns
from applier.jobs.exporting.text_kernel import BYTES, PLAIN
from applier.jobs.json_lines.steps import Cells
from applier.mysql.client_sql import for_clients
from applier.mysql.names import folded
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType, quote_name
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column

_EXACT_BY_TEXT = frozenset({Family.TEXT, Family.MEMBERS, Family.DOCUMENT})
"""Families whose equality on a server is not that of bytes."""
_ONE_ROW = "SET @rows = @rows + (~0 + (ROW_COUNT() <> 1) = ~0);\n"
"""Counts a statement that changed one row; else it is an error, 1690, as a sum above ~0 is."""
_SO_MANY_ROWS = "SET @rows = @rows + (~0 + ((SELECT COUNT(*) FROM {table}) <> {rows}) = ~0);\n"
_DOUBLE = Column("", ColumnType("double"))
_PROBED = 200
"""Rows that a statement looks for at once."""
_DIGITS = 6
"""The digits of a FLOAT that a server prints."""
_UNKNOWN = b"unknown"
Batches = Callable[[], Iterator[pa.RecordBatch]]


class TableStatements:
    """Statements that change the rows of a table with this definition, and this key; `batches` are differences.
    `as_printed`: values before may be from a dump, which has six digits of a FLOAT, and no types of numbers in a JSON
    document. `all_rows` are the rows of a table that was made just before, instead of differences."""

    def __init__(self, definition: TableDefinition, key: tuple[str, ...], batches: Batches, *,
                 as_printed: bool = False, all_rows: Batches | None = None) -> None:
        self.definition, self._batches, self._as_printed, self._all_rows = definition, batches, as_printed, all_rows
        self._loaded = _loaded(definition)
        self._columns = loaded_columns(self._loaded)
        self._name = f"{quote_name(definition.database)}.{quote_name(definition.name)}"
        self._key = [self._loaded.column(name) for name in key]
        self._of_unique_keys = columns_of_unique_keys(definition, key)
        self.count = 0
        """How many changes were counted in @rows so far."""

    def prepared(self) -> Iterator[bytes]:
        """Yield the statements before the transaction."""
        return iter(())

    def deletes(self) -> Iterator[bytes]:
        """Of rows that are gone, and of those that are inserted again."""
        for batch in self._differences():
            yield self._found(f"DELETE FROM {self._name}", [], batch, rows_of_kind(batch, DELETE),
                              one_of_several=not self._key)
            yield self._found(f"DELETE FROM {self._name}", [], batch,
                              rows_of_kind(batch, PREIMAGE)[self._anew(batch, PREIMAGE)])

    def updates(self) -> Iterator[bytes]:
        """Of rows that have other values, those with the same columns together."""
        for batch in self._differences():
            stay = ~self._anew(batch, PREIMAGE)
            before, after = (rows_of_kind(batch, kind)[stay] for kind in (PREIMAGE, POSTIMAGE))
            changed = self._changed(batch.take(pa.array(before)))
            patterns, of_row = np.unique(changed, axis=0, return_inverse=True)
            for number, pattern in enumerate(patterns):
                columns = [column for column, is_changed in zip(self._columns, pattern, strict=True) if is_changed]
                rows = np.flatnonzero(of_row.reshape(-1) == number)
                if columns:
                    yield self._found(f"UPDATE {self._name} SET ", columns, batch, before[rows], after[rows])

    def inserts(self) -> Iterator[bytes]:
        """Yield inserts of new rows, and of those that were deleted for it; or of all rows, many per statement, with a
        statement behind them that fails unless all were inserted."""
        for batch in self._differences():
            moved = rows_of_kind(batch, POSTIMAGE)[self._anew(batch, POSTIMAGE)]
            rows = np.concatenate([rows_of_kind(batch, INSERT), moved])
            if len(rows):
                self.count += len(rows)
                yield self._inserted(batch.take(pa.array(rows)), a_row_each=True)
        if self._all_rows is not None:
            n = 0
            for batch in self._all_rows():
                n += batch.num_rows
                yield self._inserted(batch, a_row_each=False)
            self.count += 1
            yield for_clients(_SO_MANY_ROWS.format(table=self._name, rows=n)).encode()

    def without_moves(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return differences in which rows that are deleted and inserted again are no updates."""
        kinds = batch.column("_change_type").indices.to_numpy().copy()
        for kind, made in ((PREIMAGE, DELETE), (POSTIMAGE, INSERT)):
            kinds[rows_of_kind(batch, kind)[self._anew(batch, kind)]] = made
        number = batch.schema.get_field_index("_change_type")
        column = pa.DictionaryArray.from_arrays(pa.array(kinds), batch.column(number).dictionary)
        return batch.set_column(number, batch.schema.field(number), column)

    def _differences(self) -> Iterator[pa.RecordBatch]:
        return self._batches() if self._all_rows is None else iter(())

    def _inserted(self, rows: pa.RecordBatch, *, a_row_each: bool) -> bytes:
        values = [rows.column(column.name) for column in self._columns]
        head, cells = insert_head(self._loaded), list(map(cells_of, self._columns, values))
        if a_row_each:
            words = [f"{head.decode()}(", *[","] * (len(cells) - 1), f");\n{_ONE_ROW}"]
            text = bytes(literals_text(cells, rows.num_rows, words))
        else:
            text = bytes(rows_text(cells, rows.num_rows, True, np.frombuffer(head, np.uint8)))
        return self._in_mode(text, any(map(has_no_member, self._columns, values)))

    def _found(self, start: str, columns: list[Column], batch: pa.RecordBatch, before: np.ndarray,
               after: np.ndarray | None = None, *, one_of_several: bool = False) -> bytes:
        """Return a statement for each row: these columns get the values after, where a row, or one of several, has
        those before."""
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
        of_row, said, closed = self._conditions(old, f"{opened} WHERE ")
        cells, words, opened = cells + of_row, words + said, closed
        if one_of_several:
            for number, column in enumerate(filter(self._is_rounded, self._columns)):  # rather not the very same value
                [(word, made)], _ = _compared(column, old.column(column.name), exactly=True)
                words.append(f"{opened} {'+' if number else 'ORDER BY'} ({word}")
                cells.append(made)
                opened = ")"
            opened += " LIMIT 1"
        text = bytes(literals_text(cells, len(before), [*words, f"{opened};\n{_ONE_ROW}"]))
        lenient = any(has_no_member(column, new.column(column.name)) for column in columns)
        return self._in_mode(text, lenient)

    def probes(self) -> Iterator[str]:
        """Yield statements that are errors, 1690, unless the rows that change or go exist as expected; many rows each,
        which stay so until the transaction ends. A table without a key has none: events find its rows by all values."""
        if not self._key:
            return
        for batch in self._differences():
            rows = np.concatenate([rows_of_kind(batch, DELETE), rows_of_kind(batch, PREIMAGE)])
            for start in range(0, len(rows), _PROBED):
                cells, words, closed = self._conditions(
                    batch.take(pa.array(rows[start:start + _PROBED])), " OR (")
                n = len(rows[start:start + _PROBED])
                text = bytes(literals_text(cells, n, [*words, f"{closed})"])).decode("utf-8", "surrogateescape")
                yield (f"SET @guard = ~0 + ((SELECT COUNT(*) FROM {self._name} WHERE {text.removeprefix(' OR ')} "
                       f"LOCK IN SHARE MODE) < {n}) - ~0")

    def _conditions(self, rows: pa.RecordBatch, start: str) -> tuple[list[Cells], list[str], str]:
        """Return a condition that a row has all of these values: the values, the words before each, and the closing
        words."""
        cells, words, opened = list[Cells](), list[str](), start
        unknown = json.loads((rows.schema.metadata or {}).get(_UNKNOWN, b"[]"))
        compared = [(column, exactly) for column, exactly in self._compared if column.name not in unknown]
        for number, (column, exactly) in enumerate(compared):
            compare = _compared_as_printed if exactly and self._as_printed else _compared
            parts, closed = compare(column, rows.column(column.name), exactly=exactly)
            words += [f"{opened}{' AND ' if number else ''}{parts[0][0]}", *(word for word, _ in parts[1:])]
            cells += [made for _, made in parts]
            opened = closed
        return cells, words, opened

    @property
    def _compared(self) -> list[tuple[Column, bool]]:
        """The columns by which a row is found, and whether byte for byte; an index is used where they are not."""
        by_key = [(column, False) for column in self._key if not self._is_rounded(column)]
        return by_key + [(column, True) for column in self._columns]

    def _is_rounded(self, column: Column) -> bool:
        return self._as_printed and is_rounded(column)

    @staticmethod
    def _in_mode(text: bytes, lenient: bool) -> bytes:
        before, _, after = in_mode("\0", lenient).encode().partition(b"\0")
        return before + text + after

    def _changed(self, rows: pa.RecordBatch) -> np.ndarray:
        """Return which of the columns changed in rows of updates: bool[rows, columns]."""
        lists = rows.column("_changed")
        indexes = pc.index_in(lists.flatten(), value_set=pa.array([column.name for column in self._columns]))
        of_row = np.repeat(np.arange(len(lists)), lists.value_lengths().fill_null(0).to_numpy())
        made = np.zeros((len(lists), len(self._columns)), bool)
        known = indexes.is_valid().to_numpy(zero_copy_only=False)
        made[of_row[known], indexes.drop_null().to_numpy()] = True
        return made

    def _anew(self, batch: pa.RecordBatch, kind: int) -> np.ndarray:
        """Return which rows of updates are deleted and inserted: those whose unique keys change, and those that the
        server may have already, since only digits change that it does not print."""
        changed = self._changed(batch.take(pa.array(rows_of_kind(batch, kind))))
        unique = np.array([column.name in self._of_unique_keys for column in self._columns], bool)
        rounded = np.array(list(map(self._is_rounded, self._columns)), bool)
        only_digits = changed[:, rounded].any(axis=1) & ~changed[:, ~rounded].any(axis=1)
        return np.asarray(changed[:, unique].any(axis=1) | only_digits)


def with_unknown(rows: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """Return differences in which the values of these columns are unknown: rows are found by the others."""
    return rows.replace_schema_metadata({_UNKNOWN: json.dumps(columns)})


def rows_of_kind(batch: pa.RecordBatch, kind: int) -> np.ndarray:
    """Return the numbers of the rows of one kind."""
    return np.flatnonzero(batch.column("_change_type").indices.to_numpy() == kind)


def _loaded(definition: TableDefinition) -> TableDefinition:
    """Return the table as statements see it: a server gives the rows of a versioned table their times."""
    shown, versioning = definition.shown, definition.versioning
    if versioning is None:
        return shown
    return replace(shown, columns=tuple(column for column in shown.columns if not versioning.has(column.name)))


def columns_of_unique_keys(definition: TableDefinition, key: tuple[str, ...] = ()) -> set[str]:
    """Return the columns that unique keys depend on, except for the one with these columns; all, if an expression
    does."""
    own = {folded(name) for name in key}
    named: set[str] = set()
    for other in definition.shown.keys:
        if other.kind not in ("primary", "unique"):
            continue
        columns = {folded(part.column) for part in other.parts if part.column is not None}
        computed = any(definition.column(name).generated for name in columns)
        if len(columns) < len(other.parts) or computed:
            return {column.name for column in definition.columns}
        if columns != own:
            named |= columns
    return {column.name for column in definition.columns if folded(column.name) in named}


def _compared(column: Column, values: pa.Array, *, exactly: bool) -> tuple[list[tuple[str, Cells]], str]:
    """Return comparisons of a column with values: the words before each cell, and those after the last."""
    family, name = column.type.entry.family, quote_name(column.name)
    if family is Family.FLOATING:  # a server compares doubles
        values, column = values.cast(pa.float64()), replace(column, type=replace(column.type, base="double"))
    cells = cells_of(column, values)
    if family in (Family.DECIMAL, Family.YEAR):  # as strings they would be compared as doubles
        cells = replace(cells, mode=PLAIN)
    if exactly and cells.mode == BYTES:
        return [(f"HEX({name}) <=> HEX(", cells)], ")"
    if exactly and family in _EXACT_BY_TEXT:
        return [(f"HEX(CONVERT({name} USING utf8mb4)) <=> HEX(", cells)], ")"
    if cells.mode == BYTES and family is Family.TEXT and not values.null_count:  # text, which an index finds
        return [(f"{name} = _{column.type.charset} ", cells)], ""
    return [(f"{name} <=> " if exactly else f"{name} = ", cells)], ""


def _compared_as_printed(column: Column, values: pa.Array, *, exactly: bool) -> tuple[list[tuple[str, Cells]], str]:
    """The same for values that the server may have printed: a FLOAT by its digits, a JSON document by its meaning."""
    name = quote_name(column.name)
    if column.type.entry.family is Family.DOCUMENT:
        return [(f"{name} <=> CAST(", cells_of(column, values))], " AS JSON)"
    parts, closed = _compared(column, values, exactly=exactly)
    if not is_rounded(column):
        return parts, closed
    low, high = (replace(cells_of(_DOUBLE, bound), mode=PLAIN) for bound in six_digits_around(values))
    return [(f"({parts[0][0]}", parts[0][1]), (f" OR {name} BETWEEN ", low), (" AND ", high)], ")"


def is_rounded(column: Column) -> bool:
    """Return whether a server has more digits of the column's values than it prints."""
    return column.type.base == "float" and column.type.scale is None


def six_digits_around(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the least and the greatest number that a server prints as it does these FLOATs (float32), as doubles; for
    a FLOAT of more digits than it prints, the number itself."""
    exact = values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    with np.errstate(divide="ignore"):
        exponents = np.where(exact == 0, 0, np.floor(np.log10(np.abs(exact)))).astype(np.int64)
    unit = 10.0**(exponents - (_DIGITS - 1))
    printed = np.round(exact / unit) * unit
    half = np.where((printed.astype(np.float32) == exact.astype(np.float32)) & (exact != 0), unit / 2, 0.0)
    center, missing = np.where(half > 0, printed, exact), values.is_null().to_numpy(zero_copy_only=False)
    low, high = (pa.array(center + sign * half, pa.float64(), mask=missing) for sign in (-1, 1))
    return low, high
