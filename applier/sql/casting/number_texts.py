"""Converts numbers to text, as a SELECT shows them, and text to the number that it begins with.

Source: MySQL manual, "Type Conversion in Expression Evaluation", "Floating-Point Types", and the servers' dtoa.c for
the form of a double; judged by both servers. For an integer MySQL rounds the text's number, MariaDB takes its first
digits.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values import decimals
from applier.sql.casting import byte_strings, numbers
from applier.sql.casting.shown_numbers import shown
from applier.sql.casting.texts import by_distinct, fitted

LEADING_NUMBER = r"^\s*\+?(?P<number>-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
_LEADING_INTEGER = r"^\s*\+?(?P<number>-?\d+)"
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
        found = _leading(values, LEADING_NUMBER).cast(pa.float64())
        found = pc.add(found, 0.0) if session.flavour == "mariadb" else found  # which has no -0
        return numbers.to_number(found, ColumnType("double"), new, session)
    if new.base == "decimal":
        return _decimals(_leading(values, LEADING_NUMBER), new)
    cuts = new.base == "bit" or session.flavour == "mariadb"
    found = _leading(values, _LEADING_INTEGER if cuts else LEADING_NUMBER)
    whole = _either(found, "[eE]|.{21}", lambda plain: _whole(plain), _whole_of_unusual)
    unsigned = new.base == "bigint" and new.unsigned
    if cuts and unsigned and pc.any(pc.greater(whole, pa.scalar(Decimal(2**63), whole.type))).as_py():
        raise NotComputable("text of numbers beyond 9223372036854775807")
    return numbers.to_number(whole, ColumnType("bigint"), new, session)


def leading_whole(values: pa.Array) -> pa.Array:
    """The number that text begins with, rounded, as decimal128(38, 0); zero where there is none."""
    return _either(_leading(values, LEADING_NUMBER), "[eE]|.{21}", _whole, _whole_of_unusual)


def _leading(values: pa.Array, pattern: str) -> pa.Array:
    found = pc.extract_regex(values, pattern)
    zero = pc.if_else(values.is_valid(), "0", pa.scalar(None, pa.string()))
    return pc.if_else(found.is_valid(), pc.struct_field(found, 0), zero)


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


