# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that finds the texts which MySQL prints unchanged, so that they need not be parsed.

It may miss some: a key with an escape, or an integer of twenty digits, is left to the parser. A double is recognised by
printing it: of the few doubles near the text's value, one has just these shortest digits.

Positions here are addresses, and `end` is where the document ends; each is compared with it before it is read.
"""

import numpy as np

from jsondiff.kernels.numbers import MAX_NUMBER_TEXT, put_double, shortest_decimal
from jsondiff.values import MAX_DEPTH
from keysearch.addresses import address_of
from keysearch.memory import double_bits, inline, keep, kernel, load_byte
from keysearch.records import struct

_QUOTE, _BACKSLASH, _COMMA, _COLON, _SPACE, _MINUS, _POINT = 34, 92, 44, 58, 32, 45, 46
_ARRAY, _OBJECT, _OBJECT_END, _E, _U, _ZERO, _NINE = 91, 123, 125, 101, 117, 48, 57
_MOST_DIGITS = 19  # that fit into 64 bits, whatever they are
_MOST_POWER = 308  # of ten that a double holds
_NEARBY = np.array([0, 1, -1, 2, -2])  # doubles around the first guess

_OPEN, _, _open_at = struct("open container", closing=np.int64, key=np.int64, key_length=np.int64)
"""A container around others: the bracket that ends it, and of an object its last key, -1 long before the first."""
_OPEN_BYTES = _OPEN.itemsize

_SHORT_ESCAPES = np.zeros(256, np.bool_)  # letters behind a backslash
_SHORT_ESCAPES[list(b'"\\bfnrt')] = True
_LONG_ESCAPES = np.zeros(32, np.bool_)  # control characters that take \u00XX
_LONG_ESCAPES[[code for code in range(32) if code not in b"\b\f\n\r\t"]] = True
_WORDS = np.frombuffer(b"nulltruefalse", np.uint8)
_POWERS = np.array([float(f"1e{n}") for n in range(_MOST_POWER + 1)])


@inline
def _word_end(at, end):
    """Where the true, false or null at `at` ends, 0 if there is none."""
    letter = load_byte(at)
    first, last = (4, 8) if letter == 116 else (8, 13) if letter == 102 else (0, 4)
    if last - first > end - at:
        return 0
    for i in range(first, last):
        if load_byte(at) != _WORDS[i]:
            return 0
        at += 1
    return at


@inline
def _hex_digit(byte):
    if _ZERO <= byte <= _NINE:
        return byte - 48
    return byte - 87 if 97 <= byte <= 102 else -1


@inline
def _string_end(at, end):
    """Where the string at `at` ends, 0 if it is malformed or escapes what needs no escape; and whether it has escapes.
    """
    if at >= end or load_byte(at) != _QUOTE:
        return 0, False
    at += 1
    escaped = False
    while at < end:
        byte = load_byte(at)
        at += 1
        if byte == _QUOTE:
            return at, escaped
        if byte < 32:
            return 0, False
        if byte != _BACKSLASH:
            continue
        escaped = True
        if at == end:
            return 0, False
        if _SHORT_ESCAPES[load_byte(at)]:
            at += 1
            continue
        if end - at < 5 or load_byte(at) != _U or load_byte(at + 1) != _ZERO or load_byte(at + 2) != _ZERO:
            return 0, False
        high, low = _hex_digit(load_byte(at + 3)), _hex_digit(load_byte(at + 4))
        if high < 0 or high > 1 or low < 0 or not _LONG_ESCAPES[16 * high + low]:
            return 0, False
        at += 5
    return 0, False


@inline
def _sorts_behind(key, length, last, last_length):
    """Return whether a key sorts behind the last one of its object: it is longer, or as long and greater."""
    if length != last_length:
        return length > last_length
    for i in range(length):
        difference = load_byte(key + i) - load_byte(last + i)
        if difference:
            return difference > 0
    return False


@inline
def _key_end(at, end, last, last_length):
    """Where the value begins whose key and colon are at `at`, 0 if the key does not sort behind the last one; and the
    key's length."""
    stop, escaped = _string_end(at, end)
    if stop == 0 or escaped or end - stop < 2 or load_byte(stop) != _COLON or load_byte(stop + 1) != _SPACE:
        return 0, 0
    length = stop - at - 2
    return stop + 2 if _sorts_behind(at + 1, length, last, last_length) else 0, length


@inline
def _digits(at, end, value, count):
    """Read on a number that has `count` digits so far, leading zeros not counted: (its value, its digits, where they
    end). With more than 19 digits the value is wrong."""
    while at < end:
        digit = load_byte(at) - _ZERO
        if digit < 0 or digit > 9:
            break
        value = value * np.uint64(10) + np.uint64(digit)
        count += 1 if count or value else 0
        at += 1
    return value, count, at


