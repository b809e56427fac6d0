# mypy: allow-untyped-defs, no-check-untyped-defs
"""The tables of a walk by table id: an open-addressed hash table that Python fills in."""

import numpy as np

from applier.kernels.byte_strings import same_bytes
from keysearch.memory import inline
from keysearch.records import struct

ENTRY, _, _entry_at = struct("table id", **dict.fromkeys(("id", "table", "body", "body_length"), np.int64))
"""A table id (-1: free), the number of its table, and the body of its map after the id (address and length)."""


@inline
def id_entry(ids, mask, table_id):
    """Return the entry of a table id, or the free one where it belongs."""
    slot = np.int64((np.uint64(table_id) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & mask
    while _entry_at(ids, slot).id != -1 and _entry_at(ids, slot).id != table_id:
        slot = (slot + 1) & mask
    return _entry_at(ids, slot)


@inline
def is_mapped(entry, body, length):
    """Return True if the entry's table map has this body after the table id."""
    return entry.id != -1 and entry.body_length == length and same_bytes(entry.body, body, length)
