"""The current time, spans of time added to dates, and functions of dates, over whole columns.

Source: MySQL manual, "Date and Time Functions", "Temporal Intervals"; judged by both servers.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql import zero_dates
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.zero_dates import DAY
from applier.sql.casting.numbers import MILLIONTH
from applier.sql.casting.temporal_texts import USUAL_FORM
from applier.sql.casting.texts import by_distinct
from applier.sql.casting.values import convert_values
from applier.sql.date_functions import (
    DATE_FUNCTIONS,
    EPOCH_DAY,
    date_function,
    days_between,
    seconds_since_epoch,
    weeks,
)
from applier.sql.nodes import Call
from applier.sql.values import (
    TEXT,
    Arguments,
    Function,
    Value,
    as_number,
    as_text,
    numbers,
    one,
    together,
    whole_number,
)

_SECOND = 1_000_000
_UNITS = {"MICROSECOND": 1, "SECOND": _SECOND, "MINUTE": 60 * _SECOND, "HOUR": 3600 * _SECOND, "DAY": DAY,
          "WEEK": 7 * DAY}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_PARTS = {
    "MINUTE_SECOND": ("MINUTE", "SECOND"), "HOUR_SECOND": ("HOUR", "MINUTE", "SECOND"),
    "HOUR_MINUTE": ("HOUR", "MINUTE"), "DAY_SECOND": ("DAY", "HOUR", "MINUTE", "SECOND"),
    "DAY_MINUTE": ("DAY", "HOUR", "MINUTE"), "DAY_HOUR": ("DAY", "HOUR"), "YEAR_MONTH": ("YEAR", "MONTH"),
}
_FIRST, _LAST = -62_135_596_800 * _SECOND, 253_402_300_800 * _SECOND - 1
"""The first microsecond of year 1 and the last of year 9999."""


def _datetimes(micros: np.ndarray, type_: ColumnType) -> Value:
    kind = {"date": pa.date32(), "time": pa.duration("us")}.get(type_.base, pa.timestamp("us"))
    whole = pa.array((micros // DAY).astype(np.int32)) if type_.base == "date" else pa.array(micros)
    return Value(whole.cast(kind), type_, constant=len(micros) == 1)


def current_timestamp(fsp: int, session: Session) -> Value:
    """The current time, whatever the session's time zone."""
    unit = 10**(6 - fsp)
    micros = session.utc_now() // unit * unit
    return Value(pa.array(micros).cast(pa.timestamp("us", "UTC")), ColumnType("timestamp", fsp=fsp), len(micros) == 1)


