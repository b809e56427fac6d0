"""Column values as `mysqlbinlog -v` and `mariadb-binlog -v` print them.

What they print needs no table definition, so it follows the wire type alone: an integer that may be unsigned is printed
both ways, ENUM is a number and SET its bits, text is in its column's character set. A GEOMETRY, which mysqlbinlog gives
up on, is printed as mariadb-binlog does. Temporal values and DECIMALs are formatted from the log's own bytes: there a
zero date is still a zero date, and no DECIMAL is too wide.

A column of up to a few thousand values is formatted at once. Texts have surrogates for bytes that are not UTF-8.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.layout import ColumnPlan, plan_columns
from applier.errors import CORRUPT_EVENT, ArchiveError
from applier.mysql.wire_types import WireType
from jsondiff.binary import JsonError, to_text
from jsondiff.sql import quote

_LOG_BYTES = {
    WireType.DATE, WireType.NEWDATE, WireType.TIME, WireType.DATETIME, WireType.TIMESTAMP,
    WireType.TIME2, WireType.DATETIME2, WireType.TIMESTAMP2, WireType.NEWDECIMAL,
}  # fmt: skip


def plans_for_show(table_map: TableMap) -> list[ColumnPlan]:
    """How the columns of a table are read for `column_texts`."""
    plans = plan_columns(table_map)
    return [p.as_log_bytes() if kind in _LOG_BYTES else p for kind, p in zip(table_map.types, plans, strict=True)]


@dataclass(frozen=True)
class Column:
    """One column of a table map, and whose tool to follow: its flavour ("mysql" | "mariadb")."""

    type: int
    metadata: int
    flavour: str


def column_texts(values: pa.Array, column: Column) -> list[str]:
    """The values, raw as `plans_for_show` has them read, as text; NULL is "NULL".

    Raises ArchiveError (1610) where a JSON document is malformed."""
    texts = _FORMATS[column.type](values.drop_null() if values.null_count else values, column)
    if not values.null_count:
        return texts
    present = iter(texts)
    return [next(present) if valid else "NULL" for valid in values.is_valid().to_pylist()]


# ---- numbers --------------------------------------------------------------------------------------------------------


def _integers(values: pa.Array, column: Column) -> list[str]:
    modulus = 1 << (24 if column.type == WireType.INT24 else values.type.bit_width)
    return [str(v) if v >= 0 else f"{v} ({v + modulus})" for v in values.to_pylist()]


def _numbers(values: pa.Array, column: Column) -> list[str]:
    return [str(v) for v in values.to_pylist()]


def _floats(values: pa.Array, column: Column) -> list[str]:
    return [f"{v:g}".ljust(20) for v in values.to_pylist()]


def _doubles(values: pa.Array, column: Column) -> list[str]:
    return [f"{v:.20g}" for v in values.to_pylist()]


def _years(values: pa.Array, column: Column) -> list[str]:
    return [str(v or 1900) for v in values.to_pylist()]


def _bits(values: pa.Array, column: Column) -> list[str]:
    width = (column.metadata >> 8) * 8 + (column.metadata & 255)
    return [f"b'{v:0{width}b}'" for v in values.to_pylist()]


def _sets(values: pa.Array, column: Column) -> list[str]:
    """The bytes in the log's order, which is the lowest first."""
    orders = [v.to_bytes(column.metadata, "little") for v in values.to_pylist()]
    return ["b'" + "".join(f"{byte:08b}" for byte in v) + "'" for v in orders]


def _decimals(values: pa.Array, column: Column) -> list[str]:
    precision, scale = column.metadata >> 8, column.metadata & 255
    return [decimal_text(v, precision - scale, scale) for v in values.to_pylist()]


