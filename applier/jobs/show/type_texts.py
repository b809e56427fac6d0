"""The text that `-vv` prints behind values: the type in the log, as the servers' own programs name it."""

from collections.abc import Iterator

from applier.binlog.events.table_map import TableMap
from applier.mysql.wire_types import WireType

_PLAIN = {
    WireType.LONG: "INT", WireType.TINY: "TINYINT", WireType.SHORT: "SHORTINT", WireType.INT24: "MEDIUMINT",
    WireType.LONGLONG: "LONGINT", WireType.FLOAT: "FLOAT", WireType.DOUBLE: "DOUBLE",
    WireType.TIMESTAMP: "TIMESTAMP", WireType.DATETIME: "DATETIME", WireType.TIME: "TIME", WireType.DATE: "DATE",
    WireType.NEWDATE: "DATE", WireType.YEAR: "YEAR", WireType.JSON: "JSON", WireType.GEOMETRY: "GEOMETRY",
}  # fmt: skip
_FRACTIONAL = {WireType.TIMESTAMP2: "TIMESTAMP", WireType.DATETIME2: "DATETIME", WireType.TIME2: "TIME"}
_BLOBS = "TINYBLOB/TINYTEXT", "BLOB/TEXT", "MEDIUMBLOB/MEDIUMTEXT", "LONGBLOB/LONGTEXT"
_BYTES = {WireType.FLOAT: 4, WireType.DOUBLE: 8}
_IN_STRING = {WireType.ENUM: 0xF7, WireType.SET: 0xF8}
_STRING = 0xFE


def type_texts(table: TableMap) -> Iterator[str]:
    """Yield for each column the text behind its values, up to whether one is NULL."""
    for column, (kind, metadata) in enumerate(zip(table.types, table.metadata, strict=True)):
        name = f"VECTOR({table.dimensions[column] or 0})" if kind == WireType.VECTOR else _name(kind, metadata)
        yield f" /* {name} meta={_logged(kind, metadata)} nullable={int(table.nullable[column])} is_null="


def _name(kind: int, metadata: int) -> str:
    if kind in _PLAIN:
        return _PLAIN[WireType(kind)]
    if kind in _FRACTIONAL:
        return f"{_FRACTIONAL[WireType(kind)]}({metadata})"
    match kind:
        case WireType.NEWDECIMAL:
            return f"DECIMAL({metadata >> 8},{metadata & 255})"
        case WireType.BIT:
            return f"BIT({(metadata >> 8) * 8 + (metadata & 255)})"
        case WireType.ENUM:
            return "ENUM(1 byte)" if metadata == 1 else f"ENUM({metadata} bytes)"
        case WireType.SET:
            return f"SET({metadata} bytes)"
        case WireType.STRING:
            return f"STRING({metadata})"
        case WireType.VARCHAR | WireType.VAR_STRING:
            return f"VARSTRING({metadata})"
        case WireType.VARCHAR_COMPRESSED:
            return f"VARSTRING({metadata}) COMPRESSED"
        case WireType.BLOB_COMPRESSED:
            return f"{_BLOBS[metadata - 1]} COMPRESSED" if 0 < metadata <= len(_BLOBS) else "BLOB COMPRESSED"
    return _BLOBS[metadata - 1] if 0 < metadata <= len(_BLOBS) else WireType(kind).name


def _logged(kind: int, metadata: int) -> int:
    """Return the number that the log has: of types that are strings there, with their own type in its upper byte."""
    if kind in _IN_STRING:
        return _IN_STRING[WireType(kind)] << 8 | metadata
    if kind == WireType.STRING:
        return (_STRING ^ (metadata & 0x300) >> 4) << 8 | metadata & 0xFF
    return _BYTES.get(WireType(kind), metadata)
