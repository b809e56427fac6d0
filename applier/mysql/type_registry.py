"""All column types of both servers, one entry each: a new type begins here (docs/ARCHITECTURE.md, "A new column type").

A package handles the values of a column by the type's family, and has one table by family:
`applier.columns.values.DECODERS`, `applier.sql.literals.READERS`, `applier.schema.defaults.IMPLICIT`,
`applier.sql.casting.values.CONVERTERS`, and those of importing and exporting. The storage of a value in the log depends
on its wire type (`applier.mysql.wire_types`). Differences within a family are fields of the entry.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import pyarrow as pa

from applier.mysql.wire_types import WireType

_BOTH = frozenset({"mysql", "mariadb"})
_MYSQL, _MARIADB = frozenset({"mysql"}), frozenset({"mariadb"})


class Family(enum.Enum):
    """Types whose values are read, kept, written and given as literals in one way."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOATING = "floating"
    BIT = "bit"
    YEAR = "year"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    TEXT = "text"
    BYTES = "bytes"
    MEMBERS = "members"
    DOCUMENT = "document"
    GEOMETRY = "geometry"
    NETWORK = "network"
    VECTOR = "vector"


class AlterClass(enum.Enum):
    """Families that an ALTER TABLE converts from and to in one way."""

    NUMBER = "number"
    YEAR = "year"
    DAY = "day"
    TIME = "time"
    TEXT = "text"
    BYTES = "bytes"
    MEMBER = "member"
    DOCUMENT = "document"
    GEOMETRY = "geometry"
    NETWORK = "network"
    VECTOR = "vector"


