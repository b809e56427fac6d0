"""SQL expressions over whole columns of rows, as far as this project can compute them: those of generated columns and
of partitions.

Exact numbers (columns of integers and DECIMALs) with + - * DIV MOD, unary minus, ABS, FLOOR and CEILING; CONCAT, UPPER,
LOWER and CHAR_LENGTH of text; COALESCE and IFNULL; functions of dates (`date_functions`); NULL where an operand is. All
else raises NotComputable. Source: MySQL manual, "Functions and Operators", "Precision Math".
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from applier.conversion.date_functions import DATE_FUNCTIONS, date_function, days_between, seconds_since_epoch
from applier.errors import NotComputable
from applier.schema.types import INTEGERS, ColumnType

Typed = tuple[pa.Array | pa.ChunkedArray, ColumnType]
_TEXT = ColumnType("longtext", charset="utf8mb4")
_WHOLE = pa.decimal128(38, 0)


def evaluate(sql: str, column: Callable[[str], Typed], n: int) -> Typed:
    """The values of an expression for n rows, with the type that the server gives them; `column` finds those that it
    names, or raises KeyError. Raises NotComputable where the expression, or a value in it, is more than is known."""
    import sqlglot  # 0.15 s to import, and few tables need it
    from sqlglot.errors import SqlglotError

    try:
        return _Evaluator(column, n).value(sqlglot.parse_one(sql, dialect="mysql"))
    except (SqlglotError, pa.ArrowException) as error:
        raise NotComputable(str(error).partition("\n")[0]) from None


class _Evaluator:
    def __init__(self, column: Callable[[str], Typed], n: int):
        self._column, self._n = column, n

    def value(self, node: Any) -> Typed:
        kind = type(node).__name__
        if kind in ("Paren", "TsOrDsToDate"):
            return self.value(node.this)
        if kind == "Column":
            return self._named(node)
        if kind == "Literal":
            return self._literal(node)
        if kind == "Introducer":
            return self.value(node.expression)
        if kind in _OF_ONE_NUMBER:
            return _numbers(_OF_ONE_NUMBER[kind](self._number(node.this)))
        if kind in _ARITHMETIC:
            return _numbers(_ARITHMETIC[kind](self._number(node.this), self._number(node.expression)))
        if kind in _TEXT_FUNCTIONS:
            return getattr(self, _TEXT_FUNCTIONS[kind])(node)
        if kind == "Coalesce":
            return self._coalesce(node)
        return self._of_dates(node)

    def _named(self, node: Any) -> Typed:
        try:
            return self._column(node.name)
        except KeyError:
            raise NotComputable(f"there is no column {node.name}") from None

    def _literal(self, node: Any) -> Typed:
        if node.is_string:
            return pa.repeat(pa.scalar(node.this, pa.string()), self._n), _TEXT
        if "e" in node.this.lower():
            raise _unknown(node)
        number = Decimal(node.this)
        scale = max(0, -int(number.as_tuple().exponent))
        return _numbers(pa.repeat(pa.scalar(number, pa.decimal128(38, scale)), self._n))

    def _number(self, node: Any) -> pa.Array | pa.ChunkedArray:
        values, _ = self.value(node)
        if pa.types.is_integer(values.type):
            return values.cast(_WHOLE)
        if pa.types.is_decimal(values.type):
            return values.cast(pa.decimal128(38, values.type.scale))
        raise NotComputable(f"{_sql(node)} is no exact number")

    def _text(self, node: Any) -> Typed:
        values, found = self.value(node)
        if pa.types.is_integer(values.type) and found.base in INTEGERS and not found.zerofill:
            return values.cast(pa.string()), _TEXT
        if not pa.types.is_string(values.type):
            raise NotComputable(f"{_sql(node)} as text")
        return values, found

    def _upper_or_lower(self, node: Any) -> Typed:
        values, found = self._text(node.this)
        if not pc.all(pc.string_is_ascii(values)).as_py():
            raise NotComputable(f"{_sql(node)} of text that is not ASCII")
        return (pc.utf8_upper if type(node).__name__ == "Upper" else pc.utf8_lower)(values), found

    def _concat(self, node: Any) -> Typed:
        return pc.binary_join_element_wise(*(self._text(part)[0] for part in node.expressions), ""), _TEXT

    def _length(self, node: Any) -> Typed:
        if node.args.get("binary"):
            raise NotComputable(f"{_sql(node)}, a number of bytes")
        return _numbers(pc.utf8_length(self._text(node.this)[0]).cast(_WHOLE))

    def _coalesce(self, node: Any) -> Typed:
        parts = [self.value(part) for part in (node.this, *node.expressions)]
        if all(pa.types.is_string(values.type) for values, _ in parts):
            return pc.coalesce(*(values for values, _ in parts)), _TEXT
        if any(pa.types.is_string(values.type) for values, _ in parts):
            raise NotComputable(f"{_sql(node)} of different types")
        numbers = [self._number(part) for part in (node.this, *node.expressions)]
        scale = max(values.type.scale for values in numbers)
        return _numbers(pc.coalesce(*(values.cast(pa.decimal128(38, scale)) for values in numbers)))

    def _of_dates(self, node: Any) -> Typed:
        kind = type(node).__name__
        if kind == "Anonymous" and len(node.expressions) == 1:
            kind, arguments = node.this.upper(), node.expressions
        elif kind == "Extract":
            kind, arguments = node.this.name.upper(), [node.expression]
        elif kind == "DateDiff":
            return _numbers(days_between(*(self.value(side) for side in (node.this, node.expression))).cast(_WHOLE))
        else:
            arguments = [node.this]
        if kind == "UNIX_TIMESTAMP":
            return _numbers(seconds_since_epoch(self.value(arguments[0])).cast(_WHOLE))
        if kind.upper() not in DATE_FUNCTIONS:
            raise _unknown(node)
        values, found = self.value(arguments[0])
        if found.base not in ("date", "datetime"):
            raise _unknown(node)
        return _numbers(date_function(kind.upper(), values).cast(_WHOLE))


def _sql(node: Any) -> str:
    return node.sql(dialect="mysql")


def _unknown(node: Any) -> NotComputable:
    return NotComputable(_sql(node))


def _numbers(values: pa.Array | pa.ChunkedArray) -> Typed:
    return values, ColumnType("decimal", precision=38, scale=values.type.scale)


def _multiplied(left: pa.Array, right: pa.Array) -> pa.Array:
    """Arrow wants room for the product of all digits; what does not fit in 38 raises ArrowInvalid."""
    scale = left.type.scale + right.type.scale
    wide = pc.multiply(*(side.cast(pa.decimal256(37, side.type.scale)) for side in (left, right)))
    return wide.cast(pa.decimal128(38, scale))


def _summed(function: Callable) -> Callable:
    def summed(left: pa.Array, right: pa.Array) -> pa.Array:
        scale = max(left.type.scale, right.type.scale)
        wide = function(*(side.cast(pa.decimal256(60, scale)) for side in (left, right)))
        return wide.cast(pa.decimal128(38, scale))

    return summed


def _divided(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Quotients of whole numbers, rounded towards zero, and remainders, which have the dividend's sign; NULL for 0."""
    if left.type.scale or right.type.scale:
        raise NotComputable("DIV and MOD of numbers with a fraction")
    left, right = left.cast(pa.int64()), right.cast(pa.int64())
    right = pc.if_else(pc.equal(right, 0), pa.scalar(None, pa.int64()), right)
    quotients = pc.divide_checked(left, right)
    return quotients, pc.subtract(left, pc.multiply(quotients, right))


_OF_ONE_NUMBER = {"Neg": pc.negate, "Abs": pc.abs, "Floor": lambda values: pc.floor(values).cast(_WHOLE),
                  "Ceil": lambda values: pc.ceil(values).cast(_WHOLE)}
_ARITHMETIC = {
    "Add": _summed(pc.add), "Sub": _summed(pc.subtract), "Mul": _multiplied,
    "IntDiv": lambda left, right: _divided(left, right)[0].cast(_WHOLE),
    "Mod": lambda left, right: _divided(left, right)[1].cast(_WHOLE),
}
_TEXT_FUNCTIONS = {"Upper": "_upper_or_lower", "Lower": "_upper_or_lower", "Concat": "_concat", "Length": "_length"}
