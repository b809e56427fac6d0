"""Row layouts: the content of one image of a table, compiled to the steps that `image_kernel` runs.

A layout is a table map's columns with one bitmap of present columns. Python sees each distinct layout once.

    ColumnPlan      how a column's value is read, and the resulting raw Arrow type
    ImageBuffers    the destination of the values of one image: a reusable buffer for each selected column
    ImageProgram    the steps for one layout into one set of buffers
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from applier.binlog.events.table_map import TableMap
from applier.binlog.rows import image_kernel as k
from applier.errors import UnsupportedEvent
from applier.mysql.wire_types import FORMS, Shape, WireForm
from keysearch.addresses import address_of

NO_NULLS = np.zeros(512, np.uint8)
"""The NULL bitmap of a row without NULLs."""
MOST_BYTES = (1 << 31) - 1
"""The largest offset of a string column."""
_DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
_OLD_TIME_BYTES = (3, 4, 4, 5, 5, 5, 6)
_OLD_DATETIME_BYTES = (8, 6, 6, 7, 7, 7, 8)
_OLD_TIMESTAMP_BYTES = (4, 5, 5, 6, 6, 7, 7)


@dataclasses.dataclass(frozen=True)
class ColumnPlan:
    """How a column is read.

    `need` is the number of bytes that must exist before the value (of a string: its length prefix) is read, `width` the
    size in the log of a value without a length prefix (0 for strings), `arrow` the raw type of the output.
    """

    operation: int
    need: int
    meta: int
    width: int
    arrow: pa.DataType

    @property
    def is_bytes(self) -> bool:
        return k.BYTES1 <= self.operation <= k.BYTES_N

    def as_key(self, unsigned: bool) -> ColumnPlan:
        """Return the plan that outputs the same integer as an int64 in the value's order (of BIGINT UNSIGNED, the top
        bit is inverted)."""
        return dataclasses.replace(self, operation=k.KEY_INT, meta=int(unsigned), arrow=pa.int64())

    def as_unsigned(self) -> ColumnPlan:
        """Return the plan that outputs the same integer as an unsigned type (of MEDIUMINT, the lower 24 bits are the
        number)."""
        return dataclasses.replace(self, arrow=_UNSIGNED[self.arrow])

    def as_log_bytes(self) -> ColumnPlan:
        """Return the plan that outputs the value's bytes as logged (fixed width only)."""
        return dataclasses.replace(self, operation=k.FIXED, arrow=pa.binary(self.width))


def decimal_bytes(precision: int, scale: int) -> int:
    """Return the size of a DECIMAL(precision, scale) in the log: 4 bytes for nine digits, fewer for the remaining ones.
    """
    whole = precision - scale
    return whole // 9 * 4 + _DIGIT_BYTES[whole % 9] + scale // 9 * 4 + _DIGIT_BYTES[scale % 9]


def _fixed(operation: int, width: int, arrow: pa.DataType, meta: int = 0) -> ColumnPlan:
    return ColumnPlan(operation, width, meta, width, arrow)


def _string(prefix: int) -> ColumnPlan:
    operation = {1: k.BYTES1, 2: k.BYTES2}.get(prefix, k.BYTES_N)
    return ColumnPlan(operation, prefix, prefix, 0, pa.binary())


_UNSIGNED = {pa.int8(): pa.uint8(), pa.int16(): pa.uint16(), pa.int32(): pa.uint32(), pa.int64(): pa.uint64()}
_MICROS, _UTC_MICROS, _DURATION = pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.duration("us")
_INTEGERS = {1: _fixed(k.WORD1, 1, pa.int8()), 2: _fixed(k.WORD2, 2, pa.int16()), 3: _fixed(k.INT24, 3, pa.int32()),
             4: _fixed(k.WORD4, 4, pa.int32()), 8: _fixed(k.WORD8, 8, pa.int64())}
_FLOATS = {4: _fixed(k.WORD4, 4, pa.float32()), 8: _fixed(k.WORD8, 8, pa.float64())}


