# mypy: allow-untyped-defs, no-check-untyped-defs
"""Walks the events of a part of a binlog and decodes the row changes of the selected tables into their batches.

The kernel stops with a status whenever Python must decide something about a *kind*: a new table map, a row layout
without a program, a full batch. It then continues exactly where it stopped. Tables, layouts and batches are records
that Python fills in (change_records).

The kernel requests the contents of a compressed event (compressed.Inflater), whose memory is reused: rows events with
selected images are copied to a buffer first.
"""

import numpy as np

from applier.binlog.events.compression.compressed_kernel import CONTENT_BYTES, content_view, is_compressed
from applier.binlog.events.digest_kernel import with_event
from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.format import EventType
from applier.binlog.events.packed_kernel import table_id_at
from applier.binlog.rows.change_records import (
    Status,
    state_at,
)
from applier.binlog.rows.rows_event_kernel import rows_event, rows_kind
from applier.binlog.rows.table_ids_kernel import id_entry, is_mapped
from applier.kernels.crc32 import crc32
from keysearch.memory import (
    inline,
    kernel,
    load_i64,
    load_u32,
)

_TABLE_MAP = 19
RANGE_BYTES, NEVER = 16, 1 << 62


@kernel
def walk(state_address):
    """Decode the events from `position` up to `end` (offsets from address `base`). Returns why it stopped. `digests`:
    compare checksums, and compute the events' digest (same_bytes)."""
    state = state_at(state_address)
    base, position, end = state.base, state.position, state.end
    header, checksum_bytes = state.header_bytes, state.checksum_bytes
    digests = state.digests != 0
    while position < end:
        start = base + position
        state.file_event = start
        if header > end - position:
            return Status.BAD_LENGTH
        size = np.int64(event_header(start).size)
        if size < header + checksum_bytes or size > end - position:
            return Status.BAD_LENGTH
        event_type = event_header(start).type
        stop = start + size - checksum_bytes
        if position >= state.out_from and is_left_out(position, state):
            status = Status.DONE
        elif is_compressed(event_type):
            status = compressed_event(position, state)
        else:
            status = plain_event(start, stop, state.file_end, event_type, state)
        if status != Status.DONE:
            return status
        if digests and event_type != EventType.FORMAT_DESCRIPTION:
            # not in a pass of its own: the CPU takes checksums in the time that it waits for rows
            crc = crc32(start, size - checksum_bytes, np.uint32(0))
            if checksum_bytes and crc != load_u32(stop):
                return Status.BAD_CHECKSUM
            state.digest = with_event(state.digest, crc)
        position += size
        state.position = position
        state.row_at = 0
    return Status.DONE


@inline
def is_left_out(position, state):
    """Return whether the event at this offset is in an excluded range. Offsets must not be before the range of the
    previous call."""
    while position >= state.out_to:
        if state.left_out == state.left_out_end:
            state.out_from = state.out_to = NEVER
            return False
        state.out_from, state.out_to = load_i64(state.left_out), load_i64(state.left_out + 8)
        state.left_out += RANGE_BYTES
    return position >= state.out_from


@inline
def compressed_event(position, state):
    """Read the events in a compressed event, as far as they are inflated. All have its position."""
    goes_on, header = True, state.header_bytes
    while goes_on:
        if state.contents_left == 0 or content_view(state.content).position != position:
            return Status.NEED_CONTENTS
        content = content_view(state.content)
        start, content_end = state.inner, content.end
        if start == 0:
            start = content.start
            if state.within == 0:
                state.within, state.inner_offset = 1, 0
        while start < content_end:
            state.inner = start
            if header > content_end - start:
                return Status.BAD_LENGTH
            size = np.int64(event_header(start).size)
            if size < header or size > content_end - start:
                return Status.BAD_LENGTH
            event_type = event_header(start).type
            status = plain_event(start, start + size, state.contents_end, event_type, state)
            if status != Status.DONE:
                return status
            start += size
            state.inner_offset += size
            state.row_at = 0
        goes_on = content.goes_on != 0
        state.content += CONTENT_BYTES
        state.contents_left -= 1
        state.inner = 0
    state.within = state.inner_offset = 0
    return Status.DONE


@inline
def plain_event(start, stop, safe_end, event_type, state):
    """Read one plain event, from the file or inflated; `file_event` is the address of the event in the file."""
    state.event = start
    kind, body = rows_kind(np.int64(event_type)), start + state.header_bytes
    if event_type == _TABLE_MAP:
        if stop - body < 8:
            return Status.BAD_LENGTH
        known = is_mapped(id_entry(state.ids, state.ids_mask, table_id_at(body)), body + 6, stop - body - 6)
        return Status.DONE if known else Status.NEW_TABLE_MAP
    if kind < 0:
        return Status.DONE
    return rows_event(body, stop, safe_end, kind, event_type, state)
