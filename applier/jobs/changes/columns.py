"""The columns of a feed: which columns of a table's versions they combine, and their names and types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType, arrow_type
from applier.schema.history.table_versions import TableVersion

_MOST_DIGITS = 38
_DIGITS = {1: 3, 2: 5, 4: 10, 8: 20}
"""The digits of integers, by their bytes."""


_LABELS = {Family.MEMBERS: Family.TEXT, Family.DOCUMENT: Family.TEXT}
"""Families that a feed shows as another one: text from before a column was JSON stays text."""


@dataclass
class Line:
    """A column over all versions that it is in: the last of its names, the family of its types, and a type that has all
    of its values."""

    name: str
    family: Family
    type: pa.DataType

    def with_values(self, kind: ColumnType) -> pa.DataType | None:
        """Return a type that also has the values of a column; None if there is none, or if they are shown
        differently."""
        return wider(self.type, arrow_type(kind)) if _family(kind) == self.family else None


def feed_columns(versions: Sequence[TableVersion]) -> tuple[dict[int, dict[int, str]], dict[str, pa.DataType]]:
    """Return the names in the feed of each version's stored columns, by the version's id and the column's number, and
    their types by name: first the last version's columns in its order, then those that only earlier ones have.

    A column that an ALTER moves or renames stays the same one, and has its last name. A column that is added, or
    belongs to a table that was created again, continues an earlier one of its name. If no type has the values of both,
    as after INT became VARCHAR, or they are shown differently, as BIT and INT, these are two columns: the earlier one
    is NAME__1, a later one NAME__2.
    """
    lines: list[Line] = []
    indexes: dict[int, dict[int, int]] = {}
    for version in sorted(versions, key=lambda version: version.id):
        indexes[version.id] = own = _kept(version, indexes)
        for number, column in enumerate(version.definition.columns):
            if column.generated == "virtual":
                own.pop(number, None)
                continue
            if number not in own or lines[own[number]].with_values(column.type) is None:
                others = {index for other, index in own.items() if other != number}
                earlier = (index for index, line in reversed([*enumerate(lines)]) if line.name == column.name
                           and index not in others and line.with_values(column.type) is not None)
                own[number] = next(earlier, len(lines))
            if own[number] == len(lines):
                lines.append(Line(column.name, _family(column.type), arrow_type(column.type)))
            line = lines[own[number]]
            line.name, line.type = column.name, line.with_values(column.type) or line.type
    order = [index for _, own in sorted(indexes.items(), reverse=True) for _, index in sorted(own.items())]
    named = _distinct([lines[index].name for index in range(len(lines))], list(dict.fromkeys(order)))
    names = {version: {number: named[index] for number, index in sorted(own.items())}
             for version, own in indexes.items()}
    return names, {named[index]: lines[index].type for index in dict.fromkeys(order)}


def _family(kind: ColumnType) -> Family:
    return _LABELS.get(kind.entry.family, kind.entry.family)


def wider(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """Return the type that has all values of both, as numbers are read; None if there is none."""
    if a == b:
        return a
    if pa.types.is_decimal(a) or pa.types.is_decimal(b):  # BIGINT UNSIGNED is one
        numbers = [type_ for type_ in (a, b) if pa.types.is_integer(type_) or pa.types.is_decimal(type_)]
        scale = max(map(_scale, numbers))
        digits = max(_digits(type_) - _scale(type_) for type_ in numbers) + scale
        return pa.decimal128(digits, scale) if len(numbers) == 2 and digits <= _MOST_DIGITS else None
    if pa.types.is_integer(a) and pa.types.is_integer(b):
        if pa.types.is_signed_integer(a) == pa.types.is_signed_integer(b):
            return max(a, b, key=lambda type_: type_.bit_width)
        signed, unsigned = sorted((a, b), key=pa.types.is_unsigned_integer)
        return next((type_ for type_ in (pa.int16(), pa.int32(), pa.int64()) if type_.bit_width >= signed.bit_width
                     and type_.bit_width > unsigned.bit_width), pa.decimal128(20, 0))
    if pa.types.is_floating(a) and pa.types.is_floating(b):
        return pa.float64()
    return None


def as_type(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return values in the type of their line, which can hold all of them."""
    return values if values.type == type_ else values.cast(type_)


def _scale(type_: pa.DataType) -> int:
    return type_.scale if pa.types.is_decimal(type_) else 0


def _digits(type_: pa.DataType) -> int:
    return type_.precision if pa.types.is_decimal(type_) else _DIGITS[type_.bit_width // 8]


def _distinct(names: Sequence[str], newest_first: Sequence[int]) -> dict[int, str]:
    """Return a name of its own for each line: of those with the same one, the newest has it."""
    named: dict[int, str] = {}
    for index in newest_first:
        if names[index] not in named.values():
            named[index] = names[index]
    taken, numbers = set(names), dict[str, int]()
    for index in sorted(set(newest_first) - named.keys()):
        name = names[index]
        while (numbered := f"{name}__{(number := numbers.get(name, 0) + 1)}") in taken:
            numbers[name] = number
        numbers[name] = number
        named[index] = numbered
        taken.add(numbered)
    return named


def _kept(version: TableVersion, indexes: dict[int, dict[int, int]]) -> dict[int, int]:
    """Return the columns that a version has from the one before it, by number."""
    if len(version.sources) != 1 or version.sources[0].version not in indexes:
        return {}
    before, sources = indexes[version.sources[0].version], version.sources[0].conversion.sources
    return {number: before[source] for number, source in enumerate(sources) if source is not None and source in before}
