# mypy: allow-untyped-defs, no-check-untyped-defs
"""Single values of a row image, as kernels: big-endian integers, DECIMAL, and the temporal types old and new.

A value's width is known from its step before it is read, so the caller has compared it with the event's end. The
functions here return BAD_VALUE for bytes that no server writes. An invalid date is a number below those of all days
(applier.mysql.values.zero_dates). Formats: MySQL's `decimal.cc` (decimal2bin) and `my_time.cc` (my_*_packed_to_binary);
MariaDB's `Field_*_hires`.
"""

import numpy as np

from applier.mysql.values.zero_dates import ZERO_DAY
from keysearch.memory import inline, load_u8, load_u16, load_u32, mul_add_128, swap16, swap32

BAD_VALUE = -(1 << 63)

LAST_YEAR = 9999

POWERS_OF_TEN = np.array([10**n for n in range(10)], np.int64)
DIGIT_BYTES = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 4], np.int64)
"""The bytes of a group of 0–9 decimal digits."""
HIRES_BYTES = np.array([0, 1, 1, 2, 2, 3, 3], np.int64)
"""The bytes of a fraction of 0–6 digits, for TIMESTAMP2 and similar types, and MariaDB's old TIMESTAMP(n)."""


@inline
def big_endian(address, length):
    """An unsigned integer of 0–8 bytes, most significant first."""
    value = np.uint64(0)
    for i in range(length):
        value = (value << np.uint64(8)) | np.uint64(load_u8(address + i))
    return value


@inline
def little_endian(address, length):
    """An unsigned integer of 0–8 bytes, least significant first."""
    value = np.uint64(0)
    for i in range(length):
        value |= np.uint64(load_u8(address + i)) << np.uint64(8 * i)
    return value


@inline
def decimal_group(address, length, flip):
    """The digits of one group of a DECIMAL: big-endian, inverted in a negative number."""
    return np.int64(big_endian(address, length) ^ (flip >> np.uint64(64 - 8 * length)))


@inline
def decimal(address, precision, scale):
    """A DECIMAL(p <= 38, s) as the two halves of a 128-bit integer: (low, high, valid)."""
    negative = load_u8(address) & 0x80 == 0
    flip = np.uint64(0xFFFFFFFFFFFFFFFF) if negative else np.uint64(0)
    whole, at = precision - scale, address
    low, high, valid, first = np.uint64(0), np.uint64(0), True, True
    for part in range(2):
        digits = scale if part else whole
        left_over = digits % 9
        groups = digits // 9 + (1 if left_over else 0)
        for group in range(groups):
            # the incomplete group is the first one before the point, and the last one after it
            size = left_over if left_over and group == (groups - 1 if part else 0) else 9
            length = DIGIT_BYTES[size]
            value = decimal_group(at, length, flip)
            if first:
                value ^= np.int64(1) << (8 * length - 1)
                first = False
            valid &= value >= 0 and value < POWERS_OF_TEN[size]
            low, high = mul_add_128(low, high, np.uint64(POWERS_OF_TEN[size]), np.uint64(value))
            at += length
    if negative:
        low = ~low + np.uint64(1)
        high = ~high + (np.uint64(1) if low == 0 else np.uint64(0))
    return low, high, valid


@inline
def fraction(address, digits):
    """Microseconds of a fraction of 0–6 digits, which takes (digits + 1) / 2 bytes, padded to an even digit."""
    if digits == 0:
        return np.int64(0)
    if digits <= 2:
        return np.int64(load_u8(address)) * 10000
    if digits <= 4:
        return np.int64(swap16(load_u16(address))) * 100
    return np.int64(big_endian(address, 3))


@inline
def invalid_date(year, month, day):
    return np.int64(ZERO_DAY + ((year * 16 + month) * 32 + day))


