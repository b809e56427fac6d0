"""Whether and where text is found in text, over whole columns: LIKE, REGEXP, LOCATE, FIND_IN_SET; and text compared in
an order.

Source: MySQL manual, "String Comparison Functions and Operators", "Regular Expressions"; judged by MySQL 9.7 and
MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import cached_property, lru_cache
from string import ascii_lowercase, ascii_uppercase

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.character_sets.collations import DEFAULT_COLLATIONS, default_collation
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.casting.byte_strings import bytes_of_text
from applier.sql.casting.texts import SINGLE_BYTE, WIDE, in_charset
from applier.sql.functions.combinations import computed
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    SEVERAL,
    TEXT,
    Arguments,
    Function,
    Value,
    as_bytes,
    as_text,
    collation_of,
    common_charset,
    is_ascii,
    numbers,
    one,
    text_type,
    together,
    truth,
    whole_numbers,
)
from keysearch.collation import collation_of as collation_of_key
from keysearch.collation import equality_column, is_exact, is_ordered

_EACH_BYTE = "latin1"
"""The character set in which every byte is a character."""
_LETTER_BY_LETTER = re.compile(
    r"(utf8(mb[34])?|ucs2|utf16(le)?|utf32)_(general_ci|unicode_ci|unicode_520_ci)|utf8mb4_0900_ai_ci|"
    rf"({'|'.join(SINGLE_BYTE)})_general_ci|latin1_swedish_ci|(utf8(mb[34])?_)?uca1400_a[is]_ci")
"""Collations that compare letters one by one, whatever case they have."""
_COMPARES_CODES = re.compile(r"(utf8(mb[34])?_general|latin1_(swedish|general))_(nopad_)?ci")
"""Collations that hold no letter for two others."""
_PLAIN_PATTERN = re.compile(r"(\[\^?(\w-\w|[\w @.,_/:-])+\]|\\[d.]|[\w @,_/:-]|[.^$()|*+?]|\{\d+(,\d*)?\})*", re.ASCII)
"""Patterns that mean the same in the servers' libraries and here."""
_WORDS = re.compile(r"[ -~]*")
_OF_TWO_CASES = "[\\x{17f}\\x{212a}]"
"""Letters beyond ASCII that are one of ASCII in another case."""
_ENDS_OF_LINES = "[\\x0a-\\x0d\\x{85}\\x{2028}\\x{2029}]"
_NUMBERS = re.compile("[0-9.-]*")
"""The characters that all collations order as bytes."""
_BELOW_SPACE = "[\\x00-\\x1f\\x7f-\\x{9f}\\x{2028}\\x{2029}]"
"""Characters that may come before a space, which text is compared as if it had at its end."""


def collation_between(arguments: Arguments, session: Session) -> str:
    """The collation in which text is compared, by keysearch's name. Raises NotComputable if it is unknown."""
    own = {value.type.collation for value in arguments if value.type.collation is not None}
    unknown = any(value.type.collation is None and not value.constant for value in arguments)
    charsets = {value.type.charset for value in arguments if value.is_text}
    if not own and not unknown and session.collation is not None and charsets <= {session.literals}:
        return collation_of_key(session.collation, session.flavour)
    if not own and not unknown and session.flavour == "mysql" and len(charsets) == 1:
        return collation_of_key(default_collation(charsets.pop() or "utf8mb4", DEFAULT_COLLATIONS["mysql"]), "mysql")
    if len(own) != 1 or SEVERAL in own or (unknown and session.flavour == "mariadb"):
        raise NotComputable("text in more than one collation, or in that of the connection")
    [collation] = own
    [charset] = {value.type.charset for value in arguments if value.type.collation is not None}
    for value in arguments:
        if value.constant and not is_ascii(as_text(value, session)) and (
                charset is None or not in_charset(as_text(value, session), charset).equals(as_text(value, session))):
            raise NotComputable("text that is not ASCII compared in another character set")
    return collation_of_key(str(collation), session.flavour)


def compared_texts(arguments: Arguments, session: Session) -> Arguments:
    """Values as text of one character set, in which they are compared."""
    charset = common_charset(arguments)
    return [Value(as_text(value, session, charset), TEXT, value.constant) for value in arguments]


