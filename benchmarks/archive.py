"""Logs being written for benchmarks: their files, and sysbench's tables with what each row holds."""

import os

import numpy as np
import pyarrow as pa

from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import CreateTable
from applier.schema.definition import TableDefinition
from applier.writer.column_encoder import binary_array
from applier.writer.row_encoder import Image, RowChanges
from applier.writer.writer import BinlogWriter

STATEMENT_ROWS = 2500  # of a multi-row insert
_SBTEST = """CREATE TABLE {name} (
  id {key} NOT NULL, k int NOT NULL DEFAULT 0, c char(120) NOT NULL DEFAULT '', pad char(60) NOT NULL DEFAULT ''{keys}
) DEFAULT CHARSET=utf8mb4"""


class Archive:
    """Files being written: `log` is the newest; `size` is how many bytes they are to have in all; `file_bytes`, how
    many a file has until the next one begins, None: until `begin_file`."""

    def __init__(self, folder: str, size: int, flavour: str = "mysql") -> None:
        os.makedirs(folder)
        self.size, self._folder, self._closed_bytes = size, folder, 0
        self.file_bytes: int | None = size // 2
        self.log = BinlogWriter(os.path.join(folder, "binlog.000001"), flavour=flavour)
        self.files = [self.log.path]
        self.log.query("CREATE DATABASE bench")

    @property
    def share(self) -> float:
        """How much of the size is written; a new file begins where the newest has its bytes."""
        written = self._closed_bytes + self.log.position
        if self.file_bytes is not None and self.log.position > self.file_bytes and written < self.size:
            self.begin_file()
        return written / self.size

    def begin_file(self) -> None:
        """Continue in another file."""
        self._closed_bytes += self.log.position
        self.log = self.log.rotate(os.path.join(self._folder, f"binlog.{len(self.files) + 1:06d}"))
        self.files.append(self.log.path)

    def create(self, sql: str) -> TableDefinition:
        """Log a CREATE TABLE, and give what it creates."""
        self.log.query(sql, "bench")
        [change] = parse_statement(sql, default_database="bench", flavour=self.log.flavour)
        assert isinstance(change, CreateTable)
        return change.definition


class SbtestTable:
    """One of sysbench's tables, with what each of its rows holds now."""

    def __init__(self, definition: TableDefinition, rows: int, random: np.random.Generator) -> None:
        self.definition, self._random = definition, random
        self._text_key = definition.columns[0].type.base != "int"
        self.k = random.integers(0, rows, rows).astype(np.int32)
        self.c, self.pad = digits(random, rows, 10), digits(random, rows, 5)

    def __len__(self) -> int:
        return len(self.k)

    def key(self, rows: np.ndarray) -> Image:
        """The key of each row: its number from 1 on, or a text of 36 characters without an order."""
        if not self._text_key:
            return {"id": pa.array((rows + 1).astype(np.int32))}
        scattered = (rows + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        nibbles = scattered[:, None] >> np.arange(60, -4, -4, dtype=np.uint64) & np.uint64(15)
        texts = np.hstack(
            [np.frombuffer(b"0123456789abcdef", np.uint8)[nibbles], constant(len(rows), b"-4000-8000-0123456")]
        )
        return {"id": binary_array(np.full(len(rows), 34), texts)}

    def image(self, rows: np.ndarray) -> Image:
        """The rows as they are."""
        return {**self.key(rows), "k": pa.array(self.k[rows]), "c": texts(self.c[rows]), "pad": texts(self.pad[rows])}

    def update_k(self, rows: np.ndarray, full: bool) -> RowChanges:
        """sysbench's index update: k = k + 1."""
        before = self.image(rows)
        self.k[rows] += 1
        return self._update(rows, before, {"k": pa.array(self.k[rows])}, full)

    def update_c(self, rows: np.ndarray, full: bool) -> RowChanges:
        """sysbench's update of a column without an index."""
        before = self.image(rows)
        self.c[rows] = digits(self._random, len(rows), 10)
        return self._update(rows, before, {"c": texts(self.c[rows])}, full)

    def delete_and_insert(self, rows: np.ndarray, full: bool) -> list[RowChanges]:
        """Take the rows out, and put others in their place."""
        delete = RowChanges(self.definition, before=self.image(rows) if full else self.key(rows))
        self.k[rows] = self._random.integers(0, len(self), len(rows))
        self.c[rows], self.pad[rows] = digits(self._random, len(rows), 10), digits(self._random, len(rows), 5)
        return [delete, RowChanges(self.definition, after=self.image(rows))]

    def _update(self, rows: np.ndarray, before: Image, assigned: Image, full: bool) -> RowChanges:
        if full:
            return RowChanges(self.definition, before=before, after=self.image(rows))
        return RowChanges(self.definition, before=self.key(rows), after=assigned)


def filled_table(archive: Archive, name: str, key: str, keys: str, rows: int, random: np.random.Generator,
                  alike: int = 1) -> SbtestTable:
    """`alike`: how many rows have the same `k`; 1: it is random."""
    table = SbtestTable(archive.create(_SBTEST.format(name=name, key=key, keys=keys)), rows, random)
    if alike > 1:
        table.k[:] = np.arange(rows) // alike
    for first in range(0, rows, STATEMENT_ROWS):
        archive.log.timestamp += archive.share < 1
        with archive.log.transaction():
            archive.log.rows(
                RowChanges(table.definition, after=table.image(np.arange(first, min(first + STATEMENT_ROWS, rows))))
            )
    return table


def digits(random: np.random.Generator, count: int, groups: int) -> np.ndarray:
    """sysbench's texts: groups of eleven random digits, with dashes between; uint8, one row each."""
    characters = random.integers(48, 58, (count, groups, 12), np.uint8)
    characters[:, :, 11] = ord("-")
    return characters.reshape(count, groups * 12)[:, :-1]


def constant(count: int, text: bytes) -> np.ndarray:
    """The same text in each row; uint8, one row each."""
    return np.broadcast_to(np.frombuffer(text, np.uint8), (count, len(text)))


def texts(characters: np.ndarray) -> pa.BinaryArray:
    """Rows of characters (uint8) as values."""
    return binary_array(np.full(len(characters), characters.shape[1]), characters)
