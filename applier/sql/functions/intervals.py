"""Spans of time added to dates, times and text, over whole columns.

Source: MySQL manual, "Temporal Intervals"; judged by both servers.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS, TEMPORAL, ColumnType
from applier.mysql.values import decimals, zero_dates
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.temporals import rounds
from applier.sql.casting.texts import WIDE, by_distinct
from applier.sql.casting.values import convert_values
from applier.sql.functions.combinations import computed
from applier.sql.read_times import datetimes, has_dates, have_clocks
from applier.sql.values import (
    TEXT,
    Value,
    as_number,
    as_text,
    check_number,
    shown_bytes,
    together,
)
from applier.sql.whole_numbers import whole_numbers

SECOND = 1_000_000
UNITS = {"MICROSECOND": 1, "SECOND": SECOND, "MINUTE": 60 * SECOND, "HOUR": 3600 * SECOND, "DAY": DAY,
          "WEEK": 7 * DAY}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_PARTS = {
    "MINUTE_SECOND": ("MINUTE", "SECOND"), "HOUR_SECOND": ("HOUR", "MINUTE", "SECOND"),
    "HOUR_MINUTE": ("HOUR", "MINUTE"), "DAY_SECOND": ("DAY", "HOUR", "MINUTE", "SECOND"),
    "DAY_MINUTE": ("DAY", "HOUR", "MINUTE"), "DAY_HOUR": ("DAY", "HOUR"), "YEAR_MONTH": ("YEAR", "MONTH"),
    "SECOND_MICROSECOND": ("SECOND", "MICROSECOND"), "MINUTE_MICROSECOND": ("MINUTE", "SECOND", "MICROSECOND"),
    "HOUR_MICROSECOND": ("HOUR", "MINUTE", "SECOND", "MICROSECOND"),
    "DAY_MICROSECOND": ("DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND"),
}
FIRST, LAST = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1
"""The first microsecond of year 1 and the last of year 9999."""


def added(instant: Value, count: Value, unit: str, sign: int, session: Session, n: int) -> Value:
    """Add an interval of time to a date or datetime, or subtract it, as `call` says."""
    if instant.is_null:
        return Value(pa.nulls(1, pa.timestamp("us")), ColumnType("datetime"), constant=True)
    if instant.type.base == "time":
        return _added_to_time(instant, count, unit, sign, session, n)
    if has_dates(instant):
        return _added_to_read(instant, count, unit, sign, session, n)
    if instant.type.base not in ("date", "datetime", "timestamp"):
        raise NotComputable("an interval added to a value that is not a date")
    months, micros, is_null, constant = _span(count, unit, session)
    of_days = instant.type.base == "date" and unit in (*MONTHS, "YEAR_MONTH", "DAY", "WEEK")
    fsp = max(_digits(count, unit, session), instant.type.fsp)
    type_ = instant.type if of_days else ColumnType("datetime", fsp=fsp)
    as_written = replace(session, sql_mode="ALLOW_INVALID_DATES")
    local = convert_values(instant.values, instant.type, ColumnType("datetime", fsp=6), as_written)
    constant = constant and instant.constant
    if not constant:
        local = local if not instant.constant else pa.repeat(local[0], n)
    start = zero_dates.numbers_of(local)
    year, month, day = _parts(start)
    is_late = zero_dates.which(local) & (year > 0)
    is_null = np.asarray(local.is_null()) | is_null | (month == 0) | (day == 0) | is_late
    clock = np.where(is_null, 0, start)
    if months is not None:
        clock, is_none = _months_on(clock, sign * months)
        is_null = is_null | is_none
    if months is None or micros.any():
        clock, is_none = _micros_on(np.where(is_null, 0, clock), sign * micros, session)
        is_null = is_null | is_none
    whole = pa.array((clock // DAY).astype(np.int32), mask=is_null) if type_.base == "date" else \
        pa.array(clock, mask=is_null)
    made = whole.cast(pa.date32() if type_.base == "date" else pa.timestamp("us"))
    return Value(made, type_, constant)


_OF_TIMES = ("HOUR", "MINUTE", "SECOND", "MICROSECOND", "HOUR_MINUTE", "MINUTE_SECOND", "HOUR_SECOND",
             "SECOND_MICROSECOND", "MINUTE_MICROSECOND", "HOUR_MICROSECOND")


def _added_to_time(instant: Value, count: Value, unit: str, sign: int, session: Session, n: int) -> Value:
    """The same of a time; to one of days MySQL adds the current date. MariaDB's longest time has a fraction."""
    _, micros, is_null, constant = _span(count, unit, session)
    of_days = unit == "DAY" and session.flavour == "mariadb"
    if not (unit in _OF_TIMES or of_days):
        raise NotComputable("an interval of days added to a time")
    [clock] = together([instant], n) if not (constant and instant.constant) else [instant.values]
    made = np.asarray(clock.cast(pa.int64()).fill_null(0)) + sign * micros
    is_null = np.asarray(clock.is_null()) | is_null
    longest = LONGEST_TIME + (SECOND - 1 if session.flavour == "mariadb" else 0)
    spans = pa.array(made, mask=is_null | (np.abs(made) > longest)).cast(pa.duration("us"))
    type_ = ColumnType("time", fsp=max(instant.type.fsp, _digits(count, unit, session)))
    return Value(spans, type_, constant and instant.constant, is_sum=session.flavour == "mysql")


