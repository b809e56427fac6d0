# mypy: allow-untyped-defs, no-check-untyped-defs
"""Values of row images as `mysqlbinlog -v` and `mariadb-binlog -v` print them, from the log's bytes into a text.

The output needs no table definition, so it follows the wire type alone: an integer that may be unsigned is printed both
ways, ENUM is a number and SET its bits, text is in its column's character set. A GEOMETRY, which mysqlbinlog gives up
on, is printed as mariadb-binlog does. A zero date is a zero date, and no DECIMAL is too wide.

In JSON lines the same texts are strings of JSON.

A JSON document is printed as a string of SQL; a JSON string is printed without JSON's quotes."""

from __future__ import annotations

import numpy as np

from applier.binlog.rows.value_kernel import big_endian, little_endian
from applier.jobs.show.kernels.number_kernel import (
    LONGEST_DOUBLE,
    print_double,
    print_element,
    print_float,
    put_bits,
)
from applier.jobs.show.kernels.walk_records import Status
from applier.kernels.put_kernel import put_byte, put_hex
from jsondiff.kernels.binary_kernel import FRAME_BYTES, MAX_DEPTH, TEXT_BYTES_MORE, TEXT_BYTES_PER_BYTE, put_document
from jsondiff.kernels.numbers import put_digits, put_padded, put_parts, put_signed, put_unsigned
from jsondiff.kernels.string_kernel import is_utf8, unescape
from keysearch.memory import inline, load_u8, load_u64, store_u32, store_u64

STACK_BYTES = MAX_DEPTH * FRAME_BYTES
_NULL, _TEXT_QUOTE = np.uint32(int.from_bytes(b"null", "little")), 34


@inline
def put_json(at, length, limit, state):
    """The text of a document into the state's buffer: (where it begins, its length), or BAD_VALUE, or
    NEED_DOCUMENT with what it may take in `wanted_bytes`. Bytes up to `limit` may be read."""
    text = state.document
    most = length * TEXT_BYTES_PER_BYTE + TEXT_BYTES_MORE
    if most > state.document_bytes:
        state.wanted_bytes = most
        return Status.NEED_DOCUMENT, np.int64(0)
    if length == 0:
        store_u32(text, _NULL)
        return text, np.int64(4)
    end = put_document(at, at + length, limit, text, state.stack)
    if end < 0 or not is_utf8(text, end):
        state.detail = at
        state.wanted_bytes = length
        return Status.BAD_VALUE, np.int64(0)
    if load_u8(text) != _TEXT_QUOTE:
        return text, end - text
    return text + 1, unescape(text + 1, end - 1, text + 1) - text - 1


(INTEGER, YEAR, FLOAT, DOUBLE, DECIMAL, BITS, SET, ENUM, DATE, DATETIME2, TIMESTAMP2, TIME2, OLD_DATETIME, OLD_TIME,
 OLD_TIMESTAMP, STRING, VECTOR, JSON) = range(18)

MOST_FIXED = 128
"""The most bytes of text of a value that is not a string: an old DATETIME of any eight bytes, six numbers of up to 20
digits with the characters between and around them. (A BIT has up to 64 digits, a DECIMAL 68 characters, a number that
C's printf writes LONGEST_DOUBLE with the zero byte behind it.)"""

_QUOTE, _BACKSLASH = 39, 92
_LETTERS = np.zeros(32, np.uint8)
for _code, _letter in zip(b"\n\r\t\b\f", b"nrtbf"):
    _LETTERS[_code] = _letter
_ONES, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@inline
def _has_special(word):
    """Return whether one of eight bytes is a control character, a quote or a backslash."""
    quotes, slashes = word ^ _ONES * np.uint64(_QUOTE), word ^ _ONES * np.uint64(_BACKSLASH)
    found = (word - _ONES * np.uint64(32)) & ~word
    found |= (quotes - _ONES) & ~quotes
    found |= (slashes - _ONES) & ~slashes
    return found & _HIGHS != np.uint64(0)


