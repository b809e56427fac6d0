"""VECTOR columns: from bytes and to bytes, and of another number of dimensions.

Source: seen on MySQL 9.7 and MariaDB 11.8. A VECTOR(n) of MySQL has up to n numbers, one of MariaDB n. A value that
does not fit fails in MySQL, in MariaDB only in strict mode; else it becomes zeros.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values.zero_dates import zero
from applier.sql.casting import byte_strings

_BYTES = ColumnType("longblob")
_WIDTH = 4
"""Bytes of a number."""


def to_vector(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Convert vectors to other dimensions: surplus numbers are dropped, and in MariaDB zeros replace missing ones."""
    size = _WIDTH * (new.length or 0)
    data = pc.binary_slice(_bytes(values), 0, size)
    return _vectors(_padded(data, size) if session.flavour == "mariadb" else data, new)


def from_bytes(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Vectors out of their bytes. Raises NotComputable for bytes with which MySQL refuses the statement."""
    size = _WIDTH * (new.length or 0)
    good = np.array([data is None or _is_vector(data, size, session.flavour) for data in values.to_pylist()], np.bool_)
    if good.all():
        return _vectors(values.cast(pa.binary()), new)
    if session.flavour == "mysql":
        too_long = pc.fill_null(pc.greater(pc.binary_length(values), size), False)
        if not pc.all(pc.or_(pa.array(good), too_long)).as_py():
            raise NotComputable("bytes that are not a vector")
    instead = b"" if session.flavour == "mysql" else bytes(size)
    return _vectors(pc.if_else(pa.array(good), values.cast(pa.binary()), pa.scalar(instead, pa.binary())), new)


def zeros(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Return MariaDB's conversion of other values without strict mode. Raises NotComputable: MySQL refuses the
    statement."""
    if session.flavour == "mysql":
        raise NotComputable(f"{old.base.upper()} as VECTOR")
    return from_bytes(pc.if_else(values.is_valid(), pa.scalar(b"", pa.binary()), None), _BYTES, new, session)


def to_bytes(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The vectors' bytes."""
    return byte_strings.to_bytes(_bytes(values), _BYTES, new, session)


def to_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The vectors' bytes as text, not their numbers."""
    return byte_strings.to_text(_bytes(values), _BYTES, new, session)


def to_nothing(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Numbers and dates: both servers make zeros of vectors without strict mode."""
    kind = arrow_type(new)
    nothing = zero(kind) if new.base in ("date", "datetime", "timestamp") else pa.scalar(0).cast(kind)
    return pc.if_else(values.is_valid(), nothing, pa.scalar(None, kind))


def _is_vector(data: bytes, size: int, flavour: str) -> bool:
    fits = len(data) == size if flavour == "mariadb" else 0 < len(data) <= size and len(data) % _WIDTH == 0
    return fits and bool(np.isfinite(np.frombuffer(data, "<f4")).all())


def _bytes(values: pa.Array) -> pa.Array:
    """Each vector's numbers as bytes."""
    return pa.array([None if numbers is None else np.array(numbers, "<f4").tobytes() for numbers in values.to_pylist()],
                    pa.binary())


def _padded(data: pa.Array, size: int) -> pa.Array:
    padded = pc.binary_join_element_wise(data, pa.scalar(bytes(size), pa.binary()), pa.scalar(b"", pa.binary()))
    return pc.binary_slice(padded, 0, size)


def _vectors(data: pa.Array, new: ColumnType) -> pa.Array:
    """Vectors of their bytes, whole numbers of floats."""
    return pa.array([None if value is None else np.frombuffer(value, "<f4") for value in data.to_pylist()],
                    arrow_type(new))
