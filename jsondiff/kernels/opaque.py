# mypy: allow-untyped-defs, no-check-untyped-defs
"""Opaque values of binary JSON as text: values of SQL types that JSON does not have.

An opaque value is a MySQL column type (enum_field_types), a length and bytes. DECIMAL prints as a number; DATE, TIME,
DATETIME and TIMESTAMP as quoted text with six digits. A VAR_STRING is text of ucs2, utf16 or utf32, whose bytes
MySQL prints as if they were UTF-8 (seen on 9.7). All else prints as "base64:typeN:…", where base64 has a line feed (in
JSON \\n) after every 76 characters (base64_encode in mysys/base64.cc), and so does here a VAR_STRING that is not UTF-8.
"""

import numpy as np

from jsondiff.kernels.numbers import put_decimal, put_padded, put_parts, put_unsigned
from jsondiff.kernels.string_kernel import is_utf8, put_base64, put_string
from keysearch.memory import inline, load_byte, load_i64, store_u8

_TIMESTAMP, _DATE, _TIME, _DATETIME, _NEWDECIMAL, _VAR_STRING = 7, 10, 11, 12, 246, 253
_QUOTE, _MINUS, _POINT, _COLON, _SPACE = 34, 45, 46, 58, 32
_LINE = 76
_PREFIX = np.frombuffer(b'"base64:type', np.uint8).astype(np.int64)


@inline
def put_opaque(kind, at, end, to):
    """Write the value of column type `kind` at at:end; returns where its text ends, or -1 if it is malformed. The text
    has at most 6 × (end - at) + 96 bytes."""
    if kind == _NEWDECIMAL:
        if end - at < 2:
            return -1
        return put_decimal(at + 2, end, load_byte(at), load_byte(at + 1), to)
    if kind == _DATE or kind == _TIME or kind == _DATETIME or kind == _TIMESTAMP:
        return _put_temporal(kind, load_i64(at), to) if end - at == 8 else -1
    if kind == _VAR_STRING and is_utf8(at, end):
        return put_string(at, end, end, to)
    return _put_base64(kind, at, end, to)


@inline
def _put_temporal(kind, packed, to):
    """Write a date or time. `packed` is MySQL's in-memory form (TIME_to_longlong_…_packed in sql-common/my_time.cc):
    from the lowest bit on 24 bits of microseconds, 6 seconds, 6 minutes, then hours; with a date 5 hours, 5 days and
    year × 13 + month."""
    negative = packed < 0
    if negative:
        packed = -packed
    micros, clock = packed & 0xFFFFFF, packed >> 24
    second, minute, hour = clock & 63, clock >> 6 & 63, clock >> 12 & (1023 if kind == _TIME else 31)
    if micros > 999_999 or second > 59 or minute > 59 or hour > (838 if kind == _TIME else 23):
        return -1
    store_u8(to, _QUOTE)
    to += 1
    if kind == _TIME:
        if clock >> 22:
            return -1
        if negative:
            store_u8(to, _MINUS)
            to += 1
    else:
        day, months = clock >> 17 & 31, clock >> 22
        if negative or months // 13 > 9999:
            return -1
        to = put_parts(to, months // 13, months % 13, day, 4, _MINUS)
        if kind == _DATE:
            store_u8(to, _QUOTE)
            return to + 1
        store_u8(to, _SPACE)
        to += 1
    to = put_parts(to, hour, minute, second, 2, _COLON)
    store_u8(to, _POINT)
    to = put_padded(to + 1, np.uint64(micros), 6)
    store_u8(to, _QUOTE)
    return to + 1


@inline
def _put_base64(kind, at, end, to):
    for byte in _PREFIX:
        store_u8(to, byte)
        to += 1
    to = put_unsigned(to, np.uint64(kind))
    store_u8(to, _COLON)
    to += 1
    to = put_base64(to, at, end, _LINE)
    store_u8(to, _QUOTE)
    return to + 1
