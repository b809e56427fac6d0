# mypy: allow-untyped-defs, no-check-untyped-defs
"""Finds which events are about some tables, as `tables.AboutTables` does, without reading rows: the ranges to print.

It stops and says why where Python must do something: say whether a table that is new counts, or a statement; take over
where events are compressed.
"""

import numpy as np

from applier.binlog.events.packed_kernel import read_bitmaps
from applier.binlog.rows.table_ids_kernel import BODY, BODY_LENGTH, NUMBER, id_entry, same_bytes
from keysearch.memory import inline, kernel, load_i64, load_u8, load_u16, load_u32, load_u64, store_i64

# The state: the event; what Python says of it; where the next range goes (start and end in the file), where those end
# that are chosen (the others wait for an event that is), where the first one is, and where their room ends; a
# statement's text that waits for its table maps (-1: none); whether the transaction has had an event that is chosen; of
# the file: from where on to choose, its size, the bytes of headers and checksums; the tables' ids
(POSITION, VERDICT, OUT, CHOSEN_END, ROOM, ROOM_END, TEXT_START, TEXT_END, IS_CHOSEN, CHOOSE_FROM, FILE_BYTES,
 HEADER_BYTES, CHECKSUM_BYTES, IDS, IDS_MASK,
 # of the statement that Python has read last: its status variables, by address and length
 CONTEXT, CONTEXT_LENGTH) = range(0, 136, 8)
STATE_WORDS = 17

# what an event is; UNKNOWN is for Python to say
UNKNOWN, CHOSEN, OTHER, FRAME, FRAME_END = range(5)
# why it stopped
DONE, FULL, NEW_TABLE, NEED_VERDICT, PAYLOAD = range(5)

_QUERY, _STOP, _ROTATE, _FORMAT, _XID, _TABLE_MAP, _ROWS_QUERY, _GTID, _ANONYMOUS = 2, 3, 4, 15, 16, 19, 29, 33, 34
_PREVIOUS_GTIDS, _PAYLOAD, _GTID_TAGGED = 35, 40, 42
_ANNOTATE, _CHECKPOINT, _MARIADB_GTID, _GTID_LIST = 160, 161, 162, 163
_QUERY_FIXED, _FLAGS_AT, _STATEMENT_END = 13, 6, 1
_BEGIN, _COMMIT = 0x4E49474542, 0x54494D4D4F43
_TABLE_ID = np.uint64(0xFFFFFFFFFFFF)
_MOST_RANGES = 48
"""Bytes that an event adds to the ranges at most: its own range, and its statement's."""


@kernel
def choose(base, end, state):
    """Choose among the events from POSITION to before `end` (offsets from address `base`)."""
    position = load_i64(state + POSITION)
    header, checksum = load_i64(state + HEADER_BYTES), load_i64(state + CHECKSUM_BYTES)
    while position < end:
        if _MOST_RANGES > load_i64(state + ROOM_END) - load_i64(state + OUT):
            return FULL
        start = base + position
        left = load_i64(state + FILE_BYTES) - position
        if header > left:
            return NEED_VERDICT
        size = np.int64(load_u32(start + 9))
        if size < 19 or size > left:
            return NEED_VERDICT
        kind, after = np.int64(load_u8(start + 4)), position + size
        if kind == _FORMAT or kind == _STOP or kind == _ROTATE or kind == _PREVIOUS_GTIDS or kind == _GTID_LIST \
                or kind == _CHECKPOINT:
            _begin(state)
            if kind == _FORMAT:
                _add(state, position, after)
                _keep(state)
        elif size < header + checksum:
            return NEED_VERDICT
        elif kind == _GTID or kind == _ANONYMOUS or kind == _GTID_TAGGED or kind == _MARIADB_GTID:
            _begin(state)
            _add(state, position, after)
        elif kind == _ROWS_QUERY or kind == _ANNOTATE:
            store_i64(state + TEXT_START, position)
            store_i64(state + TEXT_END, after)
        else:
            verdict = load_i64(state + VERDICT)
            store_i64(state + VERDICT, UNKNOWN)
            if verdict == UNKNOWN:
                if kind == _PAYLOAD:
                    return PAYLOAD
                if kind == _TABLE_MAP:
                    verdict = _of_table_map(start + header, start + size - checksum, state)
                    if verdict == UNKNOWN:
                        return NEW_TABLE
                else:
                    verdict = _of_event(start + header, start + size - checksum, kind, state)
            if verdict == UNKNOWN:
                return NEED_VERDICT
            _take(state, verdict, position, after)
        position = after
        store_i64(state + POSITION, position)
    return DONE


