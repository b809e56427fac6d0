# mypy: allow-untyped-defs, no-check-untyped-defs
"""A walk over the events of a file that are in some ranges of places, those in payloads included.

`find_event` goes to the next event in a range, or says what is missing; `pass_event` leaves it. What both know is in
the state (walk_records). Of a payload that has an event in a range all events are gone through.
"""

import numpy as np

from applier.binlog.events.compressed_kernel import (
    CONTENT_END,
    CONTENT_GOES_ON,
    CONTENT_POSITION,
    CONTENT_START,
    CONTENT_WORDS,
    is_compressed,
)
from applier.binlog.events.event_header_kernel import event_header
from applier.jobs.show.kernels.walk_records import (
    AT_EVENT,
    AT_PAYLOAD_END,
    CHECKSUM_BYTES,
    CONTENT,
    CONTENTS_LEFT,
    DONE,
    FILE_BYTES,
    HEADER_BYTES,
    INFLATES_ALL,
    INNER,
    INNER_BITS,
    INNER_NUMBER,
    N_INNER_PRINTED,
    NEED_CONTENTS,
    NO_EVENT,
    POSITION,
    RANGE,
    RANGES_END,
    ROW_AT,
    SIZE,
    START,
    STOP,
    WAS_COMPRESSED,
)
from keysearch.memory import inline, load_i64, store_i64

PAYLOAD = 40
_LEAST_EVENT = 19


@inline
def place_of(state):
    """The place of the event that the walk is at."""
    number = load_i64(state + INNER_NUMBER) + 1 if load_i64(state + INNER) else np.int64(0)
    return load_i64(state + POSITION) << INNER_BITS | number


@inline
def place_after(base, state):
    """The place where the event's range ends: of a payload itself, before what is in it."""
    place = place_of(state)
    if load_i64(state + INNER) or event_header(base + load_i64(state + POSITION)).type == PAYLOAD:
        return place + 1
    return place + (load_i64(state + SIZE) << INNER_BITS)


@inline
def find_event(base, state):
    """Go to the next event in a range (offsets from address `base`): AT_EVENT, AT_PAYLOAD_END, or why not."""
    while True:
        status = _look(base, state)
        if status != AT_EVENT:
            return status
        range_ = load_i64(state + RANGE)
        if range_ < load_i64(state + RANGES_END) and load_i64(range_) <= place_of(state):
            return AT_EVENT
        pass_event(base, state)


@inline
def _look(base, state):
    """What is where the walk is, or at the next range's start."""
    inner, place, last = load_i64(state + INNER), place_of(state), load_i64(state + RANGES_END)
    range_ = load_i64(state + RANGE)
    while range_ < last and load_i64(range_ + 8) <= place:
        range_ += 16
    store_i64(state + RANGE, range_)
    if inner == 0:
        if range_ == last:
            return DONE
        store_i64(state + POSITION, max(load_i64(state + POSITION), load_i64(range_) >> INNER_BITS))
    position, header = load_i64(state + POSITION), load_i64(state + HEADER_BYTES)
    start, left = base + position, load_i64(state + FILE_BYTES) - position
    if header > left:
        return NO_EVENT
    size = np.int64(event_header(start).size)
    if size < _LEAST_EVENT or size > left:
        return NO_EVENT
    stop, kind = start + size - load_i64(state + CHECKSUM_BYTES), np.int64(event_header(start).type)
    store_i64(state + SIZE, size)
    store_i64(state + WAS_COMPRESSED, 0)
    if kind == PAYLOAD or (is_compressed(kind) and load_i64(state + INFLATES_ALL)):
        if stop - start < header:
            return NO_EVENT
        if not _find_contents(position, state):
            return NEED_CONTENTS
        content = load_i64(state + CONTENT)
        content_end = load_i64(content + 8 * CONTENT_END)
        if inner == content_end:
            return NEED_CONTENTS if load_i64(content + 8 * CONTENT_GOES_ON) else AT_PAYLOAD_END
        if inner:
            if header > content_end - inner:
                return NO_EVENT
            start, stop = inner, inner + np.int64(event_header(inner).size)
            if stop - start < header or stop > content_end:
                return NO_EVENT
        elif kind != PAYLOAD:
            start, stop = load_i64(content + 8 * CONTENT_START), content_end
            store_i64(state + WAS_COMPRESSED, 1)
    store_i64(state + START, start)
    store_i64(state + STOP, stop)
    return AT_EVENT


@inline
def _find_contents(position, state):
    """Whether what is compressed in the event is there; earlier ones' is left."""
    content, left = load_i64(state + CONTENT), load_i64(state + CONTENTS_LEFT)
    while left and load_i64(content + 8 * CONTENT_POSITION) < position:
        content, left = content + 8 * CONTENT_WORDS, left - 1
    store_i64(state + CONTENT, content)
    store_i64(state + CONTENTS_LEFT, left)
    return left > 0 and load_i64(content + 8 * CONTENT_POSITION) == position


@inline
def pass_event(base, state):
    """Go past the event that the walk is at; of a payload, to the first one in it."""
    store_i64(state + ROW_AT, 0)
    if load_i64(state + INNER):
        store_i64(state + INNER, load_i64(state + STOP))
        store_i64(state + INNER_NUMBER, load_i64(state + INNER_NUMBER) + 1)
    elif event_header(base + load_i64(state + POSITION)).type == PAYLOAD:
        store_i64(state + INNER, load_i64(load_i64(state + CONTENT) + 8 * CONTENT_START))
        store_i64(state + INNER_NUMBER, 0)
        store_i64(state + N_INNER_PRINTED, 0)
    else:
        store_i64(state + POSITION, load_i64(state + POSITION) + load_i64(state + SIZE))


@inline
def leave_payload(state):
    """Go past the payload at whose end the walk is."""
    store_i64(state + INNER, 0)
    store_i64(state + POSITION, load_i64(state + POSITION) + load_i64(state + SIZE))