ALTER_CLASSES = {
    Family.INTEGER: AlterClass.NUMBER, Family.DECIMAL: AlterClass.NUMBER, Family.FLOATING: AlterClass.NUMBER,
    Family.BIT: AlterClass.NUMBER, Family.YEAR: AlterClass.YEAR, Family.DATE: AlterClass.DAY,
    Family.DATETIME: AlterClass.DAY, Family.TIME: AlterClass.TIME, Family.TEXT: AlterClass.TEXT,
    Family.BYTES: AlterClass.BYTES, Family.MEMBERS: AlterClass.MEMBER, Family.DOCUMENT: AlterClass.DOCUMENT,
    Family.GEOMETRY: AlterClass.GEOMETRY, Family.NETWORK: AlterClass.NETWORK, Family.VECTOR: AlterClass.VECTOR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeEntry:
    """A type under the lower-case name that information_schema shows.

    `wire`: as what logs have its columns, first the one that servers write today. `arrow`: what a snapshot keeps its
    values in, which may depend on more (`applier.mysql.types.arrow_type`). `synonyms`: the other words that a CREATE
    TABLE may have for it, by themselves. `flavours`: the servers that have it.
    """

    name: str
    family: Family
    wire: tuple[WireType, ...]
    arrow: pa.DataType
    unsigned_arrow: pa.DataType | None = None
    synonyms: tuple[str, ...] = ()
    flavours: frozenset[str] = _BOTH
    bits: int = 0
    """Of an integer."""
    digits: int = 0
    """To how many ZEROFILL fills up an integer by itself."""
    prefix: int = 0
    """Of a TEXT or BLOB type: bytes of the length before its values in the log."""
    as_bytes: str = ""
    """The type that CHARACTER SET binary makes of it."""
    packed: int = 0
    """Bytes of an address."""
    implicit: str = ""
    """The text of its implicit default, where it is not that of its family."""
    shape: int = 0
    """The number of a geometry type in WKB, and in the log."""

    @property
    def alter_class(self) -> AlterClass:
        return ALTER_CLASSES[self.family]


_VARCHARS = (WireType.VARCHAR, WireType.VAR_STRING, WireType.VARCHAR_COMPRESSED)
_BLOBS = (WireType.BLOB, WireType.TINY_BLOB, WireType.MEDIUM_BLOB, WireType.LONG_BLOB, WireType.BLOB_COMPRESSED)
_WIDE = pa.decimal128(20, 0)


def _text(name: str, wire: tuple[WireType, ...], as_bytes: str, *synonyms: str, prefix: int = 0) -> TypeEntry:
    return TypeEntry(name=name, family=Family.TEXT, wire=wire, arrow=pa.string(), as_bytes=as_bytes, synonyms=synonyms,
                     prefix=prefix)


def _bytes(name: str, wire: tuple[WireType, ...], prefix: int = 0) -> TypeEntry:
    return TypeEntry(name=name, family=Family.BYTES, wire=wire, arrow=pa.binary(), prefix=prefix)


def _geometry(name: str, shape: int, flavours: frozenset[str] = _BOTH) -> TypeEntry:
    return TypeEntry(name=name, family=Family.GEOMETRY, wire=(WireType.GEOMETRY,), arrow=pa.binary(), shape=shape,
                     flavours=flavours)


def _network(name: str, packed: int, implicit: str) -> TypeEntry:
    return TypeEntry(name=name, family=Family.NETWORK, wire=(WireType.STRING,), arrow=pa.string(), packed=packed,
                     implicit=implicit, flavours=_MARIADB)


TYPES = {entry.name: entry for entry in (
    TypeEntry(name="tinyint", family=Family.INTEGER, wire=(WireType.TINY,), arrow=pa.int8(), unsigned_arrow=pa.int16(),
              bits=8, digits=3, synonyms=("INT1",)),
    TypeEntry(name="smallint", family=Family.INTEGER, wire=(WireType.SHORT,), arrow=pa.int16(),
              unsigned_arrow=pa.int32(), bits=16, digits=5, synonyms=("INT2",)),
    TypeEntry(name="mediumint", family=Family.INTEGER, wire=(WireType.INT24,), arrow=pa.int32(),
              unsigned_arrow=pa.int32(), bits=24, digits=8, synonyms=("INT3", "MIDDLEINT")),
    TypeEntry(name="int", family=Family.INTEGER, wire=(WireType.LONG,), arrow=pa.int32(), unsigned_arrow=pa.int64(),
              bits=32, digits=10, synonyms=("INT4", "INTEGER")),
    TypeEntry(name="bigint", family=Family.INTEGER, wire=(WireType.LONGLONG,), arrow=pa.int64(), unsigned_arrow=_WIDE,
              bits=64, digits=20, synonyms=("INT8",)),
    TypeEntry(name="decimal", family=Family.DECIMAL, wire=(WireType.NEWDECIMAL,), arrow=pa.decimal128(10, 0),
              synonyms=("DEC", "NUMERIC", "FIXED")),
    TypeEntry(name="float", family=Family.FLOATING, wire=(WireType.FLOAT,), arrow=pa.float32(), synonyms=("FLOAT4",)),
    TypeEntry(name="double", family=Family.FLOATING, wire=(WireType.DOUBLE,), arrow=pa.float64(), synonyms=("FLOAT8",)),
    TypeEntry(name="bit", family=Family.BIT, wire=(WireType.BIT,), arrow=pa.int64()),
    TypeEntry(name="year", family=Family.YEAR, wire=(WireType.YEAR,), arrow=pa.int16()),
    TypeEntry(name="date", family=Family.DATE, wire=(WireType.DATE, WireType.NEWDATE), arrow=pa.date32()),
    TypeEntry(name="datetime", family=Family.DATETIME, wire=(WireType.DATETIME2, WireType.DATETIME),
              arrow=pa.timestamp("us")),
    TypeEntry(name="timestamp", family=Family.DATETIME, wire=(WireType.TIMESTAMP2, WireType.TIMESTAMP),
              arrow=pa.timestamp("us", tz="UTC")),
    TypeEntry(name="time", family=Family.TIME, wire=(WireType.TIME2, WireType.TIME), arrow=pa.duration("us")),
    _text("char", (WireType.STRING,), "binary", "CHARACTER"),
    _text("varchar", _VARCHARS, "varbinary", "VARCHARACTER"),
    _text("tinytext", _BLOBS, "tinyblob", prefix=1),
    _text("text", _BLOBS, "blob", prefix=2),
    _text("mediumtext", _BLOBS, "mediumblob", prefix=3),
    _text("longtext", _BLOBS, "longblob", prefix=4),
    _bytes("binary", (WireType.STRING,)),
    _bytes("varbinary", _VARCHARS),
    _bytes("tinyblob", _BLOBS, prefix=1),
    _bytes("blob", _BLOBS, prefix=2),
    _bytes("mediumblob", _BLOBS, prefix=3),
    _bytes("longblob", _BLOBS, prefix=4),
    TypeEntry(name="enum", family=Family.MEMBERS, wire=(WireType.ENUM,), arrow=pa.string()),
    TypeEntry(name="set", family=Family.MEMBERS, wire=(WireType.SET,), arrow=pa.string()),
    TypeEntry(name="json", family=Family.DOCUMENT, wire=(WireType.JSON,), arrow=pa.string(), implicit="null",
              flavours=_MYSQL),
    _geometry("geometry", 0),
    _geometry("point", 1),
    _geometry("linestring", 2),
    _geometry("polygon", 3),
    _geometry("multipoint", 4),
    _geometry("multilinestring", 5),
    _geometry("multipolygon", 6),
    _geometry("geomcollection", 7, _MYSQL),
    _geometry("geometrycollection", 7, _MARIADB),
    _network("inet4", 4, "0.0.0.0"),
    _network("inet6", 16, "::"),
    _network("uuid", 16, "00000000-0000-0000-0000-000000000000"),
    TypeEntry(name="vector", family=Family.VECTOR, wire=(WireType.VECTOR, WireType.VARCHAR),
              arrow=pa.list_(pa.float32())),
)}
"""Every type that a column may have, by `ColumnType.base`."""


def types_of(*families: Family) -> frozenset[str]:
    """The names of the types of these families."""
    return frozenset(name for name, entry in TYPES.items() if entry.family in families)
