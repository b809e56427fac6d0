"""What idempotent mode forgave (APP-R7, AP-IDEM): one row a conflict, for the report and `_conflicts.parquet`."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa

from applier.apply.row_keys import RowKeys
from applier.apply.row_store import NotedConflict
from applier.binlog.changes import DELETE, INSERT, UPDATE, ChangeBatch

CONFLICTS = pa.schema([
    ("table", pa.string()), ("file", pa.string()), ("position", pa.int64()), ("row", pa.int32()),
    ("operation", pa.string()), ("conflict", pa.string()), ("key", pa.string()), ("values", pa.string()),
])
"""db.table; where the rows event is, which row in it; insert, update or delete; DUPLICATE or MISSING; the name of the
key that is taken or that the row was searched by (empty for a search by what it holds), and the values of that key."""

DUPLICATE, MISSING = "duplicate key", "row not found"
_OPERATIONS = {INSERT: "insert", UPDATE: "update", DELETE: "delete"}


def conflict_rows(batch: ChangeBatch, noted: list[NotedConflict], reader: RowKeys) -> pa.Table:
    """The conflicts of a batch, in its order, as CONFLICTS says."""
    changes = np.array([conflict.change for conflict in noted])
    keys, values = np.empty(len(noted), object), np.empty(len(noted), object)
    missing = [conflict.unique is None for conflict in noted]
    searched = reader.searched_by(batch)
    images = np.where(missing, batch.before_rows[changes], batch.after_rows[changes])
    uniques = [searched[image] if gone else conflict.unique
               for conflict, gone, image in zip(noted, missing, images, strict=True)]
    kinds = list(zip(missing, uniques, strict=True))
    for kind, group in itertools.groupby(sorted(range(len(noted)), key=lambda i: (kinds[i][0], kinds[i][1] or 0)),
                                         key=kinds.__getitem__):
        picks = list(group)
        gone, unique = kind
        keys[picks] = reader.key_name(unique)
        values[picks] = reader.texts(batch, images[picks], not gone, unique)
    return pa.Table.from_arrays([
        pa.repeat(reader.table, len(noted)), pa.repeat(batch.file.uri, len(noted)), pa.array(batch.places[changes]),
        pa.array(batch.rows[changes]), pa.array([_OPERATIONS[kind] for kind in batch.kinds[changes].tolist()]),
        pa.array([MISSING if gone else DUPLICATE for gone in missing]),
        pa.array(keys, pa.string()), pa.array(values, pa.string())], schema=CONFLICTS)
