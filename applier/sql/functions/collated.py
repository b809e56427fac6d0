"""Text in the form in which a collation compares it.

Which collation that is may not be known: that of a session's connection, or of one of several. Then the narrowest and
the widest count, and a result that both have is the result in every collation: the narrowest takes only equal
characters for the same, the widest all that some collation does. Source: MySQL manual, "Collation Coercibility in
Expressions"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import cache, cached_property

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.character_sets.charset_tables import MULTI_BYTE
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.character_sets.collations import DEFAULT_COLLATIONS, default_collation
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.casting.texts import SINGLE_BYTE, WIDE, by_distinct, in_charset
from applier.sql.functions.combinations import computed
from applier.sql.nodes import Call
from applier.sql.values import (
    SEVERAL,
    TEXT,
    Arguments,
    Function,
    Value,
    as_bytes,
    as_text,
    common_charset,
    is_ascii,
    together,
)
from keysearch.collation import collation_of, equality_column, order_column

EACH_BYTE = "latin1"
"""The character set in which every byte is a character."""
NARROWEST, WIDEST = "narrowest", "widest"
"""Stand for a collation that is not known."""
_LETTER_BY_LETTER = re.compile(
    r"(utf8(mb[34])?|ucs2|utf16(le)?|utf32)_(general_ci|unicode_ci|unicode_520_ci)|utf8mb4_0900_a[is]_c[is]|"
    rf"({'|'.join(SINGLE_BYTE)})_general_ci|latin1_swedish_ci|({'|'.join(MULTI_BYTE)})_\w+_ci|(utf8(mb[34])?_)?uca1400_a[is]_ci")
"""Collations that compare letters one by one, whatever case they have."""
_TAILORED = re.compile(r"(utf8(mb[34])?|ucs2|utf16(le)?|utf32)_(?!0900_|uca1400_(nopad_)?a[is]_|bin).*|.*_czech_cs")
"""Collations of a language, which may have letters of two characters."""
_ORDERED = re.compile("[A-Za-z0-9.-]*")
"""Text of characters that all collations have in the order of their bytes, but for letters among themselves."""
_SAME_LETTERS = str.maketrans("jyuvw", "iiiii")
"""ASCII letters that some alphabets hold for the same, or for the same as ü."""
_LATIN = {"[": "a", "å": "a", "ä": "a", "æ": "a", "ö": "o", "ø": "o", "œ": "o", "ü": "i", "ß": "s", "đ": "d", "ð": "d",
          "ł": "l", "ı": "i"}
"""Letters that are one with two others in some collations, or that Unicode does not decompose."""
_TWO_AS_ONE = tuple((re.compile(several), several[0]) for several in ("ch", "a[ae]+", "oe+", "ie+", "ss+"))
"""Two letters that are one in some collations: å is aa, ä is ae, ß is ss."""
_CONTRACTIONS = ("aa", "ccs", "ch", "cs", "ddz", "ddž", "dz", "dž", "ggy", "gy", "l·", "lj", "ll", "ly", "nj", "nny",
                 "ny", "ssz", "sz", "tty", "ty", "zs", "zzs")
"""Letters that some collations hold for one: MySQL does not find one of them in text where these are together."""
_CONTRACTING = re.compile(
    "[\u0b80-\u0bff\u0c80-\u0cff\u0e00-\u0eff\u1000-\u109f\u1980-\u19df\u1b00-\u1b7f"
    "\u3040-\u30ff\u31f0-\u31ff\uaa80-\uaadf\uff66-\uff9f]")
"""Letters of scripts in which some two are one in most collations: Tamil, Kannada, Thai and Lao, Burmese, New Tai Lue,
Balinese, kana, Tai Viet."""
_UNLIKE_OTHERS = frozenset({"\\", "]", "`", "ę", "ͺ"})
"""Characters that some collations ignore, or take for ones that others do not."""
_WITHOUT_MARK = re.compile("[ \u0600-\u06ff]")
"""Characters that are not the same with a mark in all collations: Persian has other letters for them."""
WITH_STRANGE_COLLATIONS = frozenset({"big5", "cp1250", "cp1257", "gb2312", "gbk", "latin2", "macce"})
"""Character sets that have collations in which other characters are the same."""


class UnknownCollation(NotComputable):
    """It is not known in which collation text is compared."""


def in_any_collation(function: Function) -> Function:
    """A function that compares text: in the collation that is known, else in all. Raises NotComputable where it depends
    on the collation."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        try:
            return function(arguments, call, session, n)
        except UnknownCollation as unknown:
            charsets = {session.literals, *(value.type.charset for value in arguments)}
            if charsets & WITH_STRANGE_COLLATIONS:
                raise
            narrow, wide = (function(arguments, call, replace(session, compares_in=collation), n)
                            for collation in (NARROWEST, WIDEST))
            if not narrow.values.equals(wide.values):
                raise NotComputable(unknown.message) from None
            return narrow

    return called


