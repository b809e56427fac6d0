"""ROUND and TRUNCATE over whole columns.

Source: MySQL manual, "Precision Math"; judged by both servers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values import decimals
from applier.sql.casting.texts import by_distinct
from applier.sql.functions.arithmetic import of_one, operands
from applier.sql.functions.clock_roundings import or_of_clocks
from applier.sql.functions.combinations import computed
from applier.sql.functions.shown_doubles import MOST_SCALE, shown_with
from applier.sql.nodes import Call
from applier.sql.values import (
    BOOL,
    DOUBLE,
    Arguments,
    Function,
    Value,
    as_number,
    exact_type,
    numbers,
    together,
)
from applier.sql.whole_numbers import whole_number, whole_numbers

_BEYOND = 39
"""A digit before the point that no exact number has."""
_DIGITS = Context(prec=80)
_MOST_SIGNED = pa.scalar(Decimal(2**63 - 1), pa.decimal128(38, 0))
_MOST = pa.scalar(Decimal(2**64 - 1), pa.decimal128(38, 0))


def rounded_double(number: float, places: int, session: Session, round_to: Callable[[float], float] = round) -> float:
    """Round a double to `places` digits behind the point, as the servers' own arithmetic does. Raises NotComputable for
    MariaDB's -0, which depends on the version."""
    ten = float(f"1e{abs(places)}")
    if places < 0 and math.isinf(ten):
        return 0.0
    within = number * ten if places >= 0 else number / ten
    if not math.isfinite(within):
        return number
    whole = math.copysign(float(round_to(within)), number)
    made = whole / ten if places >= 0 else whole * ten
    if math.isinf(made):
        raise NotComputable("a double that is rounded to infinity")
    if made == 0 and math.copysign(1, made) < 0 and session.flavour == "mariadb":
        raise NotComputable("a double that is rounded to -0")
    return made


def _of_doubles(array: pa.Array, digits: int, session: Session, round_to: Callable[[float], float], *,
                constant: bool) -> Value:
    made = by_distinct(array, lambda one: None if one is None else rounded_double(one, digits, session, round_to),
                       pa.float64())
    return shown_with(max(0, digits), numbers(made, constant=constant), session)


def _before_point(array: pa.Array, digits: int, round_to: str) -> pa.Array:
    """Exact numbers with zeros before the point: whole numbers."""
    unit = Decimal(10)**min(_BEYOND, -digits)
    made = by_distinct(array, lambda one: None if one is None else
                       _DIGITS.multiply(_DIGITS.divide(one, unit).to_integral_value(round_to, _DIGITS), unit) or
                       Decimal(0),
                       pa.decimal128(38, 0))
    return made


def _by_rows(arguments: Arguments, session: Session, n: int, of_double: Callable[[float], float],
             of_decimal: str) -> Value:
    """Numbers with as many digits as another column has, as a column of text shows them; functions show all digits."""
    number = replace(arguments[0], values=as_number(arguments[0], session))
    digits = whole_numbers(arguments[1], session)
    kind = number.values.type

    def made(one: Decimal | float, places: Decimal) -> Decimal | float:
        if isinstance(one, float):
            return rounded_double(one, int(places), session, of_double)
        unit = Decimal(1).scaleb(-int(max(-_BEYOND, min(places, kind.scale))))
        whole = _DIGITS.divide(one, unit).to_integral_value(of_decimal, _DIGITS)
        return _DIGITS.multiply(whole, unit) if whole else Decimal(0)

    arrays = together([number, digits], n)
    found = computed(arrays, made, kind)
    if pa.types.is_floating(kind):
        return Value(found, DOUBLE)
    if not kind.scale:
        return Value(found, exact_type(0))
    shown = computed([found, arrays[1]], lambda one, places: f"{one:.{int(max(0, min(places, kind.scale)))}f}",
                     pa.string())
    return Value(found, exact_type(kind.scale), shows=False, shown=shown, text_scale=kind.scale, by_row=True)


def _round(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if len(arguments) > 1 and not arguments[1].constant:
        return _by_rows(arguments, session, n, round, ROUND_HALF_UP)
    [array], constant = operands(arguments[:1], session, n)
    digits = whole_number(arguments[1], session) if len(arguments) > 1 else 0
    if pa.types.is_floating(array.type):
        return _of_doubles(array, digits, session, round, constant=constant)
    if digits < 0:
        made = _before_point(array, digits, ROUND_HALF_UP)
        if session.flavour == "mariadb" and arguments[0].type.base != "decimal" and pc.any(
                pc.greater(pc.abs(made), _MOST_SIGNED)).as_py():
            raise NotComputable("a whole number that is rounded beyond 64 bits")
        return numbers(made, constant=constant)
    scale = min(digits, array.type.scale)
    made = decimals.rounded(array, scale)
    if _keeps_digits(arguments[0], digits, scale, session):
        return numbers(made.cast(pa.decimal128(38, digits)), constant=constant)
    type_ = ColumnType("decimal", precision=38, scale=scale) if array.type.scale else exact_type(0)
    return Value(made, type_, constant, shows=not _may_keep_digits(arguments[0], digits, session))


def _keeps_digits(number: Value, digits: int, scale: int, session: Session) -> bool:
    """Return whether MariaDB shows a number with all requested digits: a DECIMAL, and not a whole number. Raises
    NotComputable if these are too many."""
    keeps = digits > scale and session.flavour == "mariadb" and number.type.base == "decimal" and number.type != BOOL
    if keeps and digits > MOST_SCALE:
        raise NotComputable("a number with so many digits")
    return keeps


def _may_keep_digits(number: Value, digits: int, session: Session) -> bool:
    """True for a whole number that MariaDB perhaps has as a DECIMAL, which it would show with all requested digits."""
    if digits <= 0 or session.flavour == "mysql" or number.type.base != "bigint" or number.type.unsigned:
        return False
    return not number.is_column and (
        not number.constant or bool(pc.any(pc.greater(pc.abs(as_number(number, session)), _MOST)).as_py()))


def _truncate(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if not arguments[1].constant:
        return _by_rows(arguments, session, n, math.trunc, ROUND_DOWN)
    [array], constant = operands(arguments[:1], session, n)
    digits = whole_number(arguments[1], session)
    if pa.types.is_floating(array.type):
        return _of_doubles(array, digits, session, math.trunc, constant=constant)
    if digits < 0:
        return numbers(_before_point(array, digits, ROUND_DOWN), constant=constant)
    scale = min(digits, array.type.scale)
    made = decimals.truncated(array, scale)
    if _keeps_digits(arguments[0], digits, scale, session):
        made = made.cast(pa.decimal128(38, digits))
    return replace(numbers(made, constant=constant), shows=not _may_keep_digits(arguments[0], digits, session))


FUNCTIONS: dict[str, Function] = {
    "TRUNCATE": of_one(or_of_clocks(_truncate)), "ROUND": of_one(or_of_clocks(_round)),
}
