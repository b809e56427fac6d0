"""STR_TO_DATE and DATE_FORMAT: text read by a form, and dates written by one, over whole columns.

Each sign of STR_TO_DATE's form reads from where the one before it ended, without spaces before it; text that ends
early leaves the other parts zero, and what follows the form does not count. Source: MySQL manual, "Date and Time
Functions"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.texts import by_distinct
from applier.sql.functions.dates.date_functions import weeks
from applier.sql.functions.dates.times import local
from applier.sql.functions.intervals import SECOND
from applier.sql.nodes import Call
from applier.sql.values import TEXT, Arguments, Function, Value, as_text, one

_DIGITS = {"Y": 4, "y": 2, "m": 2, "c": 2, "d": 2, "e": 2, "H": 2, "k": 2, "i": 2, "s": 2, "S": 2, "f": 6}
"""How many digits a sign reads at most."""
_PARTS = {"y": "Y", "c": "m", "e": "d", "k": "H", "S": "s"}
"""Signs that read the same part as another one."""
_OF_DAYS, _OF_CLOCKS = frozenset("Ymd"), frozenset("Hisf")
_SPACES = " \t\n\v\f\r"
_MOST = {"m": 12, "d": 31, "H": 23, "i": 59, "s": 59}


def _from_text(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """The type is by what the form has."""
    value, form = arguments[0], one(arguments[1])
    signs = re.findall(r"%(.)|(.)", form.replace("%T", "%H:%i:%S"), re.DOTALL) if isinstance(form, str) else []
    parts = {_PARTS.get(sign, sign) for sign, _ in signs if sign}
    if not parts or not parts <= _OF_DAYS | _OF_CLOCKS or form.endswith("%"):
        raise NotComputable(f"STR_TO_DATE by {form!r}")
    has_day, has_clock = bool(parts & _OF_DAYS), bool(parts & _OF_CLOCKS)
    base = "datetime" if has_day and has_clock else "date" if has_day else "time"

    def read(text: str | None) -> int | None:
        found = None if text is None else _read(text, signs)
        return None if found is None else _micros(found, base, session)

    micros = by_distinct(as_text(value, session), read, pa.int64())
    found, is_null = np.asarray(micros.fill_null(0)), np.asarray(micros.is_null())
    type_ = ColumnType(base, fsp=6 if "f" in parts else 0)
    kind = {"date": pa.date32(), "time": pa.duration("us")}.get(base, pa.timestamp("us"))
    whole = pa.array((found // DAY).astype(np.int32) if base == "date" else found, mask=is_null)
    omits = base == "time" and type_.fsp and session.flavour == "mysql"  # a fraction of zero in the text
    shows = not omits or bool((is_null | (found % SECOND != 0)).all())
    return Value(whole.cast(kind), type_, value.constant, shows=shows)


def _read(text: str, signs: list[tuple[str, str]]) -> dict[str, int] | None:
    """The parts that text has; None if it does not have the form."""
    found = dict.fromkeys("YmdHisf", 0)
    at = 0
    for sign, character in signs:
        at += len(text[at:]) - len(text[at:].lstrip(_SPACES))
        if at == len(text):
            break
        if sign:
            digits = re.match(r"\+?\d+", text[at:at + _DIGITS[sign]], re.ASCII)
            if digits is None:
                return None
            number, width = int(digits[0]), len(digits[0])
            if sign == "y" or (sign == "Y" and width <= 2):
                number += 2000 if number < 70 else 1900
            found[_PARTS.get(sign, sign)] = number * 10**(6 - width) if sign == "f" else number
            at += width
        elif not character.isspace():
            if text[at] != character:
                return None
            at += 1
    return None if any(found[part] > most for part, most in _MOST.items()) else found


def _micros(found: dict[str, int], base: str, session: Session) -> int | None:
    """The parts as microseconds, of a time or since 1970, or an invalid date; None where the sql_mode has no such."""
    clock = ((found["H"] * 60 + found["i"]) * 60 + found["s"]) * SECOND + found["f"]
    if base == "time":
        return clock
    year, month, day = (found[part] for part in "Ymd")
    if month and day > calendar.monthrange(year or 1, month)[1]:
        if session.flavour == "mysql" and "ALLOW_INVALID_DATES" not in session.sql_mode:
            return None
        raise NotComputable("STR_TO_DATE of a day that its month does not have")
    if year and month and day:
        days = datetime.date(year, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal()
        return days * DAY + clock
    if not _may_be_zero(year, month, day, clock, session):
        return None
    return zero_dates.number(year, month, day) * DAY + clock


def _may_be_zero(year: int, month: int, day: int, clock: int, session: Session) -> bool:
    """Return whether STR_TO_DATE makes a date with a zero part in the sql_mode. NO_ZERO_DATE forbids any zero part in
    MySQL; MariaDB counts the time of day as a part of '0000-00-00'."""
    is_mysql = session.flavour == "mysql"
    is_zero = not (year or month or day or (clock and not is_mysql))
    if "NO_ZERO_DATE" in session.sql_mode and (is_mysql or is_zero):
        return False
    return "NO_ZERO_IN_DATE" not in session.sql_mode or is_zero or bool(month and day)


def _name(form: str) -> Function:
    """The name of a day or a month, in English."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        value = local(arguments[0], session, is_day=call.name == "MONTHNAME")
        if value.type.base not in ("date", "datetime") or session.lc_time_names:
            raise NotComputable(f"{call.name} of a value that is not a date, or in another language than English")
        formatted = [value, Value(pa.array([form]), TEXT, constant=True)]
        made = _date_format(formatted, replace(call, name="DATE_FORMAT"), session, n)
        if call.name == "DAYNAME" and zero_dates.has_any(value.values):
            made = replace(made, values=pc.if_else(pa.array(zero_dates.which(value.values)), None, made.values))
        return made

    return computed


