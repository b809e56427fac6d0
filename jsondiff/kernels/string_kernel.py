# mypy: allow-untyped-defs, no-check-untyped-defs
"""Strings of JSON text, for kernels: where one ends, what its escapes stand for, whether bytes are UTF-8.

Positions are addresses; each is compared with an end before it is read.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from keysearch.memory import inline, load_byte, load_i64, store_i64, store_u8

QUOTE, _BACKSLASH, _U = 34, 92, 117
_UNESCAPED = np.zeros(256, np.int64)  # what the letter behind a backslash stands for; 0 if nothing
_ESCAPES = [b"\\u%04x" % _byte if _byte < 32 else b"%c" % _byte for _byte in range(256)]  # how a byte is escaped
for _letter, _byte in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t'):
    _UNESCAPED[_letter] = _byte
    if _letter != ord("/"):
        _ESCAPES[_byte] = b"\\%c" % _letter
_ESCAPED = np.array([int.from_bytes(_text, "little") for _text in _ESCAPES])
_ESCAPED_LENGTH = np.array(list(map(len, _ESCAPES)))
_HEX_DIGITS = np.full(256, -1, np.int64)
for _digit, _letter in enumerate(b"0123456789abcdef"):
    _HEX_DIGITS[_letter] = _HEX_DIGITS[ord(chr(_letter).upper())] = _digit
_BASE64 = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8).astype(np.int64)
_PADDING = 61
_HIGH_BITS = 0x8080808080808080 - (1 << 64)  # of eight bytes, as int64
_AT_ONCE = 16
_BLOCK = 32


@intrinsic
def _copy_block(typing_context, at, to):
    """Copies the _BLOCK bytes at `at` to `to`; returns a bit for each of them, the lowest for the first: whether JSON
    escapes it in a string. Unchecked."""

    def generate(context, builder, signature, arguments):
        kind = ir.VectorType(ir.IntType(8), _BLOCK)
        source, target = (builder.inttoptr(argument, kind.as_pointer()) for argument in arguments)
        text = builder.load(source, align=1)
        builder.store(text, target, align=1)
        tests = ("<", 32), ("==", QUOTE), ("==", _BACKSLASH)
        found = [builder.icmp_unsigned(how, text, ir.Constant(kind, [byte] * _BLOCK)) for how, byte in tests]
        special = builder.or_(builder.or_(*found[:2]), found[2])
        return builder.zext(builder.bitcast(special, ir.IntType(_BLOCK)), ir.IntType(64))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def _lowest_bit(typing_context, bits):
    """The number of the lowest bit that is set in an int64; 64 where none is."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


@inline
def _special(at, end):
    """The first quote or backslash before `end`, or `end`."""
    while end - at >= _AT_ONCE:
        any_special = False
        for i in range(_AT_ONCE):  # without a way out, so that these become vector instructions
            byte = load_byte(at + i)
            any_special |= (byte == QUOTE) | (byte == _BACKSLASH)
        if any_special:
            break
        at += _AT_ONCE
    while at < end and load_byte(at) != QUOTE and load_byte(at) != _BACKSLASH:
        at += 1
    return at


@inline
def string_end(at, end):
    """Where the string ends whose first character is at `at`: (its closing quote, or `end` if it has none; whether it
    has escapes)."""
    escaped = False
    at = _special(at, end)
    while at < end and load_byte(at) == _BACKSLASH:
        escaped = True
        at = _special(min(at + 2, end), end)
    return at, escaped


@inline
def _four_hex_digits(at, end):
    """The number that the digits at `at` write, or -1."""
    if end - at < 4:
        return -1
    code = 0
    for i in range(4):
        digit = _HEX_DIGITS[load_byte(at + i)]
        if digit < 0:
            return -1
        code = code << 4 | digit
    return code


@inline
def _put_character(code, to):
    """Write a code point as UTF-8; returns where it ends."""
    if code < 0x80:
        store_u8(to, code)
        return to + 1
    if code < 0x800:
        store_u8(to, 0xC0 | code >> 6)
    else:
        if code < 0x10000:
            store_u8(to, 0xE0 | code >> 12)
        else:
            store_u8(to, 0xF0 | code >> 18)
            to += 1
            store_u8(to, 0x80 | code >> 12 & 63)
        to += 1
        store_u8(to, 0x80 | code >> 6 & 63)
    store_u8(to + 1, 0x80 | code & 63)
    return to + 2


