"""The key that a table's rows are found, ordered and divided by: its primary key, or its first NOT NULL unique key.

In kernels a key is one int64 where it is one integer column ("int"), else a byte string that compares in order
("bytes").
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from applier.errors import ReplayStopped
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import RowConversion
from applier.schema.key_infos import column_infos, key_collation, key_infos
from keysearch.choose import AccessPath, choose_access_path
from keysearch.keybytes import KeyBytes, int_key
from keysearch.keyrules import encode_by_rules, key_rule

INTEGERS = {"tinyint", "smallint", "mediumint", "int", "bigint"}


@dataclasses.dataclass(frozen=True)
class TableKey:
    """`columns` are numbers of the definition's columns, `form` is "int" or "bytes"; of the column of an "int" key,
    `unsigned` says that it is, and `bias` is what its values are kept less by (2**63 for BIGINT UNSIGNED); `rules` are
    those of a "bytes" key (keysearch.keyrules), none where all columns count as a whole and byte for byte."""

    choice: AccessPath
    columns: tuple[int, ...]
    names: tuple[str, ...]
    form: str
    unsigned: bool = False
    bias: int = 0
    rules: tuple[str, ...] = ()

    def encode(self, columns: list[pa.Array | pa.ChunkedArray]) -> np.ndarray | KeyBytes:
        """The keys of rows, given the key's columns as a snapshot has them: int64[n], or byte strings."""
        return int_key(columns[0]) if self.form == "int" else encode_by_rules(columns, self.rules)

    def of_rows(self, rows: pa.Table, table: str) -> np.ndarray | KeyBytes:
        """The keys of rows of a snapshot. Raises ReplayStopped where one has no value in a column of the key; `table`
        is db.table."""
        for name in self.names:
            if rows.column(name).null_count:
                raise no_key_value(str(self), name, table)
        return self.encode([rows.column(name) for name in self.names])

    def encoded(self, keys: list[int] | list[bytes]) -> np.ndarray | KeyBytes:
        """Keys as manifests and plans have them, in the form of `encode`."""
        if self.form == "int":
            return np.array(keys, np.int64)
        texts = [key for key in keys if isinstance(key, bytes)]
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        return KeyBytes(offsets, np.frombuffer(b"".join(texts), np.uint8))

    def __str__(self) -> str:
        return f"{self.choice.name} ({', '.join(self.names)})"


def table_key(definition: TableDefinition) -> TableKey | None:
    """The key that is searched by (rules PKE and FIND), None if the table has none that identifies a row.

    A key over a VIRTUAL column is none either: a snapshot does not hold the column.
    """
    choice = choose_access_path(column_infos(definition), key_infos(definition), None, definition.flavour)
    if not choice.is_exact:
        return None
    names = tuple(definition.columns[c].name for c in choice.columns)
    first = definition.columns[choice.columns[0]].type
    if len(choice.columns) == 1 and first.base in INTEGERS:
        bias = 1 << 63 if first.unsigned and first.base == "bigint" else 0
        return TableKey(choice, choice.columns, names, "int", first.unsigned, bias)
    rules = tuple(key_rule(key_collation(definition.columns[c], definition.flavour), prefix)
                  for c, prefix in zip(choice.columns, choice.prefixes, strict=True))
    return TableKey(choice, choice.columns, names, "bytes", rules=rules if any(rules) else ())


def no_key_value(key: str, column: str, table: str) -> ReplayStopped:
    """The error of a row that cannot be found by its key."""
    return ReplayStopped(f"column {column} of a row's key has no value", table=table, key=key,
                         hint="a NULL is no key, so the table is not the one that the log was written with; give its "
                              "definition with --schema, or leave the table out with --ignore-tables")


def alters_rows(conversion: RowConversion) -> bool:
    """Whether rows that come over an ALTER are written anew: other columns, or another key."""
    return conversion.changes_rows or not keeps_key(conversion)


def keeps_key(conversion: RowConversion) -> bool:
    """Whether a table's rows have the same keys, in the same form, after an ALTER as before."""
    old, new = table_key(conversion.old), table_key(conversion.new)
    if old is None or new is None:
        return old is new
    if tuple(conversion.sources[c] for c in new.columns) != old.columns or old.form != new.form:
        return False
    if new.form == "int":
        return (old.unsigned, old.bias) == (new.unsigned, new.bias)
    return old.rules == new.rules and all(conversion.old.columns[a].type == conversion.new.columns[b].type
                                          for a, b in zip(old.columns, new.columns, strict=True))
