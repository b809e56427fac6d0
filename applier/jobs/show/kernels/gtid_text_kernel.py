# mypy: allow-untyped-defs, no-check-untyped-defs
"""GTID events of both flavours as `details` prints them, and times as texts."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import read_packed
from applier.jobs.show.kernels.fixed_texts import Text, put_text
from applier.jobs.show.kernels.walk_records import (
    IMMEDIATES,
    LONG_AT,
    LONG_LENGTH,
    N_TIMES,
    ORIGINALS,
    TIME_BYTES,
    ZONE_AT,
    Status,
    time_view,
)
from applier.kernels.put_kernel import put_byte, put_hex, put_uuid
from jsondiff.kernels.numbers import put_padded, put_signed, put_unsigned
from keysearch.memory import copy32, copy_bytes, inline, load_i64, load_u8, load_u32, load_u64

_GTID = 33
_LONG_GTID, _COMMIT_TIMES, _LEAST_GTID = 42, 49, 54
_ANOTHER_TIME, _ANOTHER_VERSION = np.uint64(1 << 55), 1 << 31
_MICROS = np.uint64(1_000_000)
_UNUSUAL = False, np.uint64(0), np.uint64(0), np.int64(0), np.int64(0), np.int64(0)
_MARIADB_FLAGS = (32, Text.DDL), (4, Text.TRANS), (16, Text.WAITED)
_STANDALONE, _GROUP_COMMIT, _PARALLEL, _XA_PREPARED, _XA_COMPLETED = 1, 2, 8, 64, 128
_START_ALTER, _COMMIT_ALTER, _ROLLBACK_ALTER, _THREAD = 2, 4, 8, 16
"""Extra flags."""
_LEAST_MARIADB = 13


@inline
def find_time(second, which, state):
    """The texts of a second, one of HEADERS, ORIGINALS, IMMEDIATES; 0 where they must be asked for."""
    number = which * N_TIMES + (second & (N_TIMES - 1))
    entry = state.times + TIME_BYTES * number
    if time_view(entry).second == second:
        return entry
    state.detail = second
    state.wanted_bytes = number
    return np.int64(0)


@inline
def put_mariadb_gtid(out, start, body, stop, state):
    """Write MariaDB's, with the fields that its flags announce: a commit id, an XID, extra flags, and theirs."""
    if stop - body < _LEAST_MARIADB:
        return Status.NEED_DETAILS
    flags, at = np.int64(load_u8(body + 12)), body + 13
    at += 8 if flags & _GROUP_COMMIT else 0
    xid = at
    if flags & (_XA_PREPARED | _XA_COMPLETED):
        if stop - at < 6:
            return Status.NEED_DETAILS
        at += 6 + np.int64(load_u8(at + 4)) + np.int64(load_u8(at + 5))
    extra = np.int64(load_u8(at)) if at < stop else np.int64(0)
    at += (2 if extra & 1 else 1) if at < stop else 0
    altered = at
    at += 8 if extra & (_COMMIT_ALTER | _ROLLBACK_ALTER) else 0
    if (4 if extra & _THREAD else 0) > stop - at:
        return Status.NEED_DETAILS
    domain, server, number = np.int64(load_u32(body + 8)), np.int64(event_header(start).server_id), load_u64(body)
    if state.is_short == 0:
        out = put_unsigned(put_text(out, state, Text.MARIADB), np.uint64(domain))
        out = put_byte(put_unsigned(put_byte(out, 45), np.uint64(server)), 45)
        out = put_unsigned(out, number)
        if flags & _GROUP_COMMIT:
            out = put_unsigned(put_text(out, state, Text.CID), load_u64(body + 13))
        for bit, text in _MARIADB_FLAGS:
            if flags & bit:
                out = put_text(out, state, text)
        if extra & _START_ALTER:
            out = put_text(out, state, Text.START_ALTER)
        if extra & _COMMIT_ALTER:
            out = put_unsigned(put_text(out, state, Text.COMMIT_ALTER), load_u64(altered))
        if extra & _ROLLBACK_ALTER:
            out = put_unsigned(put_text(out, state, Text.ROLLBACK_ALTER), load_u64(altered))
        if extra & _THREAD:
            out = put_unsigned(put_text(out, state, Text.GTID_THREAD), np.uint64(load_u32(at)))
        out = put_byte(out, 10)
        if state.shows_gtids:
            out = _put_variables(out, state, domain, server, np.int64(flags & _PARALLEL == 0), number)
    state.is_open = 0
    if flags & _XA_PREPARED:
        return put_text(_put_xid(put_text(out, state, Text.XA_START), xid), state, Text.TERMINATOR)
    if flags & _STANDALONE:
        return out
    state.is_open = 1
    return put_text(out, state, Text.START)


@inline
def _put_variables(out, state, domain, server, is_serial, number):
    """The variables that give the group that follows its GTID, those that changed."""
    if is_serial != state.is_serial:
        out = _put_set(out, state, Text.PARALLEL, is_serial)
        state.is_serial = is_serial
    if domain != state.domain:
        out = _put_set(out, state, Text.DOMAIN, domain)
        state.domain = domain
    if server != state.server:
        out = _put_set(out, state, Text.SERVER_ID, server)
        state.server = server
    return put_text(put_unsigned(put_text(out, state, Text.SEQ_NO), number), state, Text.COMMENT_END)


