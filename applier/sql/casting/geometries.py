"""Geometries, out of columns of other geometry types and other SRIDs.

The servers keep a value's bytes, its SRID among them, and refuse a statement over one that the new type cannot be;
MySQL also over one of another SRID than the column's. Judged by MySQL 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType

_KINDS = {"point": 1, "linestring": 2, "polygon": 3, "multipoint": 4, "multilinestring": 5, "multipolygon": 6,
          "geomcollection": 7, "geometrycollection": 7}
"""What WKB calls them; any of them is a "geometry"."""
_KIND = slice(5, 9)
"""Where in a value that is, behind the SRID and the order of the bytes, which is little-endian."""


def to_geometry(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The values as they are. Raises NotComputable where one is of another type than the column: outside of strict mode
    a server may have let it pass."""
    wanted = _KINDS.get(new.base)
    if wanted is None or _KINDS.get(old.base) == wanted:
        return values
    found = pc.unique(pc.binary_slice(values.drop_null(), _KIND.start, _KIND.stop))
    if not np.all([value == wanted.to_bytes(4, "little") for value in found.to_pylist()]):
        raise NotComputable("not all of its values are such")
    return values
