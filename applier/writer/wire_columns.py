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
from applier.mysql.character_sets.collations import default_id
from applier.mysql.type_registry import Family
from applier.mysql.types import GEOMETRY
from applier.mysql.value_sizes import member_bytes, most_bytes
from applier.mysql.wire_types import FORMS, Metadata, WireType
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column

DEFAULT_CHARSET, COLUMN_CHARSET, GEOMETRY_TYPE, VECTOR_DIMENSIONS = 2, 3, 7, 13

_MAX_VECTOR_DIMENSIONS = 2048  # of a VECTOR without a length


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
        wire_type, metadata = _wire_type(column, table.flavour)
        collation = None
        if "mysql" in FORMS[wire_type].collation:
            collation = default_id(column.type.charset or "binary")
        columns.append(WireColumn(column.name, wire_type, metadata, column.nullable, column.type.unsigned, collation))
    return tuple(columns)


def _wire_type(column: Column, flavour: str) -> tuple[WireType, int]:
    kind, entry = column.type, column.type.entry
    wire_type = entry.wire[0]
    match entry.family:
        case Family.INTEGER | Family.YEAR | Family.DATE:
            return wire_type, 0
        case Family.FLOATING:
            return wire_type, FORMS[wire_type].width
        case Family.DECIMAL:
            return wire_type, (10 if kind.precision is None else kind.precision) << 8 | (kind.scale or 0)
        case Family.BIT:
            whole, over = divmod(1 if kind.length is None else kind.length, 8)
            return wire_type, whole << 8 | over
        case Family.DATETIME | Family.TIME:
            return wire_type, kind.fsp
        case Family.MEMBERS:
            return wire_type, member_bytes(kind)
        case Family.NETWORK:
            return wire_type, entry.packed
        case Family.VECTOR if flavour == "mariadb":
            return WireType.VARCHAR, 4 * (kind.length or 0)
        case Family.DOCUMENT | Family.GEOMETRY | Family.VECTOR:
            return wire_type, 4
    if entry.prefix:
        return (WireType.BLOB_COMPRESSED if kind.compressed else wire_type), entry.prefix
    # MariaDB's compressed columns have one byte more, for the header of the compressed value
    return (WireType.VARCHAR_COMPRESSED, most_bytes(kind) + 1) if kind.compressed else (wire_type, most_bytes(kind))


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
    match FORMS[kind].metadata:
        case Metadata.NONE:
            return b""
        case Metadata.BYTE:
            return bytes((value,))
        case Metadata.TWO_BYTES:
            return value.to_bytes(2, "little")
        case Metadata.DIGITS:
            return value.to_bytes(2, "big")
        case Metadata.REAL_TYPE:
            # two bits of a length over 255 hide, inverted, in the type byte (MySQL bug 37426)
            return bytes((kind ^ (value & 0x300) >> 4, value & 0xFF))


def _optional_metadata(table: TableDefinition) -> bytes:
    columns, fields = wire_columns(table), []
    numbers = [column.unsigned or column.type == WireType.YEAR for column in columns if FORMS[column.type].numeric]
    if numbers:
        size = (len(numbers) + 7) // 8
        bits = sum(unsigned << (size * 8 - 1 - index) for index, unsigned in enumerate(numbers))
        fields.append((SIGNEDNESS, bits.to_bytes(size, "big")))
    collations = [column.collation for column in columns if column.collation is not None]
    if len(set(collations)) == 1:
        fields.append((DEFAULT_CHARSET, packed_integer(collations[0])))
    elif collations:
        fields.append((COLUMN_CHARSET, b"".join(map(packed_integer, collations))))
    geometries = bytes(column.type.entry.shape for column in table.columns if column.type.base in GEOMETRY)
    if geometries:
        fields.append((GEOMETRY_TYPE, geometries))
    vectors = [column.type.length or _MAX_VECTOR_DIMENSIONS for column, wire in zip(table.columns, columns, strict=True)
               if wire.type == WireType.VECTOR]
    if vectors:
        fields.append((VECTOR_DIMENSIONS, b"".join(map(packed_integer, vectors))))
    return b"".join(bytes((kind,)) + packed_integer(len(value)) + value for kind, value in fields)
