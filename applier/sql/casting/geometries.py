"""Converts geometries from columns of other geometry types and other SRIDs.

The servers keep a value's bytes, its SRID among them, and refuse a statement if the new type does not allow a value;
MySQL also if the value's SRID differs from the column's. Judged by MySQL 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType

_KIND = slice(5, 9)
"""The offset of the type in a value, after the SRID and the byte order, which is little-endian."""


def to_geometry(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The values unchanged. Raises NotComputable if one has another type than the column: a server may have accepted it
    outside of strict mode."""
    wanted = new.entry.shape  # any of them is a "geometry", which has number 0
    if not wanted or old.entry.shape == wanted:
        return values
    found = pc.unique(pc.binary_slice(values.drop_null(), _KIND.start, _KIND.stop))
    if not np.all([value == wanted.to_bytes(4, "little") for value in found.to_pylist()]):
        raise NotComputable("some of its values have another type")
    return values
