"""Dates and times that functions read out of text, bytes and numbers, over whole columns: NULL for others. MariaDB
reads dates as MySQL does, except for offsets and signs, and times otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS, NUMBERS, ColumnType
from applier.mysql.values.scanned_times import (
    LARGEST_TIME,
    SECOND,
    NoDate,
    Unclear,
    ZeroInDate,
    datetime_of_number,
    datetime_of_text,
    number_read_by_mariadb,
    read_by_mariadb,
    time_of_number,
    time_of_text,
)
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.temporals import rounds
from applier.sql.casting.texts import by_distinct
from applier.sql.values import Value, as_number


def is_read(value: Value, session: Session) -> bool:
    """True if a function reads dates and times out of a value, as MySQL does."""
    return session.flavour == "mysql" and has_dates(value)


def has_dates(value: Value) -> bool:
    """True if a function of either server reads dates out of a value."""
    base = value.type.base
    return not value.is_null and (
        value.is_text or base in BINARY or base in MEMBERS or base in NUMBERS or base == "year") and base != "bit"


def datetimes(value: Value, session: Session, *, whole: bool = False) -> Value:
    """The dates, and dates and times, as datetimes with the fractions of a second that they have. `whole`: a zero in a
    date makes it none, where the sql_mode says so."""
    made = _read(value, session, lambda one: _of_whole(one, session, whole=whole)[0], pa.int64())
    type_ = ColumnType("datetime", fsp=_digits(value, session))
    return replace(value, values=made.cast(pa.timestamp("us")), type=type_, digits=False)


def have_clocks(value: Value, session: Session, *, whole: bool = False) -> pa.Array:
    """Which of the dates have a time of day."""
    return _read(value, session, lambda one: _of_whole(one, session, whole=whole)[1], pa.bool_())


def times(value: Value, session: Session) -> Value:
    """The times, with the fractions of a second that they have."""
    if value.type.base == "year":
        raise NotComputable("YEAR as a time")
    made = _read(value, session, lambda one: _time(one, session)[0], pa.int64())
    return replace(value, values=made.cast(pa.duration("us")), type=ColumnType("time", fsp=_digits(value, session)),
                   digits=False)


def instants_or_times(value: Value, session: Session) -> tuple[pa.Array, pa.Array]:
    """Return each value as microseconds, of a time or since 1970, and whether it is a time."""
    def micros(one: str | Decimal) -> int:
        if session.flavour == "mariadb":
            return _by_mariadb(one, session)[0]
        return (_time if _is_time(one, session) else _datetime)(one, session)[0]

    def is_time(one: str | Decimal) -> bool:
        return _by_mariadb(one, session)[1] if session.flavour == "mariadb" else _is_time(one, session)

    return _read(value, session, micros, pa.int64()), _read(value, session, is_time, pa.bool_())


def datetimes_or_times(value: Value, session: Session) -> Value:
    """Dates, or dates and times, if each of the values is written as one and as servers write it; else times."""
    are_times = _read(value, session, lambda one: not _is_usual(one, session), pa.bool_())
    if pc.any(are_times).as_py() and not pc.all(are_times).as_py():
        raise NotComputable("times beside other values")
    return (times if pc.any(are_times).as_py() else datetimes)(value, session)


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
    """Digits of a fraction of a second: those of a constant or a number, else six."""
    if value.type.base in NUMBERS:
        found = as_number(value, session).type
        return min(6, found.scale) if pa.types.is_decimal(found) else 6
    if not value.constant or value.type.base == "year":
        return 6 if value.type.base != "year" else 0
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
            raise NotComputable(str(error)) from None

    base = value.type.base
    if base in BINARY or value.is_text or base in MEMBERS:
        values = _texts(value)
    else:
        values = as_number(value, session)
        if pa.types.is_floating(values.type):
            if session.flavour == "mariadb":
                raise NotComputable("a number that is not exact as a date")
            values = by_distinct(values, lambda one: None if one is None else _exact(one), pa.decimal128(38, 6))
    return by_distinct(values, found, kind)


def _of_whole(one: str | Decimal, session: Session, *, whole: bool) -> tuple[int, bool]:
    try:
        return _datetime(one, session)
    except ZeroInDate:
        if whole and session.flavour == "mysql" and "NO_ZERO_IN_DATE" in session.sql_mode:
            raise NoDate(is_final=True) from None
        raise


def _datetime(one: str | Decimal, session: Session) -> tuple[int, bool]:
    if isinstance(one, Decimal):
        return datetime_of_number(*_parts(one, session))
    if session.flavour == "mariadb" and one.lstrip().startswith("+"):
        raise Unclear("a date with a sign")
    micros, has_clock, offset = datetime_of_text(one, up=rounds(session))
    if session.flavour == "mariadb" and offset is not None:
        raise Unclear("a date with an offset from UTC")
    return micros if offset is None else _in_zone(micros - offset, session), has_clock


def _by_mariadb(one: str | Decimal, session: Session) -> tuple[int, bool]:
    if isinstance(one, Decimal):
        return number_read_by_mariadb(*_parts(one, session))
    return read_by_mariadb(one, up=rounds(session))


def _time(one: str | Decimal, session: Session) -> tuple[int, bool]:
    if session.flavour == "mariadb":
        micros, is_time = _by_mariadb(one, session)
        return micros if is_time else micros % DAY, is_time
    if isinstance(one, Decimal):
        whole, fraction = _parts(one, session)
        return time_of_number(whole, fraction), abs(whole) <= LARGEST_TIME
    micros, is_whole, offset = time_of_text(one, up=rounds(session))
    return micros if offset is None else _in_zone(micros - offset, session) % DAY, is_whole


def _exact(number: float) -> Decimal:
    """A double with six digits behind the point."""
    if not abs(number) < _LARGEST:
        raise NotComputable("so large a double as a date")
    return Decimal(number).quantize(Decimal("0.000001"), ROUND_HALF_UP)


_LARGEST = 1e18


def _parts(number: Decimal, session: Session) -> tuple[int, int]:
    """A number's whole part and the microseconds behind its point."""
    whole = int(number)
    exact = (number - whole) * SECOND
    fraction = int(exact)
    if exact != fraction:
        raise NotComputable("a number with more than six digits behind the point as a date")
    return whole, fraction


def _in_zone(instant: int, session: Session) -> int:
    shown = session.in_zone(instant)
    if shown is None:
        raise NotComputable("a time with an offset from UTC in the server's own time zone, which the log does not "
                            "tell, and --system-time-zone can")
    return shown