def _added_to_read(instant: Value, count: Value, unit: str, sign: int, session: Session, n: int) -> Value:
    """The same for an instant that was read from text or a number, as text: a day if it was one and the interval has
    whole days, else with six digits of a second if there is a fraction, in MariaDB with as many as both may have."""
    if session.flavour == "mysql" and instant.type.charset in WIDE:  # a column of dates finds none in it
        raise NotComputable("an interval added to text in a wide character set")
    is_year = instant.type.base == "year"
    start = datetimes(instant, session)
    own = 0 if instant.type.base in MEMBERS else start.type.fsp
    digits = max(own, _digits(count, unit, session)) if session.flavour == "mariadb" else None
    made = added(replace(start, type=ColumnType("datetime", fsp=6)), count, unit, sign, session, n)
    if digits is not None and instant.type.base in MEMBERS and pc.any(pc.not_equal(
            pc.round_temporal(made.values, 10**(6 - digits), "microsecond"), made.values)).as_py():
        raise NotComputable("a member with a fraction of a second, which MariaDB does not show")
    have = pa.repeat(True, len(instant.values)) if is_year else have_clocks(instant, session)
    if instant.is_instant and session.flavour == "mysql":  # its text may be a day, its value is an instant
        if instant.is_choice and pc.all(have).as_py() is False:  # also of other text
            raise NotComputable("an interval added to chosen text to which one was added")
        have = pa.repeat(True, len(instant.values))
    clocks = replace(instant, values=have)
    with_clock = pa.repeat(True, len(made.values)) if unit not in (*MONTHS, "YEAR_MONTH", "DAY", "WEEK") else \
        clocks.values if made.constant or not instant.constant else clocks.of_rows(n)
    shown = computed([made.values.cast(pa.int64()), with_clock],
                     lambda one, with_clock: _shown(one, digits, with_clock=with_clock), pa.string())
    return Value(shown, TEXT, made.constant, text_scale=digits, is_instant=True)


def shown_instant(instant: datetime.datetime | None, digits: int | None = None, *, with_clock: bool) -> str | None:
    """A date, or a date and a time, as text; with six digits of a second where there is a fraction, or so many."""
    if instant is None or not with_clock:
        return None if instant is None else instant.date().isoformat()
    if digits is None:
        digits = 6 if instant.microsecond else 0
    seconds = instant.isoformat(" ", "seconds")
    return f"{seconds}.{f'{instant.microsecond:06}'[:digits]}" if digits else seconds


def _shown(micros: int, digits: int | None, *, with_clock: bool) -> str | None:
    """The same of microseconds since 1970, or of an invalid date."""
    days, clock = divmod(micros, DAY)
    if days >= zero_dates.BEFORE_ALL_DAYS:
        return shown_instant(_EPOCH + datetime.timedelta(microseconds=micros), digits, with_clock=with_clock)
    year, month, day = zero_dates.parts(np.array(days))
    time = str(shown_instant(_EPOCH + datetime.timedelta(microseconds=clock), digits, with_clock=True))
    return f"{year:04}-{month:02}-{day:02}" + time[10:] * with_clock


