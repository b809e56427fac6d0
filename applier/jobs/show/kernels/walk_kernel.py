# mypy: allow-untyped-defs, no-check-untyped-defs
"""Walks the events of a file that are in some ranges of offsets, including those in payloads.

`find_event` goes to the next event in a range, or reports what is missing; `pass_event` leaves it. Their common state
is a record (walk_records). If a payload has an event in a range, all its events are visited.
"""

import numpy as np

from applier.binlog.events.compression.compressed_kernel import CONTENT_BYTES, content_view, is_compressed
from applier.binlog.events.event_header_kernel import event_header
from applier.jobs.show.kernels.walk_records import (
    AT_EVENT,
    AT_PAYLOAD_END,
    INNER_BITS,
    RANGE_BYTES,
    Status,
    range_view,
)
from keysearch.memory import inline

PAYLOAD = 40
_LEAST_EVENT = 19


@inline
def position_of(state):
    """Return the position of the current event, with its number in a payload."""
    number = state.inner_number + 1 if state.inner else np.int64(0)
    return state.position << INNER_BITS | number


@inline
def position_after(base, state):
    """Return the position of the end of the event's range: for a payload itself, that before its events."""
    position = position_of(state)
    if state.inner or event_header(base + state.position).type == PAYLOAD:
        return position + 1
    return position + (state.size << INNER_BITS)


@inline
def find_event(base, state):
    """Go to the next event in a range (offsets from address `base`): AT_EVENT, AT_PAYLOAD_END, or why not."""
    while True:
        status = _look(base, state)
        if status != AT_EVENT:
            return status
        if state.range < state.ranges_end and range_view(state.range).start <= position_of(state):
            return AT_EVENT
        pass_event(base, state)


@inline
def _look(base, state):
    """Find the event at the walk's position, or at the next range's start."""
    inner, position, last = state.inner, position_of(state), state.ranges_end
    range_ = state.range
    while range_ < last and range_view(range_).end <= position:
        range_ += RANGE_BYTES
    state.range = range_
    if inner == 0:
        if range_ == last:
            return Status.DONE
        state.position = max(state.position, range_view(range_).start >> INNER_BITS)
    position, header = state.position, state.header_bytes
    start, left = base + position, state.file_bytes - position
    if header > left:
        return Status.NO_EVENT
    size = np.int64(event_header(start).size)
    if size < _LEAST_EVENT or size > left:
        return Status.NO_EVENT
    stop, kind = start + size - state.checksum_bytes, np.int64(event_header(start).type)
    state.size = size
    if kind == PAYLOAD or (is_compressed(kind) and state.inflates_all):
        if stop - start < header:
            return Status.NO_EVENT
        if not _find_contents(position, state):
            return Status.NEED_CONTENTS
        content = content_view(state.content)
        if inner == content.end:
            return Status.NEED_CONTENTS if content.goes_on else AT_PAYLOAD_END
        if inner:
            if header > content.end - inner:
                return Status.NO_EVENT
            start, stop = inner, inner + np.int64(event_header(inner).size)
            if stop - start < header or stop > content.end:
                return Status.NO_EVENT
        elif kind != PAYLOAD:
            start, stop = content.start, content.end
    state.start = start
    state.stop = stop
    return AT_EVENT


@inline
def _find_contents(position, state):
    """Return whether the contents of the compressed event are available; those of earlier events are skipped."""
    content, left = state.content, state.contents_left
    while left and content_view(content).position < position:
        content, left = content + CONTENT_BYTES, left - 1
    state.content = content
    state.contents_left = left
    return left > 0 and content_view(content).position == position


@inline
def pass_event(base, state):
    """Go past the event that the walk is at; of a payload, to the first one in it."""
    state.row_at = 0
    state.stage = 0
    if state.inner:
        state.inner = state.stop
        state.inner_number += 1
    elif event_header(base + state.position).type == PAYLOAD:
        state.inner = content_view(state.content).start
        state.inner_number = 0
        state.n_inner_printed = 0
    else:
        state.position += state.size


@inline
def leave_payload(state):
    """Go past the payload at whose end the walk is."""
    state.inner = 0
    state.position += state.size
