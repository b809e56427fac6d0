# mypy: allow-untyped-defs, no-check-untyped-defs
"""Values of Arrow columns as texts, a column at a time.

Each kernel fills `out`, an address with room for the longest text of each value, and the offsets of the texts in it,
int32[n + 1]. A null value, by a bitmap in which value 0 has bit `first` (address 0: no nulls), is an empty text.
"""

import numpy as np

from jsondiff.kernels.numbers import put_padded, put_pair, put_signed, put_unsigned
from keysearch.memory import (
    inline,
    kernel,
    load_i8,
    load_i16,
    load_i32,
    load_i64,
    load_u8,
    load_u16,
    load_u32,
    load_u64,
    store_i32,
    store_u8,
    store_u32,
)

LONGEST_INTEGER, LONGEST_DATE, LONGEST_DATETIME, LONGEST_TIME, LONGEST_DECIMAL = 20, 10, 26, 17, 80
SCRATCH_BYTES = 128
INTEGERS, YEARS, DATES, DATETIMES, TIMES = range(5)

_MINUS, _POINT, _DASH, _COLON, _SPACE, _ZERO = 45, 46, 45, 58, 32, 48
_SECOND, _DAY = 1_000_000, 86_400_000_000
_GROUP, _GROUP_DIGITS = 1_000_000_000, 9
_WORD_BYTES = 32
# applier.mysql.values.zero_dates: dates that are none are numbers below those of all days
_ZERO_DAY, _BEFORE_ALL_DAYS = -50_000_000, -40_000_000
# years that begin in March, from 0000-03-01 on, in eras of 400 years
_TO_1970 = 719_468
_ERA, _LAST_OF_ERA, _DAYS_OF_100, _DAYS_OF_4, _DAYS_OF_YEAR = map(np.uint32, (146_097, 146_096, 36_524, 1_460, 365))
_1, _2, _3, _5, _9, _10, _60, _100, _153, _400, _10000 = map(
    np.uint32, (1, 2, 3, 5, 9, 10, 60, 100, 153, 400, 10_000))  # as wide as what they divide


@inline
def _is_null(validity, number):
    return validity != 0 and (load_u8(validity + (number >> 3)) >> (number & 7)) & 1 == 0


@inline
def _integer(values, width, is_signed, number):
    if width == 8:
        return load_i64(values + 8 * number)
    if width == 4:
        return load_i32(values + 4 * number) if is_signed else np.int64(load_u32(values + 4 * number))
    if width == 2:
        return np.int64(load_i16(values + 2 * number)) if is_signed else np.int64(load_u16(values + 2 * number))
    return np.int64(load_i8(values + number)) if is_signed else np.int64(load_u8(values + number))


