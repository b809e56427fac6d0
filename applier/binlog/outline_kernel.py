"""The one pass over a binlog file: headers, checksums, event groups, tables, split points.

`walk` reads every event once and writes down only what a plan needs, in the arrays of a `Recording`. What Python has to
look at in words (DDL, file borders, what cannot be applied) becomes a note; notes are few, row events are many.

Event groups (GRP-1) as MySQL and MariaDB write them. A group is opened by any GTID event, or, in logs without GTIDs, by
its first event, and is in one of these states:

    ANNOUNCED    a GTID, INTVAR, … was seen: BEGIN makes it a TRANSACTION, any other statement is the whole group
    STANDALONE   MariaDB's GTID event says that the group is one statement
    TRANSACTION  up to XID, COMMIT or ROLLBACK; statements within do not end it
    ROWS         row events without BEGIN: up to the one that ends the statement

Every read is checked against the end of its event, and every event against the end of the file. Nothing is written past
an array: where one is full, `walk` gives NEED_ROOM, and the caller starts again with larger arrays.
"""

import numpy as np

from applier.binlog.crc32 import crc32
from applier.binlog.format import IGNORABLE_FLAG, MARIADB_STANDALONE, EventType
from applier.binlog.outline_groups import end_group, open_group, read_gtid
from applier.binlog.outline_recording import (
    ANNOUNCED,
    BAD_CHECKSUM,
    BAD_EVENT,
    BAD_LENGTH,
    BASE,
    BLOCKED,
    BLOCKED_SAVEPOINT,
    BLOCKED_XA,
    CHECKSUM_BYTES,
    COMPRESSED_STATEMENT,
    CUT_SHORT,
    DONE,
    END,
    FILE_EVENT,
    GROUP_GTID,
    GROUP_ROW_EVENTS,
    GROUP_START,
    GROUP_STATE,
    HEADER_BYTES,
    LAST_END,
    N_EVENTS,
    N_ROW_BYTES,
    N_ROW_EVENTS,
    NEED_ROOM,
    NOTE_GROUP,
    NOTE_GTID,
    NOTE_KIND,
    NOTE_LENGTH,
    NOTE_POSITION,
    NOTE_TABLE,
    NOTED,
    NOTED_TYPES,
    NOTES,
    OUTSIDE,
    POSITION,
    ROWS,
    STANDALONE,
    STATEMENT,
    STOPPED,
    TABLE_LENGTH,
    TABLES,
    TRANSACTION,
    VERIFY,
    append,
    at,
    get,
    increase,
    put,
)
from applier.binlog.outline_tables import NO_TABLE, cut_split, map_table, use_table
from keysearch.memory import inline, kernel, load_u8, load_u16, load_u32, store_u8

# What becomes of an event, by its type.
(
    _PASSED_OVER, _GTID, _TABLE_MAP, _ROWS_V1, _ROWS_V2, _BLOCKED_ROWS_V1, _BLOCKED_ROWS_V2, _QUERY, _COMPRESSED, _XID,
    _CONTEXT, _BLOCKED_STATEMENT, _XA_PREPARE, _PAYLOAD, _FILE, _BLOCKED_EVENT, _UNKNOWN,
) = range(17)  # fmt: skip


def _actions() -> np.ndarray:
    kinds = {
        _PASSED_OVER: (3, 27, 28, 29, 36, 37, 41, 160, 161, 35, 163),
        _GTID: (33, 34, 42, 162),
        _TABLE_MAP: (19,),
        _ROWS_V1: (23, 24, 25),
        _ROWS_V2: (30, 31, 32),
        _BLOCKED_ROWS_V1: (166, 167, 168),
        _BLOCKED_ROWS_V2: (39, 169, 170, 171),
        _QUERY: (2,),
        _COMPRESSED: (165,),
        _XID: (16,),
        _CONTEXT: (5, 9, 11, 13, 14, 17),
        _BLOCKED_STATEMENT: (6, 10, 12, 18),
        _XA_PREPARE: (38,),
        _PAYLOAD: (40,),
        _FILE: (4, 15, 164),
        _BLOCKED_EVENT: (1, 7, 8, 20, 21, 22, 26),
    }
    actions = np.full(256, _UNKNOWN, np.uint8)
    for action, types in kinds.items():
        actions[list(types)] = action
    return actions


_ACTIONS = _actions()
_NOTED_XA, _NOTED_SAVEPOINT = 256, 257

# What an event may result in besides DONE and what a pass ends with.
_ENDS_GROUP, _ENDS_VOID_GROUP = 100, 101


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text[:8].lower(), "little"))


_BEGIN, _COMMIT, _ROLLBACK, _SAVEPOINT = _word(b"BEGIN"), _word(b"COMMIT"), _word(b"ROLLBACK"), _word(b"SAVEPOIN")
_XA, _XA_START, _XA_BEGIN, _XA_END = _word(b"XA "), _word(b"XA START"), _word(b"XA BEGIN"), _word(b"XA END ")
_THREE_LETTERS, _SEVEN_LETTERS = np.uint64(0xFFFFFF), np.uint64(0xFFFFFFFFFFFFFF)
_START_TRANSACTION = np.frombuffer(b"START TRANSACTION", np.uint8)
_QUERY_POST_HEADER = 13


