"""Functions that cut, fill and write text in other forms, over whole columns: each once for each distinct value.

Source: MySQL manual, "String Functions and Operators"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.casting.texts import by_distinct
from applier.sql.nodes import Call
from applier.sql.values import (
    TEXT,
    Arguments,
    Function,
    Value,
    as_bytes,
    as_number,
    as_text,
    one,
    whole_number,
)

_MOST_CHARACTERS = 1 << 20
_DIGITS = Context(prec=80)
_LINE = 76
"""Characters of a line of base64."""


def _of(function: Callable[..., str | None], *constants: Callable[[Value, Session], object]) -> Function:
    """A function of a text and of so many constants after it; NULL if one of them is."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        text, *others = arguments
        if text.type.base in BINARY or not text.shows or len(others) != len(constants):
            raise NotComputable(f"{call.name} of bytes, or of so many arguments")
        type_ = replace(TEXT, charset=text.type.charset, collation=text.type.collation) if text.is_text else TEXT
        if any(value.is_null for value in others):
            return Value(pa.nulls(len(text.values), pa.string()), type_, text.constant)
        more = [read(value, session) for read, value in zip(constants, others, strict=True)]
        made = by_distinct(as_text(text, session), lambda one: None if one is None else function(one, *more))
        return Value(made, type_, text.constant)

    return computed


def _text(value: Value, session: Session) -> str:
    """A constant's text, in a character set that is the other text's, too, if it is ASCII."""
    found = one(Value(as_text(value, session), TEXT, value.constant))
    if not isinstance(found, str) or not found.isascii():
        raise NotComputable("an argument that is not text in ASCII")
    return found


def _before_or_behind(text: str, mark: str, count: int) -> str:
    """SUBSTRING_INDEX: what is before the mark for the count-th time, or behind it, counted from the end."""
    if not mark or not count:
        return ""
    parts = text.split(mark)
    if count > 0:
        return mark.join(parts[:count])
    at = len(text)  # the marks are found from the end, where they might overlap
    for _ in range(-count):
        at = text.rfind(mark, 0, at)
        if at < 0:
            return text
    return text[at + len(mark):]


def _filled(left: bool) -> Callable[[str, int, str], str | None]:
    def filled(text: str, length: int, filler: str) -> str | None:
        if length < 0:
            return None
        lacks = length - len(text)
        if lacks <= 0:
            return text[:length]
        if not filler or length > _MOST_CHARACTERS:
            raise NotComputable("text filled with nothing, or to more than 1 MiB")
        fill = (filler * (lacks // len(filler) + 1))[:lacks]
        return fill + text if left else text + fill

    return filled


def _inserted(text: str, start: int, length: int, new: str) -> str:
    if not 1 <= start <= len(text):
        return text
    end = len(text) if length < 0 or start - 1 + length > len(text) else start - 1 + length
    return text[:start - 1] + new + text[end:]


def _format(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """FORMAT of exact numbers, as in English."""
    if len(arguments) != 2:
        raise NotComputable("FORMAT in a language")
    value, digits = arguments
    if value.is_null or digits.is_null:
        return Value(pa.nulls(1, pa.string()), TEXT, constant=True)
    found, places = as_number(value, session), min(30, max(0, whole_number(digits, session)))
    if pa.types.is_floating(found.type):
        raise NotComputable("FORMAT of a number that is not exact")

    def shown(number: Decimal) -> str:
        rounded = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _DIGITS)
        return f"{rounded or abs(rounded):,f}"

    return Value(by_distinct(found, lambda one: None if one is None else shown(one)), TEXT, value.constant)


def _to_base64(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments

    def lines(data: bytes | None) -> str | None:
        if data is None:
            return None
        text = base64.b64encode(data).decode()
        return "\n".join(text[at:at + _LINE] for at in range(0, len(text), _LINE))

    return Value(by_distinct(as_bytes(value, session), lines), TEXT, value.constant)


def _in_base(form: str, bits: int) -> Function:
    """Whole numbers with 64 bits, without a sign, in another base."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        found = as_number(value, session)
        if pa.types.is_floating(found.type) or found.type.scale:
            raise NotComputable(f"{call.name} of a number with a fraction")
        made = by_distinct(found, lambda one: None if one is None else format(int(one) % 2**bits, form))
        return Value(made, TEXT, value.constant)

    return computed


FUNCTIONS: dict[str, Function] = {
    "SUBSTRING_INDEX": _of(_before_or_behind, _text, whole_number),
    "LPAD": _of(_filled(left=True), whole_number, _text), "RPAD": _of(_filled(left=False), whole_number, _text),
    "REVERSE": _of(lambda text: text[::-1]), "INSERT": _of(_inserted, whole_number, whole_number, _text),
    "SPACE": lambda arguments, call, session, n: Value(
        pa.array([" " * min(_MOST_CHARACTERS, max(0, whole_number(arguments[0], session)))]), TEXT, constant=True),
    "FORMAT": _format, "TO_BASE64": _to_base64, "BIN": _in_base("b", 64), "OCT": _in_base("o", 64),
}
