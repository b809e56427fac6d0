"""Arithmetic and logic over whole columns.

Exact numbers (integers and DECIMALs) stay exact, all others are doubles; if an operand is NULL, so is the result,
except for AND and OR. Source: MySQL manual, "Arithmetic Operators", "Precision Math", "Comparison Functions and
Operators"; judged by both servers.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql import zero_dates
from applier.mysql.session import Session
from applier.mysql.types import INTEGERS, MEMBERS, TEMPORAL, ColumnType
from applier.sql.casting.values import convert_values
from applier.sql.grammar import Call
from applier.sql.values import (
    DOUBLE,
    NULL,
    SEVERAL,
    TEXT,
    WHOLE,
    Arguments,
    Compute,
    Function,
    Value,
    as_number,
    as_text,
    as_truth,
    collation_of,
    exact_type,
    is_ascii,
    numbers,
    together,
    truth,
    whole_number,
)
from keysearch.collation import equality_column

_MOST_SCALE = 30
"""The largest scale of MySQL's DECIMAL; MariaDB's is larger."""
_EXACT_IN_DOUBLE = 2**53
"""All whole numbers up to this one are doubles; beyond it some are not."""


def _operands(arguments: Arguments, session: Session, n: int) -> tuple[list[pa.Array], bool]:
    """Number arrays of one length, all doubles or none, and whether all are constant."""
    wide = [replace(value, values=as_number(value, session)) for value in arguments]
    arrays = together(wide, n)
    if any(pa.types.is_floating(array.type) for array in arrays):
        arrays = [_as_double(array) for array in arrays]
    return arrays, all(value.constant for value in arguments)


def _as_double(array: pa.Array) -> pa.Array:
    """The nearest doubles; a cast of decimals rounds twice."""
    return array.cast(pa.string()).cast(pa.float64()) if pa.types.is_decimal(array.type) else array


def _arithmetic(exact: Compute, double: Compute | None, *, zeros: bool = True) -> Function:
    """`zeros`: an exact zero has as many decimals as other results; without it servers differ."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        arrays, constant = _operands(arguments, session, n)
        if not pa.types.is_floating(arrays[0].type):
            made = numbers(exact(*arrays), constant=constant)
            return made if zeros else replace(made, shows=not _has_zero(made.values))
        if double is None:
            raise NotComputable(f"{call.name} of doubles")
        made = double(*arrays)
        return numbers(pc.add(made, 0.0) if session.flavour == "mariadb" else made, constant=constant)  # it has no -0

    return computed


def _has_zero(values: pa.Array) -> bool:
    """True if an exact number with decimals is zero."""
    return values.type.scale > 0 and bool(pc.any(pc.equal(values, pa.scalar(Decimal(0), values.type))).as_py())


def _multiplied(left: pa.Array, right: pa.Array) -> pa.Array:
    """Multiply. Arrow needs room for the product of all digits; ArrowInvalid if they do not fit into 38."""
    scale = left.type.scale + right.type.scale
    if scale > _MOST_SCALE:
        raise NotComputable(f"* with more than {_MOST_SCALE} digits behind the point")
    wide = pc.multiply(*(side.cast(pa.decimal256(37, side.type.scale)) for side in (left, right)))
    return wide.cast(pa.decimal128(38, scale))


def _summed(function: Compute) -> Compute:
    def summed(left: pa.Array, right: pa.Array) -> pa.Array:
        scale = max(left.type.scale, right.type.scale)
        wide = function(*(side.cast(pa.decimal256(60, scale)) for side in (left, right)))
        return wide.cast(pa.decimal128(38, scale))

    return summed


