"""Checks that the parts of a definition from a manifest fit together: anybody may have written it.

The grammar of CREATE TABLE makes only definitions that pass, and code that reads definitions relies on that.
applier.schema.allowed checks what each part may be by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from applier.mysql.names import folded
from applier.mysql.types import CHARACTER, FRACTIONAL, MEMBERS, ColumnType, arrow_type
from applier.schema.foreign_keys import ForeignKey
from applier.schema.partitions import CURRENT, HISTORY, SYSTEM_TIME, Partitioning
from applier.schema.table_parts import Column, Key, TableParts

_MOST_COLUMNS = 4096
_LAST_SECOND = 253402300799


def complaint(definition: TableParts) -> str:
    """Return an error of a definition; "" for none."""
    return next(_complaints(definition), "")


def _complaints(definition: TableParts) -> Iterator[str]:
    if not 0 < len(definition.columns) <= _MOST_COLUMNS:
        yield f"has {len(definition.columns)} columns"
    if not 1 <= definition.first_number < 2**64:
        yield f"gives {definition.first_number} as the next number"
    names = {folded(column.name) for column in definition.columns}
    if len(names) != len(definition.columns):
        yield "has two columns of one name"
    for column in definition.columns:
        yield from (f"has a column {column.name!r} {what}" for what in _of_column(column))
    if sum(key.kind == "primary" for key in definition.keys) > 1:
        yield "has two primary keys"
    for key in definition.keys:
        yield from (f"has a key {key.name!r} {what}" for what in _of_key(key, names))
    for foreign in definition.foreign_keys:
        yield from (f"has a foreign key {foreign.name!r} {what}" for what in _of_foreign_key(foreign, names))
    versioning = definition.versioning
    if versioning is not None:
        times = [column for column in definition.columns if versioning.has(column.name)]
        if len(times) != 2 or any((column.type.base, column.type.fsp) != ("timestamp", 6) for column in times):
            yield "lacks the two columns with the times of its rows"
        if all(versioning.hides(column.name) for column in definition.columns):
            yield "has no columns besides the times of its rows"
    if len({folded(check.name) for check in definition.checks}) != len(definition.checks):
        yield "has two constraints of one name"
    for options in (definition.options, *(key.options for key in definition.keys)):
        if len(dict(options)) != len(options):
            yield "has an option twice"
    if definition.partitioning is not None:
        yield from (f"is divided {what}" for what in _of_partitioning(definition.partitioning, names))


def _of_column(column: Column) -> Iterator[str]:
    yield from _of_type(column.type)
    if (column.generated is None) != (column.expression is None):
        yield f"that is generated as {column.generated!r} from {column.expression!r}"


def _of_type(kind: ColumnType) -> Iterator[str]:
    try:
        whole = kind.base != "decimal" or (
            1 <= (10 if kind.precision is None else kind.precision) <= 65
            and 0 <= (kind.scale or 0) <= min(38, 10 if kind.precision is None else kind.precision))
        arrow_type(kind) if whole else None
    except (KeyError, ValueError, TypeError):
        whole = False
    low, high = {"bit": (1, 64), "vector": (1, 1 << 16)}.get(kind.base, (0, (1 << 32) - 1))
    whole &= kind.length is None or low <= kind.length <= high
    whole &= kind.length is not None or kind.base not in ("bit", "binary", "vector", "char", "varchar", "varbinary")
    whole &= all(number is None or 0 <= number <= 255 for number in (kind.precision, kind.scale))
    whole &= kind.fsp == 0 if kind.base not in FRACTIONAL else 0 <= kind.fsp <= 6
    whole &= (kind.base in CHARACTER) == (kind.charset is not None)
    whole &= (kind.base in MEMBERS) == bool(kind.members) and len(kind.members) <= 65535
    whole &= kind.srid is None or 0 <= kind.srid < 2**32
    if not whole:
        yield f"of an unknown type ({kind.base!r})"


def _of_key(key: Key, names: set[str]) -> Iterator[str]:
    if not key.parts:
        yield "without columns"
    for part in key.parts:
        if (part.column is None) == (part.expression is None):
            yield "with a part that is neither a column nor an expression"
        elif part.column is not None and folded(part.column) not in names:
            yield f"over a column {part.column!r} that does not exist"
        if part.length is not None and not 1 <= part.length < 2**32:
            yield f"over {part.length} characters of a column"


def _of_foreign_key(key: ForeignKey, names: set[str]) -> Iterator[str]:
    if not key.columns or len(key.referenced) not in (0, len(key.columns)):
        yield f"of {len(key.columns)} columns, to {len(key.referenced)}"
    if missing := [name for name in key.columns if folded(name) not in names]:
        yield f"over a column {missing[0]!r} that does not exist"


def _of_partitioning(by: Partitioning, names: set[str]) -> Iterator[str]:
    if by.other:
        return
    if not by.partitions:
        yield "into no partitions"
    if by.expression is None and any(folded(name) not in names for name in by.columns):
        yield "by a column that does not exist"
    if by.expression is None and by.method in ("RANGE", "LIST", "HASH", "LINEAR HASH"):
        yield "by no expression"
    for partition in by.partitions:
        values = partition.values
        if len(partition.options) not in (0, 1, 1 + len(partition.subpartitions)):
            yield "with options for parts that there are not"
        if by.method.startswith("RANGE") and (len(values) != 1 or not values[0]):
            yield "by ranges without a bound"
        if by.method.startswith("LIST") and not all(values):
            yield "by lists with an invalid value"
        if by.method == SYSTEM_TIME and values not in (((HISTORY,),), ((CURRENT,),)):
            yield "by times of the past without saying which"
    if (by.start is None) != (by.step is None) and by.step is None:
        yield "by times without a length"
    if by.start is not None and not 0 <= by.start <= _LAST_SECOND:
        yield "by times without a start"
    if by.step is not None and not 0 < by.step <= _LAST_SECOND:
        yield "by times of no length"
