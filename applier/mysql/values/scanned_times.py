"""How servers read a date or a time at the beginning of any text or number. Where there is none, functions have NULL,
and columns zero.

Source: MySQL manual, "Date and Time Literals", "String and Numeric Literals in Date and Time Context"; judged by
MySQL 9.7 and, for times and usual text, by MariaDB 10.5 to 11.8 (tests/live/texts.py).
"""

from __future__ import annotations

import calendar
import datetime
import re
import string

from applier.mysql.values.zero_dates import DAY, number

SECOND = 1_000_000
LARGEST_TIME = 8385959
"""The largest number that is a time."""
LONGEST_TIME = (838 * 3600 + 59 * 60 + 59) * SECOND
SPACES = " \t\n\v\f\r"
_HOUR, _MINUTE = 3600 * SECOND, 60 * SECOND
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)
_MOST_PART, _MOST_NUMBER = 999_999, 2**32 - 1
_DIGITS = re.compile(r"[\dT]*", re.ASCII)
_CLOCK = re.compile(r"""
    (?:(?P<days>\d*)[ \t\n\v\f\r]+(?=\d.)(?P<clock>\d+(?::\d+){0,2})
    |(?P<hours>\d*)[ \t\n\v\f\r]*(?P<behind>(?::\d+){1,2})
    |(?P<packed>\d*)[ \t\n\v\f\r]*)
    (?P<fraction>\.(?:\d+|\Z))?""", re.ASCII | re.DOTALL | re.VERBOSE)
_WITH_DATE = 12
"""Characters from which on a time may begin with a date."""


class NoDate(ValueError):
    """Text that is not a date. `is_final`: it begins like one, so that it is not a time either; `is_short`: it has too
    few numbers for one."""

    def __init__(self, *, is_final: bool, is_short: bool = False) -> None:
        super().__init__("not a date")
        self.is_final, self.is_short = is_final, is_short


class Unclear(ValueError):
    """Text or a number for which the server's reading is unknown."""


class InvalidDate(Unclear):
    """A date with a zero in it, or with a day that its month does not have (`is_late`), whose reading depends on the
    function and the sql_mode: `micros` is as in zero_dates."""

    def __init__(self, date: tuple[int, int, int], clock: int, *, has_clock: bool) -> None:
        super().__init__("a date with a zero in it")
        self.date, self.micros, self.has_clock = date, number(*date) * DAY + clock, has_clock
        self.is_late = 0 not in date


def datetime_of_text(text: str, *, up: bool) -> tuple[int, bool, int | None]:
    """Microseconds, whether there is a time of day, and an offset from UTC in microseconds. `up`: more than six digits
    of a fraction are rounded. Raises NoDate or Unclear."""
    return _datetime(text, up=up, needs_space=False)