def collation_between(arguments: Arguments, session: Session) -> str:
    """The collation in which text is compared, by keysearch's name. Raises UnknownCollation."""
    if session.compares_in is not None:
        return session.compares_in
    own = {value.type.collation for value in arguments if value.type.collation is not None}
    unknown = any(value.type.collation is None and not value.constant for value in arguments)
    charsets = {value.type.charset for value in arguments if value.is_text}
    others = charsets - {session.literals}
    if not own and not unknown and session.collation is not None and session.literals in charsets and (
            not others or (session.literals in UTF8 and not others & {*UTF8, *WIDE})):
        return collation_of(session.collation, session.flavour)
    if not own and not unknown and session.flavour == "mysql" and len(charsets) == 1:
        return collation_of(default_collation(charsets.pop() or "utf8mb4", DEFAULT_COLLATIONS["mysql"]), "mysql")
    if said := {value.type.collation for value in arguments if value.is_explicit and value.type.collation is not None}:
        own = said
    elif session.flavour == "mysql" and len(own) > 1:
        own = _of_superset(arguments)
    if len(own) != 1 or SEVERAL in own or (unknown and session.flavour == "mariadb"):
        raise UnknownCollation("text in more than one collation, or in that of the connection")
    [collation] = own
    charset = next(value.type.charset for value in arguments if value.type.collation == collation)
    for value in arguments:
        if value.constant and not is_ascii(as_text(value, session)) and (
                charset is None or not in_charset(as_text(value, session), charset).equals(as_text(value, session))):
            raise UnknownCollation("text that is not ASCII compared in another character set")
    return collation_of(str(collation), session.flavour)


def _of_superset(arguments: Arguments) -> set[str]:
    """The collations of text in utf8mb4, else in utf8mb3, to which MySQL converts the text of other columns; none
    beside a wide set."""
    own = [(value.type.charset, value.type.collation) for value in arguments if value.type.collation is not None]
    charsets = {charset for charset, _ in own}
    widest = next((charset for charset in ("utf8mb4", "utf8mb3") if charset in charsets), None)
    return {collation for charset, collation in own if charset == widest} if widest and not charsets & WIDE else set()


def compared_texts(arguments: Arguments, session: Session) -> Arguments:
    """Values as text of one character set, in which they are compared."""
    charset = common_charset(arguments)
    return [Value(as_text(value, session, charset), TEXT, value.constant) for value in arguments]


def equal_where_same(texts: pa.Array, collation: str) -> pa.Array:
    """Text in a form that is equal where a collation takes it for the same."""
    if collation == NARROWEST:
        return texts
    return by_distinct(texts, _widest) if collation == WIDEST else equality_column(texts, collation)


