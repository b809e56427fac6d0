"""Dates and times in the form in which servers compare them with each other, with numbers and with text.

Source: MySQL manual, "Type Conversion in Expression Evaluation"; judged by both servers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, NUMBERS, TEMPORAL, ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.values.scanned_times import LARGEST_TIME
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.texts import WIDE
from applier.sql.casting.values import convert_values
from applier.sql.functions.compared_forms import EQUALITIES, comparable_numbers, comparable_texts
from applier.sql.read_times import datetimes, times
from applier.sql.values import TEXT, WHOLE, Arguments, Value, as_number, as_text, numbers, shown_bytes, together


def comparable_dates(arguments: Arguments, name: str, session: Session, n: int) -> list[pa.Array]:
    """Two values of which one is a date or a time, for the comparison `name`. Raises NotComputable."""
    days = [value.type.base in TEMPORAL for value in arguments]
    if not all(days):
        instant, other = (arguments[days.index(is_day)] for is_day in (True, False))
        if instant.constant and other.is_text and other.type.charset in WIDE and session.flavour == "mysql":
            text = Value(as_text(instant, session), TEXT, constant=True)  # converted to that set
            return comparable_texts([text if value is instant else value for value in arguments], name, session, n)
        if instant.type.base == "time" and not instant.is_column and session.flavour == "mysql" and any(
                value.is_text and value.constant for value in arguments):
            if not _WHOLE_OR_NO_TIME.fullmatch(str(other.values[0].as_py())):
                raise NotComputable("a time compared with a part of one, which CASE and = read in other ways")
            return comparable_texts([Value(as_text(value, session), TEXT, value.constant) for value in arguments],
                                     name, session, n)
        if instant.type.base == "time" and not instant.is_column and session.flavour == "mariadb" and \
                instant.values.null_count:
            raise NotComputable("a time that is NULL compared with text, which differs by version")
        if other.type.base in NUMBERS and session.flavour == "mysql" and not instant.is_column and name != "IN":
            return comparable_numbers(arguments, session, n)  # only beside a column, a constant is read as its type
        if other.type.base in NUMBERS and _is_compared_by_digits(other, instant, name, session):
            wide = _with_clock(other, instant, session)
            return comparable_numbers([wide if value is other else value for value in arguments], session, n)
        if other.type.base in BINARY and other.constant and other.digits is False:
            text = Value(shown_bytes(other), TEXT, constant=True)
            return comparable_dates([text if value is other else value for value in arguments], name, session, n)
        if instant.type.base == "time" and other.is_text and other.constant and session.flavour == "mysql" and \
                times(other, session).values.null_count:
            raise NotComputable("a time compared with text that is none, which = and IN read in other ways")
        if other.type.base == "year" and other.is_column and instant.type.base != "time" and instant.constant:
            year = _year_of(instant, session)
            return comparable_numbers([year if value is instant else value for value in arguments], session, n)
        if instant.type.base == "time" and instant.is_column and other.is_text and session.flavour == "mariadb":
            read = times(other, session).values
            or_zero = pc.if_else(other.values.is_valid(), read.fill_null(pa.scalar(0, read.type)), read)
            time = Value(or_zero, instant.type, other.constant)
            return together([time if value is other else value for value in arguments], n)
        is_read_as_date = session.flavour == "mariadb" and other.type.base in NUMBERS - {"float", "double"} and \
            instant.type.base != "time" and other.type.base != "bit" and (not instant.constant or (
                other.is_column and other.type.base != "bigint"))  # a BIGINT compares by the date's digits in 10.11
        if not is_read_as_date and (not other.is_text or (not other.constant and instant.type.base == "time")):
            raise NotComputable("a date compared with a value that is not a date")
        wanted = replace(instant.type, base="datetime" if instant.type.base == "date" else instant.type.base, fsp=6)
        given, arguments = arguments, _as_instants(arguments, wanted, session)
        if wanted.base == "timestamp" and any(zero_dates.has_any(value.values) for value in arguments):
            arguments = _as_instants(given, replace(wanted, base="datetime"), session)  # of which not all are zero
        if instant.type.base == "date" and session.flavour == "mysql" and not other.constant and (
                name == "IN" or not instant.constant) and _have_clocks(arguments):
            raise NotComputable("a day compared with text that has a time of day, which = and CASE read in other "
                                "ways")
    elif arguments[0].type.base != arguments[1].type.base:
        wanted = ColumnType("datetime", fsp=6)
        if any(value.type.base == "time" for value in arguments):
            raise NotComputable("a time compared with a date")
        arguments = _as_instants(arguments, wanted, session)
    if name not in EQUALITIES and any(zero_dates.has_any(value.values) for value in arguments):
        return comparable_numbers(arguments, session, n)
    return together(arguments, n)


_WHOLE_OR_NO_TIME = re.compile(r"-?\d{2,3}:\d\d:\d\d|[^\d.:-]*")


def _as_instants(arguments: Arguments, wanted: ColumnType, session: Session) -> list[Value]:
    """Dates, times and text as they are compared: invalid dates as they are, of text too in MariaDB, where the sql_mode
    decides in MySQL."""
    modes = set(session.sql_mode.split(",")) - {"NO_ZERO_DATE", "NO_ZERO_IN_DATE"} | {"ALLOW_INVALID_DATES"}
    as_written = replace(session, sql_mode=",".join(sorted(modes)))
    return [replace(value, type=wanted, values=convert_values(
        value.values, value.type, wanted,
        session if value.is_text and session.flavour == "mysql" else as_written)) for value in arguments]


def _have_clocks(arguments: Arguments) -> bool:
    """Return whether one of these datetimes has a time of day."""
    return any((zero_dates.numbers_of(value.values) % DAY).any() for value in arguments)


def check_written_clocks(arguments: Arguments, session: Session) -> None:
    """Raise NotComputable for days beside text with a time of day, which BETWEEN and CASE compare as MySQL's = does
    not."""
    if session.flavour == "mysql" and any(value.type.base == "date" for value in arguments) and any(
            value.is_text and not value.constant and pc.any(pc.match_substring(value.values, ":")).as_py()
            for value in arguments):
        raise NotComputable("a day compared by BETWEEN or CASE with text that has a time of day")


def _year_of(day: Value, session: Session) -> Value:
    """The year of a constant date, by which it compares with a YEAR."""
    [text] = as_text(day, session).to_pylist()
    return numbers(pa.array([text and Decimal(text[:4])], WHOLE), constant=True)


def _is_compared_by_digits(number: Value, instant: Value, name: str, session: Session) -> bool:
    """Return whether a number and a date, or a time, are compared as numbers: in MySQL any that is not constant, and
    constants that have all digits of a date. Raises NotComputable for constants whose time of day decides."""
    if not number.constant:
        return session.flavour == "mysql"
    [exact] = as_number(number, session).to_pylist()
    has_clock = exact is not None and abs(exact) > _LAST_DAY
    if exact is not None and ((exact % 1 and not (has_clock and session.flavour == "mariadb")) or (
            has_clock and instant.type.base == "date" and (name not in EQUALITIES or not exact % _OF_CLOCK))):
        raise NotComputable("a constant number with a time of day compared with a date")
    if session.flavour == "mariadb" and exact and name not in EQUALITIES:  # what is not a date is less than all
        is_time = instant.type.base == "time"
        if (is_time and abs(exact) > LARGEST_TIME) or ((is_time or not 0 < exact < _WITH_CENTURY[0]) and (
                times if is_time else datetimes)(number, session).values.null_count):
            raise NotComputable("a constant number compared with a date or a time, which it is not")
    return exact is not None and (instant.type.base == "time" or exact == 0 or exact >= _WITH_CENTURY[1] or
                                  _WITH_CENTURY[0] <= exact <= _LAST_DAY)


def _with_clock(number: Value, instant: Value, session: Session) -> Value:
    """A constant's digits, with those of midnight where it is a day and compared with a date and time."""
    [exact] = as_number(number, session).to_pylist() if number.constant else [0]
    if instant.type.base in ("date", "time") or not 0 < exact <= _LAST_DAY:
        return number
    return numbers(pa.array([Decimal(int(exact)) * _OF_CLOCK], WHOLE), constant=True)


_OF_CLOCK = 1_000_000
_WITH_CENTURY, _LAST_DAY = (10_00_01_01, 10_00_01_01_00_00_00), 99_99_12_31
"""The first day, and the first day with a time, whose year has four digits."""
