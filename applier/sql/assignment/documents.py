"""JSON documents in columns of other types, for which they are text, or the number or string that they contain."""

from __future__ import annotations

import re
import string

import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, INTEGERS, NUMBERS, TEMPORAL, ColumnType
from applier.sql.casting.texts import WIDE, by_distinct
from applier.sql.functions.json_documents.documents import unquoted
from applier.sql.values import TEXT, Value, is_ascii

_LARGEST = 2.0**63
_WHOLE = re.compile(r"\d+", re.ASCII)
_DIGITS = f"-{string.digits}"
_WORDS = {"true": "1", "false": "0", "null": "0"}


def as_text_for(value: Value, wanted: ColumnType, session: Session, *, strict: bool) -> Value:
    """The text that documents are for a column of the type `wanted`.

    MariaDB's documents are text. MySQL's numbers and strings count as what they hold where a number is needed; other
    documents count as zero. Raises NotComputable.
    """
    if wanted.base in BINARY and session.flavour == "mariadb" and session.literals not in UTF8 and (
            session.literals in WIDE or not is_ascii(value.values)):
        raise NotComputable("the bytes of a document in a character set that is not known")
    if strict and wanted.base in NUMBERS | {"year"}:
        raise NotComputable("a document as a number")
    if session.flavour == "mysql" and wanted.base in TEMPORAL:
        raise NotComputable(f"a document as {wanted.base.upper()}")
    if session.flavour == "mariadb" or wanted.base not in NUMBERS | {"year"}:
        return Value(value.values, TEXT)
    if pc.any(pc.match_substring_regex(value.values, r'^"-?\d+[-:]\d+[-:]')).as_py():
        raise NotComputable(f"a document that is a date or a time, or its text, as {wanted.base.upper()}")
    text = unquoted(value.values)
    if wanted.base == "year":
        if pc.any(pc.match_substring_regex(value.values, r'^[^-\d"]')).as_py():
            raise NotComputable("a document that is neither a number nor text as YEAR")
        return Value(text, TEXT)
    words = pc.match_substring_regex(value.values, r"^[\[{ntf]")
    if pc.any(words).as_py():
        text = by_distinct(pc.if_else(words, value.values, text), lambda word: _WORDS.get(word, "0" if word[0] in "[{"
                                                                                         else word))
    if value.is_choice and pc.all(pc.match_substring_regex(value.values, r"^-?\d{1,18}$")).as_py() is False:
        raise NotComputable("a chosen document as a number, of which COALESCE reads the text, and IF what it holds")
    if wanted.base in INTEGERS:
        if pc.any(pc.match_substring_regex(value.values, r"^[-\d].*\.5$")).as_py():
            raise NotComputable("a half, of which a document does not say whether it is exact, as a whole number")
        if pc.any(pc.match_substring_regex(value.values, r'^"\s*[-+]?(\d*\.\d|\d+[eE]|\d{19})')).as_py():
            raise NotComputable("a document's text of a number with a fraction, an exponent or many digits as a whole "
                                "number")
    if wanted.base in {*INTEGERS, "decimal"}:
        whole = by_distinct(value.values, lambda one: _in_64_bits(one, is_whole=wanted.base != "decimal"))
        text = whole.fill_null(text)
    return Value(text, TEXT)


def _in_64_bits(number: str, *, is_whole: bool) -> str | None:
    """A document's number as MySQL has it where a number is needed: a whole one of 64 bits has a sign, and `is_whole`
    rounds others and limits them to 64 bits. None for other documents, and for numbers that stay as they are."""
    if _WHOLE.fullmatch(number):
        wide = int(number)
        if wide < 1 << 64 or not is_whole:
            return str(wide - (1 << 64)) if 1 << 63 <= wide < 1 << 64 else None
    if not is_whole or number[0] not in _DIGITS:
        return None
    if "e" not in number and abs(float(number)) > _LARGEST:
        raise NotComputable("a document's DECIMAL beyond 9223372036854775807 as a whole number")
    return str(max(-1 << 63, min((1 << 63) - 1, round(float(number)))))
