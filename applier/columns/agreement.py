"""Compares the columns of a TABLE_MAP event with those of a table definition.

A replica stops if they differ, unless it is allowed to convert them (AP-POS; `type_conversions`). This also guards
against a definition from another time than the log's: decoding with it would give wrong values and no error.
"""

from typing import Protocol

from applier.columns.type_conversions import (
    NEW_TEMPORAL,
    NONE_ALLOWED,
    TypeConversions,
    logged_bytes,
    step_between,
    type_in_log,
)
from applier.errors import COLUMN_CONVERSION, ReplayStopped
from applier.mysql.character_sets.collations import by_id
from applier.mysql.types import BINARY, FRACTIONAL, MEMBERS, TEXT, ColumnType
from applier.mysql.value_sizes import member_bytes, most_bytes
from applier.mysql.wire_types import COMPRESSED, WireType
from applier.schema.definition import TableDefinition

_GIVE_DEFINITION = "give the table's definition at the first binlog's start with --schema"


class ColumnsInLog(Protocol):
    """A parsed TABLE_MAP event: applier.binlog.events.table_map.TableMap describes the fields."""

    @property
    def types(self) -> tuple[int, ...]: ...

    @property
    def metadata(self) -> tuple[int, ...]: ...

    @property
    def unsigned(self) -> tuple[bool | None, ...]: ...

    @property
    def dimensions(self) -> tuple[int | None, ...]: ...

    def collations(self, flavour: str) -> tuple[int | None, ...]: ...


def definition_check(table_map: ColumnsInLog, definition: TableDefinition,
                     allowed: TypeConversions = NONE_ALLOWED, *, same_columns: bool = True) -> ReplayStopped | None:
    """Compare the columns: None if each column in the log has the type that the definition gives it, or one that may be
    converted to it; else the error to stop with. Without `same_columns` either side may have more columns at its end.

    A server does not compare signs, character sets, or fractional digits in the same bytes: if no conversions are
    allowed, they are compared here, character sets only if the source's table cannot have others.
    """
    if same_columns and len(table_map.types) - _hashes(table_map, definition) != len(definition.columns):
        return _stop(f"the log's rows have {len(table_map.types)} columns, the table has {len(definition.columns)}",
                     definition)
    columns = zip(definition.columns, table_map.types, table_map.metadata, table_map.unsigned, table_map.dimensions,
                  strict=False)
    for number, (column, wire_type, metadata, unsigned, dimensions) in enumerate(columns):
        why = _refusal(column.type, wire_type, metadata, unsigned, allowed, definition.flavour)
        if why or dimensions not in (None, column.type.length):
            logged = type_in_log(wire_type, metadata, unsigned) + f"({dimensions})" * (dimensions is not None)
            return _stop(f"column {number}, {column.name}, cannot be converted from type '{logged}' to type "
                         f"'{column.type.sql()}'", definition, why or _GIVE_DEFINITION)
    if allowed.any or definition.other_charsets:
        return None
    for column, collation in zip(definition.columns, table_map.collations(definition.flavour), strict=False):
        charset = _charset(collation)
        if charset is not None and column.type.charset is not None and charset != column.type.charset:
            return _stop(f"column {column.name} has the character set {charset} in the log and {column.type.charset} "
                         "in the table", definition,
                         "give the table's definition at the first binlog's start with --schema, or, where the log "
                         "makes the table, its database's as CREATE DATABASE … CHARACTER SET …")
    return None


def _hashes(table_map: ColumnsInLog, definition: TableDefinition) -> int:
    """Return the number of hidden columns at the end in the log: MariaDB has a number for each unique key that is too
    long for an index, or made USING HASH. Here rows are distinguished by the key's own columns."""
    more = table_map.types[len(definition.columns):]
    unique = sum(key.kind == "unique" for key in definition.keys)
    return len(more) if definition.flavour == "mariadb" and set(more) == {WireType.LONGLONG} and len(more) <= unique \
        else 0


def _refusal(column_type: ColumnType, wire_type: int, metadata: int, unsigned: bool | None,
             allowed: TypeConversions, flavour: str) -> str | None:
    """None if a column may be used; else the hint."""
    if column_type.base == "vector" and wire_type != WireType.VECTOR and flavour == "mysql":
        return _GIVE_DEFINITION  # it is MariaDB that logs a VECTOR as VARBINARY
    if is_compatible(column_type, wire_type, metadata):
        if allowed.any or unsigned is None or unsigned == column_type.unsigned or column_type.base == "year":
            return None
        return _GIVE_DEFINITION
    if _same_bytes(column_type, wire_type, metadata):
        return None if allowed.any else _GIVE_DEFINITION
    step = step_between(wire_type, metadata, column_type, flavour)
    if step is None:
        return _GIVE_DEFINITION
    if allowed.allow(step):
        return None
    return f"{_GIVE_DEFINITION}; if the tables differ on purpose, allow it with --type-conversions {step.value}"


def _same_bytes(column_type: ColumnType, wire_type: int, metadata: int) -> bool:
    """Fractional digits are logged in pairs: a DATETIME(1) looks like a DATETIME(2)."""
    return (wire_type in NEW_TEMPORAL and column_type.base == NEW_TEMPORAL[wire_type] and metadata > 0
            and (metadata + 1) // 2 == (column_type.fsp + 1) // 2)


def _charset(collation: int | None) -> str | None:
    """Return a collation's character set, None if it is unknown. Text read in another set is wrong text."""
    try:
        return by_id(collation).charset if collation is not None else None
    except KeyError:
        return None


def _stop(message: str, definition: TableDefinition, hint: str = _GIVE_DEFINITION) -> ReplayStopped:
    return ReplayStopped(message, table=definition.full_name, errno=COLUMN_CONVERSION, hint=hint)


def is_compatible(column_type: ColumnType, wire_type: int, metadata: int) -> bool:
    """Return whether a column's values in the log have the table's type, except for signs."""
    base = column_type.base
    if column_type.compressed != (wire_type in COMPRESSED):
        return False
    entry = column_type.entry
    if wire_type not in entry.wire:
        return False
    if entry.prefix:
        return metadata == entry.prefix
    if base == "decimal":
        return metadata == (column_type.precision or 10) << 8 | (column_type.scale or 0)
    if base == "bit":
        return (metadata >> 8) * 8 + (metadata & 0xFF) == column_type.length
    if base in FRACTIONAL:
        return wire_type not in NEW_TEMPORAL or metadata == column_type.fsp
    if base in MEMBERS:
        return metadata == member_bytes(column_type)
    if base == "vector":  # MariaDB logs it as VARBINARY
        return wire_type == WireType.VECTOR or metadata == 4 * (column_type.length or 0)
    if base in TEXT | BINARY:
        return logged_bytes(wire_type, metadata) == most_bytes(column_type)
    return True
