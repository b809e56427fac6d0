"""Do the columns of a TABLE_MAP event and those of a table definition agree?

Without type conversions a replica stops where they do not (AP-POS; MySQL manual, "Replication with Differing Table
Definitions on Source and Replica"). It guards against a definition from another time than the log's, too: decoding with
it would give wrong values and no error.
"""

from typing import Protocol

from applier.binlog.table_map import WireType
from applier.errors import COLUMN_CONVERSION, ReplayStopped
from applier.schema.collations import by_id, bytes_per_character
from applier.schema.definition import TableDefinition
from applier.schema.types import BINARY, CHARACTER, FRACTIONAL, GEOMETRY, NETWORK, ColumnType

_WIRE = {
    "tinyint": {WireType.TINY}, "smallint": {WireType.SHORT}, "mediumint": {WireType.INT24}, "int": {WireType.LONG},
    "bigint": {WireType.LONGLONG}, "decimal": {WireType.NEWDECIMAL}, "float": {WireType.FLOAT},
    "double": {WireType.DOUBLE}, "bit": {WireType.BIT}, "year": {WireType.YEAR}, "json": {WireType.JSON},
    "date": {WireType.DATE, WireType.NEWDATE}, "time": {WireType.TIME, WireType.TIME2},
    "datetime": {WireType.DATETIME, WireType.DATETIME2}, "timestamp": {WireType.TIMESTAMP, WireType.TIMESTAMP2},
    "char": {WireType.STRING}, "binary": {WireType.STRING}, "enum": {WireType.ENUM}, "set": {WireType.SET},
    "varchar": {WireType.VARCHAR, WireType.VAR_STRING, WireType.VARCHAR_COMPRESSED},
    "varbinary": {WireType.VARCHAR, WireType.VAR_STRING, WireType.VARCHAR_COMPRESSED}, "vector": {WireType.VECTOR},
} | {name: {WireType.GEOMETRY} for name in GEOMETRY} | {name: {WireType.STRING} for name in NETWORK}
_BLOBS = {WireType.TINY_BLOB, WireType.BLOB, WireType.MEDIUM_BLOB, WireType.LONG_BLOB, WireType.BLOB_COMPRESSED}
_LENGTH_BYTES = {"tiny": 1, "medium": 3, "long": 4}  # of TEXT and BLOB types, by the start of their names; else 2
_NEW_TEMPORAL = {WireType.TIME2, WireType.DATETIME2, WireType.TIMESTAMP2}


class ColumnsInLog(Protocol):
    """A parsed TABLE_MAP event: see applier.binlog.table_map.TableMap for what the fields hold."""

    types: tuple[int, ...]
    metadata: tuple[int, ...]

    @property
    def unsigned(self) -> tuple[bool | None, ...]: ...

    def collations(self, flavour: str) -> tuple[int | None, ...]: ...


def definition_check(table_map: ColumnsInLog, definition: TableDefinition) -> ReplayStopped | None:
    """None where each column in the log has the type that the definition gives it; else the error to stop with."""
    if len(table_map.types) != len(definition.columns):
        return _stop(f"the log's rows have {len(table_map.types)} columns, the table has {len(definition.columns)}",
                     definition)
    columns = zip(definition.columns, table_map.types, table_map.metadata, table_map.unsigned, strict=True)
    for column, wire_type, metadata, unsigned in columns:
        if not _agrees(column.type, wire_type, metadata, unsigned):
            return _stop(f"column {column.name} is {describe(wire_type, metadata, unsigned)} in the log and "
                         f"{column.type.sql()} in the table", definition)
    for column, collation in zip(definition.columns, table_map.collations(definition.flavour), strict=True):
        logged = _charset(collation)
        if logged is not None and column.type.charset is not None and logged != column.type.charset:
            return _stop(f"column {column.name} has the character set {logged} in the log and {column.type.charset} in "
                         "the table", definition,
                         "give the table's definition at the first binlog's start with --schema, or, where the log "
                         "makes the table, its database's as CREATE DATABASE … CHARACTER SET …")
    return None


def _charset(collation: int | None) -> str | None:
    """A collation's character set, None where it is not known. Text that is read in another one is wrong text."""
    try:
        return by_id(collation).charset if collation is not None else None
    except KeyError:
        return None


def _stop(message: str, definition: TableDefinition,
          hint: str = "give the table's definition at the first binlog's start with --schema") -> ReplayStopped:
    return ReplayStopped(message, table=definition.full_name, errno=COLUMN_CONVERSION, hint=hint)


def _agrees(column_type: ColumnType, wire_type: int, metadata: int, unsigned: bool | None) -> bool:
    base = column_type.base
    if unsigned is not None and unsigned != column_type.unsigned and base != "year":
        return False
    if base.endswith(("text", "blob")):
        prefix = next((size for start, size in _LENGTH_BYTES.items() if base.startswith(start)), 2)
        return wire_type in _BLOBS and metadata == prefix
    if wire_type not in _WIRE[base]:
        return False
    if base == "decimal":
        return metadata == (column_type.precision or 10) << 8 | (column_type.scale or 0)
    if base == "bit":
        return (metadata >> 8) * 8 + (metadata & 0xFF) == column_type.length
    if base in FRACTIONAL:
        return wire_type not in _NEW_TEMPORAL or metadata == column_type.fsp
    if base == "enum":
        return metadata == (1 if len(column_type.members) < 256 else 2)
    if base == "set":
        n_bytes = (len(column_type.members) + 7) // 8
        return metadata == (n_bytes if n_bytes <= 4 else 8)
    if base in CHARACTER | BINARY and not column_type.compressed:
        return metadata == _bytes(column_type)
    return True


def _bytes(column_type: ColumnType) -> int:
    """The longest value of a CHAR, VARCHAR, BINARY or VARBINARY column in bytes."""
    width = bytes_per_character(column_type.charset) if column_type.charset else 1
    return (column_type.length or 0) * width


def describe(wire_type: int, metadata: int, unsigned: bool | None = None) -> str:
    """A column's type as far as a TABLE_MAP event tells it, for messages."""
    name = WireType(wire_type).name
    if wire_type == WireType.NEWDECIMAL:
        name = f"DECIMAL({metadata >> 8},{metadata & 0xFF})"
    elif wire_type == WireType.BIT:
        name = f"BIT({(metadata >> 8) * 8 + (metadata & 0xFF)})"
    elif wire_type in (WireType.STRING, WireType.VARCHAR, WireType.VAR_STRING):
        name = f"{name} of {metadata} bytes"
    elif wire_type in _BLOBS:
        name = f"{name} with a length of {metadata} bytes"
    elif wire_type in _NEW_TEMPORAL:
        name = f"{name[:-1]}({metadata})"
    return name + (" unsigned" if unsigned else "")
