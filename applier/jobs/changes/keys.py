"""Selects changes of rows by values of the table's key.

Values compare as the server compares them in a key: by the column's collation. An update that changes a row's
key is selected by either key.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.search.keyed_changes import KeyColumns
from applier.columns.table_key import BytesKey, IntKey, TableKey, Values, key_over, table_key
from applier.errors import ApplierError, UsageError
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values.zero_dates import DAY
from applier.option_texts import KeyValue, KeyValues
from applier.plan.units import ChosenOf
from applier.schema.history.table_versions import Position, TableVersion
from applier.schema.table_parts import Column
from applier.sql import literals


@dataclass(frozen=True)
class ChosenKeys:
    """The rows of a version of the table whose `key` is one of `keys`."""

    key: TableKey
    keys: tuple[int, ...] | tuple[bytes, ...]

    def of_changes(self, columns: KeyColumns) -> tuple[np.ndarray, np.ndarray]:
        """Return whether each before-image and each after-image of a batch has one (bool[n]), by the key's columns."""
        if isinstance(self.key, IntKey):  # which the log's reader has encoded
            before, after = (np.isin(np.asarray(values), self.keys) for [values] in columns)
            return before, after
        return self.of_rows(columns[0]), self.of_rows(columns[1])

    def of_table(self, rows: pa.Table) -> np.ndarray:
        """Return whether each row of a snapshot's table has one: bool[n]."""
        return self.of_rows([rows.column(name) for name in self.key.names])

    def of_rows(self, columns: Sequence[Values]) -> np.ndarray:
        """Return whether each row has one (bool[n]), by the key's columns in a snapshot."""
        valid = np.logical_and.reduce([np.asarray(column.is_valid()) for column in columns])
        if not valid.all():
            found = np.zeros(len(valid), np.bool_)
            found[valid] = self.of_rows([column.filter(pa.array(valid)) for column in columns])
            return found
        match self.key:
            case IntKey():
                return np.isin(self.key.encode(columns), self.keys)
            case BytesKey():
                wanted = pa.array(self.keys, pa.large_binary())
                is_in = pc.is_in(self.key.encode(columns).to_arrow(), value_set=wanted)
                return np.asarray(is_in)


def key_columns(versions: Mapping[int, TableVersion], names: Mapping[int, Mapping[int, str]]) -> tuple[Column, ...]:
    """Return the columns of the last key of a table, with their names in the feed; none if it has no key."""
    last = max(versions)
    key, definition = table_key(versions[last].definition), versions[last].definition
    return () if key is None else tuple(replace(definition.columns[column], name=names[last][column])
                                        for column in key.columns)


def always_keyed(versions: Mapping[int, TableVersion], names: Mapping[int, Mapping[int, str]]) -> bool:
    """Return whether all versions of a table have the columns of its last key as their key, in any order, so that each
    image before a change has them."""
    keys = {id: table_key(version.definition) for id, version in versions.items()}
    return len({None if key is None else frozenset(names[id][column] for column in key.columns)
                for id, key in keys.items()}) == 1


def chosen_keys(versions: Mapping[int, TableVersion], names: Mapping[int, Mapping[int, str]],
                keys: KeyValues) -> dict[int, ChosenKeys]:
    """Return the choice in each version of a table (by its id) for values of its last key; none for versions that do
    not have all of its columns. `names` are those of the versions' columns in the feed. Raises UsageError for values
    that the key cannot have."""
    last = max(versions)
    key = table_key(versions[last].definition)
    if key is None:
        raise UsageError("the table has no key to choose rows by",
                         hint="it has neither a primary key nor a unique one without NULLs")
    if wrong := next((values for values in keys if len(values) != len(key.columns)), None):
        raise UsageError(f"{_shown(wrong)} is not a key of the table",
                         hint=f"its key is {', '.join(key.names)}; give a value for each column")
    of_key, readings = [names[last][column] for column in key.columns], dict[int, _KeyReading]()
    for version in versions.values():
        numbers = {name: number for number, name in names[version.id].items()}
        if all(name in numbers for name in of_key):
            columns = tuple(numbers[name] for name in of_key)
            whole = replace(key.choice, columns=columns, prefixes=(None,) * len(columns))  # a longer value is another
            own = key_over(version.definition, whole)
            readings[version.id] = _KeyReading(own, [version.definition.columns[number] for number in columns],
                                               version.definition.flavour)
    for values in keys:
        if not any(reading.row(values) for reading in readings.values()):
            raise UsageError(f"{_shown(values)} is not a key of the table: {readings[last].why_not(values)}",
                             hint=f"its key is {', '.join(key.names)}")
    return {id: reading.chosen(keys) for id, reading in readings.items()}


