"""Dates and times as text, and out of text.

Source: MySQL manual, "Date and Time Literals", "Conversion Between Date and Time Types"; judged by both servers.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.scanned_times import NoDate, Unclear, datetime_of_text
from applier.mysql.values.temporal_literals import NoSuchDay, read_datetime
from applier.mysql.values.zero_dates import BEFORE_ALL_DAYS, DAY, ZERO_DAY, number, parts
from applier.sql.casting.temporals import from_clock, local_micros, rounds
from applier.sql.casting.texts import by_distinct, fitted

_MICROSECOND = timedelta(microseconds=1)
_ZERO = ZERO_DAY * DAY
_PLAIN = re.compile(r"(\d{4})-(\d\d)-(\d\d)([ T]\d\d:\d\d:\d\d(\.\d{1,6})?)?", re.ASCII)
USUAL_FORM = (r"^[1-9]\d{3}-"
              r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))"
              r"( ([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?)?$")
"""Of dates and times as servers write them, all but the 29th of February."""
_BEGINS_A_DATETIME = re.compile(r"\s*([0-9]{5,}|[0-9]{1,4}[^\w\s]+[0-9])")
_WITH_TIME = {
    "mysql": re.compile(r"\s*[0-9]{1,4}[^\w\s:.]+[0-9]{1,2}[^\w\s]+[0-9]{1,2} +[0-9]"),
    "mariadb": re.compile(r"\s*[0-9]{1,4}[^\w\s:.]+[0-9]{1,2}[^\w\s]+[0-9]{1,2}[ T]+[0-9]")}
"""Text that is read as a date and a time where a time is expected; MySQL reads 2024-02-29T10:11:12 as 00:20:24."""
_TWO_FIELDS = re.compile(r"\s*[0-9]{1,4}[^\w\s]+[0-9]+[^\w\s]*\s*")
_DIGITS = re.compile(r"\s*(\d+)(?:\.(\d*))?\s*", re.ASCII)
_WITH_CLOCK = (12, 14)
"""Numbers of digits after which a fraction is one of seconds."""
_GARBAGE_AFTER = re.compile(r"\s*(-?)(\d{1,7})(?![\d:. ]|[eE][+-]?\d)", re.ASCII)
_TIME = re.compile(r"\s*(-?)(?:(\d{1,4}) +(?=\d.))?(\d+)(?::(\d{1,2})(?::(\d{1,2})(\.\d*)?)?|(\.\d*)?)\s*", re.ASCII)
_EXPONENT = re.compile(r"\s*-?[\d:]+(\.\d+)?[eE][+-]?\d", re.ASCII)
"""The beginning of a number that no server takes for a time."""
_LONGEST_TIME = (838 * 3600 + 59 * 60 + 59) * 1_000_000
_HOUR, _MINUTE, _SECOND = 3_600_000_000, 60_000_000, 1_000_000


def to_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """DATE, DATETIME, TIMESTAMP and TIME as text."""
    if old.base == "date":
        return fitted(values.cast(pa.string()), new)
    micros = local_micros(values, old, session)
    if old.base == "time":
        return fitted(_time_text(micros, np.asarray(values.is_null()), old.fsp), new)
    instants = pa.array(micros, pa.int64(), mask=np.asarray(values.is_null())).cast(pa.timestamp("us"))
    return fitted(pc.utf8_slice_codeunits(instants.cast(pa.string()), 0, 20 + old.fsp if old.fsp else 19), new)


def _time_text(micros: np.ndarray, is_null: np.ndarray, fsp: int) -> pa.Array:
    size = np.abs(micros)

    def digits(numbers: np.ndarray, width: int) -> pa.Array:
        return pc.utf8_lpad(pa.array(numbers, pa.int64(), mask=is_null).cast(pa.string()), width, "0")

    sign = pa.array(np.where(micros < 0, "-", ""))
    clock = pc.binary_join_element_wise(digits(size // _HOUR, 2), digits(size // _MINUTE % 60, 2),
                                        digits(size // _SECOND % 60, 2), ":")
    parts = [sign, clock]
    if fsp:
        parts += [pa.scalar("."), digits(size % _SECOND // 10**(6 - fsp), fsp)]
    return pc.binary_join_element_wise(*parts, "")


def to_datetime(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text as DATE, DATETIME or TIMESTAMP; other text becomes '0000-00-00', a month or day of zero stays where
    the mode allows it."""
    flavour, mode = session.flavour, session.sql_mode
    fsp = 0 if new.base == "date" else new.fsp
    late = "ALLOW_INVALID_DATES" in mode

    def read(text: str) -> int:
        digits = _DIGITS.fullmatch(text)
        if digits and not (digits[2] is not None and len(digits[1]) in _WITH_CLOCK):
            if digits[2] and flavour == "mariadb":
                return _ZERO
            instant = _of_digits(digits[1], digits[2] or "", late)
        elif not _BEGINS_A_DATETIME.match(text) or _TWO_FIELDS.fullmatch(text):
            return _ZERO
        else:
            instant = _of_text(text, new, session, late)
        return instant if "NO_ZERO_IN_DATE" not in mode or instant >= BEFORE_ALL_DAYS * DAY or _has_month_and_day(
            instant) else _ZERO

    usual = pc.match_substring_regex(values, USUAL_FORM)
    micros = pc.if_else(usual, values, None).cast(pa.timestamp("us")).cast(pa.int64())
    if not pc.all(usual).as_py():
        micros = pc.coalesce(micros, by_distinct(pc.if_else(usual, None, values), read, pa.int64()))
    clock = np.asarray(micros.fill_null(0))
    return from_clock(clock, np.asarray(micros.is_null()), 6 if fsp < 6 or new.base == "date" else fsp, new, session)


