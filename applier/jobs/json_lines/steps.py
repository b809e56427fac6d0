"""The parts of lines of JSON: constant texts, and the cells of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson
import pyarrow as pa

from applier.jobs.json_lines import lines_kernel as kernel
from applier.mysql.values.byte_columns import value_bytes
from keysearch.addresses import address_of

PLAIN, QUOTED, DOCUMENT, BASE64, GEOMETRY = (
    kernel.PLAIN, kernel.QUOTED, kernel.DOCUMENT, kernel.BASE64, kernel.GEOMETRY)
"""Modes: how a value's bytes are written."""
FIRST, BEFORE, AFTER = kernel.FIRST, kernel.BEFORE, kernel.AFTER
"""Which of a line's rows."""
LINE = kernel.LINE
"""A line: the number of its operation, and rows."""


@dataclass(frozen=True)
class Cells:
    """A column of texts for the kernel; `states` is uint8[rows] of GIVEN, NULL, ABSENT."""

    offsets: np.ndarray
    data: np.ndarray
    states: np.ndarray
    mode: int

    def leave_out(self, rows: np.ndarray) -> None:
        """Have no member where this is true: bool[rows]."""
        self.states[rows] = kernel.ABSENT


def cells_of(mode: int, texts: pa.Array) -> Cells:
    """Return the cells of texts, null where these are."""
    nulls = texts.is_null().cast(pa.uint8()).to_numpy(zero_copy_only=False)
    return Cells(*value_bytes(texts), nulls * np.uint8(kernel.NULL), mode)


class Steps:
    """The steps that write a line, in order, and the columns that they use. `operations` are texts, one of which each
    line has."""

    def __init__(self, operations: Sequence[str] = ()) -> None:
        self._operations = [operation.encode() for operation in operations]
        self._steps: list[tuple[int, int, bytes, int, int, int]] = []

    def text(self, text: str) -> Steps:
        """The same for each line."""
        return self._add(kernel.TEXT, 0, text, 0, 0)

    def operation(self) -> Steps:
        """Return the line's operation."""
        return self._add(kernel.OPERATION, 0, "", 0, 0)

    def value(self, name: str, column: int, mode: int, *, last: bool = False) -> Steps:
        """Return a member, of a column's value in the line's first row; a comma follows unless it is the last one."""
        return self.text(f'"{name}":')._add(kernel.VALUE, 0, "", column, mode).text("" if last else ",")

    def member(self, name: str, column: int, mode: int) -> Steps:
        """The same where the column has a value or null, behind a comma; nothing where it is left out."""
        return self._add(kernel.MEMBER, kernel.OWN, f',"{name}":', column, mode)

    def image(self, which: int, members: Sequence[tuple[str, int, int]]) -> Steps:
        """Return an object with columns of one of the line's rows: their names, numbers and modes."""
        opened = len(self._steps)
        self._add(kernel.OPEN, which, "", 0, 0)
        for name, column, mode in members:
            self._add(kernel.MEMBER, which, f",{quoted(name)}:", column, mode)
        self._add(kernel.CLOSE, 0, "", 0, 0)
        self._steps[opened] = (*self._steps[opened][:5], len(self._steps))
        return self

    def write(self, lines: np.ndarray, cells: Sequence[Cells]) -> tuple[np.ndarray, np.ndarray]:
        """Return the text of lines (of LINE), and where they end in it."""
        texts = np.frombuffer(b"".join(step[2] for step in self._steps) + b"\0", np.uint8)
        steps, at = np.zeros(len(self._steps), kernel.STEP), address_of(texts)
        for number, (kind, row, text, column, mode, jump) in enumerate(self._steps):
            steps[number] = (kind, row, at, len(text), column, mode, jump)
            at += len(text)
        columns = np.zeros(len(cells), kernel.COLUMN)
        for number, one in enumerate(cells):
            data = address_of(one.data)
            columns[number] = (data, data + len(one.data), address_of(one.offsets), address_of(one.states))
        operations = np.frombuffer(b"".join(self._operations) + b"\0", np.uint8)
        operation_offsets = np.cumsum([0, *map(len, self._operations)])
        out, ends = np.empty(self._room(cells, len(lines)), np.uint8), np.empty(len(lines), np.int64)
        work = np.array((address_of(steps), len(steps), address_of(lines), len(lines), *map(address_of, (
            columns, operations, operation_offsets, ends))), kernel.WORK)
        written = kernel.write_lines(address_of(work), address_of(out))
        return out[:written], ends

    def _room(self, cells: Sequence[Cells], lines: int) -> int:
        """Return the most bytes that lines have, including those written beyond them."""
        room, longest = kernel.CELL_BYTES, max(map(len, self._operations), default=0)
        for kind, _, text, column, mode, _ in self._steps:
            room += lines * (len(text) + kernel.CELL_BYTES + (longest if kind == kernel.OPERATION else 0))
            if kind in (kernel.VALUE, kernel.MEMBER):
                room += kernel.MOST[mode] * len(cells[column].data)
        return room

    def _add(self, kind: int, row: int, text: str, column: int, mode: int) -> Steps:
        self._steps.append((kind, row, text.encode("utf-8", "surrogatepass"), column, mode, 0))
        return self


def quoted(text: str) -> str:
    """Return a text as a string of JSON."""
    return orjson.dumps(text).decode()
