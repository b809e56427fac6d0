# mypy: allow-untyped-defs, no-check-untyped-defs
"""Converts literals, as spans of a dump's bytes, to dates, datetimes and times, each a whole column at once.

Literals in an unusual form (a date as a number, a fraction to be rounded) are marked as UNUSUAL, as in
literal_kernel.
"""

import numpy as np

from applier.binlog.rows.value_kernel import BAD_VALUE, date_time, days
from applier.jobs.importing.sql.literal_kernel import IS_NULL, UNUSUAL, VALUE
from applier.jobs.importing.sql.tuple_kernel import BINARY_TEXT, NULL, TEXT
from keysearch.memory import inline, kernel, load_u8


@inline
def _two(data, at):
    """Two digits, or a number over 99 where they are none."""
    tens, ones = np.int64(load_u8(data + at)) - 48, np.int64(load_u8(data + at + 1)) - 48
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else np.int64(10000)


@inline
def _micros(data, at, end, digits):
    """Microseconds of a fraction from its point on, of at most `digits` digits except for zeros; -1 for anything
    else."""
    if at == end:
        return np.int64(0)
    if load_u8(data + at) != 46 or end - at > 7:
        return np.int64(-1)
    value, scale = np.int64(0), np.int64(1000000)
    for digit_at in range(at + 1, end):
        digit = np.int64(load_u8(data + digit_at)) - 48
        if digit < 0 or digit > 9 or (digit and digit_at - at > digits):
            return np.int64(-1)
        scale //= 10
        value += digit * scale
    return value


@kernel
def to_datetimes(data, starts, lengths, kinds, with_time, digits, out, states):
    """Text as YYYY-MM-DD to days since 1970-01-01, or, `with_time`, as YYYY-MM-DD[ hh:mm:ss[.ffffff]] to microseconds;
    `digits` of a fraction are kept. An invalid date is a value, too (applier.mysql.values.zero_dates)."""
    for row in range(len(kinds)):
        kind, at, length = kinds[row], starts[row], lengths[row]
        out[row] = 0
        states[row] = IS_NULL if kind == NULL else UNUSUAL
        if (kind != TEXT and kind != BINARY_TEXT) or length < 10 or not (length == 10 or (with_time and length >= 19)):
            continue
        if load_u8(data + at + 4) != 45 or load_u8(data + at + 7) != 45:
            continue
        year = _two(data, at) * 100 + _two(data, at + 2)
        month, day = _two(data, at + 5), _two(data, at + 8)
        if year > 9999:
            continue
        hour = minute = second = micros = np.int64(0)
        if length > 10:
            separator = load_u8(data + at + 10)
            if (separator != 32 and separator != 84) or load_u8(data + at + 13) != 58 or load_u8(data + at + 16) != 58:
                continue
            hour, minute, second = _two(data, at + 11), _two(data, at + 14), _two(data, at + 17)
            micros = _micros(data, at + 19, at + length, digits)
        if micros < 0 or hour > 23 or minute > 59 or second > 59 or month > 12 or day > 31:
            continue
        value = date_time(year, month, day, hour, minute, second, micros) if with_time else days(year, month, day)
        if value != BAD_VALUE:
            out[row], states[row] = value, VALUE


@kernel
def to_spans(data, starts, lengths, kinds, digits, out, states):
    """Text as [-]hh:mm:ss[.ffffff], up to 838 hours, to microseconds; `digits` of a fraction are kept."""
    for row in range(len(kinds)):
        kind, at, end = kinds[row], starts[row], starts[row] + lengths[row]
        out[row] = 0
        states[row] = IS_NULL if kind == NULL else UNUSUAL
        if (kind != TEXT and kind != BINARY_TEXT) or end - at < 8:
            continue
        negative = load_u8(data + at) == 45
        at += 1 if negative else 0
        hours = _two(data, at)
        at += 2
        if at + 7 <= end and 48 <= load_u8(data + at) <= 57:
            hours = hours * 10 + np.int64(load_u8(data + at)) - 48
            at += 1
        if at + 6 > end or load_u8(data + at) != 58 or load_u8(data + at + 3) != 58:
            continue
        minute, second, micros = _two(data, at + 1), _two(data, at + 4), _micros(data, at + 6, end, digits)
        if hours > 838 or minute > 59 or second > 59 or micros < 0:
            continue
        value = ((hours * 60 + minute) * 60 + second) * 1000000 + micros
        out[row], states[row] = -value if negative else value, VALUE
