"""The types of columns in logs, and how their values are stored in row images: a new wire type begins here.

The tables by shape are `applier.binlog.rows.layout.PLANNERS` (reading) and `applier.writer.column_encoder.ENCODERS`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class WireType(enum.IntEnum):
    """Column types as TABLE_MAP events write them (enum_field_types)."""

    DECIMAL = 0
    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    NULL = 6
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    TIME = 11
    DATETIME = 12
    YEAR = 13
    NEWDATE = 14
    VARCHAR = 15
    BIT = 16
    TIMESTAMP2 = 17
    DATETIME2 = 18
    TIME2 = 19
    TYPED_ARRAY = 20
    BLOB_COMPRESSED = 140
    VARCHAR_COMPRESSED = 141
    VECTOR = 242
    JSON = 245
    NEWDECIMAL = 246
    ENUM = 247
    SET = 248
    TINY_BLOB = 249
    MEDIUM_BLOB = 250
    LONG_BLOB = 251
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


class Shape(enum.Enum):
    """How a value lies in a row image."""

    INTEGER = "integer"
    FLOATING = "floating"
    DECIMAL = "decimal"
    BIT = "bit"
    YEAR = "year"
    DATE = "date"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    TIME = "time"
    OLD_DATETIME = "old datetime"
    OLD_TIMESTAMP = "old timestamp"
    OLD_TIME = "old time"
    ENUM = "enum"
    SET = "set"
    STRING = "string"
    """Behind a length of 1 byte, or of 2 where the longest value takes more than 255 bytes."""
    BLOB = "blob"
    """Behind a length of as many bytes as the metadata says."""


class Metadata(enum.Enum):
    """The metadata that a TABLE_MAP event has for a column behind its type byte."""

    NONE = "none"
    BYTE = "a byte"
    TWO_BYTES = "two bytes, little-endian"
    DIGITS = "precision and scale"
    REAL_TYPE = "the real type, with two bits of a length, and a byte"


@dataclass(frozen=True, slots=True, kw_only=True)
class WireForm:
    """How a log describes columns of a wire type, and stores their values.

    `width` is the size of a value in bytes, if that is the same for all columns of the type (of one with fractional
    digits: the part before them). `numeric`: its columns have a bit in the optional metadata field of signs.
    `collation`: the flavours whose logs count its columns in the optional metadata fields of collations (ENUM and SET
    have fields of their own).
    """

    shape: Shape
    width: int = 0
    metadata: Metadata = Metadata.NONE
    numeric: bool = False
    collation: frozenset[str] = frozenset()
    compressed: bool = False


_BOTH, _MYSQL, _MARIADB = frozenset({"mysql", "mariadb"}), frozenset({"mysql"}), frozenset({"mariadb"})


def _integer(width: int) -> WireForm:
    return WireForm(shape=Shape.INTEGER, width=width, numeric=True)


def _temporal(shape: Shape, width: int) -> WireForm:
    return WireForm(shape=shape, width=width, metadata=Metadata.BYTE)


def _string(metadata: Metadata = Metadata.TWO_BYTES) -> WireForm:
    return WireForm(shape=Shape.STRING, metadata=metadata, collation=_BOTH)


def _blob(collation: frozenset[str] = frozenset()) -> WireForm:
    return WireForm(shape=Shape.BLOB, metadata=Metadata.BYTE, collation=collation)


FORMS: dict[int, WireForm] = {
    WireType.TINY: _integer(1),
    WireType.SHORT: _integer(2),
    WireType.INT24: _integer(3),
    WireType.LONG: _integer(4),
    WireType.LONGLONG: _integer(8),
    WireType.FLOAT: WireForm(shape=Shape.FLOATING, width=4, metadata=Metadata.BYTE, numeric=True),
    WireType.DOUBLE: WireForm(shape=Shape.FLOATING, width=8, metadata=Metadata.BYTE, numeric=True),
    WireType.NEWDECIMAL: WireForm(shape=Shape.DECIMAL, metadata=Metadata.DIGITS, numeric=True),
    WireType.BIT: WireForm(shape=Shape.BIT, metadata=Metadata.TWO_BYTES),
    WireType.YEAR: WireForm(shape=Shape.YEAR, width=1, numeric=True),
    WireType.DATE: WireForm(shape=Shape.DATE, width=3),
    WireType.NEWDATE: WireForm(shape=Shape.DATE, width=3),
    WireType.DATETIME: WireForm(shape=Shape.OLD_DATETIME),
    WireType.TIMESTAMP: WireForm(shape=Shape.OLD_TIMESTAMP),
    WireType.TIME: WireForm(shape=Shape.OLD_TIME),
    WireType.DATETIME2: _temporal(Shape.DATETIME, 5),
    WireType.TIMESTAMP2: _temporal(Shape.TIMESTAMP, 4),
    WireType.TIME2: _temporal(Shape.TIME, 3),
    WireType.ENUM: WireForm(shape=Shape.ENUM, metadata=Metadata.REAL_TYPE),
    WireType.SET: WireForm(shape=Shape.SET, metadata=Metadata.REAL_TYPE),
    WireType.STRING: _string(Metadata.REAL_TYPE),
    WireType.VAR_STRING: _string(),
    WireType.VARCHAR: _string(),
    WireType.VARCHAR_COMPRESSED: WireForm(shape=Shape.STRING, metadata=Metadata.TWO_BYTES, collation=_MARIADB,
                                          compressed=True),
    WireType.TINY_BLOB: _blob(),
    WireType.BLOB: _blob(_BOTH),
    WireType.MEDIUM_BLOB: _blob(),
    WireType.LONG_BLOB: _blob(),
    WireType.BLOB_COMPRESSED: WireForm(shape=Shape.BLOB, metadata=Metadata.BYTE, collation=_MARIADB, compressed=True),
    WireType.JSON: _blob(),
    WireType.GEOMETRY: _blob(_MARIADB),
    WireType.VECTOR: _blob(_MYSQL),
}
"""The wire types that columns of rows events have."""
COMPRESSED = frozenset(code for code, form in FORMS.items() if form.compressed)