def in_order(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    """Two texts in a form whose bytes compare as they do."""
    arrays = together(compared_texts(arguments, session), n)
    try:
        collation = collation_between(arguments, session)
    except NotComputable:
        if not all(_are(array, _NUMBERS) for array in arrays):
            raise
        return arrays
    charset, _, kind = collation.partition("_")
    if not is_exact(collation) or not is_ordered(collation) or (charset not in (*UTF8, *WIDE, "latin1", "ascii")) or (
            kind.endswith("bin") and charset not in UTF8 and not all(map(is_ascii, arrays))):
        raise NotComputable(f"text compared in an order in the collation {collation}")
    if "nopad" not in kind and "0900" not in kind and any(
            pc.any(pc.match_substring_regex(array, _BELOW_SPACE)).as_py() for array in arrays):
        raise NotComputable("control characters compared in an order")
    return [equality_column(array, collation) for array in arrays]


def equal_in_all(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    """Two texts in a form in which they are equal if they are in any collation. Raises NotComputable where collations
    may differ."""
    arrays = together(compared_texts(arguments, session), n)
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


class Letters:
    """Text with one letter for all that a collation takes for it: as bytes if some of the text is bytes. Raises
    NotComputable if the collation is unknown to compare letter by letter."""

    def __init__(self, arguments: Arguments, session: Session) -> None:
        self._arguments, self._session = arguments, session
        self.of_bytes = any(value.type.base in BINARY for value in arguments)
        self.texts = [Value(to_utf8(as_bytes(value, session), _EACH_BYTE), TEXT, value.constant)
                      for value in arguments] if self.of_bytes else compared_texts(arguments, session)
        self._known: dict[str, str] = {}
        self._letters: dict[bytes, str] = {}

    @cached_property
    def collation(self) -> str | None:
        """None where bytes are compared."""
        if self.of_bytes:
            return None
        name = collation_between(self._arguments, self._session)
        if name.endswith("_bin"):
            return None
        if not _LETTER_BY_LETTER.fullmatch(name.replace("nopad_", "")):
            raise NotComputable(f"text searched in the collation {name}")
        return name

    def folded(self, text: str) -> str:
        """The text with the first letter seen of those that are the same."""
        return "".join(map(self._folded, text))

    def _folded(self, letter: str) -> str:
        if letter not in self._known:
            self._known[letter] = letter if not letter.isalpha() and letter.isascii() else self._letter(letter)
        return self._known[letter]

    def _letter(self, letter: str) -> str:
        if self.collation is None:
            return letter
        [key] = equality_column(pa.array([letter]), self.collation).to_pylist()
        if not key:
            raise NotComputable(f"{letter!r} searched in the collation {self.collation}, which ignores it")
        return self._letters.setdefault(key, letter)


def _like(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    searched, escape = arguments[:2], one(arguments[2]) if len(arguments) > 2 else _default_escape(session)
    if not isinstance(escape, str) or len(escape) > 1:
        raise NotComputable("LIKE with such an ESCAPE")
    letters = Letters(searched, session)

    @lru_cache(1024)
    def compiled(pattern: str) -> re.Pattern[str]:
        parts, is_escaped = [], False
        for place, letter in enumerate(pattern):
            if letter == escape and not is_escaped and place + 1 < len(pattern):
                is_escaped = True
                continue
            wild = None if is_escaped else {"%": ".*", "_": "."}.get(letter)
            parts.append(wild or re.escape(letters.folded(letter)))
            is_escaped = False
        return re.compile("".join(parts), re.DOTALL)

    def matches(text: str, pattern: str) -> bool:
        return compiled(pattern).fullmatch(letters.folded(text)) is not None

    made = computed(together(letters.texts, n), matches, pa.bool_())
    return truth(made, constant=all(value.constant for value in searched))


def _default_escape(session: Session) -> str:
    if "NO_BACKSLASH_ESCAPES" in session.sql_mode:
        return ""
    return "\\"


def _patterns(arguments: Arguments, call: Call, session: Session, ignores: bool | None = None) -> tuple[
        list[Value], Callable[[str], re.Pattern[str]]]:
    """Text and a pattern, and what compiles a pattern. `ignores`: the case of letters, where the collation does not
    say."""
    letters = Letters(arguments, session)
    texts = letters.texts if letters.of_bytes else [Value(as_text(value, session), TEXT, value.constant)
                                                    for value in arguments]
    ends_lines = _BELOW_SPACE if session.flavour == "mariadb" else _ENDS_OF_LINES
    has_lines = any(pc.any(pc.match_substring_regex(value.values, ends_lines)).as_py() for value in texts)
    if letters.of_bytes or (has_lines and session.flavour == "mariadb") or any(
            pc.any(pc.match_substring_regex(value.values, _OF_TWO_CASES)).as_py() for value in texts):
        raise NotComputable("REGEXP of bytes, or of text with more than one line")
    if session.flavour == "mariadb" and common_charset(arguments[:1]) == "sjis" and any(
            pc.any(pc.match_substring(value.values, "\\")).as_py() for value in texts):
        raise NotComputable("REGEXP of a backslash in sjis")  # which has another code in the result

    @lru_cache(1024)
    def compiled(pattern: str) -> re.Pattern[str]:
        if not (pattern and _PLAIN_PATTERN.fullmatch(pattern)) or (has_lines and re.search(r"[.$]", pattern)):
            raise NotComputable(f"REGEXP {pattern!r}")
        ignored = any(map(str.isalpha, pattern)) and (letters.collation is not None if ignores is None else ignores)
        try:
            return re.compile(pattern, re.IGNORECASE * ignored | re.ASCII)
        except re.error as error:
            raise NotComputable(f"REGEXP {pattern!r}: {error}") from None

    return texts, compiled


def _regular(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if len(arguments) != 2:
        raise NotComputable(f"{call.name} with options")
    texts, compiled = _patterns(arguments, call, session)
    made = computed(together(texts, n), lambda text, pattern: compiled(pattern).search(text) is not None, pa.bool_())
    return truth(made, constant=all(value.constant for value in arguments))


def _regular_place(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """REGEXP_INSTR: where a pattern is found first, from 1 on; 0 for nowhere."""
    if len(arguments) != 2:
        raise NotComputable(f"{call.name} with options")
    texts, compiled = _patterns(arguments, call, session)

    def place(text: str, pattern: str) -> int:
        found = compiled(pattern).search(text)
        return found.start() + 1 if found else 0

    made = computed(together(texts, n), place, pa.int64())
    return numbers(made, constant=all(value.constant for value in arguments))


def _check_planes(texts: list[Value], session: Session) -> None:
    """Raise NotComputable for characters of four bytes, which MariaDB's regular expressions have from 10.6 on at the
    latest."""
    if session.flavour == "mariadb" and any(
            pc.any(pc.match_substring_regex(text.values, r"[\x{10000}-\x{10FFFF}]")).as_py() for text in texts):
        raise NotComputable("a character of four bytes in text that a regular expression makes")


def _regular_part(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """REGEXP_SUBSTR: the first text that a pattern matches."""
    if len(arguments) != 2:
        raise NotComputable(f"{call.name} with options")
    texts, compiled = _patterns(arguments, call, session)
    _check_planes(texts, session)

    nothing = "" if session.flavour == "mariadb" else None

    def part(text: str, pattern: str) -> str | None:
        found = compiled(pattern).search(text)
        return found[0] if found else nothing

    made = computed(together(texts, n), part, pa.string())
    return Value(made, text_type(common_charset(arguments[:1]), collation_of(arguments[:1])), all(
        value.constant for value in arguments))


def _regular_replaced(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """REGEXP_REPLACE of each match, without references to groups."""
    *given, wanted = arguments[:3]
    options = [one(value) for value in arguments[3:]]
    if options[:2] not in ([], [Decimal(1), Decimal(0)]) or (
            options[2:] not in ([], ["i"], ["c"])) or one(wanted) is None or re.search(r"[$\\]", one(wanted)):
        raise NotComputable(f"{call.name} with options")
    texts, compiled = _patterns(given, call, session, options[2] == "i" if options[2:] else None)
    replacement = str(one(wanted))
    _check_planes(texts, session)
    made = computed(together(texts, n), lambda text, pattern: compiled(pattern).sub(lambda _: replacement, text),
                    pa.string())
    return Value(made, text_type(common_charset(arguments[:1]), collation_of(arguments[:1])), all(
        value.constant for value in given))


def _located(text: Value, wanted: Value, start: Value | None, session: Session, n: int) -> Value:
    """Return the position of a text in another. Letters beyond ASCII are found if both servers compare single
    letters."""
    letters = Letters([text, wanted], session)
    given = [*letters.texts, *([whole_numbers(start, session)] if start else [])]

    def place(within: str, sought: str, start: Decimal = Decimal(1)) -> int:
        if start < 1:
            return 0
        if start > len(within) + 1:
            return 0
        if (within.isascii() and sought.isascii()) or letters.collation is None:
            return letters.folded(within).find(letters.folded(sought), int(start) - 1) + 1
        if not _COMPARES_CODES.fullmatch(letters.collation):
            raise NotComputable("text that is not ASCII searched")
        sizes = session.flavour == "mariadb" and not letters.collation.startswith("latin1")
        return _found(letters, within, sought, int(start) - 1, sizes=sizes) + 1

    made = computed(together(given, n), place, pa.int64())
    return numbers(made, constant=all(value.constant for value in given))


def _found(letters: Letters, within: str, sought: str, start: int, *, sizes: bool) -> int:
    """Where a text is found, -1 for nowhere; with `sizes`, a letter is only found as one of as many bytes."""
    where, what = letters.folded(within), letters.folded(sought)
    at = where.find(what, start)
    while at >= 0 and sizes and len(within[at:at + len(sought)].encode()) != len(sought.encode()):
        at = where.find(what, at + 1)
    return at


def _locate(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    wanted, text, *start = arguments
    return _located(text, wanted, start[0] if start else None, session, n)


def _instr(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    text, wanted = arguments
    return _located(text, wanted, None, session, n)


def _compared(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """STRCMP: -1, 0 or 1."""
    if any(value.type.base in BINARY for value in arguments):
        arrays = together([Value(as_bytes(value, session), BYTES, value.constant) for value in arguments], n)
    else:
        arrays = in_order(arguments, session, n)
    left, right = arrays
    made = pc.subtract(pc.greater(left, right).cast(pa.int64()), pc.less(left, right).cast(pa.int64()))
    return numbers(made, constant=all(value.constant for value in arguments))


def _in_list(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """FIND_IN_SET: the number of a text among those between commas. Both are compared whole, with spaces at the end."""
    found = _in_members(arguments, session, n) if arguments[1].type.base == "set" else None
    if found is not None:
        return found
    letters = Letters(arguments, session)
    sizes = [replace(value, values=pc.binary_length(as_bytes(value, session))) for value in arguments]
    collation = None if letters.of_bytes else collation_between(arguments, session)

    @lru_cache(4096)
    def key(text: str) -> object:
        ends = len(text) - len(text.rstrip(" "))
        return (equality_column(pa.array([text]), collation)[0].as_py(), ends) if collation else text

    def place(text: str, within: str, size: int, room: int) -> int:
        if size > room or "," in text or not within:
            return 0
        return next((number for number, member in enumerate(within.split(","), 1) if key(member) == key(text)), 0)

    made = computed(together([*letters.texts, *sizes], n), place, pa.int64())
    return numbers(made, constant=all(value.constant for value in arguments))


def _in_members(arguments: Arguments, session: Session, n: int) -> Value | None:
    """FIND_IN_SET in a SET column: the number of the column's member of that name, in which the case of ASCII letters
    does not count, where a row has it. In MariaDB only of a constant that has the bytes of a member; None for others,
    which are sought in the row's text."""
    sought, within = arguments
    members, texts = within.type.members, as_text(sought, session)
    if session.flavour == "mariadb":
        if not sought.constant or sought.is_null or not texts[0].is_valid:
            return None
        names = bytes_of_text(pa.array(members), within.type.charset or "utf8mb4").to_pylist()
        [name] = as_bytes(sought, session).to_pylist()
        if name.upper() not in map(bytes.upper, names):
            return None
        texts = pa.array([members[[*map(bytes.upper, names)].index(name.upper())]])
    places = {member.translate(_CAPITALS): number for number, member in reversed([*enumerate(members, 1)])}

    def place(text: str, labels: str) -> int:
        number = places.get(text.translate(_CAPITALS), 0)
        return number if number and members[number - 1] in labels.split(",") else 0

    made = computed(together([replace(sought, values=texts), within], n), place, pa.int64())
    return numbers(made, constant=sought.constant and within.constant)


_CAPITALS = str.maketrans(ascii_lowercase, ascii_uppercase)


FUNCTIONS: dict[str, Function] = {
    "LIKE": _like, "REGEXP": _regular, "REGEXP_LIKE": _regular, "REGEXP_INSTR": _regular_place,
    "REGEXP_SUBSTR": _regular_part, "REGEXP_REPLACE": _regular_replaced, "LOCATE": _locate, "INSTR": _instr,
    "STRCMP": _compared, "FIND_IN_SET": _in_list,
}
