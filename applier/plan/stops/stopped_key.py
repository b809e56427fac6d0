"""Finds the key of a change that stopped the replay after its key was gone: looked up in the log, since it happens only
once.

A JSON diff is applied when the rows that are left are gathered; by then nothing holds the key of the row it was for.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

import numpy as np

from applier.apply.search.change_keys import ByteKeys, IntKeys, change_keys
from applier.apply.tables.logged_table import logged_columns
from applier.apply.tables.table_maps import TableMaps
from applier.binlog.events.format import HEADER_LENGTH
from applier.binlog.events.table_map import TableMap
from applier.binlog.outline.outline import Outline
from applier.binlog.rows.changes import ChangeBatch, ChangeReader, TableBinding
from applier.columns.table_key import TableKey, table_key
from applier.errors import ApplierError
from applier.io.mapping import map_file
from applier.schema.definition import TableDefinition
from applier.schema.history.table_versions import TableVersion


def with_key(error: ApplierError, number: int, outline: Outline, versions: Iterable[TableVersion]) -> ApplierError:
    """The error of a change in the file of this number with the key that its row was found by, if it has none yet and
    the table has a key; `versions` are those of all tables."""
    position, row = error.position, error.row
    if error.key is None and position is not None and row is not None:
        for version in versions:
            if version.definition.full_name == error.table and version.start <= (number, position) and (
                    version.end is None or (number, position) < version.end):
                with suppress(ApplierError):  # whatever else is wrong with the log there, the first error stands
                    error.key = _key_at(position, row, outline, version.definition)
    return error


def _key_at(position: int, row: int, outline: Outline, definition: TableDefinition) -> str | None:
    key = table_key(definition)
    if key is None:
        return None
    told = _Told(definition, key, position, row)
    file = map_file(outline.uri, whole=False)
    start = max((split.start for split in outline.splits if split.start <= position), default=outline.start)
    file.fetch(start, position + HEADER_LENGTH)
    end = position + int.from_bytes(file.array[position + 9:position + 13].tobytes(), "little")
    file.fetch(start, end)
    reader = ChangeReader(file, TableMaps({(definition.database, definition.name): 0}, {0: told}),
                          checksum=outline.format.checksum, header_length=outline.format.header_length)
    reader.walk(start, end)
    reader.flush()
    return told.keys[0] if len(told.keys) == 1 else None  # a compressed transaction may have several such rows


class _Told:
    """Collects the keys of a table's changes at one position. Table maps there may be of an earlier definition, and are
    not compared with this one."""

    def __init__(self, definition: TableDefinition, key: TableKey, position: int, row: int):
        self._definition, self._key, self._position, self._row = definition, key, position, row
        self.keys: list[str] = []

    def bind(self, table_map: TableMap, _: TableBinding | None) -> TableBinding:
        """Request the keys of the rows after a table map."""
        plans = logged_columns(table_map, self._definition)
        reader = change_keys(self._key, self._definition, table_map)
        wanted = reader.wanted(plans)
        return TableBinding(plans, wanted, wanted, partial(self._take, reader))

    def _take(self, reader: IntKeys | ByteKeys, batch: ChangeBatch) -> None:
        changes = np.flatnonzero((batch.places == self._position) & (batch.rows == self._row))
        texts = reader.texts(batch)
        self.keys += [texts.found_by(int(batch.before_rows[change])) for change in changes]
