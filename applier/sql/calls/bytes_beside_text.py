"""Bytes and text among the arguments of a call, of which one becomes what the other is.

A server aggregates the collations of arguments: bytes of a column are stronger than text, and loose bytes (a literal's,
or made by a function) weaker than a column's text. Judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS
from applier.sql.casting.texts import WIDE
from applier.sql.values import BYTES, Value, as_bytes, is_ascii_data, text_type

_BY_THE_FIRST = frozenset({"LPAD", "RPAD", "INSERT", "REPLACE", "TRIM", "SUBSTRING_INDEX"})
"""Functions that make text or bytes in MySQL as their first argument is."""


def as_one_kind(name: str, arguments: list[Value], counts: Sequence[int], session: Session) -> list[Value]:
    """The arguments of a function of strings, all but the numbers in `counts` as bytes or as text, where one of both
    kinds becomes the other. Raises NotComputable for bytes that may be no text."""
    strings = [value for number, value in enumerate(arguments) if number not in counts]
    made = iter(_as_the_first(strings, session) if name in _BY_THE_FIRST and session.flavour == "mysql"
                else _beside_text(strings))
    return [value if number in counts else next(made) for number, value in enumerate(arguments)]


def _beside_text(values: list[Value]) -> list[Value]:
    """The values with loose bytes as text if some of the others have a collation of their own and none is other bytes.
    Raises NotComputable for such bytes that are not ASCII."""
    data = [value for value in values if value.type.base in BINARY]
    charsets = {value.type.charset for value in values if value.is_text and value.type.collation is not None}
    of_members = {value.type.charset for value in values if value.type.base in MEMBERS} - {"binary"}
    charsets |= of_members if all(is_ascii_data(value.values) for value in data) else of_members - UTF8
    if not data or not charsets or not all(value.is_loose for value in data):
        return values
    return [_as_text_in(value, charsets) if value.type.base in BINARY else value for value in values]


def _as_text_in(data: Value, charsets: set[str | None], *, is_utf8: bool = False) -> Value:
    if charsets & WIDE or not (is_utf8 or is_ascii_data(data.values)):
        raise NotComputable("bytes that are not ASCII beside text")
    return replace(data, values=data.values.cast(pa.string()), digits=False, is_loose=False,
                   type=text_type(next(iter(charsets)), None))


def _as_the_first(values: list[Value], session: Session) -> list[Value]:
    """The values with text as bytes if the first is bytes, else with bytes as text: in MySQL the first decides what
    these functions make (seen on 9.7). Raises NotComputable for bytes beyond ASCII as text of another set than utf8mb4.
    """
    first = values[0]
    if first.type.base in BINARY:
        return [Value(as_bytes(value, session), BYTES, value.constant, is_loose=True) if value.is_text else value
                for value in values]
    charset = first.type.charset or "utf8mb4"
    return [_as_text_in(value, {charset}, is_utf8=charset == "utf8mb4") if value.type.base in BINARY else value
            for value in values]


def chosen_of(name: str, arguments: list[Value]) -> list[Value]:
    """The arguments of CASE or IF one of which is chosen."""
    return arguments[1:] if name == "IF" else [*arguments[2 if name == "SIMPLE CASE" else 1:-1:2], arguments[-1]]


def with_chosen_text(arguments: list[Value], chosen: list[Value]) -> list[Value]:
    """The arguments of CASE or IF, in which loose ASCII bytes are text beside text (seen on all servers). Digits,
    which may be a number, and other bytes stay what they are. Raises NotComputable for loose bytes
    that are not ASCII beside a label in another set than UTF-8."""
    if any(value.type.base in MEMBERS and value.type.charset not in {*UTF8, "binary"} for value in chosen) and any(
            value.is_loose and not is_ascii_data(value.values) for value in chosen if value.type.base in BINARY):
        raise NotComputable("bytes that are not ASCII beside text")
    if any(value.digits is not False for value in chosen) or not all(
            is_ascii_data(value.values) for value in chosen if value.type.base in BINARY) or any(
            value.type.charset in WIDE for value in chosen):
        return arguments
    texts = dict(zip(map(id, chosen), _beside_text(chosen), strict=True))
    return [texts.get(id(value), value) for value in arguments]


def beside_charset(chosen: list[Value]) -> str | None:
    """Return the character set ("" for several) of text beside which bytes, digits or a BIT are chosen, if that is text
    to other functions: for loose bytes if the text has a collation, for digits and a BIT always (seen on all servers).
    """
    has_digits = any(value.digits is not False or value.type.base == "bit" for value in chosen)
    charsets = {value.type.charset or "" for value in chosen
                if value.is_text and (has_digits or value.type.collation is not None)}
    if not all(value.is_loose for value in chosen if value.type.base in BINARY):
        charsets = set()
    charsets |= {value.beside_charset for value in chosen if value.beside_charset is not None}
    return None if not charsets else charsets.pop() if len(charsets) == 1 else ""
