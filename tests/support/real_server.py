"""The rows of real servers: recorded cases, and snapshots judged by them.

A case is a folder in recorded/cases: `case.json` (server, and the binlog positions of its marks), `binlog.NNNNNN`, and
the state of all tables at the end (`expected/`) and at each mark (`expected@MARK/`): a file DB.TABLE.jsonl, whose first
line has the names and SQL types of the columns, and each other line one row, in no order. VIRTUAL columns are omitted.

Cells are JSON. Integers, BIT and YEAR are numbers; DECIMAL its digits; FLOAT and DOUBLE the shortest text of the
double; dates and times ISO text with six digits of a second, TIMESTAMP in UTC; TIME a number of microseconds; text,
ENUM and SET a string; bytes hexadecimal; VECTOR a list of such texts as FLOAT has; JSON a text with sorted members.
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.result import ReplayResult
from applier.options import ReplayOptions
from applier.snapshot import manifest
from tests.support.folders import CASES


@dataclass(frozen=True)
class Mark:
    """A position in a case's log whose state was recorded."""

    name: str
    file: str
    offset: int
    gtid_set: str

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True)
class Case:
    """A recorded case; `mark` None means its end."""

    name: str

    @property
    def folder(self) -> Path:
        return CASES / self.name

    @property
    def server(self) -> str:
        return self._description["server"]

    @property
    def binlogs(self) -> list[Path]:
        return sorted(self.folder.glob("binlog.0*"))

    @property
    def marks(self) -> list[Mark]:
        return [Mark(name, place["file"], place["position"], place["gtid_set"])
                for name, place in self._description.get("marks", {}).items()]

    def mark(self, name: str) -> Mark:
        return next(mark for mark in self.marks if mark.name == name)

    def expected(self, mark: Mark | None = None) -> Path:
        return self.folder / ("expected" if mark is None else f"expected@{mark.name}")

    @property
    def _description(self) -> dict:
        return json.loads((self.folder / "case.json").read_text())


def replayed(case: Case, output: Path, *, mark: Mark | None = None, cores: int = 2, **options) -> ReplayResult:
    """Replay a case's log, up to a mark, in this process; `cores` tasks at most where the work is small."""
    if mark is not None:
        options["stop_position"] = (mark.file, mark.offset)
    return replay_with(ThisProcess(cores), ReplayOptions(tuple(map(str, case.binlogs)), str(output), **options))


def differences(snapshot: Path, expected: Path, without: tuple[str, ...] = ()) -> list[str]:
    """Return lines about rows that only the snapshot or only the server has; `without` these tables.

    The judgement covers the tables that exist, each one's columns and their Arrow types, and its rows as a multiset.
    """
    wanted = {}
    for file in expected.glob("*.jsonl"):
        if (name := file.name.removesuffix(".jsonl")) not in without:
            with open(file, encoding="utf-8") as lines:
                wanted[name] = json.loads(next(lines)), rows_of(map(json.loads, lines))
    return differences_of(snapshot, wanted)


def rows_of(rows: Iterable[list]) -> Counter:
    """Rows of cells as a multiset."""
    return Counter(map(_hashable, rows))


Wanted = Mapping[str, tuple[list[list[str]], Counter]]
"""Columns and rows of tables, by their names."""


def differences_of(snapshot: Path, wanted: Wanted, looked_at: Container[str] | None = None,
                   past: Wanted | None = None) -> list[str]:
    """The same, given the columns and rows of each table by its name; rows are read of the tables `looked_at` only, if
    some are given. `past` are those of all that a system-versioned table ever held."""
    loaded = manifest.load(str(snapshot))
    held, root = {f"{table.database}.{table.name}": table for table in loaded.tables}, Path(loaded.root)
    found = [f"{name}: not in the snapshot" for name in sorted(wanted.keys() - held.keys())]
    found += [f"{name}: only in the snapshot" for name in sorted(held.keys() - wanted.keys())]
    for name in sorted(wanted.keys() & held.keys()):
        if looked_at is not None and name not in looked_at:
            continue
        tables = [pq.read_table(root / file.path, partitioning=None) for file in held[name].files]
        found += [f"{name}: {line}" for line in _table_differences(tables, *wanted[name])]
        if past is not None and name in past:
            tables = [pq.read_table(root / file.path, partitioning=None) for file in held[name].history]
            found += [f"{name}: its past: {line}" for line in _table_differences(tables, *past[name])]
    return found


