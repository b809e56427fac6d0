"""Converts literals to what columns store: a default's text, number or bytes becomes a value of the column's type.

Each kind of literal has its own reading: the string '1' in a BIT column is the byte 49 and the number 1 is one; the
string '0' in a YEAR column is 2000. If a server would cut a literal, or takes it only outside of strict mode, it is an
error. Source: MySQL manual, "Literal Values", and the pages of the types; judged by both servers.
"""

import datetime
import math
import re
import struct
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8, text_of_digits
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values import doubles
from applier.mysql.values.temporal_literals import read_date, read_datetime, read_time, read_year
from applier.sql.casting.shown_numbers import written
from jsondiff.text import from_text, to_text
from jsondiff.values import DocumentError

Value = None | bool | int | float | Decimal | str | bytes | bytearray
"""bytes are a literal in hexadecimal digits, which is a number too; a bytearray is a string of bytes."""

_DIGITS = Context(prec=100)  # a DECIMAL has up to 65, more than the default context keeps
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_BLANKS = " \t"
"""Before digits; whether other ones are blanks depends on the type and the character set."""
_LARGEST_FLOAT = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
_MYSQL_CHARACTERS, _MARIADB_CHARACTERS = 22, 331
"""Characters that servers have for a double in a TEXT."""


def convert(value: Value, column_type: ColumnType, flavour: str) -> Any:
    """A literal's value as a column of that type stores it: rounded, padded, looked up.

    A Decimal is an exact number as written, a float one with an exponent, bytes one in bits or hexadecimal digits.
    Raises ValueError (or what Decimal raises) if the type has no such value.
    """
    return READERS[column_type.entry.family](value, column_type, flavour)


def _document(value: Value, column_type: ColumnType, flavour: str) -> str:
    """Text as a document, printed as the server prints it; a number or a boolean is a document itself."""
    if isinstance(value, bytes | bytearray):
        raise ValueError("bytes as a document")
    try:
        return to_text(from_text(value if isinstance(value, str) else _text(value, ColumnType("longtext"))))
    except DocumentError as error:
        raise ValueError(str(error)) from None


def _byte_string(value: Value, column_type: ColumnType, flavour: str) -> bytes:
    data = _data(value, column_type)
    _check_length(len(data), column_type)
    return data.ljust(column_type.length or 0, b"\0") if column_type.base == "binary" else data


def _characters(value: Value, column_type: ColumnType, flavour: str) -> str:
    text = _text(value, column_type)
    text = text.rstrip(" ") if column_type.base == "char" else text
    _check_length(len(text), column_type)
    return text


def _vector(value: Value, column_type: ColumnType, flavour: str) -> list[float]:
    if not isinstance(value, bytes | bytearray) or len(value) % 4:
        raise ValueError(f"{value!r} is not a vector")
    return list(struct.unpack(f"<{len(value) // 4}f", value))


def _data(value: Value, column_type: ColumnType) -> bytes:
    return bytes(value) if isinstance(value, bytes | bytearray) else _text(value, column_type).encode()


def _check_length(n: int, column_type: ColumnType) -> None:
    if column_type.length is not None and n > column_type.length:
        raise ValueError(f"it is longer than the column, {column_type.column_type}")


def _text(value: Value, column_type: ColumnType) -> str:
    if isinstance(value, bytes | bytearray):  # in the column's character set
        charset = column_type.charset or "utf8mb4"
        return value.decode() if charset in UTF8 else text_of_digits(bytes(value), charset)
    if isinstance(value, float):
        text = written(value, column_type.length or _MARIADB_CHARACTERS)
        if not column_type.length and len(text) > _MYSQL_CHARACTERS:
            raise ValueError(f"{value!r} is a number with many digits")
        return text
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _number(value: Value) -> Decimal | float:
    """A literal as a number. Bytes that an expression made (bytearray) are text, not a number."""
    if isinstance(value, bytes):
        return Decimal(int.from_bytes(value, "big"))
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip(_BLANKS)):
        return Decimal(value.strip(_BLANKS))
    if isinstance(value, Decimal | float):
        return value
    raise ValueError(f"{value!r} is not a number")


def _integer(value: Value, column_type: ColumnType, flavour: str) -> Decimal:
    number = _whole(_number(value))
    bits = column_type.entry.bits
    least, most = (0, 2**bits - 1) if column_type.unsigned else (-(2**(bits - 1)), 2**(bits - 1) - 1)
    if not least <= number <= most:
        raise ValueError(f"{number} is out of the range of {column_type.column_type}")
    return number


def _whole(number: Decimal | float) -> Decimal:
    """Exact numbers round half away from zero, doubles to even."""
    if isinstance(number, float):
        return Decimal(round(number))
    rounded = number.quantize(Decimal(1), ROUND_HALF_UP, _DIGITS)
    return rounded or Decimal(0)  # no negative zero


def _bits(value: Value, column_type: ColumnType, flavour: str) -> Decimal:
    """A string's bytes are the bits; a negative number is in two's complement, where it has all 64. A double loses its
    fraction."""
    n_bits = column_type.length or 1
    if isinstance(value, float):
        value = Decimal(math.trunc(value))
    data = value.encode() if isinstance(value, str) else value
    number = Decimal(int.from_bytes(data, "big")) if isinstance(data, bytes | bytearray) else _whole(_number(data))
    if n_bits == 64 and -(2**63) <= number < 0:
        number += 2**64
    if not 0 <= number < 2**n_bits:
        raise ValueError(f"{number} is out of the range of {column_type.column_type}")
    return number


