"""Converts numbers to text, as a SELECT shows them, and text to the number that it begins with.

Source: MySQL manual, "Type Conversion in Expression Evaluation", "Floating-Point Types", and the servers' dtoa.c for
the form of a double; judged by both servers. For an integer MySQL rounds the text's number, MariaDB takes its first
digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values import decimals
from applier.mysql.versions import is_since
from applier.sql.casting import byte_strings, numbers
from applier.sql.casting.shown_numbers import shown
from applier.sql.casting.texts import SINGLE_BYTE, WIDE, by_distinct, fitted

_NUMBER, _INTEGER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", r"[+-]?\d+"
_FEW_BLANKS, _BLANKS = r" \t", r" \t-\r"
_SIGNS_AND_DIGITS = r"^(?P<signs>[ \t+-]*)(?P<digits>\d*)"
_OF_TWO_BYTES, _BEYOND_BYTES = WIDE - {"utf32"}, re.compile("[^\0-\xff]")
_MOST_DIGITS = 18
WITHOUT_NEGATIVE_ZERO = (10, 11)
"""The version of MariaDB since which no double is -0 (10.5 has it)."""
_MOST_EXPONENT = 9
"""Digits of an exponent that every server reads."""


def to_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Numbers as text; a BIT is its bytes in a TEXT, its digits in a CHAR."""
    if old.base == "bit" and new.base.endswith("text"):
        if new.charset is not None:
            return byte_strings.to_text(byte_strings.bit_bytes(values, old), old, new, session)
    return fitted(shown(values, old, session.flavour), new)


