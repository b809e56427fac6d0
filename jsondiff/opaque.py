"""Opaque values of binary JSON as text: what SQL puts into a document and JSON has no type for.

An opaque value is a MySQL column type (enum_field_types), a length and bytes. DECIMAL prints as a number; DATE, TIME,
DATETIME and TIMESTAMP as quoted text with six digits; all else as "base64:typeN:…", where base64 has a line feed (in
JSON \\n) after every 76 characters (base64_encode in mysys/base64.cc).
"""

import numpy as np

from jsondiff.compiling import inline
from jsondiff.numbers import put_decimal, put_padded, put_unsigned

_TIMESTAMP, _DATE, _TIME, _DATETIME, _NEWDECIMAL = 7, 10, 11, 12, 246
_BASE64 = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)
_PREFIX = np.frombuffer(b'"base64:type', np.uint8)


@inline
def put_opaque(data, kind, at, end, out, to):
    """The value of column type `kind` at data[at:end]; returns the end of its text in out, or -1 if it is malformed.
    Takes at most 3 × (end - at) + 96 bytes."""
    if kind == _NEWDECIMAL:
        if end - at < 2:
            return -1
        return put_decimal(data, at + 2, end, np.int64(data[at]), np.int64(data[at + 1]), out, to)
    if kind == _DATE or kind == _TIME or kind == _DATETIME or kind == _TIMESTAMP:
        if end - at != 8:
            return -1
        packed = np.int64(0)
        for i in range(7, -1, -1):
            packed = packed << 8 | np.int64(data[at + i])
        return _put_temporal(kind, packed, out, to)
    return _put_base64(data, kind, at, end, out, to)


@inline
def _put_temporal(kind, packed, out, to):
    """packed is MySQL's in-memory form (TIME_to_longlong_…_packed in sql-common/my_time.cc): from the lowest bit on 24
    bits of microseconds, 6 seconds, 6 minutes, then hours; with a date 5 hours, 5 days and year × 13 + month."""
    negative = packed < 0
    if negative:
        packed = -packed
    micros, clock = packed & 0xFFFFFF, packed >> 24
    second, minute, hour = clock & 63, clock >> 6 & 63, clock >> 12 & (1023 if kind == _TIME else 31)
    if micros > 999_999 or second > 59 or minute > 59 or hour > (838 if kind == _TIME else 23):
        return -1
    out[to] = 34  # '"'
    to += 1
    if kind == _TIME:
        if clock >> 22:
            return -1
        if negative:
            out[to] = 45
            to += 1
    else:
        day, months = clock >> 17 & 31, clock >> 22
        if negative or months // 13 > 9999:
            return -1
        to = put_padded(out, to, np.uint64(months // 13), 4)
        out[to] = 45
        to = put_padded(out, to + 1, np.uint64(months % 13), 2)
        out[to] = 45
        to = put_padded(out, to + 1, np.uint64(day), 2)
        if kind == _DATE:
            out[to] = 34
            return to + 1
        out[to] = 32
        to += 1
    to = put_padded(out, to, np.uint64(hour), 3 if hour > 99 else 2)
    out[to] = 58  # ':'
    to = put_padded(out, to + 1, np.uint64(minute), 2)
    out[to] = 58
    to = put_padded(out, to + 1, np.uint64(second), 2)
    out[to] = 46  # '.'
    to = put_padded(out, to + 1, np.uint64(micros), 6)
    out[to] = 34
    return to + 1


@inline
def _put_base64(data, kind, at, end, out, to):
    for byte in _PREFIX:
        out[to] = byte
        to += 1
    to = put_unsigned(out, to, np.uint64(kind))
    out[to] = 58
    to += 1
    column = 0
    while at < end:
        if column == 76:
            out[to], out[to + 1] = 92, 110  # '\n'
            to += 2
            column = 0
        group = np.int64(data[at]) << 16
        if at + 1 < end:
            group |= np.int64(data[at + 1]) << 8
        if at + 2 < end:
            group |= np.int64(data[at + 2])
        out[to], out[to + 1] = _BASE64[group >> 18], _BASE64[group >> 12 & 63]
        out[to + 2] = _BASE64[group >> 6 & 63] if at + 1 < end else 61
        out[to + 3] = _BASE64[group & 63] if at + 2 < end else 61
        at += 3
        to += 4
        column += 4
    out[to] = 34
    return to + 1
