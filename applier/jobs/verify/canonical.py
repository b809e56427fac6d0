"""The hashed form of a value, on a server and here: exactly the same bytes, on both servers and in all sessions.

Numbers, dates and times are the texts that a server gives, without ZEROFILL's zeros and with as many fractional digits
as the column has. Text is UTF-8, whatever its character set, but in a set of which several codes are shown as one
character it is its bytes. A FLOAT or DOUBLE is the eight bytes of the double, lowest first: a server has no function
for them, but its encoding of a point has them (four bytes of SRID, the byte order, four bytes of the type, then x), and
no text of a double is the same on both servers. Byte strings, geometries and vectors are their bytes. For a DOUBLE(M,D)
it is the double that a SELECT shows, as in snapshots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.exporting.cells import texts_of
from applier.jobs.importing.sql.literals import column_values
from applier.jobs.importing.sql.spans import LiteralContext, LiteralError, Literals
from applier.jobs.importing.sql.tuple_kernel import NULL, TEXT
from applier.mysql.character_sets.exact_text import exact_text, shown
from applier.mysql.reader_values import lossy_charset
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType, arrow_type, quote_name
from applier.mysql.values.byte_columns import beside, value_bytes
from applier.mysql.values.doubles import EXACT_POWERS_OF_TEN
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column
from applier.sql.casting.byte_strings import bytes_of_text

_MICROSECONDS = 6
_DOUBLE = 8


@dataclass(frozen=True)
class Hashed:
    """The hashed bytes of a column: value i is data[offsets[i]:offsets[i + 1] - cut] (int64[n + 1], uint8), and NULL if
    nulls[i] is 1 (uint8[n])."""

    offsets: np.ndarray
    data: np.ndarray
    nulls: np.ndarray
    cut: int = 0


def hashed(column: Column, values: pa.Array) -> Hashed:
    """Return the bytes to hash for values of `arrow_type(column.type)`."""
    family = column.type.entry.family
    nulls = values.is_null().cast(pa.uint8()).to_numpy(zero_copy_only=False)
    if family is Family.FLOATING:
        numbers = values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        return Hashed(np.arange(len(values) + 1, dtype=np.int64) * _DOUBLE, numbers.view(np.uint8), nulls)
    charset = lossy_charset(column.type)
    data = texts_of(column, values) if charset is None else bytes_of_text(values, charset)
    return Hashed(*value_bytes(data), nulls, _cut(column.type))


def canonical_bytes(column: Column, values: pa.Array) -> pa.Array:
    """Return the bytes to hash for values, as pa.binary()."""
    cells = hashed(column, values)
    found = beside(values, pa.binary(), cells.offsets, cells.data)
    return pc.binary_slice(found, 0, -cells.cut) if cells.cut else found


def stored_values(column: Column, definition: TableDefinition, data: pa.Array) -> pa.Array:
    """Convert the bytes that are hashed (pa.binary()) to a snapshot's values: of `arrow_type(column.type)`. Raises
    ValueError for bytes that are no values of the column."""
    if column.type.entry.family in _READ_DIRECTLY:
        return values_of(column, data)
    if (charset := lossy_charset(column.type)) is not None:
        return exact_text(data, charset)
    offsets = np.frombuffer(data.buffers()[1], np.int32)[:len(data) + 1].astype(np.int64)
    is_null = data.is_null().to_numpy(zero_copy_only=False)
    literals = Literals(np.frombuffer(data.buffers()[2] or b"", np.uint8), offsets[:-1], np.diff(offsets),
                        np.where(is_null, NULL, TEXT).astype(np.uint8), 1 << TEXT)
    try:
        return column_values(literals, column, definition, LiteralContext(backslash=False)).array
    except LiteralError as error:
        raise ValueError(f"{error.literal!r} in {column.name}: {error}") from None


def values_of(column: Column, data: pa.Array) -> pa.Array:
    """Convert the bytes that are hashed (pa.binary()) to values for people: of `arrow_type(column.type)`, except for
    dates and times, which are text."""
    family, stored = column.type.entry.family, arrow_type(column.type)
    if family is Family.FLOATING:
        return pa.array([None if one is None else np.frombuffer(one, "<f8")[0] for one in data.to_pylist()],
                        pa.float64()).cast(stored)
    if family is Family.VECTOR:
        return pa.array([None if one is None else np.frombuffer(one, "<f4") for one in data.to_pylist()], stored)
    if family in (Family.BYTES, Family.GEOMETRY):
        return data
    if (charset := lossy_charset(column.type)) is not None:
        return shown(exact_text(data, charset), charset)
    texts = data.cast(pa.string())
    return texts if family in (Family.DATE, Family.DATETIME, Family.TIME) else texts.cast(stored)


_READ_DIRECTLY = frozenset({Family.FLOATING, Family.BIT, Family.BYTES, Family.DOCUMENT, Family.GEOMETRY,
                            Family.VECTOR})
"""Families whose bytes are not what a literal of them says."""


def _cut(kind: ColumnType) -> int:
    """Return how many characters of its texts here are more than a server gives."""
    if kind.entry.family not in (Family.DATETIME, Family.TIME):
        return 0
    return _MICROSECONDS - kind.fsp + (not kind.fsp)


def sql_value(column: Column) -> str:
    """Return the expression of the bytes to hash for a column."""
    return AS_SQL[column.type.entry.family](quote_name(column.name), column.type)


def _as_is(name: str, kind: ColumnType) -> str:
    return name


def _integer(name: str, kind: ColumnType) -> str:
    return f"CAST({name} AS UNSIGNED)" if kind.zerofill else name


def _decimal(name: str, kind: ColumnType) -> str:
    precision = 10 if kind.precision is None else kind.precision
    return f"CAST({name} AS DECIMAL({precision},{kind.scale or 0}))" if kind.zerofill else name


def _real(name: str, kind: ColumnType) -> str:
    if kind.base == "double" and kind.scale is not None and kind.scale <= EXACT_POWERS_OF_TEN:
        name = f"CAST({name} AS CHAR)"
    return f"SUBSTR(POINT({name},0),10,{_DOUBLE})"


def _bit(name: str, kind: ColumnType) -> str:
    return f"({name}+0)"


def _text(name: str, kind: ColumnType) -> str:
    charset = lossy_charset(kind)
    return f"CONVERT({name} USING utf8mb4)" if charset is None else f"CAST(CONVERT({name} USING {charset}) AS BINARY)"


def _address(name: str, kind: ColumnType) -> str:
    return f"CAST({name} AS CHAR)"


AS_SQL: dict[Family, Callable[[str, ColumnType], str]] = {
    Family.INTEGER: _integer, Family.DECIMAL: _decimal, Family.FLOATING: _real, Family.BIT: _bit, Family.YEAR: _as_is,
    Family.DATE: _as_is, Family.DATETIME: _as_is, Family.TIME: _as_is, Family.TEXT: _text, Family.BYTES: _as_is,
    Family.MEMBERS: _text, Family.DOCUMENT: _text, Family.GEOMETRY: _as_is, Family.NETWORK: _address,
    Family.VECTOR: _as_is,
}
