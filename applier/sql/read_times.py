"""Dates and times that functions read out of text, bytes and numbers, over whole columns: NULL for others. MariaDB
reads dates as MySQL does, except for offsets and signs, and times otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS, NUMBERS, ColumnType
from applier.mysql.values.scanned_times import (
    LARGEST_TIME,
    SECOND,
    InvalidDate,
    NoDate,
    Unclear,
    datetime_of_number,
    datetime_of_text,
    number_read_by_mariadb,
    read_by_mariadb,
    time_of_number,
    time_of_text,
)
from applier.mysql.values.zero_dates import BEFORE_ALL_DAYS, DAY, number
from applier.sql.casting.temporal_texts import check_length
from applier.sql.casting.temporals import in_zone, rounds
from applier.sql.casting.texts import by_distinct
from applier.sql.values import WHOLE, Value, as_number, numbers


def is_read(value: Value, session: Session) -> bool:
    """True if a function reads dates and times out of a value, as MySQL does."""
    return session.flavour == "mysql" and has_dates(value)


def has_dates(value: Value) -> bool:
    """True if a function of either server reads dates out of a value."""
    base = value.type.base
    return not value.is_null and (
        value.is_text or base in BINARY or base in MEMBERS or base in NUMBERS or base == "year") and base != "bit"


def datetimes(value: Value, session: Session, *, whole: bool = False, is_day: bool = False) -> Value:
    """The dates, and dates and times, as datetimes with the fractions of a second that they have. `whole`: an invalid
    date is none where the sql_mode says so; `is_day`: read for a function that needs no time of day."""
    if value.is_instant and value.is_text and pc.all(pc.match_substring_regex(value.values, _DATED)).as_py() is False:
        raise NotComputable("a time to which one was added, as a date")
    if value.type.base == "year" and session.flavour == "mysql":
        made = by_distinct(value.values, _first_day, pa.int64())
    else:
        _check_choice(value, session)
        made = _read(value, session, lambda one: _datetime(one, session, whole=whole, is_day=is_day)[0], pa.int64())
    type_ = ColumnType("datetime", fsp=_digits(value, session))
    text = str(value.values[0].as_py()) if value.constant and value.is_text else ""
    if session.flavour == "mariadb" and not is_day and (type_.fsp or text.endswith(".")) and text and \
            not _FRACTION.match(text):
        raise NotComputable("a constant's date with a point in it")  # whose digits may be those of its minute
    return replace(value, values=made.cast(pa.timestamp("us")), type=type_, digits=False, shows=True, shown=None)


_FRACTION = re.compile(r"\s*(\d+[^\s\w.]+\d+[^\s\w.]+\d+[ T]+\d+[^\s\w.]+\d+[^\s\w.]+\d+|\d{14}|\d{12})\.", re.ASCII)
"""A date and a time before the fraction of a second."""


_DATED = r"^\d{4}-"
"""Text that begins with a year."""


def _first_day(year: int) -> int:
    """What MySQL has of a YEAR, also of the year 0."""
    return int(np.datetime64(f"{year:04}").astype("datetime64[us]").astype(np.int64)) if year else number(0, 1, 1) * DAY


def _check_choice(value: Value, session: Session, *, is_time: bool = False) -> None:
    """Raise NotComputable for a number that is one of several, among which there may be a YEAR, which is another date
    or time. The YEAR 0 is another date only in MySQL."""
    if value.is_of_numbers:
        raise NotComputable("a number beside text, one of which is chosen, as a date or a time")
    if not value.is_choice or value.type.base not in NUMBERS:
        return
    number = as_number(value, session)
    may_be_year = pc.less_equal(number, _LAST_YEAR)
    if is_time or session.flavour == "mariadb":
        may_be_year = pc.and_(may_be_year, pc.greater_equal(number, _FIRST_YEAR))
    if pc.any(may_be_year).as_py():
        raise NotComputable("a number that is chosen, which may be a YEAR, as a date or a time")


_FIRST_YEAR, _LAST_YEAR = 1901, 2155


def have_clocks(value: Value, session: Session) -> pa.Array:
    """Which of the dates have a time of day."""
    return _read(value, session, lambda one: _datetime(one, session)[1], pa.bool_())


def times(value: Value, session: Session) -> Value:
    """The times, with the fractions of a second that they have. MySQL's YEAR is a date, at midnight (seen on 9.7)."""
    if value.type.base == "year" and session.flavour == "mysql":
        if not value.is_column:
            raise NotComputable("a YEAR that is no column's as a time")
        midnight = pc.if_else(value.values.is_valid(), 0, pa.scalar(None, pa.int64()))
        return replace(value, values=midnight.cast(pa.duration("us")), type=ColumnType("time"))
    _check_choice(value, session, is_time=True)
    value = _with_sign(value, session)
    made = _read(value, session, lambda one: _time(one, session)[0], pa.int64())
    return replace(value, values=made.cast(pa.duration("us")), type=ColumnType("time", fsp=_digits(value, session)),
                   digits=False, shows=True, shown=None)