def _datetime(text: str, *, up: bool, needs_space: bool,
              ends_at_space: bool = False) -> tuple[int, bool, int | None]:
    at = len(text) - len(text.lstrip(SPACES))
    if not text[at:at + 1].isascii() or not text[at:at + 1].isdigit():
        raise NoDate(is_final=False)
    run = _DIGITS.match(text, at)
    assert run is not None
    is_packed = run.end() == len(text) or text[run.end()] == "."
    year_width = 4 if not is_packed or run.end() - at in (4, 8) or run.end() - at >= 14 else 2
    parts, widths, marked, spaced = list[int](), list[int](), False, False
    while len(parts) < 7 and at < len(text) and text[at] in string.digits:
        place = len(parts)
        width = 6 if place == 6 else (year_width if place == 0 else 2) if is_packed else len(text)
        end = at
        while end < len(text) and text[end] in string.digits and end - at < width:
            end += 1
        parts.append(_number(text[at:end]))
        widths.append(end - at)
        if parts[-1] > _MOST_PART:
            raise NoDate(is_final=False)
        at = end
        if at == len(text) or place == 6:
            break
        if place == 2 and text[at] == "T":
            at += 1
        elif place == 5:
            if text[at] != ".":
                break
            at += 1
        elif place > 2 and ends_at_space and text[at] in SPACES:
            break
        else:
            end = at
            while end < len(text) and text[end] in string.punctuation + SPACES:
                marked = True
                if text[end] in SPACES:
                    if place != 2:
                        raise NoDate(is_final=False)
                    spaced = True
                end += 1
            at = end
    if len(parts) == 7 and text[at:].lstrip(string.digits) and (is_packed or (needs_space and marked and not spaced)):
        raise Unclear("more behind a fraction of a second")
    if needs_space and marked and not spaced:
        raise NoDate(is_final=False)
    has_clock = len(parts) > 3
    year, month, day, hour, minute, second, fraction = parts + [0] * (7 - len(parts))
    if len(parts) < 3:
        raise NoDate(is_final=True, is_short=True)
    if month > 12 or day > 31 or hour > 23 or minute > 59 or second > 59 or year > 9999:
        raise NoDate(is_final=True)
    if (widths[0] if not is_packed else year_width) == 2 and any(parts):
        year += 2000 if year < 70 else 1900
    micros = (hour * 60 + minute) * _MINUTE + second * SECOND
    if len(parts) == 7:
        micros += fraction * 10**(6 - widths[6])
        if widths[6] == 6 and up and text[at + 1:at + 2].isdigit() and text[at] not in "+-":
            at += text[at] in string.punctuation + SPACES
        if widths[6] == 6 and at < len(text) and text[at] in string.digits:
            micros += up and text[at] >= "5"
            at += len(text) - at - len(text[at:].lstrip(string.digits))
    if not (year and month and day) or day > calendar.monthrange(year, month)[1]:
        raise InvalidDate((year, month, day), micros, has_clock=has_clock)
    micros += _micros(datetime.datetime(year, month, day))
    offset = None
    if len(parts) >= 6 and text[at:at + 1] in ("+", "-") and text[at:]:
        found = _OFFSET.fullmatch(text, at)
        if found is None:
            raise Unclear("a time with another offset from UTC")
        offset = (int(found[2]) * 60 + int(found[3])) * _MINUTE * (-1 if found[1] == "-" else 1)
        if int(found[3]) > 59 or abs(offset) > 14 * _HOUR or found[0] == "-00:00":
            raise Unclear("a time with another offset from UTC")
    return micros, has_clock, offset


def _number(digits: str) -> int:
    """The number of a part; one of more than 20 digits is as large as any other, and too large for int()."""
    return int(digits.lstrip("0")[:_MOST_DIGITS] or 0)


_MOST_DIGITS = 20


def _before_time(text: str, *, up: bool) -> tuple[int, bool, int | None]:
    """The same of a date before a time, which the calendar need not have."""
    try:
        return _datetime(text, up=up, needs_space=True)
    except InvalidDate as error:
        return error.micros, error.has_clock, None


def time_of_text(text: str, *, up: bool) -> tuple[int, bool, int | None]:
    """Microseconds, whether the text is a time and nothing else, and the offset from UTC in microseconds of the date
    before it; MySQL's, which finds no time in a date with blanks behind it. Raises NoDate or Unclear."""
    text = text.lstrip(SPACES)
    sign = -1 if text.startswith("-") else 1
    if len(text) - (sign < 0) < _WITH_DATE <= len(text.encode()) - (sign < 0):
        raise Unclear("text of a time that is shorter in another character set")
    if len(text) - (sign < 0) >= _WITH_DATE:
        try:
            micros, has_clock, offset = _before_time(text.removeprefix("-"), up=False)
            more = up and _before_time(text.removeprefix("-"), up=True)[0] - micros
        except NoDate as error:
            if error.is_final:
                raise
        else:
            if sign < 0 or not has_clock:
                raise NoDate(is_final=True)
            return (micros if offset is not None else micros % DAY) + more, False, offset
    return *_clock(text, up=up, by_last=True, longest=LONGEST_TIME), None