def equal_texts(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    """Texts in a form in which they are equal if they compare as equal."""
    collation = collation_between(arguments, session)
    return [equal_where_same(array, collation) for array in together(compared_texts(arguments, session), n)]


def in_order(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    """Two texts in a form whose bytes compare as they do."""
    arrays = together(compared_texts(arguments, session), n)
    collation = collation_between(arguments, session)
    if collation in (NARROWEST, WIDEST):
        made = computed(arrays, _order_in_all, pa.int8())
        return [made, pa.repeat(pa.scalar(0, made.type), len(made))]
    ordered = order_column(pa.concat_arrays(arrays), collation)
    if ordered is None:
        raise NotComputable(f"text compared in an order in the collation {collation}")
    return [ordered.slice(0, len(arrays[0])), ordered.slice(len(arrays[0]))]


def _order_in_all(left: str, right: str) -> int:
    """-1, 0 or 1: how two texts compare in all collations. Raises NotComputable."""
    nexts = next(("".join(pair) for pair in zip(left, right, strict=False) if pair[0] != pair[1]), "")
    by_digits = nexts.isdigit() and (left + right).isascii()
    if not by_digits and (not (_ORDERED.fullmatch(left) and _ORDERED.fullmatch(right)) or nexts.isalpha()):
        raise NotComputable("text compared in an order in more than one collation, or in that of the connection")
    return (left > right) - (left < right)


def _widest(text: str | None) -> str | None:
    """A text as the widest collation compares it."""
    if text is None:
        return None
    letters = "".join(map(_widest_letter, text))
    for several, letter in _TWO_AS_ONE:
        letters = several.sub(letter, letters)
    return letters.rstrip(" ")


@cache
def _widest_letter(letter: str) -> str:
    """The character that stands for all that are the same as this one in some collation; ? for those of other alphabets
    than Latin, as where a character set does not have them. Raises NotComputable."""
    base = _LATIN.get(letter.lower(), letter.lower())
    unlike = letter.lower() in _UNLIKE_OTHERS
    if not base.isascii():
        parts = unicodedata.normalize("NFKD", base)
        base = "".join(part for part in parts if unicodedata.category(part) != "Mn").lower()
        unlike |= base in {"[", *_UNLIKE_OTHERS} or (base != parts and bool(_WITHOUT_MARK.fullmatch(base)))
    if len(base) != 1 or unlike or (base != " " and unicodedata.category(base)[0] in "CMZ") \
            or (not base.isascii() and "LATIN" in unicodedata.name(base, "LATIN")):
        raise NotComputable(f"{letter!r} compared in a collation that is not known")
    base = str(unicodedata.digit(base, base))
    if (base.isascii() and letter > "\uffff") or (not base.isascii() and unicodedata.category(base)[0] == "N"):
        raise NotComputable(f"{letter!r} compared in a collation that is not known")  # in general_ci: U+FFFD
    return base.translate(_SAME_LETTERS) if base.isascii() else "?"


def check_searched(within: str, sought: str, flavour: str) -> None:
    """Raise NotComputable for a text with a letter that some collation takes for two, of which another text may have
    one; or with two that MySQL takes for one in some collation."""
    letters = frozenset(sought.lower())
    if flavour == "mysql" and (_CONTRACTING.search(sought) or any(
            one in within.lower() and not letters.isdisjoint(one) for one in _CONTRACTIONS)):
        raise NotComputable("letters that may be part of one searched in a collation that is not known")
    has_any = any(letter.lower() in _LATIN for letter in within + sought)
    if has_any and not set("aeios").isdisjoint(map(_widest_letter, sought)):
        raise NotComputable("letters that may be two searched in a collation that is not known")


class Letters:
    """Text with one letter for all that a collation takes for it: as bytes if some of the text is bytes. Raises
    UnknownCollation if the collation is not known to compare letter by letter."""

    def __init__(self, arguments: Arguments, session: Session) -> None:
        self._arguments, self._session = arguments, session
        self.of_bytes = any(value.type.base in BINARY for value in arguments)
        self.texts = [Value(to_utf8(as_bytes(value, session), EACH_BYTE), TEXT, value.constant)
                      for value in arguments] if self.of_bytes else compared_texts(arguments, session)
        self._known: dict[str, str] = {}
        self._letters: dict[bytes, str] = {}

    @cached_property
    def collation(self) -> str | None:
        """None where bytes are compared."""
        if self.of_bytes:
            return None
        name = collation_between(self._arguments, self._session)
        if name == NARROWEST or name.endswith("_bin"):
            return None
        if name != WIDEST and not _LETTER_BY_LETTER.fullmatch(name.replace("nopad_", "")):
            known = NotComputable if _TAILORED.fullmatch(name) else UnknownCollation
            raise known(f"text searched in the collation {name}")
        return name

    @cached_property
    def ignore_case(self) -> bool:
        """True if patterns match letters in any case: MariaDB ignores it in all collations of UCA 14."""
        if self.of_bytes:
            return False
        name = collation_between(self._arguments, self._session)
        return name.endswith(("_ci", WIDEST)) or "_uca1400_" in name

    def folded(self, text: str) -> str:
        """The text with the first letter seen of those that are the same."""
        return "".join(map(self._folded, text))

    def _folded(self, letter: str) -> str:
        if letter not in self._known:
            self._known[letter] = self._letter(letter)
        return self._known[letter]

    def _letter(self, letter: str) -> str:
        if self.collation is None:
            return letter
        if self.collation == WIDEST:
            return _widest_letter(letter)
        if letter.isascii() and not letter.isalpha():
            return letter
        [key] = equality_column(pa.array([letter]), self.collation).to_pylist()
        if not key:
            raise NotComputable(f"{letter!r} searched in the collation {self.collation}, which ignores it")
        return self._letters.setdefault(key, letter)
