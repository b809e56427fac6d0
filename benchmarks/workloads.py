"""Logs to measure with, written by the project's own binlog writer; the same bytes for the same size.

    oltp      8 tables filled by multi-row inserts, then transactions of two updates, a delete and an insert, each of a
              random row (what sysbench oltp_write_only does), full images
    minimal   the same with minimal images: a key before, what was assigned after
    uuid      the same as oltp, with a VARBINARY(36) key
    conflicts the same as oltp, with inserts of existing rows: one change in a hundred, for idempotent mode
    single    the same as oltp, of one table
    large     the same as oltp, of 4 million rows at most, in files of 1 GB
    bulk      multi-row inserts only
    types     29 columns of all kinds, one value in ten NULL; inserts, then updates of every other row, full images

and, with the rows in the first file and all changes to them in the second, in full from 440 MB on and less below:

    keyed     a million rows with an integer key; as many changes, two updates and a delete in a transaction
    keyless   the same without any key
    alike     200,000 rows, and 200,000 updates; the only key is not unique and has 100 rows for each value
    cascades  a million parents with 10 children each; a tenth of the parents is deleted, and a foreign key deletes
              their children, which is not in the log; MariaDB's
    documents 1,000 JSON documents of 10 KB (that many from 40 MB on), and 100 partial updates of each, minimal images

Every before-image is what the row really was, so servers and strict replays take these logs.
"""

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.writer.column_encoder import binary_array
from applier.writer.row_encoder import Image, RowChanges
from benchmarks import changed_rows
from benchmarks.archive import STATEMENT_ROWS, Archive, constant, digits, filled_table

_ROW_BYTES = 195  # of sysbench's table in the log, about
_FILLED_SHARE = 0.35  # of an OLTP log is inserts before the transactions
_LARGE_ROWS, _LARGE_FILE_BYTES = 4_000_000, 1_000_000_000
_BLOCK = 100  # transactions that are written by one call; no row is changed twice in one
_TABLES = 8
_KEYS = ", PRIMARY KEY (id), KEY k_1 (k)"
_TYPES = """CREATE TABLE types (
  id bigint unsigned NOT NULL PRIMARY KEY, ti tinyint, si smallint unsigned, mi mediumint, i int, b bigint, f float,
  d double, d1 decimal(10,2), d2 decimal(30,10), bi bit(12), y year, dt date, dtm datetime, dtm6 datetime(6),
  ts timestamp NULL, ts3 timestamp(3) NULL, t time, t6 time(6), c char(20), v varchar(60), vw varchar(400),
  bin binary(16), vb varbinary(40), tx text, bl blob, e enum('new','paid','sent','lost'),
  s set('a','b','c','d','e','f','g','h','i'), j json
) DEFAULT CHARSET=utf8mb4"""


@dataclass(frozen=True)
class Workload:
    """A log: its files, what is in it, and the database that it makes (None where it is not of this module)."""

    name: str
    files: tuple[str, ...]
    database: str | None = None

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(os.path.getsize, self.files))


def make(name: str, megabytes: float, directory: str) -> Workload:
    """The workload of that name, about this many megabytes, in two binlog files or more under `directory`."""
    archive = Archive(os.path.join(directory, name), int(megabytes * 1e6), _FLAVOURS.get(name, "mysql"))
    _MAKERS[name](archive)
    archive.log.close()
    return Workload(name, tuple(archive.files), "bench")


