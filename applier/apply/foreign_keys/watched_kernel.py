# mypy: allow-untyped-defs, no-check-untyped-defs
"""Rows that wait for later effects of foreign keys: the kernels (AP-FK).

All changes of parents are known before their children's changes are applied (parent_events), so no child needs to be
searched when its parent is deleted. A row with a value of a later event is *watched*: its pointer leads to a record
with the real pointer and the number of the row's next event. A later lookup of the row first applies the events before
it: then the row is deleted, or its column has another value. Most rows are not watched, and cost nothing.

    watch     a unit's records and links, and the data of the current batch
    link      a foreign key: its column, and for each *value* (a number given by parent_events) where its events are
    event     its time (the turn: a number that counts all events of all links), its effect on a row (DELETES, or
              another value, whose number is -1 if it has no events, and the row that has it)
    record    pointer, turn of the next event (or IS_FREE: the pointer is the next free record; or IS_GONE), then for
              each link the row's value, and the row that has it (NOT_GIVEN if the pointer itself leads to it)
"""

import numpy as np

from applier.apply.index.pointer_kernel import (
    DEAD,
    VALUE,
    column_pointers_of,
    copied_column_pointers,
    free_column_pointers,
    has_column_pointers,
    new_column_pointers,
    present_in,
    updated_pointer,
)
from applier.apply.index.pointer_kernel import held_pointer as held_plain_pointer
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from keysearch.memory import always_inline, inline, kernel, load_i32, load_i64, load_u8, store_i64
from keysearch.records import struct

WATCHED_ID = MAX_IMAGE_ID + 3
"""The layout number that marks a pointer to a record."""

WATCH, watch_at, _ = struct("watch", **dict.fromkeys((
    "records", "used", "free", "n_links", "links", "turns", "values", "nexts", "made", "first_given"), np.int64))
"""`turns` has a turn for each change of the batch (events before it have passed), `values` for each after-image the
value of each link, `nexts` for each after-image the turn of its first event. `made` counts changes by events. Given
rows are rows of the base from `first_given` on."""
LINK, _, link_at = struct("link", column=np.int64, starts=np.int64, events=np.int64)
EVENT, event_at, _ = struct("event", turn=np.int64, gives=np.int64, given_row=np.int64)
DELETES = -2
"""A value of `gives`, which is otherwise the number of the new value."""
_EVENT_BYTES = EVENT.itemsize

_RECORD, _record, _ = struct("record", pointer=np.int64, next_turn=np.int64)
_VALUE, _, _value = struct("value", number=np.int64, given_row=np.int64)
_VALUES_AT, _VALUE_BYTES = _RECORD.itemsize, _VALUE.itemsize
NO_VALUE, NOT_GIVEN, IS_FREE, IS_GONE = -1, -1, -1, -2
NEVER = 1 << 62


def record_type(links: int) -> np.dtype:
    """Return the type of a record for this number of links."""
    return np.dtype([*_RECORD.descr, ("values", _VALUE, (links,))])


@inline
def record_bytes(watch):
    return _VALUES_AT + _VALUE_BYTES * watch.n_links


@inline
def record_of(watch, pointer):
    """Return the address of the record to which a watched row's pointer leads."""
    return watch.records + record_bytes(watch) * (pointer & ((np.int64(1) << IMAGE_ID_SHIFT) - 1))


@inline
def is_watched(pointer):
    return pointer >> IMAGE_ID_SHIFT == WATCHED_ID


@inline
def first_event(link, value, turn):
    """Return the address of a value's first event at a turn or later; 0 if there is none."""
    if value < 0:
        return np.int64(0)
    starts, events = link.starts, link.events
    low, end = load_i64(starts + 8 * value), load_i64(starts + 8 * value + 8)
    high = end
    while low < high:
        middle = (low + high) >> 1
        if event_at(events + _EVENT_BYTES * middle).turn < turn:
            low = middle + 1
        else:
            high = middle
    return events + _EVENT_BYTES * low if low < end else np.int64(0)


@inline
def next_turn(watch, values, step, turn):
    """Return the turn of the first event at `turn` or later for a row whose links' values are at `values`, `step` bytes
    apart."""
    first = np.int64(NEVER)
    for i in range(watch.n_links):
        event = first_event(link_at(watch.links, i), load_i64(values + step * i), turn)
        if event:
            first = min(first, event_at(event).turn)
    return first


@inline
def pass_events(watch, record, turn):
    """Apply the events before a turn to a row. Returns whether the row still exists."""
    now = _record(record).next_turn
    while now < turn:
        for i in range(watch.n_links):
            own = _value(record + _VALUES_AT, i)
            event = first_event(link_at(watch.links, i), own.number, now)
            if event and event_at(event).turn == now:
                watch.made += 1
                if event_at(event).gives == DELETES:
                    return False
                own.number = event_at(event).gives
                own.given_row = event_at(event).given_row
        now = next_turn(watch, record + _VALUES_AT, _VALUE_BYTES, now + 1)
        _record(record).next_turn = now
    return True


@inline
def free_record(watch, pointer):
    record = record_of(watch, pointer)
    _record(record).pointer = watch.free
    _record(record).next_turn = IS_FREE
    watch.free = pointer