@inline
def _note(state, kind, position, use):
    note = append(state, NOTES, NOTE_LENGTH)
    if note == 0:
        return NEED_ROOM
    outside = get(state, GROUP_STATE) == OUTSIDE
    put(note, NOTE_KIND, kind)
    put(note, NOTE_POSITION, position)
    put(note, NOTE_GROUP, position if outside else get(state, GROUP_START))
    put(note, NOTE_GTID, 0 if outside else get(state, GROUP_GTID))
    put(note, NOTE_TABLE, use)
    return DONE


@inline
def _note_once(state, kind, what, position):
    """The first of a kind of blockers is enough: it stops the replay."""
    noted = get(state, NOTED) + what
    if load_u8(noted) != 0:
        return DONE
    store_u8(noted, np.uint8(1))
    return _note(state, kind, position, NO_TABLE)


@inline
def _first_letters(address, length):
    """The first up to eight bytes of a statement in lower case, as one number."""
    word = np.uint64(0)
    for i in range(min(length, 8)):
        word |= np.uint64(load_u8(address + i) | np.uint8(0x20)) << np.uint64(8 * i)
    return word


@inline
def _ends_with_start_transaction(address, length):
    """MySQL's CREATE TABLE … SELECT is logged as CREATE TABLE … START TRANSACTION, and rows follow in its group."""
    n = _START_TRANSACTION.shape[0]
    if length < n:
        return False
    for i in range(n):
        if load_u8(address + length - n + i) != _START_TRANSACTION[i]:
            return False
    return True


@inline
def _query(state, position, body, end, timestamp):
    """A statement: group control by its first letters; all else is noted, and outside transactions the whole group."""
    if end - body < _QUERY_POST_HEADER:
        return BAD_EVENT
    sql = body + _QUERY_POST_HEADER + np.int64(load_u16(body + 11)) + np.int64(load_u8(body + 8)) + 1
    length = end - sql
    if length < 0:
        return BAD_EVENT
    word = _first_letters(sql, length)
    if word == _BEGIN and length == 5:
        if get(state, GROUP_STATE) == TRANSACTION and get(state, GROUP_GTID) == 0:  # the one before was never ended
            result = end_group(state, position, True)
            if result != DONE:
                return result
        if get(state, GROUP_STATE) == OUTSIDE:
            return open_group(state, position, timestamp, TRANSACTION)
        put(state, GROUP_STATE, TRANSACTION)
        return DONE
    if get(state, GROUP_STATE) == OUTSIDE:
        result = open_group(state, position, timestamp, ANNOUNCED)
        if result != DONE:
            return result
    if (word == _COMMIT and length == 6) or (word == _ROLLBACK and length == 8):
        return _ENDS_VOID_GROUP if word == _ROLLBACK else _ENDS_GROUP
    if word == _SAVEPOINT:
        return DONE
    if word == _ROLLBACK:  # TO a savepoint
        if get(state, GROUP_ROW_EVENTS) == 0:
            return DONE
        return _note_once(state, BLOCKED_SAVEPOINT, _NOTED_SAVEPOINT, position)
    if word & _THREE_LETTERS == _XA:
        result = _note_once(state, BLOCKED_XA, _NOTED_XA, position)
        if result == DONE and (word == _XA_START or word == _XA_BEGIN):
            put(state, GROUP_STATE, TRANSACTION)
        elif result == DONE and word & _SEVEN_LETTERS != _XA_END:
            return _ENDS_GROUP
        return result
    result = _note(state, STATEMENT, position, NO_TABLE)
    if result != DONE or get(state, GROUP_STATE) == TRANSACTION:
        return result
    if _ends_with_start_transaction(sql, length):
        put(state, GROUP_STATE, TRANSACTION)
        return DONE
    return _ENDS_GROUP


@inline
def _statement_end(state, result):
    """After an event that is a statement in a form of its own: outside transactions it is the whole group."""
    if result != DONE or get(state, GROUP_STATE) == TRANSACTION:
        return result
    return _ENDS_GROUP


@inline
def _rows(state, position, event_type, action, body, end, size):
    version = 1 if action == _ROWS_V1 or action == _BLOCKED_ROWS_V1 else 2
    result, use, ends_statement = use_table(state, position, event_type, version, body, end, size)
    if result != DONE:
        return result
    if use != NO_TABLE:
        increase(state, N_ROW_EVENTS, 1)
        increase(state, N_ROW_BYTES, size)
        increase(state, GROUP_ROW_EVENTS, 1)
        if action == _BLOCKED_ROWS_V1 or action == _BLOCKED_ROWS_V2:
            table, bit = at(state, TABLES, TABLE_LENGTH, use), np.int64(1) << (event_type % 64)
            if get(table, NOTED_TYPES) & bit == 0:
                put(table, NOTED_TYPES, get(table, NOTED_TYPES) | bit)
                result = _note(state, BLOCKED, position, use)
    if result == DONE and ends_statement and get(state, GROUP_STATE) == ROWS:
        return _ENDS_GROUP
    return result


