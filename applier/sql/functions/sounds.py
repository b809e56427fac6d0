"""SOUNDEX: how a word sounds, over whole columns.

Source: MySQL manual, "String Functions and Operators"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8, which take
the same characters for letters.
"""

from __future__ import annotations

import string

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.character_sets.charset_tables import MULTI_BYTE
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.exact_text import with_placeholders
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS
from applier.sql.casting.texts import SINGLE_BYTE, by_distinct
from applier.sql.functions.collated import EACH_BYTE
from applier.sql.nodes import Call
from applier.sql.values import BYTES, TEXT, Arguments, Function, Value, as_text, is_ascii, text_type

_SOUNDS = dict(zip(string.ascii_uppercase, "01230120022455012623010202", strict=True))
_UNICODE_LETTERS = 0xC0
"""From this character on, all are letters to SOUNDEX in character sets of several bytes."""
_OTHERWISE = {
    "cp1250": "§ˇµ", "cp1251": "µ", "cp1256": "ًٌٍَُِّْˆµ", "cp1257": "ˇµ", "cp850": "ƒªºµ", "cp852": "ˇ",
    "cp866": "ⁿ", "dec8": "ªµºŒœ", "geostd8": "ªµº", "greek": "ʽʼ", "hebrew": "µ", "keybcs2": "µⁿ", "latin1": "ˆªµº",
    "latin2": "ˇĐß", "latin5": "ªµº", "latin7": "Øµø", "macce": "ˇ", "macroman": "ÄµπªºΩÀŒœﬁﬂÂˆˇ"}
"""Characters of sets of one byte that are letters to SOUNDEX and none in Unicode, or the other way around."""
_WITHOUT_LETTERS = frozenset({"binary", "hp8", "tis620"})
"""Sets of one byte in which only those of ASCII are letters to SOUNDEX."""
_OF_HALF_WIDTH, _HALF_WIDTH = frozenset({"sjis", "cp932"}), range(0xFF61, 0xFFA0)
"""Katakana of one byte, which are no letters."""


def _soundex(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """SOUNDEX: the first letter, and the digits of others that are ASCII (all servers have the same letters)."""
    [value] = arguments
    of_bytes = value.type.base in BINARY
    type_ = text_type(value.type.charset, value.type.collation) \
        if value.is_text or value.type.base in MEMBERS else BYTES if of_bytes else TEXT
    text = to_utf8(value.values, EACH_BYTE) if of_bytes else as_text(value, session, type_.charset)
    charset = "binary" if of_bytes else type_.charset
    if charset is None and not is_ascii(text):
        raise NotComputable("SOUNDEX of characters that may be letters or not")
    if session.flavour == "mariadb" and session.made_in == "binary" and value.is_text and not is_ascii(text):
        raise NotComputable("SOUNDEX of text that is not ASCII in a table of bytes")
    if charset in MULTI_BYTE and with_placeholders(text, charset) is not None:
        raise NotComputable(f"SOUNDEX of codes of {charset} without a character")

    def sound(text: str) -> str:
        letters = [letter for letter in text if _is_letter(letter, charset)]
        if not letters:
            return ""
        made, last = letters[0].upper() if letters[0].isascii() else letters[0], _sound_of(letters[0])
        for code in map(_sound_of, letters[1:]):
            if code not in ("0", last):
                made += code
                last = code
        return made.ljust(4, "0")

    made = by_distinct(text, lambda one: None if one is None else sound(one))
    return Value(made.cast(pa.binary()) if of_bytes else made, type_, value.constant)


def _is_letter(character: str, charset: str | None) -> bool:
    if character.isascii() or charset in _WITHOUT_LETTERS:
        return character in string.ascii_letters
    if charset in SINGLE_BYTE:
        return character.isalpha() != (character in _OTHERWISE.get(charset, ""))
    return ord(character) >= _UNICODE_LETTERS and not (charset in _OF_HALF_WIDTH and ord(character) in _HALF_WIDTH)


def _sound_of(letter: str) -> str:
    return _SOUNDS.get(letter.upper(), "0") if letter.isascii() else "0"


FUNCTIONS: dict[str, Function] = {"SOUNDEX": _soundex}
