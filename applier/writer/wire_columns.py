"""How a TABLE_MAP event describes a table's columns: the wire type and metadata of each, and the event's body.

The inverse of `table_map.parse_table_map`: a TableDefinition in, bytes out, as a server with the default
`binlog_row_metadata=MINIMAL` writes them (MySQL source documentation, class Table_map_event). MariaDB's default writes
no optional metadata.

    INT and its kin        TINY, SHORT, INT24, LONG, LONGLONG   no metadata
    CHAR, BINARY           STRING                               longest value in bytes
    VARCHAR, VARBINARY     VARCHAR                              longest value in bytes
    TEXT, BLOB, JSON, …    BLOB, JSON, GEOMETRY, VECTOR         bytes of the length prefix
    ENUM, SET              STRING, with ENUM or SET inside      bytes of the value
"""

import dataclasses
import functools

from applier.binlog.events.table_map import SIGNEDNESS
from applier.mysql.types import GEOMETRY
from applier.mysql.wire_types import WireType
from applier.schema.definition import Column, TableDefinition

DEFAULT_CHARSET, COLUMN_CHARSET, GEOMETRY_TYPE, VECTOR_DIMENSIONS = 2, 3, 7, 13

_PLAIN = {
    "tinyint": WireType.TINY,
    "smallint": WireType.SHORT,
    "mediumint": WireType.INT24,
    "int": WireType.LONG,
    "bigint": WireType.LONGLONG,
    "date": WireType.DATE,
    "year": WireType.YEAR,
}
_FRACTIONAL = {"time": WireType.TIME2, "datetime": WireType.DATETIME2, "timestamp": WireType.TIMESTAMP2}
_BLOB_PREFIX = {
    "tinytext": 1,
    "text": 2,
    "mediumtext": 3,
    "longtext": 4,
    "tinyblob": 1,
    "blob": 2,
    "mediumblob": 3,
    "longblob": 4,
}
_NETWORK_BYTES = {"inet4": 4, "inet6": 16, "uuid": 16}
_GEOMETRY_CODES = {
    "geometry": 0,
    "point": 1,
    "linestring": 2,
    "polygon": 3,
    "multipoint": 4,
    "multilinestring": 5,
    "multipolygon": 6,
    "geomcollection": 7,
    "geometrycollection": 7,
}
_NUMERIC = {
    WireType.TINY,
    WireType.SHORT,
    WireType.INT24,
    WireType.LONG,
    WireType.LONGLONG,
    WireType.FLOAT,
    WireType.DOUBLE,
    WireType.NEWDECIMAL,
    WireType.YEAR,
}
_WITH_COLLATION = {WireType.STRING, WireType.VARCHAR, WireType.BLOB, WireType.VECTOR}
_ONE_BYTE_METADATA = {
    WireType.FLOAT,
    WireType.DOUBLE,
    WireType.TIME2,
    WireType.DATETIME2,
    WireType.TIMESTAMP2,
    WireType.BLOB,
    WireType.JSON,
    WireType.GEOMETRY,
    WireType.VECTOR,
    WireType.BLOB_COMPRESSED,
}
_BINARY_COLLATION = 63
_MAX_VECTOR_DIMENSIONS = 2048  # of a VECTOR without a length

CHARACTER_BYTES = {
    "utf8mb4": 4,
    "utf16": 4,
    "utf16le": 4,
    "utf32": 4,
    "gb18030": 4,
    "utf8mb3": 3,
    "ujis": 3,
    "eucjpms": 3,
    "ucs2": 2,
    "gbk": 2,
    "gb2312": 2,
    "sjis": 2,
    "cp932": 2,
    "big5": 2,
    "euckr": 2,
}
"""The most bytes that a character takes, if it is not one (information_schema.character_sets)."""

_COLLATIONS = {
    "big5": 1,
    "dec8": 3,
    "cp850": 4,
    "hp8": 6,
    "koi8r": 7,
    "latin1": 8,
    "latin2": 9,
    "swe7": 10,
    "ascii": 11,
    "ujis": 12,
    "sjis": 13,
    "hebrew": 16,
    "tis620": 18,
    "euckr": 19,
    "koi8u": 22,
    "gb2312": 24,
    "greek": 25,
    "cp1250": 26,
    "gbk": 28,
    "latin5": 30,
    "armscii8": 32,
    "utf8mb3": 33,
    "ucs2": 35,
    "cp866": 36,
    "keybcs2": 37,
    "macce": 38,
    "macroman": 39,
    "cp852": 40,
    "latin7": 41,
    "cp1251": 51,
    "utf16": 54,
    "utf16le": 56,
    "cp1256": 57,
    "cp1257": 59,
    "utf32": 60,
    "binary": _BINARY_COLLATION,
    "geostd8": 92,
    "cp932": 95,
    "eucjpms": 97,
    "gb18030": 248,
    "utf8mb4": 255,
}
"""Each character set's default collation by MySQL's number (information_schema.collations)."""


@dataclasses.dataclass(frozen=True, slots=True)
class WireColumn:
    """A column as the row images hold it; `type` and `metadata` as `TableMap` has them. `unsigned` is for numbers."""

    name: str
    type: WireType
    metadata: int
    nullable: bool
    unsigned: bool = False
    collation: int | None = None


@functools.lru_cache(maxsize=256)
def wire_columns(table: TableDefinition) -> tuple[WireColumn, ...]:
    """All columns of the table in the order of its row images; KeyError for a type that no server logs."""
    columns = []
    for column in table.columns:
        wire_type, metadata = _wire_type(column)
        collation = None
        if wire_type in _WITH_COLLATION:
            collation = _COLLATIONS.get(column.type.charset or "", _BINARY_COLLATION)
        columns.append(WireColumn(column.name, wire_type, metadata, column.nullable, column.type.unsigned, collation))
    return tuple(columns)


