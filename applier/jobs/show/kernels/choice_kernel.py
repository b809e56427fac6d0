# mypy: allow-untyped-defs, no-check-untyped-defs
"""Chooses the events that are about some tables, in payloads, too: their ranges of places, and those of the frames of
their transactions and of the statements behind their rows (EV-ANN).

A transaction's first events wait until one about such a table comes; a statement's text until its table maps say so.
It reads no rows. It stops and says why where Python must do something: say whether a table that is new counts, or a
statement.
"""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import read_bitmaps
from applier.binlog.rows.table_ids_kernel import BODY, BODY_LENGTH, NUMBER, id_entry, same_bytes
from applier.jobs.show.kernels.places_kernel import (
    PAYLOAD,
    find_event,
    leave_payload,
    pass_event,
    place_after,
    place_of,
)
from applier.jobs.show.kernels.walk_records import (
    AT_EVENT,
    AT_PAYLOAD_END,
    CHOOSE_FROM,
    CHOSEN_END,
    CONTEXT,
    CONTEXT_LENGTH,
    DETAIL,
    FULL,
    HEADER_BYTES,
    IDS,
    IDS_MASK,
    IS_CHOSEN,
    NEED_VERDICT,
    NEW_TABLE,
    NO_EVENT,
    RANGES_OUT,
    ROOM,
    ROOM_END,
    START,
    STOP,
    TEXT_END,
    TEXT_START,
    VERDICT,
    WANTED_BYTES,
)
from keysearch.memory import inline, kernel, load_i64, load_u8, load_u16, load_u64, store_i64

# what an event is; UNKNOWN is for Python to say
UNKNOWN, CHOSEN, OTHER, FRAME, FRAME_END = range(5)

_QUERY, _STOP, _ROTATE, _FORMAT, _XID, _TABLE_MAP, _ROWS_QUERY, _GTID, _ANONYMOUS = 2, 3, 4, 15, 16, 19, 29, 33, 34
_PREVIOUS_GTIDS, _GTID_TAGGED = 35, 42
_ANNOTATE, _CHECKPOINT, _MARIADB_GTID, _GTID_LIST = 160, 161, 162, 163
_QUERY_FIXED, _FLAGS_AT, _STATEMENT_END = 13, 6, 1
_BEGIN, _COMMIT = 0x4E49474542, 0x54494D4D4F43
_TABLE_ID = np.uint64(0xFFFFFFFFFFFF)
_MOST_RANGES = 48
"""Bytes that an event adds to the ranges at most: its own range, and its statement's."""


@kernel
def choose(base, state):
    """Choose among the events of a range (offsets from address `base`); says why it stopped."""
    while True:
        found = find_event(base, state)
        if found == AT_PAYLOAD_END:
            leave_payload(state)
            continue
        if found != AT_EVENT:
            return np.int64(found)
        if _MOST_RANGES > load_i64(state + ROOM_END) - load_i64(state + RANGES_OUT):
            return np.int64(FULL)
        start, stop = load_i64(state + START), load_i64(state + STOP)
        body, kind = start + load_i64(state + HEADER_BYTES), np.int64(event_header(start).type)
        place, after = place_of(state), place_after(base, state)
        if kind == _FORMAT or kind == _STOP or kind == _ROTATE or kind == _PREVIOUS_GTIDS or kind == _GTID_LIST \
                or kind == _CHECKPOINT:
            _begin(state)
            if kind == _FORMAT:
                _add(state, place, after)
                _keep(state)
        elif stop < body:
            return np.int64(NO_EVENT)
        elif kind == _GTID or kind == _ANONYMOUS or kind == _GTID_TAGGED or kind == _MARIADB_GTID:
            _begin(state)
            _add(state, place, after)
        elif kind == _ROWS_QUERY or kind == _ANNOTATE:
            store_i64(state + TEXT_START, place)
            store_i64(state + TEXT_END, after)
        else:
            verdict = load_i64(state + VERDICT)
            store_i64(state + VERDICT, UNKNOWN)
            if verdict == UNKNOWN:
                verdict = _of_event(body, stop, kind, state)
            if verdict < 0:
                return verdict
            _take(state, verdict, place, after)
        pass_event(base, state)


@inline
def _begin(state):
    """What waits is not chosen."""
    store_i64(state + RANGES_OUT, load_i64(state + CHOSEN_END))
    store_i64(state + TEXT_START, -1)
    store_i64(state + IS_CHOSEN, 0)


