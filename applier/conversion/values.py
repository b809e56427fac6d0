"""Columns of values from one type to another, as an ALTER TABLE converts them.

Source: MySQL manual, "Data Types" and "ALTER TABLE Statement"; judged by real servers. A value that does not fit is
brought to the nearest one that does, as without strict mode: with it, such an ALTER is in no log.
"""

from __future__ import annotations

import pyarrow as pa

from applier.conversion import numbers, temporals, texts
from applier.errors import NotComputable
from applier.schema.conversion import RowConversion
from applier.schema.types import BINARY, CHARACTER, FRACTIONAL, INTEGERS, ColumnType, arrow_type

_NUMBERS = {*INTEGERS, "decimal", "float", "double", "bit"}
_TEXTS = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext"}
_DAYS = {"date", "datetime", "timestamp"}


def convert_values(values: pa.Array, old: ColumnType, new: ColumnType, conversion: RowConversion) -> pa.Array:
    """Values of `old` as values of `new`, in the types that a snapshot keeps them in.

    Raises NotComputable, saying why, where this project does not know what the server makes of them.
    """
    if values.null_count == len(values):
        return pa.nulls(len(values), arrow_type(new))
    try:
        return _converter(old, new)(values, old, new, conversion)
    except pa.ArrowException as error:
        raise NotComputable(str(error)) from None


def _converter(old: ColumnType, new: ColumnType):
    """The function for a pair of types."""
    a, b = old.base, new.base
    if a in _NUMBERS | {"year"} and b in _NUMBERS:
        return numbers.to_number
    if a in _NUMBERS | {"year"} and b in _TEXTS:
        return numbers.to_text
    if a in CHARACTER and b in _TEXTS:
        return texts.to_text
    if a in _TEXTS and b in _NUMBERS:
        return numbers.from_text
    if a in CHARACTER and b in ("enum", "set"):
        return texts.to_members
    if a in BINARY and b in BINARY:
        return texts.to_bytes
    if a in _TEXTS and b == "json":
        return texts.to_json
    if (a in _DAYS and b in _DAYS) or (a == b == "time"):
        return temporals.to_temporal
    if a in _DAYS | FRACTIONAL and b in _TEXTS:
        return temporals.to_text
    if a in _TEXTS and b in _DAYS:
        return temporals.from_text
    if a == "json" and b in _TEXTS and new.charset in ("utf8mb4", "utf8mb3"):
        return texts.to_text
    raise NotComputable("this project does not know how its values are converted")
