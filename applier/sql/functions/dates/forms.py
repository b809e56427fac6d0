"""STR_TO_DATE: text read by a form, over whole columns.

Each sign of the form reads from where the one before it ended, without spaces before it; text that ends early leaves
the other parts zero, and what follows the form does not count. Source: MySQL manual, "Date and Time Functions"; judged
by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import calendar
import datetime
import re

import numpy as np
import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.texts import by_distinct
from applier.sql.functions.intervals import SECOND
from applier.sql.nodes import Call
from applier.sql.values import Arguments, Value, as_text, one

_DIGITS = {"Y": 4, "y": 2, "m": 2, "c": 2, "d": 2, "e": 2, "H": 2, "k": 2, "i": 2, "s": 2, "S": 2, "f": 6}
"""How many digits a sign reads at most."""
_PARTS = {"y": "Y", "c": "m", "e": "d", "k": "H", "S": "s"}
"""Signs that read the same part as another one."""
_OF_DAYS, _OF_CLOCKS = frozenset("Ymd"), frozenset("Hisf")
_SPACES = " \t\n\v\f\r"
_MOST = {"m": 12, "d": 31, "H": 23, "i": 59, "s": 59}


def from_text(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
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
    found = np.asarray(micros.fill_null(0))
    type_ = ColumnType(base, fsp=6 if "f" in parts else 0)
    kind = {"date": pa.date32(), "time": pa.duration("us")}.get(base, pa.timestamp("us"))
    whole = pa.array((found // DAY).astype(np.int32) if base == "date" else found, mask=np.asarray(micros.is_null()))
    return Value(whole.cast(kind), type_, value.constant)


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
    if year and month and day and day <= calendar.monthrange(year, month)[1]:
        days = datetime.date(year, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal()
        return days * DAY + clock
    if year and month and day:
        if session.flavour == "mysql" and "ALLOW_INVALID_DATES" not in session.sql_mode:
            return None
        raise NotComputable("STR_TO_DATE of a day that its month does not have")
    return zero_dates.number(year, month, day) * DAY + clock
