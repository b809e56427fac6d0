"""Plans the comparison of tables: which columns, and in which ranges of rows.

Rows of a table whose key begins with an integer are divided at values of that column, which every server orders alike,
and whose index the server can use. Other keys are ordered by collations, or are numbers without an exact literal,
so those rows are divided by a hash of their key. So are rows whose key begins with an integer that has few values. Rows
without a key are divided by a hash of all of their values.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from applier.engine.threads import map_on_threads
from applier.errors import UsageError
from applier.io.parquet_reading import open_parquet
from applier.jobs.verify.canonical import sql_value
from applier.mysql.names import folded
from applier.mysql.type_registry import Family
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.schema.table_parts import Column
from applier.snapshot.files import location
from applier.snapshot.files.checks import reading
from applier.snapshot.files.file_entries import FileEntry, MergedFile
from applier.snapshot.files.stored_columns import as_rows
from applier.snapshot.manifest import Snapshot
from applier.snapshot.reader import read_columns
from applier.snapshot.table_entry import TableEntry
from keysearch.keybytes import int_key

RANGE_ROWS = 100_000
"""About as many rows as a range has."""
_FINE = 2
"""By integers, ranges may have this many times as many rows as they should: many rows may have the same value."""
_SIGN = 1 << 63
Hash = Literal["crc32", "sha2"]


@dataclass(frozen=True)
class ComparedTable:
    """A table, and its ranges: divided before the rows that have `bounds` in the first column of the key (in the form
    of `int_key`), or into `buckets` buckets, if there are more than one."""

    entry: TableEntry
    definition: TableDefinition
    bounds: tuple[int, ...]
    buckets: int
    hash: Hash

    @property
    def full_name(self) -> str:
        """ "db.table"."""
        return self.entry.full_name

    @property
    def columns(self) -> tuple[Column, ...]:
        """The compared columns: those that a snapshot stores."""
        return self.definition.stored_columns

    @cached_property
    def key(self) -> tuple[int, ...]:
        """The columns of the key, as numbers of columns."""
        numbers = {folded(column.name): number for number, column in enumerate(self.columns)}
        return tuple(numbers[folded(name)] for name in self.entry.key)

    @property
    def label(self) -> str:
        """Its name as answers have it: percent-encoded, so that all clients write it alike."""
        return "/".join(quote(name, safe="") for name in (self.entry.database, self.entry.name))

    @property
    def ranges(self) -> int:
        """How many ranges there are."""
        return max(len(self.bounds) + 1, self.buckets)

    def ranges_of(self, rows: pa.RecordBatch, hashes: np.ndarray) -> np.ndarray:
        """Return the range of each row: int64[n]. `hashes` are those of `hash_rows`."""
        if self.bounds:
            first = rows.column(rows.schema.get_field_index(self.columns[self.key[0]].name))
            return np.searchsorted(np.array(self.bounds, np.int64), int_key(first), "right").astype(np.int64)
        if self.buckets < 2:
            return np.zeros(rows.num_rows, np.int64)
        buckets, total = np.uint64(self.buckets), np.zeros(rows.num_rows, np.uint64)
        for number in self.key:
            total += hashes[1 + number] % buckets
        if not self.key:
            total = hashes[0]
        return (total % buckets).astype(np.int64)

    def condition(self, number: int) -> str:
        """Return which rows of the server's table are in a range, as SQL; "" if all are."""
        if self.bounds:
            column = self.columns[self.key[0]]
            low = self.bounds[number - 1] if number else None
            high = self.bounds[number] if number < len(self.bounds) else None
            offset = _SIGN if column.type.unsigned and column.type.base == "bigint" else 0
            name = quote_name(column.name)
            return " AND ".join(f"{name} {operator} {bound + offset}" for operator, bound in
                                ((">=", low), ("<", high)) if bound is not None)
        return f"{self.bucket} = {number}" if self.buckets > 1 else ""

    @property
    def bucket(self) -> str:
        """The range of a row that is divided by hashes, as SQL."""
        if self.buckets < 2:
            return "0"
        if not self.key:
            return f"{self.row_hash} % {self.buckets}"
        parts = [f"{self.value_hash(number)} % {self.buckets}" for number in self.key]
        return f"({' + '.join(parts)}) % {self.buckets}"

    def value_hash(self, number: int) -> str:
        """Return the hash of a column's value, as SQL: for NULL 0, else a number above."""
        return f"IFNULL({_hash(sql_value(self.columns[number]), self.hash)} + 1, 0)"

    @cached_property
    def row_hash(self) -> str:
        """Return the hash of a row, as SQL."""
        values = ", ".join(map(self.value_hash, range(len(self.columns))))
        return _hash(f"CONCAT_WS(',', {values})", self.hash)


