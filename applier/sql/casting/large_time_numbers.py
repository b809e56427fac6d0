"""Numbers that are too large for a time, as MySQL stores them in a TIME: those of eleven digits and more are dates with
a time of day, which they become; others are the longest time. Seen on MySQL 9.7 with exact numbers and doubles."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.scanned_times import (
    LARGEST_TIME,
    LONGEST_TIME,
    SECOND,
    InvalidDate,
    NoDate,
    datetime_of_number,
)
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.temporals import to_time
from applier.sql.casting.texts import by_distinct

_FIRST_DATE = 10_000_000_000
_EXACT = ColumnType("time", fsp=6)
_MOST_DOUBLE = 1e18


def large_times(numbers: pa.Array, wanted: ColumnType, session: Session) -> pa.Array:
    """The times of numbers that are too large for one; NULL for others."""
    found = by_distinct(numbers, _micros, pa.int64())
    return to_time(found.cast(pa.duration("us")), _EXACT, wanted, session)


def are_large(numbers: pa.Array) -> pa.Array:
    """Which numbers are too large for a time."""
    return pc.greater_equal(pc.abs(numbers).cast(pa.float64()), float(LARGEST_TIME + 1))


def is_large(number: Decimal | float) -> bool:
    """Whether a number is too large for a time."""
    return not -LARGEST_TIME - 1 < number < LARGEST_TIME + 1


def _micros(number: Decimal | float | None) -> int | None:
    if number is None or not is_large(number):
        return None
    if number < _FIRST_DATE or (isinstance(number, float) and number > _MOST_DOUBLE):
        return -LONGEST_TIME if number < 0 else LONGEST_TIME
    if isinstance(number, float) and not number.is_integer():
        raise NotComputable("a double with a fraction of a second as TIME")
    whole = int(number)
    try:
        return datetime_of_number(whole, int((number - whole) * SECOND), short_years=True)[0] % DAY
    except InvalidDate as error:  # whose time of day counts
        return error.micros % DAY
    except NoDate:
        return LONGEST_TIME
