# mypy: allow-untyped-defs, no-check-untyped-defs
"""Rows that wait for what foreign keys will do to them: the kernels' side (AP-FK).

All that happens to parents is known before their children's changes are applied (parent_events), so a child is not
looked for when its parent goes. A row whose value some later event is about is *watched*: its pointer leads to a record
with the pointer proper and the number of the next event that is about it. Whoever meets the row afterwards has the
events pass first that came before: it is gone, or its column has another value. Most rows are not watched, and cost
nothing.

    watch     words named below: a unit's records, its links, and what is known of the batch at hand
    link      a foreign key: its column, and for each *value* (a number that parent_events gave it) where its events are
    event     when it comes (the turn: a number that counts all events of all links), what it does to a row (DELETES, or
              gives another value, whose number is -1 if no event is about it, and the row that holds it)
    record    pointer, turn of the next event (IS_FREE in a free one, whose pointer is the next free one; IS_GONE), then
              for each link the row's value, and the row that holds it (NOT_GIVEN where the pointer itself leads to it)

Everything goes by address (see pointer_kernel).
"""

import numpy as np

from applier.apply.index.pointer_kernel import DEAD, VALUE, add, free_patch, updated_pointer
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from keysearch.memory import inline, kernel, load_i32, load_i64, load_u8, store_i64

WATCHED_ID = MAX_IMAGE_ID + 3
"""The layout number that marks a pointer to a record."""

# a watch: TURNS has a turn for each change of the batch (events before it have passed), VALUES for each after-image the
# value of each link, NEXTS for each after-image when the first event about it comes; MADE counts changes by events
RECORDS, USED, FREE, N_LINKS, LINKS, TURNS, VALUES, NEXTS, MADE = range(0, 72, 8)
WATCH_WORDS = 16

COLUMN, STARTS, EVENTS = range(0, 24, 8)
LINK_WORDS = 4
LINK_BYTES = 8 * LINK_WORDS
TURN, GIVES, GIVEN_ROW = range(0, 24, 8)
EVENT_WORDS = 4
EVENT_BYTES = 8 * EVENT_WORDS
DELETES = -2
"""In GIVES, which is the number of the new value."""

POINTER, NEXT_TURN, OWN = range(0, 24, 8)
OWN_BYTES = 16
NO_VALUE, NOT_GIVEN, IS_FREE, IS_GONE = -1, -1, -1, -2
NEVER = 1 << 62


@inline
def record_bytes(watch):
    return OWN + OWN_BYTES * load_i64(watch + N_LINKS)


@inline
def record_of(watch, pointer):
    """The address of the record that a watched row's pointer leads to."""
    return load_i64(watch + RECORDS) + record_bytes(watch) * (pointer & ((np.int64(1) << IMAGE_ID_SHIFT) - 1))


@inline
def is_watched(pointer):
    return pointer >> IMAGE_ID_SHIFT == WATCHED_ID


@inline
def first_event(link, value, turn):
    """The address of a value's first event at a turn or after it; 0 if there is none."""
    if value < 0:
        return np.int64(0)
    starts, events = load_i64(link + STARTS), load_i64(link + EVENTS)
    low, end = load_i64(starts + 8 * value), load_i64(starts + 8 * value + 8)
    high = end
    while low < high:
        middle = (low + high) >> 1
        if load_i64(events + EVENT_BYTES * middle + TURN) < turn:
            low = middle + 1
        else:
            high = middle
    return events + EVENT_BYTES * low if low < end else np.int64(0)


@inline
def next_turn(watch, values, step, turn):
    """When the first event comes, at `turn` or after it, about a row whose links' values are at `values`, `step` bytes
    apart."""
    first, link = np.int64(NEVER), load_i64(watch + LINKS)
    for _ in range(load_i64(watch + N_LINKS)):
        event = first_event(link, load_i64(values), turn)
        if event:
            first = min(first, load_i64(event + TURN))
        link += LINK_BYTES
        values += step
    return first


@inline
def pass_events(watch, record, turn):
    """Have the events before a turn happen to a row; whether it is there afterwards."""
    now = load_i64(record + NEXT_TURN)
    while now < turn:
        link, own = load_i64(watch + LINKS), record + OWN
        for _ in range(load_i64(watch + N_LINKS)):
            event = first_event(link, load_i64(own), now)
            if event and load_i64(event + TURN) == now:
                add(watch + MADE, 1)
                if load_i64(event + GIVES) == DELETES:
                    return False
                store_i64(own, load_i64(event + GIVES))
                store_i64(own + 8, load_i64(event + GIVEN_ROW))
            link += LINK_BYTES
            own += OWN_BYTES
        now = next_turn(watch, record + OWN, OWN_BYTES, now + 1)
        store_i64(record + NEXT_TURN, now)
    return True


@inline
def free_record(watch, pointer):
    record = record_of(watch, pointer)
    store_i64(record + POINTER, load_i64(watch + FREE))
    store_i64(record + NEXT_TURN, IS_FREE)
    store_i64(watch + FREE, pointer)


