# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels of the outline for statements: group control, and notes of statements that Python must read."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.outline.kernels.outline_groups import (
    COMMITTED,
    PREPARED,
    ROLLED_BACK,
    end_group,
    open_group,
    run_by,
)
from applier.binlog.outline.kernels.outline_recording import (
    ANNOUNCED,
    BLOCKED_SAVEPOINT,
    FILE_EVENT,
    NOTE_BYTES,
    OUTSIDE,
    STATEMENT,
    TRANSACTION,
    XA_DECIDED,
    XA_PREPARED,
    Status,
    append,
    kept,
    note_view,
)
from applier.binlog.outline.kernels.outline_savepoints import NO_SUCH_SAVEPOINT, roll_back_to, set_savepoint
from applier.binlog.outline.kernels.outline_tables import NO_TABLE
from keysearch.memory import inline, load_u8, load_u16, store_u8

_NOTED_SAVEPOINT = 256
ENDS_GROUP = 100
"""A result of an event, other than DONE and the ends of a pass: this number plus how the group ends."""


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text[:8].lower(), "little"))


_BEGIN, _COMMIT, _ROLLBACK, _SAVEPOINT = _word(b"BEGIN"), _word(b"COMMIT"), _word(b"ROLLBACK"), _word(b"SAVEPOIN")
_XA_START, _XA_BEGIN, _XA_END = _word(b"XA START"), _word(b"XA BEGIN"), _word(b"XA END ")
_XA_COMMIT, _XA_ROLLBACK = _word(b"XA COMMIT"), _word(b"XA ROLLBACK")
_SEVEN_LETTERS = np.uint64(0xFFFFFFFFFFFFFF)
_START_TRANSACTION = np.frombuffer(b"START TRANSACTION", np.uint8)
_QUERY_POST_HEADER = 13


@inline
def note(state, kind, position, use):
    """Write a note, except for an event in an excluded group."""
    if state.group_left_out != 0 and kind != FILE_EVENT:
        return Status.DONE
    address = append(state.notes, NOTE_BYTES)
    if address == 0:
        return Status.NEED_ROOM
    entry = note_view(address)
    outside = state.group_state == OUTSIDE
    event = position
    if state.within != 0:
        event = kept(state, state.inner, np.int64(event_header(state.inner).size))
    entry.event = event
    entry.kind = kind
    entry.position = position
    entry.group = position if outside else state.group_start
    entry.gtid = 0 if outside else state.group_gtid
    entry.table = use
    return Status.DONE


@inline
def note_once(state, kind, what, position):
    """Note an unreplayable event, unless one of its kind is noted: the first one stops the replay."""
    noted = state.noted + what
    if load_u8(noted) != 0 or state.group_left_out != 0:
        return Status.DONE
    store_u8(noted, np.uint8(1))
    return note(state, kind, position, NO_TABLE)


@inline
def _first_letters(address, length):
    """Return up to eight bytes at the start of a statement, in lower case, as one number."""
    word = np.uint64(0)
    for i in range(min(length, 8)):
        word |= np.uint64(load_u8(address + i) | np.uint8(0x20)) << np.uint64(8 * i)
    return word


@inline
def _ends_with_start_transaction(address, length):
    """Return whether a statement ends with START TRANSACTION: MySQL logs CREATE TABLE … SELECT as CREATE TABLE … START
    TRANSACTION, and rows follow in its group."""
    n = _START_TRANSACTION.shape[0]
    if length < n:
        return False
    for i in range(n):
        if load_u8(address + length - n + i) != _START_TRANSACTION[i]:
            return False
    return True


@inline
def query(state, header, position, next_position, body, end):
    """Handle a statement. Group control is recognized by its first letters. Any other statement is noted, and outside
    transactions it is the whole group."""
    if end - body < _QUERY_POST_HEADER:
        return Status.BAD_EVENT
    sql = body + _QUERY_POST_HEADER + np.int64(load_u16(body + 11)) + np.int64(load_u8(body + 8)) + 1
    length = end - sql
    if length < 0:
        return Status.BAD_EVENT
    word = _first_letters(sql, length)
    if word == _BEGIN and length == 5:
        if state.group_state == TRANSACTION and state.group_gtid == 0:  # the one before was never ended
            result = end_group(state, position, ROLLED_BACK)
            if result != Status.DONE:
                return result
        if state.group_state == OUTSIDE:
            result = open_group(state, position, header, TRANSACTION)
            if result != Status.DONE:
                return result
        state.group_state = TRANSACTION
        run_by(state, body)
        return Status.DONE
    if state.group_state == OUTSIDE:
        result = open_group(state, position, header, ANNOUNCED)
        if result != Status.DONE:
            return result
    run_by(state, body)
    if (word == _COMMIT and length == 6) or (word == _ROLLBACK and length == 8):
        return ENDS_GROUP + (ROLLED_BACK if word == _ROLLBACK else COMMITTED)
    if word == _SAVEPOINT:
        return set_savepoint(state, sql, length, next_position)
    if word == _ROLLBACK:
        result = roll_back_to(state, sql, length, position)
        if result == NO_SUCH_SAVEPOINT:
            return note_once(state, BLOCKED_SAVEPOINT, _NOTED_SAVEPOINT, position)
        return result
    if word == _XA_START or word == _XA_BEGIN:
        state.group_state = TRANSACTION
        return Status.DONE
    if word & _SEVEN_LETTERS == _XA_END:
        return Status.DONE
    if word == _XA_COMMIT or word == _XA_ROLLBACK:
        if state.group_state == TRANSACTION:  # it was never prepared
            return ENDS_GROUP + (ROLLED_BACK if word == _XA_ROLLBACK else COMMITTED)
        result = note(state, XA_DECIDED, position, NO_TABLE)
        return ENDS_GROUP if result == Status.DONE else result
    result = note(state, STATEMENT, position, NO_TABLE)
    if result != Status.DONE or state.group_state == TRANSACTION:
        return result
    if _ends_with_start_transaction(sql, length):
        state.group_state = TRANSACTION
        return Status.DONE
    return ENDS_GROUP


@inline
def xa_prepare(state, position, body, end):
    """Handle an XA_PREPARE event: the group is prepared, or, in one phase, committed."""
    if body >= end:
        return Status.BAD_EVENT
    if load_u8(body) != 0:
        return ENDS_GROUP
    result = note(state, XA_PREPARED, position, NO_TABLE)
    return ENDS_GROUP + PREPARED if result == Status.DONE else result
