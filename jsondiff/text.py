"""JSON text to documents as CAST(text AS JSON) makes them, and documents to the text that MySQL prints."""

import json
import math
import re
from json.encoder import encode_basestring as quoted  # ", \ and control characters escaped, as the server does
from typing import NoReturn

from jsondiff import parser
from jsondiff.values import INVALID_BINARY, MAX_DEPTH, TOO_DEEP, Document, DocumentError, Opaque, in_order, utf8

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_MOST_PLAIN_DIGITS = 15


def from_text(text: str | bytes) -> Document:
    """The document that MySQL stores for this text (UTF-8), its members in stored order.

    Integers are int up to 4294967295, Unsigned up to 64 bits, double beyond. Raises DocumentError: 3140 if the text is
    not JSON, with the server's words and the byte where its parser stopped; 3157 at the 101st level."""
    if isinstance(text, bytes):
        data = text
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return parser.parse(data)
    utf8(text)
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        return parser.parse(text.encode())
    try:
        value: Document = _FAST.decode(text.partition("\0")[0])
    except (ValueError, RecursionError):
        return parser.parse(text.encode())
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        return parser.parse(text.encode())
    return value


def to_text(value: Document) -> str:
    """The text of a document, as MySQL prints it and as binary.to_text does: members in stored order, ", " and ": "
    between, the shortest digits of doubles. Raises DocumentError as encode does, TypeError for a value of no type
    that documents have."""
    out: list[str] = []
    _put(value, 0, out)
    text = "".join(out)
    utf8(text)
    return text


def _known(value: float | None) -> float:
    if value is None:
        raise ValueError("a number too big for a double")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_FAST = json.JSONDecoder(
    object_hook=in_order,
    parse_int=lambda text: _known(parser.integer(text)),
    parse_float=lambda text: _known(parser.double(text)),
    parse_constant=_no_constant,
)
"""Accepts what MySQL accepts, except for escaped surrogates and depth."""


def _depth(value: Document) -> int:
    """How deep containers are nested."""
    level, depth = [value] if isinstance(value, dict | list) else [], 0
    while level:
        parts = (part for outer in level for part in (outer.values() if isinstance(outer, dict) else outer))
        level, depth = [part for part in parts if isinstance(part, dict | list)], depth + 1
    return depth


def _put(value: Document, depth: int, out: list[str]) -> None:
    match value:
        case None:
            out.append("null")
        case bool():
            out.append("true" if value else "false")
        case str():
            out.append(quoted(value))
        case int():
            out.append(int.__repr__(value))
        case float():
            out.append(_double(value))
        case dict() | list() if depth == MAX_DEPTH:
            raise DocumentError(f"nested deeper than {MAX_DEPTH} levels", TOO_DEEP)
        case list():
            mark = "["
            for element in value:
                out.append(mark)
                _put(element, depth + 1, out)
                mark = ", "
            out.append("]" if value else "[]")
        case dict():
            mark = "{"
            for name, element in in_order(value).items():
                out.append(f"{mark}{quoted(name)}: ")
                _put(element, depth + 1, out)
                mark = ", "
            out.append("}" if value else "{}")
        case Opaque():
            out.append(value.text() if value.is_number else quoted(value.text()))
        case _:
            raise TypeError(f"{type(value).__name__} is no type of JSON documents")


def _double(value: float) -> str:
    """A double as numbers.put_double writes it: only exponents differ from repr."""
    if not math.isfinite(value):
        raise DocumentError("a double is infinite or not a number", INVALID_BINARY)
    text = repr(value)
    if "e" not in text and abs(value) < 10.0**_MOST_PLAIN_DIGITS:
        return text
    sign, text = ("-", text[1:]) if text[0] == "-" else ("", text)
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)  # where the decimal point stands, counted from the first digit
    digits = (whole + fraction).rstrip("0")
    if point < 1 - _MOST_PLAIN_DIGITS or (point > _MOST_PLAIN_DIGITS and len(digits) <= point):
        return f"{sign}{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
