"""Finds the first refused change, and its transaction: looked up only when the replay stops.

A JSON diff is applied when the remaining rows are gathered; the key of its row is no longer known then,
so it is looked up in the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from applier.apply.search.change_keys import ByteKeys, IntKeys, change_keys
from applier.apply.tables.logged_table import logged_columns
from applier.apply.tables.table_maps import TableMaps
from applier.binlog.events.events import parse_gtid, read_event, read_format
from applier.binlog.events.format import GTID_EVENTS, HEADER_LENGTH, EventType
from applier.binlog.events.query import parse_query
from applier.binlog.events.table_map import TableMap
from applier.binlog.outline.outline import Outline
from applier.binlog.rows.changes import ChangeBatch, ChangeReader, TableBinding
from applier.columns.table_key import TableKey, table_key
from applier.errors import DUPLICATE_KEY, KEY_NOT_FOUND, ApplierError
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
        is_searched = batch.before_rows >= 0  # an inserted row is not found by a key
        changes = np.flatnonzero((batch.positions == self._position) & (batch.rows == self._row) & is_searched)
        texts = reader.texts(batch)
        self.keys += [texts.found_by(int(batch.before_rows[change])) for change in changes]


_IN_ONE_ROW = {KEY_NOT_FOUND: 0, DUPLICATE_KEY: 2}


def first_of(errors: Sequence[ApplierError], order: dict[str, int]) -> ApplierError:
    """The error at which a replica would have stopped, of those of several units; `order` numbers the files by uri.

    For a row that moves between units, a missing row comes before a taken new key; a JSON diff that does not fit comes
    between the two.
    """
    return min(errors, key=lambda error: (order[error.file or ""], error.position or 0, error.row or 0,
                                          _IN_ONE_ROW.get(error.mysql_errno or 0, 1)))


def with_transaction(error: ApplierError, outline: Outline,
                     then: str = "then compare the row on the source") -> ApplierError:
    """Add to an error its GTID and, if it has no hint, one with the position before its event group, and with what to
    do `then`. An error without a position has no known transaction."""
    end = error.position
    if end is None:
        return error
    file = map_file(outline.uri, whole=False)
    position = max((split.start for split in outline.splits if split.start <= end), default=4)
    description = read_format(file)
    file.fetch(position, end)
    group, gtid, has_gtids = position, None, False
    while position < end:
        event = read_event(file, position, description)
        if event.type in GTID_EVENTS:
            group, has_gtids = position, True
            gtid = parse_gtid(event.type, event.body, event.server_id).text
        elif not has_gtids and event.type == EventType.QUERY and parse_query(event.body).sql == b"BEGIN":
            group = position
        position += event.size
    error.hint = error.hint or (f"to keep what came before this transaction, replay with --stop-position "
                                f"{outline.name}:{group}; {then}")
    return error.at(gtid=gtid)