@inline
def _put_xid(out, at):
    """X'7831',X'',1"""
    name = at + 6
    branch = name + np.int64(load_u8(at + 4))
    end = branch + np.int64(load_u8(at + 5))
    out = put_byte(put_byte(out, 88), 39)
    for byte in range(name, end):
        if byte == branch:
            out = put_byte(put_byte(put_byte(put_byte(out, 39), 44), 88), 39)
        out = put_hex(out, np.uint64(load_u8(byte)), 2)
    if end == branch:
        out = put_byte(put_byte(put_byte(put_byte(out, 39), 44), 88), 39)
    return put_signed(put_byte(put_byte(out, 39), 44), np.int64(np.int32(load_u32(at))))


@inline
def _put_set(out, state, before, number):
    return put_text(put_unsigned(put_text(out, state, before), np.uint64(number)), state, Text.COMMENT_END)


@inline
def _seven(at):
    return load_u64(at) & np.uint64(0xFFFFFFFFFFFFFF)


@inline
def read_gtid(body, stop):
    """A GTID event of MySQL as servers have written it since 8.0.14: (whether it is one, immediate and original commit
    time in microseconds since 1970, the transaction's length, the immediate and the original server's version)."""
    if stop - body < _LEAST_GTID or load_u8(body + 25) != 2:
        return _UNUSUAL
    immediate = _seven(body + _LONG_GTID)
    at = body + _COMMIT_TIMES
    original = immediate
    if immediate & _ANOTHER_TIME:
        if stop - at < 8:
            return _UNUSUAL
        immediate ^= _ANOTHER_TIME
        original = _seven(at)
        at += 7
    length, at = read_packed(at, stop)
    if at == 0 or stop - at < 4:
        return _UNUSUAL
    version = np.int64(load_u32(at))
    original_version = version
    if version & _ANOTHER_VERSION:
        if stop - at < 8:
            return _UNUSUAL
        version ^= _ANOTHER_VERSION
        original_version = np.int64(load_u32(at + 4))
    return True, immediate, original, length, version, original_version


@inline
def put_gtid(out, body, stop, kind, state):
    """MySQL's, as servers have written it since 8.0.14; older ones are left to Python."""
    is_usual, immediate, original, length, version, original_version = read_gtid(body, stop)
    if not is_usual:
        return Status.NEED_DETAILS
    seconds, original_seconds = np.int64(immediate // _MICROS), np.int64(original // _MICROS)
    if find_time(seconds, IMMEDIATES, state) == 0:
        return Status.NEED_TIME
    if state.is_short == 0:
        out = put_text(out, state, Text.GTID if kind == _GTID else Text.ANONYMOUS_GTID)
        out = put_signed(put_text(out, state, Text.LAST_COMMITTED), load_i64(body + 26))
        out = put_signed(put_text(out, state, Text.SEQUENCE), load_i64(body + 34))
        out = put_text(out, state, Text.RBR_NO if load_u8(body) & 1 else Text.RBR_YES)
        out = put_unsigned(put_text(out, state, Text.ORIGINAL), original)
        out = put_unsigned(put_text(out, state, Text.IMMEDIATE), immediate)
        out = put_byte(put_unsigned(put_text(out, state, Text.LENGTH), np.uint64(length)), 10)
    if load_u8(body) & 1 == 0:
        out = put_text(out, state, Text.READ_COMMITTED)
    if find_time(original_seconds, ORIGINALS, state) == 0:
        return Status.NEED_TIME
    time = find_time(original_seconds, ORIGINALS, state)
    out = _put_micros(put_text(out, state, Text.ORIGINAL_LINE), original, time)
    time = find_time(seconds, IMMEDIATES, state)
    out = _put_micros(put_text(out, state, Text.IMMEDIATE_LINE), immediate, time)
    out = put_text(put_unsigned(put_text(out, state, Text.COMMITTED), original), state, Text.COMMENT_END)
    out = _put_set(out, state, Text.ORIGINAL_VERSION, original_version)
    out = _put_set(out, state, Text.IMMEDIATE_VERSION, version)
    out = put_text(out, state, Text.GTID_NEXT)
    state.has_gtid = 1
    if kind != _GTID:
        return put_text(put_text(out, state, Text.ANONYMOUS), state, Text.QUOTE_END)
    out = put_byte(put_uuid(out, body + 1), 58)
    return put_text(put_signed(out, load_i64(body + 17)), state, Text.QUOTE_END)


@inline
def _put_micros(out, micros, time):
    """1795203941895360 (2026-11-20 19:45:41.895360 UTC)"""
    out = put_byte(put_byte(put_unsigned(out, micros), 32), 40)
    copy32(out, time + LONG_AT)
    out = put_padded(put_byte(out + LONG_LENGTH, 46), micros % _MICROS, 6)
    out = copy_bytes(put_byte(out, 32), time + ZONE_AT, time_view(time).zone_length)
    return put_byte(put_byte(out, 41), 10)
