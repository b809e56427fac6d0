"""Functions that choose among several values, or find one of them: ELT, FIELD, MAKE_SET, EXPORT_SET.

Source: MySQL manual, "String Functions and Operators"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import reduce
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS, TEMPORAL
from applier.sql.functions.arithmetic import doubles
from applier.sql.functions.combinations import computed
from applier.sql.functions.compared_forms import without_century
from applier.sql.functions.conditions import FUNCTIONS as CONDITIONS
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    DOUBLE,
    TEXT,
    WHOLE,
    Arguments,
    Function,
    Value,
    as_bytes,
    as_number,
    as_text,
    as_truth,
    collation_of,
    common_charset,
    numbers,
    text_type,
    together,
)
from applier.sql.whole_numbers import whole_numbers

_BITS = 64
_BEYOND, _LARGEST = (pa.scalar(Decimal(number), WHOLE) for number in (1 << 63, (1 << 63) - 1))


def _strings(arguments: Arguments, session: Session) -> tuple[list[Value], Value]:
    """Values as text, or as bytes if one of them is, and an empty one of their type."""
    if any(value.type.base in BINARY for value in arguments):
        return [Value(as_bytes(value, session), BYTES, value.constant) for value in arguments], \
            Value(pa.array([b""]), BYTES, constant=True)
    type_ = text_type(common_charset(arguments), collation_of(arguments))
    return [Value(as_text(value, session, type_.charset), TEXT, value.constant) for value in arguments], \
        Value(pa.array([""]), type_, constant=True)


def _element(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """ELT: the value with this number, of which MariaDB takes the lower 32 bits; those of a DECIMAL beyond 63 bits are
    all set. Raises NotComputable for a number of 64 bits of which it is not known whether it is a DECIMAL's."""
    number, (strings, empty) = whole_numbers(arguments[0], session), _strings(arguments[1:], session)
    most = 1 << 32 if session.flavour == "mariadb" else 1 << _BITS
    if session.flavour == "mariadb" and not arguments[0].is_column and pc.any(
            pc.greater_equal(number.values, _BEYOND)).as_py():
        raise NotComputable("ELT by a number of more than 63 bits that may be a DECIMAL's")
    if session.flavour == "mariadb" and arguments[0].type.base == "decimal":
        number = replace(number, values=pc.min_element_wise(number.values, _LARGEST, skip_nulls=False))

    def chosen(place: Decimal | None, *texts: object) -> object:
        found = 0 if place is None else int(place) % most
        return texts[found - 1] if 1 <= found <= len(texts) else None

    made = computed(together([number, *strings], n), chosen, empty.values.type, of_nulls=True)
    return Value(made, empty.type, all(value.constant for value in (number, *strings)), is_choice=True)


def _field(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """FIELD: the number of the first value that the first argument equals, 0 for none: as text if all are, else as
    numbers."""
    arguments = [without_century(value, session) for value in arguments]
    wanted, *others = arguments
    are_texts = [value.is_text or value.is_null or value.type.base in (*MEMBERS, *TEMPORAL, *BINARY)
                 for value in arguments]
    if any(are_texts) and any(value.type.base in TEMPORAL for value in arguments):
        raise NotComputable("FIELD of dates")
    if any(are_texts) and not all(are_texts):
        arguments = [_as_double(value, session) for value in arguments]
        wanted, *others = arguments
    found = [CONDITIONS["="]([wanted, other], Call("="), session, n) for other in others]
    constant = all(value.constant for value in arguments)
    matches = [as_truth(value, session).fill_null(False) for value in found]
    arrays = together([Value(match, value.type, value.constant) for match, value in zip(matches, found, strict=True)],
                      1 if constant else n)
    places = reduce(lambda rest, number: pc.if_else(arrays[number], number + 1, rest),
                    reversed(range(len(arrays))), pa.repeat(pa.scalar(0, pa.int64()), len(arrays[0])))
    return numbers(places, constant=len(places) == 1 != n or constant)


def _as_double(value: Value, session: Session) -> Value:
    return Value(doubles(value, session), DOUBLE, value.constant)


def _made_set(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MAKE_SET: the values of the bits that are set, with commas between them."""
    bits, (strings, empty) = whole_numbers(arguments[0], session), _strings(arguments[1:], session)
    nothing = empty.values[0].as_py()
    comma = "," if nothing == "" else b","

    def joined(number: Decimal | None, *texts: object) -> object:
        if number is None:
            return None
        chosen = [text for bit, text in enumerate(texts) if int(number) >> bit & 1 and text is not None]
        return comma.join(chosen)  # type: ignore[arg-type]  # all are of the comma's type

    made = computed(together([bits, *strings], n), joined, empty.values.type, of_nulls=True)
    return Value(made, empty.type, all(value.constant for value in (bits, *strings)))


def _exported_set(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """EXPORT_SET: a text for each bit, from the lowest on."""
    if not 3 <= len(arguments) <= 5:
        raise NotComputable("EXPORT_SET of so many arguments")
    bits, count = whole_numbers(arguments[0], session), arguments[4:]
    strings, empty = _strings(arguments[1:4], session)
    if empty.type is BYTES:
        raise NotComputable("EXPORT_SET of bytes")
    sizes = [whole_numbers(value, session) for value in count]

    def shown(number: Decimal, on: str, off: str, *more: str | Decimal) -> str:
        between = more[0] if more else ","
        size = int(more[1]) if len(more) > 1 else _BITS
        size = size if 0 <= size <= _BITS else _BITS
        return str(between).join(on if int(number) >> bit & 1 else off for bit in range(size))

    given = [bits, *strings, *sizes]
    return Value(computed(together(given, n), shown, pa.string()), empty.type, all(value.constant for value in given))


def _interval(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """INTERVAL: how many of the numbers, which rise, are not larger than the first one; -1 for NULL."""
    found = [replace(value, values=as_number(value, session)) for value in arguments]

    def place(number: Decimal | float | None, *bounds: Decimal | float | None) -> int:
        if number is None:
            return -1
        known = [bound for bound in bounds if bound is not None]
        if len(known) < len(bounds) or any(left > right for left, right in pairwise(known)):
            raise NotComputable("INTERVAL of numbers that do not rise")
        return sum(bound <= number for bound in known)

    made = computed(together(found, n), place, pa.int64(), of_nulls=True)
    return numbers(made, constant=all(value.constant for value in found))


FUNCTIONS: dict[str, Function] = {
    "ELT": _element, "FIELD": _field, "MAKE_SET": _made_set, "EXPORT_SET": _exported_set,
    "INTERVAL": _interval,
}