def _wire_type(column: Column) -> tuple[WireType, int]:
    kind, base = column.type, column.type.base
    if base in _PLAIN:
        return _PLAIN[base], 0
    if base in _FRACTIONAL:
        return _FRACTIONAL[base], kind.fsp
    if base in _BLOB_PREFIX:
        return (WireType.BLOB_COMPRESSED if kind.compressed else WireType.BLOB), _BLOB_PREFIX[base]
    if base in ("float", "double"):
        return (WireType.FLOAT, 4) if base == "float" else (WireType.DOUBLE, 8)
    if base == "decimal":
        return WireType.NEWDECIMAL, (10 if kind.precision is None else kind.precision) << 8 | (kind.scale or 0)
    if base == "bit":
        whole, over = divmod(1 if kind.length is None else kind.length, 8)
        return WireType.BIT, whole << 8 | over
    if base in ("varchar", "varbinary"):
        length = (kind.length or 0) * CHARACTER_BYTES.get(kind.charset or "", 1)
        # MariaDB's compressed columns have one byte more, for the header of the compressed value
        return (WireType.VARCHAR_COMPRESSED, length + 1) if kind.compressed else (WireType.VARCHAR, length)
    if base in ("char", "binary"):
        return WireType.STRING, (1 if kind.length is None else kind.length) * CHARACTER_BYTES.get(kind.charset or "", 1)
    if base == "enum":
        return WireType.ENUM, 1 if len(kind.members) < 256 else 2
    if base == "set":
        size = (len(kind.members) + 7) // 8
        return WireType.SET, size if size <= 4 else 8
    if base in _NETWORK_BYTES:
        return WireType.STRING, _NETWORK_BYTES[base]
    if base in GEOMETRY:
        return WireType.GEOMETRY, 4
    return {"json": WireType.JSON, "vector": WireType.VECTOR}[base], 4


@functools.lru_cache(maxsize=256)
def encode_table_map(table: TableDefinition) -> bytes:
    """The body of the table's TABLE_MAP events after the 6-byte table id, without checksum."""
    columns = wire_columns(table)
    types = bytes(
        WireType.STRING if column.type in (WireType.ENUM, WireType.SET) else column.type for column in columns
    )
    metadata = b"".join(_metadata(column) for column in columns)
    nullable = sum(column.nullable << index for index, column in enumerate(columns))
    body = (1).to_bytes(2, "little") + _name(table.database) + _name(table.name) + packed_integer(len(columns)) + types
    body += packed_integer(len(metadata)) + metadata + nullable.to_bytes((len(columns) + 7) // 8, "little")
    return body + _optional_metadata(table) if table.flavour == "mysql" else body


def packed_integer(value: int) -> bytes:
    """A length as the protocol packs it: one byte up to 250, else 0xFC, 0xFD or 0xFE and 2, 3 or 8 bytes."""
    if value < 251:
        return bytes((value,))
    marker, size = (252, 2) if value < 1 << 16 else (253, 3) if value < 1 << 24 else (254, 8)
    return bytes((marker,)) + value.to_bytes(size, "little")


def _name(name: str) -> bytes:
    encoded = name.encode()
    return bytes((len(encoded),)) + encoded + b"\0"


def _metadata(column: WireColumn) -> bytes:
    kind, value = column.type, column.metadata
    if kind in _ONE_BYTE_METADATA:
        return bytes((value,))
    if kind in (WireType.VARCHAR, WireType.VARCHAR_COMPRESSED):
        return value.to_bytes(2, "little")
    if kind == WireType.BIT:
        return bytes((value & 0xFF, value >> 8))
    if kind == WireType.NEWDECIMAL:
        return value.to_bytes(2, "big")
    if kind in (WireType.ENUM, WireType.SET):
        return bytes((kind, value))
    if kind == WireType.STRING:
        # two bits of a length over 255 hide, inverted, in the type byte (MySQL bug 37426)
        return bytes((WireType.STRING ^ (value & 0x300) >> 4, value & 0xFF))
    return b""


def _optional_metadata(table: TableDefinition) -> bytes:
    columns, fields = wire_columns(table), []
    numbers = [column.unsigned or column.type == WireType.YEAR for column in columns if column.type in _NUMERIC]
    if numbers:
        size = (len(numbers) + 7) // 8
        bits = sum(unsigned << (size * 8 - 1 - index) for index, unsigned in enumerate(numbers))
        fields.append((SIGNEDNESS, bits.to_bytes(size, "big")))
    collations = [column.collation for column in columns if column.collation is not None]
    if len(set(collations)) == 1:
        fields.append((DEFAULT_CHARSET, packed_integer(collations[0])))
    elif collations:
        fields.append((COLUMN_CHARSET, b"".join(map(packed_integer, collations))))
    geometries = bytes(_GEOMETRY_CODES[column.type.base] for column in table.columns if column.type.base in GEOMETRY)
    if geometries:
        fields.append((GEOMETRY_TYPE, geometries))
    vectors = [column.type.length or _MAX_VECTOR_DIMENSIONS for column in table.columns if column.type.base == "vector"]
    if vectors:
        fields.append((VECTOR_DIMENSIONS, b"".join(map(packed_integer, vectors))))
    return b"".join(bytes((kind,)) + packed_integer(len(value)) + value for kind, value in fields)
