"""UPPER and LOWER over whole columns: letter by letter, so ß stays.

Which letters a server knows in both cases depends on the collation: on the version of Unicode that it follows. Here are
the letters in which all of them agree, as MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8 do.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.casting.texts import SINGLE_BYTE, by_distinct
from applier.sql.nodes import Call
from applier.sql.values import Arguments, Function, Value, as_text, collation_of, common_charset, is_ascii, text_type

_AGREED = (range(0x180), range(0x386, 0x3CF), range(0x400, 0x482), range(0x1E00, 0x1E96))
_CODES, _CASELESS = "[\\x{F700}-\\x{F7FF}]", SINGLE_BYTE - {"dec8"}
"""Codes without a character of their own (`exact_text`), which in these sets have one case."""
_LATIN1 = range(0xC0, 0xFF)
"""The letters that latin1 has in both cases."""


class _Letters(dict[int, str]):
    """Each character in the other case, by its code; made when it is first asked for."""

    def __init__(self, charset: str, *, upper: bool) -> None:
        self._charset, self._upper = charset, upper

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        other = letter.upper() if self._upper else letter.lower()
        if self._charset == "latin1" and code >= 0x80:
            other = other if code in _LATIN1 else letter
        elif letter == "İ" and not self._upper:
            other = "i"
        elif not any(code in codes for codes in _AGREED) and (letter.upper(), letter.lower()) != (letter, letter):
            raise NotComputable(f"the case of {letter!r}, in which servers differ")
        self[code] = other if len(other) == 1 else letter
        return self[code]


_KNOWN = {(charset, upper): _Letters(charset, upper=upper)
          for charset in (*UTF8, "latin1") for upper in (False, True)}


def _in_case(*, upper: bool) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        if value.type.base in BINARY:
            return value
        charset, collation = common_charset(arguments), collation_of(arguments)
        text = as_text(value, session, charset)
        type_ = text_type(charset, collation)
        if "turkish" in (collation or "") or "_tr_" in (collation or ""):
            raise NotComputable("the case of text in Turkish")
        letters_of_set = pc.replace_substring_regex(text, _CODES, "") if charset in _CASELESS else text
        if is_ascii(letters_of_set):
            return Value((pc.ascii_upper if upper else pc.ascii_lower)(text), type_, value.constant)
        letters = _KNOWN.get((charset or "", upper))
        if letters is None:
            raise NotComputable(f"the case of text that is not ASCII in {charset}")
        made = by_distinct(text, lambda one: None if one is None else one.translate(letters), pa.string())
        return Value(made, type_, value.constant)

    return computed


FUNCTIONS: dict[str, Function] = {"UPPER": _in_case(upper=True), "LOWER": _in_case(upper=False)}
