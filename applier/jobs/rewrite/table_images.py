"""The columns that images of a table need, by its definition (PKE, IMG-U, IMG-D).

Images stay unchanged if it is uncertain whether a replica does the same with fewer columns:

    no definition is known, or it has other columns than the log
    MariaDB: tables with system versioning; with VIRTUAL columns, which a replica does not compute, so that keys over
             them would be wrong
"""

from __future__ import annotations

import numpy as np

from applier.apply.tables.logged_table import logged_columns
from applier.binlog.events.table_map import TableMap
from applier.jobs.rewrite.kernels.records import COLUMN
from applier.mysql.wire_types import FORMS, Shape, WireType
from applier.options.making import FULL, NOBLOB
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Key


def image_columns(definition: TableDefinition, table_map: TableMap, image: str | None) -> np.ndarray | None:
    """Return the columns of a table as the kernels take them (COLUMN[n]), for images of this kind (None: with all
    columns that they have); None if images stay unchanged."""
    if len(definition.columns) != len(table_map.types) or stays(definition):
        return None
    if image == FULL:
        return whole_columns(definition, table_map)
    blobs = [FORMS[kind].shape is Shape.BLOB for kind in table_map.types]
    key = key_equivalent(definition, blobs)
    columns = whole_columns(definition, table_map)
    for number, blob in enumerate(blobs):
        column = columns[number]
        column["key"] = image is not None and (key is None or number in key)
        column["before"] = column["after"] = image is None or (image == NOBLOB and not blob)
    return columns


def whole_columns(definition: TableDefinition, table_map: TableMap) -> np.ndarray:
    """Return the columns of whole images: where values are in images, and which columns are JSON."""
    columns = np.zeros(len(table_map.types), COLUMN)
    n_json = 0
    for number, (plan, kind) in enumerate(zip(logged_columns(table_map, definition), table_map.types, strict=True)):
        column = columns[number]
        column["prefix" if plan.is_bytes else "width"] = plan.meta if plan.is_bytes else plan.width
        column["json"] = n_json if kind == WireType.JSON else -1
        n_json += kind == WireType.JSON
    return columns


def key_equivalent(definition: TableDefinition, blobs: list[bool]) -> set[int] | None:
    """Return the columns of the primary key, or of unique keys without NULL that replace it: in MySQL the first one, in
    MariaDB all, since the server chooses which of them it searches by. None: all columns."""
    primary = definition.primary_key
    keys = [primary] if primary is not None else [key for key in definition.keys if _identifies(key, definition)]
    if definition.flavour == "mariadb":
        keys = [key for key in keys if key is primary or not any(blobs[number] for number in _columns(key, definition))]
    else:
        keys = keys[:1]
    found = {number for key in keys for number in _columns(key, definition)}
    if not found or any(definition.columns[number].generated for number in found):
        return None
    return found


def stays(definition: TableDefinition) -> bool:
    """Return whether images of a table stay unchanged, since a replica may not treat others in the same way."""
    return definition.flavour == "mariadb" and (
        definition.versioning is not None or any(column.generated == "virtual" for column in definition.columns))


def _identifies(key: Key, definition: TableDefinition) -> bool:
    """Return whether a key other than the primary one identifies each row, by whole values."""
    return key.kind == "unique" and all(part.column is not None and part.length is None
                                        and not definition.column(part.column).nullable for part in key.parts)


def _columns(key: Key, definition: TableDefinition) -> list[int]:
    return [definition.column_index(part.column) for part in key.parts if part.column is not None]
