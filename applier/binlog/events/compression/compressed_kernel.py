# mypy: allow-untyped-defs, no-check-untyped-defs
"""Finds compressed events and their compressed bytes, and makes plain events from their contents.

    TRANSACTION_PAYLOAD    fields (type, length, value), each number of variable length: 1 size of the payload, 2
                           algorithm (0 zstd, 255 none), 3 size when inflated, 0 the end; then the payload: events
                           (MySQL Source Documentation, "Transaction_payload_event")
    QUERY_COMPRESSED       MariaDB: a QUERY whose SQL is compressed
    …_ROWS_COMPRESSED      MariaDB: a rows event whose rows are compressed (log_bin_compress)

MariaDB's compressed bytes: 0x80 | n, the length in n bytes, a zlib stream.
"""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import bitmaps_of, read_bitmaps, read_packed
from keysearch.memory import (
    inline,
    kernel,
    load_u8,
    load_u16,
)
from keysearch.records import struct

HEADER_BYTES = 19

_PAYLOAD, _QUERY_COMPRESSED, _LAST_COMPRESSED = 40, 165, 171
_FIRST_ROWS_V1, _FIRST_ROWS_V2, _PLAIN_QUERY, _PLAIN_ROWS_V1, _PLAIN_ROWS_V2 = 166, 169, 2, 23, 30
_FIELD_END, _FIELD_SIZE, _FIELD_ALGORITHM, _FIELD_INFLATED = range(4)
_QUERY_POST_HEADER = 13

FOUND, _, found_at = struct("compressed event", **dict.fromkeys((
    "position", "prefix", "data", "end", "inflated", "form"), np.int64))
"""A compressed event: the number of bytes before the compressed ones, the range of these (offsets in the file), the
length of the contents that the event claims, and its form."""
ZSTD, NONE, ZLIB, UNKNOWN, MALFORMED = range(5)

CONTENT, content_view, content_at = struct("content", **dict.fromkeys((
    "position", "start", "end", "goes_on"), np.int64))
"""Inflated contents of the compressed event at a position: the range (addresses) of its events, and whether more of
them follow in the next record."""
CONTENT_BYTES = CONTENT.itemsize


@inline
def is_compressed(event_type):
    """Return whether events of this type are compressed: TRANSACTION_PAYLOAD, and MariaDB's QUERY_COMPRESSED and
    compressed rows events."""
    return event_type == _PAYLOAD or (event_type >= _QUERY_COMPRESSED and event_type <= _LAST_COMPRESSED)


@kernel
def find_compressed(base, position, end, header_bytes, checksum_bytes, found, most):
    """Describe up to `most` compressed events in the records at `found`: those in [position, end), offsets from address
    `base`, up to the first malformed event. Returns how many there are."""
    count = 0
    while end - position >= header_bytes and count < most:
        event = base + position
        size = np.int64(event_header(event).size)
        if size < header_bytes + checksum_bytes or size > end - position:
            break
        event_type = event_header(event).type
        if is_compressed(event_type):
            record = found_at(found, count)
            record.position = position
            body, stop = event + header_bytes, event + size - checksum_bytes
            if event_type == _PAYLOAD:
                describe_payload(record, base, body, stop)
            else:
                _describe_event(record, base, event, body, stop, event_type)
            count += 1
        position += size
    return count


@inline
def _describe(record, prefix, data, end, inflated, form):
    record.prefix = prefix
    record.data = data
    record.end = end
    record.inflated = inflated
    record.form = form


@inline
def describe_payload(record, base, at, end):
    """Describe in a record the TRANSACTION_PAYLOAD whose body is from address `at` to `end`."""
    size, algorithm, inflated = np.int64(-1), np.int64(0), np.int64(-1)
    field = np.int64(-1)
    while field != _FIELD_END:
        field, at = read_packed(at, end)
        if at != 0 and field != _FIELD_END:
            length, at = read_packed(at, end)
            if at != 0 and length > end - at:
                at = np.int64(0)
            if at != 0:
                value, after = read_packed(at, at + length)
                if field <= _FIELD_INFLATED and after == 0:
                    at = np.int64(0)
                elif field == _FIELD_SIZE:
                    size = value
                elif field == _FIELD_ALGORITHM:
                    algorithm = value
                elif field == _FIELD_INFLATED:
                    inflated = value
            at = at + length if at != 0 else at
        if at == 0:
            return _describe(record, 0, 0, 0, 0, MALFORMED)
    form = ZSTD if algorithm == 0 else NONE if algorithm == 255 else UNKNOWN
    if size != end - at or (form == NONE and inflated != size) or (form == ZSTD and inflated < 0):
        form = MALFORMED
    return _describe(record, 0, at - base, end - base, inflated, form)


@inline
def _describe_event(record, base, event, body, end, event_type):
    """Describe one of MariaDB's compressed events: the bytes before the compressed ones, and the length before the zlib
    stream."""
    at, prefix = body, np.int64(-1)  # how many bytes of the body are not compressed
    if event_type == _QUERY_COMPRESSED:
        if end - body >= _QUERY_POST_HEADER:
            prefix = _QUERY_POST_HEADER + np.int64(load_u16(body + 11)) + np.int64(load_u8(body + 8)) + 1
    else:
        columns, bitmaps = read_bitmaps(body, end, event_type)
        if bitmaps != 0:
            prefix = bitmaps - body + bitmaps_of(event_type) * ((columns + 7) >> 3)
    if prefix < 0 or prefix >= end - body:
        return _describe(record, 0, 0, 0, 0, MALFORMED)
    at += prefix
    first = load_u8(at)
    n_length = np.int64(first) & 7
    if first & 0xF0 != 0x80 or n_length < 1 or n_length > 4 or n_length >= end - at:
        return _describe(record, 0, 0, 0, 0, MALFORMED)
    inflated = np.int64(0)
    for i in range(n_length):
        inflated = inflated << 8 | np.int64(load_u8(at + 1 + i))
    return _describe(record, at - event, at + 1 + n_length - base, end - base, inflated, ZLIB)


@kernel
def as_plain_events(contents, count):
    """Give MariaDB's events in `count` contents the type and size of uncompressed events."""
    for i in range(count):
        content = content_at(contents, i)
        start, end = content.start, content.end
        event_type = np.int64(event_header(start).type) if end - start >= HEADER_BYTES else np.int64(0)
        if event_type < _QUERY_COMPRESSED or event_type > _LAST_COMPRESSED:
            continue
        plain = np.int64(_PLAIN_QUERY)
        if event_type >= _FIRST_ROWS_V2:
            plain = event_type - _FIRST_ROWS_V2 + _PLAIN_ROWS_V2
        elif event_type >= _FIRST_ROWS_V1:
            plain = event_type - _FIRST_ROWS_V1 + _PLAIN_ROWS_V1
        event_header(start).type = np.uint8(plain)
        event_header(start).size = np.uint32(end - start)


@kernel
def whole_events(address, length):
    """Return the number of bytes of the whole events at the beginning of `length` bytes at an address; -1 if an event
    has an impossible size."""
    at = np.int64(0)
    while length - at >= HEADER_BYTES:
        size = np.int64(event_header(address + at).size)
        if size < HEADER_BYTES:
            return np.int64(-1)
        if size > length - at:
            break
        at += size
    return at