def instants_or_times(value: Value, session: Session) -> tuple[pa.Array, pa.Array]:
    """Return each value as microseconds, of a time or since 1970, and whether it is a time."""
    def micros(one: str | Decimal) -> int:
        if session.flavour == "mariadb":
            return _by_mariadb(one, session)[0]
        return (_time if _is_time(one, session) else _datetime)(one, session)[0]

    def is_time(one: str | Decimal) -> bool:
        return _by_mariadb(one, session)[1] if session.flavour == "mariadb" else _is_time(one, session)

    if session.flavour == "mysql" and value.is_text and pc.any(pc.match_substring_regex(
            value.values, r"^\s*(\d{7}(\D|$)|\d{8}T\d{0,5}\s*$)")).as_py():
        raise NotComputable("seven digits, or a day and a part of a time, as a date or a time")
    if session.flavour == "mariadb":
        _check_choice(value, session, is_time=True)
    value = _with_sign(value, session)
    found = _read(value, session, micros, pa.int64())
    if pc.any(pc.less(found, BEFORE_ALL_DAYS * DAY)).as_py():
        raise NotComputable("an invalid date as a date or a time")
    return found, _read(value, session, is_time, pa.bool_())


def datetimes_or_times(value: Value, session: Session) -> Value:
    """Dates, or dates and times, if each of the values is written as one and as servers write it; else times."""
    value = _with_sign(value, session)
    are_times = _read(value, session, lambda one: not _is_usual(one, session), pa.bool_())
    if pc.any(are_times).as_py() and not pc.all(are_times).as_py():
        raise NotComputable("times beside other values")
    return (times if pc.any(are_times).as_py() else datetimes)(value, session)


def _with_sign(value: Value, session: Session) -> Value:
    """Whole numbers of 64 bits as MySQL reads times out of them, with a sign: 18446744073709551615 is -1. Raises
    NotComputable for so large a number of which it is not known whether it is one of 64 bits or a DECIMAL."""
    if session.flavour == "mariadb" or value.type.base != "bigint":
        return value
    found = as_number(value, session)
    wide = pc.and_(pc.greater_equal(found, _FIRST_WIDE), pc.less(found, _BEYOND_WIDE))
    if not pc.any(wide).as_py():
        return value
    if not value.type.unsigned:
        raise NotComputable("a number of more than 9223372036854775807 that may be a DECIMAL as a time")
    wrapped = pc.subtract(found.cast(pa.decimal128(37, 0)), _BEYOND_WIDE).cast(WHOLE)
    return numbers(pc.if_else(wide, wrapped, found), constant=value.constant)


_FIRST_WIDE, _BEYOND_WIDE = (pa.scalar(Decimal(1 << bits), pa.decimal128(20, 0)) for bits in (63, 64))


def _is_time(one: str | Decimal, session: Session) -> bool:
    if isinstance(one, Decimal):
        return abs(one) <= LARGEST_TIME
    try:
        if ":" in one and _time(one, session)[1]:
            return True
    except NoDate:
        pass
    return _may_be_time(one, session)