def _decimal(value: Value, column_type: ColumnType, flavour: str) -> Decimal | str:
    number, scale = _number(value), column_type.scale or 0
    exact = Decimal(repr(number)) if isinstance(number, float) else number
    rounded = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _DIGITS)
    limit = Decimal(10)**((column_type.precision or 10) - scale)
    if rounded.copy_abs() >= limit or (column_type.unsigned and rounded < 0):
        raise ValueError(f"{rounded} is out of the range of {column_type.column_type}")
    rounded = rounded or rounded.copy_abs()  # no negative zero
    return rounded if pa.types.is_decimal(arrow_type(column_type)) else format(rounded, "f")


def _float(value: Value, column_type: ColumnType, flavour: str) -> float:
    """The exact number -0.0 has no sign; the string '-0' and the double -0e0 have one, but in
    MariaDB and in FLOAT(M,D)."""
    number = float(value if isinstance(value, str) and _NUMBER.fullmatch(value.strip(_BLANKS)) else _number(value))
    if (column_type.unsigned and number < 0) or (column_type.base == "float" and abs(number) > _LARGEST_FLOAT):
        raise ValueError(f"{number} is out of the range of {column_type.column_type}")
    if column_type.scale is not None:
        number = float(doubles.with_digits(np.array([number]), column_type.scale)[0])
        if abs(number) > doubles.largest(column_type):
            raise ValueError(f"{number} is out of the range of {column_type.column_type}")
    return number + 0.0 if flavour == "mariadb" or column_type.scale is not None else number


def _temporal(value: Value, column_type: ColumnType, flavour: str) -> Any:
    if isinstance(value, bytes) and column_type.base == "year":
        value = _whole(_number(value))
    if isinstance(value, float):
        value = Decimal(math.trunc(value) if column_type.base == "year" else repr(value))
    if not isinstance(value, Decimal):
        value = _text(value, column_type)
    instant = _TEMPORAL[column_type.base](value, column_type.fsp, flavour)
    if column_type.base == "timestamp" and not isinstance(instant, int):
        return instant.replace(tzinfo=datetime.UTC)
    return instant


def _labels(value: Value, column_type: ColumnType, flavour: str) -> str:
    if isinstance(value, Decimal) and flavour == "mariadb":
        return by_number(int(value), column_type)
    return (_enum if column_type.base == "enum" else _set)(_text(value, column_type), column_type, flavour)


def _enum(text: str, column_type: ColumnType, flavour: str) -> str:
    label, members = text.rstrip(" "), column_type.members
    if label in members:
        return label
    from applier.mysql.values.members import numbers_of  # with kernels, which a manifest is read without

    try:
        number = numbers_of(pa.array([label]), column_type, flavour).get(label)
    except NotComputable as error:
        raise ValueError(error.message) from None
    if number is None and text.isdigit() and 0 < int(text) <= len(members):
        number = int(text) - 1
    if number is None:
        raise ValueError(f"{text!r} is not a member of {column_type.column_type}")
    return members[number]


def _set(text: str, column_type: ColumnType, flavour: str) -> str:
    """Spaces count except at the end of the last member."""
    if text.isdigit() and text not in column_type.members:
        return by_number(int(text), column_type)
    words = text.rstrip(" ").split(",")
    if any(word.endswith(" ") for word in words):
        raise ValueError(f"{text!r} is not a value of {column_type.column_type}")
    wanted = {_enum(word, column_type, flavour) for word in words if word}
    return ",".join(member for member in dict.fromkeys(column_type.members) if member in wanted)


def by_number(number: int, column_type: ColumnType) -> str:
    """Return an ENUM's member by its number from 1 on, a SET's by bits."""
    members = column_type.members
    if column_type.base == "set" and 0 <= number < 2**len(members):
        return ",".join(member for bit, member in enumerate(members) if number >> bit & 1)
    if column_type.base == "enum" and 0 < number <= len(members):
        return members[number - 1]
    raise ValueError(f"{number} is not a member of {column_type.column_type}")


def _network(value: Value, column_type: ColumnType, flavour: str) -> str:
    """An address in the notation that MariaDB shows."""
    from applier.mysql.values.addresses import network_text, packed  # with kernels, and few defaults need it

    raw = pa.array([packed(_text(value, column_type), column_type.base)], pa.binary())
    shown: str = network_text(raw, column_type.base)[0].as_py()
    return shown


_TEMPORAL: dict[str, Callable[[str | Decimal, int, str], Any]] = {
    "date": lambda value, _, flavour: read_date(value, flavour), "datetime": read_datetime, "timestamp": read_datetime,
    "time": read_time, "year": lambda value, *_: read_year(value),
}
READERS: dict[Family, Callable[[Value, ColumnType, str], Any]] = {
    Family.INTEGER: _integer, Family.DECIMAL: _decimal, Family.FLOATING: _float, Family.BIT: _bits,
    Family.YEAR: _temporal, Family.DATE: _temporal, Family.DATETIME: _temporal, Family.TIME: _temporal,
    Family.TEXT: _characters, Family.BYTES: _byte_string, Family.MEMBERS: _labels, Family.DOCUMENT: _document,
    Family.GEOMETRY: _byte_string, Family.NETWORK: _network, Family.VECTOR: _vector,
}
"""A literal as a column's value: of the literal, the column's type and the flavour."""