def decimal_text(data: bytes, whole: int, scale: int) -> str:
    """A DECIMAL of `whole` digits before the point and `scale` after it, from its bytes in the log: groups of nine
    digits in four bytes each, the group at either end shorter. Raises ArchiveError (1610) where they are no digits."""
    negative = not data[0] & 0x80
    data = bytes((data[0] ^ 0x80, *data[1:]))
    if negative:
        data = bytes(byte ^ 0xFF for byte in data)
    digits, at = "", 0
    for width in (whole % 9, *[9] * (whole // 9), *[9] * (scale // 9), scale % 9):
        size = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)[width]
        group = int.from_bytes(data[at : at + size], "big")
        if group >= 10**width:
            raise ArchiveError(f"a DECIMAL has a group of {width} digits with the value {group}", errno=CORRUPT_EVENT)
        digits += f"{group:0{width}d}" if width else ""
        at += size
    text = digits[: len(digits) - scale].lstrip("0") or "0"
    return "-" * negative + text + (f".{digits[len(digits) - scale :]}" if scale else "")


# ---- temporal values ------------------------------------------------------------------------------------------------


def _log_integers(values: pa.Array, size: int, order: str, start: int = 0) -> np.ndarray:
    """`size` bytes from byte `start` on of each value as an unsigned number (int64)."""
    width = values.type.byte_width
    rows = np.frombuffer(values.buffers()[1], np.uint8, len(values) * width, values.offset * width).reshape(-1, width)
    number = np.zeros(len(values), np.int64)
    for i in range(size) if order == "big" else reversed(range(size)):
        number = number << 8 | rows[:, start + i]
    return number


def _fractions(values: pa.Array, column: Column, whole_size: int) -> list[str]:
    """The fractional digits that follow `whole_size` bytes, with their point; empty texts where there are none."""
    digits = column.metadata
    if not digits:
        return [""] * len(values)
    size = (digits + 1) // 2
    fraction = _log_integers(values, size, "big", whole_size) // (10 if digits % 2 else 1)
    return [f".{v:0{digits}d}" for v in fraction.tolist()]


def _clocks(seconds: np.ndarray) -> list[str]:
    """Packed hours, minutes (6 bits) and seconds (6 bits) as h:m:s."""
    parts = (seconds >> 12).tolist(), (seconds >> 6 & 63).tolist(), (seconds & 63).tolist()
    return [f"{h:02d}:{m:02d}:{s:02d}" for h, m, s in zip(*parts)]


def _dates(values: pa.Array, column: Column) -> list[str]:
    packed = _log_integers(values, 3, "little").tolist()
    return [f"'{v >> 9:04d}:{v >> 5 & 15:02d}:{v & 31:02d}'" for v in packed]


def _datetimes2(values: pa.Array, column: Column) -> list[str]:
    packed = _log_integers(values, 5, "big") & 0x7FFFFFFFFF  # without the sign bit, which is always set
    months, days = (packed >> 22).tolist(), (packed >> 17 & 31).tolist()
    clocks, fractions = _clocks(packed & 0x1FFFF), _fractions(values, column, 5)
    return [
        f"'{m // 13:04d}-{m % 13:02d}-{d:02d} {clock}{fraction}'"
        for m, d, clock, fraction in zip(months, days, clocks, fractions)
    ]


def _timestamps2(values: pa.Array, column: Column) -> list[str]:
    seconds = _log_integers(values, 4, "big").tolist()
    return [f"{s}{fraction}" for s, fraction in zip(seconds, _fractions(values, column, 4))]


def _times2(values: pa.Array, column: Column) -> list[str]:
    """All bytes are one number, with an offset so that negative times sort first."""
    digits, size = column.metadata, values.type.byte_width
    number = _log_integers(values, size, "big") - (1 << (size * 8 - 1))
    signs, number = ["-" if negative else "" for negative in (number < 0).tolist()], np.abs(number)
    fraction_bits = 8 * (size - 3)
    clocks = _clocks(number >> fraction_bits)
    if not digits:
        return [f"'{sign}{clock}'" for sign, clock in zip(signs, clocks)]
    fraction = (number & ((1 << fraction_bits) - 1)) // (10 if digits % 2 else 1)
    parts = zip(signs, clocks, fraction.tolist())
    return [f"'{sign}{clock}.{fraction:0{digits}d}'" for sign, clock, fraction in parts]


def _old_dates(packed: np.ndarray) -> list[str]:
    return [f"{v // 10000:04d}-{v // 100 % 100:02d}-{v % 100:02d}" for v in packed.tolist()]


def _old_clocks(packed: np.ndarray) -> list[str]:
    return [f"{v // 10000:02d}:{v // 100 % 100:02d}:{v % 100:02d}" for v in packed.tolist()]


def _old_datetimes(values: pa.Array, column: Column) -> list[str]:
    packed = _log_integers(values, 8, "little")
    parts = zip(_old_dates(packed // 1000000), _old_clocks(packed % 1000000))
    return [f"'{date} {clock}'" for date, clock in parts]


def _old_times(values: pa.Array, column: Column) -> list[str]:
    packed = _log_integers(values, 3, "little")
    signed = (packed ^ 0x800000) - 0x800000
    signs = ["-" if negative else "" for negative in (signed < 0).tolist()]
    return [f"'{sign}{clock}'" for sign, clock in zip(signs, _old_clocks(np.abs(signed)))]


def _old_timestamps(values: pa.Array, column: Column) -> list[str]:
    return [str(v) for v in _log_integers(values, 4, "little").tolist()]


# ---- bytes ----------------------------------------------------------------------------------------------------------

_CONTROLS = {code: f"\\x{code:02x}" for code in range(32)}


def _quote(text: str, flavour: str) -> str:
    return quote(text) if flavour == "mysql" else f"'{text.translate(_CONTROLS)}'"


def _strings(values: pa.Array, column: Column) -> list[str]:
    return [_quote(v.decode("utf-8", "surrogateescape"), column.flavour) for v in values.to_pylist()]


def _json(values: pa.Array, column: Column) -> list[str]:
    """A document as SQL text; one that is a mere string (or prints as one) as that string, without JSON's quotes."""
    try:
        texts = to_text(values).to_pylist()
        return [_quote(json.loads(v) if v.startswith('"') else v, column.flavour) for v in texts]
    except JsonError as reason:
        raise ArchiveError(f"a JSON value is malformed: {reason.what}", errno=CORRUPT_EVENT) from None


def _vectors(values: pa.Array, column: Column) -> list[str]:
    vectors = [np.frombuffer(v, "<f4", len(v) // 4).tolist() for v in values.to_pylist()]
    return ["[" + ",".join(f"{x:.5e}" for x in vector) + "]" for vector in vectors]


_FORMATS: dict[int, Callable[[pa.Array, Column], list[str]]] = {
    **dict.fromkeys((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG), _integers),
    WireType.FLOAT: _floats,
    WireType.DOUBLE: _doubles,
    WireType.YEAR: _years,
    WireType.BIT: _bits,
    WireType.NEWDECIMAL: _decimals,
    WireType.ENUM: _numbers,
    WireType.SET: _sets,
    WireType.DATE: _dates,
    WireType.NEWDATE: _dates,
    WireType.DATETIME2: _datetimes2,
    WireType.TIMESTAMP2: _timestamps2,
    WireType.TIME2: _times2,
    WireType.DATETIME: _old_datetimes,
    WireType.TIME: _old_times,
    WireType.TIMESTAMP: _old_timestamps,
    WireType.JSON: _json,
    WireType.VECTOR: _vectors,
    **dict.fromkeys(
        (WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING, WireType.TINY_BLOB, WireType.MEDIUM_BLOB,
         WireType.LONG_BLOB, WireType.BLOB, WireType.GEOMETRY, WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED),
        _strings,
    ),
}  # fmt: skip
