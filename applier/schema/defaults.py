"""What an INSERT that leaves a column out gets: the replica's own default (DEF-R1a, DEF-R1b).

Source: MySQL manual, "Data Type Default Values": the DEFAULT clause, else NULL, else the type's implicit default.
"""

from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from applier.errors import NotComputable, SchemaError
from applier.schema.constant import NotConstant, evaluate
from applier.schema.definition import Column, Default, TableDefinition
from applier.schema.literals import convert
from applier.schema.types import BINARY, GEOMETRY, ColumnType, arrow_type
from applier.schema.zero_dates import DATES, DAY, ZERO_DAY

_IMPLICIT_TEXT = {"inet4": "0.0.0.0", "inet6": "::", "uuid": "00000000-0000-0000-0000-000000000000", "json": "null"}


def default_scalar(column: Column, definition: TableDefinition) -> pa.Scalar:
    """The column's default as a scalar of `arrow_type`.

    Raises SchemaError, naming the column, where the value is not the same for every row and time: CURRENT_TIMESTAMP,
    generated columns, expressions that are not constant.
    """
    try:
        value = _python_value(column, definition)
        return pa.scalar(value, type=arrow_type(column.type))
    except (NotConstant, ValueError, InvalidOperation, OverflowError, pa.ArrowException) as error:
        raise SchemaError(
            f"an INSERT leaves out column {column.name}, and its default cannot be computed: {error or column.default}",
            table=definition.full_name,
            hint="replay logs written with binlog_row_image=FULL, or leave the table out with --ignore-tables",
        ) from None


def implicit_scalar(column_type: ColumnType, flavour: str) -> pa.Scalar:
    """The value of a NOT NULL column that has none, as a scalar of `arrow_type`: zero, nothing, the first member."""
    return pa.scalar(_implicit(column_type, flavour), type=arrow_type(column_type))


def _python_value(column: Column, definition: TableDefinition) -> Any:
    default, flavour = column.default, definition.flavour
    if column.generated:
        raise NotConstant(f"it is generated from ({column.expression})")
    if column.auto_increment:
        raise NotConstant("it is AUTO_INCREMENT")
    if default is None:
        return None if column.nullable else _implicit(column.type, flavour)
    if default.kind == "null":
        return None
    if default.kind == "now":
        raise NotConstant(f"it is {default.text}")
    if default.kind == "local" and not default.text.startswith("0000"):
        raise NotConstant(f"{default.text!r} is in the server's own time zone, which the log does not tell, "
                          "and --system-time-zone can")
    if default.kind == "expression":
        value = _expression(default.text, column, definition)
    else:
        value = _literal(default)
    return None if value is None else convert(value, column.type, flavour)


def _expression(sql: str, column: Column, definition: TableDefinition) -> Any:
    """An expression's value; other columns are in it with their defaults, as a replica computes it before the row's
    values are there."""
    try:
        return evaluate(sql)
    except NotConstant:
        from applier.conversion import expressions

        def known(name: str) -> tuple[pa.Array, ColumnType]:
            other = definition.column(name)
            if other is column:
                raise NotConstant(f"it is made of itself: ({sql})") from None
            scalar = implicit_scalar(other.type, flavour=definition.flavour) if other.auto_increment else \
                default_scalar(other, definition)
            return pa.repeat(scalar, 1), other.type

        try:
            values, _ = expressions.evaluate(sql, known, 1)
        except NotComputable:
            raise NotConstant(f"({sql})") from None
        return values[0].as_py()


def _literal(default: Default) -> str | bytes | Decimal | float:
    if default.kind == "bytes":
        return bytes.fromhex(default.text)
    if default.kind == "number":
        return float(default.text) if "e" in default.text.lower() else Decimal(default.text)
    return default.text


def _implicit(column_type: ColumnType, flavour: str) -> Any:
    """The value that a NOT NULL column without a DEFAULT takes where strict mode does not forbid it."""
    base = column_type.base
    if base in DATES:
        return ZERO_DAY if base == "date" else ZERO_DAY * DAY
    if base == "enum":
        return column_type.members[0]
    if base in _IMPLICIT_TEXT:
        return _IMPLICIT_TEXT[base]
    if base == "vector":
        return []
    if base == "binary":
        return bytes(column_type.length or 0)
    if base in BINARY or base in GEOMETRY:
        return b""
    if base.endswith(("char", "text")) or base == "set":
        return ""
    return convert(Decimal(0), column_type, flavour)