def _oltp(archive: Archive, key: str = "int", full: bool = True, keys: str = _KEYS, again: int = 0,
          most_rows: int | None = None, n_tables: int = _TABLES) -> None:
    """`keys`: of the tables' definitions. `again`: how many rows of each hundred transactions are inserted twice.
    `most_rows`: of all tables."""
    random = np.random.default_rng(1)
    filled = int(archive.size * _FILLED_SHARE) // _ROW_BYTES
    rows = max(4 * _BLOCK, min(filled, most_rows or filled) // n_tables)
    tables = [filled_table(archive, f"sbtest{number + 1}", key, keys, rows, random) for number in range(n_tables)]
    while archive.share < 1:
        chosen = [tables[number] for number in random.integers(0, n_tables, 3)]
        parts = {id(table): iter(np.split(random.choice(rows, 3 * _BLOCK, replace=False), 3)) for table in chosen}
        picks = [next(parts[id(table)]) for table in chosen]
        changes = [chosen[0].update_k(picks[0], full), chosen[1].update_c(picks[1], full)]
        archive.log.timestamp += 1
        archive.log.transactions(changes + chosen[2].delete_and_insert(picks[2], full))
        if again:
            archive.log.transactions([RowChanges(chosen[2].definition, after=chosen[2].image(picks[2][:again]))])


def _large(archive: Archive) -> None:
    archive.file_bytes = min(_LARGE_FILE_BYTES, archive.size // 2)
    _oltp(archive, most_rows=_LARGE_ROWS)


def _bulk(archive: Archive) -> None:
    random = np.random.default_rng(2)
    for number in range(4):
        filled_table(archive, f"sbtest{number + 1}", "int", _KEYS, max(1, archive.size // _ROW_BYTES // 4), random)


def _types(archive: Archive) -> None:
    random = np.random.default_rng(3)
    table = archive.create(_TYPES)
    first = 0
    while archive.share < 1:
        ids, half = np.arange(first, first + STATEMENT_ROWS), np.arange(0, STATEMENT_ROWS, 2)
        old, new = _values(ids, random), _values(ids[half], random)
        before = {name: values.take(pa.array(half)) for name, values in old.items()}
        archive.log.timestamp += 1
        for change in (RowChanges(table, after=old), RowChanges(table, before=before, after=new)):
            with archive.log.transaction():
                archive.log.rows(change)
        first += STATEMENT_ROWS


_MAKERS: dict[str, Callable[[Archive], None]] = {
    "oltp": _oltp,
    "minimal": lambda archive: _oltp(archive, full=False),
    "large": _large,
    "single": lambda archive: _oltp(archive, n_tables=1),
    "bulk": _bulk,
    "types": _types,
    "uuid": lambda archive: _oltp(archive, key="varbinary(36)"),
    "conflicts": lambda archive: _oltp(archive, again=_BLOCK // 25),
    "keyed": changed_rows.keyed,
    "keyless": changed_rows.keyless,
    "alike": changed_rows.alike,
    "documents": changed_rows.documents,
    "cascades": changed_rows.cascades,
}
NAMES = tuple(_MAKERS)
_FLAVOURS = {"cascades": "mariadb"}
"""MySQL has logged what foreign keys do since 9.6."""


def _values(ids: np.ndarray, random: np.random.Generator) -> Image:
    """Rows of the table of all types: `ids` its keys, all else random, one in ten NULL."""
    count = len(ids)
    letters = digits(random, count, 10)

    def integers(low: int, high: int, kind: pa.DataType) -> pa.Array:
        return pa.array(random.integers(low, high, count)).cast(kind)

    def text(longest: int) -> pa.Array:
        lengths = random.integers(0, longest + 1, count)
        return binary_array(lengths, np.tile(letters, 4)[:, :longest][np.arange(longest) < lengths[:, None]])

    def datetimes(kind: pa.DataType, step: int) -> pa.Array:
        return pa.array(random.integers(10**15, 2 * 10**15, count) // step * step, kind)

    clock = random.integers(-3 * 10**12, 3 * 10**12, count)
    values = {
        "ti": integers(-128, 128, pa.int8()),
        "si": integers(-(2**15), 2**15, pa.int16()),
        "mi": integers(-(2**23), 2**23, pa.int32()),
        "i": integers(-(2**31), 2**31, pa.int32()),
        "b": integers(-(2**62), 2**62, pa.int64()),
        "f": pa.array(random.normal(size=count).astype(np.float32)),
        "d": pa.array(random.normal(size=count)),
        "d1": _decimals(random.integers(-(10**10), 10**10, count), 10, 2),
        "d2": _decimals(random.integers(-(2**62), 2**62, count), 30, 10),
        "bi": integers(0, 2**12, pa.uint64()),
        "y": integers(1901, 2156, pa.int16()),
        "dt": integers(-100_000, 100_000, pa.int32()).cast(pa.date32()),
        "dtm": datetimes(pa.timestamp("us"), 10**6),
        "dtm6": datetimes(pa.timestamp("us"), 1),
        "ts": datetimes(pa.timestamp("us", "UTC"), 10**6),
        "ts3": datetimes(pa.timestamp("us", "UTC"), 1000),
        "t": pa.array(np.fix(clock / 10**6).astype(np.int64) * 10**6, pa.duration("us")),
        "t6": pa.array(clock, pa.duration("us")),
        "c": text(20),
        "v": text(60),
        "vw": text(200),
        "bin": text(16),
        "vb": text(40),
        "tx": text(150),
        "bl": text(150),
        "e": integers(1, 5, pa.uint16()),
        "s": integers(0, 2**9, pa.uint64()),
        "j": _documents(random.integers(-(2**15), 2**15, count)),
    }
    nulls = {name: pa.array(random.random(count) < 0.1) for name in values}
    return {"id": pa.array(ids)} | {
        name: pc.if_else(nulls[name], pa.scalar(None, array.type), array) for name, array in values.items()
    }


def _decimals(digits: np.ndarray, precision: int, scale: int) -> pa.Array:
    """Numbers whose digits without the point are given."""
    words = np.stack([digits, digits >> 63], axis=1)
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(digits), [None, pa.py_buffer(words)])


def _documents(numbers: np.ndarray) -> pa.BinaryArray:
    """{"n": number} in MySQL's binary JSON: an object of one member, whose key is at byte 11, the int16 inlined."""
    head = struct.pack("<BHHHHB", 0, 1, 12, 11, 1, 5)
    values = np.ascontiguousarray(numbers, "<i2").view(np.uint8).reshape(-1, 2)
    return binary_array(
        np.full(len(numbers), 13), np.hstack([constant(len(numbers), head), values, constant(len(numbers), b"n")])
    )