@inline
def _add(state, start, end):
    if start >= load_i64(state + CHOOSE_FROM):
        out = load_i64(state + RANGES_OUT)
        store_i64(out, start)
        store_i64(out + 8, end)
        store_i64(state + RANGES_OUT, out + 16)


@inline
def _keep(state):
    """All that waits is chosen; ranges that follow one another become one."""
    to, out = load_i64(state + CHOSEN_END), load_i64(state + RANGES_OUT)
    for at in range(to, out, 16):
        start, end = load_i64(at), load_i64(at + 8)
        if to > load_i64(state + ROOM) and load_i64(to - 8) == start:
            store_i64(to - 8, end)
        else:
            store_i64(to, start)
            store_i64(to + 8, end)
            to += 16
    store_i64(state + RANGES_OUT, to)
    store_i64(state + CHOSEN_END, to)


@inline
def _take(state, verdict, place, after):
    if verdict == CHOSEN:
        if load_i64(state + TEXT_START) >= 0:
            _add(state, load_i64(state + TEXT_START), load_i64(state + TEXT_END))
            store_i64(state + TEXT_START, -1)
        _add(state, place, after)
        _keep(state)
        store_i64(state + IS_CHOSEN, 1)
    elif verdict == FRAME or verdict == FRAME_END:
        _add(state, place, after)
        if load_i64(state + IS_CHOSEN):
            _keep(state)
        if verdict == FRAME_END:
            _begin(state)


@inline
def _of_event(body, stop, kind, state):
    """What an event is, or why that is not known: table maps, rows events, and the frame of most transactions, that of
    statements in a context that can be read."""
    if kind == _TABLE_MAP:
        return _of_table_map(body, stop, state)
    if (kind >= 20 and kind <= 25) or (kind >= 30 and kind <= 32) or kind == 39 or (kind >= 166 and kind <= 171):
        return _of_rows(body, stop, kind, state)
    if kind == PAYLOAD:
        return np.int64(FRAME)
    if kind == _XID and stop - body >= 8:
        return np.int64(FRAME_END)
    if kind == _QUERY and stop - body >= _QUERY_FIXED:
        length = np.int64(load_u16(body + 11))
        sql = body + _QUERY_FIXED + length + np.int64(load_u8(body + 8)) + 1
        if (sql > stop or length != load_i64(state + CONTEXT_LENGTH)
                or not same_bytes(body + _QUERY_FIXED, load_i64(state + CONTEXT), length)):
            return np.int64(NEED_VERDICT)
        if stop - sql == 5 and _word(sql, 5) == _BEGIN:
            return np.int64(FRAME)
        if stop - sql == 6 and _word(sql, 6) == _COMMIT:
            return np.int64(FRAME_END)
    return np.int64(NEED_VERDICT)


@inline
def _word(at, length):
    word = np.int64(0)
    for i in range(length):
        word |= np.int64(load_u8(at + i)) << (8 * i)
    return word


@inline
def _of_table_map(body, stop, state):
    length = stop - body - 6
    if length < 2:
        return np.int64(NEED_VERDICT)
    entry = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), np.int64(load_u64(body) & _TABLE_ID))
    if (load_i64(entry) == -1 or load_i64(entry + BODY_LENGTH) != length
            or not same_bytes(load_i64(entry + BODY), body + 6, length)):
        store_i64(state + DETAIL, body)
        store_i64(state + WANTED_BYTES, stop - body)
        return np.int64(NEW_TABLE)
    return load_i64(entry + NUMBER)


@inline
def _of_rows(body, stop, kind, state):
    if stop - body < 8:
        return np.int64(NEED_VERDICT)
    entry = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), np.int64(load_u64(body) & _TABLE_ID))
    if load_i64(entry) == -1:
        return np.int64(NEED_VERDICT)
    if load_i64(entry + NUMBER) == CHOSEN:
        return np.int64(CHOSEN)
    if not _has_bitmaps(body, stop, kind):
        return np.int64(NEED_VERDICT)
    if load_u16(body + _FLAGS_AT) & _STATEMENT_END:
        store_i64(state + TEXT_START, -1)
    return np.int64(OTHER)


@inline
def _has_bitmaps(body, stop, kind):
    """Whether a rows event is long enough for what comes before its rows."""
    is_update = kind == 24 or kind == 31 or kind == 39 or kind == 167 or kind == 170
    _, bitmaps = read_bitmaps(body, stop, (kind >= 30 and kind <= 39) or kind >= 169, 2 if is_update else 1)
    return bitmaps != 0