@inline
def put_quoted(out, at, length, as_mysql):
    """A string in quotes; 4 bytes of room for each of its own are enough, and 16 more."""
    out = put_byte(out, _QUOTE)
    end = at + length
    while at < end:
        while at + 8 <= end:
            word = load_u64(at)
            if _has_special(word):
                break
            store_u64(out, word)
            at += 8
            out += 8
        stop = min(at + 8, end)
        while at < stop:
            byte = np.int64(load_u8(at))
            at += 1
            if byte >= 32 and (not as_mysql or (byte != _QUOTE and byte != _BACKSLASH)):
                out = put_byte(out, byte)
            elif byte >= 32:
                out = put_byte(put_byte(out, _BACKSLASH), byte)
            elif as_mysql and _LETTERS[byte]:
                out = put_byte(put_byte(out, _BACKSLASH), _LETTERS[byte])
            else:
                out = put_hex(put_byte(put_byte(out, _BACKSLASH), 120), np.uint64(byte), 2)
    return put_byte(out, _QUOTE)


@inline
def escape(start, end, room_end, state):
    """Return the end of a text after escaping it as a string of JSON if lines are JSON, or FULL; other forms have no
    escapes. The only characters that need one are quotes, backslashes and line feeds."""
    if state.is_json == 0:
        return end
    more = 0
    for at in range(start, end):
        more += _is_escaped(load_u8(at))
    if more > room_end - end:
        return Status.FULL
    at, to = end, end + more
    while to > at:
        at, to = at - 1, to - 1
        byte = np.int64(load_u8(at))
        put_byte(to, 110 if byte == 10 else byte)
        if _is_escaped(byte):
            to -= 1
            put_byte(to, _BACKSLASH)
    return end + more


@inline
def _is_escaped(byte):
    return byte == 34 or byte == _BACKSLASH or byte == 10


@inline
def value_length(at, end, width):
    """The length of a string that stands in `width` bytes before it; -1 where it goes past the end."""
    if width > end - at:
        return np.int64(-1)
    length = np.int64(little_endian(at, width))
    return length if length <= end - at - width else np.int64(-1)


@inline
def put_value(out, room_end, at, end, column, state):
    """The value at `at`: (where the text ends, where the next value is). The first is BAD_ROWS where the value goes
    past the end, BAD_VALUE where it makes no sense, FULL where the text may go past its room, NEED_DOCUMENT where a
    JSON text may."""
    kind, width = column.kind, column.width
    if kind < STRING:
        if width > end - at:
            return Status.BAD_ROWS, at
        if MOST_FIXED > room_end - out:
            return Status.FULL, at
        return _put_fixed(out, at, kind, column.metadata, width), at + width
    length = value_length(at, end, width)
    at += width
    if length < 0:
        return Status.BAD_ROWS, at
    if kind == VECTOR:
        return _put_vector(out, room_end, at, length), at + length
    text, text_length = at, length
    if kind == JSON:
        text, text_length = put_json(at, length, end, state)
        if text < 0:
            return text, at
    if 4 * text_length + 16 > room_end - out:
        return Status.FULL, at
    text_end = put_quoted(out, text, text_length, state.as_mysql != 0)
    return escape(out, text_end, room_end, state), at + length


