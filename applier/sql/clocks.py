"""Functions of times of day, and of dates with them, over whole columns.

Source: MySQL manual, "Date and Time Functions"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql import zero_dates
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.casting.values import convert_values
from applier.sql.combinations import computed
from applier.sql.intervals import FIRST, LAST, LONGEST_TIME, SECOND, added
from applier.sql.nodes import Call
from applier.sql.times import local
from applier.sql.values import TEXT, Arguments, Function, Value, as_text, one, together, whole_numbers

_TEXT = re.compile(r"-?(\d{1,2} (?=.*:.*:))?\d{1,3}:[0-5]?\d(:[0-5]?\d(\.\d{1,6})?)?")


def _time(value: Value, session: Session) -> Value:
    """A time, or a constant that is one: text with as many digits of a second as it has, or a whole number."""
    if value.type.base == "time":
        return value
    text = one(value) if value.is_text and value.constant else None
    if text is not None and _TEXT.fullmatch(text):
        type_ = ColumnType("time", fsp=len(text.partition(".")[2]))
    elif value.constant and value.type.base == "bigint":
        type_ = ColumnType("time")
    else:
        raise NotComputable("a value that is not a time")
    return replace(value, values=convert_values(value.values, value.type, type_, session), type=type_)


def _micros(values: list[Value], n: int) -> tuple[list[np.ndarray], np.ndarray]:
    arrays = together(values, n)
    is_null = np.logical_or.reduce([np.asarray(array.is_null()) for array in arrays])
    return [np.asarray(array.cast(pa.int64()).fill_null(0)) for array in arrays], is_null


def _added(sign: int) -> Function:
    """ADDTIME and SUBTIME: to a time, or to a date."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        start, span = local(arguments[0], session) if arguments[0].type.base == "timestamp" else arguments[0], \
            _time(arguments[1], session)
        constant = all(value.constant for value in arguments)
        if start.type.base in ("date", "datetime"):
            if zero_dates.has_any(start.values):
                raise NotComputable(f"{call.name} of an invalid date")
            type_ = ColumnType("datetime", fsp=max(start.type.fsp, span.type.fsp))
            instants = replace(start, values=start.values.cast(pa.timestamp("us")))
            (clock, more), is_null = _micros([instants, span], n)
            made = clock + sign * more
            if ((made < FIRST) | (made > LAST))[~is_null].any():
                raise NotComputable(f"{call.name} beyond what a date can be")
            return Value(pa.array(made, mask=is_null).cast(pa.timestamp("us")), type_, constant)
        is_text, start = start.is_text, _time(start, session)
        type_ = ColumnType("time", fsp=max(start.type.fsp, span.type.fsp))
        (clock, more), is_null = _micros([start, span], n)
        made = _times(clock + sign * more, is_null, type_, session, constant=constant,
                      is_nothing=session.flavour == "mysql")
        if not is_text:
            return made
        if not made.constant:
            raise NotComputable(f"{call.name} of text and of a column")
        shown = ColumnType("time", fsp=6 if type_.fsp and (clock + sign * more)[0] % SECOND else 0)
        return Value(as_text(replace(made, type=shown), session), TEXT, constant=True)

    return called


def _times(micros: np.ndarray, is_null: np.ndarray, type_: ColumnType, session: Session, *, constant: bool,
           is_nothing: bool) -> Value:
    """Times, of which those that are too long are NULL or the longest."""
    most = LONGEST_TIME + (SECOND - 10**(6 - type_.fsp) if session.flavour == "mariadb" else 0)
    if is_nothing:
        is_null = is_null | (np.abs(micros) > most)
    clipped = np.clip(micros, -most, most)
    return Value(pa.array(clipped, mask=is_null).cast(pa.duration("us")), type_, constant)


def _difference(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIMEDIFF of two times or of two datetimes."""
    sides = [local(value, session) if value.type.base == "timestamp" else value for value in arguments]
    constant = all(value.constant for value in arguments)
    if all(side.type.base == "datetime" for side in sides):
        if any(zero_dates.has_any(side.values) for side in sides):
            raise NotComputable("TIMEDIFF of invalid dates")
    else:
        sides = [_time(side, session) for side in sides]
    (left, right), is_null = _micros(sides, n)
    type_ = ColumnType("time", fsp=max(side.type.fsp for side in sides))
    return _times(left - right, is_null, type_, session, constant=constant, is_nothing=False)


def _made(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MAKETIME of whole numbers."""
    if arguments[2].type.base in ("decimal", "double", "float") or arguments[2].is_text:
        raise NotComputable("MAKETIME with a fraction of a second")
    given = [whole_numbers(value, session) for value in arguments]

    def micros(hour: Decimal, minute: Decimal, second: Decimal) -> int | None:
        if not (0 <= minute < 60 and 0 <= second < 60):
            return None
        size = int((abs(hour) * 60 + minute) * 60 + second) * SECOND
        return -min(size, LONGEST_TIME) if hour < 0 else min(size, LONGEST_TIME)

    found = computed(together(given, n), micros, pa.int64())
    return Value(found.cast(pa.duration("us")), ColumnType("time"), all(value.constant for value in given))


def _instant(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIMESTAMP: a date, with a time added to it."""
    value = local(arguments[0], session)
    if value.type.base not in ("date", "datetime"):
        raise NotComputable("TIMESTAMP of a value that is not a date")
    type_ = ColumnType("datetime", fsp=value.type.fsp)
    if arguments[0].is_text:
        raise NotComputable("TIMESTAMP of text")
    start = replace(value, values=convert_values(value.values, value.type, type_, session), type=type_, is_column=False)
    return start if len(arguments) == 1 else _added(1)([start, arguments[1]], call, session, n)


def _units_on(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIMESTAMPADD."""
    count, instant = arguments
    return added(instant, count, call.word, 1, session, n)


FUNCTIONS: dict[str, Function] = {
    "ADDTIME": _added(1), "SUBTIME": _added(-1), "TIMEDIFF": _difference, "MAKETIME": _made, "TIMESTAMP": _instant,
    "TIMESTAMPADD": _units_on,
}
