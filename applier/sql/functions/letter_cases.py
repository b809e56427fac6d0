"""UPPER and LOWER over whole columns: letter by letter, so ß stays.

Which letters a server knows in both cases depends on the collation, which follows a version of Unicode; in sets of one
or two bytes, on the set's own letters, with the mistakes that each table has. Judged by all letters of MySQL 9.7 and
MariaDB 10.5, 10.11 and 11.8 (tests/recorded/charsets/letter_cases.jsonl.gz).
"""

from __future__ import annotations

import functools
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charset_tables import MULTI_BYTE, SINGLE_BYTE
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.character_sets.labels import characters_of
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.casting.texts import WIDE, by_distinct
from applier.sql.nodes import Call
from applier.sql.values import (
    SEVERAL,
    Arguments,
    Function,
    Value,
    as_text,
    collation_of,
    common_charset,
    is_ascii,
    text_type,
)

_VERSIONS = ("general", "520", "0900", "uca1400")
"""The versions of Unicode that collations follow, by words of their names; "uca1400" is all that Python knows."""
_ALONE = {
    ("general", True): "180 19a-19e 23c-252 25c 261 265-266 26a-26c 271 27d 282 287 289 28c 29d-29e 371-37d 3d7-3d9 "
                       "3f2-3fb 48b 4c6 4ca 4ce-4cf 4f7 4fb-52f 10d0-1d8e 1efb-1eff 214e 2184 2c30-abbf 10428-1e943",
    ("general", False): "220 23a-37f 3cf-3d8 3f4-3ff 48a 4c0 4c5 4c9 4cd 4f6 4fa-52e 10a0-1cbf 1e9e 1efa-1efe 2132 "
                        "2183 2c00-a7f5 10400-1e921",
    ("520", True): "25c 261 265-266 26a 26c 282 287 29d-29e 3f3 527-52f 10d0-1c88 1d8e 2c5f 2cf3 2d27-2d2d a661 "
                   "a699-a69b a791-abbf 104d8-1e943",
    ("520", False): "37f 526-52e 10c7-1cbf 2c2f 2cf2 a660 a698-a69a a78d-a7f5 104b0-1e921",
    ("0900", True): "282 10d0-10ff 1d8e 2c5f a794 a7b9-a7f6 10597-105bc 16e60-16e7f",
    ("0900", False): "1c90-1cbf 2c2f a7b8-a7f5 10570-10595 16e40-16e5f",
}
"""Ranges of letters that these versions know in one case only (True: small ones), and Unicode 14 in both."""
_LATER = "19b 264 a7cb-a7cf a7d2-a7d5 a7da-a7dc 10d50-10d85 16ea0-16ed3"
"""Letters of which only later versions of Unicode, and so of Python, know both cases."""
_TO_SPACES = " ".join("`\xa0©°²·÷•√≈≤≥⌠⌡─│┌┐└┘├┤┬┴┼═║╒╔╗╘╙╚╛╝╞╟╠╡╣╦╧╨╩╪╬▀▄█▌▐░▒▓■") + " "
_OTHERS = {
    "armscii8": ("", "—Դ"), "cp1251": ("ќќ", ""), "cp1256": ("Tt]_tt}\x7f", "TTtT"), "cp1257": ("Ŗŗŗŗ", ""),
    "cp850": ("àAáAâAããèEêEëEìIíIîIïIððòOóOôOõõøøùUúUûUýýþþÿYıı", "ÀÀÁÁÂÂÃÃÈÈÊÊËËÌÌÍÍÎÎÏÏÐÐÒÒÓÓÔÔÕÕØØÙÙÚÚÛÛÝÝÞÞ"),
    "cp852": ("ŞşşşŻż", "ŕŔŘŘŞŞşŞ"), "cp866": ("", "ЖЖЗЗИИЙЙжЖзЗиИйЙ"), "dec8": ("œœ", "ŒŒ"),
    "greek": ("ΐΪάΑέΕήΗίΙΰΫόΟύΥώΩ", ""), "keybcs2": ("xhČčŠšššťťσσ", "ŠŠšŠŤŤΣΣ"),
    "koi8u": (_TO_SPACES, _TO_SPACES), "latin1": ("ÿÿœœššžž", "ŒŒŠŠŸŸŽŽ"), "latin5": ("iİ", "Iı"),
    "macce": ("Tttt", "TTtT"), "macroman": ("ııœœ", "ŒŒ"),
}
"""Where the tables of other character sets differ from Unicode: pairs of a character and what UPPER makes of it, and
what LOWER makes."""
_TURKISH = " turkish"
"""Behind a version, of collations where i and İ are one letter, and I and ı."""
_OF_THEIR_OWN = ("latin2_czech_cs", "cp1250_czech_cs")
"""Collations with tables of their own."""
_SEQUENCES = range(0xF0000, 0x110000)
_BYTES_OF = {"dec8": range(0xF700, 0xF800)}
"""Codes of bytes without a character of their own (`exact_text`) that may have two cases; single bytes have one."""
_ASCII = 0x80
_UNICODE = UTF8 | WIDE
_KNOWN = (_UNICODE | SINGLE_BYTE | MULTI_BYTE) - {"gb18030"}


