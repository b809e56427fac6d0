"""The key by which a table's rows are found, ordered and divided: its primary key, or its first NOT NULL unique key.

In kernels a key is one int64 where it is one integer column (IntKey), else a byte string that compares in order
(BytesKey).
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from applier.errors import ReplayStopped
from applier.mysql.types import INTEGERS
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import RowConversion
from applier.schema.history.effects import changes_rows
from applier.schema.key_infos import column_infos, key_collation, key_infos
from keysearch.choose import AccessPath, choose_access_path
from keysearch.keybytes import KeyBytes, find_ranges, int_key
from keysearch.keyrules import encode_by_rules, key_rule

Values: TypeAlias = pa.Array | pa.ChunkedArray
Encoded = TypeVar("Encoded", np.ndarray, KeyBytes)
"""Many keys as kernels take them."""
Value = TypeVar("Value", int, bytes)
"""One key as manifests and plans have it."""


@dataclasses.dataclass(frozen=True)
class KeyOf(ABC, Generic[Encoded, Value]):
    """The kind of the key, and its columns: their numbers in the definition, and their names."""

    choice: AccessPath
    columns: tuple[int, ...]
    names: tuple[str, ...]

    @abstractmethod
    def encode(self, columns: Sequence[Values]) -> Encoded:
        """Encode the keys of rows from the key's columns in a snapshot: int64[n], or byte strings."""

    @abstractmethod
    def listed(self, keys: Encoded) -> list[Value]:
        """Return encoded keys one by one."""

    def keys(self, columns: Sequence[Values]) -> list[Value]:
        """Return the keys of rows one by one, from the key's columns in a snapshot."""
        return self.listed(self.encode(columns))

    @abstractmethod
    def ranges_of(self, lows: Sequence[Value]) -> Callable[[Sequence[Values]], np.ndarray]:
        """Returns a function of the key's columns: the number of each row's range, int64[n]. The ranges begin at these
        ascending keys; the first has no lower bound."""

    def of_rows(self, rows: pa.Table, table: str) -> Encoded:
        """Encode the keys of rows of a snapshot. Raises ReplayStopped if a key column has no value; `table` is
        db.table."""
        for name in self.names:
            if rows.column(name).null_count:
                raise no_key_value(str(self), name, table)
        return self.encode([rows.column(name) for name in self.names])

    def __str__(self) -> str:
        return f"{self.choice.name} ({', '.join(self.names)})"


@dataclasses.dataclass(frozen=True)
class IntKey(KeyOf[np.ndarray, int]):
    """A key of one integer column, `unsigned` or not; its values are stored minus `bias` (2**63 for BIGINT
    UNSIGNED)."""

    unsigned: bool = False
    bias: int = 0
    form: ClassVar[Literal["int", "bytes"]] = "int"
    value_type: ClassVar[type[int]] = int
    rules: ClassVar[tuple[str, ...]] = ()

    def encode(self, columns: Sequence[Values]) -> np.ndarray:
        return int_key(columns[0])

    def listed(self, keys: np.ndarray) -> list[int]:
        return [int(key) for key in keys]

    def ranges_of(self, lows: Sequence[int]) -> Callable[[Sequence[Values]], np.ndarray]:
        bounds = np.array(lows, np.int64)
        return lambda columns: np.searchsorted(bounds, self.encode(columns), side="right")


@dataclasses.dataclass(frozen=True)
class BytesKey(KeyOf[KeyBytes, bytes]):
    """A key of any columns, encoded by `rules` (keysearch.keyrules); none if all columns count as a whole and byte for
    byte."""

    rules: tuple[str, ...] = ()
    form: ClassVar[Literal["int", "bytes"]] = "bytes"
    value_type: ClassVar[type[bytes]] = bytes

    def encode(self, columns: Sequence[Values]) -> KeyBytes:
        return encode_by_rules(columns, self.rules)

    def listed(self, keys: KeyBytes) -> list[bytes]:
        return [keys[i] for i in range(len(keys))]

    def ranges_of(self, lows: Sequence[bytes]) -> Callable[[Sequence[Values]], np.ndarray]:
        offsets = np.zeros(len(lows) + 1, np.int64)
        np.cumsum([len(key) for key in lows], out=offsets[1:])
        bounds = KeyBytes(offsets, np.frombuffer(b"".join(lows), np.uint8))
        return lambda columns: find_ranges(self.encode(columns), bounds)