def last_left_out(chosen: Mapping[int, ChosenKeys], versions: Mapping[int, TableVersion]) -> Position | None:
    """Return the end of the last version in which no row can be chosen, since it does not have a column of the key;
    None if there is none."""
    return max((version.end for id, version in versions.items() if id not in chosen and version.end is not None),
               default=None)


def as_planned(chosen: Mapping[int, ChosenKeys], versions: Mapping[int, TableVersion]) -> ChosenOf:
    """Return the keys of versions that are ordered and divided by the columns of the choice."""
    own = {id: table_key(versions[id].definition) for id in chosen}
    return {id: keys.keys for id, keys in chosen.items()
            if (key := own[id]) is not None and replace(key, choice=keys.key.choice) == keys.key}


class _KeyReading:
    """How values become a key over these columns of a version."""

    def __init__(self, key: TableKey, columns: Sequence[Column], flavour: str) -> None:
        self._key, self._columns, self._flavour = key, columns, flavour

    def chosen(self, keys: KeyValues) -> ChosenKeys:
        """Return the keys; those that the columns cannot have are none of the version's rows."""
        rows = [row for values in keys if (row := self.row(values)) is not None]
        if not rows:
            return ChosenKeys(self._key, ())
        arrays = [pa.array([row[number] for row in rows], arrow_type(column.type))
                  for number, column in enumerate(self._columns)]
        match self._key:
            case IntKey():
                return ChosenKeys(self._key, tuple(self._key.listed(self._key.encode(arrays))))
            case BytesKey():
                return ChosenKeys(self._key, tuple(self._key.listed(self._key.encode(arrays))))

    def row(self, values: Sequence[KeyValue]) -> list[pa.Scalar] | None:
        """Return values as the columns have them; None if they cannot."""
        found = self._read(values)
        return None if isinstance(found, str) else found

    def why_not(self, values: Sequence[KeyValue]) -> str:
        """Return why the columns cannot have these values; "" if they can."""
        found = self._read(values)
        return found if isinstance(found, str) else ""

    def _read(self, values: Sequence[KeyValue]) -> list[pa.Scalar] | str:
        try:
            return [_scalar(value, column, self._flavour) for value, column in zip(values, self._columns, strict=True)]
        except InvalidOperation:
            return "it is not a number, or has too many digits"
        except (ValueError, OverflowError, pa.ArrowException) as error:
            return str(error)
        except ApplierError as error:
            return error.message


def _scalar(value: KeyValue, column: Column, flavour: str) -> pa.Scalar:
    """Return a value as the column has it. Raises ValueError, and more, for one that it cannot have."""
    literal = Decimal(value) if column.type.base == "bit" and isinstance(value, str) else _literal(value)
    found = literals.convert(literal, column.type, flavour)
    if not _is_exact(found, literal, column.type, flavour):
        raise ValueError(f"{_shown([value])} is none of {column.type.column_type}")
    return pa.scalar(found, arrow_type(column.type))


def _is_exact(found: Any, literal: literals.Value, column_type: ColumnType, flavour: str) -> bool:
    """Return whether a value of the column is the literal, not one that it was rounded to."""
    match column_type.entry.family:
        case Family.INTEGER | Family.DECIMAL | Family.BIT | Family.YEAR if not isinstance(literal, str | bytearray):
            of_two_digits = column_type.base == "year" and literal == found % 100
            return of_two_digits or Decimal(str(literal)) == Decimal(found)
        case Family.INTEGER | Family.DECIMAL if isinstance(literal, str):
            return Decimal(literal) == Decimal(found)
        case Family.DATE | Family.DATETIME | Family.TIME:
            base = "datetime" if column_type.base == "date" else column_type.base
            exact = literals.convert(literal, replace(column_type, base=base, fsp=6), flavour)
            if column_type.base != "date":
                return bool(exact == found)
            return exact % DAY == 0 if isinstance(exact, int) else exact.time() == datetime.time()
    return True


def _literal(value: object) -> literals.Value:
    """Return a value as a literal. Raises UsageError for an unsupported value."""
    match value:
        case str() | Decimal():
            return value
        case bytes() | bytearray():
            return bytearray(value)
        case datetime.datetime():
            instant = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
            return instant.isoformat(" ")
        case datetime.date() | datetime.time() | uuid.UUID():
            return str(value)
        case datetime.timedelta():
            seconds, micros = divmod(abs(value) // datetime.timedelta(microseconds=1), 1_000_000)
            sign = "-" if value < datetime.timedelta() else ""
            return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"
        case np.timedelta64():  # which calls itself an integer
            pass
        case int() | np.integer() | np.bool_():
            return Decimal(int(value))
        case float() | np.floating():
            return float(value)
    raise UsageError(f"a key cannot contain a value of type {type(value).__name__}",
                     hint="give a number, a text, bytes, a UUID, or a date or time of datetime")


def _shown(values: Sequence[KeyValue]) -> str:
    return ", ".join(map(_as_written, values))


def _as_written(value: KeyValue) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number that long"
