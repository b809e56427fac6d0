"""The order in which a server reads a table's rows when it copies them: InnoDB by the clustered index, partition by
partition; without that index, and in other engines, in the order of insertion, unless an engine fills freed room.

It decides the numbers of an added AUTO_INCREMENT column, and which of two rows ALTER IGNORE keeps. Source: MySQL
manual, "Clustered and Secondary Indexes"; judged by MySQL 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.alter.partitions import place_numbers
from applier.columns.table_key import table_key
from applier.errors import NotComputable
from applier.mysql.types import BINARY, CHARACTER, MEMBERS, NUMBERS, TEMPORAL
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import RowConversion
from applier.schema.key_infos import clustered_key, is_innodb, key_collation
from applier.schema.table_parts import Column, KeyPart
from applier.sql.casting.members import member_numbers
from keysearch.collation import order_column

_SORTED_AS_KEPT = BINARY | NUMBERS | TEMPORAL | {"year"}
"""Types that a server sorts as Arrow sorts a snapshot's values."""
_FIXED = NUMBERS | TEMPORAL | MEMBERS | {"year", "char", "binary"}
"""Types whose values have one length in a row of MyISAM."""
_APPENDING = ("MYISAM", "MEMORY", "HEAP")
"""Engines that append rows as long as there is no freed room, and leave a row where it is when it is updated. Aria uses
any page with room."""


@dataclass(frozen=True)
class Arrivals:
    """The known facts about the insertion of a table's rows. in_order: a snapshot has the rows of each partition in
    this order, unless a key sorts them: then the server has them in the order of their ranks. has_room: an engine that
    appends may have freed room, which rows fill."""

    in_order: bool = True
    has_room: bool = False


def scan_order(rows: pa.Table, definition: TableDefinition, arrivals: Arrivals,
               ranks: np.ndarray | None) -> np.ndarray | None:
    """Return the numbers of the rows in the order in which the server reads them, int64[n]; None if they are already in
    it. `ranks` (int64[n]) are those of the rows by their arrival, None if they are unknown. Raises NotComputable if the
    order is unknown."""
    key = clustered_key(definition) if is_innodb(definition) else None
    if key is None and not arrivals.in_order and not is_innodb(definition):
        raise NotComputable(f"where {definition.engine} had room for them")
    columns: list[pa.Array | pa.ChunkedArray] = []
    if definition.partitioning is not None:
        columns.append(pa.array(place_numbers(rows, definition, definition.partitioning)))
    if key is None:
        if (found := table_key(definition)) is not None:
            if ranks is None:
                raise NotComputable(f"in the order of insertion, and key {found.choice.name} sorts those of a snapshot")
            columns.append(pa.array(ranks))
        if not arrivals.in_order:
            raise NotComputable("in the order of keys, partitions or an engine that are gone, or that updates moved "
                                "them to")
        if not columns:
            return None
    return _by_parts(() if key is None else key.parts, rows, definition, columns)


def _by_parts(parts: Sequence[KeyPart], rows: pa.Table, definition: TableDefinition,
              columns: list[pa.Array | pa.ChunkedArray]) -> np.ndarray:
    """Return the numbers of the rows in the order of these columns, ascending, and then of a key's parts."""
    columns, sorts = [*columns], ["ascending"] * len(columns)
    for part in parts:
        if part.column is None:
            raise NotComputable(f"by an expression, ({part.expression})")
        columns.append(_sortable(rows, definition.column(part.column), definition.flavour, part.length))
        sorts.append("descending" if part.descending else "ascending")
    names = [str(number) for number in range(len(columns))]
    return np.asarray(pc.sort_indices(pa.table(columns, names), sort_keys=list(zip(names, sorts, strict=True))))


def follows_arrival(definition: TableDefinition) -> bool:
    """Return whether a key sorts the rows of a snapshot, and not those of the server, which has them in the order of
    their arrival."""
    if table_key(definition) is None:
        return False
    return clustered_key(definition) is None if is_innodb(definition) else appends(definition)


def appends(definition: TableDefinition) -> bool:
    """Return whether a table's engine puts a new row behind the others, as long as there is no freed room."""
    return (definition.engine or "").upper() in _APPENDING


def is_written_anew(conversion: RowConversion) -> bool:
    """Return whether a statement certainly copies all rows of a table whose engine appends, so that no room is left
    between them: it gets or loses a stored column, or another engine, or the statement asks for a copy."""
    old, new = conversion.old, conversion.new
    stored = {number for number, column in enumerate(old.columns) if column.generated != "virtual"}
    return conversion.asks_for_copy or old.engine != new.engine or not stored.issubset(conversion.sources) or any(
        source is None and column.generated != "virtual"
        for source, column in zip(conversion.sources, new.columns, strict=True))


def frees_by_updates(definition: TableDefinition) -> bool:
    """Return whether an updated row may leave room for others: its length may change."""
    return appends(definition) and not has_fixed_rows(definition)


def has_fixed_rows(definition: TableDefinition) -> bool:
    """Return whether all rows of a table whose engine appends certainly have one length: a new row then fills the room
    that was freed last."""
    if not appends(definition) or (definition.engine or "").upper() != "MYISAM":
        return appends(definition)
    return all(column.type.base in _FIXED for column in definition.columns) and not definition.options


def _sortable(rows: pa.Table, column: Column, flavour: str, length: int | None) -> pa.Array | pa.ChunkedArray:
    """Return a column's values, or their prefixes of this many characters or bytes, as Arrow sorts them in the server's
    order."""
    values, base = rows.column(column.name), column.type.base
    if length is not None:
        values = (pc.utf8_slice_codeunits if base in CHARACTER else pc.binary_slice)(values, 0, length)
    if base in MEMBERS:
        return member_numbers(values.combine_chunks(), column.type)
    if base in CHARACTER:
        collation = key_collation(column, flavour)
        sortable = None if collation is None else order_column(values, collation)
        if sortable is None:
            raise NotComputable(f"by the collation {collation} of {column.name}, whose order is not known")
        return sortable
    if base not in _SORTED_AS_KEPT or pa.types.is_string(values.type):
        raise NotComputable(f"by {column.name}, {column.type.sql()}, whose order is not that of its text")
    return values.cast(pa.int64()) if pa.types.is_duration(values.type) else values