_FORMATS = {"Y": "%Y", "y": "%y", "m": "%m", "d": "%d", "H": "%H", "i": "%M", "s": "%S", "S": "%S", "j": "%j",
            "T": "%H:%M:%S", "%": "%%", "f": "%f"}

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_IN_ENGLISH = frozenset("MbWa")
_OF_CLOCK = frozenset({*"HisSfTklhIpr%", ""})
"""Signs that a date does not change; "" is text between them."""


def _ordinal(day: int) -> str:
    return f"{day}" + ("th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th"))


_WRITTEN: dict[str, Callable[[datetime.datetime], str]] = {
    "Y": lambda instant: f"{instant.year:04}", "M": lambda instant: _MONTHS[instant.month - 1],
    "b": lambda instant: _MONTHS[instant.month - 1][:3], "W": lambda instant: _DAYS[instant.weekday()],
    "a": lambda instant: _DAYS[instant.weekday()][:3], "c": lambda instant: str(instant.month),
    "e": lambda instant: str(instant.day), "D": lambda instant: _ordinal(instant.day),
    "k": lambda instant: str(instant.hour), "l": lambda instant: str(instant.hour % 12 or 12),
    "h": lambda instant: f"{instant.hour % 12 or 12:02}", "I": lambda instant: f"{instant.hour % 12 or 12:02}",
    "p": lambda instant: "PM" if instant.hour > 11 else "AM", "w": lambda instant: str(instant.isoweekday() % 7),
    "r": lambda instant: f"{instant.hour % 12 or 12:02}:{instant:%M:%S} {'PM' if instant.hour > 11 else 'AM'}",
    "U": lambda instant: f"{_week_of(instant, 0)[1]:02}", "u": lambda instant: f"{_week_of(instant, 1)[1]:02}",
    "V": lambda instant: f"{_week_of(instant, 2)[1]:02}", "v": lambda instant: f"{_week_of(instant, 3)[1]:02}",
    "X": lambda instant: f"{_week_of(instant, 2)[0]:04}", "x": lambda instant: f"{_week_of(instant, 3)[0]:04}"}


def _week_of(instant: datetime.datetime, mode: int) -> tuple[int, int]:
    year, week = weeks(pa.array([instant], pa.timestamp("us")), mode)
    return int(year[0]), int(week[0])


def _date_format(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value, wanted = local(arguments[0], session), one(arguments[1])
    signs = re.findall(r"%(.)|(%\Z|[^%]+)", wanted, re.DOTALL) if isinstance(wanted, str) else []
    if value.type.base == "time" and session.flavour == "mysql" and all(sign in _OF_CLOCK for sign, _ in signs):
        day = np.asarray(value.values.cast(pa.int64()).fill_null(0)) % DAY  # of whichever date
        value = replace(value, values=pa.array(day, mask=np.asarray(value.values.is_null())),
                        type=ColumnType("datetime", fsp=value.type.fsp))
    if value.type.base not in ("date", "datetime") or not isinstance(wanted, str):
        raise NotComputable("DATE_FORMAT of a value that is not a date")
    if any(sign and sign not in _FORMATS and sign not in _WRITTEN for sign, _ in signs) or (
            session.lc_time_names and any(sign in _IN_ENGLISH for sign, _ in signs)):
        raise NotComputable(f"DATE_FORMAT {wanted!r}")

    def shown(micros: int) -> str | None:
        days, clock = divmod(micros, DAY)
        is_invalid = days < zero_dates.BEFORE_ALL_DAYS
        instant = _EPOCH + datetime.timedelta(microseconds=clock if is_invalid else micros)
        texts = [_of_invalid(sign, days, instant) if is_invalid and sign in _WITH_DAY else _of_instant(sign, instant)
                 if sign else text for sign, text in signs]
        return None if None in texts else "".join(map(str, texts))

    return Value(by_distinct(value.values.cast(pa.timestamp("us")).cast(pa.int64()), shown), TEXT, value.constant)


_EPOCH = datetime.datetime(1970, 1, 1)


def _of_instant(sign: str, instant: datetime.datetime) -> str:
    return _WRITTEN[sign](instant) if sign in _WRITTEN else instant.strftime(_FORMATS[sign])


def _of_invalid(sign: str, days: int, midnight: datetime.datetime) -> str | None:
    """A part of an invalid date; None if it has no such month or day."""
    year, month, day = (int(part) for part in zero_dates.parts(np.array(days)))
    if sign in "Mb":
        return _of_instant(sign, midnight.replace(day=1, month=month)) if month else None
    if sign in "Waw" and not (year or month):
        return None
    made = {"Y": f"{year:04}", "y": f"{year % 100:02}", "m": f"{month:02}", "c": str(month), "d": f"{day:02}",
            "e": str(day), "D": _ordinal(day)}.get(sign)
    if made is None:
        raise NotComputable("the weekday or the week of an invalid date")
    return made


_WITH_DAY = frozenset("YyMbWawjmcdeDUuVvXx")
"""Signs of DATE_FORMAT for what depends on the day."""


FUNCTIONS: dict[str, Function] = {
    "STR_TO_DATE": _from_text, "DATE_FORMAT": _date_format, "MONTHNAME": _name("%M"), "DAYNAME": _name("%W")}
