"""Keys of rows as bytes, which are equal if a server considers the keys equal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from applier.jobs.diff.columns import exact
from applier.jobs.undo.trace.traced_table import TracedTable
from applier.schema.definition import TableDefinition
from applier.schema.key_infos import key_collation
from applier.schema.table_parts import Column, Key
from keysearch.keybytes import encode_keys
from keysearch.keyrules import encode_by_rules, key_rule

BYTES = pa.large_binary()
Keys = Callable[[np.ndarray, np.ndarray], pa.Array]
"""The keys of the rows at pointers of units."""


def read_columns(table: TracedTable, names: Sequence[str], units: np.ndarray,
                 pointers: np.ndarray) -> Iterator[list[pa.Array]]:
    """Yield these columns of the rows at pointers of units, for many rows at a time."""
    for read in table.read(units, pointers, np.full(len(pointers), -1), list(dict.fromkeys(names))):
        rows = read.values.take(pa.array(read.before))
        yield [rows.column(name).combine_chunks() for name in names]


def encoded(definition: TableDefinition, columns: Sequence[Column], prefixes: Sequence[int | None],
            values: Iterable[list[pa.Array]]) -> pa.Array:
    """Return the keys over these columns, or the first `characters` of them; null if a column is NULL."""
    rules = [key_rule(key_collation(column, definition.flavour), prefix)
             for column, prefix in zip(columns, prefixes, strict=True)]
    found = list[pa.Array]()
    for arrays in values:
        valid = np.ones(len(arrays[0]), np.bool_)
        for array in arrays:
            valid &= np.asarray(array.is_valid())
        whole = [array.filter(pa.array(valid)) for array in arrays]
        made = encode_by_rules(whole, rules if any(rules) else ()).to_arrow().cast(BYTES)
        found.append(made.take(pa.array(np.cumsum(valid) - 1, mask=~valid)))
    return pa.chunked_array(found, BYTES).combine_chunks()


def row_keys(table: TracedTable, columns: Sequence[Column], prefixes: Sequence[int | None], units: np.ndarray,
             pointers: np.ndarray) -> pa.Array:
    """Return the keys of the rows at pointers of units, as `encoded` gives them."""
    return encoded(table.definition, columns, prefixes,
                   read_columns(table, [column.name for column in columns], units, pointers))


def keys_by(table: TracedTable, key: Key) -> Keys:
    """Return what reads the keys of rows by a unique key."""
    columns, prefixes = key_columns(table.definition, key), [part.length for part in key.parts]
    return lambda units, pointers: row_keys(table, columns, prefixes, units, pointers)


def whole_rows(table: TracedTable) -> Keys:
    """Return what reads all values of rows as bytes, which are equal only where all values are."""
    def read(units: np.ndarray, pointers: np.ndarray) -> pa.Array:
        found = [encode_keys([exact(array) for array in arrays], [True] * len(arrays)).to_arrow().cast(BYTES)
                 for arrays in read_columns(table, table.columns, units, pointers)]
        return pa.chunked_array(found, BYTES).combine_chunks()
    return read


def unique_keys(definition: TableDefinition) -> list[Key]:
    """Return the keys by which rows must differ and whose columns rows have."""
    return [key for key in definition.keys if key.kind in ("primary", "unique") and all(
        part.column is not None and definition.column(part.column) in definition.stored_columns for part in key.parts)]


def key_columns(definition: TableDefinition, key: Key) -> list[Column]:
    """Return the columns of such a key."""
    return [definition.column(part.column) for part in key.parts if part.column is not None]
