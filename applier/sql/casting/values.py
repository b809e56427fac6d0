"""Converts columns of values from one type to another, as ALTER TABLE does.

Source: MySQL manual, "Data Types" and "ALTER TABLE Statement"; judged by real servers. A value that does not fit
becomes the nearest one that does, as without strict mode: in strict mode the ALTER fails and is not logged.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql import zero_dates
from applier.mysql.session import Session
from applier.mysql.types import BINARY, GEOMETRY, INTEGERS, ColumnType, arrow_type
from applier.sql.casting import (
    byte_strings,
    geometries,
    invalid_dates,
    members,
    number_texts,
    numbers,
    temporal_numbers,
    temporal_texts,
    temporals,
    texts,
)

_Converter = Callable[[pa.Array, ColumnType, ColumnType, Session], pa.Array]


def _family(base: str) -> str:
    for family, bases in _FAMILIES.items():
        if base in bases:
            return family
    return base


_FAMILIES = {
    "number": {*INTEGERS, "decimal", "float", "double", "bit"}, "bytes": BINARY, "member": {"enum", "set"},
    "text": {"char", "varchar", "tinytext", "text", "mediumtext", "longtext"}, "day": {"date", "datetime", "timestamp"},
    "geometry": GEOMETRY,
}


def convert_values(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Values of `old` as values of `new`, in the types that a snapshot stores.

    Raises NotComputable, with the reason, if this project does not know what the server makes of them.
    """
    if values.null_count == len(values):
        return pa.nulls(len(values), arrow_type(new))
    if zero_dates.has_any(values):
        return invalid_dates.converted(values, old, new, session, convert_values)
    converter = _CONVERTERS.get((_family(old.base), _family(new.base)))
    if converter is None:
        raise NotComputable("it is not known how the server converts its values")
    try:
        return converter(values, old, new, session)
    except pa.ArrowException as error:
        raise NotComputable(str(error)) from None


def _by_text(shown: _Converter, then: _Converter) -> _Converter:
    """Convert values through their text, as the servers show them."""
    def convert(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
        return then(shown(values, old, SHOWN, session), SHOWN, new, session)

    return convert


SHOWN = ColumnType("longtext", charset="utf8mb4")
"""The type of values when they are shown: text of any length."""

_CONVERTERS: dict[tuple[str, str], _Converter] = {
    ("number", "number"): numbers.to_number, ("year", "number"): numbers.to_number,
    ("text", "number"): number_texts.from_text, ("member", "number"): members.to_number,
    ("bytes", "number"): _by_text(byte_strings.as_ascii, number_texts.from_text),
    ("day", "number"): temporal_numbers.to_number, ("time", "number"): temporal_numbers.to_number,

    ("number", "year"): temporal_numbers.to_year, ("text", "year"): temporal_numbers.text_to_year,
    ("member", "year"): temporal_numbers.member_to_year,
    ("bytes", "year"): _by_text(byte_strings.as_ascii, temporal_numbers.text_to_year),
    ("day", "year"): temporal_numbers.datetime_to_year, ("time", "year"): temporal_numbers.datetime_to_year,

    ("number", "text"): number_texts.to_text, ("year", "text"): number_texts.to_text,
    ("text", "text"): texts.to_text, ("member", "text"): texts.to_text, ("bytes", "text"): byte_strings.to_text,
    ("day", "text"): temporal_texts.to_text, ("time", "text"): temporal_texts.to_text, ("json", "text"): texts.to_text,

    ("number", "bytes"): byte_strings.from_number, ("year", "bytes"): byte_strings.from_number,
    ("text", "bytes"): byte_strings.from_text, ("member", "bytes"): byte_strings.from_text,
    ("bytes", "bytes"): byte_strings.to_bytes, ("json", "bytes"): byte_strings.from_text,
    ("day", "bytes"): _by_text(temporal_texts.to_text, byte_strings.from_text),
    ("time", "bytes"): _by_text(temporal_texts.to_text, byte_strings.from_text),

    ("number", "member"): members.from_number, ("year", "member"): members.from_number,
    ("text", "member"): members.from_text, ("member", "member"): members.from_text,
    ("bytes", "member"): _by_text(byte_strings.as_ascii, members.from_text),
    ("day", "member"): _by_text(temporal_texts.to_text, members.from_text),
    ("time", "member"): _by_text(temporal_texts.to_text, members.from_text),

    ("number", "day"): temporal_numbers.to_datetime, ("year", "day"): temporal_numbers.to_datetime,
    ("text", "day"): temporal_texts.to_datetime, ("member", "day"): temporal_texts.to_datetime,
    ("bytes", "day"): _by_text(byte_strings.as_ascii, temporal_texts.to_datetime),
    ("day", "day"): temporals.to_datetime, ("time", "day"): temporals.to_datetime,

    ("number", "time"): temporal_numbers.to_time, ("year", "time"): temporal_numbers.to_time,
    ("text", "time"): temporal_texts.to_time, ("member", "time"): temporal_texts.to_time,
    ("bytes", "time"): _by_text(byte_strings.as_ascii, temporal_texts.to_time),
    ("day", "time"): temporals.to_time, ("time", "time"): temporals.to_time,

    ("geometry", "geometry"): geometries.to_geometry,

    ("text", "json"): texts.to_json, ("member", "json"): texts.to_json,
    ("number", "json"): _by_text(number_texts.to_text, texts.to_json),
    ("year", "json"): _by_text(number_texts.to_text, texts.to_json),
}