TableKey = IntKey | BytesKey
RangeOf = Callable[[Sequence[Values]], np.ndarray]
"""Gives the number of each row's range, int64[n], by the key's columns."""


def ranges_between(key: TableKey, lows: Iterable[int | bytes]) -> RangeOf:
    """Return what `KeyOf.ranges_of` returns, for bounds that have the key's type."""
    bounds: list[Any] = list(lows)
    return key.ranges_of(bounds)


def table_key(definition: TableDefinition) -> TableKey | None:
    """Return the key to search by (rules PKE and FIND); None if the table has none that identifies a row.

    A key over a VIRTUAL column does not count: a snapshot does not hold the column. Nor does one over a VECTOR of
    MariaDB: rows are found by it, but no files are sorted by lists.
    """
    return definition.once(_table_key)


def _table_key(definition: TableDefinition) -> TableKey | None:
    choice = choose_access_path(column_infos(definition), key_infos(definition), None, definition.flavour)
    if not choice.is_exact or any(definition.columns[c].type.base == "vector" for c in choice.columns):
        return None
    return key_over(definition, choice)


def key_over(definition: TableDefinition, choice: AccessPath) -> TableKey:
    """Return the form of a key over these columns, which may be NULL only where all are compared as bytes."""
    names = tuple(definition.columns[c].name for c in choice.columns)
    first = definition.columns[choice.columns[0]]
    if len(choice.columns) == 1 and first.type.base in INTEGERS and not first.nullable:
        bias = 1 << 63 if first.type.unsigned and first.type.base == "bigint" else 0
        return IntKey(choice, choice.columns, names, first.type.unsigned, bias)
    rules = tuple(key_rule(key_collation(definition.columns[c], definition.flavour), prefix)
                  for c, prefix in zip(choice.columns, choice.prefixes, strict=True))
    return BytesKey(choice, choice.columns, names, rules if any(rules) else ())


def no_key_value(key: str, column: str, table: str) -> ReplayStopped:
    """Return the error for a row that cannot be found by its key."""
    return ReplayStopped(f"column {column} of a row's key has no value", table=table, key=key,
                         hint="NULL cannot be in a key, so the table is not the one that the log was written with; "
                              "give its definition with --schema, or leave the table out with --ignore-tables")


def alters_rows(conversion: RowConversion) -> bool:
    """Return whether an ALTER rewrites rows: other columns, another key, or another order without one."""
    return changes_rows(conversion) or not keeps_key(conversion) or leads_elsewhere(conversion)


def leads_elsewhere(conversion: RowConversion) -> bool:
    """Return whether rows that no key sorts come to lie in other partitions, or in none: one after the other, in the
    order in which the server reads them."""
    were = conversion.old.partitioning
    return were is not None and conversion.removed is None and not were.stays_in(conversion.new.partitioning) \
        and table_key(conversion.new) is None


def keeps_key(conversion: RowConversion) -> bool:
    """Return whether a table's rows keep their keys, in the same form, over an ALTER."""
    old, new = table_key(conversion.old), table_key(conversion.new)
    if old is None or new is None:
        return old is new
    if tuple(conversion.sources[c] for c in new.columns) != old.columns:
        return False
    if any(conversion.begins_to_number(conversion.new.columns[b], a)
           for a, b in zip(old.columns, new.columns, strict=True)):
        return False
    match old, new:
        case IntKey(), IntKey():
            return (old.unsigned, old.bias) == (new.unsigned, new.bias)
        case BytesKey(), BytesKey():
            return old.rules == new.rules and all(conversion.old.columns[a].type == conversion.new.columns[b].type
                                                  for a, b in zip(old.columns, new.columns, strict=True))
    return False
