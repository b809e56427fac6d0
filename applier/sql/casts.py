"""CAST and CONVERT over whole columns.

Source: MySQL manual, "Cast Functions and Operators".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql import decimals, zero_dates
from applier.mysql.session import Session
from applier.mysql.types import TEMPORAL, ColumnType
from applier.sql.casting.values import convert_values
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    DOUBLE,
    JSON,
    TEXT,
    WHOLE_NUMBER,
    Value,
    as_bytes,
    as_number,
    as_text,
    converted,
    numbers,
)

_TYPE = re.compile(r"(\w+)(?: ?\((\d+)(?: ?, ?(\d+))?\))?(?: INTEGER| INT)?")
_Cast: TypeAlias = Callable[[Value, int | None, int | None, Session], Value]
_WHOLE = r"^\s*-?\d{1,18}$"


def cast(value: Value, call: Call, session: Session) -> Value:
    """A value as the words after AS, or USING, say. Raises NotComputable."""
    if call.word in ("CHARSET UTF8MB4", "CHARSET utf8mb4", "CHAR CHARSET UTF8MB4", "CHAR CHARACTER SET UTF8MB4"):
        return Value(as_text(value, session), TEXT, value.constant)
    match = _TYPE.fullmatch(call.word)
    if match is None or match[1] not in _CASTS:
        raise NotComputable(f"CAST to {call.word}")
    size, scale = (int(part) if part else None for part in match.groups()[1:])
    made = _CASTS[match[1]](value, size, scale, session)
    return Value(made.values, made.type, value.constant)


def _char(value: Value, size: int | None, _: int | None, session: Session) -> Value:
    text = as_text(value, session)
    return Value(text if size is None else pc.utf8_slice_codeunits(text, 0, size), TEXT)


def _binary(value: Value, size: int | None, _: int | None, session: Session) -> Value:
    if size is not None:
        raise NotComputable("CAST to so many bytes")
    return Value(as_bytes(value, session), BYTES)


def _signed(value: Value, size: int | None, _: int | None, session: Session) -> Value:
    if value.is_text:
        if pc.all(pc.match_substring_regex(value.values, _WHOLE)).as_py() is False:
            raise NotComputable("CAST of text that is not a whole number")
        return numbers(value.values.cast(pa.int64()), constant=value.constant)
    found = as_number(converted(value, WHOLE_NUMBER, session) if value.type.base in TEMPORAL else value, session)
    if pa.types.is_floating(found.type):
        raise NotComputable("CAST of doubles to whole numbers")
    return numbers(decimals.rounded(found, 0), constant=False)


def _unsigned(value: Value, size: int | None, scale: int | None, session: Session) -> Value:
    made = _signed(value, size, scale, session)
    if pc.any(pc.less(made.values, 0)).as_py():
        raise NotComputable("CAST of negative numbers to UNSIGNED")
    return made


def _decimal(value: Value, size: int | None, scale: int | None, session: Session) -> Value:
    type_ = ColumnType("decimal", precision=size or 10, scale=scale or 0)
    if value.type.base == "json":
        raise NotComputable("CAST of a document to DECIMAL")
    source = Value(as_number(value, session), DOUBLE if value.type.base == "double" else value.type)
    if value.is_text:
        made = convert_values(value.values, value.type, type_, session)
    else:
        old = DOUBLE if pa.types.is_floating(source.values.type) else \
            ColumnType("decimal", precision=38, scale=source.values.type.scale)
        made = convert_values(source.values, old, type_, session)
    return Value(made, type_)


def _double(value: Value, size: int | None, scale: int | None, session: Session) -> Value:
    if size is not None:
        raise NotComputable("CAST to a floating-point type with digits")
    found = as_number(value, session)
    return Value(found.cast(pa.string()).cast(pa.float64()) if pa.types.is_decimal(found.type) else found, DOUBLE)


def _datetime_cast(base: str) -> _Cast:
    def made(value: Value, size: int | None, _: int | None, session: Session) -> Value:
        type_ = ColumnType(base, fsp=size or 0)
        if value.type.base not in TEMPORAL and not value.is_text:
            raise NotComputable(f"CAST of a value that is not a date to {base.upper()}")
        if value.type.base in TEMPORAL and value.type.fsp > (size or 0):
            raise NotComputable("CAST to fewer digits of a second")
        values = convert_values(value.values, value.type, type_, session)
        if zero_dates.has_any(values) or (base == "time" and value.is_text and not value.constant):
            raise NotComputable(f"CAST of a value that is not a date to {base.upper()}")
        return Value(values, type_)

    return made


def _json(value: Value, size: int | None, _: int | None, session: Session) -> Value:
    if not value.is_text and value.type.base != "json":
        raise NotComputable("CAST of a value that is not text to JSON")
    return Value(convert_values(value.values, TEXT, JSON, session) if value.is_text else value.values, JSON)


_CASTS: dict[str, _Cast] = {
    "CHAR": _char, "VARCHAR": _char, "BINARY": _binary, "SIGNED": _signed, "INT": _signed, "INTEGER": _signed,
    "UNSIGNED": _unsigned, "DECIMAL": _decimal, "DOUBLE": _double, "DATE": _datetime_cast("date"),
    "DATETIME": _datetime_cast("datetime"), "TIME": _datetime_cast("time"), "JSON": _json,
}
