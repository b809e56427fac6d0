"""Roots, powers, logarithms and trigonometric functions over whole columns, in doubles.

Source: MySQL manual, "Mathematical Functions"; judged by both servers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.sql.functions.arithmetic import doubles
from applier.sql.functions.combinations import computed
from applier.sql.functions.shown_doubles import shown_with, without_negative_zero
from applier.sql.nodes import Call
from applier.sql.values import (
    DOUBLE,
    Arguments,
    Function,
    Value,
    numbers,
    together,
)
from applier.sql.values import constant as constant_of


def _root(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [found] = [doubles(value, session) for value in arguments]
    made = pc.sqrt(pc.if_else(pc.less(found, 0.0), pa.scalar(None, pa.float64()), found))
    return numbers(made, constant=arguments[0].constant)


def _power(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """POW. A power that is no double is as this machine's library rounds it, as on a replica by its own."""
    arrays = together([replace(value, values=doubles(value, session)) for value in arguments], n)

    def power(base: float, exponent: float) -> float:
        if not base and math.copysign(1, base) < 0:
            raise NotComputable("POW of -0")
        if exponent == int(exponent) and abs(exponent) <= 64 and (base or exponent >= 0):
            exact = Fraction(base) ** int(exponent)
            if abs(exact) < 2**1023 and Fraction(float(exact)) == exact:
                return float(exact)
        return math.pow(base, exponent)  # or ValueError, OverflowError

    made = computed(arrays, power, pa.float64())
    constant = all(value.constant for value in arguments)
    return numbers(without_negative_zero(made, session, constant=constant), constant=constant)


def _of_library(function: Callable[[float], float | None]) -> Function:
    """A function of a double that the C library computes: here that of this machine, as on a replica its own."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        [value] = arguments
        made = computed([doubles(value, session)], function, pa.float64())
        return numbers(made, constant=value.constant)

    return called


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float | None]:
    return lambda number: function(number) if number > 0 else None


def _log(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """LOG of one number, or of a base and a number."""
    if len(arguments) == 1:
        return _of_library(_logarithm(math.log))(arguments, call, session, n)
    arrays = together([replace(value, values=doubles(value, session)) for value in arguments], n)
    made = computed(arrays, lambda base, number: math.log(number) / math.log(base)
                    if number > 0 and base > 0 and base != 1 else None, pa.float64())
    constant = all(value.constant for value in arguments)
    return numbers(without_negative_zero(made, session, constant=constant), constant=constant)


def _binary_logarithm(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """LOG2, which the C library computes for MySQL; MariaDB divides logarithms (seen on 9.7, and 10.5 to 11.8)."""
    function = math.log2 if session.flavour == "mysql" else lambda number: math.log(number) / math.log(2)
    return _of_library(_logarithm(function))(arguments, call, session, n)


def _within_one(function: Callable[[float], float]) -> Callable[[float], float | None]:
    return lambda number: function(number) if -1 <= number <= 1 else None


def _arc_tangent(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if len(arguments) == 1:
        return _of_library(math.atan)(arguments, call, session, n)
    arrays = together([replace(value, values=doubles(value, session)) for value in arguments], n)
    return numbers(computed(arrays, math.atan2, pa.float64()), constant=all(value.constant for value in arguments))


_LIBRARY = {name: _of_library(function) for name, function in {
    "EXP": math.exp, "LN": _logarithm(math.log), "LOG10": _logarithm(math.log10),
    "SIN": math.sin, "COS": math.cos, "TAN": math.tan, "COT": lambda number: 1 / math.tan(number),
    "ASIN": _within_one(math.asin), "ACOS": _within_one(math.acos),
    "DEGREES": lambda number: number * (180 / math.pi) + 0.0,  # which is no -0
    "RADIANS": lambda number: number * (math.pi / 180) + 0.0}.items()}


def _pi(session: Session) -> Value:
    """PI, of which functions show six digits."""
    made = constant_of(pa.scalar(math.pi), DOUBLE)
    return shown_with(_DIGITS_OF_PI, made, session) if session.flavour == "mariadb" else replace(
        made, shows=False, shown=pa.array([repr(math.pi)]))


_DIGITS_OF_PI = 6
FUNCTIONS: dict[str, Function] = _LIBRARY | {
    "LOG": _log, "LOG2": _binary_logarithm, "ATAN": _arc_tangent, "ATAN2": _arc_tangent, "SQRT": _root, "POW": _power,
    "PI": lambda arguments, call, session, n: _pi(session),
}