def _is_usual(one: str | Decimal, session: Session) -> bool:
    if isinstance(one, Decimal):
        if _SURELY_NONE <= one < _SURELY_DATES:
            raise NotComputable("a number as a date or a time")
        return one >= _SURELY_DATES and not _may_be_time(one, session)
    return _USUAL.fullmatch(one) is not None and not _may_be_time(one, session)


_SURELY_NONE, _SURELY_DATES = 10_000, 100_000
_USUAL = re.compile(r"\d+(\.\d*)?|\d{2,4}-\d\d?-\d\d?([ T]\d\d?:\d\d?(:\d\d?(\.\d+)?)?)?([+-]\d\d:\d\d)?",
                    re.ASCII)


def _may_be_time(one: str | Decimal, session: Session) -> bool:
    """Return whether a value is not even like a date."""
    try:
        _datetime(one, session)
    except NoDate as error:
        return error.is_short or not error.is_final or isinstance(one, Decimal)
    return False


def _digits(value: Value, session: Session) -> int:
    """Digits of a fraction of a second: those of a constant, a number or text that a function makes, else six."""
    if value.type.base in NUMBERS:
        found = as_number(value, session).type
        return min(6, found.scale) if pa.types.is_decimal(found) else 6
    if not value.constant or value.type.base == "year":
        has_none = value.type.base == "year" or (value.type.base in MEMBERS and session.flavour == "mariadb")
        return 0 if has_none else 6 if value.text_scale is None else value.text_scale
    [text] = _texts(value).to_pylist()
    found = re.search(r"\.(\d{1,6})", text or "", re.ASCII)
    return len(found[1]) if found else 0


def _texts(value: Value) -> pa.Array:
    """Return the characters of text, and of bytes, of which those beyond ASCII are not digits."""
    return to_utf8(value.values, "latin1") if value.type.base in BINARY else value.values


def _read(value: Value, session: Session, read: Callable[[str | Decimal], int], kind: pa.DataType) -> pa.Array:
    def found(one: str | Decimal | None) -> int | None:
        try:
            return None if one is None else read(one)
        except NoDate:
            return None
        except Unclear as error:
            raise NotComputable.because(error) from None

    if value.is_recoded:
        raise NotComputable("text that CONVERT … USING made of a number or a date as a date or a time")
    base = value.type.base
    if base == "year" and session.flavour == "mariadb":  # month and day are zero
        values = pc.multiply(value.values.cast(pa.int64()), 10_000).cast(pa.decimal128(38, 0))
    elif base in BINARY or value.is_text or base in MEMBERS:
        values = _texts(value)
        check_length(values, value.type.charset)
    else:
        values = as_number(value, session)
        if pa.types.is_floating(values.type):
            doubles, exact = values, _cut if session.flavour == "mariadb" else _exact
            values = by_distinct(doubles, exact, pa.decimal128(38, 6))
            if exact is _cut and rounds(session) and pc.any(pc.not_equal(values.cast(pa.float64()), doubles)).as_py():
                raise NotComputable("a double of more than six digits of a second, rounded")
    return by_distinct(values, found, kind)


def _datetime(one: str | Decimal, session: Session, *, whole: bool = False, is_day: bool = False) -> tuple[int, bool]:
    is_mysql = session.flavour == "mysql"
    try:
        if isinstance(one, Decimal):
            return datetime_of_number(*_parts(one, session), short_years=is_mysql, is_day=is_mysql and is_day)
        text = re.sub(r"^(\s*)\+", r"\1", one) if not is_mysql else one
        if not is_mysql and _SHORT_NUMBER.match(text):
            raise Unclear("text that begins with a short number and a point as a date")
        if not is_mysql and _LETTER_BEHIND_NUMBER.match(text):
            raise Unclear("digits of a date and a letter")
        if not is_mysql and _POINT_IN_NUMBER.match(text):
            raise NoDate(is_final=True)
        micros, has_clock, offset = datetime_of_text(text, up=rounds(session))
    except InvalidDate as error:
        if not _is_allowed(error, one, session, whole=whole):
            raise NoDate(is_final=True) from None
        return error.micros, error.has_clock
    if session.flavour == "mariadb" and offset is not None:
        raise Unclear("a date with an offset from UTC")
    return micros if offset is None else in_zone(micros - offset, session), has_clock