@inline
def watched(watch, pointer, after):
    """Return a pointer to a record of a row with the values of an after-image; there must be room."""
    number = watch.free
    if number >= 0:
        watch.free = _record(record_of(watch, number)).pointer
    else:
        number = np.int64(WATCHED_ID) << IMAGE_ID_SHIFT | watch.used
        watch.used += 1
    record, links = record_of(watch, number), watch.n_links
    _record(record).pointer = pointer
    _record(record).next_turn = load_i64(watch.nexts + 8 * after)
    values = watch.values + 8 * links * after
    for i in range(links):
        own = _value(record + _VALUES_AT, i)
        own.number = load_i64(values + 8 * i)
        own.given_row = NOT_GIVEN
    return number


@inline
def remove_deleted_row(watch, at, pointer, state):
    """Remove a row that an event has deleted from its index; its pointer is at the address `at`."""
    free_column_pointers(_record(record_of(watch, pointer)).pointer, state)
    free_record(watch, pointer)
    store_i64(at, DEAD)
    state.live -= 1


# ---- the effects of an index's kernels on the rows that it finds; without a watch (0) as in pointer_kernel


@always_inline
def live_pointer(at, change, state):
    """Return the pointer at an address in an index as of a change of the batch; DEAD if the row is deleted before."""
    pointer = load_i64(at)
    if state.watch == 0 or not is_watched(pointer):
        return pointer
    return watched_pointer(at, pointer, change, state)


@inline
def watched_pointer(at, pointer, change, state):
    watch = watch_at(state.watch)
    if pass_events(watch, record_of(watch, pointer), load_i64(watch.turns + 8 * change)):
        return pointer
    remove_deleted_row(watch, at, pointer, state)
    return np.int64(DEAD)


@always_inline
def pointer_after_insert(image, after, state):
    """Return the pointer of a row that is a whole after-image, or an insert's."""
    if state.watch == 0 or load_i64(watch_at(state.watch).nexts + 8 * after) == NEVER:
        return image
    return watched(watch_at(state.watch), image, after)


@always_inline
def pointer_after_update(old, image, change, after, state):
    """Return the pointer of a row after an update (see updated_pointer)."""
    if state.watch == 0 or not is_watched(old):
        return pointer_after_insert(updated_pointer(old, image, state), after, state)
    return watched_pointer_after_update(old, image, change, after, state)


@inline
def watched_pointer_after_update(old, image, change, after, state):
    watch = watch_at(state.watch)
    record = record_of(watch, old)
    pointer = updated_pointer(_record(record).pointer, image, state)
    has = present_in(image, state) + 1
    links, keeps = watch.n_links, False
    values = watch.values + 8 * links * after
    for i in range(links):
        own = _value(record + _VALUES_AT, i)
        if load_u8(has + link_at(watch.links, i).column) == VALUE:
            own.number = load_i64(values + 8 * i)
            own.given_row = NOT_GIVEN
        keeps |= own.given_row != NOT_GIVEN
    following = next_turn(watch, record + _VALUES_AT, _VALUE_BYTES, load_i64(watch.turns + 8 * change))
    if following == NEVER and not keeps:
        free_record(watch, old)
        return pointer
    _record(record).pointer = pointer
    _record(record).next_turn = following
    return old


@inline
def release_row(pointer, state):
    """Release the memory of a deleted row."""
    if state.watch and is_watched(pointer):
        watch = watch_at(state.watch)
        free_column_pointers(_record(record_of(watch, pointer)).pointer, state)
        free_record(watch, pointer)
    else:
        free_column_pointers(pointer, state)


@inline
def held_pointer(pointer, state):
    """Return a pointer to the current version of a row that stays valid when the row changes."""
    if state.watch and is_watched(pointer):
        return _held_watched_pointer(pointer, state)
    return held_plain_pointer(pointer, state)


@inline
def _held_watched_pointer(pointer, state):
    watch = watch_at(state.watch)
    record = record_of(watch, pointer)
    proper, is_given = _record(record).pointer, False
    for i in range(watch.n_links):
        is_given |= _value(record + _VALUES_AT, i).given_row != NOT_GIVEN
    if has_column_pointers(proper):
        proper = copied_column_pointers(proper, state)
    elif is_given:
        whole, proper = proper, new_column_pointers(state)
        for c in range(state.columns):
            store_i64(column_pointers_of(proper, state) + 8 * c, whole)
    for i in range(watch.n_links):
        given = _value(record + _VALUES_AT, i).given_row
        if given != NOT_GIVEN:
            column = link_at(watch.links, i).column
            store_i64(column_pointers_of(proper, state) + 8 * column, watch.first_given + given)
    return proper


# ---- all at once


@kernel
def find_nexts(watch_address, n, turns, rows, values, nexts):
    """Fill `nexts` (address of int64, by image) for `n` changes, given the turn of each, the row of its image (int32;
    -1: none), and the values of the images. Returns how many will be watched. If `turns` and `rows` are 0, the n images
    existed before the first event."""
    watch = watch_at(watch_address)
    found = 0
    step = 8 * watch.n_links
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
def watch_base(watch_address, n, first, pointers):
    """Watch those of `n` rows of the base, from row `first` on, that have events: their pointers (address of int64, by
    row of the base) change."""
    watch = watch_at(watch_address)
    for row in range(n):
        if load_i64(watch.nexts + 8 * row) != NEVER:
            at = pointers + 8 * (first + row)
            store_i64(at, watched(watch, load_i64(at), np.int64(row)))


@kernel
def pass_all(watch_address):
    """Apply all remaining events to all rows that wait for them."""
    watch = watch_at(watch_address)
    record = watch.records
    for _ in range(watch.used):
        if _record(record).next_turn != IS_FREE and not pass_events(watch, record, np.int64(NEVER)):
            _record(record).next_turn = IS_GONE
        record += record_bytes(watch)
