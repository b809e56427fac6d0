"""The key of a change that stopped the replay after its key was gone: looked up in the log, as it happens only once.

A JSON diff is applied when the rows that are left are gathered; by then nothing holds the key of the row it was for.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from applier.apply.search.change_keys import ChangeKeys, change_keys
from applier.apply.tables.table_walk import logged_columns
from applier.binlog.events.table_map import TableMap
from applier.binlog.outline.outline import Outline
from applier.binlog.rows.changes import ChangeBatch, ChangeReader, TableBinding
from applier.columns.table_key import table_key
from applier.errors import ApplierError
from applier.io.mapping import map_file
from applier.schema.definition import TableDefinition
from applier.schema.history.table_versions import TableVersion


def with_key(error: ApplierError, number: int, outline: Outline, versions: Iterable[TableVersion]) -> ApplierError:
    """The error of a change in the file of this number with the key that its row was found by, if it has none yet and
    the table has a key; `versions` are those of all tables."""
    if error.key is None and error.row is not None:
        for version in versions:
            if version.definition.full_name == error.table and version.start <= (number, error.position) and (
                    version.end is None or (number, error.position) < version.end):
                with suppress(ApplierError):  # whatever else is wrong with the log there, this error came first
                    error.key = _key_of(error, outline, version.definition)
    return error


def _key_of(error: ApplierError, outline: Outline, definition: TableDefinition) -> str | None:
    key, found = table_key(definition), []
    if key is None:
        return None

    def bind(table_map: TableMap) -> TableBinding | None:
        if table_map.name != error.table:
            return None
        plans, reader = logged_columns(table_map, definition), change_keys(key, definition, table_map)
        wanted = reader.wanted(plans)
        return TableBinding(plans, wanted, wanted, lambda batch: take(batch, reader))

    def take(batch: ChangeBatch, reader: ChangeKeys) -> None:
        changes = np.flatnonzero((batch.places == error.position) & (batch.rows == error.row))
        found.extend(f"{key} = {reader.text(batch, int(batch.before_rows[change]), False)}" for change in changes)

    file = map_file(outline.uri)
    start = max((split.start for split in outline.splits if split.start <= error.position), default=outline.start)
    end = error.position + int.from_bytes(file.array[error.position + 9:error.position + 13].tobytes(), "little")
    reader = ChangeReader(file, bind, checksum=outline.format.checksum, header_length=outline.format.header_length)
    reader.walk(start, end)
    reader.flush()
    return found[0] if len(found) == 1 else None  # a compressed transaction may have several such rows
