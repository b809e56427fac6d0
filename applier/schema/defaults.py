"""The implicit default of NOT NULL columns, and the default that a FLOAT keeps when its table is defined again.

Source: MySQL manual, "Data Type Default Values"; judged by both servers.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values.zero_dates import DAY, ZERO_DAY
from applier.schema.table_parts import Column, Default
from applier.sql.casting.shown_numbers import shown
from applier.sql.literals import convert
from applier.sql.same_expressions import literal_of


def implicit_scalar(column_type: ColumnType, flavour: str) -> pa.Scalar:
    """Return the implicit default as a scalar of `arrow_type`: zero, the empty value, the first member."""
    return pa.scalar(IMPLICIT[column_type.entry.family](column_type, flavour), type=arrow_type(column_type))


def _zero(column_type: ColumnType, flavour: str) -> Any:
    return convert(Decimal(0), column_type, flavour)


def _zero_datetime(column_type: ColumnType, flavour: str) -> int:
    return ZERO_DAY * DAY


def _nothing(column_type: ColumnType, flavour: str) -> str:
    return column_type.entry.implicit


def _bytes(column_type: ColumnType, flavour: str) -> bytes:
    return bytes(column_type.length or 0) if column_type.base == "binary" else b""


def _vector(column_type: ColumnType, flavour: str) -> list[float]:
    """MariaDB's has all its numbers."""
    return [0.0] * (column_type.length or 0) if flavour == "mariadb" else []


def _member(column_type: ColumnType, flavour: str) -> str:
    return column_type.members[0] if column_type.base == "enum" else ""


IMPLICIT: dict[Family, Callable[[ColumnType, str], Any]] = {
    Family.INTEGER: _zero, Family.DECIMAL: _zero, Family.FLOATING: _zero, Family.BIT: _zero, Family.YEAR: _zero,
    Family.DATE: lambda *_: ZERO_DAY, Family.DATETIME: _zero_datetime, Family.TIME: _zero, Family.TEXT: _nothing,
    Family.BYTES: _bytes, Family.MEMBERS: _member, Family.DOCUMENT: _nothing, Family.GEOMETRY: _bytes,
    Family.NETWORK: _nothing, Family.VECTOR: _vector,
}
"""The value of a NOT NULL column without a DEFAULT if strict mode does not forbid it, by type and flavour."""


def read_again(column: Column, flavour: str) -> Column:
    """Return a column whose table is altered, or made like another: the server writes a FLOAT's default with six
    digits, and reads it again. MariaDB keeps a literal in parentheses as a literal, MySQL as an expression."""
    default = column.default
    if column.type.base != "float" or default is None:
        return column
    said = literal_of(default.text) if default.kind == "expression" and flavour == "mariadb" else default
    if said is None or said.kind not in ("number", "string"):
        return column
    before = pa.array([convert(said.text, column.type, flavour)], arrow_type(column.type))
    [text] = shown(before, column.type, flavour).to_pylist()
    after = pa.array([convert(text, column.type, flavour)], before.type)
    return column if after == before else replace(column, default=Default("number", text))
