"""Whether and where text is found in text, over whole columns: LIKE, REGEXP, LOCATE; and text compared in an order.

Known for text in ASCII, in collations that have the usual alphabet. Source: MySQL manual, "String Comparison Functions
and Operators", "Regular Expressions"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.casting.texts import by_distinct
from applier.sql.nodes import Call
from applier.sql.values import (
    SEVERAL,
    TEXT,
    Arguments,
    Function,
    Value,
    as_text,
    collation_of,
    is_ascii,
    numbers,
    one,
    together,
    truth,
    whole_number,
)

_IGNORING_CASE = re.compile(r"(utf8(mb[34])?|latin1|ascii|ucs2|utf16(le)?|utf32)_"
                            r"(general_ci|unicode_ci|unicode_520_ci)|utf8mb4_0900_ai_ci|latin1_swedish_ci|(utf8(mb[34])_)?uca1400_(ai|as)_ci")
_PLAIN_PATTERN = re.compile(r"(\[\^?(\w-\w|[\w @.,_/:-])+\]|\\[d.]|[\w @,_/:-]|[.^$()|*+?]|\{\d+(,\d*)?\})*", re.ASCII)
"""Patterns that mean the same in the servers' libraries and here."""
_WORDS = re.compile(r"[ -~]*")
_COMMON = re.compile(r"[0-9A-Za-z]*")


def ignores_case(values: list[Value]) -> bool:
    """Whether upper and lower case are the same to the collation of text made of these. Raises NotComputable if it is
    not known."""
    collation = collation_of([value for value in values if not value.constant]) or collation_of(values)
    if collation is None or collation == SEVERAL:
        raise NotComputable("text in more than one collation, or in that of the connection")
    if collation.endswith("_bin"):
        return False
    if not _IGNORING_CASE.fullmatch(collation):
        raise NotComputable(f"text searched in the collation {collation}")
    return True


def in_order(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    """Two texts in a form whose bytes compare as they do: of letters and digits."""
    folds = ignores_case(arguments)
    arrays = together([Value(as_text(value, session), TEXT, value.constant) for value in arguments], n)
    if not all(_are(array, _COMMON) for array in arrays):
        raise NotComputable("text with other characters than letters and digits compared in an order")
    return [(pc.ascii_upper(array) if folds else array).cast(pa.binary()) for array in arrays]


def equal_in_all(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    """Two texts in a form in which they are equal if they are in any collation. Raises NotComputable where collations
    may differ."""
    arrays = together([Value(as_text(value, session), TEXT, value.constant) for value in arguments], n)
    if not all(_are(array, _WORDS) for array in arrays):
        raise NotComputable("text that is not ASCII compared in more than one collation")
    folded = [pc.utf8_rtrim(array, " ") for array in arrays]
    for letters, letter in (("[jyJY]", "i"), ("[vwVW]", "u")):  # which some alphabets hold for the same
        folded = [pc.replace_substring_regex(array, letters, letter) for array in folded]
    folded = [pc.ascii_lower(array) for array in folded]
    if not pc.equal(*arrays).equals(pc.equal(*folded)):
        raise NotComputable("text compared in more than one collation")
    return arrays


def _are(array: pa.Array, pattern: re.Pattern[str]) -> bool:
    return pc.all(pc.match_substring_regex(array, f"^{pattern.pattern}$")).as_py() is not False


def _searched(arguments: Arguments, session: Session) -> tuple[pa.Array, str | None, bool]:
    """The text, the constant that is looked for, None for NULL, and whether case is ignored."""
    text, wanted = arguments[:2]
    if any(value.type.base in BINARY for value in arguments[:2]):
        raise NotComputable("bytes searched")
    pattern = one(Value(as_text(wanted, session), TEXT, wanted.constant))
    values = as_text(text, session)
    if not is_ascii(values) or not (pattern is None or pattern.isascii()):
        raise NotComputable("text that is not ASCII searched")
    letters = pattern is not None and any(character.isalpha() for character in pattern)
    return values, pattern, ignores_case(arguments[:2]) if letters else False


def _found(values: pa.Array, pattern: str | None, *, ignore: bool, whole: bool, constant: bool) -> Value:
    if pattern is None:
        return truth(pa.nulls(len(values), pa.bool_()), constant=constant)
    compiled = re.compile(pattern, re.DOTALL * whole | re.IGNORECASE * ignore | re.ASCII)
    look = compiled.fullmatch if whole else compiled.search
    made = by_distinct(values, lambda text: None if text is None else look(text) is not None, pa.bool_())
    return truth(made, constant=constant)


def _like(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    values, pattern, ignore = _searched(arguments, session)
    parts = re.findall(r"\\(.)|(.)", pattern or "", re.DOTALL)
    if (pattern or "").endswith("\\") or ("\\" in (pattern or "") and "NO_BACKSLASH_ESCAPES" in session.sql_mode):
        raise NotComputable("LIKE a text that ends with a backslash, or where that may escape nothing")
    words = {"%": ".*", "_": "."}
    regular = "".join(re.escape(escaped) if escaped else words.get(plain, re.escape(plain)) for escaped, plain in parts)
    return _found(values, None if pattern is None else regular, ignore=ignore, whole=True,
                  constant=arguments[0].constant)


def _regular(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if len(arguments) != 2:
        raise NotComputable(f"{call.name} with options")
    values, pattern, ignore = _searched(arguments, session)
    if pattern is not None and not (pattern and _PLAIN_PATTERN.fullmatch(pattern)):
        raise NotComputable(f"REGEXP {pattern!r}")
    if not _are(values, _WORDS):
        raise NotComputable("REGEXP of text with more than one line")
    try:
        return _found(values, pattern, ignore=ignore, whole=False, constant=arguments[0].constant)
    except re.error as error:
        raise NotComputable(f"REGEXP {pattern!r}: {error}") from None


def _located(text: Value, wanted: Value, start: int, session: Session) -> Value:
    values, pattern, ignore = _searched([text, wanted], session)
    if pattern is None or start < 1:
        raise NotComputable("a place from NULL on, or before the first one")
    sought = pattern.lower() if ignore else pattern

    def place(one: str) -> int:
        return (one.lower() if ignore else one).find(sought, start - 1) + 1

    return numbers(by_distinct(values, lambda one: None if one is None else place(one), pa.int64()),
                   constant=text.constant)


def _locate(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    wanted, text, *start = arguments
    return _located(text, wanted, whole_number(start[0], session) if start else 1, session)


def _first_byte(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    values = as_text(value, session)
    if not is_ascii(values):
        raise NotComputable("the first byte of text that is not ASCII")
    made = by_distinct(values, lambda one: None if one is None else ord(one[0]) if one else 0, pa.int64())
    return numbers(made, constant=value.constant)


def _instr(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    text, wanted = arguments
    return _located(text, wanted, 1, session)


FUNCTIONS: dict[str, Function] = {
    "LIKE": _like, "REGEXP": _regular, "REGEXP_LIKE": _regular, "LOCATE": _locate,
    "INSTR": _instr, "ASCII": _first_byte, "ORD": _first_byte,
}
