# mypy: allow-untyped-defs, no-check-untyped-defs
"""Walks a file's events and writes them out: rows events with smaller or fuller images, all others unchanged.

Events are written one after another without checksums, whole groups at a time. The kernel stops where Python is needed:
for a table map that it has not seen, for the contents of a compressed event, if the buffer is full, or if there is
enough to be written (part_bytes). It then continues where it stopped.

A compressed event in which nothing changes is written unchanged.
"""

import numpy as np

from applier.binlog.events.compression.compressed_kernel import CONTENT_BYTES, content_view, is_compressed
from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import table_id_at
from applier.binlog.rows.rows_event_kernel import rows_kind
from applier.binlog.rows.table_ids_kernel import id_entry, is_mapped
from applier.jobs.rewrite.kernels.filter_kernel import (
    AS_IS,
    DROPPED,
    NEED_ANSWER,
    close_group,
    filter_event,
    rows_stay,
)
from applier.jobs.rewrite.kernels.filter_kernel import BAD_LENGTH as TOO_SHORT
from applier.jobs.rewrite.kernels.filter_kernel import NO_ROOM as FULL
from applier.jobs.rewrite.kernels.filter_kernel import UNKNOWN_TABLE as UNKNOWN
from applier.jobs.rewrite.kernels.group_kernel import add_to_group, compress_rows, end_group
from applier.jobs.rewrite.kernels.records import MARIADB, PAYLOAD, PLAIN, Status, out_at, state_at
from applier.jobs.rewrite.kernels.rows_kernel import BAD_LENGTH, BAD_ROWS, NEED_DIFFS, NO_ROOM, UNKNOWN_TABLE, put_rows
from applier.kernels.crc32 import crc32
from keysearch.memory import copy_bytes, inline, kernel, load_u32

_ROTATE, _STOP, _FORMAT, _TABLE_MAP = 4, 3, 15, 19
_GTID, _ANONYMOUS_GTID, _PREVIOUS_GTIDS, _PAYLOAD, _GTID_TAGGED = 33, 34, 35, 40, 42
_MARIADB_GTID, _GTID_LIST, _START_ENCRYPTION = 162, 163, 164


@kernel
def rewrite(state_address):
    """Put out the events from `position` up to `end`, offsets of whole events; says why it stopped."""
    state = state_at(state_address)
    base, header, checksum_bytes = state.base, state.header_bytes, state.checksum_bytes
    while state.position < state.end:
        position = state.position
        start = base + position
        state.event = start
        if header > state.end - position:
            return Status.BAD_LENGTH
        size = np.int64(event_header(start).size)
        if size < header + checksum_bytes or size > state.end - position:
            return Status.BAD_LENGTH
        event_type = np.int64(event_header(start).type)
        stop = start + size - checksum_bytes
        if not state.within:
            state.turn += 1
            if checksum_bytes and event_type != _FORMAT and crc32(start, stop - start, np.uint32(0)) != load_u32(stop):
                return Status.BAD_CHECKSUM
            if begins_group(event_type) or state.group_ended:
                if not close_group(state):
                    return Status.NO_ROOM
                end_group(state)
                if state.emptied_prepares:
                    return Status.EMPTIED_XA
            if not state.has_gtid and not state.group_open and state.used >= state.part_bytes:
                return Status.PART
        if is_compressed(event_type):
            status = compressed_event(position, start, stop, size, state)
        elif event_type == _START_ENCRYPTION and state.is_decrypted:
            status = Status.DONE
        else:
            status = plain_event(start, stop, size, state)
        if status != Status.DONE:
            return status
        state.position = position + size
    if state.end == state.file_end:
        if not close_group(state):
            return Status.NO_ROOM
        end_group(state)
        if state.emptied_prepares:
            return Status.EMPTIED_XA
    return Status.DONE


@inline
def begins_group(event_type):
    """Return whether an event begins a group, or is of the file and in none."""
    return (event_type == _GTID or event_type == _ANONYMOUS_GTID or event_type == _GTID_TAGGED
            or event_type == _MARIADB_GTID or event_type == _ROTATE or event_type == _STOP or event_type == _FORMAT
            or event_type == _PREVIOUS_GTIDS or event_type == _GTID_LIST)


