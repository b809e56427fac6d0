"""Keys of rows as bytes, which are equal where a server takes the keys to be equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from applier.jobs.undo.traced_table import TracedTable
from applier.schema.definition import Column
from applier.schema.key_infos import key_collation
from keysearch.keyrules import encode_by_rules, key_rule

_BYTES = pa.large_binary()


def row_keys(table: TracedTable, columns: Sequence[Column], prefixes: Sequence[int | None], units: np.ndarray,
             pointers: np.ndarray) -> pa.Array:
    """The keys, over these columns or so many first characters of them, of rows at pointers of units; null where a
    column is NULL."""
    rules = [key_rule(key_collation(column, table.definition.flavour), prefix)
             for column, prefix in zip(columns, prefixes, strict=True)]
    names = [column.name for column in columns]
    found = list[pa.Array]()
    for read in table.read(units, pointers, np.full(len(pointers), -1), list(dict.fromkeys(names))):
        rows = read.values.take(pa.array(read.before))
        arrays = [rows.column(name).combine_chunks() for name in names]
        valid = np.ones(rows.num_rows, np.bool_)
        for array in arrays:
            valid &= np.asarray(array.is_valid())
        whole = [array.filter(pa.array(valid)) for array in arrays]
        made = encode_by_rules(whole, rules if any(rules) else ()).to_arrow().cast(_BYTES)
        found.append(made.take(pa.array(np.cumsum(valid) - 1, mask=~valid)))
    return pa.chunked_array(found, _BYTES).combine_chunks()
