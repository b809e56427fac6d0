"""Converts a snapshot's values to those of row images, a whole column at once: the inverse of `columns.values`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.rows.layout import decimal_bytes
from applier.mysql.character_sets.exact_text import with_placeholders
from applier.mysql.type_registry import Family
from applier.mysql.types import MAX_ARROW_DIGITS, ColumnType, arrow_type
from applier.mysql.values.addresses import packed
from applier.mysql.wire_types import WireType
from applier.schema.table_parts import Column
from applier.sql.casting.texts import SINGLE_BYTE, encoded
from applier.writer.wire_columns import WireColumn
from jsondiff.encode import encode
from jsondiff.text import from_text

_DIGITS = re.compile(r"(-?)0*([0-9]*?)(?:\.([0-9]*))?")
_UNICODE = {"ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be"}
_UTF8 = ("utf8mb4", "utf8mb3", "utf8", "binary")
Values: TypeAlias = pa.Array | pa.ChunkedArray | list[object] | tuple[object, ...] | np.ndarray
"""Of a column: whatever becomes an Arrow array."""


def image_values(values: Values, column: Column, wire: WireColumn) -> pa.Array:
    """The raw values of a column, for row_encoder. Raises ValueError, naming the column, for values that it cannot
    have, and for unsupported ones: text in East Asian sets, COMPRESSED columns."""
    kind = column.type
    try:
        if kind.compressed:
            raise ValueError("a COMPRESSED column is not written")
        return _ENCODERS.get(kind.entry.family, _as_it_is)(_array(values, arrow_type(kind)), kind, wire)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError, TypeError) as error:
        raise ValueError(f"column {column.name}: {error}") from error


def _array(values: Values, wanted: pa.DataType) -> pa.Array:
    """The values as an array of the type that a snapshot has."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        try:
            return pa.array(values, wanted)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            values = pa.array(values)
    return values if values.type == wanted else values.cast(wanted)


def _as_it_is(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    return values


def _integer(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    whole = values.cast(pa.uint64() if kind.unsigned else pa.int64())
    bits = kind.entry.bits
    least, most = (0, (1 << bits) - 1) if kind.unsigned else (-1 << bits - 1, (1 << bits - 1) - 1)
    found = pc.min_max(whole)
    if len(whole) > whole.null_count and not (least <= found["min"].as_py() and found["max"].as_py() <= most):
        raise ValueError(f"{found['max']} or {found['min']} is out of the range of {kind.column_type}")
    return whole


def _decimal(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    """Those of more than MAX_ARROW_DIGITS are texts, and become bytes of the log at once."""
    if (kind.precision or 0) <= MAX_ARROW_DIGITS:
        return values
    whole, fraction = (kind.precision or 0) - (kind.scale or 0), kind.scale or 0
    width = decimal_bytes(whole + fraction, fraction)
    return pa.array([None if text is None else _wide_decimal(text, whole, fraction) for text in values.to_pylist()],
                    pa.binary(width))


def _wide_decimal(text: str, whole: int, fraction: int) -> bytes:
    """Return a DECIMAL with these numbers of digits before and after the point: groups of nine of them, the sign in the
    first bit."""
    if (match := _DIGITS.fullmatch(text)) is None or len(match[2]) > whole or len(match[3] or "") > fraction:
        raise ValueError(f"{text!r} is not a DECIMAL({whole + fraction},{fraction})")
    before, after = match[2].rjust(whole, "0"), (match[3] or "").ljust(fraction, "0")
    first = whole % 9
    groups = [before[:first], *(before[at : at + 9] for at in range(first, whole, 9)),
              *(after[at : at + 9] for at in range(0, fraction, 9))]
    data = bytearray(b"".join(int(group).to_bytes(decimal_bytes(len(group), 0), "big") for group in groups if group))
    if match[1]:
        data = bytearray(byte ^ 0xFF for byte in data)
    data[0] ^= 0x80
    return bytes(data)


def _bit(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    return values.cast(pa.uint64())


def _text(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    charset = kind.charset or "utf8mb4"
    if kind.base == "char":
        values = pc.utf8_rtrim(values, " ")
    if charset in _UTF8 or (charset == "ascii" and with_placeholders(values, charset) is None):
        return values.cast(pa.binary())
    if charset in _UNICODE:
        return pa.array([None if text is None else text.encode(_UNICODE[charset]) for text in values.to_pylist()],
                        pa.binary())
    if charset not in SINGLE_BYTE:
        raise ValueError(f"text in {charset} is not written")
    return encoded(values, charset, "strict")


def _members(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    """Return labels as numbers: for an ENUM its number, for a SET a bit for each. An empty text is 0."""
    by_label = {label: at for at, label in enumerate(kind.members)}
    coded = values.dictionary_encode()

    def number(label: str) -> int:
        labels = [label] if kind.base == "enum" else label.split(",")
        if label and not by_label.keys() >= set(labels):
            raise ValueError(f"{label!r} is not a value of {kind.column_type}")
        if not label and "" not in by_label:
            return 0
        return by_label[label] + 1 if kind.base == "enum" else sum(1 << by_label[one] for one in labels)

    numbers = pa.array([number(label) for label in coded.dictionary.to_pylist()], pa.uint64())
    return numbers.take(coded.indices)


def _document(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    """MySQL's binary documents; MariaDB's JSON is text."""
    if wire.type != WireType.JSON:
        return _text(values, kind, wire)
    return pa.array([None if text is None else encode(from_text(text)) for text in values.to_pylist()], pa.binary())


def _network(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    """Without the zero bytes at the end, as the servers log them."""
    return pa.array([None if text is None else packed(text, kind.base).rstrip(b"\0") for text in values.to_pylist()],
                    pa.binary())


def _vector(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    return pa.array([None if one is None else np.array(one, "<f4").tobytes() for one in values.to_pylist()],
                    pa.binary())


def _bytes(values: pa.Array, kind: ColumnType, wire: WireColumn) -> pa.Array:
    if kind.base != "binary":
        return values
    return pa.array([None if one is None else one.rstrip(b"\0") for one in values.to_pylist()], pa.binary())


_Encoder = Callable[[pa.Array, ColumnType, WireColumn], pa.Array]
_ENCODERS: dict[Family, _Encoder] = {
    Family.INTEGER: _integer, Family.DECIMAL: _decimal, Family.BIT: _bit, Family.TEXT: _text, Family.BYTES: _bytes,
    Family.MEMBERS: _members, Family.DOCUMENT: _document, Family.NETWORK: _network, Family.VECTOR: _vector,
}
"""To raw values, by family; the others are what they are in a snapshot."""