def _codes(ranges: str) -> frozenset[int]:
    bounds = [[int(code, 16) for code in words.split("-")] for words in ranges.split()]
    return frozenset(code for bound in bounds for code in range(bound[0], bound[-1] + 1))


class _Letters(dict[int, str]):
    """Each character in the other case, by its code; made when it is first asked for."""

    def __init__(self, charset: str, kinds: tuple[str, ...], *, upper: bool, grows: bool) -> None:
        """The letters of a character set; of a Unicode one, as each of some versions of it has them. `grows`: a letter
        may need more bytes in the other case, where MySQL cuts the text off."""
        self._upper, self._grows = upper, grows
        self._alone = [_codes(_ALONE.get((kind.removesuffix(_TURKISH), upper), "")) for kind in kinds]
        self._known = None if charset in _UNICODE else characters_of(charset)
        self._bytes = range(0) if charset in _UNICODE else _BYTES_OF.get(charset, _SEQUENCES)
        self._turkish = bool(kinds) and kinds[0].endswith(_TURKISH)
        pairs = _OTHERS.get(charset, ("", ""))[0 if upper else 1]
        self.update(zip(map(ord, pairs[::2]), pairs[1::2], strict=True))
        if self._turkish:
            self.update({ord("i"): "İ"} if upper else {ord("I"): "ı"})
        if upper and len(kinds) == 1 and kinds[0].startswith("general"):
            self[ord("ϲ")] = "Σ"
        self.are_plain = not any(code < _ASCII for code in self)

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if code in self._bytes:
            raise NotComputable("the case of bytes that are no character of their own")
        other = letter.upper() if self._upper else letter.lower()
        if len(other) > 1:
            other = letter.title() if self._upper else other[0]
        if len(other) > 1 or (self._known is not None and ord(other) not in self._known):
            other = letter
        if other != letter:
            are_alone = {code in alone for alone in self._alone}
            if code in _codes(_LATER) or len(are_alone) > 1:
                raise NotComputable(f"the case of {letter!r}, in which servers differ")
            other = letter if are_alone == {True} else other
        if self._known is None and not self._grows and len(other.encode()) > len(letter.encode()):
            raise NotComputable(f"the case of {letter!r}, which is longer")
        self[code] = other
        return other


@functools.cache
def _letters(charset: str, kinds: tuple[str, ...], *, upper: bool, grows: bool) -> _Letters:
    return _Letters(charset, kinds, upper=upper, grows=grows)


def _kinds(charset: str, collation: str | None, flavour: str) -> tuple[str, ...]:
    """The versions of Unicode that a collation may follow; none outside of Unicode."""
    if charset not in _UNICODE:
        return ()
    newest = "0900" if flavour == "mysql" else "uca1400"
    if collation is None or collation == SEVERAL:
        return ("general", "520", newest)
    if ("0900" in collation or "uca1400" in collation) and not (flavour == "mariadb" and collation.endswith("_bin")):
        kind = newest
    else:
        kind = "520" if "520" in collation or "myanmar" in collation else "general"
    is_turkish = "turkish" in collation or (flavour == "mariadb" and "_tr_" in collation)
    return (kind + _TURKISH * is_turkish,)


def _in_case(*, upper: bool) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        if value.type.base in BINARY:
            return replace(value, is_document=False, digits=False)
        charset, collation = common_charset(arguments), collation_of(arguments)
        text = as_text(value, session, charset)
        type_ = text_type(charset, collation)
        letters = None
        if charset in _KNOWN and collation not in _OF_THEIR_OWN:
            letters = _letters(charset or "", _kinds(charset or "", collation, session.flavour), upper=upper,
                               grows=session.flavour == "mariadb")
        if is_ascii(text) and (letters is None or letters.are_plain):
            return Value((pc.ascii_upper if upper else pc.ascii_lower)(text), type_, value.constant)
        if letters is None:
            raise NotComputable(f"the case of text that is not ASCII in {charset}")
        made = by_distinct(text, lambda one: None if one is None else one.translate(letters), pa.string())
        return Value(made, type_, value.constant)

    return computed


FUNCTIONS: dict[str, Function] = {"UPPER": _in_case(upper=True), "LOWER": _in_case(upper=False)}
