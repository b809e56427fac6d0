"""The key that a table's rows are found, ordered and divided by: its primary key, or its first NOT NULL unique key.

In kernels a key is one int64 where it is one integer column ("int"), else a byte string that compares in order
("bytes").
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from applier.schema.definition import Key, TableDefinition
from keysearch.choose import Choice, ColumnInfo, KeyInfo, choose_key
from keysearch.keybytes import KeyBytes, encode_keys, int_key

INTEGERS = {"tinyint", "smallint", "mediumint", "int", "bigint"}


@dataclasses.dataclass(frozen=True)
class TableKey:
    """`columns` are numbers of the definition's columns, `form` is "int" or "bytes"; of the column of an "int" key,
    `unsigned` says that it is, and `bias` is what its values are kept less by (2**63 for BIGINT UNSIGNED)."""

    choice: Choice
    columns: tuple[int, ...]
    names: tuple[str, ...]
    form: str
    unsigned: bool = False
    bias: int = 0

    def encode(self, columns: list[pa.Array | pa.ChunkedArray]) -> np.ndarray | KeyBytes:
        """The keys of rows, given the key's columns as a snapshot has them: int64[n], or byte strings."""
        return int_key(columns[0]) if self.form == "int" else encode_keys(columns)

    def encoded(self, keys: list[int] | list[bytes]) -> np.ndarray | KeyBytes:
        """Keys as manifests and plans have them, in the form of `encode`."""
        if self.form == "int":
            return np.array(keys, np.int64)
        offsets = np.zeros(len(keys) + 1, np.int64)
        np.cumsum([len(key) for key in keys], out=offsets[1:])
        return KeyBytes(offsets, np.frombuffer(b"".join(keys), np.uint8))

    def __str__(self) -> str:
        return f"{self.choice.name} ({', '.join(self.names)})"


def table_key(definition: TableDefinition) -> TableKey | None:
    """The key that is searched by (rules PKE and FIND), None if the table has none that identifies a row.

    A key over a VIRTUAL column is none either: a snapshot does not hold the column.
    """
    columns = [ColumnInfo(column.name, column.nullable) for column in definition.columns]
    choice = choose_key(columns, [info for key in definition.keys if (info := _info(definition, key))], None)
    if not choice.is_exact or any(definition.columns[c].generated == "virtual" for c in choice.columns):
        return None
    names = tuple(definition.columns[c].name for c in choice.columns)
    first = definition.columns[choice.columns[0]].type
    if len(choice.columns) == 1 and first.base in INTEGERS:
        bias = 1 << 63 if first.unsigned and first.base == "bigint" else 0
        return TableKey(choice, choice.columns, names, "int", first.unsigned, bias)
    return TableKey(choice, choice.columns, names, "bytes")


def _info(definition: TableDefinition, key: Key) -> KeyInfo | None:
    if any(part.column is None for part in key.parts):
        return None
    parts = tuple((definition.column_index(part.column), part.length) for part in key.parts)
    return KeyInfo(key.name, key.kind, parts, key.visible)
