"""Arithmetic over whole columns.

Exact numbers (integers and DECIMALs) stay exact, all others are doubles; if an operand is NULL, so is the result.
Source: MySQL manual, "Arithmetic Operators", "Precision Math"; judged by both servers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, TEMPORAL, ColumnType
from applier.mysql.values import decimals
from applier.mysql.versions import is_since
from applier.sql.casting import shown_numbers
from applier.sql.casting.texts import by_distinct
from applier.sql.functions.clock_roundings import or_of_clocks
from applier.sql.functions.combinations import computed
from applier.sql.functions.combinations import computed as of_rows
from applier.sql.functions.shown_doubles import MOST_SCALE, scale_of_doubles, shown_with, without_negative_zero
from applier.sql.nodes import Call
from applier.sql.values import (
    DOUBLE,
    WHOLE,
    Arguments,
    Compute,
    Function,
    Value,
    as_number,
    has_seconds,
    numbers,
    together,
)


def operands(arguments: Arguments, session: Session, n: int) -> tuple[list[pa.Array], bool]:
    """Number arrays of one length, all doubles or none, and whether all are constant."""
    wide = [replace(value, values=as_number(value, session)) for value in arguments]
    arrays = together(wide, n)
    if any(pa.types.is_floating(array.type) for array in arrays):
        arrays = together([replace(value, values=doubles(value, session)) for value in arguments], n)
    return arrays, all(value.constant for value in arguments)


def as_double(array: pa.Array) -> pa.Array:
    """The nearest doubles; a cast of decimals rounds twice."""
    return array.cast(pa.string()).cast(pa.float64()) if pa.types.is_decimal(array.type) else array


def doubles(value: Value, session: Session) -> pa.Array:
    """A value as doubles. MariaDB has a BIT of 64 bits as a number with a sign then."""
    found = as_number(value, session)
    return as_double(signed_bits(found) if value.type.base == "bit" and session.flavour == "mariadb" else found)


def signed_bits(bits: pa.Array) -> pa.Array:
    """Whole numbers of 64 bits, with a sign."""
    wrapped = pc.subtract(bits.cast(pa.decimal128(37, 0)), pa.scalar(Decimal(2**64), pa.decimal128(20, 0)))
    return pc.if_else(pc.greater(bits, pa.scalar(Decimal(2**63 - 1), WHOLE)), wrapped.cast(WHOLE), bits)


def of_one(function: Function, *, keeps_digits: bool = False) -> Function:
    """A function of a number, for which MySQL takes a date, a time or hexadecimal digits as a double. `keeps_digits`:
    functions show all digits of a second, and columns of text none that are 0 at the end."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        value, *others = arguments
        if session.flavour == "mariadb" or (value.type.base not in TEMPORAL and value.digits is False):
            return function(arguments, call, session, n)
        number = Value(doubles(value, session), DOUBLE, value.constant)
        made = function([number, *others], call, session, n)
        if not keeps_digits or value.type.base not in TEMPORAL:
            return made
        return replace(made, type=ColumnType("double", precision=22, scale=value.type.fsp),
                       shown=shown_numbers.computed(made.values, session.flavour))

    return computed