@inline
def _put_day(to, day):
    """A day since 1970, or a date that is none, as YYYY-MM-DD."""
    if day < _BEFORE_ALL_DAYS:
        packed = np.uint32(day - _ZERO_DAY)
        year, month, date = packed >> np.uint32(9), packed >> np.uint32(5) & np.uint32(15), packed & np.uint32(31)
    else:
        since = np.uint32(day + _TO_1970)
        era = since // _ERA
        of_era = since - era * _ERA
        year_of_era = (of_era - of_era // _DAYS_OF_4 + of_era // _DAYS_OF_100 - of_era // _LAST_OF_ERA) // _DAYS_OF_YEAR
        of_year = of_era - (_DAYS_OF_YEAR * year_of_era + (year_of_era >> _2) - year_of_era // _100)
        of_march = (_5 * of_year + _2) // _153
        date = of_year - (_153 * of_march + _2) // _5 + _1
        month = np.uint32(of_march + _3 if of_march < _10 else of_march - _9)
        year = year_of_era + _400 * era + np.uint32(month <= _2)
    century = year // _100
    to = put_pair(put_pair(to, century % _100), year - century * _100)
    store_u8(to, np.uint8(_DASH))
    to = put_pair(to + 1, month)
    store_u8(to, np.uint8(_DASH))
    return put_pair(to + 1, date)


@inline
def _put_clock(to, micros):
    """Microseconds (uint64) under 1,000 hours as hh:mm:ss.ffffff, the hours of at least two digits."""
    whole = micros // np.uint64(_SECOND)
    seconds, fraction = np.uint32(whole), np.uint32(micros - whole * np.uint64(_SECOND))
    minutes = seconds // _60
    hours = minutes // _60
    if hours >= _100:
        store_u8(to, np.uint8(hours // _100 + np.uint32(_ZERO)))
        to += 1
    to = put_pair(to, hours % _100)
    store_u8(to, np.uint8(_COLON))
    to = put_pair(to + 1, minutes - _60 * hours)
    store_u8(to, np.uint8(_COLON))
    to = put_pair(to + 1, seconds - _60 * minutes)
    store_u8(to, np.uint8(_POINT))
    first = fraction // _10000
    rest = fraction - first * _10000
    to = put_pair(put_pair(to + 1, first), rest // _100)
    return put_pair(to, rest % _100)


@inline
def _put(to, kind, value):
    if kind == YEARS:
        return put_padded(to, np.uint64(value), 4)
    if kind == DATES:
        return _put_day(to, value)
    if kind == DATETIMES:
        day = value // _DAY
        to = _put_day(to, day)
        store_u8(to, np.uint8(_SPACE))
        return _put_clock(to + 1, np.uint64(value - day * _DAY))
    if kind == TIMES:
        if value < 0:
            store_u8(to, np.uint8(_MINUS))
            to += 1
        return _put_clock(to, np.uint64(abs(value)))
    return put_signed(to, value)


@kernel
def number_texts(kind, values, width, is_signed, validity, first, count, out, offsets):
    """Convert numbers of `width` bytes, from number `first` on, as a `kind` (INTEGERS, …): years with four digits,
    days, microseconds since 1970, microseconds. Returns the bytes of all texts."""
    to = out
    for row in range(count):
        store_i32(offsets + 4 * row, np.int32(to - out))
        if _is_null(validity, first + row):
            continue
        if kind == INTEGERS and width == 8 and not is_signed:
            to = put_unsigned(to, load_u64(values + 8 * (first + row)))
        else:
            to = _put(to, kind, _integer(values, width, is_signed, first + row))
    store_i32(offsets + 4 * count, np.int32(to - out))
    return to - out


@inline
def _divided(number, words):
    """Divide a number of 32-bit words, the lowest first, by 10 ** 9 in place. Returns the rest."""
    rest = np.uint64(0)
    for word in range(words - 1, -1, -1):
        whole = (rest << np.uint64(32)) | np.uint64(load_u32(number + 4 * word))
        quotient = whole // np.uint64(_GROUP)
        store_u32(number + 4 * word, np.uint32(quotient))
        rest = whole - quotient * np.uint64(_GROUP)
    return rest


@inline
def _put_long(value, words, scratch, digits):
    """The digits of a number of 32-bit words without its sign, from `digits` on, with leading zeros to whole groups.
    Returns how many."""
    negative = load_i32(value + 4 * (words - 1)) < 0
    carry = np.uint64(1)
    for word in range(words):
        part = np.uint64(load_u32(value + 4 * word))
        if negative:
            part = (part ^ np.uint64(0xFFFFFFFF)) + carry
            carry = part >> np.uint64(32)
        store_u32(scratch + 4 * word, np.uint32(part & np.uint64(0xFFFFFFFF)))
    groups = words * 32 * 3 // 10 // _GROUP_DIGITS + 1
    for group in range(groups - 1, -1, -1):
        put_padded(digits + _GROUP_DIGITS * group, _divided(scratch, words), _GROUP_DIGITS)
    return groups * _GROUP_DIGITS


@kernel
def decimal_texts(values, width, scale, validity, first, count, scratch, out, offsets):
    """DECIMALs, whole numbers of `width` bytes, as all their digits: a zero before the point, and all of the scale.
    `scratch` has SCRATCH_BYTES. Returns the bytes of all texts."""
    to, words, digits = out, width // 4, scratch + _WORD_BYTES
    for row in range(count):
        store_i32(offsets + 4 * row, np.int32(to - out))
        if _is_null(validity, first + row):
            continue
        value = values + width * (first + row)
        low = load_i64(value)
        if width == 16 and load_i64(value + 8) == low >> 63:
            negative = low < 0
            magnitude = np.uint64(0) - np.uint64(low) if negative else np.uint64(low)
            n_digits = put_unsigned(digits, magnitude) - digits
        else:
            negative = load_i32(value + width - 4) < 0
            n_digits = _put_long(value, words, scratch, digits)
        if negative:
            store_u8(to, np.uint8(_MINUS))
            to += 1
        at, whole = np.int64(0), n_digits - scale
        while at < whole - 1 and load_u8(digits + at) == _ZERO:
            at += 1
        if whole <= 0:
            store_u8(to, np.uint8(_ZERO))
            to += 1
        while at < whole:
            store_u8(to, load_u8(digits + at))
            to += 1
            at += 1
        if scale:
            store_u8(to, np.uint8(_POINT))
            to += 1
            for number in range(whole, n_digits):
                store_u8(to, np.uint8(_ZERO) if number < 0 else load_u8(digits + number))
                to += 1
    store_i32(offsets + 4 * count, np.int32(to - out))
    return to - out