@inline
def compressed_event(position, start, stop, size, state):
    """Rewrite the events in a compressed event, and then, if none has changed, copy the event unchanged."""
    goes_on, header = True, state.header_bytes
    while goes_on:
        if state.contents_left == 0 or content_view(state.content).position != position:
            return Status.NEED_CONTENTS
        content = content_view(state.content)
        if state.within == 0:
            state.within = 1
            state.kept_used, state.kept_events, state.changed = state.used, state.n_events, 0
        inner, inner_end = state.inner if state.inner else content.start, content.end
        while inner < inner_end:
            state.inner = inner
            state.event = inner
            if header > inner_end - inner:
                return Status.BAD_LENGTH
            inner_size = np.int64(event_header(inner).size)
            if inner_size < header or inner_size > inner_end - inner:
                return Status.BAD_LENGTH
            status = plain_event(inner, inner + inner_size, np.int64(0), state)
            if status != Status.DONE:
                return status
            inner += inner_size
        goes_on = content.goes_on != 0
        state.content += CONTENT_BYTES
        state.contents_left -= 1
        state.inner = 0
        state.event = start
    first = state.kept_events
    if state.changed and state.n_events <= first:
        state.group_removed += size  # all that was in it is dropped
        state.within = 0
        return Status.DONE
    if state.changed:
        form = PAYLOAD if event_header(start).type == _PAYLOAD else MARIADB
        state.unit += 1
        is_moved = moves(start, size, state)
        for i in range(first, state.n_events):
            out = out_at(state.events, i)
            out.unit, out.form, out.moves = state.unit, form, is_moved
        if form == MARIADB:
            if rows_kind(out_at(state.events, first).type) >= 0:
                compress_rows(state)
            else:
                out_at(state.events, first).unit, out_at(state.events, first).form = 0, PLAIN
        out_at(state.events, first).source = size
    else:
        state.used, state.n_events = state.kept_used, first
        if not has_room(stop - start, state):
            state.within = 0  # it is inflated once more
            return Status.NO_ROOM
        put_copy(start, stop, size, state)
    add_to_group(np.int64(_PAYLOAD), start, stop, state)
    state.within = 0
    return Status.DONE


@inline
def moves(start, size, state):
    """Return whether an event's header says where it ends in this file: in relay logs it says so of another one."""
    return event_header(start).next_position == np.uint32(start - state.base + size)


@inline
def has_room(length, state):
    """Return whether one more event of this length can be put out."""
    state.wanted_bytes = length
    return length <= state.room - state.used and state.n_events < state.most_events


@inline
def put_copy(start, stop, size, state):
    """Copy an event unchanged."""
    to = state.out + state.used
    finish(copy_bytes(to, start, stop - start), start, size, state)


@inline
def finish(end, start, size, state):
    """Add the record of an event that was put out and ends at an address; it had `size` bytes in the archive, 0 within
    another one."""
    to = state.out + state.used
    event_header(to).size = np.uint32(end - to)
    out = out_at(state.events, state.n_events)
    out.start, out.length, out.source, out.unit, out.form = state.used, end - to, size, 0, PLAIN
    out.type = np.int64(event_header(to).type)
    out.moves = moves(start, size, state) if size else np.int64(0)
    out.begins, out.removed = begins_group(out.type), 0
    state.used += end - to
    state.n_events += 1


@inline
def plain_event(start, stop, size, state):
    """An event that is not compressed, or was; `size` is as in `finish`."""
    event_type = np.int64(event_header(start).type)
    if event_type == _FORMAT:
        stop = start + size
    more = state.options_bytes if state.pairs_of == start else np.int64(0)
    if not has_room(stop - start + more, state):
        return Status.NO_ROOM
    if event_type == _TABLE_MAP:
        body = start + state.header_bytes
        if stop - body < 8:
            return Status.BAD_LENGTH
        if not is_mapped(id_entry(state.ids, state.ids_mask, table_id_at(body)), body + 6, stop - body - 6):
            return Status.NEW_TABLE_MAP
    to = state.out + state.used
    if state.filters:
        end = np.int64(filter_event(start, stop, size, event_type, state))
        if end == DROPPED:
            return Status.DONE
        if end == NEED_ANSWER:
            return Status.NEED_ANSWER
        if end == UNKNOWN:
            return Status.UNKNOWN_TABLE
        if end == FULL:
            return Status.NO_ROOM
        if end == TOO_SHORT:
            return Status.BAD_LENGTH
        if end != AS_IS:
            state.changed = 1
            finish(end, start, size, state)
            if size:
                add_to_group(event_type, start, stop, state)
            return Status.DONE
    end = put_rows(start, stop, to, state) if rows_kind(event_type) >= 0 else to
    if end == NEED_DIFFS:
        return Status.NEED_DIFFS
    if end == NO_ROOM:
        return Status.NO_ROOM
    if end == BAD_LENGTH:
        return Status.BAD_LENGTH
    if end == UNKNOWN_TABLE:
        return Status.UNKNOWN_TABLE
    if end == BAD_ROWS:
        return Status.BAD_ROWS
    state.pairs_of = 0
    if state.filters and rows_kind(event_type) >= 0:
        rows_stay(start, state.used, state)
    if end != to:
        state.changed = 1
        finish(end, start, size, state)
    else:
        put_copy(start, stop, size, state)
    if size:
        if state.is_mariadb and state.compresses and rows_kind(event_type) >= 0:
            compress_rows(state)
        add_to_group(event_type, start, stop, state)
    return Status.DONE