def _arithmetic(exact: Compute, double: Compute | None, *, zeros: bool = True) -> Function:
    """`zeros`: an exact zero has as many decimals as other results; without it servers differ."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        arrays, constant = operands(arguments, session, n)
        if not pa.types.is_floating(arrays[0].type):
            if call.name == "-" and session.flavour == "mariadb" and pc.any(pc.equal(arrays[1], _LEAST)).as_py():
                raise NotComputable("- of -9223372036854775808, which MariaDB may have as that number again")
            made = numbers(exact(*arrays), constant=constant)
            if zeros:
                return replace(made, text_scale=made.type.scale if any(map(has_seconds, arguments)) else None,
                               shows=not any(value.type.base in TEMPORAL and value.type.fsp for value in arguments))
            if call.name == "MOD" and session.flavour == "mariadb":
                _check_remainders(made.values, arrays)
            made, is_of_clock = replace(made, text_scale=made.values.type.scale), any(map(_is_of_clock, arguments))
            if not is_of_clock and not _has_zero(made.values) and not _may_be_cut(made.values, call, session):
                return made
            with_digits = sum(array.type.scale > 0 for array in arrays)
            return replace(made, shows=False, shown=_shown(made.values, arguments, arrays, call, session),
                           by_row=not (is_of_clock and call.name in ("+", "-") and with_digits == 1))
        if double is None:
            raise NotComputable(f"{call.name} of doubles")
        made = double(*arrays)
        if pa.types.is_floating(made.type) and pc.any(pc.is_inf(made)).as_py():
            raise NotComputable(f"{call.name} beyond the largest double")
        if pa.types.is_floating(made.type) and session.flavour == "mariadb":
            if call.name == "MOD" and "-0.0" in map(str, made.unique().to_pylist()):
                raise NotComputable("a remainder of -0, which some versions of MariaDB have")
            made = without_negative_zero(made, session, constant=constant)
        scale = 0 if call.name in ("FLOOR", "CEILING") else scale_of_doubles(arguments, session)
        return shown_with(scale, numbers(made, constant=constant), session)

    return computed


def _is_of_clock(value: Value) -> bool:
    """True if a value has a fraction of a second, whose digits a column may show otherwise than its type says."""
    return (value.type.base in TEMPORAL and bool(value.type.fsp)) or has_seconds(value)


def _shown(made: pa.Array, arguments: Arguments, arrays: list[pa.Array], call: Call,
           session: Session) -> pa.Array | None:
    """What a column of text has of each result, whose digits are those of its operands; None if they are unknown. A
    fraction of a second has those of its type, in MariaDB six, and whole seconds have none. Zero has none, either,
    unless it is a sum of zeros, or, in MariaDB, a remainder, or a product of numbers of one sign."""
    of_clocks = [*map(_is_of_clock, arguments)]
    if _may_be_cut(made, call, session) or not all(value.shows or is_of_clock for value, is_of_clock in zip(
            arguments, of_clocks, strict=True)) or any(value.is_choice for value in arguments):
        return None
    operation, is_mariadb = _OPERATIONS[call.name], session.flavour == "mariadb"
    if not is_mariadb and all(of_clocks) and arrays[0].type.scale != arrays[1].type.scale:
        return None
    digits = [None if not is_of_clock else _MICROSECONDS if is_mariadb else array.type.scale
              for is_of_clock, array in zip(of_clocks, arrays, strict=True)]

    def shown(left: Decimal, right: Decimal) -> str:
        left, right = (one if scale is None else one.quantize(Decimal(1).scaleb(-scale if one % 1 else 0))
                       for one, scale in zip((left, right), digits, strict=True))
        result = operation(left, right)
        keeps = not left and not right if call.name == "+" else is_mariadb and (
            left != 0 if call.name == "MOD" else call.name == "*" and (left < 0) == (right < 0))
        return f"{result:f}" if result or keeps else "0"

    return of_rows(arrays, lambda left, right: None if call.name == "MOD" and not right else shown(left, right),
                   pa.string())


_MICROSECONDS, _LEAST = 6, Decimal(-(1 << 63))


def _may_be_cut(values: pa.Array, call: Call, session: Session) -> bool:
    """True for whole products, which old versions of MariaDB store without a fraction (seen on 10.5)."""
    is_old = session.flavour == "mariadb" and not (
        session.server_version and is_since(session.server_version, _KEEPS_FRACTIONS))
    return call.name == "*" and is_old and values.type.scale > 0 and not pc.all(decimals.has_fraction(values)).as_py()


def _check_remainders(remainders: pa.Array, operands: list[pa.Array]) -> None:
    """Raise NotComputable for a remainder of -0.0, which MariaDB has of exact numbers: it is less than 0, and its text
    has the sign."""
    if remainders.type.scale and pc.any(pc.and_(pc.equal(remainders, _ZERO), pc.less(operands[0], _ZERO))).as_py():
        raise NotComputable("a remainder of -0")


_ZERO = Decimal(0)
_KEEPS_FRACTIONS = (10, 11)


def _has_zero(values: pa.Array) -> bool:
    """True if an exact number with decimals is zero."""
    return values.type.scale > 0 and bool(pc.any(pc.equal(values, pa.scalar(Decimal(0), values.type))).as_py())


def _multiplied(left: pa.Array, right: pa.Array) -> pa.Array:
    """Multiply. Arrow needs room for the product of all digits; ArrowInvalid if they do not fit into 38."""
    scale = left.type.scale + right.type.scale
    if scale > MOST_SCALE:
        raise NotComputable(f"* with more than {MOST_SCALE} digits behind the point")
    wide = pc.multiply(*(side.cast(pa.decimal256(37, side.type.scale)) for side in (left, right)))
    return wide.cast(pa.decimal128(38, scale))


def _summed(function: Compute) -> Compute:
    def summed(left: pa.Array, right: pa.Array) -> pa.Array:
        scale = max(left.type.scale, right.type.scale)
        wide = function(*(side.cast(pa.decimal256(60, scale)) for side in (left, right)))
        return wide.cast(pa.decimal128(38, scale))

    return summed


def _divided(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """DIV and MOD: quotients rounded towards zero, and remainders with the dividend's sign; NULL for division by 0."""
    scale = max(left.type.scale, right.type.scale)
    if scale:
        return (computed([left, right], lambda one, other: _quotient_and_rest(one, other)[0], WHOLE),
                computed([left, right], lambda one, other: _quotient_and_rest(one, other)[1], pa.decimal128(38, scale)))
    try:
        left, right = left.cast(pa.int64()), right.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits, or without a sign
        return tuple(computed([left, right], lambda one, other, at=at: _quotient_and_rest(one, other)[at], WHOLE)
                     for at in (0, 1))
    right = pc.if_else(pc.equal(right, 0), pa.scalar(None, pa.int64()), right)
    quotients = pc.divide_checked(left, right)
    return quotients, pc.subtract(left, pc.multiply(quotients, right))


