"""Functions of dates and datetimes that make whole numbers, over whole columns.

Source: MySQL manual, "Date and Time Functions", and "Partitioning Limitations Relating to Functions" for which of them
partitions may use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.types import ColumnType
from applier.mysql.values import zero_dates

Values: TypeAlias = pa.Array | pa.ChunkedArray
EPOCH_DAY = 719_528
"""TO_DAYS('1970-01-01')."""
_SUNDAY_FIRST = pc.DayOfWeekOptions(count_from_zero=False, week_start=7)


def _to_days(values: Values) -> Values:
    return pc.add(values.cast(pa.date32()).cast(pa.int32()), EPOCH_DAY).cast(pa.int64())


def _to_seconds(values: Values) -> Values:
    if pa.types.is_date(values.type):
        return pc.multiply(_to_days(values), 86_400)
    return pc.add(_whole_seconds(values), EPOCH_DAY * 86_400)


def _whole_seconds(values: Values) -> Values:
    """The day number of datetimes in microseconds, also before 1970."""
    return pc.floor_temporal(values, unit="second").cast(pa.timestamp("s", values.type.tz)).cast(pa.int64())


def _clock(compute: Callable[[Values], Values]) -> Callable[[Values], Values]:
    def part(values: Values) -> Values:
        if pa.types.is_date(values.type):
            return pc.multiply(values.cast(pa.int32()), 0)
        return compute(values)

    return part


def _microseconds(values: Values) -> Values:
    instants = values.cast(pa.timestamp("us"))
    return pc.add(pc.multiply(pc.millisecond(instants), 1000), pc.microsecond(instants))


def _joined(*parts: tuple[str, int]) -> Callable[[Values], Values]:
    """Several parts as one number, each with the number of its digits."""
    def joined(values: Values) -> Values:
        made = None
        for name, digits in parts:
            part = DATE_FUNCTIONS[name](values).cast(pa.int64())
            made = part if made is None else pc.add(pc.multiply(made, 10**digits), part)
        return made

    return joined


def weeks(values: Values, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """The years and the weeks of WEEK's modes: whether weeks begin on Mondays (1), are counted from 1 on and belong to
    the year before where they began there (2), and whether the first one is that with the year's first such day (4)."""
    dates = values.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
    days = np.asarray(dates.cast(pa.int32()).fill_null(0)).astype(np.int64)
    mode = mode ^ 4 if not mode & 1 else mode
    monday, from_one, by_day = bool(mode & 1), bool(mode & 2), bool(mode & 4)
    year = days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
    first, first_weekday = _year_begin(year, monday)
    skipped = (days - first < 7 - first_weekday) & np.where(by_day, first_weekday != 0, first_weekday >= 4)
    before = skipped & from_one
    year = np.where(before, year - 1, year)
    first, first_weekday = _year_begin(year, monday)
    late = np.where(by_day, first_weekday != 0, first_weekday >= 4)
    since = np.where(late, days - (first + 7 - first_weekday), days - (first - first_weekday))
    following, weekday = _year_begin(year + 1, monday)
    of_next = from_one & (since >= 52 * 7) & np.where(by_day, weekday == 0, weekday < 4) & (
        days >= following - weekday)
    week = np.where(of_next, 1, since // 7 + 1)
    week = np.where(skipped & ~before, 0, week)
    return np.where(of_next, year + 1, year), week


def _year_begin(year: np.ndarray, monday: bool) -> tuple[np.ndarray, np.ndarray]:
    """The first days of years, and how many days of a week were before them."""
    first = (year - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
    return first, (first + (3 if monday else 4)) % 7


_CLOCK = ("DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND")
DATE_FUNCTIONS: dict[str, Callable[[Values], Values]] = {
    "YEAR": pc.year, "MONTH": pc.month, "DAY": pc.day, "DAYOFMONTH": pc.day, "QUARTER": pc.quarter,
    "DAYOFYEAR": pc.day_of_year, "DAYOFWEEK": lambda values: pc.day_of_week(values, options=_SUNDAY_FIRST),
    "WEEKDAY": pc.day_of_week, "TO_DAYS": _to_days, "TO_SECONDS": _to_seconds,
    "HOUR": _clock(pc.hour), "MINUTE": _clock(pc.minute), "SECOND": _clock(pc.second),
    "MICROSECOND": _clock(_microseconds), "YEAR_MONTH": _joined(("YEAR", 4), ("MONTH", 2)),
    **{"_".join((names[0], names[-1])): _joined(*((name, 6 if name == "MICROSECOND" else 2) for name in names))
       for first in range(4) for names in (_CLOCK[first:last] for last in range(first + 2, 6))},
}
"""The functions by name, with the units of EXTRACT: from dates, or datetimes without a zone, to whole numbers."""


def date_function(name: str, values: Values) -> Values:
    """One of these functions. The parts of a date with a zero month or day are as written, and it has no number of
    days; raises NotComputable if servers differ on an invalid date."""
    if not zero_dates.has_any(values):
        return DATE_FUNCTIONS[name](values)
    none, instants = zero_dates.which(values), zero_dates.numbers_of(values)
    is_date = pa.types.is_date(values.type)
    year, month, day = zero_dates.parts(instants if is_date else instants // zero_dates.DAY)
    found = DATE_FUNCTIONS[name](zero_dates.as_nulls(values)).cast(pa.int64())
    seconds = np.zeros(len(year), np.int64) if is_date else instants % zero_dates.DAY // 1_000_000
    parts = {"YEAR": year, "MONTH": month, "DAY": day, "DAYOFMONTH": day, "QUARTER": (month + 2) // 3,
             "YEAR_MONTH": year * 100 + month, "HOUR": seconds // 3600, "MINUTE": seconds // 60 % 60,
             "SECOND": seconds % 60}
    if name in parts:
        return pc.if_else(pa.array(none), pa.array(parts[name], pa.int64()), found)
    if name == "MICROSECOND" or "_" in name.removeprefix("TO_"):
        raise NotComputable(f"{name} of an invalid date")
    with_days(values)
    return found


def with_days(values: Values, *, keeps_month: bool = False) -> Values:
    """The values with NULL for dates whose month or day is zero, which have no number. `keeps_month`: raises
    NotComputable for those with a month."""
    if not zero_dates.has_any(values):
        return values
    none, numbers = zero_dates.which(values), zero_dates.numbers_of(values)
    _, month, day = zero_dates.parts(numbers if pa.types.is_date(values.type) else numbers // zero_dates.DAY)
    if (none & (month * (1 if keeps_month else day) != 0)).any():
        raise NotComputable("days of an invalid date")
    return zero_dates.as_nulls(values)


def days_between(*sides: tuple[Values, ColumnType]) -> Values:
    """DATEDIFF."""
    later, earlier = (_days(with_days(values), found) for values, found in sides)
    return pc.subtract(later, earlier)


def _days(values: Values, found: ColumnType) -> Values:
    if found.base not in ("date", "datetime"):
        raise NotComputable("days between values that are not dates")
    return _to_days(values)


def seconds_since_epoch(argument: tuple[Values, ColumnType]) -> Values:
    """UNIX_TIMESTAMP of a TIMESTAMP column, which does not depend on time zones."""
    values, found = argument
    if found.base != "timestamp" or found.fsp:
        raise NotComputable("UNIX_TIMESTAMP of a value that is not a TIMESTAMP of whole seconds")
    if not zero_dates.has_any(values):
        return _whole_seconds(values)
    return pc.if_else(pa.array(zero_dates.which(values)), 0, _whole_seconds(zero_dates.as_nulls(values)))
