"""Makes a table's definition from a TABLE_MAP event with full metadata (binlog_row_metadata=FULL).

The log has the columns' names, types, character sets, nullability and visibility, the labels of ENUM and SET, and the
primary key, or the unique key that a server uses as one. It does not have other keys, defaults, the digits of a
DOUBLE(M,D), nor which columns are generated; a MariaDB log does not have visibility, either, INET4, INET6 and UUID look
like BINARY there, and JSON like LONGTEXT.

Source: MySQL source documentation, class Table_map_event ("optional metadata fields").
"""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from applier.binlog.events.table_map import TableMap
from applier.errors import CORRUPT_EVENT, ArchiveError, SchemaError
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.collations import Charset, by_id, bytes_per_character
from applier.mysql.type_registry import TYPES, Family, TypeEntry, types_of
from applier.mysql.types import FRACTIONAL, ColumnType
from applier.mysql.wire_types import COMPRESSED, WireType
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Key, KeyPart

COLUMN_NAME, SET_LABELS, ENUM_LABELS, GEOMETRY_TYPE, SIMPLE_KEY, KEY_WITH_PREFIXES = range(4, 10)
ENUM_AND_SET_DEFAULT_CHARSET, ENUM_AND_SET_CHARSET, VISIBILITY = range(10, 13)
"""Kinds of optional metadata; the others are in applier.binlog.events.table_map."""

_BINARY = Charset("binary", "binary")
_GEOMETRIES = tuple({entry.shape: name for name, entry in TYPES.items() if entry.family is Family.GEOMETRY}.values())
_STRINGS = frozenset(code for name in ("char", "varchar", "text") for code in TYPES[name].wire)
_BY_WIRE: dict[int, TypeEntry] = {
    code: entry for entry in TYPES.values() for code in entry.wire if code not in _STRINGS
}
"""Families whose wire type alone identifies the column type."""


def has_definition(table_map: TableMap) -> bool:
    """Return whether the log was written with full metadata."""
    return COLUMN_NAME in table_map.optional


def definition_from_log(table_map: TableMap, name: TableName, flavour: str) -> TableDefinition:
    """Return the table of that name as the log describes it. Raises SchemaError if the log does not, or has a column
    that it does not describe enough; ArchiveError (1610) if the metadata is malformed."""
    if not has_definition(table_map):
        raise SchemaError("the log does not describe the table's columns", table=".".join(name),
                          hint="it was written without binlog_row_metadata=FULL: give the CREATE TABLE with --schema")
    try:
        names = [text.decode() for text in _texts(table_map.optional[COLUMN_NAME])]
        types = _types(table_map, flavour, ".".join(name))
        visible = table_map.optional.get(VISIBILITY)
        hidden = [visible is not None and not _bit(visible, number) for number in range(len(names))]
        columns = tuple(Column(column, column_type, nullable, invisible=is_hidden) for
                        column, column_type, nullable, is_hidden in
                        zip(names, types, table_map.nullable, hidden, strict=True))
        return TableDefinition(*name, columns, tuple(_primary_key(table_map, names)), flavour=flavour)
    except (IndexError, ValueError, StopIteration) as error:
        reason = str(error) or "it does not describe all columns"
        raise ArchiveError(f"the metadata of a TABLE_MAP event is malformed: {reason}", table=".".join(name),
                           errno=CORRUPT_EVENT, hint="the file is damaged; copy it again from the server") from None


def _types(table_map: TableMap, flavour: str, table: str) -> list[ColumnType]:
    collations = [None if collation is None else _charset(collation, table)
                  for collation in table_map.collations(flavour)]
    labelled = [kind for kind in table_map.types if kind in (WireType.ENUM, WireType.SET)]
    charsets = iter(_label_charsets(table_map, len(labelled), table))
    sets, enums = (_members(table_map.optional.get(kind, b"")) for kind in (SET_LABELS, ENUM_LABELS))
    shapes = _packed(table_map.optional.get(GEOMETRY_TYPE, b""))
    found = []
    for number, (kind, metadata) in enumerate(zip(table_map.types, table_map.metadata, strict=True)):
        if kind in (WireType.ENUM, WireType.SET):
            charset, labels = next(charsets), next(enums if kind == WireType.ENUM else sets)
            members = tuple(to_utf8(pa.array(labels, pa.binary()), charset.charset).to_pylist())
            found.append(ColumnType("enum" if kind == WireType.ENUM else "set", members=members,
                                    charset=charset.charset, collation=charset.collation))
        elif kind == WireType.GEOMETRY:
            found.append(ColumnType(_GEOMETRIES[next(shapes, 0)]))
        elif kind == WireType.VECTOR:
            found.append(ColumnType("vector", length=table_map.dimensions[number]))
        else:
            found.append(_type(kind, metadata, bool(table_map.unsigned[number]), collations[number], table))
    return found


