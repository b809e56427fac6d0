"""Batches of a feed as JSON, an object a change. An update is one line.

    {"table": "shop.orders", "op": "update", "ts": "2026-03-14 10:30:00Z", "gtid": "…:14", "file": "binlog.000001",
     "pos": 115895, "row": 0, "cascaded": false, "key": {"id": 1}, "before": {"id": 1, "status": "new"},
     "after": {…}}

(Without spaces between members.) Images hold the columns that the log has, so null is NULL and a column that is left
out is not in the log. `op` is insert, update, delete, truncate or alter; the image that a change does not have is null,
and so is the key of a table that has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.change_files import lines_kernel as kernel
from applier.jobs.change_files.values import AS_JSON, Writers, datetime_texts, texts_of
from applier.jobs.changes.groups import version_at
from applier.mysql.byte_columns import value_bytes
from applier.schema.definition import Column
from keysearch.addresses import address_of

OPERATIONS = ("insert", "update", "update", "delete", "truncate", "alter")
"""By the number of a feed's change type; the row before and the row after an update are one line."""
_DELETE = OPERATIONS.index("delete")
_PREIMAGE, _POSTIMAGE = 1, 2
_MOST_BYTES = 256 << 20
"""Room for the lines of a batch; one that could need more is divided."""
_NO_PLACE = "\0"  # in no column's name


@dataclass(frozen=True)
class Lines:
    """Lines of JSON: line i is text[ends[i - 1]:ends[i]]. `order`, int64[n], ascends: the places of their events in the
    log, by which lines of several tables are ordered."""

    text: np.ndarray
    ends: np.ndarray
    order: np.ndarray


@dataclass(frozen=True)
class Cells:
    """A column of texts for the kernel; `states` is uint8[rows] of GIVEN, NULL, ABSENT."""

    offsets: np.ndarray
    data: np.ndarray
    states: np.ndarray
    mode: int


def _cells(mode: int, texts: pa.Array) -> Cells:
    """The cells of texts, null where these are."""
    nulls = texts.is_null().cast(pa.uint8()).to_numpy(zero_copy_only=False)
    return Cells(*value_bytes(texts), nulls * np.uint8(kernel.NULL), mode)


class Steps:
    """What is written for each line, in order: steps of the kernel, and the columns that they take."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, int, bytes, int, int, int]] = []
        self._open = -1

    def text(self, text: str) -> Steps:
        """The same for each line."""
        return self._add(kernel.TEXT, 0, text, 0, 0)

    def operation(self) -> Steps:
        """The line's operation."""
        return self._add(kernel.OPERATION, 0, "", 0, 0)

    def value(self, name: str, column: int, mode: int, *, last: bool = False) -> Steps:
        """A member, of a column's value in the line's first row; a comma follows unless it is the last one."""
        return self.text(f'"{name}":')._add(kernel.VALUE, 0, "", column, mode).text("" if last else ",")

    def image(self, which: int, members: Sequence[tuple[str, int, int]]) -> Steps:
        """An object with columns of one of the line's rows: their names, numbers and modes."""
        opened = len(self._steps)
        self._add(kernel.OPEN, which, "", 0, 0)
        for name, column, mode in members:
            self._add(kernel.MEMBER, which, f",{orjson.dumps(name).decode()}:", column, mode)
        self._add(kernel.CLOSE, 0, "", 0, 0)
        self._steps[opened] = (*self._steps[opened][:5], len(self._steps))
        return self

    def record(self) -> tuple[np.ndarray, np.ndarray]:
        """The steps as the kernel takes them, and the texts in them, which have to be kept as long."""
        texts = np.frombuffer(b"".join(step[2] for step in self._steps) or b"\0", np.uint8)
        record, at = np.zeros(len(self._steps), kernel.STEP), address_of(texts)
        for number, (kind, row, text, column, mode, jump) in enumerate(self._steps):
            record[number] = (kind, row, at, len(text), column, mode, jump)
            at += len(text)
        return record, texts

    def room(self, columns: Sequence[Cells], lines: int) -> int:
        """Bytes that lines have at most, without their operations."""
        room = 8
        for kind, _, text, column, mode, _ in self._steps:
            room += lines * (len(text) + kernel.CELL_BYTES)
            if kind in (kernel.VALUE, kernel.MEMBER):
                room += kernel.MOST[mode] * len(columns[column].data)
        return room

    def _add(self, kind: int, row: int, text: str, column: int, mode: int) -> Steps:
        self._steps.append((kind, row, text.encode("utf-8", "surrogatepass"), column, mode, 0))
        return self


