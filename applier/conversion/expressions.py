"""Expressions of generated columns over whole columns of rows, as far as this project can compute them.

Exact numbers, columns of integers and DECIMALs with + - * and unary minus; CONCAT, UPPER and LOWER of text; YEAR, MONTH
and DAYOFMONTH of dates; NULL where an operand is. All else raises NotImplementedError.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from applier.schema.types import ColumnType

Typed = tuple[pa.Array | pa.ChunkedArray, ColumnType]


def evaluate(sql: str, column: Callable[[str], Typed], n: int) -> Typed:
    """The values of an expression for n rows, with the type that the server gives them; `column` finds those that it
    names."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(sql, dialect="mysql")
    except SqlglotError as error:
        raise NotImplementedError(str(error).partition("\n")[0]) from None
    return _Evaluator(column, n).value(tree)


class _Evaluator:
    def __init__(self, column: Callable[[str], Typed], n: int):
        self._column, self._n = column, n

    def value(self, node: Any) -> Typed:
        kind = type(node).__name__
        if kind == "Paren":
            return self.value(node.this)
        if kind == "Column":
            return self._column(node.name)
        if kind == "Literal":
            return self._literal(node)
        if kind == "Neg":
            values, _ = self._number(node.this)
            return _numbers(pc.negate(values))
        if kind in _ARITHMETIC:
            left, right = (self._number(side)[0] for side in (node.this, node.expression))
            return _numbers(_ARITHMETIC[kind](left, right))
        if kind in ("Upper", "Lower"):
            values, text_type = self._text(node.this)
            if not pc.all(pc.string_is_ascii(values)).as_py():
                raise NotImplementedError(f"{kind.upper()} of text that is not ASCII")
            return (pc.utf8_upper if kind == "Upper" else pc.utf8_lower)(values), text_type
        if kind == "Concat":
            parts = [self._text(part)[0] for part in node.expressions]
            return pc.binary_join_element_wise(*parts, ""), ColumnType("longtext", charset="utf8mb4")
        if kind in _OF_DATES:
            values, found = self.value(node.this.this if type(node.this).__name__ == "TsOrDsToDate" else node.this)
            if found.base not in ("date", "datetime"):
                raise NotImplementedError(node.sql(dialect="mysql"))
            return _numbers(_OF_DATES[kind](values).cast(pa.decimal128(38, 0)))
        raise NotImplementedError(node.sql(dialect="mysql"))

    def _literal(self, node: Any) -> Typed:
        if node.is_string:
            return pa.repeat(pa.scalar(node.this, pa.string()), self._n), ColumnType("longtext", charset="utf8mb4")
        if "e" in node.this.lower():
            raise NotImplementedError(node.sql(dialect="mysql"))
        number = Decimal(node.this)
        scale = max(0, -int(number.as_tuple().exponent))
        return _numbers(pa.repeat(pa.scalar(number, pa.decimal128(38, scale)), self._n))

    def _number(self, node: Any) -> Typed:
        values, found = self.value(node)
        if pa.types.is_integer(values.type):
            return values.cast(pa.decimal128(38, 0)), found
        if pa.types.is_decimal(values.type):
            return values.cast(pa.decimal128(38, values.type.scale)), found
        raise NotImplementedError(f"{node.sql(dialect='mysql')} is no exact number")

    def _text(self, node: Any) -> Typed:
        values, found = self.value(node)
        if not pa.types.is_string(values.type):
            if not pa.types.is_integer(values.type):
                raise NotImplementedError(f"{node.sql(dialect='mysql')} as text")
            return values.cast(pa.string()), ColumnType("longtext", charset="utf8mb4")
        return values, found


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


_ARITHMETIC = {"Add": _summed(pc.add), "Sub": _summed(pc.subtract), "Mul": _multiplied}
_OF_DATES = {"Year": pc.year, "Month": pc.month, "Day": pc.day, "DayOfMonth": pc.day}