def _hash(value: str, kind: Hash) -> str:
    if kind == "crc32":
        return f"CRC32({value})"
    return f"CAST(CONV(LEFT(SHA2({value}, 256), 15), 16, 10) AS UNSIGNED)"


@dataclass(frozen=True)
class ComparisonPlan:
    """The plan of a comparison: the tables of a snapshot."""

    snapshot: Snapshot
    tables: tuple[ComparedTable, ...]

    @cached_property
    def tag(self) -> str:
        """The beginning of the server's answers to these statements, and of no others."""
        text = "\n".join(f"{table.label} {table.bounds} {table.buckets} {table.row_hash}" for table in self.tables)
        return "applier-" + hashlib.sha256(text.encode()).hexdigest()[:12]


def plan(snapshot: Snapshot, filter: TableFilter = EVERYTHING, hash: Hash = "crc32") -> ComparisonPlan:
    """Plan how a snapshot is compared. Raises UsageError where no table is chosen, SnapshotError for a file that is
    missing or damaged."""
    chosen = [table for table in snapshot.tables if filter.wanted(table.database, table.name)]
    if not chosen:
        raise UsageError("no table of the snapshot is selected", file=snapshot.uri,
                         hint="--tables and --ignore-tables exclude all of them; `applier status` lists them")
    return ComparisonPlan(snapshot, tuple(_compared(snapshot, entry, hash) for entry in chosen))


def _compared(snapshot: Snapshot, entry: TableEntry, hash: Hash) -> ComparedTable:
    definition = entry.definition.shown
    buckets = -(-entry.rows // RANGE_ROWS)
    if entry.key and definition.column(entry.key[0]).type.entry.family is Family.INTEGER:
        bounds = _bounds(snapshot, entry, definition)
        if _FINE * (len(bounds) + 1) >= buckets:
            return ComparedTable(entry, definition, bounds, 0, hash)
    return ComparedTable(entry, definition, (), buckets, hash)


def _bounds(snapshot: Snapshot, entry: TableEntry, definition: TableDefinition) -> tuple[int, ...]:
    """Return the values of the first column of the key that divide the table."""
    if entry.rows <= RANGE_ROWS:
        return ()
    filesystem, root = location.resolve(snapshot.root)
    schema = pa.schema([table_schema(definition).field(definition.column(entry.key[0]).name)])
    firsts = np.cumsum([0, *(file.rows for file in entry.files)])

    def picked(numbered: tuple[int, FileEntry]) -> list[int]:
        """Return the values of every nth row of the table that are in a file."""
        first, file = numbered
        found: list[int] = []
        if isinstance(file, MergedFile):
            keys = int_key(read_columns(snapshot.root, file, definition, schema.names).column(0))
            return keys[-first % RANGE_ROWS::RANGE_ROWS].tolist()  # type: ignore[no-any-return]  # of NumPy
        with reading(f"{root}/{file.path}"), filesystem.open_input_file(f"{root}/{file.path}") as source:
            for batch in open_parquet(source).iter_batches(columns=schema.names, use_threads=False):
                keys = int_key(as_rows(pa.Table.from_batches([batch]), schema).column(0))
                found += keys[-first % RANGE_ROWS::RANGE_ROWS].tolist()
                first += len(keys)
        return found

    numbered: Sequence[tuple[int, FileEntry]] = list(zip(firsts.tolist(), entry.files, strict=False))
    parts = map_on_threads(picked, numbered, os.cpu_count() or 1, lambda done, total: None)
    return tuple(sorted(set(chain.from_iterable(parts)))[1:])