def plan_column(wire_type: int, metadata: int, digits: int | None = None) -> ColumnPlan:
    """Return how a column is read. `digits`: the fractional digits of its definition, which the old temporal types
    need, since the log does not have them. Raises UnsupportedEvent for a type that no rows event can contain."""
    form = FORMS.get(wire_type)
    plan = None if form is None else PLANNERS[form.shape](form, metadata, digits or 0)
    if plan is None:
        raise UnsupportedEvent(f"a column of type {wire_type} with metadata {metadata}", errno=1610,
                               hint="the file is damaged, or newer than this program")
    return plan


def _decimal(form: WireForm, metadata: int, digits: int) -> ColumnPlan | None:
    precision, scale = metadata >> 8, metadata & 255
    if not (0 < precision <= 65 and scale <= min(precision, 38)):
        return None
    width = decimal_bytes(precision, scale)
    if precision <= 38:
        return _fixed(k.DECIMAL_128, width, pa.decimal128(precision, scale), metadata)
    return _fixed(k.FIXED, width, pa.binary(width), metadata)


def _bits(form: WireForm, metadata: int, digits: int) -> ColumnPlan | None:
    width = (metadata >> 8) + (1 if metadata & 255 else 0)
    return _fixed(k.BITS, width, pa.uint64()) if 1 <= width <= 8 and metadata & 255 < 8 else None


