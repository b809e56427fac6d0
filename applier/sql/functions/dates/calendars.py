"""Weeks, last days of months, days by their numbers, and differences of dates, over whole columns.

Source: MySQL manual, "Date and Time Functions"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.numbers import MILLIONTH
from applier.sql.casting.temporals import local_micros, rounds
from applier.sql.functions.combinations import computed
from applier.sql.functions.dates.date_functions import EPOCH_DAY, weeks, with_days
from applier.sql.functions.dates.times import clock_of, local, micros_of_doubles
from applier.sql.functions.intervals import (
    FIRST,
    LAST,
    LONGEST_TIME,
    MONTHS,
    SECOND,
    UNITS,
    check_seconds,
    exact_seconds,
)
from applier.sql.nodes import Call
from applier.sql.values import (
    Arguments,
    Function,
    Value,
    as_number,
    numbers,
    of_seconds,
    together,
)
from applier.sql.whole_numbers import whole_number, whole_numbers


def _week(of_year: bool) -> Function:
    """WEEK and YEARWEEK; without a mode as if default_week_format were 0, which a log does not tell."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        value, *given = arguments
        value = local(value, session, is_day=True)
        mode = whole_number(given[0], session) & 7 if given else 3 if call.name == "WEEKOFYEAR" else 0
        if value.type.base not in ("date", "datetime"):
            raise NotComputable(f"{call.name} of a value that is not a date")
        dates = with_days(value.values)
        year, week = weeks(dates, mode | 2 if of_year else mode)
        made = pa.array(year * 100 + week if of_year else week, pa.int64(), mask=np.asarray(dates.is_null()))
        return numbers(made, constant=value.constant)

    return computed


