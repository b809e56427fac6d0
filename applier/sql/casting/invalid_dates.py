"""Converts invalid dates (zero_dates) to other types, as both servers do: by their text and by their digits, and to
other dates as the sql_mode allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import DATES, NUMBERS, ColumnType, arrow_type
from applier.mysql.values import zero_dates
from applier.mysql.values.value_texts import date_texts
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting import numbers
from applier.sql.casting.temporals import cut, rounds, rounds_to_days

_Convert = Callable[[pa.Array, ColumnType, ColumnType, Session], pa.Array]
_SECOND = 1_000_000
_SHOWN = ColumnType("longtext", charset="utf8mb4")


def converted(values: pa.Array, old: ColumnType, new: ColumnType, session: Session,
              convert: _Convert) -> pa.Array:
    """Dates, some of them invalid, as another type; `convert` converts the valid ones. Raises NotComputable."""
    none = zero_dates.which(values)
    real = convert(zero_dates.as_nulls(values), old, new, session)
    made = _converted(values.filter(pa.array(none)), old, new, session, convert)
    picks = np.arange(len(values))
    picks[none] = len(values) + np.arange(len(made))
    return pa.concat_arrays([real, made]).take(pa.array(picks))


def _converted(values: pa.Array, old: ColumnType, new: ColumnType, session: Session,
               convert: _Convert) -> pa.Array:
    if new.base in DATES:
        return _dates(values, old, new, session)
    instants = zero_dates.numbers_of(values) * (DAY if old.base == "date" else 1)
    if new.base == "time":
        return convert(pa.array(instants % DAY).cast(pa.duration("us")), replace(old, base="time"), new, session)
    if new.base in NUMBERS:
        return _numbers(instants, old, new, session)
    if new.base == "year":
        if session.flavour == "mysql":  # the digits, which are not a year
            return pa.repeat(pa.scalar(0, pa.int16()), len(values))
        year = zero_dates.parts(instants // DAY)[0]
        return pa.array(np.where((year < 1901) | (year > 2155), 0, year), pa.int16())
    texts = date_texts(values)
    if old.base != "date":
        texts = pc.utf8_slice_codeunits(texts, 0, 20 + old.fsp if old.fsp else 19)
    return convert(texts, _SHOWN, new, session)


def copied(values: pa.Array, kind: ColumnType, session: Session) -> pa.Array:
    """Convert dates of a column that keeps its type, if a server copies the table's rows. MariaDB then looks at them in
    modes that forbid zeros only; in strict mode a statement that would change one is refused."""
    looks = session.flavour == "mysql" or "NO_ZERO_" in session.sql_mode
    if kind.base == "timestamp" or not looks or "STRICT" in session.sql_mode or not zero_dates.has_any(values):
        return values
    return pc.if_else(pa.array(zero_dates.which(values)), _dates(values, kind, kind, session), values)


def refused(values: pa.Array, kind: ColumnType, session: Session) -> np.ndarray:
    """Return which dates a CAST to a date makes NULL of: those with zeros that the sql_mode forbids. In MySQL a
    0000-00-00 has any time of day; days behind the last of a month are let in."""
    instants = zero_dates.numbers_of(values) * (DAY if kind.base == "date" else 1)
    _, month, day = zero_dates.parts(instants // DAY)
    has_zero = zero_dates.which(values) & ((month == 0) | (day == 0))
    is_mysql, none = session.flavour == "mysql", zero_dates.ZERO_DAY
    is_zero = instants // DAY == none if is_mysql else instants == none * DAY
    is_in_date = has_zero & (kind.base != "timestamp") if is_mysql else has_zero & ~is_zero
    made: np.ndarray = (is_zero & ("NO_ZERO_DATE" in session.sql_mode)) | (
        is_in_date & ("NO_ZERO_IN_DATE" in session.sql_mode))
    return made


def _dates(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Convert allowed values to DATE or DATETIME, the others, as for a TIMESTAMP, to '0000-00-00'."""
    zeros = pa.repeat(zero_dates.zero(arrow_type(new)), len(values))
    if new.base == "timestamp":
        return zeros
    clock = zero_dates.numbers_of(values) * (DAY if old.base == "date" else 1)
    days = clock // DAY
    kept = _are_allowed(days, session)
    whole = clock
    if new.base == "date":
        whole = cut(clock, _SECOND, rounds_to_days(session))
    elif new.fsp < old.fsp:
        whole = cut(clock, 10**(6 - new.fsp), rounds(session))
    if (kept & (whole > clock)).any():  # MySQL then makes the day after another one of it
        raise NotComputable("an invalid date, rounded up")
    made = pa.array(whole // DAY, pa.int32()) if new.base == "date" else pa.array(whole)
    return pc.if_else(pa.array(kept), made.cast(arrow_type(new)), zeros)


def _are_allowed(days: np.ndarray, session: Session) -> np.ndarray:
    """Return which invalid dates are allowed in a DATE or a DATETIME: those of the year 0 in all modes; a disallowed
    one becomes 0000-00-00 without a time of day."""
    of_zero = "NO_ZERO_DATE" if session.flavour == "mysql" else "NO_ZERO_IN_DATE"
    year, month, day = zero_dates.parts(days)
    has_zero = (month == 0) | (day == 0)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0)) & (year > 0)
    length = _LENGTHS[month] + (leap & (month == 2))
    allowed = np.where(has_zero, "NO_ZERO_IN_DATE" not in session.sql_mode,
                       (day <= length) | ("ALLOW_INVALID_DATES" in session.sql_mode))
    return np.where(days == zero_dates.ZERO_DAY, of_zero not in session.sql_mode, allowed)


_LENGTHS = np.array([31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 31, 31])
"""Days of months, by their numbers."""


def _numbers(instants: np.ndarray, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Dates as the numbers YYYYMMDD, or YYYYMMDDhhmmss with a fraction in a DECIMAL, FLOAT or DOUBLE."""
    if old.fsp and new.base not in ("decimal", "float", "double"):
        whole = cut(instants, _SECOND, session.flavour == "mysql")
        if (whole // DAY != instants // DAY).any():
            raise NotComputable("the day after an invalid date")
        instants = whole
    year, month, day = zero_dates.parts(instants // DAY)
    digits = (year * 100 + month) * 100 + day
    if old.base != "date":
        seconds = instants % DAY // _SECOND
        digits = digits * 1_000_000 + seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60
    exact = pc.add(pa.array(digits).cast(pa.decimal128(19, 0)),
                   pc.multiply(pa.array(instants % _SECOND).cast(pa.decimal128(19, 0)), numbers.MILLIONTH))
    return numbers.to_number(exact, ColumnType("decimal", precision=26, scale=6), new, session)
