"""Dates, times and years as numbers, and out of numbers: 20240229123000, 123000, 2024.

Source: MySQL manual, "Date and Time Literals", "The YEAR Type"; judged by both servers. MySQL takes numbers for dates
by their text, MariaDB by their digits from the right.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values import decimals
from applier.mysql.values.zero_dates import BEFORE_ALL_DAYS, DAY, ZERO_DAY, zero
from applier.sql.casting import members, number_texts, numbers, temporal_texts
from applier.sql.casting.shown_numbers import shown
from applier.sql.casting.temporals import check_end, cut, cut_time, from_clock, local_micros, rounds

_SECOND = 1_000_000
_BIGINT, _WIDE, _SHOWN = ColumnType("bigint"), pa.decimal128(38, 0), ColumnType("longtext", charset="utf8mb4")
_MOST_TIME, _TOO_NEAR, _LAST_YEAR = 8385959, 999_999_000, 2155.0
_FIRST_CLOCK, _NO_TIME = 101_00_00_00, Decimal(10**15)
"""The first number with a time of day, and one that is larger than all of them."""
_LAST_TIME, _LAST_DATE, _LAST_NUMBER = 9_999_999, 99991231235959, 2**63 - 1
"""What MariaDB takes for a TIME: the largest number of hours, minutes and seconds, of a datetime, and at all."""
_LONGEST_TEXT = 10**10 - 1
"""The largest number whose text MySQL, and MariaDB for a DOUBLE, surely takes for a time."""


def to_number(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The digits as a number; a fraction of a second counts in a DECIMAL, FLOAT or DOUBLE; else MySQL
    rounds it and MariaDB cuts it, whatever the sql_mode."""
    micros = local_micros(values, old, session)
    if new.base in ("decimal", "float", "double"):
        rest = np.where((micros < 0) & (old.base == "time"), -(-micros % _SECOND), micros % _SECOND)
        whole, rest = (pa.array(part, pa.int64(), mask=np.asarray(values.is_null())).cast(pa.decimal128(19, 0))
                       for part in (_packed(micros, old), rest))
        found = pc.add(whole, pc.multiply(rest, numbers.MILLIONTH))
        return numbers.to_number(found, ColumnType("decimal", precision=26, scale=6), new, session)
    if old.fsp:
        micros = (cut_time if old.base == "time" else cut)(micros, _SECOND, session.flavour == "mysql")
        if old.base != "time":
            check_end(micros)
    whole = pa.array(_packed(micros, old), pa.int64(), mask=np.asarray(values.is_null()))
    return numbers.to_number(whole, _BIGINT, new, session)


