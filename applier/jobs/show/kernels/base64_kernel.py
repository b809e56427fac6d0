# mypy: allow-untyped-defs, no-check-untyped-defs
"""Events as BINLOG statements have them: base64 in lines. Events of payloads get a checksum, and compressed ones of
MariaDB become plain."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.jobs.show.kernels.walk_records import Status
from applier.kernels.crc32 import crc32
from applier.kernels.put_kernel import put_byte
from keysearch.memory import copy_bytes, inline, load_u8, store_u32

_DIGITS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)
_PADDING, _LINE_END = 61, 10
_LINE_BYTES = 57
_SIZE_AT, _AFTER_SIZE = 9, 13
_CHECKSUM_BYTES = 4
_FIRST_COMPRESSED, _FIRST_COMPRESSED_V2, _LAST_COMPRESSED, _FIRST_V1, _FIRST_V2, _V1_TYPES = 166, 169, 171, 23, 30, 3
"""Types of rows events: MariaDB's compressed ones, and the plain ones that they become."""


@inline
def inner_checksum(state):
    """The checksum that an event in a payload would have in a file."""
    start, length = state.start, state.stop - state.start
    head = np.uint32(crc32(start, np.int64(_SIZE_AT), np.uint32(0)))
    store_u32(state.stack, np.uint32(length + _CHECKSUM_BYTES))
    head = np.uint32(crc32(state.stack, np.int64(4), head))
    return np.uint32(crc32(start + _AFTER_SIZE, length - _AFTER_SIZE, head))


@inline
def put_event(base, state):
    """Append the event that the walk is at to those in base64: 0, or why not."""
    start, length = base + state.position, state.size
    if state.inner or state.start != start:
        length = state.stop - state.start
        if length + _CHECKSUM_BYTES > state.document_bytes:
            state.wanted_bytes = length + _CHECKSUM_BYTES
            return np.int64(Status.NEED_DOCUMENT)
        start = state.document
        copy_bytes(start, state.start, length)
        kind = np.int64(event_header(start).type)
        if kind >= _FIRST_COMPRESSED and kind <= _LAST_COMPRESSED:
            event_header(start).type = kind - _FIRST_COMPRESSED + (_FIRST_V1 if kind < _FIRST_COMPRESSED_V2 else
                                                                   _FIRST_V2 - _V1_TYPES)
        event_header(start).size = length + state.checksum_bytes
        if state.checksum_bytes:
            store_u32(start + length, np.uint32(crc32(start, length, np.uint32(0))))
            length += _CHECKSUM_BYTES
    if length // 3 * 4 + length // _LINE_BYTES + 16 > state.code_end - state.code_out:
        state.wanted_bytes = length
        return np.int64(Status.FULL_LATER)
    state.code_out = _put_lines(state.code_out, start, length)
    return np.int64(0)


@inline
def _put_lines(out, at, length):
    """Bytes in base64: lines of 76 characters, each with its line feed."""
    end, in_line = at + length, 0
    while at < end:
        if in_line == _LINE_BYTES:
            out, in_line = put_byte(out, _LINE_END), 0
        left = min(end - at, 3)
        bits = np.int64(load_u8(at)) << 16
        if left > 1:
            bits |= np.int64(load_u8(at + 1)) << 8
        if left > 2:
            bits |= np.int64(load_u8(at + 2))
        out = put_byte(put_byte(out, _DIGITS[bits >> 18]), _DIGITS[bits >> 12 & 63])
        out = put_byte(out, _DIGITS[bits >> 6 & 63] if left > 1 else _PADDING)
        out = put_byte(out, _DIGITS[bits & 63] if left > 2 else _PADDING)
        at, in_line = at + 3, in_line + 3
    return put_byte(out, _LINE_END)