@inline
def _put_vector(out, room_end, at, length):
    if (length // 4 + 1) * LONGEST_DOUBLE > room_end - out:
        return Status.FULL
    out = put_byte(out, 91)
    for number in range(length // 4):
        if number:
            out = put_byte(out, 44)
        out += print_element(out, LONGEST_DOUBLE, at + 4 * number)
    return put_byte(out, 93)


@inline
def _put_fixed(out, at, kind, meta, width):
    if kind == INTEGER:
        value = np.int64(little_endian(at, width))
        shift = 64 - 8 * width
        signed = (value << shift) >> shift
        out = put_signed(out, signed)
        if signed < 0:
            out = put_byte(put_byte(out, 32), 40)
            out = put_byte(put_unsigned(out, np.uint64(value)), 41)
        return out
    if kind == DECIMAL:
        after = put_digits(at, meta >> 8, meta & 255, out)
        return Status.BAD_VALUE if after < 0 else after
    if kind == YEAR:
        return put_unsigned(out, np.uint64(1900) + np.uint64(load_u8(at)))
    if kind == FLOAT:
        after = out + print_float(out, LONGEST_DOUBLE, at)
        while after < out + 20:
            after = put_byte(after, 32)
        return after
    if kind == DOUBLE:
        return out + print_double(out, LONGEST_DOUBLE, at)
    if kind == ENUM:
        return put_unsigned(out, little_endian(at, width))
    if kind == BITS or kind == SET:
        out = put_byte(put_byte(out, 98), _QUOTE)
        if kind == BITS:
            out = put_bits(out, big_endian(at, width), (meta >> 8) * 8 + (meta & 255))
        else:
            for byte in range(width):
                out = put_bits(out, np.uint64(load_u8(at + byte)), 8)
        return put_byte(out, _QUOTE)
    if kind == TIMESTAMP2:
        return _put_fraction(put_unsigned(out, big_endian(at, 4)), at + 4, meta)
    if kind == OLD_TIMESTAMP:
        return put_unsigned(out, little_endian(at, 4))
    return put_byte(_put_time(put_byte(out, _QUOTE), at, kind, meta, width), _QUOTE)


@inline
def _put_fraction(out, at, digits):
    """A point and fractional digits; nothing where there are none."""
    if digits == 0:
        return out
    fraction = big_endian(at, (digits + 1) >> 1)
    if digits & 1:
        fraction //= np.uint64(10)
    return put_padded(put_byte(out, 46), fraction, digits)


@inline
def _put_time(out, at, kind, meta, width):
    """Dates and times that stand in quotes."""
    if kind == DATE:
        packed = np.int64(little_endian(at, 3))
        return put_parts(out, packed >> 9, packed >> 5 & 15, packed & 31, 4, 58)
    if kind == DATETIME2:
        packed = np.int64(big_endian(at, 5)) & 0x7FFFFFFFFF
        months = packed >> 22
        out = put_byte(put_parts(out, months // 13, months % 13, packed >> 17 & 31, 4, 45), 32)
        out = put_parts(out, packed >> 12 & 31, packed >> 6 & 63, packed & 63, 2, 58)
        return _put_fraction(out, at + 5, meta)
    if kind == TIME2:
        number = np.int64(big_endian(at, width)) - (np.int64(1) << (8 * width - 1))
        if number < 0:
            out, number = put_byte(out, 45), -number
        fraction_bits = 8 * (width - 3)
        clock = number >> fraction_bits
        out = put_parts(out, clock >> 12, clock >> 6 & 63, clock & 63, 2, 58)
        if meta == 0:
            return out
        fraction = np.uint64(number & ((np.int64(1) << fraction_bits) - 1))
        if meta & 1:
            fraction //= np.uint64(10)
        return put_padded(put_byte(out, 46), fraction, meta)
    if kind == OLD_DATETIME:
        packed = np.int64(little_endian(at, 8))
        day, clock = packed // 1000000, packed % 1000000
        out = put_byte(put_parts(out, day // 10000, day // 100 % 100, day % 100, 4, 45), 32)
        return put_parts(out, clock // 10000, clock // 100 % 100, clock % 100, 2, 58)
    packed = (np.int64(little_endian(at, 3)) ^ 0x800000) - 0x800000
    if packed < 0:
        out, packed = put_byte(out, 45), -packed
    return put_parts(out, packed // 10000, packed // 100 % 100, packed % 100, 2, 58)