def _packed(micros: np.ndarray, old: ColumnType) -> np.ndarray:
    """Whole seconds as YYYYMMDD, YYYYMMDDhhmmss or [-]hhmmss."""
    if old.base == "time":
        seconds = np.abs(micros) // _SECOND
        signs = np.where(micros < 0, -1, 1)
        clocks: np.ndarray = signs * (seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60)
        return clocks
    days = pa.array(micros // DAY, pa.int32()).cast(pa.date32())
    year, month, day = (np.asarray(part(days)).astype(np.int64) for part in (pc.year, pc.month, pc.day))
    date = year * 10000 + month * 100 + day
    if old.base == "date":
        return date
    seconds = micros % DAY // _SECOND
    datetimes: np.ndarray = date * 1_000_000 + seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60
    return datetimes


def to_year(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Numbers as YEAR: 1 to 69 are of this century, 70 to 99 of the last, other numbers become 0."""
    if pa.types.is_floating(values.type) and session.flavour == "mariadb":
        values = pc.if_else(pc.greater(values, pa.scalar(_LAST_YEAR, values.type)), 0, pc.trunc(values))
    return _years(numbers.to_number(values, old, _BIGINT, session))


def _years(whole: pa.Array) -> pa.Array:
    year = np.asarray(whole.fill_null(0)).astype(np.int64)
    year = np.where((year > 0) & (year < 70), year + 2000, np.where((year >= 70) & (year < 100), year + 1900, year))
    year = np.where((year < 1901) | (year > 2155), 0, year)
    return pa.array(year, pa.int16(), mask=np.asarray(whole.is_null()))


def text_to_year(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text as YEAR: by the number that it begins with; a zero is 2000."""
    whole, is_small = number_texts.leading_year(values, old.charset, session.flavour)
    years = _years(numbers.to_number(whole, _WIDE_TYPE, _BIGINT, session))
    if session.flavour == "mariadb" and pc.any(pc.match_substring_regex(values, _UNCLEAR_YEAR)).as_py():
        raise NotComputable("text of a number with two points, or of zero with an exponent, as YEAR")
    is_zero = pc.and_(is_small, pc.equal(whole, pa.scalar(Decimal(0), whole.type)))
    if pc.all(pc.string_is_ascii(values.filter(is_zero))).as_py() is False:
        raise NotComputable("text that begins with a zero as YEAR")
    is_short = pc.not_equal(pc.binary_length(values), _OF_YEAR)
    return pc.if_else(pc.and_(is_zero, is_short), pa.scalar(2000, pa.int16()), years)


_UNCLEAR_YEAR = r"^[ \t-\r]*[+-]?(\d*\.\d*\.|0+[eE])"
_OF_YEAR = 4
"""Characters of '0000', which is that year, where a zero with more or fewer of them is 2000."""
_WIDE_TYPE = ColumnType("decimal", precision=38, scale=0)


def member_to_year(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The number of an ENUM's or a SET's members as YEAR."""
    return _years(numbers.to_number(members.member_numbers(values, old), _WIDE_TYPE, _BIGINT, session))


def datetime_to_year(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """MySQL takes the digits of a datetime for a number, which then is not a year; MariaDB takes the year."""
    if session.flavour == "mysql":
        return _years(to_number(values, old, _BIGINT, session))
    if old.base == "time":
        raise NotComputable("TIME as YEAR")
    days = pa.array(local_micros(values, old, session) // DAY, pa.int32()).cast(pa.date32())
    return _years(pa.array(np.asarray(pc.year(days)), mask=np.asarray(values.is_null())))


def to_datetime(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Numbers as DATE, DATETIME or TIMESTAMP; other numbers become '0000-00-00', a month or day of zero stays where the
    mode allows it."""
    if old.base == "year":  # as digits they have no month
        zeros = pa.repeat(zero(arrow_type(new)), len(values))
        return pc.if_else(values.is_null(), pa.scalar(None, zeros.type), zeros)
    by_digits = old.base == "bit" or (session.flavour == "mariadb" and not pa.types.is_floating(values.type))
    if not by_digits:
        text = shown(values, old, session.flavour)
        return temporal_texts.to_datetime(text, _SHOWN, new, session)
    return of_digits(values, old, new, session)


def of_digits(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The same by the digits of the numbers, from the right. What is behind their point is a fraction of a second, and
    counts where the number has a time of day."""
    whole, nanos = values, np.zeros(len(values), np.int64)
    if pa.types.is_decimal(values.type):
        whole = decimals.floor(values.cast(pa.decimal128(38, values.type.scale)))
        nanos = _nanos(values)
    elif pa.types.is_floating(values.type):
        whole = pc.floor(values)
        nanos = np.rint(np.asarray(pc.subtract(values, whole).fill_null(0)) * 1e9).astype(np.int64)
    number = np.asarray(numbers.to_number(whole, old, _BIGINT, session).fill_null(0)).astype(np.int64)
    clock, is_none = _by_digits(number, session)
    counts = (nanos > 0) & (number >= _FIRST_CLOCK) & ~is_none
    micros = (nanos + 500) // 1000 if rounds(session) else nanos // 1000
    of_none = (number == 0) & (cut(micros, 10**(6 - new.fsp), rounds(session)) > 0)  # '0000-00-00 00:00:00.49'
    if (counts & (clock < BEFORE_ALL_DAYS * DAY)).any() or (new.base != "date" and of_none.any()):
        raise NotComputable("numbers with a fraction as invalid dates")
    clock = np.where(is_none, ZERO_DAY * DAY, clock + np.where(counts, micros, 0))
    return from_clock(clock, np.asarray(values.is_null()), 6 if counts.any() else 0, new, session)


def _nanos(values: pa.Array) -> np.ndarray:
    """What decimals have beyond the next smaller whole number, in whole nanoseconds; 0 for those that are no times."""
    few = decimals.truncated(values, 9)
    few = few.cast(pa.decimal128(38, few.type.scale))
    none = pa.scalar(Decimal(0), few.type)
    few = pc.if_else(pc.less(pc.abs(few), pa.scalar(_NO_TIME, few.type)), few, none).cast(pa.decimal128(30, 9))
    fractions = pc.subtract(few, decimals.floor(few).cast(few.type)).cast(pa.float64()).fill_null(0)
    return np.rint(np.asarray(fractions) * 1e9).astype(np.int64)


def _by_digits(number: np.ndarray, session: Session) -> tuple[np.ndarray, np.ndarray]:
    """Datetimes (int64 microseconds) of YYMMDD, YYYYMMDD, YYMMDDhhmmss and YYYYMMDDhhmmss, and which are none. Invalid
    dates that the sql_mode allows are as in applier.mysql.values.zero_dates."""
    is_none = number < 101
    full = np.zeros(len(number), np.int64)
    for least, most, century, unit in _FORMS + [_SHORT_YEARS] * (session.flavour == "mysql"):
        here = (number >= least) & (number <= most)
        full = np.where(here, (number + century) * unit, full)
    date, clock = full // 1_000_000, full % 1_000_000
    year, month, day = date // 10000, date // 100 % 100, date % 100
    hour, minute, second = clock // 10000, clock // 100 % 100, clock % 100
    is_none |= (year > 9999) | (month > 12) | (hour > 23) | (minute > 59) | (second > 59) | (full == 0)
    has_zero = ~is_none & (month * day == 0) & (day <= 31)
    is_none |= month * day == 0
    safe_year, safe_month = np.where(is_none, 1970, year), np.where(is_none, 1, month)
    first = ((safe_year - 1970) * 12 + safe_month - 1).astype("datetime64[M]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    has_late = ~is_none & (day > length) & (day <= 31)
    is_none |= day > length
    days = first.astype("datetime64[D]").astype(np.int64) + np.where(is_none, 1, day) - 1
    kept = has_zero & ("NO_ZERO_IN_DATE" not in session.sql_mode)
    kept |= has_late & ("ALLOW_INVALID_DATES" in session.sql_mode)
    days = np.where(kept, ZERO_DAY + (year * 16 + month) * 32 + day, days)
    is_none &= ~kept
    return days * DAY + ((hour * 60 + minute) * 60 + second) * _SECOND, is_none


_FORMS = [
    (101, 691231, 20000000, 1_000_000), (700101, 991231, 19000000, 1_000_000), (10000101, 99991231, 0, 1_000_000),
    (101000000, 691231235959, 20000000000000, 1), (700101000000, 991231235959, 19000000000000, 1),
    (991231235960, 10000100999999, 0, 1), (10000101000000, 99991231235959, 0, 1),
]
"""From, to, the number to add to the year, and the factor for the number."""
_SHORT_YEARS = (991232, 10000100, 0, 1_000_000)
"""The same where MySQL reads years of up to three digits."""


def of_doubles(values: pa.Array, new: ColumnType, session: Session) -> pa.Array:
    """Doubles as MariaDB's TIME where an expression gives them: cut at the nanosecond, so that 2.67 is 2.669999 (seen
    on 10.5, 10.11 and 11.8). A column's that become a TIME are read as a SELECT shows them."""
    given = np.asarray(values.cast(pa.float64()).fill_null(0))
    size = np.abs(given)
    whole = np.floor(size)
    if ((whole > _MOST_TIME) & ((whole // 100 % 100 > 59) | (whole % 100 > 59))).any():  # depends on the version
        raise NotComputable("doubles of more than 8385959 as TIME")
    nanos = np.floor((size - whole) * 1e9)
    unit = 1 if rounds(session) else 1000
    made = np.where(size > _MOST_TIME, size, whole + np.floor(nanos / unit) * unit / 1e9)
    return to_time(pa.array(np.copysign(made, given), mask=np.asarray(values.is_null())), ColumnType("double"), new,
                   session)


def to_time(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Numbers as TIME, by their digits hhmmss; with more than 59 minutes or seconds, 0. MySQL reads their text."""
    by_text = session.flavour == "mysql" and old.base != "bit"
    if by_text or old.base == "float":  # as shown, with six digits
        if not by_text and pc.any(pc.greater(pc.abs(values), float(_MOST_TIME))).as_py():
            raise NotComputable("numbers of more than 8385959 as TIME")
        text = shown(values, old, session.flavour)
        return temporal_texts.to_time(text, _SHOWN, new, session)
    is_double = pa.types.is_floating(values.type)
    largest = _LONGEST_TEXT if session.flavour == "mysql" or is_double else _LAST_NUMBER
    if is_double:
        values = numbers.to_number(values, old, ColumnType("decimal", precision=36, scale=15), session)
    elif not pa.types.is_decimal(values.type):
        values = values.cast(_WIDE if values.type != pa.int64() else pa.decimal128(19, 0))
    number = values.cast(pa.decimal128(38, values.type.scale)).cast(pa.decimal128(36, max(9, values.type.scale)))
    size, is_mysql = pc.abs(number), session.flavour == "mysql"
    exact = decimals.floor(size).cast(_WIDE).fill_null(0)
    if (pc.max(exact).as_py() or 0) > largest:
        raise NotComputable("numbers of more than 8385959 as TIME")
    whole = np.asarray(exact.cast(pa.int64()))
    nanos, unit = _nanos(size), 10**(9 - new.fsp)
    if not is_mysql and (nanos >= _TOO_NEAR).any():
        raise NotComputable("numbers with the fraction .999999 as TIME, which MariaDB 10.11 does not take")
    if rounds(session):
        nanos = (nanos + 500) // 1000 * 1000 + unit // 2
    nanos = nanos // unit * unit
    hours, minutes, seconds = np.minimum(whole // 10000, 839), whole // 100 % 100, whole % 100
    micros = ((hours * 60 + minutes) * 60 + seconds) * _SECOND + nanos // 1000
    most = (838 * 3600 + 59 * 60 + 59) * _SECOND + (0 if is_mysql else (_SECOND - 1) // (unit // 1000) * (unit // 1000))
    negative = np.asarray(pc.less(number, pa.scalar(Decimal(0), number.type)).fill_null(False))
    is_none = (minutes > 59) | (seconds > 59)
    micros = np.where(is_none, 0, np.minimum(micros, most))
    if not (is_mysql or is_double):
        are_dates = (whole > _LAST_TIME) & (whole <= _LAST_DATE) & ~negative
        if (is_none & (whole > _MOST_TIME) & ~are_dates).any():
            raise NotComputable("numbers of more than 8385959 as TIME")  # depends on the version
        if are_dates.any():
            micros = np.where(are_dates, _times_of_day(whole, nanos // 1000, session), micros)
    return pa.array(np.where(negative, -micros, micros), pa.int64(), mask=np.asarray(values.is_null())).cast(
        pa.duration("us"))


def _times_of_day(number: np.ndarray, fractions: np.ndarray, session: Session) -> np.ndarray:
    """MariaDB's times (int64 microseconds) of numbers that are too large for one, as datetimes of whatever the calendar
    has; 0 where they are none."""
    instants, is_none = _by_digits(number, replace(session, sql_mode="ALLOW_INVALID_DATES"))
    times = instants % DAY + np.where(number >= _FIRST_CLOCK, fractions, 0)
    return np.where(is_none, 0, times)