def read_differences(table: pa.Table, columns: list[list[str]], rows: Counter) -> list[str]:
    """The same of one table as a reader of a published format has it: readers have types of their own for the same
    values."""
    if table.column_names != [name for name, _ in columns]:
        return [f"columns {table.column_names}, and not {columns}"]
    types = [pa.field(name, arrow_type(sql)) for name, sql in columns]
    return _table_differences([table.cast(pa.schema(types))], columns, rows)


def _table_differences(tables: list[pa.Table], columns: list[list[str]], rows: Counter) -> list[str]:
    shape = [(name, arrow_type(sql)) for name, sql in columns]
    for table in tables:
        if (has := list(zip(table.schema.names, table.schema.types, strict=True))) != shape:
            return [f"columns {sorted(set(has) ^ set(shape), key=str) or 'in another order'}"]
    held: Counter = Counter()
    for table in tables:
        held.update(zip(*(_cells(table.column(index), sql) for index, (_, sql) in enumerate(columns)), strict=True))
    wrong = {"missing": rows - held, "unexpected": held - rows}
    return [f"{count} x {what} {str(row)[:400]}" for what, more in wrong.items() for row, count in more.most_common(3)]


_INTEGERS = {"tinyint": (pa.int8(), pa.int16()), "smallint": (pa.int16(), pa.int32()),
             "mediumint": (pa.int32(), pa.int32()), "int": (pa.int32(), pa.int64()),
             "bigint": (pa.int64(), pa.decimal128(20, 0))}
_BYTES = {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "geometry", "point", "linestring",
          "polygon", "multipoint", "multilinestring", "multipolygon", "geomcollection", "geometrycollection"}
_OTHERS = {"float": pa.float32(), "double": pa.float64(), "date": pa.date32(), "datetime": pa.timestamp("us"),
           "timestamp": pa.timestamp("us", "UTC"), "time": pa.int64(), "year": pa.int16(),
           "vector": pa.list_(pa.float32())}


def _base(sql: str) -> str:
    return re.match(r"\w+", sql.lower())[0]


def arrow_type(sql: str) -> pa.DataType:
    """Return the type in files of a snapshot for a column type as information_schema writes it."""
    base, numbers = _base(sql), [int(number) for number in re.findall(r"\d+", re.match(r"[^']*", sql)[0])]
    if base in _INTEGERS:
        return _INTEGERS[base]["unsigned" in sql]
    if base == "decimal":
        return pa.decimal128(*numbers[:2]) if numbers[0] <= 38 else pa.string()
    if base == "bit":
        return pa.decimal128(20, 0) if numbers[0] == 64 else pa.int64()
    if base in _BYTES:
        return pa.binary()
    return _OTHERS.get(base, pa.string())


def _cells(column: pa.ChunkedArray, sql: str) -> list:
    """Return the values of a column in the form of the recorded files."""
    base = _base(sql)
    if base == "time":
        return column.cast(pa.int64()).to_pylist()
    write = _BY_TYPE.get(base) or (bytes.hex if base in _BYTES else None)
    values = column.to_pylist()
    return values if write is None else [None if value is None else write(value) for value in values]


def _datetime(value) -> str:
    return (value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value).isoformat(" ", "microseconds")


_BY_TYPE = {
    "bit": int, "bigint": int, "decimal": lambda value: format(value, "f") if not isinstance(value, str) else value,
    "float": repr, "double": repr, "date": lambda value: value.isoformat(), "datetime": _datetime,
    "timestamp": _datetime,
    "vector": lambda value: tuple(map(repr, value)),
    "json": lambda value: json.dumps(json.loads(value), sort_keys=True, ensure_ascii=False),
}


def _hashable(row: list) -> tuple:
    return tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row)