def _temporal(operation: int, arrow: pa.DataType) -> _Planner:
    """Return the planner of a temporal type. The metadata is the number of fractional digits; two of them take a byte.
    """
    def plan(form: WireForm, metadata: int, digits: int) -> ColumnPlan | None:
        return _fixed(operation, form.width + (metadata + 1) // 2, arrow, metadata) if metadata <= 6 else None

    return plan


def _old_temporal(operation: int, widths: Sequence[int], arrow: pa.DataType) -> _Planner:
    """Return the planner of an old temporal type, given its `widths` by the number of fractional digits."""
    return lambda form, metadata, digits: _fixed(operation, widths[digits], arrow, digits)


def _number(most: int, arrow: pa.DataType) -> _Planner:
    """Return the planner of ENUM or SET: a value has 1 to `most` bytes, according to the metadata."""
    return lambda form, metadata, digits: _fixed(k.UNSIGNED, metadata, arrow, most) if 1 <= metadata <= most else None


_Planner = Callable[[WireForm, int, int], ColumnPlan | None]
PLANNERS: dict[Shape, _Planner] = {
    Shape.INTEGER: lambda form, *_: _INTEGERS[form.width],
    Shape.FLOATING: lambda form, *_: _FLOATS[form.width],
    Shape.DECIMAL: _decimal,
    Shape.BIT: _bits,
    Shape.YEAR: lambda *_: _fixed(k.YEAR_NUMBER, 1, pa.int16()),
    Shape.DATE: lambda *_: _fixed(k.DATE_DAYS, 3, pa.date32()),
    Shape.DATETIME: _temporal(k.DATETIME2_US, _MICROS),
    Shape.TIMESTAMP: _temporal(k.TIMESTAMP2_US, _UTC_MICROS),
    Shape.TIME: _temporal(k.TIME2_US, _DURATION),
    Shape.OLD_DATETIME: _old_temporal(k.OLD_DATETIME_US, _OLD_DATETIME_BYTES, _MICROS),
    Shape.OLD_TIMESTAMP: _old_temporal(k.OLD_TIMESTAMP_US, _OLD_TIMESTAMP_BYTES, _UTC_MICROS),
    Shape.OLD_TIME: _old_temporal(k.OLD_TIME_US, _OLD_TIME_BYTES, _DURATION),
    Shape.ENUM: _number(2, pa.uint16()),
    Shape.SET: _number(8, pa.uint64()),
    Shape.STRING: lambda form, metadata, _: _string(1 if metadata < 256 else 2),
    Shape.BLOB: lambda form, metadata, _: _string(metadata) if 1 <= metadata <= 4 else None,
}
"""For each shape, a function of the form, the metadata and the fractional digits of the definition, which returns how
values are read; None if no server writes such metadata."""


def plan_columns(table_map: TableMap, digits: list[int | None] | None = None) -> list[ColumnPlan]:
    """Return a plan for each column of a table map; `digits` as in `plan_column`, by column."""
    digits = digits or [None] * len(table_map.types)
    return [plan_column(*column) for column in zip(table_map.types, table_map.metadata, digits, strict=True)]


class _Step(NamedTuple):
    """A step for a column (image_kernel.STEP)."""

    operation: int
    need: int
    meta: int = 0
    values: int = 0
    column: int = 0
    valid: int = 0
    absent: int = 0
    width: int = 0


class ColumnBuffer:
    """The values of one column of up to `rows` rows, filled by the kernel and reused for the next rows."""

    def __init__(self, plan: ColumnPlan, rows: int):
        self.plan, self.rows = plan, rows
        self.valid = np.full((rows + 7) // 8 + 8, 255, np.uint8)
        self.absent = np.zeros((rows + 7) // 8 + 8, np.uint8)
        self.record = np.zeros((), k.COLUMN)
        if plan.is_bytes:
            self.values = np.zeros(rows + 1, np.int32)
            self._use(np.empty(32 * rows + k.GUARD, np.uint8))
        else:
            self.values = np.empty(rows * plan.arrow.bit_width // 8 + 8, np.uint8)

    def _use(self, data: np.ndarray) -> None:
        self.data = data
        self.record["capacity"], self.record["data"] = len(data) - k.GUARD, address_of(data)

    @property
    def length(self) -> int:
        return int(self.record["length"])

    @property
    def has_nulls(self) -> bool:
        """True if a value is NULL or absent."""
        return bool(self.record["has_nulls"])

    def grow(self, least: int) -> None:
        """Make room for at least `least` bytes of string data, up to MOST_BYTES; the data is kept. Raises
        UnsupportedEvent if the buffer has MOST_BYTES already."""
        room = len(self.data) - k.GUARD
        if room >= MOST_BYTES:
            raise UnsupportedEvent("a value of more than 2 GiB", hint="leave the table out with --ignore-tables")
        data = np.empty(min(max(least, 2 * room), MOST_BYTES) + k.GUARD, np.uint8)
        data[:self.length] = self.data[:self.length]
        self._use(data)

    def rewind(self, row: int) -> None:
        """Discard row `row`, which was begun, and its string bytes."""
        self.valid[row >> 3] |= np.uint8(1 << (row & 7))
        self.absent[row >> 3] &= np.uint8(255 ^ (1 << (row & 7)))
        if self.plan.is_bytes:
            self.record["length"] = self.values[row]

    def reset(self) -> None:
        """Empty the buffer. Bitmaps are cleared only where a value was written."""
        if self.has_nulls:
            self.valid[:] = 255
        if self.record["has_absent"]:
            self.absent[:] = 0
        for field in ("length", "has_nulls", "has_absent"):
            self.record[field] = 0

    def arrow(self, rows: int) -> pa.Array:
        """Return the first `rows` values without a copy. They are valid until the buffer is used again."""
        valid = pa.py_buffer(self.valid) if self.has_nulls else None
        buffers = [valid, pa.py_buffer(self.values)]
        if self.plan.is_bytes:
            buffers.append(pa.py_buffer(self.data[:self.length]))
        return pa.Array.from_buffers(self.plan.arrow, rows, buffers)

    def taken(self, rows: int) -> pa.Array:
        """Return the first `rows` values in memory of their own. String data that fills most of its memory is handed
        over with that memory, and the next rows get new memory."""
        valid = pa.py_buffer(self.valid[:(rows + 7) // 8].copy()) if self.has_nulls else None
        if not self.plan.is_bytes:
            values = self.values[:rows * self.plan.arrow.bit_width // 8]
            return pa.Array.from_buffers(self.plan.arrow, rows, [valid, pa.py_buffer(values.copy())])
        data, is_full = self.data[:self.length], 4 * self.length >= 3 * len(self.data)
        if is_full:
            self._use(np.empty(len(self.data), np.uint8))
        return pa.Array.from_buffers(self.plan.arrow, rows, [
            valid, pa.py_buffer(self.values[:rows + 1].copy()), pa.py_buffer(data if is_full else data.copy())])

    def absent_rows(self, rows: int) -> pa.BooleanArray | None:
        """Return which of the first `rows` values were absent in images, as booleans; None if there are none."""
        if not self.record["has_absent"]:
            return None
        return pa.Array.from_buffers(pa.bool_(), rows, [None, pa.py_buffer(self.absent)])

    def step(self) -> _Step:
        plan = self.plan
        return _Step(plan.operation, plan.need, plan.meta, address_of(self.values), address_of(self.record),
                     address_of(self.valid), address_of(self.absent), plan.width)


class ImageBuffers:
    """Buffers for the wanted columns of one image: `columns` has them by column number, ascending."""

    def __init__(self, plans: list[ColumnPlan | None], rows: int):
        self.plans, self.rows = plans, rows
        self.columns = {number: ColumnBuffer(plan, rows) for number, plan in enumerate(plans) if plan is not None}
        self._growing = [column for column in self.columns.values() if column.plan.is_bytes]

    def reset(self) -> None:
        for column in self.columns.values():
            column.reset()

    @property
    def room(self) -> int:
        """The bytes that fit into the largest string column."""
        return max((int(column.record["capacity"]) for column in self._growing), default=0)

    def limit(self, most: int) -> None:
        """Limit every string column to `most` bytes, regardless of its room."""
        for column in self._growing:
            column.record["capacity"] = min(len(column.data) - k.GUARD, most)

    def rewind(self, row: int) -> None:
        """Discard rows from `row` on, which were begun."""
        for column in self.columns.values():
            column.rewind(row)

    def make_room(self, row: int, longest: int) -> None:
        """Rewind to `row`, which did not fit, and make room for `longest` more bytes in every nearly full string
        column."""
        for column in self._growing:
            column.rewind(row)
            if column.length + longest > column.record["capacity"]:
                column.grow(column.length + longest)

    def double(self, row: int) -> None:
        """Rewind to `row`, which did not fit, and double the room of string columns (untouched memory is free)."""
        for column in self._growing:
            column.rewind(row)
            column.grow(0)


class ImageProgram:
    """The steps for images with the columns `present`, into `buffers`. Columns in `diffs` are present without a value:
    they are skipped, and absent in the output. `address` is the kernel's argument."""

    def __init__(self, plans: list[ColumnPlan], present: Sequence[int], buffers: ImageBuffers,
                 diffs: Sequence[int] = ()) -> None:
        steps: list[_Step] = []
        compact: list[_Step] = []
        for column in present:
            buffer = None if column in diffs else buffers.columns.get(column)
            step = _skip(plans[column]) if buffer is None else buffer.step()
            steps.append(step)
            if step.operation == k.SKIP and compact and compact[-1].operation == k.SKIP:
                compact[-1] = _skip_bytes(compact[-1].width + step.width)
            else:
                compact.append(step)
        here = set(present).difference(diffs)
        missing = [buffer.step() for column, buffer in buffers.columns.items() if column not in here]
        self._arrays = [np.array(part, k.STEP) for part in (steps, compact, missing)]
        self._buffers = buffers
        arrays = [number for array in self._arrays for number in (address_of(array), len(array))]
        self._record = np.array((len(present), *arrays), k.PROGRAM)
        self.address = address_of(self._record)


def _skip(plan: ColumnPlan) -> _Step:
    return _Step(k.SKIP_BYTES, plan.need, plan.meta) if plan.is_bytes else _skip_bytes(plan.width)


def _skip_bytes(width: int) -> _Step:
    return _Step(k.SKIP, width, width=width)