def _quotient_and_rest(left: Decimal, right: Decimal) -> tuple[Decimal | None, Decimal | None]:
    return _DIGITS.divmod(left, right) if right else (None, None)


def _remainders(left: pa.Array, right: pa.Array) -> pa.Array:
    return computed([left, right], lambda one, other: math.fmod(one, other) if other else None, pa.float64())


def _whole_quotient(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """DIV, which divides doubles and text as the decimals that they show: 0.3e0 DIV 0.1e0 is 3."""
    found = [replace(value, values=as_number(value, session)) for value in arguments]
    constant = all(value.constant for value in arguments)
    if not any(pa.types.is_floating(value.values.type) for value in found):
        return _EXACT_QUOTIENT(arguments, call, session, n)
    if any(value.is_text and pc.any(pc.greater_equal(pc.abs(number.values), _LAST_SHOWN)).as_py()
           for value, number in zip(arguments, found, strict=True)):
        raise NotComputable("DIV of text of a number of more than 15 digits")
    made = computed(together(found, n), lambda *pair: _quotient_and_rest(*map(_as_shown, pair))[0], WHOLE)
    if pc.any(pc.greater(pc.abs(made), Decimal(2**63 - 1))).as_py():
        raise NotComputable("DIV of doubles beyond 9223372036854775807")
    return numbers(made, constant=constant)


def _as_shown(number: Decimal | float) -> Decimal:
    if isinstance(number, float) and number and not _FIRST_SHOWN < abs(number) < 1 / _FIRST_SHOWN:
        raise NotComputable("DIV of a double that is so large or small")
    return Decimal(repr(number)) if isinstance(number, float) else number


_FIRST_SHOWN, _LAST_SHOWN = 1e-20, 1e15


def _quotient(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Division of exact numbers, with four more decimals than the dividend, the default of div_precision_increment.
    MariaDB keeps more of them until the result is stored. A column of text has 0 of them where the dividend is 0."""
    arrays, constant = operands(arguments, session, n)
    if pa.types.is_floating(arrays[0].type):
        left, right = arrays
        made = pc.divide(left, pc.if_else(pc.equal(right, 0.0), pa.scalar(None, pa.float64()), right))
        scale = scale_of_doubles(arguments, session)
        return shown_with(None if scale is None else scale + _INCREMENT,
                          numbers(without_negative_zero(made, session, constant=constant), constant=constant),
                          session)
    scale = text_scale = arrays[0].type.scale + 4
    if scale > 8:
        raise NotComputable("/ of numbers with so many digits")
    left, right = (array.to_pylist() for array in arrays)
    pairs = list(zip(left, right, strict=True))
    if session.flavour == "mariadb":
        scales = {pair: _digits_of_quotient(pair, arrays, arguments) for pair in set(pairs)}
    else:
        scales = dict.fromkeys(pairs, scale)
    distinct = {pair: _divide(*pair, digits, session) for pair, digits in scales.items()}
    scale = max((digits for pair, digits in scales.items() if distinct[pair] is not None), default=text_scale)
    made = numbers(pa.array([distinct[pair] for pair in pairs], pa.decimal128(38, scale)), constant=constant)
    is_of_zeros = not pc.any(pc.and_(pc.equal(made.values, _ZERO), pc.not_equal(arrays[0], _ZERO))).as_py()
    if (session.flavour == "mariadb" or _has_zero(made.values)) and is_of_zeros and not any(
            _is_of_clock(value) or not value.shows for value in arguments):
        made = replace(made, by_row=True, shown=by_distinct(made.values, lambda one: f"{one:f}" if one else "0"))
    is_nothing = made.values.null_count == len(made.values)
    return replace(made, shows=is_nothing or (session.flavour == "mysql" and not _has_zero(made.values)),
                   text_scale=text_scale)


def _digits_of_quotient(pair: tuple[Decimal | None, ...], arrays: list[pa.Array], arguments: Arguments) -> int:
    """The digits behind the point that MariaDB computes: it has them by nines. A date or time has six or none."""
    own = [array.type.scale if value.type.base not in TEMPORAL else _MICROSECONDS if one and one % 1 else 0
           for one, array, value in zip(pair, arrays, arguments, strict=True)]
    whole = [-(-scale // _NINE) * _NINE for scale in own]
    if all(own) and not all(value.shows for value in arguments):
        raise NotComputable("/ of numbers whose digits are not known")
    return int(-(-(sum(whole) + max(0, _INCREMENT - (sum(whole) - sum(own)))) // _NINE)) * _NINE


_NINE, _INCREMENT = 9, 4


def _divide(left: Decimal | None, right: Decimal | None, scale: int, session: Session) -> Decimal | None:
    if left is None or not right:
        return None
    if session.flavour == "mariadb":
        return _DIGITS.divide(left, right).quantize(Decimal(1).scaleb(-scale), ROUND_DOWN, _DIGITS)
    return _DIGITS.divide(left, right).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _DIGITS)


_DIGITS = Context(prec=80)
_OPERATIONS = {"+": _DIGITS.add, "-": _DIGITS.subtract, "*": _DIGITS.multiply, "MOD": _DIGITS.remainder}


def _one_equal(*numbers: Decimal) -> str | None:
    """The text of the one that equals the last; None if several do, with other digits."""
    *given, chosen = numbers
    texts = {f"{number:f}" for number in given if number == chosen}
    return texts.pop() if len(texts) == 1 else None


def _extreme(function: Compute) -> Function:
    """GREATEST and LEAST of numbers; NULL where one is."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        if any(value.is_text or value.type.base in TEMPORAL or (value.type.base in BINARY and value.digits is False)
               for value in arguments):
            raise NotComputable(f"{call.name} of values that are not numbers")
        arrays, constant = operands(arguments, session, n)
        if pa.types.is_floating(arrays[0].type):
            made = function(*arrays, skip_nulls=False)
            if any("-0.0" in map(str, array.unique().to_pylist()) for array in arrays):
                raise NotComputable(f"{call.name} of -0")
            return numbers(made, constant=constant)
        scale = max(array.type.scale for array in arrays)
        made = function(*(array.cast(pa.decimal128(38, scale)) for array in arrays), skip_nulls=False)
        if len({array.type.scale for array in arrays}) == 1 or any(map(has_seconds, arguments)):
            return numbers(made, constant=constant)
        shown = of_rows([*arrays, made], _one_equal, pa.string())
        is_known = shown.null_count == made.null_count
        return replace(numbers(made, constant=constant), shows=False, is_choice=True, shown=shown if is_known else None)

    return computed


def _remainder(left: pa.Array, right: pa.Array) -> pa.Array:
    made = _divided(left, right)[1]
    return made if pa.types.is_decimal(made.type) else made.cast(WHOLE)


def _sign(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    return numbers(pc.sign(doubles(value, session)).cast(WHOLE), constant=value.constant)


_EXACT_QUOTIENT = _arithmetic(lambda left, right: _divided(left, right)[0].cast(WHOLE), None)
EXTREMES = {"GREATEST": _extreme(pc.max_element_wise), "LEAST": _extreme(pc.min_element_wise)}
"""Of numbers."""
FUNCTIONS: dict[str, Function] = {
    "+": _arithmetic(_summed(pc.add), pc.add, zeros=False),
    "-": _arithmetic(_summed(pc.subtract), pc.subtract, zeros=False),
    "*": _arithmetic(_multiplied, pc.multiply, zeros=False),
    "/": _quotient,
    "DIV": _whole_quotient,
    "MOD": _arithmetic(_remainder, _remainders, zeros=False),
    "NEG": of_one(_arithmetic(pc.negate, pc.negate), keeps_digits=True),
    "ABS": of_one(_arithmetic(pc.abs, pc.abs), keeps_digits=True),
    "FLOOR": of_one(or_of_clocks(_arithmetic(decimals.floor, pc.floor))),
    "CEILING": of_one(or_of_clocks(_arithmetic(decimals.ceil, pc.ceil))),
    "SIGN": _sign,
}
