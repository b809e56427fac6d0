# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels that copy the events of relay logs to their positions in the source's log.

An event of the source records its end position there, covered by its checksum. Within a group of MariaDB 11.8 only
the first event and the last one do (binlog_legacy_event_pos=OFF); the others follow one another. Events made for the
connection (GTID_LIST) are not part of the source's log, and skipped. So are repeated events: after a connection
broke within a group, the next one begins again with the group, or the file.

If the relay log does not have all events of the source's log, there is a gap. It is filled, so that positions stay
those of the source:

    before a TABLE_MAP    ANNOTATE_ROWS, which MariaDB sends only on request: filled with IGNORABLE, if the source's
                          previous event ends where the gap begins; before the last event of a group if
                          the others do not record their end positions
    else                  events that the replica did not get: filled likewise, and the end is an INCIDENT, of no server
"""

import numpy as np

from applier.kernels.crc32 import crc32
from keysearch.memory import copy_bytes, inline, kernel, load_u8, load_u16, load_u32, store_u8, store_u32
from keysearch.records import struct

DONE, NEED_INPUT, NEED_ROOM, BAD_LENGTH, BAD_GAP, BAD_CHECKSUM = range(6)
STATE, state_at, _ = struct("relayed", **dict.fromkeys((
    # addresses of the events that are left and of where they end; of the room for them that is left, and its end
    "at", "end", "to", "to_end",
    # in the source's log: where the next event comes to, where its head ends, up to where a gap has no group, and where
    # the part received last ends (or the connection begins)
    "position", "head_end", "nothing_before", "before",
    "checksum_bytes", "lacks_annotations",
    # 1 if the event before does not say where it ends
    "after_no_position"), np.int64))

HEADER = 19
_TYPE_AT, _SIZE_AT, _NEXT_AT, _FLAGS_AT = 4, 9, 13, 17
_ARTIFICIAL, _RELAY_LOG = 0x20, 0x40
_STOP, _ROTATE, _FORMAT, _TABLE_MAP, _INCIDENT, _IGNORABLE, _GTID_LIST, _START_ENCRYPTION = (
    3, 4, 15, 19, 26, 28, 163, 164)
_GTID, _ANONYMOUS_GTID, _TAGGED_GTID, _MARIADB_GTID = 33, 34, 42, 162
_PART = 1 << 20
"""A gap is filled with events of this size."""


@kernel
def next_border(address, at, end):
    """The offset of the next event from `at` on that may be the replica's own or names the source's file of those
    behind it, or where whole events end."""
    while end - at >= HEADER:
        size = np.int64(load_u32(address + at + _SIZE_AT))
        event_type = load_u8(address + at + _TYPE_AT)
        if event_type == _FORMAT or event_type == _ROTATE or load_u16(address + at + _FLAGS_AT) & _RELAY_LOG:
            break
        if event_type == _GTID_LIST or event_type == _START_ENCRYPTION or event_type == _STOP:
            break
        if size < HEADER or size > end - at:
            break
        at += size
    return at


@inline
def _begins_group(event_type):
    return (event_type == _GTID or event_type == _ANONYMOUS_GTID or event_type == _TAGGED_GTID
            or event_type == _MARIADB_GTID)


@inline
def _fill(state, gap, is_lost):
    """Fill a gap, which may take several calls; where groups are lost, the last event of it says so."""
    least = HEADER + state.checksum_bytes
    while gap:
        size = min(gap, np.int64(_PART))
        if 0 < gap - size < least:
            size = gap - least
        if size < least:
            return BAD_GAP
        if size > state.to_end - state.to:
            return NEED_ROOM
        to = state.to
        for i in range(size):
            store_u8(to + i, np.uint8(0))
        gap -= size
        state.to += size
        state.position += size
        store_u32(to, load_u32(state.at))  # the time of the following events
        store_u8(to + _TYPE_AT, np.uint8(_INCIDENT if is_lost and gap == 0 else _IGNORABLE))
        store_u32(to + _SIZE_AT, np.uint32(size))
        store_u32(to + _NEXT_AT, np.uint32(state.position & 0xFFFFFFFF))
        if state.checksum_bytes:
            store_u32(to + size - 4, crc32(to, size - 4, np.uint32(0)))
    return DONE


@kernel
def assemble(state_address):
    """Put the events between two addresses at their positions, as far as they are whole."""
    state = state_at(state_address)
    least = HEADER + state.checksum_bytes
    while True:
        left = state.end - state.at
        if left < HEADER:
            return NEED_INPUT
        size = np.int64(load_u32(state.at + _SIZE_AT))
        if size < least:
            return BAD_LENGTH
        if size > left:
            return NEED_INPUT
        if state.checksum_bytes and crc32(state.at, size - 4, np.uint32(0)) != load_u32(state.at + size - 4):
            return BAD_CHECKSUM
        event_type = np.int64(load_u8(state.at + _TYPE_AT))
        next_position = np.int64(load_u32(state.at + _NEXT_AT))
        flags = np.int64(load_u16(state.at + _FLAGS_AT))
        has_no_position = (next_position == 0 and state.lacks_annotations != 0 and event_type != _FORMAT
                       and event_type != _ROTATE)
        if flags & _ARTIFICIAL or (next_position == 0 and not has_no_position):
            state.at += size
            continue
        if has_no_position:
            next_position = (state.before + size) & 0xFFFFFFFF
        # positions beyond 4 GB are cut to 32 bits: the distance to the expected one tells
        gap = (next_position - size - state.position) & 0xFFFFFFFF
        if gap >= 0x80000000:
            state.at += size
            state.before = next_position
            continue
        if gap:
            is_annotation = (state.lacks_annotations and (event_type == _TABLE_MAP or state.after_no_position)
                             and (state.before - state.position) & 0xFFFFFFFF == 0)
            is_lost = not is_annotation and state.position + gap > state.nothing_before
            if state.position == state.head_end and state.position + gap > state.nothing_before \
                    and not _begins_group(event_type) and event_type != _ROTATE:
                state.at += size  # of a group whose beginning is not here
                state.before = next_position
                continue
            result = _fill(state, gap, is_lost)
            if is_annotation:
                state.before = state.position  # as far as it is filled
            if result != DONE:
                return result
        if size > state.to_end - state.to:
            return NEED_ROOM
        copy_bytes(state.to, state.at, size)
        state.to += size
        state.position += size
        state.before = state.position
        state.after_no_position = np.int64(has_no_position)
        state.at += size
