"""Completes a column of row images as a replica does: NULLs that the column cannot hold, and missing values.

Both are computed only for images that need them: so a default that cannot be computed stops only a replay that uses
it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.replica_defaults import ReplicaDefaults, Seconds
from applier.schema.table_parts import Column

Rows = np.ndarray | None
"""A selection of rows, bool[n]; None selects no row where it means absent rows, all where it means used ones."""


def without_nulls(values: pa.Array, column: Column, defaults: ReplicaDefaults, seconds: Seconds, absent: Rows,
                  used: Rows = None) -> pa.Array:
    """Return the values with a replica's replacement for NULLs that the column cannot hold; `absent` values are not
    NULLs, and stay null. Raises SchemaError if that cannot be computed."""
    if not values.null_count or column.nullable:
        return values
    nulls = np.asarray(values.is_null())
    for left in (None if absent is None else ~absent, used):
        nulls = nulls if left is None else nulls & left
    return _with(values, nulls, defaults.instead_of_null(column, seconds)) if nulls.any() else values


def with_defaults(values: pa.Array, column: Column, defaults: ReplicaDefaults, seconds: Seconds,
                  lacking: np.ndarray) -> pa.Array:
    """Return the values with a replica's defaults for rows without one (DEF-R1a, DEF-R1b). Raises SchemaError if a
    default cannot be computed."""
    return _with(values, lacking, defaults.left_out(column, seconds)) if lacking.any() else values


def absent_flags(absent: pa.BooleanArray | None) -> Rows:
    """Return which rows do not have the column (ColumnBuffer.absent_rows); None if all have it."""
    flags = None if absent is None else absent.to_numpy(zero_copy_only=False)
    return flags if flags is not None and flags.any() else None


def replaced(values: pa.Array | pa.ChunkedArray, rows: np.ndarray, given: pa.Array) -> pa.Array | pa.ChunkedArray:
    """Return the values with those of some rows (bool[n]) replaced, which are given in their order; Arrow does not do
    that for TIMEs."""
    if not pa.types.is_duration(values.type):
        return pc.replace_with_mask(values, pa.array(rows), given)
    return pc.replace_with_mask(values.cast(pa.int64()), pa.array(rows), given.cast(pa.int64())).cast(values.type)


def _with(values: pa.Array, chosen: np.ndarray, given: pa.Array | pa.Scalar) -> pa.Array:
    return pc.if_else(pa.array(chosen), given, values)
