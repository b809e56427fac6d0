# mypy: allow-untyped-defs, no-check-untyped-defs
"""GTID events of both flavours as `details` prints them, and times as texts."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import read_packed
from applier.jobs.show.kernels.number_kernel import put_byte, put_hex, put_padded, put_signed, put_unsigned
from applier.jobs.show.kernels.rows_text_kernel import put_text
from applier.jobs.show.kernels.walk_records import (
    DETAIL,
    IMMEDIATES,
    LONG,
    LONG_LENGTH,
    MOMENT_BYTES,
    MOMENTS,
    N_MOMENTS,
    NEED_DETAILS,
    NEED_MOMENT,
    ORIGINALS,
    SECOND,
    T_ANONYMOUS,
    T_ANONYMOUS_GTID,
    T_CID,
    T_COMMENT_END,
    T_DDL,
    T_GTID,
    T_GTID_NEXT,
    T_IMMEDIATE,
    T_IMMEDIATE_LINE,
    T_IMMEDIATE_VERSION,
    T_LAST_COMMITTED,
    T_LENGTH,
    T_MARIADB,
    T_ORIGINAL,
    T_ORIGINAL_LINE,
    T_ORIGINAL_VERSION,
    T_QUOTE_END,
    T_RBR_NO,
    T_RBR_YES,
    T_SEQUENCE,
    T_START,
    T_TRANS,
    T_WAITED,
    T_XA_COMPLETE,
    T_XA_PREPARE,
    WANTED_BYTES,
    ZONE,
    ZONE_LENGTH,
)
from keysearch.memory import copy32, copy_bytes, inline, load_i64, load_u8, load_u32, load_u64, store_i64

_GTID = 33
_LONG_GTID, _COMMIT_TIMES, _LEAST_GTID = 42, 49, 54
_ANOTHER_TIME, _ANOTHER_VERSION = np.uint64(1 << 55), 1 << 31
_MICROS = np.uint64(1_000_000)


@inline
def find_moment(second, which, state):
    """The texts of a second, one of HEADERS, ORIGINALS, IMMEDIATES; 0 where they must be asked for."""
    number = which * N_MOMENTS + (second & (N_MOMENTS - 1))
    entry = load_i64(state + MOMENTS) + MOMENT_BYTES * number
    if load_i64(entry + SECOND) == second:
        return entry
    store_i64(state + DETAIL, second)
    store_i64(state + WANTED_BYTES, number)
    return np.int64(0)


@inline
def put_bytes(out, at, length):
    copy_bytes(out, at, length)
    return out + length


@inline
def put_mariadb_gtid(out, start, body, stop, state):
    if stop - body < 13:
        return np.int64(NEED_DETAILS)
    flags = np.int64(load_u8(body + 12))
    if flags & 2 and stop - body < 21:
        return np.int64(NEED_DETAILS)
    out = put_unsigned(put_text(out, state, T_MARIADB), np.uint64(load_u32(body + 8)))
    out = put_byte(put_unsigned(put_byte(out, 45), np.uint64(event_header(start).server_id)), 45)
    out = put_unsigned(out, load_u64(body))
    for bit, text in ((4, T_TRANS), (16, T_WAITED), (32, T_DDL), (64, T_XA_PREPARE), (128, T_XA_COMPLETE)):
        if flags & bit:
            out = put_text(out, state, text)
    if flags & 2:
        out = put_unsigned(put_text(out, state, T_CID), load_u64(body + 13))
    return put_byte(out, 10) if flags & 1 else put_text(out, state, T_START)


@inline
def _seven(at):
    return load_u64(at) & np.uint64(0xFFFFFFFFFFFFFF)


@inline
def put_gtid(out, body, stop, kind, state):
    """MySQL's, as servers have written it since 8.0.14; older ones are left to Python."""
    if stop - body < _LEAST_GTID or load_u8(body + 25) != 2:
        return np.int64(NEED_DETAILS)
    immediate = _seven(body + _LONG_GTID)
    at = body + _COMMIT_TIMES
    original = immediate
    if immediate & _ANOTHER_TIME:
        if stop - at < 8:
            return np.int64(NEED_DETAILS)
        immediate ^= _ANOTHER_TIME
        original = _seven(at)
        at += 7
    length, at = read_packed(at, stop)
    if at == 0 or stop - at < 4:
        return np.int64(NEED_DETAILS)
    version = np.int64(load_u32(at))
    original_version = version
    if version & _ANOTHER_VERSION:
        if stop - at < 8:
            return np.int64(NEED_DETAILS)
        version ^= _ANOTHER_VERSION
        original_version = np.int64(load_u32(at + 4))
    seconds, original_seconds = np.int64(immediate // _MICROS), np.int64(original // _MICROS)
    if find_moment(seconds, IMMEDIATES, state) == 0:
        return np.int64(NEED_MOMENT)
    out = put_text(out, state, T_GTID if kind == _GTID else T_ANONYMOUS_GTID)
    out = put_signed(put_text(out, state, T_LAST_COMMITTED), load_i64(body + 26))
    out = put_signed(put_text(out, state, T_SEQUENCE), load_i64(body + 34))
    out = put_text(out, state, T_RBR_NO if load_u8(body) & 1 else T_RBR_YES)
    out = put_unsigned(put_text(out, state, T_ORIGINAL), original)
    out = put_unsigned(put_text(out, state, T_IMMEDIATE), immediate)
    out = put_unsigned(put_text(out, state, T_LENGTH), np.uint64(length))
    if find_moment(original_seconds, ORIGINALS, state) == 0:
        return np.int64(NEED_MOMENT)
    out = _put_micros(put_text(out, state, T_ORIGINAL_LINE), original, find_moment(original_seconds, ORIGINALS, state))
    out = _put_micros(put_text(out, state, T_IMMEDIATE_LINE), immediate, find_moment(seconds, IMMEDIATES, state))
    out = put_text(put_unsigned(put_text(out, state, T_ORIGINAL_VERSION), np.uint64(original_version)), state,
                   T_COMMENT_END)
    out = put_text(put_unsigned(put_text(out, state, T_IMMEDIATE_VERSION), np.uint64(version)), state, T_COMMENT_END)
    out = put_text(out, state, T_GTID_NEXT)
    if kind != _GTID:
        return put_text(put_text(out, state, T_ANONYMOUS), state, T_QUOTE_END)
    for i in range(16):
        if i == 4 or i == 6 or i == 8 or i == 10:
            out = put_byte(out, 45)
        out = put_hex(out, np.uint64(load_u8(body + 1 + i)), 2)
    return put_text(put_signed(put_byte(out, 58), load_i64(body + 17)), state, T_QUOTE_END)


@inline
def _put_micros(out, micros, moment):
    """1795203941895360 (2026-11-20 19:45:41.895360 UTC)"""
    out = put_byte(put_byte(put_unsigned(out, micros), 32), 40)
    copy32(out, moment + LONG)
    out = put_padded(put_byte(out + LONG_LENGTH, 46), micros % _MICROS, 6)
    return put_byte(put_bytes(put_byte(out, 32), moment + ZONE, load_i64(moment + ZONE_LENGTH)), 41)
