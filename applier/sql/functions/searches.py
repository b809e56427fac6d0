"""Whether and where text is found in text, over whole columns: LIKE, REGEXP, LOCATE, FIND_IN_SET; and STRCMP.

Source: MySQL manual, "String Comparison Functions and Operators", "Regular Expressions"; judged by MySQL 9.7 and
MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS
from applier.mysql.versions import is_since
from applier.sql.casting.byte_strings import bytes_of_text
from applier.sql.functions.collated import (
    EACH_BYTE,
    WIDEST,
    WITH_STRANGE_COLLATIONS,
    Letters,
    check_searched,
    collation_between,
    equal_where_same,
    in_any_collation,
    in_order,
)
from applier.sql.functions.combinations import computed
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    TEXT,
    Arguments,
    Function,
    Value,
    as_bytes,
    as_text,
    collation_of,
    common_charset,
    numbers,
    one,
    text_type,
    together,
    truth,
)
from applier.sql.whole_numbers import whole_numbers

_COMPARES_CODES = re.compile(r"(utf8(mb[34])?_general|latin1_(swedish|general))_(nopad_)?ci")
"""Collations that hold no letter for two others."""
_PLAIN_PATTERN = re.compile(r"(\[\^?(\w-\w|[\w @.,_/:-])+\]|\\[d.]|[\w @,_/:-]|[.^$()|*+?]|\{\d+(,\d*)?\})*", re.ASCII)
"""Patterns that mean the same in the servers' libraries and here."""
_OF_TWO_CASES = "[\\x{17f}\\x{212a}]"
"""Letters beyond ASCII that are one of ASCII in another case."""
_ENDS_OF_LINES = "[\\x0a-\\x0d\\x{85}\\x{2028}\\x{2029}]"
"""In MySQL; in MariaDB a line ends with \\n alone, as here."""


