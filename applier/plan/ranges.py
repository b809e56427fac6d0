"""Dividing a table that starts empty by its key: bounds from the sample of row events that the outlines kept."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pyarrow as pa

from applier.apply.search.change_keys import change_keys
from applier.apply.tables.table_walk import logged_columns
from applier.binlog.events.format import EventType
from applier.binlog.events.table_map import parse_table_map
from applier.binlog.outline.outline import TableUse
from applier.binlog.rows.changes import ChangeBatch, ChangeReader, TableBinding
from applier.columns.agreement import definition_check
from applier.columns.table_key import TableKey
from applier.columns.type_conversions import NONE_ALLOWED, TypeConversions
from applier.errors import ApplierError
from applier.io.mapping import MappedFile
from applier.schema.definition import TableDefinition
from applier.snapshot.manifest import KeyValue

MOST_SAMPLES = 2048
"""Samples of a table that are looked at: enough for thousands of ranges, and no more work for a larger archive."""
KEYS_A_SAMPLE = 8
_GUARD = bytes(64)


def bounds(uses: list[TableUse], definition: TableDefinition, key: TableKey, n: int,
           allowed: TypeConversions = NONE_ALLOWED) -> list[KeyValue]:
    """Up to n - 1 ascending keys that divide the rows sampled in `uses` into n even ranges, which begin at them."""
    if n < 2:
        return []
    step = 1 + sum(len(use.samples) for use in uses) // MOST_SAMPLES
    keys = sorted(found for use in uses for found in _sampled_keys(use, use.samples[::step], definition, key, allowed))
    if len(keys) < n:
        return []
    cuts = sorted({keys[i * len(keys) // n] for i in range(1, n)})
    return [cut for cut in cuts if cut > keys[0]]


def _sampled_keys(use: TableUse, samples: list[bytes], definition: TableDefinition, key: TableKey,
                  allowed: TypeConversions) -> list[KeyValue]:
    """Up to KEYS_A_SAMPLE keys of each sample."""
    table_map = parse_table_map(use.body)
    if definition_check(table_map, definition, allowed, same_columns=False) is not None:
        return []  # rows of the table as it was before or after this definition, or the apply task says so
    plans, found = logged_columns(table_map, definition, allowed), []
    reader_of_keys = change_keys(key, definition, table_map)
    wanted = reader_of_keys.wanted(plans)

    def take(batch: ChangeBatch) -> None:
        columns = reader_of_keys.columns(batch)[batch.n_after > 0]
        images, n = (batch.after, batch.n_after) if batch.n_after else (batch.before, batch.n_before)
        picks = np.unique(np.linspace(0, n - 1, KEYS_A_SAMPLE).astype(np.int64))
        for column in key.columns:  # what is behind a sample's last row may be read as one with NULLs
            picks = picks[np.asarray(images.columns[column].arrow(n).is_valid())[picks]]
        keys = key.encode([column.take(pa.array(picks)) for column in columns])
        found.extend(keys[i] if key.form == "bytes" else int(keys[i]) for i in range(len(keys)))

    binding = TableBinding(plans, wanted, wanted, take)
    file, places = _as_file(use.body, samples)
    reader = ChangeReader(file, lambda _: binding, checksum=False)
    for start, end in places:
        with suppress(ApplierError):  # cut off within a row: those before it count
            reader.walk(start, end)
        with suppress(ApplierError):  # a key that stops the replay, when it comes to it
            reader.flush()
        binding.batch.reset()
    return found


def _as_file(body: bytes, samples: list[bytes]) -> tuple[MappedFile, list[tuple[int, int]]]:
    """A table map and the beginnings of rows events, as a file of events; and where these are in it."""
    data, places = bytearray(), []
    for kind, event in [(EventType.TABLE_MAP, bytes(25) + body), *((sample[4], sample) for sample in samples)]:
        start = len(data)
        data += event
        data[start + 4] = kind
        data[start + 9:start + 13] = len(event).to_bytes(4, "little")
        data[start + 19:start + 25] = bytes(6)
        places.append((start, len(data)))
    array = np.frombuffer(bytes(data) + _GUARD, np.uint8)
    return MappedFile("samples", len(array), array, array.ctypes.data), places
