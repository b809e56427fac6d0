"""Dates and times as text, and out of text.

Source: MySQL manual, "Date and Time Literals", "Conversion Between Date and Time Types"; judged by both servers.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.scanned_times import (
    LONGEST_TIME,
    SPACES,
    InvalidDate,
    NoDate,
    Unclear,
    datetime_of_text,
    read_by_mariadb,
    time_of_text,
)
from applier.mysql.values.zero_dates import DAY, ZERO_DAY
from applier.sql.casting.temporals import from_clock, in_zone, local_micros, rounds
from applier.sql.casting.texts import WIDE, by_distinct, fitted

_ZERO = ZERO_DAY * DAY
USUAL_FORM = (r"^[1-9]\d{3}-"
              r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))"
              r"( ([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?)?$")
"""Of dates and times as servers write them, all but the 29th of February."""
_HOUR, _MINUTE, _SECOND = 3_600_000_000, 60_000_000, 1_000_000
NOT_AS_ASCII = WIDE | {"sjis", "swe7"}
"""Character sets in which not every character of ASCII is its byte."""
_MOST_AS_ASCII = 30
"""Characters of text in such a set that servers convert to ASCII, in which they look for a date or a time."""


def check_length(values: pa.Array, charset: str | None) -> None:
    """Raise NotComputable for text of which servers read a date or a time from the beginning alone."""
    if charset in NOT_AS_ASCII and pc.any(pc.greater(pc.utf8_length(values), _MOST_AS_ASCII)).as_py():
        raise NotComputable(f"text of more than {_MOST_AS_ASCII} characters in {charset} as a date or a time")


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
    check_length(values, old.charset)
    fsp = 0 if new.base == "date" else new.fsp

    def read(text: str) -> int:
        try:
            return _instant(text, fsp, session)
        except InvalidDate as error:
            return error.micros if _is_let_in(error, session.sql_mode) else _ZERO
        except NoDate:
            return _ZERO
        except Unclear:
            raise NotComputable(f"{text[:_MOST]!r} as {new.base.upper()}") from None

    usual = pc.match_substring_regex(values, USUAL_FORM)
    micros = pc.if_else(usual, values, None).cast(pa.timestamp("us")).cast(pa.int64())
    if not pc.all(usual).as_py():
        micros = pc.coalesce(micros, by_distinct(pc.if_else(usual, None, values), read, pa.int64()))
    clock = np.asarray(micros.fill_null(0))
    return from_clock(clock, np.asarray(micros.is_null()), 6 if fsp < 6 or new.base == "date" else fsp, new, session)


def _instant(text: str, fsp: int, session: Session) -> int:
    """The date and time that text begins with, by the session's clock. Raises NoDate or Unclear."""
    if session.flavour == "mariadb":
        text = text.strip(SPACES).removeprefix("+").lstrip(SPACES)
        number = re.fullmatch(r"(\d+)\.\d+", text, re.ASCII)
        if number and len(number[1]) < _WITH_CLOCK:
            raise NoDate(is_final=True)
        if _BEGINS_A_DATETIME.match(text) and (len(text) > _MOST or _ODD_ON_MARIADB.search(text)):
            raise Unclear("a date in an unusual form")
        text = re.sub(r"^(?=\d\.\d+[.-])", "000", text)  # a year of one digit before a point is that year
    micros, _, offset = datetime_of_text(text, up=rounds(session))
    if offset is None:
        return micros
    if session.flavour == "mariadb":
        raise Unclear("a date with an offset from UTC")
    unit = 10**(6 - fsp)
    if rounds(session) and micros % _SECOND + unit // 2 >= _SECOND:  # the next second, which loses the offset
        return micros
    return in_zone(micros - offset, session)


_BEGINS_A_DATETIME = re.compile(r"[0-9]{5,}|[0-9]{1,4}[^\w\s]+[0-9]|[0-9]+[.]$")
_WITH_CLOCK = 12
"""Digits from which on a fraction is one of seconds."""
_MOST = 100
"""Characters of text in which a form is looked for, which takes the square of their number."""
_ODD_ON_MARIADB = re.compile(r"""
    [^\w\s]\W | [^\w\s.]\d{3} | \s\D | [\sT].*\s          # several marks, long parts, blanks behind a clock
    | ^\d{5,}[^\d.] | ^\d{4}\.(?!\d+\.) | ^(?!(\d{4}|\d{12}|\d{14})\.)\d{3,}\. | ^\d+\.(\D|$)  # digits before others
    | ^(\d+\.){1,5}\d{3,}\. | ^(\d+\.){2,5}\d{3}  # long parts between points
    | ^\d\.\d+(?![\d.-]) | (\d+[^\w\s]){3}\d+\s""", re.ASCII | re.DOTALL | re.VERBOSE)


def _is_let_in(error: InvalidDate, sql_mode: str) -> bool:
    """Return whether a column takes a date with a zero in it, or with a day that its month does not have."""
    if error.is_late:
        return "ALLOW_INVALID_DATES" in sql_mode
    return "NO_ZERO_IN_DATE" not in sql_mode or bool(error.date[1] and error.date[2])


def to_time(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text as TIME: hours:minutes[:seconds], the digits HHMMSS, or a date and time, whose time is used."""
    check_length(values, old.charset)
    unit, up, is_mysql = 10**(6 - new.fsp), rounds(session), session.flavour == "mysql"
    longest = LONGEST_TIME if is_mysql else (LONGEST_TIME + _SECOND - 1) // unit * unit

    def read(text: str) -> int:
        try:
            micros = _by_mysql(text) if is_mysql else read_by_mariadb(text, up=up)
        except NoDate:
            return 0
        except InvalidDate as error:
            micros = error.micros, False
        except Unclear:
            raise NotComputable(f"{text[:_MOST]!r} as TIME") from None
        size = abs(micros[0]) if micros[1] else micros[0] % DAY
        whole: int = (size + (unit // 2 if up else 0)) // unit * unit
        return min(whole, longest) * (-1 if micros[1] and micros[0] < 0 else 1)

    def _by_mysql(text: str) -> tuple[int, bool]:
        micros, _, offset = time_of_text(text, up=up)
        return (micros, True) if offset is None else (in_zone(micros - offset, session), False)

    return by_distinct(values, read, pa.int64()).cast(pa.duration("us"))