@inline
def _begin(state):
    """What waits is not chosen."""
    store_i64(state + OUT, load_i64(state + CHOSEN_END))
    store_i64(state + TEXT_START, -1)
    store_i64(state + IS_CHOSEN, 0)


@inline
def _add(state, start, end):
    if start >= load_i64(state + CHOOSE_FROM):
        out = load_i64(state + OUT)
        store_i64(out, start)
        store_i64(out + 8, end)
        store_i64(state + OUT, out + 16)


@inline
def _keep(state):
    """All that waits is chosen; ranges that follow one another become one."""
    to, out = load_i64(state + CHOSEN_END), load_i64(state + OUT)
    for at in range(to, out, 16):
        start, end = load_i64(at), load_i64(at + 8)
        if to > load_i64(state + ROOM) and load_i64(to - 8) == start:
            store_i64(to - 8, end)
        else:
            store_i64(to, start)
            store_i64(to + 8, end)
            to += 16
    store_i64(state + OUT, to)
    store_i64(state + CHOSEN_END, to)


@inline
def _take(state, verdict, position, after):
    if verdict == CHOSEN:
        if load_i64(state + TEXT_START) >= 0:
            _add(state, load_i64(state + TEXT_START), load_i64(state + TEXT_END))
            store_i64(state + TEXT_START, -1)
        _add(state, position, after)
        _keep(state)
        store_i64(state + IS_CHOSEN, 1)
    elif verdict == FRAME or verdict == FRAME_END:
        _add(state, position, after)
        if load_i64(state + IS_CHOSEN):
            _keep(state)
        if verdict == FRAME_END:
            _begin(state)


@inline
def _of_table_map(body, stop, state):
    length = stop - body - 6
    if length < 2:
        return UNKNOWN
    entry = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), np.int64(load_u64(body) & _TABLE_ID))
    if (load_i64(entry) == -1 or load_i64(entry + BODY_LENGTH) != length
            or not same_bytes(load_i64(entry + BODY), body + 6, length)):
        return UNKNOWN
    return load_i64(entry + NUMBER)


@inline
def _of_event(body, stop, kind, state):
    """What rows events are, and the frame of most transactions: that of statements in a context that can be read."""
    if (kind >= 20 and kind <= 25) or (kind >= 30 and kind <= 32) or kind == 39 or (kind >= 166 and kind <= 171):
        return _of_rows(body, stop, kind, state)
    if kind == _XID and stop - body >= 8:
        return FRAME_END
    if kind == _QUERY and stop - body >= _QUERY_FIXED:
        length = np.int64(load_u16(body + 11))
        sql = body + _QUERY_FIXED + length + np.int64(load_u8(body + 8)) + 1
        if (sql > stop or length != load_i64(state + CONTEXT_LENGTH)
                or not same_bytes(body + _QUERY_FIXED, load_i64(state + CONTEXT), length)):
            return UNKNOWN
        if stop - sql == 5 and _word(sql, 5) == _BEGIN:
            return FRAME
        if stop - sql == 6 and _word(sql, 6) == _COMMIT:
            return FRAME_END
    return UNKNOWN


@inline
def _word(at, length):
    word = np.int64(0)
    for i in range(length):
        word |= np.int64(load_u8(at + i)) << (8 * i)
    return word


@inline
def _of_rows(body, stop, kind, state):
    if stop - body < 8:
        return UNKNOWN
    entry = id_entry(load_i64(state + IDS), load_i64(state + IDS_MASK), np.int64(load_u64(body) & _TABLE_ID))
    if load_i64(entry) == -1:
        return UNKNOWN
    if load_i64(entry + NUMBER) == CHOSEN:
        return CHOSEN
    if not _has_bitmaps(body, stop, kind):
        return UNKNOWN
    if load_u16(body + _FLAGS_AT) & _STATEMENT_END:
        store_i64(state + TEXT_START, -1)
    return OTHER


@inline
def _has_bitmaps(body, stop, kind):
    """Whether a rows event is long enough for what comes before its rows."""
    is_update = kind == 24 or kind == 31 or kind == 39 or kind == 167 or kind == 170
    _, bitmaps = read_bitmaps(body, stop, (kind >= 30 and kind <= 39) or kind >= 169, 2 if is_update else 1)
    return bitmaps != 0