@inline
def _gtid(state, position, event_type, body, end, server_id, timestamp):
    if get(state, GROUP_STATE) != OUTSIDE:  # the group before was never ended
        result = end_group(state, position, True)
        if result != DONE:
            return result
    result = open_group(state, position, timestamp, ANNOUNCED)
    if result != DONE:
        return result
    result, flags = read_gtid(state, event_type, position, body, end, server_id)
    if event_type == EventType.MARIADB_GTID:
        put(state, GROUP_STATE, STANDALONE if flags & MARIADB_STANDALONE else TRANSACTION)
    return result


@inline
def _event(state, header, position, event_type, size):
    """Take in one event, which is whole and whose checksum is right. `header`: its address."""
    body, end = header + get(state, HEADER_BYTES), header + size - get(state, CHECKSUM_BYTES)
    timestamp = np.int64(load_u32(header))
    action = _ACTIONS[event_type]
    if action == _GTID:
        server_id = np.int64(load_u32(header + 5))
        return _gtid(state, position, event_type, body, end, server_id, timestamp)
    if action == _QUERY:
        return _query(state, position, body, end, timestamp)
    if action == _PASSED_OVER or (action == _UNKNOWN and load_u16(header + 17) & IGNORABLE_FLAG):
        return DONE
    if action == _FILE:
        return _note(state, FILE_EVENT, position, NO_TABLE)
    if action == _BLOCKED_EVENT or action == _UNKNOWN:
        return _note_once(state, BLOCKED, event_type, position)
    if get(state, GROUP_STATE) == OUTSIDE:
        rows = _TABLE_MAP <= action <= _BLOCKED_ROWS_V2
        result = open_group(state, position, timestamp, ROWS if rows else ANNOUNCED)
        if result != DONE:
            return result
    elif get(state, GROUP_STATE) < TRANSACTION and _TABLE_MAP <= action <= _BLOCKED_ROWS_V2:
        put(state, GROUP_STATE, ROWS)
    if action == _TABLE_MAP:
        return map_table(state, position, body, end)
    if action <= _BLOCKED_ROWS_V2:
        return _rows(state, position, event_type, action, body, end, size)
    if action == _XID:
        return _ENDS_GROUP
    if action == _COMPRESSED:
        return _statement_end(state, _note(state, COMPRESSED_STATEMENT, position, NO_TABLE))
    if action == _BLOCKED_STATEMENT:
        return _statement_end(state, _note_once(state, BLOCKED, event_type, position))
    if action == _XA_PREPARE or action == _PAYLOAD:  # prepared rows are not committed yet
        result = _note_once(state, BLOCKED, event_type, position)
        if result == DONE:
            result = _ENDS_VOID_GROUP if action == _XA_PREPARE else _ENDS_GROUP
        return result
    return DONE  # _CONTEXT: it belongs to the statement that follows


@kernel
def walk(state):
    """Read events from POSITION to END of the state at this address. Gives how the pass ended; POSITION says where.

    DONE: at END. STOPPED: a stop condition was met; LAST_END says where. CUT_SHORT: the event here goes past END. In
    these cases the last split is written, unless a group is open. After anything else the recording is incomplete.
    """
    base, end, position, verify = get(state, BASE), get(state, END), get(state, POSITION), get(state, VERIFY)
    header_length = get(state, HEADER_BYTES)
    least = header_length + get(state, CHECKSUM_BYTES)
    result = DONE
    while position < end:
        if position + header_length > end:
            result = CUT_SHORT
            break
        header = base + position
        size = np.int64(load_u32(header + 9))
        if size < least:
            result = BAD_LENGTH
            break
        if position + size > end:
            result = CUT_SHORT
            break
        event_type = np.int64(load_u8(header + 4))
        # The format description's checksum is taken without a flag. Python verifies it.
        if verify and event_type != EventType.FORMAT_DESCRIPTION:
            if crc32(header, size - 4, np.uint32(0)) != load_u32(header + size - 4):
                result = BAD_CHECKSUM
                break
        result = _event(state, header, position, event_type, size)
        if result == _ENDS_GROUP or result == _ENDS_VOID_GROUP:
            result = end_group(state, position + size, result == _ENDS_VOID_GROUP)
        if result != DONE:
            break
        increase(state, N_EVENTS, 1)
        position += size
    if result == STOPPED and get(state, LAST_END) > position:  # this event ended the last group that counts
        increase(state, N_EVENTS, 1)
        position = get(state, LAST_END)
    put(state, POSITION, position)
    if (result == DONE or result == STOPPED or result == CUT_SHORT) and get(state, GROUP_STATE) == OUTSIDE:
        if cut_split(state, get(state, LAST_END)) == NEED_ROOM:
            return NEED_ROOM
    return result
