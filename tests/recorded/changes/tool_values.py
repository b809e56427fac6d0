"""Values in lines of JSON as `mysqlbinlog -v` and `mariadb-binlog -v` print them, which know wire types alone."""

import ipaddress
import json
import re
import uuid
import zlib
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa

from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType

BYTES_OF = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"\\": b"\\", b"'": b"'"}
_OF_MYSQL = re.compile(rb"\\(?:x([0-9a-f]{2})|(.))", re.DOTALL)
_OF_MARIADB = re.compile(rb"\\x([01][0-9a-f])")
_NO_DATE = re.compile(r"'?(\d+)[:-](\d+)[:-](\d+)")


def read(text: str | bytes) -> object:
    """A text of JSON, its numbers exact."""
    return json.loads(text, parse_float=Decimal, parse_int=lambda digits: Decimal(digits) if digits == "-0" else
                      int(digits))


def same(value: object, text: str, kind: ColumnType, flavour: str) -> bool:
    """Return whether a value of a line, as `read` has it, of this type, is what a tool printed."""
    if value is None:
        return text == "NULL" or (kind.base in ("date", "datetime", "timestamp") and _is_no_date(text)) or (
            kind.base == "json" and text == "'null'")  # which a line does not tell from NULL
    match kind.entry.family:
        case Family.TEXT:
            data = _plain(_bytes(text, flavour)) if kind.compressed else _bytes(text, flavour)
            stored = to_utf8(pa.array([data]), kind.charset)[0].as_py()
            return stored == value if isinstance(value, str) else read(stored) == value  # a later ALTER made it JSON
        case Family.BYTES | Family.GEOMETRY:  # servers drop zero bytes at the end of BINARY in images
            found, wanted = _bytes(text, flavour), bytes.fromhex(value)
            found = _plain(found) if kind.compressed else found
            return found == wanted or (kind.base == "binary" and found.ljust(kind.length or 1, b"\0") == wanted)
        case Family.DOCUMENT:
            return _is_document(value, _bytes(text, flavour).decode())
        case Family.VECTOR if text.startswith("'"):  # MariaDB logs it as bytes
            return np.array_equal(np.frombuffer(_bytes(text, flavour), "<f4"), np.array(value, object).astype("<f4"))
        case Family.NETWORK:
            return _bytes(text, flavour).ljust(_width(kind), b"\0") == _address(value, kind)
        case Family.FLOATING if kind.base == "double" and kind.scale is not None:  # a server shows as many digits
            return round(float(text), kind.scale) == float(value)
        case Family.MEMBERS if value == "" and kind.base == "enum":  # a member, or none
            return text in ("0", *(str(number) for number, member in enumerate(kind.members, 1) if not member))
        case Family.DECIMAL:  # a later ALTER gave it more digits behind the point
            shown = _printed(value, kind)
            return shown.startswith(text) and not shown[len(text):].strip(".0")
        case _:
            return _printed(value, kind) == text


def _printed(value: object, kind: ColumnType) -> str:
    """A value that is no string, as a tool prints it."""
    match kind.entry.family:
        case Family.INTEGER:
            return _integer(value, 8 * BYTES_OF[kind.base])
        case Family.YEAR:
            return str(value or 1900)
        case Family.DECIMAL:
            return f"{value:f}" if isinstance(value, Decimal) else str(value)
        case Family.FLOATING if kind.base == "float":
            return f"{float(np.float32(str(value))):g}".ljust(20)
        case Family.FLOATING:
            return f"{float(value):.20g}"
        case Family.BIT:
            return f"b'{value:0{kind.length or 1}b}'"
        case Family.MEMBERS if kind.base == "enum":
            return str(kind.members.index(value) + 1)
        case Family.MEMBERS:
            bits = sum(1 << kind.members.index(member) for member in value.split(",") if value)
            return "b'" + "".join(f"{byte:08b}" for byte in bits.to_bytes(_set_bytes(kind), "little")) + "'"
        case Family.DATE:
            return f"'{value.replace('-', ':')}'"
        case Family.DATETIME if kind.base == "timestamp":
            return _timestamp(value, kind.fsp)
        case Family.DATETIME:
            return f"'{_fraction(value, kind.fsp)}'"
        case Family.TIME:
            return f"'{_fraction(value, kind.fsp)}'"
        case Family.VECTOR:
            return "[" + ",".join(f"{float(np.float32(str(part))):.5e}" for part in value) + "]"
    raise AssertionError(kind)


def _integer(value: int, bits: int) -> str:
    """With the highest bit set, both as signed and as unsigned."""
    signed = value - (1 << bits) if value >= 1 << bits - 1 else value
    return str(value) if signed >= 0 else f"{signed} ({signed + (1 << bits)})"


def _set_bytes(kind: ColumnType) -> int:
    needed = (len(kind.members) + 7) // 8
    return 8 if needed > 4 else needed


def _fraction(text: str, digits: int) -> str:
    """A time with so many digits behind the second."""
    seconds, _, more = text.partition(".")
    return f"{seconds}.{more.ljust(6, '0')[:digits]}" if digits else seconds


def _timestamp(text: str, digits: int) -> str:
    seconds, _, more = text.removesuffix("Z").partition(".")
    number = int(datetime.fromisoformat(seconds).replace(tzinfo=UTC).timestamp())
    return _fraction(f"{number}.{more}", digits)


def _is_no_date(text: str) -> bool:
    """Return whether a tool printed a date that does not exist, which is null in lines; a TIMESTAMP has one such value,
    0."""
    if text.partition(".")[0] == "0":
        return True
    year, month, day = map(int, _NO_DATE.match(text).groups())
    try:
        date(year, month, day)
    except ValueError:
        return True
    return False


def _bytes(text: str, flavour: str) -> bytes:
    """What is in a tool's quotes. MariaDB's escapes control characters alone."""
    assert text[0] == text[-1] == "'" and len(text) >= 2, text
    data = text[1:-1].encode("utf-8", "surrogateescape")
    if flavour == "mariadb":
        return _OF_MARIADB.sub(lambda found: bytes([int(found[1], 16)]), data)
    return _OF_MYSQL.sub(lambda found: bytes([int(found[1], 16)]) if found[1] else _ESCAPES[found[2]], data)


def _plain(data: bytes) -> bytes:
    """The value of a compressed column of MariaDB: behind a zero, or deflated behind its length, whose bytes the first
    one counts."""
    return zlib.decompress(data[1 + (data[0] & 7):], -15) if data[:1] > b"\0" else data[1:]


def _is_document(value: object, text: str) -> bool:
    """MySQL's tool prints a string in JSON without its quotes; MariaDB's documents are any text."""
    if value == text:
        return True
    return read(text) == value


def _width(kind: ColumnType) -> int:
    return 4 if kind.base == "inet4" else 16


def _address(value: str, kind: ColumnType) -> bytes:
    return uuid.UUID(value).bytes if kind.base == "uuid" else ipaddress.ip_address(value).packed
