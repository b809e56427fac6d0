"""The order in which a server reads a table's rows where it copies them: that of the clustered index in InnoDB, one
partition after the other; without such an index, and in other engines, that in which the rows came.

It decides which number a row gets of an added AUTO_INCREMENT column, and which one of two rows ALTER IGNORE leaves.
Source: MySQL manual, "Clustered and Secondary Indexes"; judged by MySQL 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.alter.partitions import partition_numbers, subpartition_numbers
from applier.columns.table_key import table_key
from applier.errors import NotComputable
from applier.mysql.types import BINARY, CHARACTER
from applier.schema.definition import Column, TableDefinition
from applier.schema.key_infos import clustered_key, is_innodb, key_collation
from applier.sql.casting.members import member_numbers
from keysearch.collation import equality_column, is_ordered

_SORTED_AS_KEPT = BINARY | {"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit",
                            "date", "datetime", "timestamp", "time", "year"}
"""Types that a server sorts as Arrow sorts a snapshot's values."""
_APPENDING = ("MYISAM", "MEMORY", "HEAP")
"""Engines that put a row behind all others while no row has left room. Aria puts it on any page with room."""


@dataclasses.dataclass(frozen=True)
class Arrivals:
    """What is known of how a table's rows came. in_order: they lie in a snapshot as they came, if no key sorts them.
    only_inserted: into an empty table, and none was updated or deleted."""

    in_order: bool = True
    only_inserted: bool = False


def scan_order(rows: pa.Table, definition: TableDefinition, arrivals: Arrivals) -> np.ndarray | None:
    """Numbers of the rows in that order, int64[n]; None where they lie in it. Raises NotComputable where it is not
    known."""
    if not is_innodb(definition):
        _check_appended(definition, arrivals)
        return None
    key, sorts = clustered_key(definition), []
    columns: list[pa.Array | pa.ChunkedArray] = []
    if definition.partitioning is not None:
        if key is None:
            raise NotComputable("one partition after the other, each as its rows came")
        divide = subpartition_numbers if definition.partitioning.subpartition_by else partition_numbers
        columns.append(pa.array(divide(rows, definition, definition.partitioning)))
        sorts.append("ascending")
    if key is None:
        if (found := table_key(definition)) is not None:
            raise NotComputable(f"as they came, since key {found.choice.name} is no order of its columns")
        if not arrivals.in_order:
            raise NotComputable("as partitions had them that are gone")
        return None
    for part in key.parts:
        if part.column is None:
            raise NotComputable(f"by an expression, ({part.expression})")
        columns.append(_sortable(rows, definition.column(part.column), definition.flavour, part.length))
        sorts.append("descending" if part.descending else "ascending")
    names = [str(number) for number in range(len(columns))]
    return np.asarray(pc.sort_indices(pa.table(columns, names), sort_keys=list(zip(names, sorts, strict=True))))


def _check_appended(definition: TableDefinition, arrivals: Arrivals) -> None:
    appended = (definition.engine or "").upper() in _APPENDING and definition.partitioning is None
    if not (appended and arrivals.only_inserted and table_key(definition) is None):
        raise NotComputable(f"as {definition.engine} had room for them")


def _sortable(rows: pa.Table, column: Column, flavour: str, length: int | None) -> pa.Array | pa.ChunkedArray:
    """A column's values, or so many characters or bytes of each, as Arrow sorts them in the server's order."""
    values, base = rows.column(column.name), column.type.base
    if length is not None:
        values = (pc.utf8_slice_codeunits if base in CHARACTER else pc.binary_slice)(values, 0, length)
    if base in ("enum", "set"):
        return member_numbers(values.combine_chunks(), column.type)
    if base in CHARACTER:
        collation = key_collation(column, flavour)
        if collation is None or not is_ordered(collation):
            raise NotComputable(f"by the collation {collation} of {column.name}, whose order is not known")
        # a space at the end of a string comes behind a control character, and does not count otherwise
        if pc.any(pc.match_substring_regex(values, "[\\x00-\\x1f]")).as_py():
            raise NotComputable(f"by {column.name}, which has control characters")
        return equality_column(values, collation)
    if base not in _SORTED_AS_KEPT or pa.types.is_string(values.type):
        raise NotComputable(f"by {column.name}, {column.type.sql()}, whose order is not that of its text")
    return values.cast(pa.int64()) if pa.types.is_duration(values.type) else values
