"""MariaDB's INET4, INET6 and UUID columns: from text and bytes, and to them.

Source: MariaDB's "INET6", "INET4" and "UUID"; judged by MariaDB 10.5, 10.11 and 11.8. A value that is none of the type
becomes NULL outside of strict mode, or the implicit default in a NOT NULL column.
"""

from __future__ import annotations

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.addresses import network_text, packed
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.versions import is_since
from applier.sql.casting import byte_strings
from applier.sql.casting.texts import by_distinct

_MAPPED = bytes(10) + b"\xff\xff"
_MAPS_INET4 = (11, 3)


def from_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text in the notations that MariaDB reads; from 11.3 on an INET6 may be in that of an INET4."""
    def read(text: str) -> bytes | None:
        try:
            return packed(text, new.base)
        except ValueError:
            if new.base != "inet6":
                return None
        try:
            mapped = _MAPPED + packed(text, "inet4")
        except ValueError:
            return None
        if not session.server_version:
            raise NotComputable("addresses of four numbers, which some versions of MariaDB take")
        return mapped if is_since(session.server_version, _MAPS_INET4) else None

    return network_text(by_distinct(values, read, pa.binary()), new.base)


def from_bytes(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Bytes, which have to be as many as the type has."""
    size = new.entry.packed
    return network_text(by_distinct(values, lambda data: data if len(data) == size else None, pa.binary()), new.base)


def to_bytes(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The bytes of values, in the order of their text."""
    data = by_distinct(values, lambda text: packed(text, old.base), pa.binary())
    return byte_strings.to_bytes(data, old, new, session)