def _current(base: str, *, utc: bool) -> Function:
    """The current date, time or both, with the requested number of fractional digits."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        fsp = whole_number(arguments[0], session) if arguments else 0
        if not 0 <= fsp <= 6:
            raise NotComputable(f"{call.name} of {fsp} digits")
        clock = session.utc_now() if utc else session.now()
        unit = 10**(6 - fsp)
        return _datetimes((clock % DAY if base == "time" else clock) // unit * unit, ColumnType(base, fsp=fsp))

    return computed


def added(instant: Value, count: Value, unit: str, sign: int, session: Session, n: int) -> Value:
    """Add an interval of time to a date or datetime, or subtract it, as `call` says."""
    if instant.is_null:
        return Value(pa.nulls(1, pa.timestamp("us")), ColumnType("datetime"), constant=True)
    if instant.type.base == "time":
        return _added_to_time(instant, count, unit, sign, session, n)
    if instant.is_text:
        return _added_to_text(instant, count, unit, sign, session, n)
    if instant.type.base not in ("date", "datetime", "timestamp"):
        raise NotComputable("an interval added to a value that is not a date")
    if zero_dates.has_any(instant.values):
        raise NotComputable("an interval added to an invalid date")
    months, micros, is_null, constant = _span(count, unit, session)
    of_days = instant.type.base == "date" and unit in (*_MONTHS, "YEAR_MONTH", "DAY", "WEEK")
    digits = 6 if "MICROSECOND" in unit or (unit == "SECOND" and count.is_text) else \
        min(6, as_number(count, session).type.scale) if unit == "SECOND" else 0
    fsp = max(digits, instant.type.fsp)
    type_ = instant.type if of_days else ColumnType("datetime", fsp=fsp)
    local = convert_values(instant.values, instant.type, ColumnType("datetime", fsp=6), session)
    constant = constant and instant.constant
    if not constant:
        local = local if not instant.constant else pa.repeat(local[0], n)
    clock = np.asarray(local.cast(pa.int64()).fill_null(0))
    if months is not None:
        clock = _months_on(clock, sign * months)
    clock = clock + sign * micros
    is_null = np.asarray(local.is_null()) | is_null
    if ((clock < _FIRST) | (clock > _LAST))[~is_null].any():
        raise NotComputable("a date that is before year 1 or after year 9999")
    whole = pa.array((clock // DAY).astype(np.int32), mask=is_null) if type_.base == "date" else \
        pa.array(clock, mask=is_null)
    made = whole.cast(pa.date32() if type_.base == "date" else pa.timestamp("us"))
    return Value(made, type_, constant)


def _added_to_time(instant: Value, count: Value, unit: str, sign: int, session: Session, n: int) -> Value:
    """The same of a time of whole seconds."""
    months, micros, is_null, constant = _span(count, unit, session)
    if months is not None or unit not in ("HOUR", "MINUTE", "SECOND", "HOUR_MINUTE", "MINUTE_SECOND", "HOUR_SECOND") or (
            instant.type.fsp or (micros % _SECOND).any()):
        raise NotComputable("an interval of days, or with a fraction of a second, added to a time")
    [clock] = together([instant], n) if not (constant and instant.constant) else [instant.values]
    made = np.asarray(clock.cast(pa.int64()).fill_null(0)) + sign * micros
    is_null = np.asarray(clock.is_null()) | is_null
    if (np.abs(made[~is_null]) > _LONGEST_TIME).any():
        raise NotComputable("a time of more than 838 hours")
    return Value(pa.array(made, mask=is_null).cast(pa.duration("us")), ColumnType("time"), constant and instant.constant)


_LONGEST_TIME = (838 * 3600 + 59 * 60 + 59) * _SECOND


def _added_to_text(instant: Value, count: Value, unit: str, sign: int, session: Session, n: int) -> Value:
    """The same of text, which remains text: a day if it was one and the interval has whole days."""
    whole = pc.all(pc.match_substring_regex(instant.values, _USUAL)).as_py() is not False
    lengths = pc.unique(pc.utf8_length(instant.values).drop_null()).to_pylist()
    if not whole or len(lengths) > 1 or (lengths and lengths[0] > _SECONDS) or "MICROSECOND" in unit or (
            unit == "SECOND" and (count.is_text or as_number(count, session).type.scale != 0)):
        raise NotComputable("an interval added to text of another form, or with a fraction of a second")
    type_ = ColumnType("date" if lengths == [_DAYS] else "datetime")
    days = replace(instant, values=convert_values(instant.values, instant.type, type_, session), type=type_)
    made = added(days, count, unit, sign, session, n)
    if session.flavour == "mariadb" and not instant.constant and made.type.base == "datetime":
        made = replace(made, type=ColumnType("datetime", fsp=6))
    return Value(convert_values(made.values, made.type, TEXT, session), TEXT, made.constant)


_USUAL = USUAL_FORM + r"|^([1-9]\d([02468][48]|[13579][26]|[2468]0)|[1-9]\d00)-02-29( |$)"
"""With the 29th of February, of years that may have it."""
_DAYS, _SECONDS = len("2024-01-31"), len("2024-01-31 10:11:12")


def _span(count: Value, unit: str, session: Session) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, bool]:
    """An interval in months (None without months) and microseconds, which are NULL, and whether it is constant."""
    if unit in _PARTS:
        text = one(Value(as_text(count, session), TEXT, count.constant))
        numbers_of = re.findall(r"\d+", text or "")
        names = _PARTS[unit]
        if text is None or len(numbers_of) > len(names) or "." in text:
            raise NotComputable(f"INTERVAL {text!r} {unit}")
        names = names[len(names) - len(numbers_of):]
        sign = -1 if text.strip().startswith("-") else 1
        total = sum(int(number) * _UNITS.get(name, 0) for number, name in zip(numbers_of, names, strict=True))
        months = sum(int(number) * _MONTHS.get(name, 0) for number, name in zip(numbers_of, names, strict=True))
        return np.array([sign * months]), np.array([sign * total]), np.array([False]), True
    if unit not in _UNITS and unit not in _MONTHS:
        raise NotComputable(f"INTERVAL … {unit}")
    if count.is_text and not all(text is None or re.fullmatch(r"\s*-?\d+\s*", text) for text in
                                 count.values.unique().to_pylist()):
        raise NotComputable("an interval of a value that is not a whole number")
    found = as_number(count, session)
    if pa.types.is_floating(found.type):
        if not count.is_text:
            raise NotComputable("an interval of a number that is not exact")
        found = found.cast(pa.decimal128(38, 0))
    is_null = np.asarray(found.is_null())
    if unit == "SECOND":
        exact = pc.multiply(found.fill_null(0).cast(pa.decimal128(20, min(6, found.type.scale))),
                            pa.scalar(Decimal(_SECOND), pa.decimal128(7, 0)))
        return None, np.asarray(exact.cast(pa.int64())), is_null, count.constant
    whole = pc.round(found, 0, round_mode="half_towards_infinity").fill_null(0).cast(pa.decimal128(18, 0))
    amount = np.asarray(whole.cast(pa.int64()))
    if (np.abs(amount) > 10**8 * (10**6 if unit == "MICROSECOND" else 1)).any():
        raise NotComputable("an interval of so much time")
    if unit in _MONTHS:
        return amount * _MONTHS[unit], np.zeros(len(amount), np.int64), is_null, count.constant
    return None, amount * _UNITS[unit], is_null, count.constant


def _months_on(clock: np.ndarray, months: np.ndarray) -> np.ndarray:
    """The same day and time some months later; the month's last day if it has no such day."""
    days, time = clock // DAY, clock % DAY
    month = days.astype("datetime64[D]").astype("datetime64[M]")
    day = days - month.astype("datetime64[D]").astype(np.int64)
    moved = month.astype(np.int64) + months
    first = moved.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    length = (moved + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - first
    moved_on: np.ndarray = (first + np.minimum(day, length - 1)) * DAY + time
    return moved_on


def _local(value: Value, session: Session) -> Value:
    """A TIMESTAMP in the session's time zone, and constant text as the datetime that it holds; other values unchanged.
    """
    if value.is_text and value.constant:
        made = convert_values(value.values, value.type, ColumnType("datetime", fsp=6), session)
        if zero_dates.has_any(made):
            raise NotComputable("text that is not a date")
        return replace(value, values=made, type=ColumnType("datetime", fsp=6))
    if value.type.base == "timestamp":
        type_ = ColumnType("datetime", fsp=value.type.fsp)
        return replace(value, values=convert_values(value.values, value.type, type_, session), type=type_)
    return value


_OF_TIMES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "HOUR": lambda seconds: seconds // 3600, "MINUTE": lambda seconds: seconds // 60 % 60,
    "SECOND": lambda seconds: seconds % 60}


