"""Invalid dates: '0000-00-00', '2024-00-05', those of year 0, and '2024-02-31' where ALLOW_INVALID_DATES
let it in. Servers hold them; Arrow's and Parquet's types do not, so a snapshot shows null (`--zero-dates`).

While rows are applied such a date is a number below those of all days, so that it equals itself, differs from NULL
and comes before other dates, in keys, row comparisons and unique keys alike:

    DATE                    ZERO_DAY + (year * 16 + month) * 32 + day        of date32, days
    DATETIME, TIMESTAMP     these days and the time of day                   of timestamp, microseconds

A date's validity bit has no meaning for this: NULL is NULL. How a file of a snapshot records such dates is in
`applier.snapshot.files.value_marks`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ZERO_DAY = -50_000_000
"""The number of '0000-00-00'. Kernels have it compiled in (applier.binlog.rows.value_kernel,
applier.mysql.values.value_texts_kernel)."""
BEFORE_ALL_DAYS = -40_000_000
"""Above all dates that are none, below all that are."""
DAY = 86_400_000_000

_Values: TypeAlias = pa.Array | pa.ChunkedArray


def may_have(type_: pa.DataType) -> bool:
    """Return whether a column of this type may hold such dates."""
    return bool(pa.types.is_date32(type_) or pa.types.is_timestamp(type_))


def number(year: int, month: int, day: int) -> int:
    """The days of an invalid date."""
    return ZERO_DAY + (year * 16 + month) * 32 + day


def zero(type_: pa.DataType) -> pa.Scalar:
    """ '0000-00-00', at midnight, as a value of a column of this type."""
    return pa.scalar(ZERO_DAY if pa.types.is_date32(type_) else ZERO_DAY * DAY, type_)


def numbers_of(values: _Values) -> np.ndarray:
    """Days or microseconds as int64[n]; 0 for NULL."""
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    return np.asarray(values.cast(pa.int64()).fill_null(0), np.int64)


def has_any(values: _Values) -> bool:
    """Return whether one of the values is such a date; False for a column of another type."""
    if not may_have(values.type):
        return False
    whole = values.cast(pa.int32() if pa.types.is_date32(values.type) else pa.int64())
    lowest = pc.min(whole).as_py()
    return lowest is not None and lowest < _limit(values.type)


def which(values: _Values) -> np.ndarray:
    """Which of the values are such dates, bool[n]."""
    return numbers_of(values) < _limit(values.type)


def are_zero(values: _Values) -> np.ndarray:
    """Which of the values are '0000-00-00', at midnight, bool[n]."""
    zero_day = ZERO_DAY if pa.types.is_date32(values.type) else ZERO_DAY * DAY
    are: np.ndarray = numbers_of(values) == zero_day
    return are


def parts(days: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Year, month and day (int64[n]) of days that are such dates."""
    packed = days.astype(np.int64) - ZERO_DAY
    return packed >> 9, packed >> 5 & 15, packed & 31


def as_nulls(values: _Values) -> _Values:
    """The values as a snapshot shows them."""
    if not has_any(values):
        return values
    return pc.if_else(pa.array(which(values)), pa.scalar(None, values.type), values)


def counted(values: _Values) -> _Values:
    """Datetimes with the days that MariaDB counts for such dates, from the month's first day on: 31 February is 2 or 3
    March, month 0 the December before."""
    if not has_any(values):
        return values
    micros = numbers_of(values)
    year, month, day = parts(micros // DAY)
    months = (year - 1970) * 12 + month - 1
    days = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + day - 1
    return pc.if_else(pa.array(which(values)), pa.array(days * DAY + micros % DAY).cast(values.type), values)


def to_python_number(scalar: pa.Scalar) -> Any:
    """Return a value from which Arrow makes the same scalar again."""
    if may_have(scalar.type) and has_any(pa.repeat(scalar, 1)):
        return int(numbers_of(pa.repeat(scalar, 1))[0])
    return scalar.as_py()


def to_python(values: pa.Array) -> list[Any]:
    """The values for people: such dates as text."""
    if not has_any(values):
        plain: list[Any] = values.to_pylist()
        return plain
    from applier.mysql.values.value_texts import date_texts  # kernels

    shown = date_texts(values).to_pylist()
    return [text if none else value for text, none, value in
            zip(shown, which(values).tolist(), as_nulls(values).to_pylist(), strict=True)]


def _limit(type_: pa.DataType) -> int:
    return BEFORE_ALL_DAYS if pa.types.is_date32(type_) else BEFORE_ALL_DAYS * DAY
