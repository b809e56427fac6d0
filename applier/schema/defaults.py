"""The implicit default of NOT NULL columns, the default that a FLOAT keeps when its table is defined again, and what
columns keep of DATE'…', TIME'…' and TIMESTAMP'…'.

Source: MySQL manual, "Data Type Default Values"; judged by both servers.
"""

import datetime
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.type_registry import Family
from applier.mysql.types import DATES, NUMBERS, ColumnType, arrow_type
from applier.mysql.values.zero_dates import DAY, ZERO_DAY
from applier.schema.table_parts import Column, Default
from applier.sql.assignment.conversion import assigned
from applier.sql.casting.shown_numbers import shown
from applier.sql.evaluator import evaluate, no_columns
from applier.sql.literals import convert
from applier.sql.same_expressions import literal_of
from applier.sql.tokens import tokenize
from applier.sql.values import as_text


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
    """Return the default of a VECTOR; MariaDB's has all its numbers."""
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


TEMPORAL_LITERALS = ("DATE", "TIME", "TIMESTAMP")
"""Words before the text of a literal with a type."""


def is_temporal_literal(sql: str) -> bool:
    """Return whether an expression is DATE'…', TIME'…' or TIMESTAMP'…'."""
    words = tokenize(sql)
    return [token.kind for token in words] == ["word", "string", "end"] and words[0].keyword in TEMPORAL_LITERALS


def of_temporal_literal(default: Default, column_type: ColumnType, session: Session) -> Default:
    """Return DATE'…', TIME'…' or TIMESTAMP'…' as a column keeps it: in MariaDB a number or a time, where the column has
    those, else the text of the value. Other defaults, and those whose value is unknown, are unchanged."""
    if not is_temporal_literal(default.text):
        return default
    word, *_ = tokenize(default.text)
    base, is_time = column_type.base, word.keyword == "TIME"
    if session.flavour == "mysql" or (is_time and base in DATES | {"year"}):
        return default
    try:
        value = evaluate(default.text, no_columns, 1, session)
        if value.values.null_count:
            return default  # in a form that is not known: reported when the value is needed
        if base not in NUMBERS and (base != "time" or is_time):
            return Default("string", as_text(value, session)[0].as_py())
        [made] = assigned(value, column_type, session).to_pylist()
    except NotComputable:
        return default
    if base == "time":
        return Default("string", str((datetime.datetime.min + made).time()))
    return Default("number", format(Decimal(made), "f"))
