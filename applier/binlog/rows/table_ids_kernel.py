# mypy: allow-untyped-defs, no-check-untyped-defs
"""The tables of a walk by the ids that table maps give them: an open-addressed hash table that Python fills in."""

import numpy as np

from keysearch.memory import inline, load_i64, load_u8, load_u64

# an entry: id (-1: free), number of the table, address and length of the map's body
ENTRY, NUMBER, BODY, BODY_LENGTH = 32, 8, 16, 24


@inline
def same_bytes(a, b, length):
    i = 0
    while i + 8 <= length:
        if load_u64(a + i) != load_u64(b + i):
            return False
        i += 8
    while i < length:
        if load_u8(a + i) != load_u8(b + i):
            return False
        i += 1
    return True


@inline
def id_entry(ids, mask, table_id):
    """The address of a table id's entry, or of the free one where it would go."""
    slot = np.int64((np.uint64(table_id) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & mask
    while load_i64(ids + ENTRY * slot) != -1 and load_i64(ids + ENTRY * slot) != table_id:
        slot = (slot + 1) & mask
    return ids + ENTRY * slot
