"""Times of day as text: TIME_FORMAT, and times with some digits of a second.

Source: MySQL manual, "Date and Time Functions"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

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
from applier.sql.functions.combinations import computed
from applier.sql.functions.intervals import SECOND
from applier.sql.nodes import Call
from applier.sql.read_times import has_dates, instants_or_times
from applier.sql.values import TEXT, Arguments, Function, Value, one

_HOUR, _MINUTE = 3600 * SECOND, 60 * SECOND
_SHOWN: dict[str, Callable[[int], str]] = {
    "H": lambda micros: f"{micros // _HOUR:02}", "k": lambda micros: str(micros // _HOUR),
    "h": lambda micros: f"{_of_half_day(micros):02}", "I": lambda micros: f"{_of_half_day(micros):02}",
    "l": lambda micros: str(_of_half_day(micros)), "i": lambda micros: f"{micros // _MINUTE % 60:02}",
    "s": lambda micros: f"{micros // SECOND % 60:02}", "S": lambda micros: f"{micros // SECOND % 60:02}",
    "f": lambda micros: f"{micros % SECOND:06}", "p": lambda micros: "PM" if micros // _HOUR % 24 > 11 else "AM",
    "T": lambda micros: f"{micros // _HOUR:02}:{micros // _MINUTE % 60:02}:{micros // SECOND % 60:02}",
    "r": lambda micros: f"{_of_half_day(micros):02}:{micros // _MINUTE % 60:02}:{micros // SECOND % 60:02} "
                        f"{'PM' if micros // _HOUR % 24 > 11 else 'AM'}"}


def _of_half_day(micros: int) -> int:
    return micros // _HOUR % 12 or 12


def shown_time(micros: int, digits: int | None) -> str:
    """Text of a time that is not negative; without `digits`, six of a second if it has a fraction."""
    if digits is None:
        digits = 6 if micros % SECOND else 0
    clock = _SHOWN["T"](micros)
    return f"{clock}.{f'{micros % SECOND:06}'[:digits]}" if digits else clock


def has_wrong_dates(value: Value, micros: pa.Array) -> bool:
    """True if some text is like a date and is none: MySQL's functions differ in whether it is a time then."""
    return value.is_text and bool(pc.any(pc.and_(
        micros.is_null(), pc.match_substring_regex(value.values, _LIKE_A_DATE))).as_py())


_LIKE_A_DATE = r"^\s*\d+[^\d:]+\d+[^\d:]+\d"


def _time_format(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIME_FORMAT: hours may be more than 23."""
    value, wanted = arguments[0], one(arguments[1])
    if value.type.base == "year" and session.flavour == "mariadb":  # a date, at midnight
        midnight = pc.if_else(value.values.is_valid(), 0, pa.scalar(None, pa.int64()))
        value = replace(value, type=ColumnType("time"), values=midnight.cast(pa.duration("us")))
    if has_dates(value):
        has_offset = value.is_text and pc.any(pc.match_substring_regex(value.values, r"[+-]\d\d:\d\d$")).as_py()
        micros, are_times = instants_or_times(value, session)
        if has_offset or (session.flavour == "mysql" and has_wrong_dates(value, micros)):
            raise NotComputable("TIME_FORMAT of a value that is not a time")
        of_day = pa.array(np.asarray(micros.fill_null(0)) % zero_dates.DAY, mask=np.asarray(micros.is_null()))
        value = replace(value, type=ColumnType("time", fsp=6),
                        values=pc.if_else(are_times, micros, of_day).cast(pa.duration("us")))
    parts = re.findall(r"%(.)|([^%]+)", wanted, re.DOTALL) if isinstance(wanted, str) else []
    if not parts or value.type.base not in ("time", "datetime") or any(
            sign and sign not in _SHOWN for sign, _ in parts):
        raise NotComputable(f"TIME_FORMAT by {wanted!r}")
    micros = np.asarray(value.values.cast(pa.int64()).fill_null(0))
    micros = micros if value.type.base == "time" else micros % zero_dates.DAY

    def shown(micros: int) -> str:
        return "-" * (micros < 0) + "".join(_SHOWN[sign](abs(micros)) if sign else text for sign, text in parts)

    found = pa.array(micros, mask=np.asarray(value.values.is_null()))
    return Value(computed([found], shown, pa.string()), TEXT, value.constant)


FUNCTIONS: dict[str, Function] = {"TIME_FORMAT": _time_format}