def _part(name: str) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        value = _local(value, session)
        if value.type.base == "time" and name in _OF_TIMES:
            seconds = np.abs(np.asarray(value.values.cast(pa.int64()).fill_null(0))) // _SECOND
            made = pa.array(_OF_TIMES[name](seconds), pa.int64(), mask=np.asarray(value.values.is_null()))
            return numbers(made, constant=value.constant)
        if value.type.base not in ("date", "datetime"):
            raise NotComputable(f"{name} of a value that is not a date")
        return numbers(date_function(name, value.values), constant=value.constant)

    return computed


def _extract(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if call.word not in DATE_FUNCTIONS:
        raise NotComputable(f"EXTRACT({call.word} …)")
    return _part(call.word)(arguments, call, session, n)


def _date_difference(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    sides = [_local(value, session) for value in arguments]
    arrays = together(sides, n)
    made = days_between(*((array, side.type) for array, side in zip(arrays, sides, strict=True)))
    return numbers(made, constant=all(side.constant for side in sides))


def _unix_timestamp(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if not arguments:
        seconds = session.utc_now() // _SECOND
        return numbers(pa.array(seconds), constant=len(seconds) == 1)
    [value] = arguments
    if value.type.base == "datetime" or (value.type.base == "timestamp" and value.type.fsp):
        if zero_dates.has_any(value.values):
            raise NotComputable("UNIX_TIMESTAMP of an invalid date")
        micros = convert_values(value.values, value.type, ColumnType("timestamp", fsp=value.type.fsp), session)
        if zero_dates.has_any(micros):
            raise NotComputable("UNIX_TIMESTAMP of a datetime that is not a TIMESTAMP")
        exact = pc.multiply(micros.cast(pa.int64()).cast(pa.decimal128(19, 0)), MILLIONTH)
        made = numbers(exact.cast(pa.decimal128(38, value.type.fsp)), constant=value.constant)
        return replace(made, shows=value.type.base == "datetime" and session.flavour == "mysql")
    return numbers(seconds_since_epoch((value.values, value.type)), constant=value.constant)


def _as(base: str) -> Function:
    """DATE(x) and TIME(x)."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        value = _local(value, session)
        if value.type.base not in ("date", "datetime", "time") or (base == "date" and value.type.base == "time"):
            raise NotComputable(f"{base.upper()} of a value that is not a date")
        if base == "date":  # which never rounds
            if value.type.base == "date":
                return value
            if zero_dates.has_any(value.values):
                raise NotComputable("DATE of an invalid date")
            return replace(value, values=value.values.cast(pa.timestamp("us")).cast(pa.date32(), safe=False),
                           type=ColumnType("date"))
        if value.type.fsp:
            raise NotComputable("TIME of a value with a fraction of a second")
        type_ = ColumnType("time", fsp=value.type.fsp)
        return replace(value, values=convert_values(value.values, value.type, type_, session), type=type_)

    return computed


def _week(of_year: bool) -> Function:
    """WEEK and YEARWEEK; without a mode as if default_week_format were 0, which a log does not tell."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        value, *given = arguments
        value = _local(value, session)
        mode = whole_number(given[0], session) & 7 if given else 3 if call.name == "WEEKOFYEAR" else 0
        if value.type.base not in ("date", "datetime") or zero_dates.has_any(value.values):
            raise NotComputable(f"{call.name} of a value that is not a date")
        year, week = weeks(value.values, mode | 2 if of_year else mode)
        made = pa.array(year * 100 + week if of_year else week, pa.int64(), mask=np.asarray(value.values.is_null()))
        return numbers(made, constant=value.constant)

    return computed


def _last_day(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value = _local(arguments[0], session)
    if value.type.base not in ("date", "datetime") or zero_dates.has_any(value.values):
        raise NotComputable("LAST_DAY of a value that is not a date")
    days = value.values.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
    months = np.asarray(days.cast(pa.int32()).fill_null(0)).astype("datetime64[D]").astype("datetime64[M]")
    last = (months + 1).astype("datetime64[D]").astype(np.int64) - 1
    made = pa.array(last.astype(np.int32), mask=np.asarray(days.is_null())).cast(pa.date32())
    return Value(made, ColumnType("date"), value.constant)


def _from_text(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """STR_TO_DATE of text that has the form; the type is by what the form has."""
    value, wanted = arguments[0], one(arguments[1])
    parts = re.findall(r"%(.)|([^%])", wanted, re.DOTALL) if isinstance(wanted, str) else []
    signs = {sign for sign, _ in parts if sign}
    has_day, has_clock = bool(signs & {"Y", "m", "d"}), bool(signs & {"H", "i", "s", "S", "T"})
    if not signs or not signs <= {*_READ} or (has_day and not {"Y", "m", "d"} <= signs) or \
            len([sign for sign, _ in parts if sign]) != len(signs):
        raise NotComputable(f"STR_TO_DATE by {wanted!r}")
    form = re.compile("".join(_READ[sign] if sign else re.escape(text) for sign, text in parts), re.ASCII)

    def read(text: str) -> int:
        found = form.fullmatch(text)
        if found is None:
            raise NotComputable(f"STR_TO_DATE of {text!r}, which has another form")
        day = {"Y": 1970, "m": 1, "d": 1, "H": 0, "i": 0, "s": 0} | {
            name: int(digits) for name, digits in found.groupdict().items()}
        made = datetime.datetime(day["Y"], day["m"], day["d"], day["H"], day["i"], day["s"])  # or ValueError
        return (made - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)

    text = as_text(value, session)
    micros = by_distinct(text, lambda one: None if one is None else read(one), pa.int64())
    type_ = ColumnType("datetime" if has_day and has_clock else "date" if has_day else "time")
    found = np.asarray(micros.fill_null(0))
    kind = {"date": pa.date32(), "time": pa.duration("us")}.get(type_.base, pa.timestamp("us"))
    whole = pa.array((found // DAY).astype(np.int32) if has_day and not has_clock else found,
                     mask=np.asarray(micros.is_null()))
    return Value(whole.cast(kind), type_, value.constant)


_READ = {"Y": r"(?P<Y>\d{4})", "m": r"(?P<m>\d\d)", "d": r"(?P<d>\d\d)", "H": r"(?P<H>\d\d)", "i": r"(?P<i>\d\d)",
         "s": r"(?P<s>\d\d)", "S": r"(?P<s>\d\d)", "T": r"(?P<H>\d\d):(?P<i>\d\d):(?P<s>\d\d)"}


def _from_days(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    found = as_number(arguments[0], session)
    if pa.types.is_floating(found.type) or found.type.scale:
        raise NotComputable("FROM_DAYS of a number with a fraction")
    days = np.asarray(found.fill_null(EPOCH_DAY).cast(pa.int64())) - EPOCH_DAY
    if ((days * DAY < _FIRST) | (days * DAY > _LAST)).any():
        raise NotComputable("FROM_DAYS of a day before year 1 or after year 9999")
    made = pa.array(days.astype(np.int32), mask=np.asarray(found.is_null())).cast(pa.date32())
    return Value(made, ColumnType("date"), arguments[0].constant)


def _to_time(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """SEC_TO_TIME of whole numbers; the longest time of larger ones."""
    found = as_number(arguments[0], session)
    if pa.types.is_floating(found.type) or found.type.scale:
        raise NotComputable("SEC_TO_TIME of a number with a fraction")
    most = _LONGEST_TIME // _SECOND
    seconds = np.clip(np.asarray(found.fill_null(0).cast(pa.int64())), -most, most)
    made = pa.array(seconds * _SECOND, mask=np.asarray(found.is_null())).cast(pa.duration("us"))
    return Value(made, ColumnType("time"), arguments[0].constant)


def _of_seconds(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIME_TO_SEC."""
    value = _local(arguments[0], session)
    if value.type.base not in ("time", "datetime") or zero_dates.has_any(value.values):
        raise NotComputable("TIME_TO_SEC of a value that is not a time")
    micros = np.asarray(value.values.cast(pa.int64()).fill_null(0))
    micros = micros if value.type.base == "time" else micros % DAY
    if (micros % _SECOND).any():
        raise NotComputable("TIME_TO_SEC of a value with a fraction of a second")
    made = np.sign(micros) * (np.abs(micros) // _SECOND)
    return numbers(pa.array(made, pa.int64(), mask=np.asarray(value.values.is_null())), constant=value.constant)


def _difference(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIMESTAMPDIFF: whole units between two dates, towards zero."""
    sides = [_local(value, session) for value in arguments]
    if any(side.type.base not in ("date", "datetime") or zero_dates.has_any(side.values) for side in sides):
        raise NotComputable("TIMESTAMPDIFF of values that are not dates")
    arrays = [array.cast(pa.timestamp("us")).cast(pa.int64()) for array in together(sides, n)]
    is_null = np.logical_or(*(np.asarray(array.is_null()) for array in arrays))
    start, end = (np.asarray(array.fill_null(0)) for array in arrays)
    if call.word in _UNITS:
        made = np.sign(end - start) * (np.abs(end - start) // _UNITS[call.word])
    elif call.word in _MONTHS:
        early, late = np.minimum(start, end), np.maximum(start, end)
        months = _month_of(late) - _month_of(early)
        months -= _in_month(late) < _in_month(early)
        made = np.sign(end - start) * (months // _MONTHS[call.word])
    else:
        raise NotComputable(f"TIMESTAMPDIFF in {call.word}")
    return numbers(pa.array(made, pa.int64(), mask=is_null), constant=all(side.constant for side in sides))


def _month_of(clock: np.ndarray) -> np.ndarray:
    return (clock // DAY).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _in_month(clock: np.ndarray) -> np.ndarray:
    """The time since the month's begin."""
    within: np.ndarray = clock - _month_of(clock).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) * DAY
    return within


_FORMATS = {"Y": "%Y", "y": "%y", "m": "%m", "d": "%d", "H": "%H", "i": "%M", "s": "%S", "S": "%S", "j": "%j",
            "T": "%H:%M:%S", "%": "%%", "f": "%f"}


def _date_format(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value, wanted = _local(arguments[0], session), one(arguments[1])
    if value.type.base not in ("date", "datetime") or not isinstance(wanted, str) or \
            zero_dates.has_any(value.values):
        raise NotComputable("DATE_FORMAT of a value that is not a date")
    parts = re.findall(r"%(.)|(%\Z|[^%]+)", wanted, re.DOTALL)
    if any(sign and sign not in _FORMATS for sign, _ in parts):
        raise NotComputable(f"DATE_FORMAT {wanted!r}")
    instants = value.values.cast(pa.timestamp("us"))

    def shown(instant: datetime.datetime) -> str:
        return "".join(f"{instant.year:04}" if sign == "Y" else instant.strftime(_FORMATS[sign]) if sign else text
                       for sign, text in parts)

    return Value(by_distinct(instants, shown), TEXT, value.constant)


FUNCTIONS: dict[str, Function] = {
    "NOW": _current("datetime", utc=False), "CURDATE": _current("date", utc=False),
    "CURTIME": _current("time", utc=False), "UTC_TIMESTAMP": _current("datetime", utc=True),
    "UTC_DATE": _current("date", utc=True), "UTC_TIME": _current("time", utc=True),
    "EXTRACT": _extract, "DATEDIFF": _date_difference, "UNIX_TIMESTAMP": _unix_timestamp,
    "WEEK": _week(of_year=False), "WEEKOFYEAR": _week(of_year=False), "YEARWEEK": _week(of_year=True),
    "STR_TO_DATE": _from_text, "FROM_DAYS": _from_days, "SEC_TO_TIME": _to_time, "TIME_TO_SEC": _of_seconds,
    "TIMESTAMPDIFF": _difference, "LAST_DAY": _last_day, "DATE": _as("date"), "TIME": _as("time"), "DATE_FORMAT": _date_format,
    **{name: _part(name) for name in DATE_FUNCTIONS if name != "YEAR_MONTH"},
}
NOW = frozenset({"NOW", "CURDATE", "CURTIME", "UTC_TIMESTAMP", "UTC_DATE", "UTC_TIME"})
"""Functions that are the current time; so is UNIX_TIMESTAMP without an argument."""