_SHORT_NUMBER = re.compile(r"\s*\d{1,3}\.", re.ASCII)
"""MariaDB takes the digits before a point for those of all parts."""
_LETTER_BEHIND_NUMBER = re.compile(r"\s*(\d{5,8}(?!T\d)[A-Za-z]|\d{9,}[A-Za-z])", re.ASCII)
"""Digits that MariaDB takes for a date in spite of the letter (seen on 10.5 and 11.8)."""
_POINT_IN_NUMBER = re.compile(r"\s*(\d{5,11}\.|\d{12,14}\.\s|\d{13}\.\d+[.\s])", re.ASCII)
"""Digits of a date and a part of a time of day before a point, which MariaDB takes for no date (seen on 10.5, 10.11 and
11.8)."""


def _is_allowed(error: InvalidDate, one: str | Decimal, session: Session, *, whole: bool) -> bool:
    """Return whether a function reads an invalid date, whatever it makes of it: `whole` as of `datetimes`."""
    is_let_in = "ALLOW_INVALID_DATES" in session.sql_mode
    if error.is_late and not whole:
        return session.flavour == "mysql" and (isinstance(one, Decimal) or is_let_in)
    if error.is_late:
        return is_let_in
    if not any(error.date):
        is_text = isinstance(one, str) and session.flavour == "mysql"
        return not (whole or is_text) or "NO_ZERO_DATE" not in session.sql_mode
    return not whole or all(error.date[1:]) or "NO_ZERO_IN_DATE" not in session.sql_mode


def _by_mariadb(one: str | Decimal, session: Session) -> tuple[int, bool]:
    if isinstance(one, Decimal):
        if one >= _LARGEST and one.as_tuple().exponent:
            raise Unclear("so large a number as a time")
        return number_read_by_mariadb(*_parts(one, session))
    try:
        return read_by_mariadb(one, up=rounds(session))
    except InvalidDate as error:
        if error.is_late:
            raise NoDate(is_final=True) from None
        raise


def _time(one: str | Decimal, session: Session) -> tuple[int, bool]:
    if session.flavour == "mariadb":
        try:
            micros, is_time = read_by_mariadb(one, up=rounds(session)) if isinstance(one, str) else _by_mariadb(
                one, session)
        except InvalidDate as error:
            micros, is_time = error.micros, False
        return micros if is_time else micros % DAY, is_time
    if isinstance(one, Decimal):
        whole, fraction = _parts(one, session)
        return time_of_number(whole, fraction), abs(whole) <= LARGEST_TIME
    micros, is_whole, offset = time_of_text(one, up=rounds(session))
    return micros if offset is None else in_zone(micros - offset, session) % DAY, is_whole


def _exact(number: float) -> Decimal | None:
    """A double with six digits behind the point, None for one that is neither a date nor a time. Raises NotComputable
    for one that these round to the next whole number, which is no other date."""
    if not abs(number) < _LARGEST:
        return None
    whole = int(abs(number))
    micros = (round((abs(number) - whole) * 1e9) + 500) // 1000  # MySQL rounds to nanoseconds first
    if micros >= SECOND:
        raise NotComputable("a double that is nearly a whole number as a date or a time")
    made = Decimal(whole) + Decimal(micros).scaleb(-6)
    return -made if number < 0 else made


def _cut(number: float) -> Decimal:
    """The same as MariaDB has it: the digits behind the sixth are cut, of nine that a double has."""
    size = min(abs(number), _LARGEST)
    exact = Decimal(int(size)) + Decimal(int((size - int(size)) * 10**9) // 1000).scaleb(-6)
    return -exact if number < 0 else exact


_LARGEST = 1e18


def _parts(number: Decimal, session: Session) -> tuple[int, int]:
    """A number's whole part and the microseconds behind its point."""
    whole = int(number)
    exact = (number - whole) * SECOND
    fraction = int(exact)
    if exact != fraction:
        raise NotComputable("a number with more than six digits behind the point as a date")
    return whole, fraction
