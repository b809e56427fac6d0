"""Date and time literals: the forms that the servers read, and the stored values.

Source: MySQL manual, "Date and Time Literals" and "Fractional Seconds in Time Values"; MariaDB's "Microseconds", for
the one difference that shows here: MySQL rounds a fraction that is too long, MariaDB cuts it off.
"""

import calendar
import datetime
import re
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from applier.mysql.values.zero_dates import DAY, ZERO_DAY, number

_SECOND = 1_000_000  # in microseconds
_SOME_LEAP_DAY = datetime.datetime(2024, 1, 31)  # so that a day of any month can be put in
_LONGEST_TIMES = {"mysql": datetime.timedelta(hours=838, minutes=59, seconds=59),
                  "mariadb": datetime.timedelta(hours=838, minutes=59, seconds=59, microseconds=999_999)}
_LEAST_DATETIME = 101  # 2000-01-01
_PACKED_DATETIME = re.compile(r"(\d{4}|\d{2})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?(\.\d*)?", re.ASCII)
_NUMBER = re.compile(r"\d+(\.\d*)?", re.ASCII)
_DATETIME = re.compile(r"([0-9]{1,4})[^\w\s]+([0-9]{1,2})[^\w\s]+([0-9]{1,2})"
                     r"(?:(?:\s+|T|[^\w\s]+)([0-9]{1,2})(?:[^\w\s]+([0-9]{1,2})(?:[^\w\s]+([0-9]{1,2})(\.[0-9]*)?)?)?)?")
_MARKS = re.compile(r"[^\w\s]{2}")
_TIME = re.compile(r"(-?)(?:(\d{1,2}) +)?(\d+)(?::(\d{1,2}))?(?::(\d{1,2}))?(\.\d*)?", re.ASCII)


class NoSuchDay(ValueError):
    """A day after the last one of its month. `instant`: the date in microseconds, as in zero_dates."""

    def __init__(self, text: str, instant: int) -> None:
        super().__init__(f"{text!r}: the month has no such day")
        self.instant = instant


def read_date(value: str | Decimal, flavour: str, up: bool | None = None) -> datetime.date | int:
    """A date in days; if its year, month or day is zero, the days of zero_dates. MySQL rounds a time of
    day that follows it."""
    instant = read_datetime(value, 0, flavour, up)
    return instant // DAY if isinstance(instant, int) else instant.date()