def _like(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    searched, escape = arguments[:2], one(arguments[2]) if len(arguments) > 2 else _default_escape(session)
    if isinstance(escape, bytes) and escape.isascii():
        escape = escape.decode()
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
    has_lines = session.flavour == "mysql" and any(
        pc.any(pc.match_substring_regex(value.values, _ENDS_OF_LINES)).as_py() for value in texts)
    if any(pc.any(pc.match_substring_regex(value.values, _OF_TWO_CASES)).as_py() for value in texts):
        raise NotComputable("REGEXP of letters beyond ASCII that are one of ASCII in another case")
    if session.flavour == "mariadb" and common_charset(arguments[:1]) == "sjis" and any(
            pc.any(pc.match_substring(value.values, "\\")).as_py() for value in texts):
        raise NotComputable("REGEXP of a backslash in sjis")  # which has another code in the result

    @lru_cache(1024)
    def compiled(pattern: str) -> re.Pattern[str]:
        if not (pattern and _PLAIN_PATTERN.fullmatch(pattern)) or (has_lines and re.search(r"[.$]", pattern)):
            raise NotComputable(f"REGEXP {pattern!r}")
        ignored = any(map(str.isalpha, pattern)) and (letters.ignore_case if ignores is None else ignores)
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
    return _of_subject(made, arguments[:2], constant=all(value.constant for value in arguments))


def _of_subject(made: pa.Array, arguments: Arguments, *, constant: bool) -> Value:
    """Text made of the first argument's: bytes if one of them is."""
    if any(value.type.base in BINARY for value in arguments):
        return Value(bytes_of_text(made, EACH_BYTE), BYTES, constant)
    return Value(made, text_type(common_charset(arguments[:1]), collation_of(arguments[:1])), constant)


def _regular_replaced(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """REGEXP_REPLACE of each match, without references to groups."""
    *given, wanted = arguments[:3]
    if wanted.type.base in BINARY:
        wanted = Value(to_utf8(wanted.values, EACH_BYTE), TEXT, wanted.constant)
    options = [one(value) for value in arguments[3:]]
    if options[:2] not in ([], [Decimal(1), Decimal(0)]) or (
            options[2:] not in ([], ["i"], ["c"])) or one(wanted) is None or re.search(r"[$\\]", one(wanted)):
        raise NotComputable(f"{call.name} with options")
    texts, compiled = _patterns(given, call, session, options[2] == "i" if options[2:] else None)
    replacement = str(one(wanted))
    _check_planes(texts, session)
    made = computed(together(texts, n), lambda text, pattern: compiled(pattern).sub(lambda _: replacement, text),
                    pa.string())
    return _of_subject(made, given, constant=all(value.constant for value in given))


def _located(text: Value, wanted: Value, start: Value | None, session: Session, n: int) -> Value:
    """Return the position of a text in another. Letters beyond ASCII are found if both servers compare single
    letters."""
    letters, widest = (Letters([text, wanted], one) for one in (session, replace(session, compares_in=WIDEST)))
    given = [*letters.texts, *([whole_numbers(start, session)] if start else [])]

    def place_in_all(within: str, sought: str, start: int, collation: str) -> int:
        check_searched(within, sought, session.flavour)
        place = _found(letters, within, sought, start, sizes=session.flavour == "mariadb")
        if _found(widest, within, sought, start, sizes=False) != place or \
                collation.partition("_")[0] in WITH_STRANGE_COLLATIONS:
            raise NotComputable("text that is not ASCII searched")
        return place

    def place(within: str, sought: str, start: Decimal = Decimal(1)) -> int:
        if start < 1:
            return 0
        if start > len(within) + 1:
            return 0
        if letters.collation == WIDEST:
            check_searched(within, sought, session.flavour)
        if (within.isascii() and sought.isascii()) or letters.collation in (None, WIDEST):
            return letters.folded(within).find(letters.folded(sought), int(start) - 1) + 1
        if not _COMPARES_CODES.fullmatch(letters.collation):
            return place_in_all(within, sought, int(start) - 1, letters.collation) + 1
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
    is_new = session.flavour == "mysql" or (session.server_version and is_since(session.server_version, _NULL_STARTS))
    if start and start[0].values.null_count and not is_new:
        raise NotComputable("LOCATE from a position that is NULL, which is 0 in MariaDB 10.5")
    return _located(text, wanted, start[0] if start else None, session, n)


_NULL_STARTS = (10, 11)
"""A MariaDB in which LOCATE from a position that is NULL is NULL."""


def _instr(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    text, wanted = arguments
    return _located(text, wanted, None, session, n)


def _compared(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """STRCMP: -1, 0 or 1."""
    if any(value.type.base in BINARY for value in arguments):
        arrays = together([Value(as_bytes(value, session), BYTES, value.constant) for value in arguments], n)
    else:
        if session.flavour == "mysql":
            _check_beside_numbers(arguments)
        arrays = in_order(arguments, session, n)
    left, right = arrays
    made = pc.subtract(pc.greater(left, right).cast(pa.int64()), pc.less(left, right).cast(pa.int64()))
    return numbers(made, constant=all(value.constant for value in arguments))


_YEAR_OR_WORD = re.compile("[0-9]{4}|[A-Za-z]*")


def _check_beside_numbers(arguments: Arguments) -> None:
    """Raise NotComputable for text beside a number, a date or a document in STRCMP, where MySQL 9.7 does not compare it
    by its collation, unless it has letters and digits only, or is a constant beside a document; and for a constant
    beside a YEAR, which may be another year there."""
    if any(value.type.base == "year" for value in arguments) and any(
            value.constant and not value.is_null and not _YEAR_OR_WORD.fullmatch(str(value.values[0].as_py()))
            for value in arguments):
        raise NotComputable("STRCMP of a YEAR and a constant")
    texts = [value for value in arguments if value.is_text or value.type.base in MEMBERS]
    if len(texts) != len(arguments) - 1:
        return
    beside_document = any(value.type.base == "json" for value in arguments)
    for value in texts:
        if not value.constant if beside_document else pc.all(
                pc.match_substring_regex(value.values, "^[0-9A-Za-z]*$")).as_py() is False:
            raise NotComputable("STRCMP of text and another value, with other characters than letters and digits")


def _in_list(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """FIND_IN_SET: the number of a text among those between commas. Both are compared whole, with spaces at the end."""
    found = _in_members(arguments, session, n) if arguments[1].type.base == "set" else None
    if found is not None:
        return found
    letters = Letters(arguments, session)
    charset = EACH_BYTE if letters.of_bytes else common_charset(arguments)
    if charset is None:
        raise NotComputable("FIND_IN_SET of text in a character set that is not known")
    sizes = [replace(value, values=pc.binary_length(bytes_of_text(value.values, charset))) for value in letters.texts]
    collation = None if letters.of_bytes else collation_between(arguments, session)

    @lru_cache(4096)
    def key(text: str) -> object:
        ends = len(text) - len(text.rstrip(" "))
        return (equal_where_same(pa.array([text]), collation)[0].as_py(), ends) if collation else text

    def place(text: str, labels: str, size: int, room: int) -> int:
        if size > room or "," in text or not labels:
            return 0
        return next((number for number, member in enumerate(labels.split(","), 1) if key(member) == key(text)), 0)

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


FUNCTIONS: dict[str, Function] = {name: in_any_collation(function) for name, function in {
    "LIKE": _like, "REGEXP": _regular, "REGEXP_LIKE": _regular, "REGEXP_INSTR": _regular_place,
    "REGEXP_SUBSTR": _regular_part, "REGEXP_REPLACE": _regular_replaced, "LOCATE": _locate, "INSTR": _instr,
    "STRCMP": _compared, "FIND_IN_SET": _in_list,
}.items()}