def _type(kind: int, metadata: int, unsigned: bool, collation: Charset | None, table: str) -> ColumnType:
    if kind in _BY_WIRE:
        entry = _BY_WIRE[kind]
        match entry.family:
            case Family.INTEGER | Family.FLOATING:
                return ColumnType(entry.name, unsigned=unsigned)
            case Family.DECIMAL:
                return ColumnType(entry.name, unsigned=unsigned, precision=metadata >> 8, scale=metadata & 0xFF)
            case Family.BIT:
                return ColumnType(entry.name, length=(metadata >> 8) * 8 + (metadata & 0xFF))
            case _:  # the old temporal types have no metadata
                return ColumnType(entry.name, fsp=metadata if entry.name in FRACTIONAL else 0)
    charset = collation or _BINARY
    is_text = charset.charset != "binary"
    text = ColumnType("text", charset=charset.charset, collation=charset.collation) if is_text else ColumnType("blob")
    compressed = kind in COMPRESSED
    if kind in (WireType.BLOB, WireType.BLOB_COMPRESSED):
        by_prefix = {prefix: name for name in types_of(text.entry.family) if (prefix := TYPES[name].prefix)}
        if metadata not in by_prefix:
            raise ValueError(f"a BLOB whose length has {metadata} bytes")
        return replace(text, base=by_prefix[metadata], compressed=compressed)
    length = metadata - compressed  # a byte says how the value is compressed
    if is_text:
        length //= bytes_per_character(charset.charset)
    if kind in TYPES["varchar"].wire:
        return replace(text, base="varchar" if is_text else "varbinary", length=length, compressed=compressed)
    if kind == WireType.STRING:
        return replace(text, base="char" if is_text else "binary", length=length)
    raise SchemaError(f"the log's metadata are not enough to decode a column of type {WireType(kind).name}",
                      table=table,
                      hint="give the CREATE TABLE with --schema")


def _charset(collation: int, table: str) -> Charset:
    try:
        return by_id(collation)
    except KeyError:
        raise SchemaError(f"unknown collation number {collation}", table=table,
                          hint="give the CREATE TABLE with --schema") from None


def _label_charsets(table_map: TableMap, n_columns: int, table: str) -> list[Charset]:
    """Return the character sets of ENUM and SET columns, in the same two forms as those of other columns."""
    each = table_map.optional.get(ENUM_AND_SET_CHARSET)
    if each is not None:
        numbers = list(_packed(each))
    else:
        default, *others = _packed(table_map.optional.get(ENUM_AND_SET_DEFAULT_CHARSET, b"\x21"))
        pairs = dict(zip(others[::2], others[1::2], strict=True))
        numbers = [pairs.get(number, default) for number in range(n_columns)]
    return [_charset(number, table) for number in numbers]


def _primary_key(table_map: TableMap, names: list[str]) -> Iterator[Key]:
    if SIMPLE_KEY in table_map.optional:
        parts = [KeyPart(names[number]) for number in _packed(table_map.optional[SIMPLE_KEY])]
    elif KEY_WITH_PREFIXES in table_map.optional:
        numbers = list(_packed(table_map.optional[KEY_WITH_PREFIXES]))
        parts = [KeyPart(names[number], length or None) for number, length in zip(numbers[::2], numbers[1::2],
                                                                                  strict=True)]
    else:
        return
    yield Key("PRIMARY", "primary", tuple(parts))


def _bit(bits: bytes, number: int) -> int:
    """Bits run from each byte's highest to its lowest."""
    return bits[number >> 3] >> (7 - number % 8) & 1


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a packed integer and the offset after it."""
    first = data[at]
    if first < 251:
        return first, at + 1
    length = {252: 2, 253: 3, 254: 8}.get(first)
    if length is None or at + 1 + length > len(data):
        raise ValueError("a packed integer is cut short")
    return int.from_bytes(data[at + 1:at + 1 + length], "little"), at + 1 + length


def _packed(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        number, at = _number(data, at)
        yield number


def _texts(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        length, at = _number(data, at)
        if at + length > len(data):
            raise ValueError("a text is cut short")
        yield data[at:at + length]
        at += length


def _members(data: bytes) -> Iterator[list[bytes]]:
    """Yield the labels of each column, after their number."""
    at = 0
    while at < len(data):
        count, at = _number(data, at)
        labels = []
        for _ in range(count):
            length, at = _number(data, at)
            if at + length > len(data):
                raise ValueError("a label is cut short")
            labels.append(data[at:at + length])
            at += length
        yield labels
