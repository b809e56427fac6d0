"""Functions that cut, fill and write text in other forms, over whole columns.

Source: MySQL manual, "String Functions and Operators"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import TEMPORAL
from applier.sql.functions import combinations
from applier.sql.functions.arithmetic import doubles
from applier.sql.functions.combinations import of_values
from applier.sql.functions.roundings import rounded_double
from applier.sql.nodes import Call
from applier.sql.values import TEXT, Arguments, Function, Value, as_number, together
from applier.sql.whole_numbers import whole_numbers

_MOST_CHARACTERS = 1 << 20
_DIGITS = Context(prec=400)
_MOST_DECIMALS = {"mysql": 30, "mariadb": 38}


def _before_or_behind(text: str, mark: str, count: int) -> str:
    """SUBSTRING_INDEX: the text before the mark for the count-th time, or behind it, counted from the end."""
    if not mark or not count:
        return ""
    parts = text.split(mark)
    if count > 0:
        return mark.join(parts[:int(count)])
    at = len(text)  # the marks are found from the end, where they might overlap
    for _ in range(int(-count)):
        at = text.rfind(mark, 0, at)
        if at < 0:
            return text
    return text[at + len(mark):]


def _filled(left: bool) -> Function:
    def filled(text: str, length: int, filler: str = " ") -> str | None:
        if length < 0:
            return None
        lacks = int(length) - len(text)
        if lacks <= 0:
            return text[:int(length)]
        if length > _MOST_CHARACTERS:
            raise NotComputable("text filled to more than 1 MiB")
        fill = (filler * (lacks // len(filler) + 1))[:lacks] if filler else ""
        return fill + text if left else text + fill

    def as_mariadb(text: str, length: int, filler: str = " ") -> str | None:
        return filled(text, length, filler) if filler or length <= len(text) else None

    of_flavour = {flavour: of_values(function, "text", "whole", "text?")
                  for flavour, function in (("mysql", filled), ("mariadb", as_mariadb))}
    return lambda arguments, call, session, n: of_flavour[session.flavour](arguments, call, session, n)


def _inserted(text: str, start: int, length: int, new: str) -> str:
    if not 1 <= start <= len(text):
        return text
    end = len(text) if length < 0 or start - 1 + length > len(text) else int(start - 1 + length)
    return text[:int(start) - 1] + new + text[end:]


def _trimmed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TRIM of spaces, or of a text that is repeated at one end or at both."""
    def without(text: str, removed: str = " ") -> str:
        if not removed:
            return text
        if call.word != "TRAILING":
            while text.startswith(removed):
                text = text[len(removed):]
        if call.word != "LEADING":
            while text.endswith(removed):
                text = text[:-len(removed)]
        return text

    return of_values(without, "text", "text?")(arguments, call, session, n)


def _repeated(text: str, count: int) -> str:
    if count * len(text) > _MOST_CHARACTERS:
        raise NotComputable("REPEAT of more than 1 MiB")
    return text * max(0, int(count))


def _spaces(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [count] = [whole_numbers(value, session) for value in arguments]
    made = combinations.computed([count.values], lambda number: _repeated(" ", number), pa.string())
    return Value(made, TEXT, count.constant)


_MOST_PLACES = 2**31 - 1
_EXACT = 1 << 53


def _format(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """FORMAT as in English."""
    if len(arguments) != 2:
        raise NotComputable("FORMAT in a language")
    places, most = whole_numbers(arguments[1], session), _MOST_DECIMALS[session.flavour]
    is_wide = pc.any(pc.greater(pc.abs(places.values), pa.scalar(Decimal(_MOST_PLACES)))).as_py()
    if is_wide and session.flavour == "mysql":  # it takes the last ones
        raise NotComputable("FORMAT with a number of digits of more than 32 bits")
    if session.flavour == "mariadb" and arguments[0].digits and pc.any(pc.greater(
            as_number(arguments[0], session), pa.scalar(Decimal(_EXACT)))).as_py():
        raise NotComputable("FORMAT of hexadecimal digits of a number of more than 9007199254740992")  # a double
    of_type = doubles if arguments[0].type.base in TEMPORAL else as_number
    number = replace(arguments[0], values=of_type(arguments[0], session))

    def written(number: Decimal | float, digits: Decimal) -> str:
        places = min(most, max(0, int(digits)))
        if isinstance(number, float):
            number = Decimal(repr(rounded_double(number, places, session)))
            return f"{number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN, _DIGITS):,f}"
        rounded = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _DIGITS)
        return f"{rounded or abs(rounded):,f}"

    made = combinations.computed(together([number, places], n), written, pa.string())
    return Value(made, TEXT, number.constant and places.constant)


FUNCTIONS: dict[str, Function] = {
    "SUBSTRING_INDEX": of_values(_before_or_behind, "text", "text", "whole"),
    "LPAD": _filled(left=True), "RPAD": _filled(left=False), "TRIM": _trimmed,
    "REVERSE": of_values(lambda text: text[::-1], "text"),
    "INSERT": of_values(_inserted, "text", "whole", "whole", "text"),
    "REPEAT": of_values(_repeated, "text", "whole"), "SPACE": _spaces, "FORMAT": _format,
}