@inline
def watched(watch, pointer, after):
    """A pointer to a record of a row that is what an after-image says; there has to be room."""
    number = load_i64(watch + FREE)
    if number >= 0:
        store_i64(watch + FREE, load_i64(record_of(watch, number) + POINTER))
    else:
        number = np.int64(WATCHED_ID) << IMAGE_ID_SHIFT | load_i64(watch + USED)
        add(watch + USED, 1)
    record, links = record_of(watch, number), load_i64(watch + N_LINKS)
    store_i64(record + POINTER, pointer)
    store_i64(record + NEXT_TURN, load_i64(load_i64(watch + NEXTS) + 8 * after))
    value, own = load_i64(watch + VALUES) + 8 * links * after, record + OWN
    for _ in range(links):
        store_i64(own, load_i64(value))
        store_i64(own + 8, NOT_GIVEN)
        value += 8
        own += OWN_BYTES
    return number


@inline
def remove_deleted_row(watch, at, pointer, patches, columns, state):
    """What an event has deleted leaves its index, where it is at the address `at`."""
    free_patch(load_i64(record_of(watch, pointer) + POINTER), patches, columns, state)
    free_record(watch, pointer)
    store_i64(at, DEAD)
    state.live -= 1


# ---- what indexes do with pointers; without a watch (0) rows are what their pointers say


@inline
def live_pointer(at, change, patches, columns, state):
    """The pointer at an address in an index, when a change of the batch meets it; DEAD for a row that is gone by then.
    """
    pointer, watch = load_i64(at), state.watch
    if watch == 0 or not is_watched(pointer):
        return pointer
    if pass_events(watch, record_of(watch, pointer), load_i64(load_i64(watch + TURNS) + 8 * change)):
        return pointer
    remove_deleted_row(watch, at, pointer, patches, columns, state)
    return np.int64(DEAD)


@inline
def pointer_after_insert(image, after, state):
    """The pointer of a row that is a whole after-image, or an insert's."""
    watch = state.watch
    if watch == 0 or load_i64(load_i64(watch + NEXTS) + 8 * after) == NEVER:
        return image
    return watched(watch, image, after)


@inline
def pointer_after_update(old, image, change, after, present, columns, patches, state):
    """The pointer of a row after an update (see updated_pointer)."""
    watch = state.watch
    if watch == 0 or not is_watched(old):
        return pointer_after_insert(updated_pointer(old, image, present, columns, patches, state), after, state)
    record = record_of(watch, old)
    pointer = updated_pointer(load_i64(record + POINTER), image, present, columns, patches, state)
    has = present + (image >> IMAGE_ID_SHIFT) * (columns + 1) + 1
    links, link, own, keeps = load_i64(watch + N_LINKS), load_i64(watch + LINKS), record + OWN, False
    value = load_i64(watch + VALUES) + 8 * links * after
    for _ in range(links):
        if load_u8(has + load_i64(link + COLUMN)) == VALUE:
            store_i64(own, load_i64(value))
            store_i64(own + 8, NOT_GIVEN)
        keeps |= load_i64(own + 8) != NOT_GIVEN
        link += LINK_BYTES
        own += OWN_BYTES
        value += 8
    following = next_turn(watch, record + OWN, OWN_BYTES, load_i64(load_i64(watch + TURNS) + 8 * change))
    if following == NEVER and not keeps:
        free_record(watch, old)
        return pointer
    store_i64(record + POINTER, pointer)
    store_i64(record + NEXT_TURN, following)
    return old


@inline
def release_row(pointer, patches, columns, state):
    """Give back what a row took that is gone."""
    watch = state.watch
    if watch and is_watched(pointer):
        free_patch(load_i64(record_of(watch, pointer) + POINTER), patches, columns, state)
        free_record(watch, pointer)
    else:
        free_patch(pointer, patches, columns, state)


# ---- all at once


@kernel
def find_nexts(watch, n, turns, rows, values, nexts):
    """Fill nexts (address of int64 by image) for `n` changes, given each one's turn and the row of its image (int32,
    -1: none), and the values of the images; how many will be watched. Without turns and rows (0) it is about n images
    that were there before the first event."""
    found = 0
    step = 8 * load_i64(watch + N_LINKS)
    for i in range(n):
        row, turn = np.int64(i), np.int64(0)
        if rows:
            row, turn = np.int64(load_i32(rows + 4 * i)), load_i64(turns + 8 * i)
            if row < 0:
                continue
        following = next_turn(watch, values + step * row, 8, turn)
        store_i64(nexts + 8 * row, following)
        found += following != NEVER
    return found


@kernel
def watch_base(watch, n, first, pointers):
    """Watch those of `n` rows of the base, from row `first` on, that events are about: their pointers change (address
    of int64 by row of the base)."""
    for row in range(n):
        if load_i64(load_i64(watch + NEXTS) + 8 * row) != NEVER:
            at = pointers + 8 * (first + row)
            store_i64(at, watched(watch, load_i64(at), np.int64(row)))


@kernel
def pass_all(watch):
    """Have all events that are left happen to all rows that wait for them."""
    record = load_i64(watch + RECORDS)
    for _ in range(load_i64(watch + USED)):
        if load_i64(record + NEXT_TURN) != IS_FREE and not pass_events(watch, record, np.int64(NEVER)):
            store_i64(record + NEXT_TURN, IS_GONE)
        record += record_bytes(watch)
