"""Literals as columns store them: a default's text, number or bytes becomes a value of the column's type.

Source: MySQL manual, "Literal Values", and the pages of the types; values are rounded and padded as in non-strict mode.
"""

import datetime
import json
import re
import struct
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa

from applier.schema.constant import Value, json_text
from applier.schema.types import BINARY, GEOMETRY, INTEGERS, ColumnType, arrow_type

# Literals of bytes in a column with characters are in its character set; those in other sets are refused.
_CODECS = {"utf8mb4": "utf-8", "utf8mb3": "utf-8", "ascii": "ascii", "latin1": "cp1252"}
_DIGITS = Context(prec=100)  # a DECIMAL has up to 65, more than the default context keeps


def convert(value: Value, column_type: ColumnType) -> Any:
    """A literal's value as a column of that type stores it: rounded, padded, looked up.

    Raises ValueError (or what Decimal raises) where the text is none of the type's.
    """
    base = column_type.base
    if isinstance(value, bool):
        value = str(int(value)) if base != "json" else value
    if base == "json":
        return json_text(json.loads(value) if isinstance(value, str) else value)
    if base in INTEGERS or base == "bit":
        return _integer(value, base)
    if base == "decimal":
        return _decimal(value, column_type)
    if base in ("float", "double"):
        number = float(value)
        return number if column_type.scale is None else round(number, column_type.scale)
    if base in BINARY or base in GEOMETRY:
        data = value if isinstance(value, bytes) else _text(value, column_type).encode()
        return data.ljust(column_type.length or 0, b"\0") if base == "binary" else data
    if base == "vector":
        if not isinstance(value, bytes) or len(value) % 4:
            raise ValueError(f"{value!r} is no vector")
        return list(struct.unpack(f"<{len(value) // 4}f", value))
    text = _text(value, column_type)
    if base in _FROM_TEXT:
        return _FROM_TEXT[base](text, column_type)
    return text.rstrip(" ") if base == "char" else text


def _text(value: Value, column_type: ColumnType) -> str:
    if isinstance(value, bytes):
        codec = _CODECS.get(column_type.charset or "utf8mb4")
        if codec is None:
            raise ValueError(f"the literal's bytes are in {column_type.charset}")
        return value.decode(codec)
    return format(value, "f") if isinstance(value, Decimal) else value if isinstance(value, str) else json_text(value)


def _integer(value: Value, base: str) -> Decimal:
    if isinstance(value, bytes):
        return Decimal(int.from_bytes(value, "big"))
    if base == "bit" and isinstance(value, str) and not re.fullmatch(r"[+-]?[\d.]+", value):
        return Decimal(int.from_bytes(value.encode(), "big"))
    return _whole(Decimal(str(value)))


def _whole(number: Decimal) -> Decimal:
    return number.quantize(Decimal(1), ROUND_HALF_UP)


def _decimal(value: Value, column_type: ColumnType) -> Decimal | str:
    if isinstance(value, bytes):
        value = int.from_bytes(value, "big")
    exponent = Decimal(1).scaleb(-(column_type.scale or 0))
    rounded = Decimal(str(value)).quantize(exponent, ROUND_HALF_UP, _DIGITS)
    return rounded if pa.types.is_decimal(arrow_type(column_type)) else format(rounded, "f")


def _enum(text: str, column_type: ColumnType) -> str:
    found = [member for member in column_type.members if member == text.rstrip(" ")]
    found = found or [member for member in column_type.members if member.casefold() == text.rstrip(" ").casefold()]
    if found:
        return found[0]
    if text.isdigit() and 0 < int(text) <= len(column_type.members):
        return column_type.members[int(text) - 1]
    raise ValueError(f"{text!r} is no member of {column_type.column_type}")


def _set(text: str, column_type: ColumnType) -> str:
    if text.isdigit() and text not in column_type.members:
        chosen = [member for bit, member in enumerate(column_type.members) if int(text) >> bit & 1]
    else:
        wanted = {_enum(word, column_type) for word in text.split(",") if word}
        chosen = [member for member in column_type.members if member in wanted]
    return ",".join(chosen)


_DATE = re.compile(r"(\d{2,4})\D+(\d{1,2})\D+(\d{1,2})|(\d{4}|\d{2})(\d{2})(\d{2})")
_CLOCK = re.compile(r"(\d{1,2})\D+(\d{1,2})(?:\D+(\d{1,2}))?(\.\d*)?|(\d{2})(\d{2})(\d{2})(\.\d*)?")


def _date(text: str, _: ColumnType | None = None) -> datetime.date | None:
    """A date literal; None where its year, month or day is zero."""
    text = text.strip()
    if re.fullmatch(r"0+", text):
        return None
    match = _DATE.match(text if not re.fullmatch(r"\d{12}|\d{14}", text) else text[:-6])
    if match is None:
        raise ValueError(f"{text!r} is no date")
    year, month, day = (part for part in match.groups() if part is not None)
    if int(month) == 0 or int(day) == 0:
        return None
    return datetime.date(_full_year(year), int(month), int(day))


def _full_year(digits: str) -> int:
    year = int(digits)
    return year if len(digits) > 2 else year + (2000 if year < 70 else 1900)


def _datetime(text: str, column_type: ColumnType) -> datetime.datetime | None:
    text = text.strip()
    day = _date(text)
    if day is None:
        return None
    rest = text[-6:] if re.fullmatch(r"\d{12}|\d{14}", text) else text[_DATE.match(text).end():].lstrip(" T")
    clock = _CLOCK.match(rest)
    zone = datetime.UTC if column_type.base == "timestamp" else None
    moment = datetime.datetime(day.year, day.month, day.day, tzinfo=zone)
    if clock is None:
        return moment
    hours, minutes, seconds, fraction = clock.groups()[:4] if clock[1] else clock.groups()[4:]
    return moment + datetime.timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds or 0),
                                       microseconds=_microseconds(fraction, column_type.fsp))


def _microseconds(fraction: str | None, fsp: int) -> int:
    """A fraction of a second, rounded to the column's digits."""
    number = Decimal("0" + (fraction if fraction not in (None, ".") else ".0"))
    return int(number.quantize(Decimal(1).scaleb(-fsp), ROUND_HALF_UP) * 1_000_000)


def _time(text: str, column_type: ColumnType) -> datetime.timedelta:
    match = re.fullmatch(r"(-?)(?:(\d+) )?(?:(\d+):(\d+)(?::(\d+))?|(\d+))(\.\d*)?", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no time")
    sign, days, hours, minutes, seconds, packed, fraction = match.groups()
    if packed is not None:
        packed = packed.zfill(6)
        hours, minutes, seconds = packed[:-4], packed[-4:-2], packed[-2:]
    span = datetime.timedelta(days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=int(seconds or 0),
                              microseconds=_microseconds(fraction, column_type.fsp))
    return -span if sign else span


def _year(text: str, _: ColumnType) -> int:
    """A year of four digits, or of two (1970 to 2069); 0 is the zero year."""
    year = int(text)
    return year if len(text) > 2 or text == "0" else _full_year(text)


_FROM_TEXT = {"enum": _enum, "set": _set, "date": _date, "datetime": _datetime, "timestamp": _datetime, "time": _time,
              "year": _year}