def as_shown(value: Value, session: Session) -> Value:
    """Datetimes as text, with six digits of a second where there is a fraction, in MariaDB with those of the type."""
    digits = value.type.fsp if session.flavour == "mariadb" else None
    shown = computed([value.values.cast(pa.int64())], lambda one: _shown(one, digits, with_clock=True), pa.string())
    return Value(shown, TEXT, value.constant, text_scale=digits, is_instant=True)


_EPOCH = datetime.datetime(1970, 1, 1)
LONGEST_TIME = (838 * 3600 + 59 * 60 + 59) * SECOND


def _digits(count: Value, unit: str, session: Session) -> int:
    """The digits of a second that an interval may have."""
    if count.digits and session.flavour == "mariadb" and unit == "SECOND":
        return 0
    if count.constant and unit == "SECOND" and (
            count.digits or (count.type.base in BINARY and count.digits is False)):
        raise NotComputable("an interval of seconds of X'…', or of other bytes, of which the former has no fraction")
    if unit != "SECOND" or count.is_text or count.type.base in BINARY:
        return 6 if "MICROSECOND" in unit or unit == "SECOND" else 0
    found = as_number(count, session)
    scale = found.type.scale if pa.types.is_decimal(found.type) else count.type.scale
    return 6 if scale is None else min(6, int(scale))


def _span(count: Value, unit: str, session: Session) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, bool]:
    """An interval in months (None without months) and microseconds, which are NULL, and whether it is constant."""
    if count.type.base in BINARY and count.digits is False:
        count = replace(count, values=shown_bytes(count), type=TEXT)
    if unit in _PARTS:
        texts = as_text(count, session)
        months, micros = (computed([texts], partial(_total, unit=unit, units=units), pa.int64())
                          for units in (MONTHS, UNITS))
        return np.asarray(months.fill_null(0)), np.asarray(micros.fill_null(0)), np.asarray(texts.is_null()), \
            count.constant
    if unit not in UNITS and unit not in MONTHS:
        raise NotComputable(f"INTERVAL … {unit}")
    if (count.is_text or count.type.base in TEMPORAL) and unit != "SECOND":
        count = whole_numbers(count, session)
    found = as_number(count, session)
    if pa.types.is_floating(found.type):
        if unit == "SECOND":
            found = exact_seconds(count, session)
        else:
            found = pc.round(found, 0, round_mode="half_to_even").cast(pa.decimal128(38, 0))
    is_null = np.asarray(found.is_null())
    if unit == "SECOND":
        exact = pc.multiply(found.fill_null(0).cast(pa.decimal128(20, min(6, found.type.scale))),
                            pa.scalar(Decimal(SECOND), pa.decimal128(7, 0)))
        return None, np.asarray(exact.cast(pa.int64())), is_null, count.constant
    whole = decimals.rounded(found, 0).fill_null(0).cast(pa.decimal128(18, 0))
    amount = np.asarray(whole.cast(pa.int64()))
    if (np.abs(amount) > (_MOST_MONTHS if unit in MONTHS else _MOST_UNITS)).any():
        raise NotComputable("an interval of so much time")
    if unit in MONTHS:
        return amount * MONTHS[unit], np.zeros(len(amount), np.int64), is_null, count.constant
    most = _BEYOND // UNITS[unit]
    return None, np.clip(amount, -most, most) * UNITS[unit], is_null, count.constant


_MOST_UNITS, _MOST_MONTHS = 10**15, 2**31 // 12
"""More of them are beyond what some servers count."""
_BEYOND = 2 * (LAST - FIRST)
"""Microseconds that lead from no date to another one."""


def exact_seconds(value: Value, session: Session) -> pa.Array:
    """Seconds out of doubles, or of the numbers that text begins with, whose digits behind the sixth are cut."""
    def read(one: float | str) -> Decimal:
        found = _NUMBER.match(one) if isinstance(one, str) else None
        number = Decimal(repr(one) if isinstance(one, float) else found[0].strip() if found else 0)
        if abs(number) > _MOST_UNITS:
            raise NotComputable("so many seconds")
        made = number.quantize(_MICROSECOND, ROUND_DOWN)
        if made != number and session.flavour == "mariadb" and rounds(session):
            raise NotComputable("seconds with more than six digits behind the point, rounded")
        return made

    check_number(value)
    return by_distinct(value.values if value.is_text else as_number(value, session), read, pa.decimal128(38, 6))