@inline
def unescape(at, end, to):
    """Write the inside of a JSON string without its escapes. That is never longer, so it may be written over it.
    Returns where it ends, or 0 if this cannot be inside a JSON string."""
    while at < end:
        byte = load_byte(at)
        at += 1
        if byte != _BACKSLASH:
            if byte < 32 or byte == QUOTE:
                return 0
            store_u8(to, byte)
            to += 1
            continue
        if at == end:
            return 0
        byte = load_byte(at)
        at += 1
        if byte != _U:
            if _UNESCAPED[byte] == 0:
                return 0
            store_u8(to, _UNESCAPED[byte])
            to += 1
            continue
        code = _four_hex_digits(at, end)
        at += 4
        if 0xD800 <= code <= 0xDBFF:  # the first half of a character, whose second half must follow
            if end - at < 2 or load_byte(at) != _BACKSLASH or load_byte(at + 1) != _U:
                return 0
            low = _four_hex_digits(at + 2, end)
            if low < 0xDC00 or low > 0xDFFF:
                return 0
            code = 0x10000 + (code - 0xD800 << 10) + low - 0xDC00
            at += 6
        elif code < 0 or 0xDC00 <= code <= 0xDFFF:
            return 0
        to = _put_character(code, to)
    return to


@inline
def put_string(at, end, limit, to):
    """Write the UTF-8 text at at:end as a JSON string, with the escapes that MySQL writes; returns where that ends.

    It takes up to six times the text's bytes, and ten. Bytes up to `limit` may be read: if that is behind `end`, a
    string takes one step for each 32 bytes, and up to 32 bytes more than the string are written."""
    store_u8(to, QUOTE)
    to += 1
    while limit - at > 2 * _BLOCK:
        special = _copy_block(at, to)
        if special == 0 and end - at > _BLOCK:
            at += _BLOCK
            to += _BLOCK
            continue
        next_block = min(at + _BLOCK, end)
        while True:
            plain = min(at + _lowest_bit(special), next_block)
            to += plain - at
            if plain == next_block:
                break
            to = _put_escaped(load_byte(plain), to)
            special >>= plain + 1 - at
            at = plain + 1
            _copy_block(at, to)
        at = next_block
        if at == end:
            break
    while at < end:
        to = _put_escaped(load_byte(at), to)
        at += 1
    store_u8(to, QUOTE)
    return to + 1


@inline
def _put_escaped(byte, to):
    """Write a byte of a string, escaped if necessary; eight bytes are written, whatever its length."""
    store_i64(to, _ESCAPED[byte])
    return to + _ESCAPED_LENGTH[byte]


@inline
def read_character(at, end):
    """The UTF-8 character at `at`: (code point, or -1 if it is malformed; what follows it)."""
    byte = load_byte(at)
    if byte < 0x80:
        return byte, at + 1
    if byte < 0xC2 or byte > 0xF4:
        return -1, at
    more = 1 if byte < 0xE0 else (2 if byte < 0xF0 else 3)
    if end - at <= more:
        return -1, at
    code = byte & (0x3F >> more)
    for i in range(1, 1 + more):
        byte = load_byte(at + i)
        if byte & 0xC0 != 0x80:
            return -1, at
        code = code << 6 | byte & 63
    overlong = (more == 2 and code < 0x800) or (more == 3 and (code < 0x10000 or code > 0x10FFFF))
    return -1 if overlong or 0xD800 <= code <= 0xDFFF else code, at + 1 + more


@inline
def is_utf8(at, end):
    while at < end:
        while end - at >= 8 and load_i64(at) & _HIGH_BITS == 0:
            at += 8
        if at < end:
            code, at = read_character(at, end)
            if code < 0:
                return False
    return True


@inline
def put_base64(to, at, end, line):
    """Write bytes in base64, with an escaped line feed after every `line` characters if more follow; 0: without."""
    column = 0
    while at < end:
        if line and column == line:
            store_u8(to, _BACKSLASH)
            store_u8(to + 1, 110)
            to += 2
            column = 0
        group = load_byte(at) << 16
        if at + 1 < end:
            group |= load_byte(at + 1) << 8
        if at + 2 < end:
            group |= load_byte(at + 2)
        store_u8(to, _BASE64[group >> 18])
        store_u8(to + 1, _BASE64[group >> 12 & 63])
        store_u8(to + 2, _BASE64[group >> 6 & 63] if at + 1 < end else _PADDING)
        store_u8(to + 3, _BASE64[group & 63] if at + 2 < end else _PADDING)
        at += 3
        to += 4
        column += 4
    return to