@inline
def days(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar; an invalid date as zero_dates.number."""
    if month > 12 or day > 31 or year > LAST_YEAR:
        return np.int64(BAD_VALUE)
    if month == 0 or day == 0 or year == 0:
        return invalid_date(year, month, day)
    if day > 28:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if month == 2:
            last = 29 if leap else 28
        else:
            last = 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31
        if day > last:
            return invalid_date(year, month, day)
    shifted = year - (1 if month <= 2 else 0)
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return np.int64(era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468)


@inline
def date_time(year, month, day, hour, minute, second, micros):
    """Microseconds since 1970-01-01 00:00:00."""
    date = days(year, month, day)
    if date == BAD_VALUE:
        return date
    if hour > 23 or minute > 59 or second > 59 or micros > 999999:
        return np.int64(BAD_VALUE)
    return ((date * 24 + hour) * 60 + minute) * 60000000 + second * 1000000 + micros


@inline
def date(address):
    """DATE: day 5 bits, month 4, year 15, little-endian in 3 bytes. Days since 1970-01-01."""
    packed = np.int64(little_endian(address, 3))
    return days(packed >> 9, packed >> 5 & 15, packed & 31)


@inline
def datetime2(address, digits):
    """DATETIME2: 40 bits big-endian (sign, year * 13 + month, day, hour, minute, second), then the fraction."""
    packed = np.int64(big_endian(address, 5)) - 0x8000000000
    if packed < 0:
        return np.int64(BAD_VALUE)
    year_month = packed >> 22
    return date_time(year_month // 13, year_month % 13, packed >> 17 & 31, packed >> 12 & 31, packed >> 6 & 63,
                     packed & 63, fraction(address + 5, digits))


@inline
def timestamp_us(seconds, micros):
    """Microseconds of a TIMESTAMP. 0 is the zero date; within that second MariaDB has others."""
    if seconds == 0 and micros == 0:
        return np.int64(ZERO_DAY) * 86400000000
    return seconds * 1000000 + micros


@inline
def timestamp2(address, digits):
    """TIMESTAMP2: seconds since the epoch, big-endian, then the fraction."""
    seconds = np.int64(swap32(load_u32(address)))
    micros = fraction(address + 4, digits)
    if micros > 999999:
        return np.int64(BAD_VALUE)
    return timestamp_us(seconds, micros)


@inline
def time2(address, digits):
    """TIME2: 24 bits big-endian around 0x800000 (hour 10 bits, minute, second), then the fraction.

    A negative time's fraction is a complement, so its whole part is one less.
    """
    length = HIRES_BYTES[digits]
    packed = np.int64(big_endian(address, 3 + length)) - (np.int64(0x800000) << (8 * length))
    negative = packed < 0
    if negative:
        packed = -packed
    micros = packed & ((np.int64(1) << (8 * length)) - 1)
    if length == 1:
        micros *= 10000
    elif length == 2:
        micros *= 100
    return clock(packed >> (8 * length), micros, negative)


@inline
def clock(packed, micros, negative):
    """Microseconds of hour (any bits) << 12 | minute << 6 | second, and a fraction."""
    hour, minute, second = packed >> 12, packed >> 6 & 63, packed & 63
    if hour > 838 or minute > 59 or second > 59 or micros > 999999:
        return np.int64(BAD_VALUE)
    value = ((hour * 60 + minute) * 60 + second) * 1000000 + micros
    return -value if negative else value


@inline
def old_timestamp(address, digits):
    """TIMESTAMP before MySQL 5.6: seconds, little-endian; MariaDB's TIMESTAMP(n): big-endian, then n digits."""
    if digits == 0:
        seconds, micros = np.int64(load_u32(address)), np.int64(0)
    else:
        seconds = np.int64(swap32(load_u32(address)))
        micros = np.int64(big_endian(address + 4, HIRES_BYTES[digits])) * POWERS_OF_TEN[6 - digits]
    if micros > 999999:
        return np.int64(BAD_VALUE)
    return timestamp_us(seconds, micros)


@inline
def old_datetime(address, width, digits):
    """DATETIME before MySQL 5.6: the number YYYYMMDDhhmmss in 8 bytes, little-endian; MariaDB's DATETIME(n):
    big-endian, ((((year * 13 + month) * 32 + day) * 24 + hour) * 60 + minute) * 60 + second, times 10**n with the
    fraction."""
    if digits == 0:
        number = np.int64(little_endian(address, 8))
        if number < 0:
            return np.int64(BAD_VALUE)
        day_part, clock_part = number // 1000000, number % 1000000
        return date_time(day_part // 10000, day_part // 100 % 100, day_part % 100, clock_part // 10000,
                         clock_part // 100 % 100, clock_part % 100, np.int64(0))
    packed = np.int64(big_endian(address, width))
    if packed < 0:
        return np.int64(BAD_VALUE)
    scale = POWERS_OF_TEN[digits]
    micros = packed % scale * POWERS_OF_TEN[6 - digits]
    seconds = packed // scale
    minutes, hours = seconds // 60, seconds // 3600
    whole_days = hours // 24
    return date_time(whole_days // 32 // 13, whole_days // 32 % 13, whole_days % 32, hours % 24, minutes % 60,
                     seconds % 60, micros)


@inline
def old_time(address, width, digits):
    """TIME before MySQL 5.6: the signed number hhmmss in 3 bytes, little-endian; MariaDB's TIME(n): big-endian,
    seconds * 10**n around a zero point of 839 hours."""
    if digits == 0:
        number = np.int64(little_endian(address, 3))
        number = (number ^ 0x800000) - 0x800000
        negative = number < 0
        number = -number if negative else number
        packed = number // 10000 << 12 | (number // 100 % 100) << 6 | number % 100
        if number // 100 % 100 > 59 or number % 100 > 59:
            return np.int64(BAD_VALUE)
        return clock(packed, np.int64(0), negative)
    scale = POWERS_OF_TEN[digits]
    packed = np.int64(big_endian(address, width)) - 839 * 3600 * scale
    if packed >= 839 * 3600 * scale or packed <= -839 * 3600 * scale:
        return np.int64(BAD_VALUE)
    return packed * POWERS_OF_TEN[6 - digits]
