"""Dates and times: other precisions, days and moments, text. Source: MySQL manual, "Fractional Seconds in Time Values",
"Conversion Between Date and Time Types"."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.conversion.texts import fitted
from applier.errors import NotComputable
from applier.schema.conversion import RowConversion
from applier.schema.temporal_literals import read_date, read_datetime
from applier.schema.types import ColumnType, arrow_type

_DAY = 86_400_000_000


def _rounds(conversion: RowConversion) -> bool:
    """MySQL rounds fractions of a second that do not fit, MariaDB cuts them off; sql_mode can say otherwise."""
    if conversion.new.flavour == "mysql":
        return "TIME_TRUNCATE_FRACTIONAL" not in conversion.sql_mode
    return "TIME_ROUND_FRACTIONAL" in conversion.sql_mode


def to_temporal(values: pa.Array, old: ColumnType, new: ColumnType, conversion: RowConversion) -> pa.Array:
    """DATE, DATETIME and TIMESTAMP as each other, TIME as TIME."""
    micros = _micros(values)
    if old.base == "timestamp" and new.base != "timestamp":
        micros = _moved(micros, conversion, 1)
    elif new.base == "timestamp" and old.base != "timestamp":
        micros = _moved(micros, conversion, -1)
    if new.base == "date":
        if old.fsp and _rounds(conversion):
            micros = _cut(micros, 1_000_000, True)
        return _with_nulls(micros // _DAY, values, pa.int32()).cast(pa.date32())
    if new.fsp < old.fsp:
        micros = _cut(micros, 10**(6 - new.fsp), _rounds(conversion))
    return _with_nulls(micros, values, pa.int64()).cast(arrow_type(new))


def _micros(values: pa.Array) -> np.ndarray:
    if pa.types.is_date(values.type):
        return np.asarray(values.cast(pa.int32()).fill_null(0)).astype(np.int64) * _DAY
    return np.asarray(values.cast(pa.int64()).fill_null(0))


def _cut(micros: np.ndarray, unit: int, rounds: bool) -> np.ndarray:
    """Whole units; halves away from zero, fractions of negative times towards it."""
    magnitude = np.abs(micros)
    magnitude = (magnitude + (unit // 2 if rounds else 0)) // unit * unit
    if (micros < 0).any():  # times before zero, and moments before 1970, whose fractions count forward
        return np.where(micros < 0, -magnitude, magnitude)
    return magnitude


def _with_nulls(numbers: np.ndarray, values: pa.Array, kind: pa.DataType) -> pa.Array:
    return pa.array(numbers, kind, mask=np.asarray(values.is_null()))


def _moved(micros: np.ndarray, conversion: RowConversion, direction: int) -> np.ndarray:
    """From UTC to the session's clock or back; only where that clock is at a fixed distance."""
    first, last = (conversion.in_zone(int(moment)) for moment in (micros.min(), micros.max()))
    if first is None or last is None or not conversion.time_zone.startswith(("+", "-")):
        raise NotComputable("TIMESTAMPs in a time zone that is not known, or not at a fixed distance from UTC")
    return micros + direction * (first - int(micros.min()))


def to_text(values: pa.Array, old: ColumnType, new: ColumnType, conversion: RowConversion) -> pa.Array:
    """DATE, DATETIME and TIMESTAMP as text."""
    if old.base == "time":
        raise NotComputable("TIME as text")
    if old.base == "date":
        return fitted(values.cast(pa.string()), new)
    if old.base == "timestamp":
        values = _with_nulls(_moved(_micros(values), conversion, 1), values, pa.int64())
    text = values.cast(pa.int64()).cast(pa.timestamp("us")).cast(pa.string())
    return fitted(pc.utf8_slice_codeunits(text, 0, 20 + old.fsp if old.fsp else 19), new)


def from_text(values: pa.Array, old: ColumnType, new: ColumnType, conversion: RowConversion) -> pa.Array:
    """Text as DATE or DATETIME; text that is none becomes a zero date, which is null."""
    if new.base == "timestamp":
        raise NotComputable("text as TIMESTAMP")
    coded = values.dictionary_encode()
    made = pa.array([_read(text, new, conversion) for text in coded.dictionary.to_pylist()], arrow_type(new))
    return made.take(coded.indices)


def _read(text: str, new: ColumnType, conversion: RowConversion):
    try:
        if new.base == "date":
            return read_date(text, conversion.new.flavour)
        return read_datetime(text, new.fsp, conversion.new.flavour)
    except (ValueError, OverflowError):
        raise NotComputable(f"{text!r} as {new.base.upper()}") from None