def _last_day(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value = local(arguments[0], session, is_day=True)
    if value.type.base not in ("date", "datetime"):
        raise NotComputable("LAST_DAY of a value that is not a date")
    is_let_in = session.flavour == "mariadb" and "ALLOW_INVALID_DATES" in session.sql_mode
    if is_let_in and value.values.null_count > arguments[0].values.null_count:
        raise NotComputable("LAST_DAY of text or a number that may be a day which its month does not have")
    days = with_days(value.values, keeps_month=True).cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
    months = np.asarray(days.cast(pa.int32()).fill_null(0)).astype("datetime64[D]").astype("datetime64[M]")
    last = (months + 1).astype("datetime64[D]").astype(np.int64) - 1
    made = pa.array(last.astype(np.int32), mask=np.asarray(days.is_null())).cast(pa.date32())
    return Value(made, ColumnType("date"), value.constant)


def _from_days(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    found = as_number(arguments[0], session)
    if pa.types.is_floating(found.type) or found.type.scale:
        raise NotComputable("FROM_DAYS of a number with a fraction")
    days = np.asarray(found.fill_null(EPOCH_DAY).cast(pa.int64())) - EPOCH_DAY
    if ((days * DAY < FIRST) | (days * DAY > LAST)).any():
        raise NotComputable("FROM_DAYS of a day before year 1 or after year 9999")
    made = pa.array(days.astype(np.int32), mask=np.asarray(found.is_null())).cast(pa.date32())
    return Value(made, ColumnType("date"), arguments[0].constant)


def _to_time(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """SEC_TO_TIME of exact numbers; the longest time of larger ones."""
    found = as_number(arguments[0], session)
    if pa.types.is_floating(found.type) and session.flavour == "mysql":
        check_seconds(found, session)
        made = computed([found], lambda number: round(max(-_MOST, min(_MOST, number)) * SECOND), pa.int64())
        scale = arguments[0].type.scale
        unit = 1 if scale is None else 10**(6 - min(6, scale))
        if any(one is not None and one % unit for one in made.unique().to_pylist()):
            raise NotComputable("SEC_TO_TIME of a FLOAT with more digits than it shows")  # some columns cut them
        return Value(made.cast(pa.duration("us")), ColumnType("time", fsp=6), arguments[0].constant)
    if pa.types.is_floating(found.type) and not arguments[0].is_text:
        return _of_doubles(found, arguments[0], session)
    if pa.types.is_floating(found.type):
        found = exact_seconds(arguments[0], session)
    if found.type.scale > 6 or not arguments[0].shows:
        raise NotComputable("SEC_TO_TIME of a number that is not exact, or has more than six digits behind the point")

    def micros(number: Decimal) -> int:
        size = int(number * SECOND)
        if abs(size) > LONGEST_TIME and found.type.scale:
            raise NotComputable("SEC_TO_TIME of a number with a fraction beyond the longest time")
        return max(-LONGEST_TIME, min(LONGEST_TIME, size))

    made = computed([found], micros, pa.int64()).cast(pa.duration("us"))
    return Value(made, ColumnType("time", fsp=found.type.scale), arguments[0].constant)


def _of_doubles(found: pa.Array, value: Value, session: Session) -> Value:
    """SEC_TO_TIME of doubles in MariaDB, which cuts the digits of FLOAT(M,D)."""
    if not value.shows:
        raise NotComputable("SEC_TO_TIME of a number that is not exact")
    size = np.abs(np.asarray(found.fill_null(0.0)))
    if (size > _MOST).any():
        raise NotComputable("SEC_TO_TIME of a double beyond the longest time")
    micros = micros_of_doubles(size, session)
    fsp = 6 if value.type.scale is None else min(6, value.type.scale)
    if fsp < 6 and rounds(session):
        raise NotComputable("SEC_TO_TIME of a FLOAT(M,D), rounded")
    micros -= micros % 10**(6 - fsp)
    signed = np.where(np.asarray(found.fill_null(0.0)) < 0, -micros, micros)
    made = pa.array(signed, mask=np.asarray(found.is_null())).cast(pa.duration("us"))
    return Value(made, ColumnType("time", fsp=fsp), value.constant)


_MOST = LONGEST_TIME // SECOND


def _of_seconds(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIME_TO_SEC."""
    value = clock_of(arguments[0], session)
    if value.type.base not in ("time", "date", "datetime") or (
            zero_dates.has_any(value.values) and not value.is_column):
        raise NotComputable("TIME_TO_SEC of a value that is not a time")
    micros = local_micros(value.values, value.type, session)
    micros = micros if value.type.base == "time" else micros % DAY
    if value.type.fsp and session.flavour == "mariadb":
        exact = pc.multiply(pa.array(micros, pa.int64(), mask=np.asarray(value.values.is_null())).cast(
            pa.decimal128(19, 0)), MILLIONTH)
        return of_seconds(exact.cast(pa.decimal128(38, value.type.fsp)), constant=value.constant)
    made = np.sign(micros) * (np.abs(micros) // SECOND)
    return numbers(pa.array(made, pa.int64(), mask=np.asarray(value.values.is_null())), constant=value.constant)


def _difference(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIMESTAMPDIFF: whole units between two dates, towards zero."""
    sides = [local(value, session) for value in arguments]
    if any(side.type.base not in ("date", "datetime") for side in sides):
        raise NotComputable("TIMESTAMPDIFF of values that are not dates")
    sides = [replace(side, values=with_days(side.values)) for side in sides]
    arrays = [array.cast(pa.timestamp("us")).cast(pa.int64()) for array in together(sides, n)]
    is_null = np.logical_or(*(np.asarray(array.is_null()) for array in arrays))
    start, end = (np.asarray(array.fill_null(0)) for array in arrays)
    if call.word in UNITS:
        made = np.sign(end - start) * (np.abs(end - start) // UNITS[call.word])
    elif call.word in MONTHS:
        early, late = np.minimum(start, end), np.maximum(start, end)
        months = _month_of(late) - _month_of(early)
        months -= _in_month(late) < _in_month(early)
        made = np.sign(end - start) * (months // MONTHS[call.word])
    else:
        raise NotComputable(f"TIMESTAMPDIFF in {call.word}")
    return numbers(pa.array(made, pa.int64(), mask=is_null), constant=all(side.constant for side in sides))


def _month_of(clock: np.ndarray) -> np.ndarray:
    return (clock // DAY).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _in_month(clock: np.ndarray) -> np.ndarray:
    """The time since the month's begin."""
    within: np.ndarray = clock - _month_of(clock).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) * DAY
    return within




def _day_of_year(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MAKEDATE."""
    given = [whole_numbers(value, session) for value in arguments]

    def made(year: Decimal, day: Decimal) -> datetime.date | None:
        if day <= 0 or not 0 <= year <= 9999:
            return None
        number = int(year) + (2000 if year < 70 else 1900 if year < 100 else 0)
        days = datetime.date(number, 1, 1).toordinal() + int(day) - 1
        return datetime.date.fromordinal(days) if days <= datetime.date.max.toordinal() else None

    return Value(computed(together(given, n), made, pa.date32()), ColumnType("date"),
                 all(value.constant for value in given))


def _months(period: Decimal) -> int:
    """The months since year 0 of a period, YYMM or YYYYMM."""
    year, month = divmod(int(period), 100)
    if not 1 <= month <= 12 or year <= 0:
        raise NotComputable(f"the period {period}")
    return (year + (2000 if year < 70 else 1900 if year < 100 else 0)) * 12 + month - 1


def _of_periods(function: Callable[[Decimal, Decimal], int]) -> Function:
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        given = [whole_numbers(value, session) for value in arguments]
        if session.flavour == "mariadb" and any(pc.any(pc.greater(value.values, _MOST_PERIOD)).as_py()
                                                for value in given):
            raise NotComputable("so large a number as a period")
        return numbers(computed(together(given, n), function, pa.int64()), constant=all(
            value.constant for value in given))

    return called


def _period_on(period: Decimal, months: Decimal) -> int:
    if abs(months) > _MOST_MONTHS:
        raise NotComputable("so many months")
    year, month = divmod(_months(period) + int(months), 12)
    if year < 100:
        raise NotComputable("a period before year 100")
    return year * 100 + month + 1


_MOST_MONTHS, _MOST_PERIOD = 2**31, Decimal(2**31)
"""More of them are beyond what MariaDB counts."""
FUNCTIONS: dict[str, Function] = {
    "WEEK": _week(of_year=False), "WEEKOFYEAR": _week(of_year=False), "YEARWEEK": _week(of_year=True),
    "FROM_DAYS": _from_days, "SEC_TO_TIME": _to_time, "TIME_TO_SEC": _of_seconds,
    "TIMESTAMPDIFF": _difference, "LAST_DAY": _last_day, "MAKEDATE": _day_of_year,
    "PERIOD_ADD": _of_periods(_period_on),
    "PERIOD_DIFF": _of_periods(lambda later, earlier: _months(later) - _months(earlier)),
}
