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
from applier.kernels.put_kernel import put_byte, put_uuid
from jsondiff.kernels.numbers import put_padded, put_signed, put_unsigned
from keysearch.memory import copy32, copy_bytes, inline, load_i64, load_u8, load_u32, load_u64

_GTID = 33
_LONG_GTID, _COMMIT_TIMES, _LEAST_GTID = 42, 49, 54
_ANOTHER_TIME, _ANOTHER_VERSION = np.uint64(1 << 55), 1 << 31
_MICROS = np.uint64(1_000_000)
_UNUSUAL = False, np.uint64(0), np.uint64(0), np.int64(0), np.int64(0), np.int64(0)
_MARIADB_FLAGS = (
    (4, Text.TRANS), (16, Text.WAITED), (32, Text.DDL), (64, Text.XA_PREPARE), (128, Text.XA_COMPLETE)
)  # fmt: skip


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
    if stop - body < 13:
        return Status.NEED_DETAILS
    flags = np.int64(load_u8(body + 12))
    if flags & 2 and stop - body < 21:
        return Status.NEED_DETAILS
    out = put_unsigned(put_text(out, state, Text.MARIADB), np.uint64(load_u32(body + 8)))
    out = put_byte(put_unsigned(put_byte(out, 45), np.uint64(event_header(start).server_id)), 45)
    out = put_unsigned(out, load_u64(body))
    for bit, text in _MARIADB_FLAGS:
        if flags & bit:
            out = put_text(out, state, text)
    if flags & 2:
        out = put_unsigned(put_text(out, state, Text.CID), load_u64(body + 13))
    return put_byte(out, 10) if flags & 1 else put_text(out, state, Text.START)


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
    out = put_text(out, state, Text.GTID if kind == _GTID else Text.ANONYMOUS_GTID)
    out = put_signed(put_text(out, state, Text.LAST_COMMITTED), load_i64(body + 26))
    out = put_signed(put_text(out, state, Text.SEQUENCE), load_i64(body + 34))
    out = put_text(out, state, Text.RBR_NO if load_u8(body) & 1 else Text.RBR_YES)
    out = put_unsigned(put_text(out, state, Text.ORIGINAL), original)
    out = put_unsigned(put_text(out, state, Text.IMMEDIATE), immediate)
    out = put_unsigned(put_text(out, state, Text.LENGTH), np.uint64(length))
    if find_time(original_seconds, ORIGINALS, state) == 0:
        return Status.NEED_TIME
    time = find_time(original_seconds, ORIGINALS, state)
    out = _put_micros(put_text(out, state, Text.ORIGINAL_LINE), original, time)
    time = find_time(seconds, IMMEDIATES, state)
    out = _put_micros(put_text(out, state, Text.IMMEDIATE_LINE), immediate, time)
    out = _put_version(out, state, Text.ORIGINAL_VERSION, original_version)
    out = _put_version(out, state, Text.IMMEDIATE_VERSION, version)
    out = put_text(out, state, Text.GTID_NEXT)
    if kind != _GTID:
        return put_text(put_text(out, state, Text.ANONYMOUS), state, Text.QUOTE_END)
    out = put_byte(put_uuid(out, body + 1), 58)
    return put_text(put_signed(out, load_i64(body + 17)), state, Text.QUOTE_END)


@inline
def _put_version(out, state, before, version):
    return put_text(put_unsigned(put_text(out, state, before), np.uint64(version)), state, Text.COMMENT_END)


@inline
def _put_micros(out, micros, time):
    """1795203941895360 (2026-11-20 19:45:41.895360 UTC)"""
    out = put_byte(put_byte(put_unsigned(out, micros), 32), 40)
    copy32(out, time + LONG_AT)
    out = put_padded(put_byte(out + LONG_LENGTH, 46), micros % _MICROS, 6)
    return put_byte(copy_bytes(put_byte(out, 32), time + ZONE_AT, time_view(time).zone_length), 41)