@inline
def _number_end(at, end, room):
    """Where the number at `at` ends, 0 if it is malformed or MySQL writes it otherwise."""
    start, negative = at, load_byte(at) == _MINUS
    if negative:
        at += 1
    first = at
    value, count, at = _digits(at, end, np.uint64(0), 0)
    if at == first or count > _MOST_DIGITS:
        return 0
    if at == end or (load_byte(at) != _POINT and load_byte(at) != _E):
        if load_byte(first) == _ZERO:
            return at if at == first + 1 and not negative else 0
        return at if not negative or value <= np.uint64(1 << 63) else 0
    power = 0
    if load_byte(at) == _POINT:
        point = at + 1
        value, count, at = _digits(point, end, value, count)
        power = point - at
        if count > _MOST_DIGITS:
            return 0
    if at < end and load_byte(at) == _E:
        at += 1
        downwards = at < end and load_byte(at) == _MINUS
        exponent, digits, at = _digits(at + (1 if downwards else 0), end, np.uint64(0), 0)
        if digits > 3:
            return 0
        power += -np.int64(exponent) if downwards else np.int64(exponent)
    return at if _prints_so(start, at, negative, value, power, room) else 0


@inline
def _prints_so(start, end, negative, value, power, room):
    """Return whether the text is how the double nearest to ±value × 10**power prints."""
    while value and value % np.uint64(10) == np.uint64(0):
        value, power = value // np.uint64(10), power + 1
    near, left = np.float64(value), power
    if power < -_MOST_POWER:
        near /= _POWERS[_MOST_POWER]
        left += _MOST_POWER
    if abs(left) > _MOST_POWER:
        return False
    guess = double_bits(near / _POWERS[-left] if left < 0 else near * _POWERS[left])
    for step in _NEARBY:
        bits = guess + step
        if bits < 0 or bits >> 52 == 0x7FF:  # negative, infinity
            continue
        digits, exponent = shortest_decimal(np.uint64(bits))
        if digits == value and (exponent == power or not value):
            size = put_double(room, np.uint64(bits) | np.uint64(negative) << np.uint64(63)) - room
            if size != end - start:
                return False
            for i in range(size):
                if load_byte(room + i) != load_byte(start + i):
                    return False
            return True
    return False


@inline
def _is_canonical(at, end, stack, room):
    """Return whether the text is a document as the server prints it."""
    depth = 0
    key, key_length = 0, -1  # of the innermost container, if it is an object: -1 before its first
    closing = 0  # the bracket that ends it
    while at < end:
        byte = load_byte(at)
        if byte == _ARRAY or byte == _OBJECT:
            if depth == MAX_DEPTH:
                return False
            if at + 1 < end and load_byte(at + 1) == byte + 2:  # the bracket that closes it
                at += 2
            else:
                outer = _open_at(stack, depth)
                outer.closing, outer.key, outer.key_length = closing, key, key_length
                depth += 1
                closing, key, key_length = byte + 2, at + 2, -1
                at += 1
                if byte == _OBJECT:
                    at, key_length = _key_end(at, end, 0, -1)
                    if at == 0:
                        return False
                continue
        elif byte == _QUOTE:
            at, _ = _string_end(at, end)
        elif byte == _MINUS or _ZERO <= byte <= _NINE:
            at = _number_end(at, end, room)
        else:
            at = _word_end(at, end)
        if at == 0:
            return False
        while depth and at < end and load_byte(at) == closing:
            depth -= 1
            outer = _open_at(stack, depth)
            closing, key, key_length = outer.closing, outer.key, outer.key_length
            at += 1
        if depth == 0:
            return at == end
        if end - at < 2 or load_byte(at) != _COMMA or load_byte(at + 1) != _SPACE:
            return False
        at += 2
        if closing == _OBJECT_END:
            last, key = key, at + 1
            at, key_length = _key_end(at, end, last, key_length)
            if at == 0:
                return False
    return False


@kernel
def find_others(data, offsets, validity, others):
    """Set others (bool[n]) for the texts that may not be canonical.

    data: uint8, UTF-8; offsets: int64[n + 1] into it; validity: bool[n], False for NULL, which is never set."""
    stack = np.empty(MAX_DEPTH * _OPEN_BYTES, np.uint8)
    number = np.empty(MAX_NUMBER_TEXT, np.uint8)
    base = address_of(data)
    for row in range(len(validity)):
        at, end = base + offsets[row], base + offsets[row + 1]
        others[row] = validity[row] and not _is_canonical(at, end, address_of(stack), address_of(number))
    keep(stack)
    keep(number)
