"""Parses JSON text as MySQL's parser does, which is RapidJSON's reader with full precision. It is slow, but reports
errors and their positions in the server's own words; text.from_text uses it if a faster parser is not enough.

It differs little from RFC 8259: a zero byte ends the text, a number of zeros with too big an exponent is refused, and
of members with one name the last counts. An integer above 4294967295 is unsigned.
"""

import math
import re

from jsondiff.values import (
    INVALID_TEXT,
    MAX_DEPTH,
    TOO_DEEP,
    Array,
    Document,
    DocumentError,
    Object,
    Unsigned,
    in_order,
)

_SPACE = re.compile(rb"[ \n\r\t]*")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_HEX = re.compile(rb"[0-9a-fA-F]{4}")
_NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]*)?")
_ESCAPES = {ord(letter): byte for letter, byte in zip('"\\/bfnrt', b'"\\/\b\f\n\r\t')}
_LITERALS: dict[int, tuple[bytes, bool | None]] = {
    ord("n"): (b"null", None), ord("t"): (b"true", True), ord("f"): (b"false", False),
}
_MORE_DIGITS_THAN_64_BITS = 20
_MAX_EXPONENT = 308
_MAX_DIGITS = 768  # of a double that MySQL's parser reads; the rest count as zeros
_NO_DOUBLES_EXPONENT = 10  # digits of one


def parse(text: bytes) -> Document:
    """The document that a text describes. Raises DocumentError as text.from_text does."""
    return _Parser(text.partition(b"\0")[0]).document()


def integer(text: str) -> int | float | None:
    """The value of an integer's text: a double if it has more than 64 bits, None if it has too many for a double."""
    if len(text) > _MORE_DIGITS_THAN_64_BITS + 1:
        return double(text)
    value = int(text)
    if -(2**63) <= value <= 0xFFFFFFFF:
        return value
    return Unsigned(value) if 0 < value < 2**64 else float(text)


def double(text: str) -> float | None:
    """The double nearest to a number's text; None if its value or its exponent is too big: 0e309, but not 0.0e309."""
    value = float(text if len(text) <= _MAX_DIGITS else _first_digits(text))
    if value:
        return None if math.isinf(value) else value
    digits, _, exponent = text.lower().partition("e")
    exponent = exponent.lstrip("+").lstrip("0")
    most = _MAX_EXPONENT + len(digits.partition(".")[2])
    if exponent and exponent[0] != "-" and (len(exponent) > len(str(most)) or int(exponent) > most):
        return None
    return value


def _first_digits(text: str) -> str:
    mantissa, _, exponent = text.lower().partition("e")
    if len(exponent) > _NO_DOUBLES_EXPONENT:
        return text
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    power = int(exponent or 0) - len(fraction) + max(0, len(digits) - _MAX_DIGITS)
    return f"{'-' if mantissa[0] == '-' else ''}{digits[:_MAX_DIGITS] or '0'}e{power}"


class _Parser:
    """Parses a text; `at` is how far it has read."""

    def __init__(self, text: bytes) -> None:
        self.text, self.at = text, 0

    def document(self) -> Document:
        if self._next() is None:
            raise self._error("The document is empty.")
        value = self._value(0)
        if self._next() is not None:
            raise self._error("The document root must not be followed by other values.")
        return value

    def _next(self) -> int | None:
        """The first byte behind white space, None at the end."""
        self.at = self._match(_SPACE).end()
        return self._peek()

    def _match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
        """Match a pattern here that also matches the empty text."""
        found = pattern.match(self.text, self.at)
        assert found is not None, pattern
        return found

    def _peek(self) -> int | None:
        return self.text[self.at] if self.at < len(self.text) else None

    def _takes(self, byte: bytes) -> bool:
        found = self.text.startswith(byte, self.at)
        self.at += found
        return found

    def _value(self, depth: int) -> Document:
        match self._peek():
            case 0x22:
                return self._string()
            case 0x5B:
                return self._array(depth + 1)
            case 0x7B:
                return self._object(depth + 1)
            case first if first in _LITERALS:
                word, value = _LITERALS[first]
                for byte in word:
                    if self._peek() != byte:
                        raise self._error("Invalid value.")
                    self.at += 1
                return value
        return self._number()

    def _open(self, depth: int) -> int | None:
        self.at += 1
        if depth > MAX_DEPTH:
            raise DocumentError(f"nested deeper than {MAX_DEPTH} levels", TOO_DEEP, self.at)
        return self._next()

    def _array(self, depth: int) -> Array:
        elements: Array = []
        if self._open(depth) == 0x5D:
            self.at += 1
            return elements
        while True:
            elements.append(self._value(depth))
            self._next()
            if self._takes(b"]"):
                return elements
            if not self._takes(b","):
                raise self._error("Missing a comma or ']' after an array element.")
            self._next()

    def _object(self, depth: int) -> Object:
        members: Object = {}
        if self._open(depth) == 0x7D:
            self.at += 1
            return members
        while True:
            if self._peek() != 0x22:
                raise self._error("Missing a name for object member.")
            name = self._string()
            self._next()
            if not self._takes(b":"):
                raise self._error("Missing a colon after a name of object member.")
            self._next()
            members[name] = self._value(depth)
            self._next()
            if self._takes(b"}"):
                return in_order(members)
            if not self._takes(b","):
                raise self._error("Missing a comma or '}' after an object member.")
            self._next()

    def _number(self) -> int | float:
        start, found = self.at, self._match(_NUMBER)
        whole, fraction, exponent = found.groups()
        if whole is None:
            self.at += self.text.startswith(b"-", self.at)
            raise self._error("Invalid value.")
        if fraction == b".":
            raise self._error("Miss fraction part in number.", found.end(2))
        if exponent and not exponent[-1:].isdigit():
            raise self._error("Miss exponent in number.", found.end(3))
        value = (double if fraction or exponent else integer)(found[0].decode())
        if value is None:
            raise self._error("Number too big to be stored in double.", start)
        self.at = found.end()
        return value

    def _string(self) -> str:
        parts, self.at = [], self.at + 1
        while True:
            plain = self._match(_PLAIN)
            try:
                parts.append(plain[0].decode())
            except UnicodeDecodeError as error:
                raise self._error("Invalid encoding in string.", self.at + error.start) from None
            self.at = plain.end()
            if self._takes(b'"'):
                return "".join(parts)
            if self._peek() is None:
                raise self._error("Missing a closing quotation mark in string.")
            if self._peek() != 0x5C:
                raise self._error("Invalid encoding in string.")
            parts.append(self._escape())

    def _escape(self) -> str:
        start, self.at = self.at, self.at + 1
        letter, self.at = self._peek(), self.at + 1
        if letter in _ESCAPES:
            return chr(_ESCAPES[letter])
        if letter != 0x75:
            raise self._error("Invalid escape character in string.", start)
        code = self._hex(start)
        if not 0xD800 <= code <= 0xDFFF:
            return chr(code)
        invalid = self._error("The surrogate pair in string is invalid.", start)
        if code > 0xDBFF or not (self._takes(b"\\") and self._takes(b"u")):
            raise invalid
        low = self._hex(start)
        if not 0xDC00 <= low <= 0xDFFF:
            raise invalid
        return chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00)

    def _hex(self, start: int) -> int:
        digits = _HEX.match(self.text, self.at)
        if digits is None:
            raise self._error("Incorrect hex digit after \\u escape in string.", start)
        self.at += 4
        return int(digits[0], 16)

    def _error(self, what: str, at: int | None = None) -> DocumentError:
        return DocumentError(what, INVALID_TEXT, self.at if at is None else at)
