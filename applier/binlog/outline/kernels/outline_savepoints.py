# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels of the outline for savepoints: which part of a group ROLLBACK TO rolls back.

Servers write `SAVEPOINT name` and `ROLLBACK TO name` into a group only if they must: if rows to be rolled back were
logged because other rows cannot be rolled back (MySQL: of a non-transactional table; MariaDB: also of a changed
temporary table). Names are compared ignoring the case of ASCII letters, as far as logs show.
"""

import numpy as np

from applier.binlog.outline.kernels.outline_groups import forget_notes, roll_back
from applier.binlog.outline.kernels.outline_recording import SAVEPOINT_BYTES, Status, append, kept, savepoint_at
from keysearch.memory import copy_bytes, inline, load_u8

NO_SUCH_SAVEPOINT = 200
_NONE = -1
_SPACE, _QUOTE, _BACKTICK = 0x20, ord('"'), ord("`")
_A, _Z, _TO_LOWER_CASE = ord("A"), ord("Z"), 0x20


@inline
def set_savepoint(state, sql, length, next_position):
    """Handle SAVEPOINT name, which replaces a savepoint of the same name."""
    name, name_length = _name(sql, length)
    known = _find(state, name, name_length)
    if known != _NONE:
        _remove(state, known)
    if append(state.savepoints, SAVEPOINT_BYTES) == 0:
        return Status.NEED_ROOM
    savepoint = savepoint_at(state.savepoints.start, state.savepoints.used - 1)
    savepoint.name_at = kept(state, name, name_length)
    savepoint.name_length = name_length
    savepoint.end = next_position
    savepoint.row_events = state.group_row_events
    return Status.DONE


@inline
def roll_back_to(state, sql, length, position):
    """Handle ROLLBACK TO name: rows since the savepoint are rolled back. The savepoint stays; later ones are removed.
    """
    name, name_length = _name(sql, length)
    known = _find(state, name, name_length)
    if known == _NONE:
        return NO_SUCH_SAVEPOINT if state.group_row_events > 0 else Status.DONE
    state.savepoints.used = known + 1
    savepoint = savepoint_at(state.savepoints.start, known)
    if savepoint.row_events == state.group_row_events:
        return Status.DONE
    if savepoint.end > position:  # both are in one compressed event, whose rows have one position
        return NO_SUCH_SAVEPOINT
    forget_notes(state, savepoint.end)
    return roll_back(state, savepoint.end, position)


@inline
def _name(sql, length):
    """Return the savepoint's name, which ends a statement: from its quote on, or after the last space."""
    end = sql + length
    last = load_u8(end - 1)
    start = end
    if last == _BACKTICK or last == _QUOTE:
        start = sql
        while load_u8(start) != last:
            start += 1
        if end - start <= 1:
            return sql, np.int64(0)
        return start + 1, end - start - 2
    while start > sql and load_u8(start - 1) > _SPACE:
        start -= 1
    return start, end - start


@inline
def _find(state, name, length):
    """Return the number of the savepoint with this name; _NONE if there is none."""
    for i in range(state.savepoints.used):
        savepoint = savepoint_at(state.savepoints.start, i)
        if savepoint.name_length == length:
            if _same_name(state.base + savepoint.name_at, name, length):
                return np.int64(i)
    return np.int64(_NONE)


@inline
def _remove(state, number):
    """Remove a savepoint, and close the gap."""
    count = state.savepoints.used - 1
    for i in range(number, count):
        to = state.savepoints.start + SAVEPOINT_BYTES * i
        copy_bytes(to, to + SAVEPOINT_BYTES, SAVEPOINT_BYTES)
    state.savepoints.used = count


@inline
def _same_name(a, b, length):
    for i in range(length):
        if _lower(load_u8(a + i)) != _lower(load_u8(b + i)):
            return False
    return True


@inline
def _lower(letter):
    return letter | np.uint8(_TO_LOWER_CASE) if letter >= _A and letter <= _Z else letter