def read_datetime(value: str | Decimal, fsp: int, flavour: str, up: bool | None = None) -> datetime.datetime | int:
    """A date and time with `fsp` digits of fraction; if its year, month or day is zero, the microseconds of
    applier.mysql.values.zero_dates. `up`: whether a longer fraction is rounded, if not as usual."""
    text = _datetime_digits(value) if isinstance(value, Decimal) else value.strip()
    if re.fullmatch(r"0+", text):
        return ZERO_DAY * DAY
    pattern = _PACKED_DATETIME if _NUMBER.fullmatch(text) else _DATETIME
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date")
    year, month, day, hour, minute, second, fraction = match.groups()
    if flavour == "mariadb" and _MARKS.search(text):
        raise ValueError(f"{text!r} has several marks in a row, and is not a date in MariaDB")
    is_short = flavour == "mysql" and len(year) < 4 and text[len(year):].startswith(".")
    if is_short and len(year) == 3:
        raise ValueError(f"{text!r} is read as if the year had two digits in MySQL")
    if fraction and hour is None and isinstance(value, str):
        raise ValueError(f"{text!r} has an hour after the point in MySQL, and is not a date in MariaDB")
    is_zero = int(year) == int(month) == int(day) == 0 and not (is_short and int(hour or 0))
    # A year of one digit is that year, unless MySQL finds a point after it; one of two digits is from 1970 to 2069,
    # except for that of the zero date.
    full_year = _full_year(int(year)) if (len(year) == 2 or is_short) and not is_zero else int(year)
    fraction_micros = datetime.timedelta(microseconds=_microseconds(fraction, fsp, flavour, up))
    if full_year and int(month) and int(day) and _is_in_month(full_year, int(month), int(day)):
        instant = datetime.datetime(full_year, int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        return instant + fraction_micros
    clock = _SOME_LEAP_DAY.replace(hour=int(hour or 0), minute=int(minute or 0), second=int(second or 0))
    micros = (clock - _SOME_LEAP_DAY + fraction_micros) // datetime.timedelta(microseconds=1)
    if micros >= DAY:
        raise ValueError(f"{text!r} rounds to the day after an invalid date")
    invalid = number(full_year, int(month), int(day)) * DAY + micros
    if not _is_in_month(full_year or 1, int(month) or 1, int(day) or 1):
        raise NoSuchDay(text, invalid)
    return invalid


def _is_in_month(year: int, month: int, day: int) -> bool:
    """Return whether a month has such a day. Raises ValueError for a day that no month has, or a month that no year
    has."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise ValueError(f"{day} is not a day of month {month}")
    return day <= calendar.monthrange(year, month)[1]


def read_time(value: str | Decimal, fsp: int, flavour: str, up: bool | None = None) -> datetime.timedelta:
    """A span of time with `fsp` digits of fraction: [-][days ]hours:minutes[:seconds], or the digits HHMMSS; `up` as
    above."""
    text = format(value, "f") if isinstance(value, Decimal) else value.strip()
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time")
    sign, days, hours, minutes, seconds, fraction = match.groups()
    if days is None and minutes is None:
        if len(hours) in (12, 14) and not sign:  # a date and time, whose date is dropped
            hours = hours[-6:]
        hours, minutes, seconds = hours[:-4], hours[-4:-2], hours[-2:]
    if int(minutes or 0) > 59 or int(seconds or 0) > 59:
        raise ValueError(f"{text!r} is not a time")
    span = datetime.timedelta(days=int(days or 0), hours=int(hours or 0), minutes=int(minutes or 0),
                              seconds=int(seconds or 0), microseconds=_microseconds(fraction, fsp, flavour, up))
    if span > _LONGEST_TIMES[flavour]:
        raise ValueError(f"{text!r} is over 838 hours")
    return -span if sign else span


def read_year(value: str | Decimal) -> int:
    """A year of four digits, or of two (1970 to 2069). The number 0 is the zero year, the string '0' is 2000."""
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit()):
            raise ValueError(f"{value!r} is not a year")
        return _year_in_range(2000 if int(value) == 0 and len(value) < 4 else int(value))
    return _year_in_range(int(value.to_integral_value(ROUND_HALF_UP)))


def _year_in_range(year: int) -> int:
    year = _full_year(year) if 0 < year < 100 else year
    if year and not 1901 <= year <= 2155:
        raise ValueError(f"{year} is not a year of the type YEAR")
    return year


def _full_year(number: int) -> int:
    return number + (2000 if number < 70 else 1900)


def _datetime_digits(value: Decimal) -> str:
    """A number's digits, padded with zeros to the form it is in: YYMMDD, YYYYMMDD, or one of these with hhmmss."""
    whole, point, fraction = format(value, "f").partition(".")
    if 0 < int(whole) < _LEAST_DATETIME:
        raise ValueError(f"{value} is not a date")
    width = next((width for width in (6, 8, 12, 14) if len(whole) <= width), 0)
    return whole.zfill(width) + point + fraction if int(whole) else "0"


def _microseconds(fraction: str | None, fsp: int, flavour: str, up: bool | None) -> int:
    rounding = ROUND_HALF_UP if (flavour == "mysql" if up is None else up) else ROUND_DOWN
    number = Decimal("0" + fraction + "0") if fraction else Decimal(0)
    return int(number.quantize(Decimal(1).scaleb(-fsp), rounding) * _SECOND)