class JsonLines:
    """Makes lines of a table's batches. `columns` and `key` are as the feed has them."""

    writers: Writers = AS_JSON
    operations: tuple[str, ...] = OPERATIONS

    def __init__(self, table: tuple[str, str], columns: Mapping[str, Column], key: Sequence[str]) -> None:
        self._table, self._columns, self._key = table, columns, key
        self._operations = np.frombuffer("".join(self.operations).encode(), np.uint8)
        self._operation_offsets = np.cumsum([0, *map(len, self.operations)])

    def lines(self, batch: pa.RecordBatch) -> Iterator[Lines]:
        """The lines of a batch, in parts of bounded size."""
        for part in self.divided(batch):
            lines = self._divided(part)
            if not len(lines):
                continue
            cells = [*self._of_table(part), *(_cells(mode, texts) for mode, texts in self._of_change(part))]
            text, ends = self._write(lines, self._steps([column.mode for column in cells]), cells)
            files = part.column("_file")
            starts = np.array([version_at(name, 0, 0) for name in files.dictionary.to_pylist()], np.int64)
            places = starts[files.indices.to_numpy()] | part.column("_pos").to_numpy()
            yield Lines(text, ends, np.maximum.accumulate(places[lines["row"]]))

    def divided(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """A batch in parts whose lines take bounded memory."""
        if batch.num_rows <= 2 or 8 * batch.nbytes <= _MOST_BYTES:
            yield batch
            return
        middle = batch.num_rows // 2
        middle += _types(batch)[middle] == _POSTIMAGE
        for part in (batch.slice(0, middle), batch.slice(middle)):
            yield from self.divided(part)

    def _write(self, lines: np.ndarray, steps: Steps, cells: Sequence[Cells]) -> tuple[np.ndarray, np.ndarray]:
        """The text of lines, and where they end in it."""
        record, texts = steps.record()
        columns = np.zeros(len(cells), kernel.COLUMN)
        for number, column in enumerate(cells):
            columns[number] = tuple(map(address_of, (column.data, column.offsets, column.states)))
        ends = np.empty(len(lines), np.int64)
        most = max(map(len, self.operations))
        out = np.empty(steps.room(cells, len(lines)) + most * len(lines), np.uint8)
        work = np.array((address_of(record), len(record), address_of(lines), len(lines), *map(address_of, (
            columns, self._operations, self._operation_offsets, ends))), kernel.WORK)
        written = kernel.write_lines(address_of(work), address_of(out))
        del texts
        return out[:written], ends

    def _divided(self, batch: pa.RecordBatch) -> np.ndarray:
        """The batch's rows as lines."""
        types = _types(batch)
        first = np.flatnonzero(types != _POSTIMAGE)
        kinds = types[first]
        lines = np.zeros(len(first), kernel.LINE)
        lines["operation"], lines["row"] = kinds, first
        has_before = (kinds == _PREIMAGE) | (kinds == _DELETE)
        lines["before"] = np.where(has_before, first, -1)
        lines["after"] = np.where(kinds == _PREIMAGE, first + 1, np.where(kinds == 0, first, -1))
        return lines

    def _of_table(self, batch: pa.RecordBatch) -> list[Cells]:
        """The table's columns."""
        patterns, missing = _missing(batch.column("_present"), list(self._columns))
        found = []
        for number, (name, column) in enumerate(self._columns.items()):
            cells = _cells(*texts_of(batch.column(name), column.type, self.writers))
            if patterns is not None:
                cells.states[missing[patterns, number]] = kernel.ABSENT
            found.append(cells)
        return found

    def _of_change(self, batch: pa.RecordBatch) -> list[tuple[int, pa.Array]]:
        """What is said of a change, as modes and texts, behind the table's columns."""
        return [(kernel.QUOTED, datetime_texts(batch.column("_commit_timestamp"), "s")), *places(batch),
                (kernel.PLAIN, batch.column("_cascaded").cast(pa.string()))]

    def _steps(self, modes: Sequence[int]) -> Steps:
        n = len(self._columns)
        steps = Steps().text(f'{{"table":{quoted(".".join(self._table))},"op":"').operation().text('",')
        for number, name in enumerate(("ts", "gtid", "file", "pos", "row", "cascaded"), n):
            steps.value(name, number, modes[number])
        members = self._members(modes)
        steps.text('"key":')
        if self._key:
            steps.image(kernel.FIRST, [member for member in members if member[0] in self._key])
        else:
            steps.text("null")
        steps.text(',"before":').image(kernel.BEFORE, members)
        return steps.text(',"after":').image(kernel.AFTER, members).text("}\n")

    def _members(self, modes: Sequence[int]) -> list[tuple[str, int, int]]:
        return [(name, number, modes[number]) for number, name in enumerate(self._columns)]


def places(batch: pa.RecordBatch) -> list[tuple[int, pa.Array]]:
    """GTID, file, position and row, as modes and texts."""
    return [(kernel.QUOTED, batch.column("_gtid").cast(pa.string())),
            (kernel.QUOTED, batch.column("_file").cast(pa.string())),
            (kernel.PLAIN, batch.column("_pos").cast(pa.string())),
            (kernel.PLAIN, batch.column("_row").cast(pa.string()))]


def _types(batch: pa.RecordBatch) -> np.ndarray:
    types: np.ndarray = batch.column("_change_type").indices.to_numpy()
    return types


def _missing(present: pa.Array, names: list[str]) -> tuple[np.ndarray | None, np.ndarray]:
    """Of images: which pattern (int[rows]) each has, and which columns a pattern does not have (bool[patterns,
    columns]); None where all images have all columns."""
    if present.null_count == len(present):
        return None, np.empty((0, 0), np.bool_)
    joined = pc.binary_join(present, _NO_PLACE).dictionary_encode()
    missing = [np.zeros(len(names), np.bool_)]
    for pattern in joined.dictionary.to_pylist():
        known = set(pattern.split(_NO_PLACE))
        missing.append(np.array([name not in known for name in names], np.bool_))
    patterns: np.ndarray = joined.indices.cast(pa.int64()).fill_null(-1).to_numpy() + 1
    return patterns, np.array(missing)


def quoted(text: str) -> str:
    """A text as a string of JSON."""
    return orjson.dumps(text).decode()


