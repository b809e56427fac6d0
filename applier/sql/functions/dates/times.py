"""Functions of dates, over whole columns.

Source: MySQL manual, "Date and Time Functions"; judged by both servers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import DATES, NUMBERS, ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.numbers import MILLIONTH
from applier.sql.casting.temporals import FIRST_LAST, moved, rounds
from applier.sql.casting.values import convert_values
from applier.sql.functions.casts import CUTS, cast_without_digits, for_days
from applier.sql.functions.dates.date_functions import (
    DATE_FUNCTIONS,
    date_function,
    days_between,
    seconds_since_epoch,
)
from applier.sql.functions.intervals import SECOND
from applier.sql.nodes import Call
from applier.sql.read_times import datetimes, datetimes_or_times, has_dates, is_read, times
from applier.sql.values import (
    Arguments,
    Function,
    Value,
    as_number,
    numbers,
    of_seconds,
    together,
)


def local(value: Value, session: Session, *, whole: bool = False, is_day: bool = False) -> Value:
    """A TIMESTAMP in the session's time zone, and text and numbers as the datetimes that they hold (`datetimes`); other
    values unchanged."""
    if has_dates(value):
        if session.flavour == "mysql" and value.is_text and not rounds(session) and pc.any(
                pc.match_substring_regex(value.values, r"\.\d{6}[5-9]")).as_py():
            raise NotComputable("more than six digits of a second, which some functions round in sql_mode "
                                "TIME_TRUNCATE_FRACTIONAL")  # as TO_DAYS does on 9.7
        return datetimes(value, session, whole=whole, is_day=is_day)
    if value.type.base == "timestamp":
        type_ = ColumnType("datetime", fsp=value.type.fsp)
        return replace(value, values=convert_values(value.values, value.type, type_, session), type=type_)
    return value


def clock_of(value: Value, session: Session) -> Value:
    """The same for functions of times, of which text and numbers may be some."""
    return times(value, session) if has_dates(value) else local(value, session)


_OF_TIMES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "HOUR": lambda seconds: seconds // 3600, "MINUTE": lambda seconds: seconds // 60 % 60,
    "SECOND": lambda seconds: seconds % 60,
    "HOUR_MINUTE": lambda seconds: seconds // 3600 * 100 + seconds // 60 % 60,
    "HOUR_SECOND": lambda seconds: seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60,
    "MINUTE_SECOND": lambda seconds: seconds // 60 % 60 * 100 + seconds % 60}
_OF_TIMES |= {f"DAY_{name}": _OF_TIMES[f"HOUR_{name}"] for name in ("MINUTE", "SECOND")} | {
    "DAY_HOUR": _OF_TIMES["HOUR"]}
_OF_DAY = {"YEAR", "MONTH", "DAY", "DAYOFMONTH", "QUARTER", "DAYOFYEAR", "DAYOFWEEK", "WEEKDAY", "TO_DAYS"}
_CLOCKS = {"HOUR", "MINUTE", "SECOND", "MICROSECOND"}
_OF_CLOCKS = {name for name in DATE_FUNCTIONS if name.startswith(("DAY_", "HOUR_", "MINUTE_", "SECOND_"))}
"""Units of EXTRACT for which servers read a time out of text."""
_LIKE_A_DATE = r"^\s*\d+[^\d:]+\d+[^\d:]+\d"
"""Text in which MariaDB finds a date, whatever is between its numbers."""
_OF_DAYS_AND_CLOCKS = {"DAY", *_CLOCKS, *_OF_CLOCKS}


def _part(name: str) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        if session.flavour == "mariadb":
            value = _as_mariadb_reads(value, name, session)
        is_clock_of_any = call.name == "EXTRACT" and name in _CLOCKS
        if call.name == "EXTRACT" and name in _OF_DAYS_AND_CLOCKS:
            if session.flavour == "mariadb" and (parts := _of_whole_numbers(value, name, session)):
                return parts
            _check_is_known(value, name, session)
        has_days = (name.startswith("DAY_") or is_clock_of_any) and value.is_text and pc.any(
            pc.match_substring_regex(value.values, r"\d-\d")).as_py()
        if name.startswith("DAY_") and value.is_text and session.flavour == "mariadb":
            has_days = pc.any(pc.match_substring_regex(value.values, _LIKE_A_DATE)).as_py()
        if is_read(value, session) and (name in _OF_CLOCKS or is_clock_of_any):
            written = value.values
            value = datetimes_or_times(value, session)
            if value.type.base == "time" and name.endswith("_MICROSECOND"):
                raise NotComputable(f"EXTRACT({name} …) of text")
            if value.values.null_count > written.null_count and pa.types.is_string(written.type) and pc.any(
                    pc.match_substring_regex(written, r"\d-\d")).as_py():  # which may be a time
                raise NotComputable(f"EXTRACT({name} …) of text with an invalid date")
        else:
            is_clock, written = name in _CLOCKS or (has_dates(value) and name in _OF_CLOCKS), value
            value = clock_of(value, session) if is_clock else local(value, session, is_day=call.name in _OF_DAY)
            if is_clock and written.is_text and pc.any(pc.and_(
                    pc.match_substring_regex(written.values, r"\d-\d+-\d+ +\d"), value.values.is_null())).as_py():
                raise NotComputable(f"{name} of text with an invalid date")  # whose time of day counts
        if value.type.base == "time" and has_days:
            raise NotComputable(f"EXTRACT({name} …) of text with a date")
        if value.type.base == "time" and name in (*_OF_TIMES, "MICROSECOND"):
            micros = np.asarray(value.values.cast(pa.int64()).fill_null(0))
            size = np.abs(micros)
            made = size % SECOND if name == "MICROSECOND" else _OF_TIMES[name](size // SECOND)
            if call.name == "EXTRACT":
                if session.flavour == "mariadb" and (size >= DAY).any():
                    raise NotComputable(f"EXTRACT({name} …) of times of more than a day")
                made = made * np.where(micros < 0, -1, 1)
            return numbers(pa.array(made, pa.int64(), mask=np.asarray(value.values.is_null())), constant=value.constant)
        if value.type.base not in ("date", "datetime"):
            raise NotComputable(f"{name} of a value that is not a date")
        return numbers(date_function(name, value.values), constant=value.constant)

    return computed


def _of_whole_numbers(value: Value, name: str, session: Session) -> Value | None:
    """Parts of whole numbers, which MariaDB takes as hours, minutes and seconds of an interval; None for others, and
    for numbers of so many digits that they are dates."""
    if value.type.base not in NUMBERS - {"bit"}:
        return None
    found = as_number(value, session)
    exact = np.asarray(found.cast(pa.float64()).fill_null(0))
    if (np.abs(exact) >= _FULL_DATE).any() or (exact % 1).any():
        return None
    whole = np.abs(exact).astype(np.int64)
    hours, seconds = whole // 10000, whole % 100
    parts = {"DAY": hours // 24, "HOUR": hours % 24, "MINUTE": whole // 100 % 100, "SECOND": seconds,
             "MICROSECOND": np.zeros_like(whole)}
    first, _, last = name.partition("_")
    made = parts[first]
    units = list(parts)
    for unit in units[units.index(first) + 1:units.index(last or first) + 1]:
        made = made * (SECOND if unit == "MICROSECOND" else 100) + parts[unit]
    missing = np.asarray(found.is_null()) | (parts["MINUTE"] > 59) | (seconds > 59) | (hours > _MOST_HOURS)
    return numbers(pa.array(made * np.where(exact < 0, -1, 1), pa.int64(), mask=missing), constant=value.constant)


_MOST_HOURS = 87649415
"""Of an interval in MariaDB."""


def _check_is_known(value: Value, name: str, session: Session) -> None:
    """Raise NotComputable for text and numbers of which EXTRACT takes a day or a part of a clock in ways of its own:
    MariaDB takes the days of a time, too, and no time out of a date; MySQL reads numbers with a fraction as text."""
    if not has_dates(value) or (name in _OF_CLOCKS and (session.flavour == "mysql" or (
            value.is_text and name.startswith("DAY_")))):
        return
    if value.is_text:
        is_usual = pc.match_substring_regex(value.values, _WITH_DAYS if name == "DAY" else _WITH_CLOCKS)
        is_known = session.flavour == "mysql" or pc.all(is_usual).as_py() is not False
    elif value.type.base in NUMBERS:
        found = as_number(value, session)
        size = np.abs(np.asarray(found.cast(pa.float64()).fill_null(0)))
        has_fraction = bool((size % 1).any()) if pa.types.is_floating(found.type) else found.type.scale > 0
        least = 0 if name == "DAY" else _LARGEST_CLOCK
        is_known = bool((size >= _FULL_DATE).all()) or (
            name == "DAY" or not has_fraction if session.flavour == "mysql" else
            not ((size >= least) & (size < _FULL_DATE) & ~np.asarray(found.is_null())).any())
    else:
        is_known = session.flavour == "mysql"
    if not is_known:
        raise NotComputable(f"EXTRACT({name} …) of text or numbers that are not dates and times in their usual form")


_WITH_DAYS, _WITH_CLOCKS = r"^(\s*\d+-\d+-\d.*|\d{0,8}|\d{14})$", r"^-?\d*(\.\d*)?$|^\D*$|:"
"""Text of which MariaDB takes the day of a date, or NULL, and the clock of a time, or of a date and time, or NULL."""
_LARGEST_CLOCK = 10_000_000


def _as_mariadb_reads(value: Value, name: str, session: Session) -> Value:
    """A value from which MariaDB takes days and smaller units: a number of 14 digits is a date and time, and text of
    few digits is NULL."""
    if not name.startswith("DAY_"):
        return value
    if value.type.base in NUMBERS and value.type.base != "bit":
        found = pc.greater_equal(pc.abs(as_number(value, session).cast(pa.float64())), _FULL_DATE)
        if pc.any(found).as_py() and not pc.all(found).as_py():
            raise NotComputable(f"EXTRACT({name} …) of times and dates")
        return datetimes(value, session) if pc.any(found).as_py() else value
    if value.is_text and name != "DAY_MICROSECOND":
        is_short = pc.match_substring_regex(value.values, r"^[+-]?(\d{1,5}|\d{7})$")
        if pc.all(pc.or_(is_short, pc.match_substring(value.values, ":"))).as_py() is False:
            raise NotComputable(f"EXTRACT({name} …) of text")
        return replace(value, values=pc.if_else(is_short, pa.scalar(None, value.values.type), value.values))
    return value


_FULL_DATE = 1e13


def _extract(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if call.word not in DATE_FUNCTIONS:
        raise NotComputable(f"EXTRACT({call.word} …)")
    if call.word == "YEAR_MONTH" and arguments[0].type.base == "year":  # MariaDB has no month
        months = pc.add(pc.multiply(arguments[0].values.cast(pa.int64()), 100), int(session.flavour == "mysql"))
        return numbers(months, constant=arguments[0].constant)
    return _part(call.word)(arguments, call, session, n)


def _date_difference(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    sides = [local(value, session, is_day=True) for value in arguments]
    arrays = together(sides, n)
    made = days_between(*((array, side.type) for array, side in zip(arrays, sides, strict=True)))
    return numbers(made, constant=all(side.constant for side in sides))


def _unix_timestamp(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if not arguments:
        seconds = session.utc_now() // SECOND
        return numbers(pa.array(seconds), constant=len(seconds) == 1)
    [value] = arguments
    is_nothing = np.asarray(value.values.is_null())
    if value.type.base == "timestamp" and not value.type.fsp:
        return numbers(seconds_since_epoch((value.values, value.type)), constant=value.constant)
    is_datetime = value.type.base == "datetime"
    if value.type.base != "timestamp":
        value = local(value, session)
    if value.type.base not in DATES:
        raise NotComputable("UNIX_TIMESTAMP of a value that is not a date")
    instants = value.values if value.type.base == "timestamp" else value.values.cast(pa.timestamp("us"))
    clock = np.asarray(instants.cast(pa.int64()).fill_null(0))
    none = zero_dates.which(value.values)
    utc = clock if value.type.base == "timestamp" else moved(np.where(none, 0, clock), session, -1)
    is_null = np.asarray(value.values.is_null())
    is_there = ~is_null & ~none & (utc >= SECOND) & (utc <= last_instant(session, utc))
    if (~is_null & (none if session.flavour == "mysql" else ~none & (utc >= 0) & (utc < SECOND))).any():
        raise NotComputable("UNIX_TIMESTAMP of an invalid date, or of the first second of 1970")
    is_null = is_null | ~is_there if session.flavour == "mariadb" else is_nothing  # MySQL has 0 there
    micros = pa.array(np.where(is_there, utc, 0), mask=is_null)
    exact = pc.multiply(micros.cast(pa.decimal128(19, 0)), MILLIONTH)
    seconds = exact.cast(pa.decimal128(38, value.type.fsp))
    if value.type.fsp and session.flavour == "mariadb":
        return of_seconds(seconds, constant=value.constant)
    return replace(numbers(seconds, constant=value.constant), shows=not value.type.fsp or is_datetime)


def micros_of_doubles(seconds: np.ndarray, session: Session) -> np.ndarray:
    """Seconds (float64, not negative) in microseconds as MariaDB has them, which cuts what is beyond a nanosecond, then
    what is beyond a microsecond, or rounds it if the sql_mode says so."""
    whole = np.floor(seconds)
    nanos = ((seconds - whole) * 1e9).astype(np.int64)
    made: np.ndarray = whole.astype(np.int64) * SECOND + (nanos + (500 if rounds(session) else 0)) // 1000
    return made


LAST_SECOND = 32_536_771_199


def last_instant(session: Session, utc: np.ndarray) -> int:
    """The last microsecond of a UNIX time, of which these may be some."""
    if session.flavour == "mysql":
        return LAST_SECOND * SECOND + SECOND - 1
    if session.last_timestamp is None and (utc > FIRST_LAST).any():
        raise NotComputable("a time that may be after MariaDB's last TIMESTAMP, which the log does not tell")
    return session.last_timestamp or FIRST_LAST


def _date(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """DATE(x), which never rounds."""
    value = local(arguments[0], for_days(session), whole=True, is_day=True)
    if value.type.base not in ("date", "datetime"):
        raise NotComputable("DATE of a value that is not a date")
    days, cuts = ColumnType("date"), replace(session, sql_mode=CUTS)
    made = convert_values(value.values, value.type, days, cuts)
    if session.flavour == "mysql" and value.type.base == "datetime" and zero_dates.has_any(made):  # as of a CAST
        is_cast = cast_without_digits(arguments[0], "date", call, session).values.is_valid()
        is_kept = pc.or_(is_cast, pa.array(~zero_dates.which(made)))
        made = pc.if_else(is_kept, made, pa.scalar(None, made.type))
    return replace(value, values=made, type=days, is_choice=False)


def _time(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    return cast_without_digits(arguments[0], "time", call, session)


FUNCTIONS: dict[str, Function] = {
    "EXTRACT": _extract, "DATEDIFF": _date_difference, "UNIX_TIMESTAMP": _unix_timestamp,
    "DATE": _date, "TIME": _time,
    **{name: _part(name) for name in DATE_FUNCTIONS if "_" not in name or name.startswith("TO_")},
}