def _has_month_and_day(instant: int) -> bool:
    """Return whether only the year of an invalid date is zero."""
    _, month, day = parts(np.array([instant // DAY]))
    return bool(month[0] and day[0])


def _of_text(text: str, new: ColumnType, session: Session, late: bool) -> int:
    """A date with marks between its parts; `late`: days behind the last of a month are let in."""
    try:
        instant = read_datetime(text, 6, session.flavour)
    except NoSuchDay as error:
        return error.instant if late else _ZERO
    except (ValueError, OverflowError):
        if _PLAIN.fullmatch(text):
            return _ZERO
        if session.flavour == "mysql" and _WITH_OFFSET.fullmatch(text):
            return _with_offset(text, new, session)
        raise NotComputable(f"{text!r} as {new.base.upper()}") from None
    return instant if isinstance(instant, int) else (instant - datetime(1970, 1, 1)) // _MICROSECOND


def _with_offset(text: str, new: ColumnType, session: Session) -> int:
    """A date and time with an offset from UTC, by the session's clock."""
    try:
        micros, _, offset = datetime_of_text(text, up=rounds(session))
    except NoDate:
        return _ZERO
    except Unclear:
        raise NotComputable(f"{text!r} as {new.base.upper()}") from None
    unit = 10**(6 - (0 if new.base == "date" else new.fsp))
    if rounds(session) and micros % _SECOND + unit // 2 >= _SECOND:  # the next second, which loses the offset
        return micros
    shown = session.in_zone(micros - (offset or 0))
    if shown is None:
        raise NotComputable("a time with an offset from UTC in the server's own time zone, which the log does not "
                            "tell, and --system-time-zone can")
    return shown


_WITH_OFFSET = re.compile(r".*:\d\d(\.\d*)?[+-]\d\d:\d\d", re.ASCII)


def _of_digits(whole: str, fraction: str, late: bool) -> int:
    """YYMMDDhhmmss, with four digits of the year where there are 4, 8, 14 or more: the last part, which may be any from
    the day on, may have one, and so may that before a point."""
    of_year = 4 if len(whole) in (4, 8) or len(whole) >= 14 else 2
    parts = [whole[:of_year], *(text[at:at + 2] for text in (whole[of_year:], fraction)
                                for at in range(0, len(text), 2))]
    fields = [int(part) for part in parts]
    if len(fields) < 3:
        return _ZERO
    year, month, day, hour, minute, second = [*fields, 0, 0, 0][:6]
    if not any(fields) or month > 12 or day > 31 or hour > 23 or minute > 59 or second > 59:
        return _ZERO
    if len(fields) > 6:
        raise NotComputable(f"{f'{whole}.{fraction}'.rstrip('.')!r} as DATETIME")
    if of_year == 2:
        year += 2000 if year < 70 else 1900
    clock = hour * _HOUR + minute * _MINUTE + second * _SECOND
    if month and day and year and _is_there(year, month, day):
        return (datetime(year, month, day) - datetime(1970, 1, 1)) // _MICROSECOND + clock
    if not month or not day or _is_there(year or 1, month, day) or late:
        return number(year, month, day) * DAY + clock
    return _ZERO


def _is_there(year: int, month: int, day: int) -> bool:
    """Return whether the calendar has such a day."""
    try:
        datetime(year, month, day)
    except ValueError:
        return False
    return True


def to_time(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text as TIME: hours:minutes[:seconds], the digits HHMMSS, or a date and time, whose time is used."""
    unit, up, flavour = 10**(6 - new.fsp), rounds(session), session.flavour

    def read(text: str) -> int:
        digits = _DIGITS.fullmatch(text)
        if _WITH_TIME[flavour].match(text) or (digits and len(digits[1]) in _WITH_CLOCK):
            try:
                instant = read_datetime(text, 6, flavour)
            except (ValueError, OverflowError):
                raise NotComputable(f"{text!r} as TIME") from None
            micros: int = instant % DAY if isinstance(instant, int) else (
                instant - instant.replace(hour=0, minute=0, second=0, microsecond=0)) // _MICROSECOND
        elif text.lstrip().startswith("+") and flavour == "mysql":
            return 0
        elif text.lstrip()[:1].isdigit() or text.lstrip()[:1] in ("-", "+", "."):
            micros = _read_time(text.replace("+", "", 1) if text.lstrip().startswith("+") else text, new, flavour)
        else:
            return 0
        sign, size = (-1, -micros) if micros < 0 else (1, micros)
        whole: int = (size + (unit // 2 if up else 0)) // unit * unit
        return sign * min(whole, _LONGEST_TIME)

    return by_distinct(values, read, pa.int64()).cast(pa.duration("us"))


def _read_time(text: str, new: ColumnType, flavour: str) -> int:
    """Microseconds, unrounded."""
    if garbage := _GARBAGE_AFTER.match(text):
        text = garbage[0]
    elif _EXPONENT.match(text):
        return 0
    found = _TIME.fullmatch(text)
    if found is None or len(found[3]) > (10 if flavour == "mysql" else 7):
        raise NotComputable(f"{text!r} as TIME")
    sign, days, first, minutes, seconds, fraction, packed_fraction = found.groups()
    hours = int(days or 0) * 24 + int(first)
    if days is not None:
        minutes = minutes or 0
    elif minutes is None:
        hours, minutes, seconds, fraction = hours // 10000, hours // 100 % 100, hours % 100, packed_fraction
    if int(minutes) > 59 or int(seconds or 0) > 59:
        return 0
    micros = (hours * 60 + int(minutes)) * _MINUTE + int(seconds or 0) * _SECOND
    if micros > _LONGEST_TIME:
        if flavour == "mariadb":
            raise NotComputable(f"{text!r} as TIME")
        micros = _LONGEST_TIME
    elif fraction and len(fraction) > 1:
        if len(fraction) > 7:
            raise NotComputable(f"{text!r} as TIME")
        micros += int(fraction[1:].ljust(6, "0"))
    return -micros if sign else micros
