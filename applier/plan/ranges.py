"""Dividing a table that starts empty by its key: bounds from the sample of row events that the outlines kept."""

from __future__ import annotations

import numpy as np

from applier.apply.change_keys import ByteKeys, IntKeys, change_keys
from applier.apply.table_key import TableKey
from applier.apply.table_walk import logged_columns
from applier.binlog.changes import ChangeBatch, ChangeReader, TableBinding
from applier.binlog.format import EventType
from applier.binlog.mapping import MappedFile
from applier.binlog.outline import TableUse
from applier.binlog.table_map import parse_table_map
from applier.errors import ApplierError
from applier.schema.definition import TableDefinition
from applier.snapshot.manifest import KeyValue

_GUARD = 64


def bounds(uses: list[TableUse], definition: TableDefinition, key: TableKey, n: int) -> list[KeyValue]:
    """Up to n - 1 ascending keys that divide the rows sampled in `uses` into n even ranges, which begin at them."""
    if n < 2:
        return []
    keys: list[KeyValue] = []
    for use in uses:
        keys += _sampled_keys(use, definition, key)
    keys.sort()
    if len(keys) < n:
        return []
    cuts = sorted({keys[i * len(keys) // n] for i in range(1, n)})
    return [cut for cut in cuts if cut > keys[0]]


def _sampled_keys(use: TableUse, definition: TableDefinition, key: TableKey) -> list[KeyValue]:
    table_map = parse_table_map(use.body)
    plans = logged_columns(table_map, definition)
    reader_of_keys = change_keys(key, definition, table_map)
    wanted = reader_of_keys.wanted(plans)
    found: list[KeyValue] = []

    def take(batch: ChangeBatch) -> None:
        found.extend(_keys_of(batch, key, reader_of_keys))

    for sample in use.samples:
        file = _as_file(use.body, sample)
        reader = ChangeReader(file, lambda _: TableBinding(plans, wanted, wanted, take, rows=1), checksum=False)
        try:
            reader.walk(0, file.size - _GUARD)
            reader.flush()
        except ApplierError:
            continue  # the sample was cut off within a row
    return found


def _keys_of(batch: ChangeBatch, key: TableKey, reader: IntKeys | ByteKeys) -> list[KeyValue]:
    keys = reader.of_batch(batch)
    if key.form == "bytes":
        return [keys[1][0] if batch.n_after else keys[0][0]]
    images = batch.after if batch.n_after else batch.before
    return [int(images.columns[key.columns[0]].values.view(np.int64)[0])]


def _as_file(body: bytes, sample: bytes) -> MappedFile:
    """A table map and the beginning of a rows event, as a file of these two events."""
    table_map = bytearray(19) + sample[19:25] + body
    table_map[4] = EventType.TABLE_MAP
    table_map[9:13] = len(table_map).to_bytes(4, "little")
    rows = bytearray(sample)
    rows[9:13] = len(sample).to_bytes(4, "little")
    array = np.frombuffer(bytes(table_map) + bytes(rows) + bytes(_GUARD), np.uint8)
    return MappedFile("a sample", len(array), array, array.ctypes.data)
