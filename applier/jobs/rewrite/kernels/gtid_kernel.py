# mypy: allow-untyped-defs, no-check-untyped-defs
"""The length of a transaction in MySQL's GTID events: the length of all of its events, including this one.

    GTID, ANONYMOUS_GTID   42 bytes, commit time of 7 bytes and, with its highest bit, another one; then the length, a
                           packed integer (8.0.2 on)
    GTID_TAGGED            numbers of variable length, see below: version, bytes of all of this, last required field;
                           then fields, each behind its number: 1 the UUID, 16 numbers; 3 the tag, length and text;
                           others a number each; 8 is the transaction's length

A number of variable length has as many bytes after the first as that has low one bits (mysql::serialization).
"""

import numpy as np

from applier.binlog.events.packed_kernel import read_packed
from keysearch.memory import copy_bytes, inline, load_u8, store_u8

_TAGGED, _PACKED_AT = 42, 42
_UUID, _TAG, _LENGTH = 1, 3, 8
MOST_MORE_BYTES = 16
"""How much longer a GTID event may become."""


@inline
def put_gtid(event, length, header, event_type, more, to):
    """Put the GTID event at an address (without checksum) to `to`, of a transaction whose other events have `more`
    bytes more than before. The address after it."""
    body, end = event + header, event + length
    if more == 0:
        return copy_bytes(to, event, length)
    return _put_tagged(event, body, end, more, to) if event_type == _TAGGED else _put_plain(event, body, end, more, to)


@inline
def _put_plain(event, body, end, more, to):
    if end - body < _PACKED_AT + 8:
        return copy_bytes(to, event, end - event)
    at = body + _PACKED_AT + 7
    if load_u8(at - 1) & 0x80:
        at += 7
    known, after = read_packed(at, end)
    if after == 0:
        return copy_bytes(to, event, end - event)
    new = known + more
    for n in (1, 3, 4, 9):
        if _packed_bytes(known + more + n - (after - at)) == n:
            new = known + more + n - (after - at)
            break
    to = copy_bytes(to, event, at - event)
    n = _packed_bytes(new)
    if n == 1:
        to = _put_little_endian(to, new, 1)
    else:
        store_u8(to, np.uint8(252 if n == 3 else 253 if n == 4 else 254))
        to = _put_little_endian(to + 1, new, n - 1)
    return copy_bytes(to, after, end - after)


@inline
def _packed_bytes(value):
    return 1 if value < 251 else 3 if value < 1 << 16 else 4 if value < 1 << 24 else 9


@inline
def _put_little_endian(to, value, n):
    for i in range(n):
        store_u8(to + i, np.uint8(value >> (8 * i) & 255))
    return to + n


@inline
def _number_at(at, end):
    """A number of variable length, and the address after it: 0 where it is cut off."""
    if at >= end:
        return np.int64(0), np.int64(0)
    first = np.int64(load_u8(at))
    more = np.int64(0)
    while more < 8 and first >> more & 1:
        more += 1
    if more >= end - at:
        return np.int64(0), np.int64(0)
    value = first >> (more + 1) if more < 8 else np.int64(0)
    bits = 7 - more if more < 8 else np.int64(0)
    for i in range(more):
        value |= np.int64(load_u8(at + 1 + i)) << (bits + 8 * i)
    return value, at + 1 + more


@inline
def _number_bytes(value):
    n = np.int64(1)
    while n < 9 and value >> (7 * n):
        n += 1
    return n


@inline
def _put_number(to, value):
    n = _number_bytes(value)
    if n == 9:
        store_u8(to, np.uint8(255))
        return _put_little_endian(to + 1, value, 8)
    return _put_little_endian(to, value << n | (1 << (n - 1)) - 1, n)


@inline
def _put_tagged(event, body, end, more, to):
    _, size_at = _number_at(body, end)
    size, size_after = _number_at(size_at, end) if size_at else (np.int64(0), np.int64(0))
    _, at = _number_at(size_after, end) if size_after else (np.int64(0), np.int64(0))
    field, known, after = np.int64(-1), np.int64(0), np.int64(0)
    while at and at < end and field != _LENGTH:
        field, at = _number_at(at, end)
        if at and field == _UUID:
            for _ in range(16):
                if at:
                    _, at = _number_at(at, end)
        elif at:
            value_at = at
            known, at = _number_at(at, end)
            if at and field == _TAG:
                at = at + known if known <= end - at else np.int64(0)
            elif at and field == _LENGTH:
                after, at = at, value_at
    if after == 0:
        return copy_bytes(to, event, end - event)
    grown, n_bytes = np.int64(0), after - at
    for n in range(1, 10):
        of_size = _number_bytes(size + n - n_bytes) - (size_after - size_at)
        grown = n - n_bytes + of_size
        if _number_bytes(known + more + grown) == n:
            break
    to = copy_bytes(to, event, size_at - event)
    to = _put_number(to, size + grown)
    to = copy_bytes(to, size_after, at - size_after)
    to = _put_number(to, known + more + grown)
    return copy_bytes(to, after, end - after)
