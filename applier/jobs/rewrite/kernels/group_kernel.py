# mypy: allow-untyped-defs, no-check-untyped-defs
"""Chooses the events to compress: those that a server compresses (binlog_transaction_compression, log_bin_compress).

MySQL compresses a transaction as a whole: everything after its GTID event, BEGIN to XID, if it is only rows.
MariaDB compresses rows events one by one.
"""

import numpy as np

from applier.binlog.events.packed_kernel import bitmaps_of, read_bitmaps
from applier.jobs.rewrite.kernels.records import MARIADB, PAYLOAD, out_at
from keysearch.memory import inline, load_u8, load_u32, store_u32

_QUERY, _XID, _TABLE_MAP, _ROWS_QUERY, _FIRST_ROWS, _LAST_ROWS, _PARTIAL_UPDATE = 2, 16, 19, 29, 30, 32, 39
_NONE, _GTID, _BEGUN, _ENDED = range(4)
"""How far a group is one that is compressed: not at all, its GTID event, its BEGIN, its XID."""
_BEGIN = int.from_bytes(b"BEGI", "little")
_LEAST_BYTES = 256
"""MariaDB's log_bin_compress_min_len."""


@inline
def add_to_group(event_type, start, stop, state):
    """Follow the group by the event that was put out last."""
    last, group = state.n_events - 1, state.group
    out = out_at(state.events, last)
    if event_type == 33 or event_type == 34 or event_type == 42:
        state.group, state.group_events, state.has_gtid = _GTID, state.n_events, 1
    elif group == _GTID and event_type == _QUERY and out.moves and _is_begin(start, stop):
        state.group = _BEGUN
    elif group == _BEGUN and out.moves and (
            event_type == _TABLE_MAP or event_type == _ROWS_QUERY or event_type == _PARTIAL_UPDATE
            or (event_type >= _FIRST_ROWS and event_type <= _LAST_ROWS)):
        state.group = _BEGUN
    elif group == _BEGUN and out.moves and event_type == _XID:
        state.group = _ENDED
    else:
        state.group = _NONE


@inline
def _is_begin(start, stop):
    """Return whether a QUERY's text is BEGIN."""
    return stop - start > 5 + 19 and load_u32(stop - 5) == _BEGIN and load_u8(stop - 1) == 78 and load_u8(stop - 6) == 0


@inline
def end_group(state):
    """Mark the events of the group that ends, if they are to be compressed. In a payload events have no position."""
    if state.compresses and state.group == _ENDED:
        state.unit += 1
        for i in range(state.group_events, state.n_events):
            out = out_at(state.events, i)
            out.unit, out.form = state.unit, PAYLOAD
            store_u32(state.out + out.start + 13, np.uint32(0))
    state.group, state.has_gtid = _NONE, 0


@inline
def compress_rows(state):
    """Mark the rows event that was put out last as one that MariaDB compresses, if it is long enough."""
    out = out_at(state.events, state.n_events - 1)
    event = state.out + out.start
    body, end = event + state.header_bytes, event + out.length
    columns, bitmaps = read_bitmaps(body, end, out.type)
    out.rows = bitmaps - event + bitmaps_of(out.type) * ((columns + 7) >> 3) if bitmaps else out.length
    if out.length - out.rows >= _LEAST_BYTES:
        state.unit += 1
        out.unit, out.form = state.unit, MARIADB
    else:
        out.unit = 0