def _clock(text: str, *, up: bool, by_last: bool, longest: int) -> tuple[int, bool]:
    """`by_last`: of more than six digits the last one rounds, as on MySQL, and not the seventh."""
    sign = -1 if text.startswith("-") else 1
    start = len(text) - len(text.removeprefix("-"))
    found = _CLOCK.match(text, start)
    assert found is not None
    if found.end() == start or re.match(r"[eE][+-]?\d", text[found.end():]):
        raise NoDate(is_final=True)
    if found["packed"] is None:
        days = _number(found["days"] or "")
        parts = found["clock"] if found["clock"] else f"0{found['hours']}{found['behind']}"
        numbers = [_number(part) for part in parts.split(":")]
    else:
        days, whole = 0, _number(found["packed"])
        numbers = [whole // 10000, whole // 100 % 100, whole % 100] if whole <= _MOST_NUMBER else [whole]
    if max(days, *numbers) > _MOST_NUMBER:
        raise NoDate(is_final=True)
    hours, minutes, seconds = numbers + [0] * (3 - len(numbers))
    if minutes > 59 or seconds > 59:
        raise NoDate(is_final=True)
    digits = (found["fraction"] or ".")[1:]
    micros = ((days * 24 + hours) * 60 + minutes) * _MINUTE + seconds * SECOND
    micros += int(digits[:6].ljust(6, "0")) + (up and (digits[6:][-1:] if by_last else digits[6:7]) >= "5")
    is_whole = micros < LONGEST_TIME + SECOND and not text[found.end():].strip(SPACES)
    return sign * min(micros, longest), is_whole


def read_by_mariadb(text: str, *, up: bool) -> tuple[int, bool]:
    """Return the reading of MariaDB's functions of times: microseconds, and whether they are a time and not a datetime.
    Raises NoDate or Unclear."""
    text = text.strip(SPACES)
    sign = text[:1] if text[:1] in ("+", "-") else ""
    digits = text.removeprefix(sign).lstrip(SPACES)
    if not re.match(r":?\d", digits, re.ASCII) or re.match(r"\d+[eE][+-]?\d", digits):
        raise NoDate(is_final=True)
    if (len(digits.encode()) >= _WITH_DATE or _ODD.search(digits)) and not _USUAL.fullmatch(digits):
        raise Unclear("text of a time in an unusual form")
    if len(digits) >= _WITH_DATE or _WITH_SPACE.match(digits):
        try:
            micros, has_clock, offset = _datetime(_WITH_T.sub(r"\1 ", digits), up=up, needs_space=True,
                                                  ends_at_space=True)
        except InvalidDate as error:
            if error.has_clock and sign != "-":
                raise
            if error.has_clock:
                raise NoDate(is_final=True) from None
            has_clock, offset = False, None
        except NoDate as error:
            if error.is_final and not error.is_short:
                raise
            has_clock, offset = False, None
        if offset is not None:
            raise Unclear("a date with an offset from UTC")
        if has_clock and sign == "-":
            raise NoDate(is_final=True)
        if has_clock:
            return micros, False
    return _clock(sign.replace("+", "") + digits, up=up, by_last=False,
                  longest=LONGEST_TIME + SECOND - 1)[0], True


def number_read_by_mariadb(whole: int, fraction: int) -> tuple[int, bool]:
    """The same of a number, as datetime_of_number takes it."""
    size = abs(whole)
    if size <= LARGEST_TIME:
        if abs(fraction) == SECOND - 1:
            raise Unclear("a number with the fraction .999999 as a time, which is none since MariaDB 10.6")
        return time_of_number(whole, fraction, is_cut=True), True
    if _LAST_TIME < whole <= _LAST_DATE:
        return datetime_of_number(whole, fraction)[0], False
    if size % 100 > 59 or size // 100 % 100 > 59:  # no time since 10.6
        raise Unclear("a number of a time that is too long")
    longest = LONGEST_TIME + SECOND - 1
    return longest if whole > 0 else -longest, True


_USUAL = re.compile(r"(\d{1,9}|\d{12}|\d{14}|\d{1,4}(:\d{1,2}){1,2}|\d{1,3}\s+\d+(:\d{1,2}){0,2}|"
                    r"(?!\d{3}\.)\d{1,4}[^\w\s:]\d{1,2}[^\w\s:]\d{1,2}((T| +)\d{1,2}(:\d{1,2}){0,2})?)(\.\d*)?",
                    re.ASCII)
_ODD = re.compile(r"^:|^\d{8}|[T\s]|\.\D")
_WITH_SPACE = re.compile(r"\d+[^\w\s]+\d+[^\w\s]+\d+\s+\d", re.ASCII)
"""A date and a time, however short."""
_WITH_T = re.compile(r"^(\s*\d+\D\d+\D\d+)T", re.ASCII)
_LAST_TIME, _LAST_DATE = 9_999_999, 99991231235959
"""The largest numbers that MariaDB does not and does take for a date."""


_FORMS = [(0, 0, 0, 1), (101, 691231, 20000000, 1_000_000), (700101, 991231, 19000000, 1_000_000),
          (10000101, 99991231, 0, 1_000_000), (101000000, 691231235959, 20000000000000, 1),
          (700101000000, 991231235959, 19000000000000, 1), (991231235960, 10000100999999, 0, 1),
          (10000101000000, 99991231235959, 0, 1)]
"""From, to, the number to add to the year, and the factor for the number."""
_SHORT_YEARS = (991232, 10000100, 0, 1_000_000)
"""The same where MySQL reads years of up to three digits."""
_LAST_DAY = 99991231
_SMALL = (0, 100, 20000000, 1_000_000)
"""The same where MySQL reads a day and not a time of day."""


def datetime_of_number(whole: int, fraction: int, *, short_years: bool = False,
                       is_day: bool = False) -> tuple[int, bool]:
    """Of a whole number and microseconds behind its point: microseconds, and whether there is a time of day. Raises
    NoDate or Unclear."""
    if fraction < 0 and not is_day:
        raise NoDate(is_final=True)
    if is_day and whole > _LAST_DAY:  # whatever the time of day is
        whole -= whole % 1_000_000
    for least, most, century, unit in [_SMALL] * is_day + _FORMS + [_SHORT_YEARS] * short_years:
        if least <= whole <= most:
            digits = f"{(whole + century) * unit:014}"
            break
    else:
        raise NoDate(is_final=True)
    year, month, day, *clock = (int(digits[:4]), *(int(digits[at:at + 2]) for at in range(4, 14, 2)))
    if month > 12 or day > 31 or (not is_day and (clock[0] > 23 or max(clock[1:]) > 59)):
        raise NoDate(is_final=True)
    has_clock = unit == 1
    hour, minute, second = clock
    of_day = (hour * 60 + minute) * _MINUTE + second * SECOND + fraction * has_clock
    if not (year and month and day) or day > calendar.monthrange(year, month)[1]:
        raise InvalidDate((year, month, day), of_day, has_clock=has_clock)
    return _micros(datetime.datetime(year, month, day)) + of_day, has_clock


def time_of_number(whole: int, fraction: int, *, is_cut: bool = False) -> int:
    """Return microseconds; `whole` and `fraction` have the same sign. `is_cut`: the longest time has a fraction, too.
    Raises NoDate or Unclear."""
    size = abs(whole)
    if size > LARGEST_TIME:
        if whole < 10_000_000_000:
            raise NoDate(is_final=True)
        return datetime_of_number(whole, fraction)[0] % DAY
    if size % 100 > 59 or size // 100 % 100 > 59 or (size == LARGEST_TIME and fraction and not is_cut):
        raise NoDate(is_final=True)
    micros = (size // 10000 * 60 + size // 100 % 100) * _MINUTE + size % 100 * SECOND + abs(fraction)
    return -micros if whole < 0 or fraction < 0 else micros


def _micros(instant: datetime.datetime) -> int:
    return (instant - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
