"""Columns of the feed as texts for JSON and CSV, and in the format of Debezium's MySQL connector, whole columns at
once.

Debezium's format is that of its defaults, except for DECIMAL: decimal.handling.mode=string,
bigint.unsigned.handling.mode=long without its overflow, time.precision.mode=adaptive_time_microseconds,
binary.handling.mode=bytes. Source: Debezium reference, "Debezium connector for MySQL", "Data type mappings".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.exporting import cells
from applier.jobs.json_lines.steps import BASE64, DOCUMENT, GEOMETRY, PLAIN, QUOTED
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType
from applier.mysql.values.byte_columns import beside, hexadecimal
from applier.mysql.values.value_texts import date_texts, exact_texts

_UNITS = ("s", "ms", "ms", "ms", "us", "us", "us")
"""By a type's number of digits behind the second."""
_MILLISECONDS = 3
"""Debezium counts in milliseconds up to this many fractional digits."""


def _numbers(values: pa.Array, kind: ColumnType) -> pa.Array:
    return exact_texts(values)


def _reals(values: pa.Array, kind: ColumnType) -> pa.Array:
    """Return shortest texts; values that no server has are in quotes, since JSON has no such numbers."""
    texts = values.cast(pa.string())
    finite = pc.is_finite(values)
    if pc.all(finite, min_count=0).as_py():
        return texts
    return pc.if_else(finite, texts, pc.binary_join_element_wise('"', texts, '"', ""))


def _dates(values: pa.Array, kind: ColumnType) -> pa.Array:
    return date_texts(values)


def datetime_texts(values: pa.Array, unit: str) -> pa.Array:
    """Return datetimes with as many digits behind the second as the unit has; ending in Z if they are in UTC. Raises
    pa.ArrowInvalid where one has more."""
    texts = values.cast(pa.timestamp("us")).cast(pa.timestamp(unit)).cast(pa.string())
    return texts if values.type.tz is None else pc.binary_join_element_wise(texts, "Z", "")


def _datetimes(values: pa.Array, kind: ColumnType) -> pa.Array:
    """With no, three or six digits behind the second, as the type has."""
    try:
        return datetime_texts(values, _UNITS[kind.fsp])
    except pa.ArrowInvalid:  # from before an ALTER that gave the column fewer digits
        return datetime_texts(values, "us")


def _times(values: pa.Array, kind: ColumnType) -> pa.Array:
    _, texts = cells.WRITERS[Family.TIME]
    return texts(values)


def _text(values: pa.Array, kind: ColumnType) -> pa.Array:
    return values


def _hexadecimal(values: pa.Array, kind: ColumnType) -> pa.Array:
    return hexadecimal(values)


def _vectors(values: pa.Array, kind: ColumnType) -> pa.Array:
    # the values of nulls, too: offsets count them
    numbers = values.values.cast(pa.string())
    texts = pa.ListArray.from_arrays(pa.array(values.offsets), numbers)
    joined = pc.binary_join_element_wise("[", pc.binary_join(texts, ","), "]", "")
    return pc.if_else(values.is_valid(), joined, pa.scalar(None, pa.string()))


def _bits(values: pa.Array, kind: ColumnType) -> pa.Array:
    """Return BIT(1) as true or false; others as bytes, the lowest first."""
    if (kind.length or 1) == 1:
        return pc.if_else(pc.equal(values, pa.scalar(0, values.type)), "false", "true")
    width = (kind.length or 1) + 7 >> 3
    if pa.types.is_decimal(values.type):
        data = np.frombuffer(values.buffers()[1], np.uint8)[16 * values.offset:16 * (values.offset + len(values))]
        rows = data.reshape(-1, 16)[:, :width]
    else:
        rows = values.cast(pa.int64()).fill_null(0).to_numpy().view(np.uint8).reshape(-1, 8)[:, :width]
    return beside(values, pa.binary(), np.arange(len(values) + 1) * width, np.ascontiguousarray(rows).ravel())


def _days(values: pa.Array, kind: ColumnType) -> pa.Array:
    return values.cast(pa.int32()).cast(pa.string())


def _counted(values: pa.Array, kind: ColumnType) -> pa.Array:
    """DATETIME as the milliseconds or microseconds that its digits need; TIMESTAMP as text in ISO's form."""
    if values.type.tz is not None:
        return pc.replace_substring(_datetimes(values, kind), " ", "T")
    counts = values.cast(pa.int64())
    return (pc.divide(counts, 1000) if kind.fsp <= _MILLISECONDS else counts).cast(pa.string())


def _microseconds(values: pa.Array, kind: ColumnType) -> pa.Array:
    return values.cast(pa.int64()).cast(pa.string())


_Writer = Callable[[pa.Array, ColumnType], pa.Array]
Writers = dict[Family, tuple[int, _Writer]]

AS_JSON: Writers = {
    Family.INTEGER: (PLAIN, _numbers), Family.DECIMAL: (PLAIN, _numbers), Family.FLOATING: (PLAIN, _reals),
    Family.BIT: (PLAIN, _numbers), Family.YEAR: (PLAIN, _numbers), Family.DATE: (QUOTED, _dates),
    Family.DATETIME: (QUOTED, _datetimes), Family.TIME: (QUOTED, _times), Family.TEXT: (QUOTED, _text),
    Family.BYTES: (QUOTED, _hexadecimal), Family.MEMBERS: (QUOTED, _text), Family.DOCUMENT: (DOCUMENT, _text),
    Family.GEOMETRY: (QUOTED, _hexadecimal), Family.NETWORK: (QUOTED, _text), Family.VECTOR: (PLAIN, _vectors),
}
"""How the kernel writes the texts of a family, and the function that makes them."""
AS_DEBEZIUM: Writers = {
    **AS_JSON, Family.DECIMAL: (QUOTED, _numbers), Family.DATE: (PLAIN, _days), Family.DATETIME: (PLAIN, _counted),
    Family.TIME: (PLAIN, _microseconds), Family.BYTES: (BASE64, _text), Family.DOCUMENT: (QUOTED, _text),
    Family.GEOMETRY: (GEOMETRY, _text),
}


def texts_of(values: pa.Array, kind: ColumnType, writers: Writers) -> tuple[int, pa.Array]:
    """Return the mode of a column's texts, and the texts: as pa.string() or pa.binary(), null where the value is."""
    if writers is AS_DEBEZIUM:
        if kind.entry.family is Family.BIT:
            return PLAIN if (kind.length or 1) == 1 else BASE64, _bits(values, kind)
        if kind.base == "timestamp":
            return QUOTED, _counted(values, kind)
    mode, write = writers[kind.entry.family]
    return mode, write(values, kind)
