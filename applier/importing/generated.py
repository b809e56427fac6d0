"""STORED generated columns of rows that come without them: their expressions over whole columns.

Understood are columns, literals, + - * over whole numbers, CONCAT, LOWER, UPPER, CHAR_LENGTH, COALESCE and IFNULL, and
YEAR, MONTH and DAY of dates. Source: MySQL manual, "CREATE TABLE
and Generated Columns".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import SchemaError
from applier.schema.definition import Column, TableDefinition
from applier.schema.types import arrow_type

_Values = pa.Array | pa.Scalar


def generated_values(column: Column, definition: TableDefinition, rows: Mapping[str, pa.Array],
                     n_rows: int) -> pa.Array:
    """The values of a generated column, given those that it is made of. Raises SchemaError, naming the column, where
    its expression is more than this module understands, or a value does not fit."""
    import sqlglot  # 0.15 s to import, and few tables need it
    from sqlglot.errors import SqlglotError

    by_name = {name.casefold(): values for name, values in rows.items()}
    try:
        values = _value(sqlglot.parse_one(column.expression, dialect="mysql"), by_name)
        wanted = arrow_type(column.type)
        return pa.repeat(values.cast(wanted), n_rows) if isinstance(values, pa.Scalar) else values.cast(wanted)
    except (SqlglotError, _NotUnderstood, pa.ArrowException) as error:
        raise SchemaError(f"the dump leaves out the generated column {column.name}, and ({column.expression}) cannot "
                          f"be computed: {str(error).splitlines()[0]}", table=definition.full_name,
                          hint="leave the table out with --ignore-tables") from None


class _NotUnderstood(Exception):
    """The expression, or a part of it."""


def _value(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
    evaluate = _EVALUATORS.get(type(node).__name__)
    if evaluate is None:
        raise _NotUnderstood(node.sql(dialect="mysql"))
    return evaluate(node, rows)


def _column(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
    try:
        return rows[node.name.casefold()]
    except KeyError:
        raise _NotUnderstood(f"there is no column {node.name}") from None


def _literal(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
    if node.is_string:
        return pa.scalar(node.this)
    if not node.this.isdigit():
        raise _NotUnderstood(node.sql(dialect="mysql"))
    return pa.scalar(int(node.this), pa.int64())


def _arithmetic(compute: Callable[[_Values, _Values], _Values]) -> Callable[[Any, Mapping[str, pa.Array]], _Values]:
    def evaluate(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
        return compute(_whole(node.this, rows), _whole(node.expression, rows))

    return evaluate


def _whole(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
    values = _value(node, rows)
    if not pa.types.is_integer(values.type):
        raise _NotUnderstood(f"{node.sql(dialect='mysql')} is no whole number")
    return values.cast(pa.int64())


def _text(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
    values = _value(node, rows)
    if not (pa.types.is_integer(values.type) or pa.types.is_string(values.type)):
        raise _NotUnderstood(f"{node.sql(dialect='mysql')} as text")
    return values.cast(pa.string())


def _date_part(compute: Callable[[_Values], _Values]) -> Callable[[Any, Mapping[str, pa.Array]], _Values]:
    def evaluate(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
        inner = node.this.this if type(node.this).__name__ == "TsOrDsToDate" else node.this
        values = _value(inner, rows)
        if not (pa.types.is_date(values.type) or (pa.types.is_timestamp(values.type) and values.type.tz is None)):
            raise _NotUnderstood(f"{node.sql(dialect='mysql')} of what is no date")
        return compute(values)

    return evaluate


def _length(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
    if node.args.get("binary"):
        raise _NotUnderstood(f"{node.sql(dialect='mysql')}, a number of bytes")
    return pc.utf8_length(_text(node.this, rows))


def _coalesce(node: Any, rows: Mapping[str, pa.Array]) -> _Values:
    values = [_value(part, rows) for part in (node.this, *node.expressions)]
    if all(pa.types.is_integer(value.type) for value in values):
        return pc.coalesce(*(value.cast(pa.int64()) for value in values))
    if len({value.type for value in values}) > 1:
        raise _NotUnderstood(f"{node.sql(dialect='mysql')} of different types")
    return pc.coalesce(*values)


_EVALUATORS: dict[str, Callable[[Any, Mapping[str, pa.Array]], _Values]] = {
    "Paren": lambda node, rows: _value(node.this, rows),
    "Column": _column,
    "Literal": _literal,
    "Neg": lambda node, rows: pc.negate_checked(_whole(node.this, rows)),
    "Add": _arithmetic(pc.add_checked),
    "Sub": _arithmetic(pc.subtract_checked),
    "Mul": _arithmetic(pc.multiply_checked),
    "Coalesce": _coalesce,
    "Year": _date_part(pc.year),
    "Month": _date_part(pc.month),
    "DayOfMonth": _date_part(pc.day),
    "Length": _length,
    "Introducer": lambda node, rows: _value(node.expression, rows),
    "Concat": lambda node, rows: pc.binary_join_element_wise(*(_text(part, rows) for part in node.expressions), ""),
    "Lower": lambda node, rows: pc.utf8_lower(_text(node.this, rows)),
    "Upper": lambda node, rows: pc.utf8_upper(_text(node.this, rows)),
}