def from_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text as numbers: the number it begins with, else zero."""
    if new.base in ("float", "double"):
        found = _leading(values, _BLANKS, _NUMBER).cast(pa.float64())
        if session.flavour == "mariadb" and (not session.server_version or is_since(
                session.server_version, WITHOUT_NEGATIVE_ZERO)):
            found = pc.add(found, 0.0)
        return numbers.to_number(found, ColumnType("double"), new, session)
    if new.base == "decimal":
        return _decimals(_leading(values, _blanks(values, old.charset, exact=True), _NUMBER), new)
    cuts = new.base == "bit" or session.flavour == "mariadb"
    if not cuts:
        found = _leading(values, _FEW_BLANKS, _NUMBER)
    elif old.charset in WIDE:
        found = _signed_digits(values)
    else:
        found = _leading(values, _blanks(values, old.charset), _INTEGER)
    whole = _either(found, "[eE]|.{21}", lambda plain: _whole(plain), _whole_of_unusual)
    unsigned = new.base == "bigint" and new.unsigned
    if cuts and unsigned and pc.any(pc.greater(whole, pa.scalar(Decimal(2**63), whole.type))).as_py():
        raise NotComputable("text of numbers beyond 9223372036854775807")
    return numbers.to_number(whole, ColumnType("bigint"), new, session)


def without_points(values: pa.Array) -> pa.Array:
    """Text of which MariaDB reads the digits on both sides of the first of two points as a whole number."""
    made = pc.replace_substring_regex(values, _TWO_POINTS, r"\1\2 ")
    if pc.any(pc.and_(pc.not_equal(made, values), pc.match_substring_regex(made, r"^\s*[+-]?\d{19}"))).as_py():
        raise NotComputable("text of more than 18 digits and two points as a whole number")  # which is rounded
    return made


_TWO_POINTS = r"(?s)^(\s*[+-]?\d*)\.(\d*)\..*"


def leading_year(values: pa.Array, charset: str | None, flavour: str) -> tuple[pa.Array, pa.Array]:
    """Return the number that text begins with, rounded, as decimal128(38, 0), zero where there is none, and whether it
    is written as one below 1. Raises NotComputable."""
    blanks = _FEW_BLANKS if flavour == "mysql" else _blanks(values, charset, exact=True)
    whole = _either(_leading(values, blanks, _NUMBER), "[eE]|.{21}", _whole, _whole_of_unusual)
    return whole, pc.match_substring_regex(values, rf"^[{blanks}]*[+-]?(0|\.\d)")


def leading_integers(values: pa.Array, charset: str | None, flavour: str, *, is_column: bool) -> pa.Array:
    """The digits that text begins with, as int64, and zero where there are none: what a CAST to SIGNED takes, and what
    an argument that counts something takes, there also of a column as such (`is_column`). In sets of two or four bytes
    a column may have any signs and blanks before its digits. Raises NotComputable for numbers of more than 18
    digits."""
    if is_column and charset in WIDE:
        return _integers(_signed_digits(values))
    if flavour == "mysql" and not is_column:
        values, blanks = _with_low_bytes(values, charset), _FEW_BLANKS
    else:
        blanks = _blanks(values, charset)
    return _integers(_leading(values, blanks, _INTEGER))


def _integers(digits: pa.Array) -> pa.Array:
    if (pc.max(pc.binary_length(pc.utf8_ltrim(digits, "-"))).as_py() or 0) > _MOST_DIGITS:
        raise NotComputable("text of so large a whole number")
    return digits.cast(pa.int64())


def _signed_digits(values: pa.Array) -> pa.Array:
    """The digits after any signs and blanks, with a sign if there is an odd number of minuses."""
    found = pc.extract_regex(values, _SIGNS_AND_DIGITS)
    signs, digits = pc.struct_field(found, 0), pc.struct_field(found, 1)
    is_negative = pc.equal(pc.bit_wise_and(pc.count_substring(signs, "-"), 1), 1)
    digits = pc.if_else(pc.equal(digits, ""), "0", digits)
    return pc.binary_join_element_wise(pc.if_else(is_negative, "-", ""), digits, "")


def _blanks(values: pa.Array, charset: str | None, *, exact: bool = False) -> str:
    """What a set has for blanks before digits, in a class of regular expressions; `exact`: before a DECIMAL, of which
    servers see bytes, but of wide sets latin1. Raises NotComputable."""
    if charset == "latin1" or (exact and charset in WIDE):
        return _BLANKS + r"\x{a0}"
    if charset in WIDE:
        return _FEW_BLANKS
    if charset is None and not exact and pc.any(pc.match_substring_regex(values, r"^[ \t]*[\n-\r]")).as_py():
        raise NotComputable("line ends before digits in text of a character set that is not known")
    of_others = r"[^\x00-\x7f]+[ \t-\r]*[+-]?[.\d]" if exact else r"\x{a0}"
    if (charset is None or charset in SINGLE_BYTE) and pc.any(
            pc.match_substring_regex(values, rf"^[ \t-\r]*{of_others}")).as_py():
        raise NotComputable(f"what may be a blank before digits in {charset or 'an unknown character set'}")
    return _BLANKS


def _with_low_bytes(values: pa.Array, charset: str | None) -> pa.Array:
    """Text in which what MySQL takes for digits is digits: in sets of two bytes also characters whose low byte is one,
    such as б, U+0431, for 1 (seen on 9.7). Raises NotComputable if the set is unknown and that matters."""
    is_two_bytes = charset in _OF_TWO_BYTES
    if not (is_two_bytes or charset is None) or pc.all(pc.string_is_ascii(values)).as_py() is not False:
        return values
    made = by_distinct(values, lambda text: None if text is None else _BEYOND_BYTES.sub(_low_digit, text))
    if not is_two_bytes and not made.equals(values):
        raise NotComputable("whole numbers in text of a character set that is not known")
    return made


def _low_digit(character: re.Match[str]) -> str:
    low = chr(ord(character[0]) & 0xFF)
    return low if low in "0123456789" else character[0]


def _leading(values: pa.Array, blanks: str, pattern: str) -> pa.Array:
    found = pc.extract_regex(values, rf"^[{blanks}]*(?P<number>{pattern})")
    zero = pc.if_else(values.is_valid(), "0", pa.scalar(None, pa.string()))
    return pc.if_else(found.is_valid(), pc.utf8_ltrim(pc.struct_field(found, 0), "+"), zero)


def _either(values: pa.Array, unusual: str, plain: Callable[[pa.Array], pa.Array],
            one: Callable[[str], Decimal]) -> pa.Array:
    """Convert numbers' text by the whole column, and values that match `unusual` one by one."""
    is_unusual = pc.match_substring_regex(values, unusual)
    if not pc.any(is_unusual).as_py():
        return plain(values)
    made = plain(pc.if_else(is_unusual, "0", values))
    other = by_distinct(pc.if_else(is_unusual, values, "0"), one, made.type)
    return pc.if_else(is_unusual, other, made)


def _whole(values: pa.Array) -> pa.Array:
    return decimals.rounded(values.cast(pa.decimal128(38, 18)), 0)


def _exact(text: str) -> Decimal:
    """The number that text holds. Raises NotComputable for an exponent beyond what servers count."""
    if len(text.lower().partition("e")[2].lstrip("+-0")) > _MOST_EXPONENT:
        raise NotComputable(f"the number {text[:40]}")
    return Decimal(text)


def _whole_of_unusual(text: str) -> Decimal:
    number, most = _exact(text), Decimal(10)**21
    return numbers.rounded(max(-most, min(most, number)), 0)


def _decimals(values: pa.Array, new: ColumnType) -> pa.Array:
    precision, scale = new.precision or 10, new.scale or 0
    if not pa.types.is_decimal(arrow_type(new)):
        raise NotComputable("a DECIMAL of more than 38 digits")
    most = Decimal(10**precision - 1).scaleb(-scale)
    least = Decimal(0) if new.unsigned else -most

    def one(text: str) -> Decimal:
        number = max(-most, min(most, _exact(text)))
        return max(least, min(most, numbers.rounded(number, scale)))

    def plain(texts: pa.Array) -> pa.Array:
        return numbers.to_decimal(texts.cast(pa.decimal128(38, 18)), new)

    return _either(values, "[eE]|.{18}" if scale < 18 else "", plain, one)


