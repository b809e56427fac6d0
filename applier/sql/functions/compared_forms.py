"""Two values in the form in which servers compare them: as numbers, as years, or as text.

Source: MySQL manual, "Type Conversion in Expression Evaluation"; judged by both servers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.functions.arithmetic import operands
from applier.sql.functions.collated import equal_texts, in_order
from applier.sql.values import WHOLE, Arguments, Value, as_number, numbers, together

_EXACT_IN_DOUBLE = 2**53
"""All whole numbers up to this one are doubles; beyond it some are not."""
EQUALITIES = frozenset({"=", "<>", "IN", "<=>"})
"""Comparisons that tell whether two values are equal, and not their order."""


def comparable_numbers(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    """Values as numbers of one type and length. Raises NotComputable where doubles do not tell large ones apart."""
    exact = together([replace(value, values=as_number(value, session)) for value in arguments], n)
    arrays = operands(arguments, session, n)[0]
    if any(found.type != array.type and _is_large(found) for found, array in zip(exact, arrays, strict=True)):
        raise NotComputable("large numbers compared with doubles")
    scale = max(array.type.scale if pa.types.is_decimal(array.type) else 0 for array in arrays)
    return [array.cast(pa.decimal128(38, scale)) if pa.types.is_decimal(array.type) else array for array in arrays]


def nearly_equal(arguments: Arguments, arrays: list[pa.Array], session: Session) -> list[pa.Array]:
    """Two numbers as operators compare them: a FLOAT(M,D) or DOUBLE(M,D) is equal to a number with D decimals that is
    nearer than half of the last one. CASE, BETWEEN and lists compare what is stored. (Seen on MySQL 9.7 and MariaDB
    10.5, 10.11 and 11.8.)"""
    left, right = arrays
    if not (pa.types.is_floating(left.type) and pa.types.is_floating(right.type)):
        return arrays
    few = [value.fewest_decimals for value in arguments if value.fewest_decimals is not None]
    if few and pc.any(pc.and_(pc.not_equal(left, right), _are_near(left, right, min(few)))).as_py():
        raise NotComputable("a number computed from DOUBLE(M,D), and one beside it, compared")
    scales = [_decimals(value, session) for value in arguments]
    if None in scales or not any(value.type.base in _REAL for value in arguments):
        return arrays
    is_near = _are_near(left, right, max(scale or 0 for scale in scales))
    return [pc.if_else(is_near.fill_null(False), right, left), right]


def check_near_zero(arguments: Arguments) -> None:
    """Raise NotComputable for numbers computed from DOUBLE(M,D) that MySQL's AND, OR, XOR, NOT and IS, which compare
    them with 0, may take for 0."""
    for value in arguments:
        if value.fewest_decimals is not None and pa.types.is_floating(value.values.type):
            zero = pa.scalar(0.0, value.values.type)
            if pc.any(pc.and_(pc.not_equal(value.values, zero),
                              _are_near(value.values, zero, value.fewest_decimals))).as_py():
                raise NotComputable("a number computed from DOUBLE(M,D) that is nearly 0 as a condition")


_REAL = ("float", "double")


def _decimals(value: Value, session: Session) -> int | None:
    """A number's decimals; None for a floating-point number of any."""
    if value.type.base in _REAL:
        return value.type.scale
    exact = as_number(value, session)
    return exact.type.scale if pa.types.is_decimal(exact.type) else None


def _are_near(left: pa.Array, right: pa.Array, scale: int) -> pa.Array:
    return pc.less(pc.abs(pc.subtract(left, right)), 5 / 10.0**(scale + 1))


def _is_large(exact: pa.Array) -> bool:
    size = pc.max(pc.abs(exact)).as_py()
    return size is not None and size > _EXACT_IN_DOUBLE


def with_years(arguments: Arguments, session: Session) -> Arguments:
    """A constant beside a column of YEAR as the year that it stands for: 99 is 1999, and '0' is 2000."""
    years = [value for value in arguments if value.type.base == "year"]
    return [_as_year(value, session, beside_column=any(year.is_column for year in years))
            if years and value.constant else value for value in arguments]


def without_century(value: Value, session: Session) -> Value:
    """A YEAR as the number that it is, which makes no year of a constant beside it; any other value as it is."""
    return numbers(as_number(value, session), constant=value.constant) if value.type.base == "year" else value


def _as_year(value: Value, session: Session, *, beside_column: bool) -> Value:
    number = as_number(value, session)[0].as_py()
    if value.is_instant and beside_column:
        raise NotComputable("a date in text compared with a YEAR")
    if number is None or number >= 100 or (number <= 0 and not value.is_text):
        return value
    if not beside_column or value.type.base in BINARY or number != int(number):
        raise NotComputable("a YEAR compared with one of two digits")
    if value.is_text and not _DIGITS_OF_YEAR.fullmatch(text := value.values[0].as_py()):
        if number or _DIGIT.search(text):
            raise NotComputable("a YEAR compared with text that is partly a number")
        return value  # 0, as a number is
    century = 1900 if number >= _FIRST_OF_1900 else 2000
    return numbers(pa.array([Decimal(century + int(number))], WHOLE), constant=True)


_FIRST_OF_1900 = 70
_DIGITS_OF_YEAR, _DIGIT = re.compile("[0-9]{1,2}|000"), re.compile("[0-9]")


def comparable_texts(arguments: Arguments, name: str, session: Session, n: int) -> list[pa.Array]:
    """A constant takes the other side's collation; in MySQL so does text without a collation of its own, from documents
    and numbers."""
    return (equal_texts if name in EQUALITIES else in_order)(arguments, session, n)
