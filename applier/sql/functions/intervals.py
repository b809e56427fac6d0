"""Spans of time added to dates, times and text, over whole columns.

Source: MySQL manual, "Temporal Intervals"; judged by both servers.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, NUMBERS, ColumnType
from applier.mysql.values import decimals, zero_dates
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.values import convert_values
from applier.sql.functions.combinations import computed
from applier.sql.read_times import datetimes, has_dates, have_clocks
from applier.sql.values import (
    TEXT,
    Value,
    as_number,
    as_text,
    numbers,
    shown_bytes,
    together,
)

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
    if zero_dates.has_any(instant.values):
        raise NotComputable("an interval added to an invalid date")
    months, micros, is_null, constant = _span(count, unit, session)
    of_days = instant.type.base == "date" and unit in (*MONTHS, "YEAR_MONTH", "DAY", "WEEK")
    fsp = max(_digits(count, unit, session), instant.type.fsp)
    type_ = instant.type if of_days else ColumnType("datetime", fsp=fsp)
    local = convert_values(instant.values, instant.type, ColumnType("datetime", fsp=6), session)
    constant = constant and instant.constant
    if not constant:
        local = local if not instant.constant else pa.repeat(local[0], n)
    clock = np.asarray(local.cast(pa.int64()).fill_null(0))
    if months is not None:
        clock = _months_on(clock, sign * months)
    clock = clock + sign * micros
    is_null = np.asarray(local.is_null()) | is_null
    if (clock < FIRST)[~is_null].any():
        raise NotComputable("a date that is before year 1")
    is_null = is_null | (clock > LAST)
    whole = pa.array((clock // DAY).astype(np.int32), mask=is_null) if type_.base == "date" else \
        pa.array(clock, mask=is_null)
    made = whole.cast(pa.date32() if type_.base == "date" else pa.timestamp("us"))
    return Value(made, type_, constant)


_OF_TIMES = ("HOUR", "MINUTE", "SECOND", "HOUR_MINUTE", "MINUTE_SECOND", "HOUR_SECOND")


def _added_to_time(instant: Value, count: Value, unit: str, sign: int, session: Session, n: int) -> Value:
    """The same of a time; to one of days MySQL adds the current date."""
    months, micros, is_null, constant = _span(count, unit, session)
    of_days = unit == "DAY" and session.flavour == "mariadb"
    if months is not None or not (unit in _OF_TIMES or of_days) or (micros % SECOND).any():
        raise NotComputable("an interval of days, or with a fraction of a second, added to a time")
    [clock] = together([instant], n) if not (constant and instant.constant) else [instant.values]
    made = np.asarray(clock.cast(pa.int64()).fill_null(0)) + sign * micros
    is_null = np.asarray(clock.is_null()) | is_null
    spans = pa.array(made, mask=is_null | (np.abs(made) > LONGEST_TIME)).cast(pa.duration("us"))
    return Value(spans, ColumnType("time", fsp=instant.type.fsp), constant and instant.constant)


_LEAST = pa.scalar(101)
"""The numbers below are dates with zeros, if any, to which nothing is added."""


def _added_to_read(instant: Value, count: Value, unit: str, sign: int, session: Session, n: int) -> Value:
    """The same for an instant that was read from text or a number, as text: a day if it was one and the interval has
    whole days, else with six digits of a second if there is a fraction, in MariaDB with as many as both may have."""
    is_year = instant.type.base == "year"
    if instant.type.base in {*NUMBERS, "year"}:
        if instant.is_choice and session.flavour == "mysql":
            raise NotComputable("an interval added to a number that is chosen, which may be a YEAR")
        found = as_number(instant, session)
        if is_year and session.flavour == "mysql":  # its first day, as a number
            if pc.any(pc.equal(found, pa.scalar(0, found.type))).as_py():
                raise NotComputable("an interval added to the year 0")
            found = pc.add(pc.multiply(found.cast(pa.int64()), 10000), 101).cast(pa.decimal128(38, 0))
        is_small = pc.and_(pc.greater_equal(found, pa.scalar(0, found.type)), pc.less(found, _LEAST.cast(found.type)))
        found = pc.if_else(is_small, pa.scalar(None, found.type), found)
        instant = numbers(found, constant=instant.constant)
    start = datetimes(instant, session, whole=True)
    digits = max(start.type.fsp, _digits(count, unit, session)) if session.flavour == "mariadb" else None
    made = added(replace(start, type=ColumnType("datetime", fsp=6)), count, unit, sign, session, n)
    have = pa.repeat(True, len(instant.values)) if is_year else have_clocks(instant, session, whole=True)
    clocks = replace(instant, values=have)
    with_clock = pa.repeat(True, len(made.values)) if unit not in (*MONTHS, "YEAR_MONTH", "DAY", "WEEK") else \
        clocks.values if made.constant or not instant.constant else clocks.of_rows(n)
    shown = computed([made.values, with_clock],
                     lambda one, with_clock: shown_instant(one, digits, with_clock=with_clock), pa.string())
    return Value(shown, TEXT, made.constant)


def shown_instant(instant: datetime.datetime | None, digits: int | None = None, *, with_clock: bool) -> str | None:
    """A date, or a date and a time, as text; with six digits of a second where there is a fraction, or so many."""
    if instant is None or not with_clock:
        return None if instant is None else instant.date().isoformat()
    if digits is None:
        digits = 6 if instant.microsecond else 0
    seconds = instant.isoformat(" ", "seconds")
    return f"{seconds}.{f'{instant.microsecond:06}'[:digits]}" if digits else seconds


LONGEST_TIME = (838 * 3600 + 59 * 60 + 59) * SECOND


def _digits(count: Value, unit: str, session: Session) -> int:
    """The digits of a second that an interval may have."""
    if unit != "SECOND" or count.is_text or count.type.base in BINARY:
        return 6 if "MICROSECOND" in unit or unit == "SECOND" else 0
    found = as_number(count, session)
    if pa.types.is_floating(found.type):
        raise NotComputable("an interval of a number that is not exact")
    return int(min(6, found.type.scale))


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
    if count.is_text and not all(text is None or re.fullmatch(r"\s*-?\d+\s*", text) for text in
                                 count.values.unique().to_pylist()):
        raise NotComputable("an interval of a value that is not a whole number")
    found = as_number(count, session)
    if pa.types.is_floating(found.type):
        if unit in ("SECOND", "MICROSECOND") and not count.is_text:
            raise NotComputable("an interval of a number that is not exact")
        found = pc.round(found, 0, round_mode="half_to_even").cast(pa.decimal128(38, 0))
    is_null = np.asarray(found.is_null())
    if unit == "SECOND":
        exact = pc.multiply(found.fill_null(0).cast(pa.decimal128(20, min(6, found.type.scale))),
                            pa.scalar(Decimal(SECOND), pa.decimal128(7, 0)))
        return None, np.asarray(exact.cast(pa.int64())), is_null, count.constant
    whole = decimals.rounded(found, 0).fill_null(0).cast(pa.decimal128(18, 0))
    amount = np.asarray(whole.cast(pa.int64()))
    if (np.abs(amount) > 10**8 * (10**6 if unit == "MICROSECOND" else 1)).any():
        raise NotComputable("an interval of so much time")
    if unit in MONTHS:
        return amount * MONTHS[unit], np.zeros(len(amount), np.int64), is_null, count.constant
    return None, amount * UNITS[unit], is_null, count.constant


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


def _months_on(clock: np.ndarray, months: np.ndarray) -> np.ndarray:
    """The same day and time some months later; the month's last day if it has no such day."""
    days, time = clock // DAY, clock % DAY
    month = days.astype("datetime64[D]").astype("datetime64[M]")
    day = days - month.astype("datetime64[D]").astype(np.int64)
    moved = month.astype(np.int64) + months
    first = moved.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    length = (moved + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - first
    moved_on: np.ndarray = (first + np.minimum(day, length - 1)) * DAY + time
    return moved_on