def check_seconds(found: pa.Array, session: Session) -> None:
    """Raise NotComputable for seconds with more than six digits behind the point in a sql_mode that cuts them."""
    if not rounds(session) and not pc.round(found, 6).equals(found):
        raise NotComputable("seconds with more than six digits behind the point in TIME_TRUNCATE_FRACTIONAL")


_MICROSECOND = Decimal("0.000001")
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def _total(text: str, unit: str, units: dict[str, int]) -> int:
    """The sum of an interval's numbers in some units; the last ones are given if some are missing."""
    names, numbers = _PARTS[unit], re.findall(r"\d+", text)
    if len(numbers) > len(names) or ("." in text and names[-1] != "MICROSECOND"):
        raise NotComputable(f"INTERVAL {text!r} {unit}")
    if names[-1] == "MICROSECOND" and len(numbers) == len(names):
        numbers[-1] = numbers[-1].ljust(6, "0")
    sign = -1 if text.strip().startswith("-") else 1
    return sign * sum(int(number) * units.get(name, 0) for number, name in zip(
        numbers, names[len(names) - len(numbers):], strict=True))


def _parts(clock: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Years, months and days, also of invalid dates."""
    days = clock // DAY
    none = days < zero_dates.BEFORE_ALL_DAYS
    month = np.where(none, 0, days).astype("datetime64[D]").astype("datetime64[M]")
    day = days - month.astype("datetime64[D]").astype(np.int64) + 1
    number = month.astype(np.int64) + 1970 * 12
    invalid = zero_dates.parts(days)
    year, month, day = (np.where(none, given, found) for given, found in zip(
        invalid, (number // 12, number % 12 + 1, day), strict=True))
    return year, month, day


def _months_on(clock: np.ndarray, months: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same day and time some months later, the month's last day if it has no such day, and which are none."""
    year, month, day = _parts(clock)
    year, month = np.divmod(year * 12 + month - 1 + months, 12)
    is_none = (year < 0) | (year > 9999)
    year = np.where(is_none, 1, year)
    first = ((year - 1970) * 12 + month).astype("datetime64[M]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    day = np.minimum(day, np.where((year == 0) & (month == 1), 28, length))
    real = first.astype("datetime64[D]").astype(np.int64) + day - 1
    days = np.where(year > 0, real, zero_dates.ZERO_DAY + (year * 16 + month + 1) * 32 + day)
    return days * DAY + clock % DAY, is_none


def _micros_on(clock: np.ndarray, micros: np.ndarray, session: Session) -> tuple[np.ndarray, np.ndarray]:
    """Dates some time later, and which are none. MariaDB has none in the year 0; it has no 29 February."""
    none = clock < zero_dates.BEFORE_ALL_DAYS * DAY
    year, month, day = _parts(clock)
    first = ((np.where(none, year, 1970) - 1970) * 12 + np.where(none, month, 1) - 1).astype("datetime64[M]")
    days = first.astype("datetime64[D]").astype(np.int64) + day - 1 + ((year == 0) & (month < 3))
    made = np.where(none, days * DAY + clock % DAY, clock) + micros
    is_none = made > LAST
    if session.flavour == "mariadb":
        return made, is_none | (made < FIRST)
    days = made // DAY
    early = np.where(days < _MARCH_0, days - 1, days)
    date = early.astype("datetime64[D]").astype("datetime64[M]")
    day = early - date.astype("datetime64[D]").astype(np.int64) + 1
    of_zero = zero_dates.ZERO_DAY + (date.astype(np.int64) + 1970 * 12 + 1) * 32 + day
    made = np.where(made < FIRST, of_zero * DAY + made % DAY, made)
    return made, is_none | (days <= _YEAR_0)


_YEAR_0, _MARCH_0 = (int(np.datetime64(day).astype(np.int64)) for day in ("0000-01-01", "0000-03-01"))
"""The day before the first one, since that year has no 29 February, and 1 March."""
