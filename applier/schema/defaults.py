"""The implicit default of NOT NULL columns.

Source: MySQL manual, "Data Type Default Values".
"""

from decimal import Decimal
from typing import Any

import pyarrow as pa

from applier.mysql.types import BINARY, GEOMETRY, ColumnType, arrow_type
from applier.mysql.zero_dates import DATES, DAY, ZERO_DAY
from applier.sql.literals import convert

_IMPLICIT_TEXT = {"inet4": "0.0.0.0", "inet6": "::", "uuid": "00000000-0000-0000-0000-000000000000", "json": "null"}


def implicit_scalar(column_type: ColumnType, flavour: str) -> pa.Scalar:
    """The implicit default as a scalar of `arrow_type`: zero, the empty value, the first member."""
    return pa.scalar(_implicit(column_type, flavour), type=arrow_type(column_type))


def _implicit(column_type: ColumnType, flavour: str) -> Any:
    """The value of a NOT NULL column without a DEFAULT, if strict mode does not forbid it."""
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