def _divided(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """DIV and MOD of whole numbers: quotients rounded towards zero, and remainders with the dividend's sign; NULL for
    division by 0."""
    if left.type.scale or right.type.scale:
        raise NotComputable("DIV and MOD of numbers with a fraction")
    left, right = left.cast(pa.int64()), right.cast(pa.int64())
    right = pc.if_else(pc.equal(right, 0), pa.scalar(None, pa.int64()), right)
    quotients = pc.divide_checked(left, right)
    return quotients, pc.subtract(left, pc.multiply(quotients, right))


def _quotient(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Division of exact numbers, with four more decimals than the dividend, the default of div_precision_increment.
    MariaDB keeps more of them until the result is stored."""
    arrays, constant = _operands(arguments, session, n)
    if pa.types.is_floating(arrays[0].type):
        left, right = arrays
        return numbers(pc.divide(left, pc.if_else(pc.equal(right, 0.0), pa.scalar(None, pa.float64()), right)),
                       constant=constant)
    scale = arrays[0].type.scale + 4
    if scale > 8:
        raise NotComputable("/ of numbers with so many digits")
    left, right = (array.to_pylist() for array in arrays)
    pairs = list(zip(left, right, strict=True))
    distinct = {(dividend, divisor): _divide(dividend, divisor, scale, session) for dividend, divisor in set(pairs)}
    made = numbers(pa.array([distinct[pair] for pair in pairs], pa.decimal128(38, scale)), constant=constant)
    return replace(made, shows=session.flavour == "mysql" and not _has_zero(made.values))


def _divide(left: Decimal | None, right: Decimal | None, scale: int, session: Session) -> Decimal | None:
    if left is None or not right:
        return None
    made = _DIGITS.divide(left, right).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _DIGITS)
    if session.flavour == "mariadb" and made * right != left:
        raise NotComputable("/ whose result has more digits")
    return made


_DIGITS = Context(prec=80)


def _of_no_fraction(function: Function) -> Function:
    """A function of numbers that servers reject for datetimes with a fraction of a second."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        if any(value.type.base in TEMPORAL and value.type.fsp for value in arguments):
            raise NotComputable(f"{call.name} of a datetime with a fraction of a second")
        return function(arguments, call, session, n)

    return computed


def _round(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [array], constant = _operands(arguments[:1], session, n)
    digits = whole_number(arguments[1], session) if len(arguments) > 1 else 0
    if pa.types.is_floating(array.type) or not 0 <= digits <= 30:
        raise NotComputable("ROUND of doubles, or of digits before the point")
    scale = min(digits, array.type.scale)
    made = pc.round(array, scale, round_mode="half_towards_infinity").cast(pa.decimal128(38, scale))
    type_ = ColumnType("decimal", precision=38, scale=scale) if array.type.scale else exact_type(0)
    return Value(made, type_, constant, shows=session.flavour == "mysql" or digits <= array.type.scale)


def _logic(function: Compute) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        wide = together([replace(value, values=as_truth(value, session)) for value in arguments], n)
        return truth(function(*wide), constant=all(value.constant for value in arguments))

    return computed


def _is_null(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    return truth(value.values.is_null(), constant=value.constant)


def _compared(function: Compute) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        arrays = _comparable(arguments, call.name, session, n)
        return truth(function(*arrays), constant=all(value.constant for value in arguments))

    return computed


def _comparable(arguments: Arguments, name: str, session: Session, n: int) -> list[pa.Array]:
    """Two values in the form in which they are compared: as numbers, as datetimes, or text by its collation, for
    equality only."""
    left, right = arguments
    if left.is_null or right.is_null:
        if name == "<=>":  # whether both are
            return [array.is_null() for array in together(arguments, n)]
        return [pa.nulls(n, pa.int64())] * 2
    texts = [value.is_text or value.type.base in MEMBERS for value in arguments]
    days = [value.type.base in TEMPORAL for value in arguments]
    if all(texts):
        return _comparable_texts(arguments, name, session, n)
    if any(days):
        if not all(days):
            instant = arguments[days.index(True)]
            if not arguments[days.index(False)].is_text or not arguments[days.index(False)].constant:
                raise NotComputable("a date compared with a value that is not a date")
            wanted = replace(instant.type, base="datetime" if instant.type.base == "date" else instant.type.base, fsp=6)
            arguments = [replace(value, values=convert_values(value.values, value.type, wanted, session), type=wanted)
                         for value in arguments]
        elif left.type.base != right.type.base:
            wanted = ColumnType("datetime", fsp=6)
            if "time" in (left.type.base, right.type.base):
                raise NotComputable("a time compared with a date")
            arguments = [replace(value, values=convert_values(value.values, value.type, wanted, session), type=wanted)
                         for value in arguments]
        if any(map(zero_dates.has_any, (value.values for value in arguments))):
            raise NotComputable("invalid dates compared")
        return together(arguments, n)
    if any(value.type.base in ("json", "geometry") or pa.types.is_binary(value.values.type) for value in arguments):
        raise NotComputable("documents or bytes compared")
    _check_years(arguments, session)
    exact = together([replace(value, values=as_number(value, session)) for value in arguments], n)
    arrays = _operands(arguments, session, n)[0]
    if any(found.type != array.type and _is_large(found) for found, array in zip(exact, arrays, strict=True)):
        raise NotComputable("large numbers compared with doubles")
    scale = max(array.type.scale if pa.types.is_decimal(array.type) else 0 for array in arrays)
    return [array.cast(pa.decimal128(38, scale)) if pa.types.is_decimal(array.type) else array for array in arrays]


def _is_large(exact: pa.Array) -> bool:
    size = pc.max(pc.abs(exact)).as_py()
    return size is not None and size > _EXACT_IN_DOUBLE


def _check_years(arguments: Arguments, session: Session) -> None:
    """A YEAR compares with a constant by the year that it stands for: 99 is 1999, and '0' is 2000."""
    if not any(value.type.base == "year" for value in arguments):
        return
    for value in arguments:
        number = as_number(value, session)[0].as_py() if value.constant else None
        if number is not None and number < 100 and (number or value.is_text):
            raise NotComputable("a YEAR compared with one of two digits")


def _comparable_texts(arguments: Arguments, name: str, session: Session, n: int) -> list[pa.Array]:
    """A constant takes the other side's collation; in MySQL so does text without a collation of its own, from documents
    and numbers."""
    collations = {value.type.collation for value in arguments if value.type.collation is not None}
    unknown = session.flavour == "mariadb" and any(value.type.collation is None and not value.constant
                                                   for value in arguments)
    if name not in ("=", "<>", "IN", "<=>") or len(collations) != 1 or SEVERAL in collations or unknown:
        raise NotComputable("text compared in an order, or in more than one collation")
    [collation] = collations
    if any(value.constant and not is_ascii(value.values) for value in arguments):
        raise NotComputable("text that is not ASCII compared")
    return [equality_column(array, collation) for array in together(arguments, n)]


def _null_safe_equal(left: pa.Array, right: pa.Array) -> pa.Array:
    same = pc.equal(left, right)
    return pc.if_else(same.is_valid(), same, pc.and_(left.is_null(), right.is_null()))


def _in(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    first, *others = arguments
    found = [_compared(pc.equal)([first, other], call, session, n) for other in others]
    return _logic(lambda *arrays: reduce(pc.or_kleene, arrays))(found, call, session, n)


def common_type(arguments: Arguments, session: Session) -> ColumnType:
    """The type of a choice between these values. Raises NotComputable."""
    typed = [value for value in arguments if not value.is_null]
    if not typed:
        return NULL
    kinds = {value.type.base for value in typed}
    if all(value.is_text or value.type.base in MEMBERS for value in typed):
        charsets = {value.type.charset for value in typed}
        return replace(TEXT, charset=charsets.pop() if len(charsets) == 1 else None, collation=collation_of(typed))
    if len(kinds) == 1 and kinds & {*TEMPORAL, "json", "geometry"}:
        return replace(typed[0].type, fsp=max(value.type.fsp for value in typed))
    if kinds & {*TEMPORAL, "json", "geometry"} or any(pa.types.is_binary(value.values.type) for value in typed) \
            or any(value.is_text for value in typed):
        raise NotComputable("a value of one type or another")
    arrays = [as_number(value, session) for value in typed]
    if any(pa.types.is_floating(array.type) for array in arrays):
        return DOUBLE
    return exact_type(max(array.type.scale for array in arrays))


def one_of(arguments: Arguments, session: Session) -> tuple[list[Value], ColumnType]:
    """The values converted to their common type."""
    type_ = common_type(arguments, session)
    scales = {value.type.scale or 0 for value in arguments if not value.is_null}
    shows = type_.base != "decimal" or len(scales) == 1  # each is shown as it is
    made = []
    for value in arguments:
        if value.is_null:
            values = pa.nulls(len(value.values), _arrow_of(type_, arguments))
        elif type_.base == "double":
            values = _as_double(as_number(value, session))
        elif type_.base in ("decimal", "bigint"):
            values = as_number(value, session).cast(pa.decimal128(38, type_.scale or 0))
        elif type_.base == "longtext":
            values = as_text(value, session)
        else:
            values = value.values
        made.append(Value(values, type_, value.constant, shows=shows))
    return made, type_


def _arrow_of(type_: ColumnType, arguments: Arguments) -> pa.DataType:
    if type_ is NULL:
        return pa.null()
    if type_.base in ("decimal", "bigint"):
        return pa.decimal128(38, type_.scale or 0)
    return pa.string() if type_.base == "longtext" else pa.float64() if type_.base == "double" else \
        next(value.values.type for value in arguments if not value.is_null)


def _coalesce(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    made, type_ = one_of(arguments, session)
    return Value(pc.coalesce(*together(made, n)), type_, all(value.constant for value in made), shows=made[0].shows,
                 is_choice=True)


def _case(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Pair alternating conditions and values; the rest is the ELSE."""
    whens, (*thens, otherwise) = arguments[:-1:2], [*arguments[1:-1:2], arguments[-1]]
    made, type_ = one_of([*thens, otherwise], session)
    constant = all(value.constant for value in arguments)
    arrays = together([*(replace(when, values=as_truth(when, session)) for when in whens), *made], n)
    conditions, choices = arrays[:len(whens)], arrays[len(whens):]
    result = choices[-1]
    for condition, choice in reversed(list(zip(conditions, choices[:-1], strict=True))):
        result = pc.if_else(condition.fill_null(False), choice, result)
    return Value(result, type_, constant, shows=made[0].shows, is_choice=True)


def _if(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    return _case(arguments, call, session, n)


def _between(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value, low, high = arguments
    sides = [FUNCTIONS[name]([value, bound], Call(name), session, n) for name, bound in ((">=", low), ("<=", high))]
    return _logic(pc.and_kleene)(sides, call, session, n)


def _simple_case(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Simple CASE: a value, then alternating values to compare with and results; the rest is the ELSE."""
    subject, *branches = arguments
    branches[:-1:2] = [FUNCTIONS["="]([subject, when], Call("="), session, n) for when in branches[:-1:2]]
    return _case(branches, call, session, n)


def _null_if(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    left, right = arguments
    same = _compared(pc.equal)([left, right], Call("="), session, n)
    if left.type.base in {*INTEGERS, "year", "float"}:  # a number, which no longer shows as a column's
        left = numbers(as_number(left, session), constant=left.constant)
    [values, equal] = together([left, replace(same, values=as_truth(same, session))], n)
    nulls = pa.scalar(None, values.type)
    return replace(left, values=pc.if_else(equal.fill_null(False), nulls, values),
                   constant=left.constant and right.constant, is_column=False, is_choice=True)


FUNCTIONS: dict[str, Function] = {
    "+": _arithmetic(_summed(pc.add), pc.add, zeros=False),
    "-": _arithmetic(_summed(pc.subtract), pc.subtract, zeros=False),
    "*": _arithmetic(_multiplied, pc.multiply, zeros=False),
    "/": _quotient,
    "DIV": _arithmetic(lambda left, right: _divided(left, right)[0].cast(WHOLE), None),
    "MOD": _arithmetic(lambda left, right: _divided(left, right)[1].cast(WHOLE), None),
    "NEG": _arithmetic(pc.negate, pc.negate), "ABS": _arithmetic(pc.abs, pc.abs),
    "FLOOR": _arithmetic(lambda values: pc.floor(values).cast(WHOLE), pc.floor),
    "CEILING": _of_no_fraction(_arithmetic(lambda values: pc.ceil(values).cast(WHOLE), pc.ceil)),
    "ROUND": _of_no_fraction(_round),
    "AND": _logic(pc.and_kleene), "OR": _logic(pc.or_kleene), "NOT": _logic(pc.invert), "XOR": _logic(pc.xor),
    "ISNULL": _is_null, "=": _compared(pc.equal), "<>": _compared(pc.not_equal), "<": _compared(pc.less),
    "<=": _compared(pc.less_equal), ">": _compared(pc.greater), ">=": _compared(pc.greater_equal),
    "<=>": _compared(_null_safe_equal), "IN": _in, "BETWEEN": _between,
    "COALESCE": _coalesce, "IFNULL": _coalesce, "CASE": _case, "SIMPLE CASE": _simple_case, "IF": _if,
    "NULLIF": _null_if,
}
