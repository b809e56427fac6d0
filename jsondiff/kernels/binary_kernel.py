# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that turns binary JSON documents into text.

    document     = type (1 byte), value
    array        = count, size, value entry × count, values
    object       = count, size, key entry × count, value entry × count, keys, values
    key entry    = offset, length (2 bytes)          value entry = type (1 byte), offset or the value itself
    count, size and offsets are 2 bytes, in the large format 4; offsets count from the container's first byte;
    size is the container's bytes. Literals and 16-bit integers, in the large format 32-bit ones too, are in the entry.

All little-endian (json_binary.h in MySQL's sql-common). Nothing in a document is believed: every read is checked
against the end of its container. A document whose parts have more bytes than itself is refused, so values that share
bytes cannot make more work than the document is long.
"""

from enum import IntEnum

import numpy as np

from jsondiff.kernels.numbers import put_double, put_signed, put_unsigned
from jsondiff.kernels.opaque import put_opaque
from jsondiff.kernels.string_kernel import put_string
from keysearch.addresses import address_of
from keysearch.memory import inline, kernel, load_byte, load_i32, load_i64, store_i16, store_i64, store_u8
from keysearch.records import struct

MAX_DEPTH = 100  # JSON_DOCUMENT_MAX_DEPTH of MySQL
# A byte of a document becomes at most six of text (\u0001). Scalars (at most 36 bytes of text for 11, a double in an
# array) stay below that if there is room for one more, and for the bytes that put_string writes behind a string.
TEXT_BYTES_PER_BYTE, TEXT_BYTES_MORE = 6, 128


class Status(IntEnum):
    """The error in a document. Below 0, so that kernels can return it instead of an address."""

    DONE = 0
    TRUNCATED = -1
    UNKNOWN_TYPE = -2
    BAD_LITERAL = -3
    TOO_DEEP = -4
    OVERLAP = -5
    BAD_DOUBLE = -6
    BAD_OPAQUE = -7


FRAME, _, frame_at = struct("frame", **dict.fromkeys(("start", "end", "n_values", "next", "kind"), np.int64))
"""An open container on the stack: its first byte, what follows it, how many values it has, the number of the next one,
and its type."""
FRAME_BYTES = FRAME.itemsize

_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY, _LITERAL = 0, 1, 2, 3, 4
_INT16, _UINT16, _INT32, _UINT32, _INT64, _UINT64, _DOUBLE, _STRING, _OPAQUE = 5, 6, 7, 8, 9, 10, 11, 12, 15

_NULL, _TRUE, _FALSE = (int.from_bytes(word, "little") for word in (b"null", b"true", b"false"))
_COMMA, _COLON = (int.from_bytes(mark, "little") for mark in (b", ", b": "))


@inline
def _uint16_at(at):
    return load_byte(at) | load_byte(at + 1) << 8


@inline
def _number(at, width):
    """An unsigned number of 2 or 4 bytes."""
    return _uint16_at(at) if width == 2 else np.int64(load_i32(at)) & 0xFFFFFFFF


@inline
def _string_length(at, end):
    """Read a length of 7 bits a byte, the lowest first, the top bit set in all but the last: (length, bytes that it
    takes); 0 bytes if it is cut off or has more than five."""
    length = 0
    for i in range(min(5, end - at)):
        byte = load_byte(at + i)
        length |= (byte & 127) << (7 * i)
        if byte < 128:
            return length, i + 1
    return length, 0


@inline
def _put_literal(which, to):
    """Write null, true or false, and up to four bytes behind it."""
    store_i64(to, _NULL if which == 0 else _TRUE if which == 1 else _FALSE)
    return to + (5 if which == 2 else 4)


@inline
def _scalar_size(kind, at, end):
    """Return how many bytes the scalar of this type at at:end has, or a Status."""
    if kind == _STRING or kind == _OPAQUE:
        head = 1 if kind == _OPAQUE else 0
        length, taken = _string_length(at + head, end)
        size = head + taken + length
        return size if taken and size <= end - at else Status.TRUNCATED
    if kind == _LITERAL:
        size = 1
    elif kind == _DOUBLE:
        size = 8
    elif _INT16 <= kind <= _UINT64:
        size = 2 << (kind - _INT16 >> 1)
    else:
        return Status.UNKNOWN_TYPE
    return size if size <= end - at else Status.TRUNCATED


@inline
def _put_scalar(kind, at, size, limit, to):
    """Write the scalar of `size` bytes at `at`; returns where its text ends, or a Status."""
    if kind == _LITERAL:
        which = load_byte(at)
        return _put_literal(which, to) if which <= 2 else Status.BAD_LITERAL
    if kind == _STRING:
        _, taken = _string_length(at, at + size)
        return put_string(at + taken, at + size, limit, to)
    if kind == _OPAQUE:
        _, taken = _string_length(at + 1, at + size)
        to = put_opaque(load_byte(at), at + 1 + taken, at + size, to)
        return to if to >= 0 else Status.BAD_OPAQUE
    if kind == _DOUBLE:
        bits = load_i64(at)
        if bits >> 52 & 0x7FF == 0x7FF:  # infinity or no number: JSON has neither
            return Status.BAD_DOUBLE
        return put_double(to, np.uint64(bits))
    number = load_i64(at) if size == 8 else np.int64(load_i32(at)) if size == 4 else _uint16_at(at)
    if kind == _INT16:
        number -= (number & 0x8000) << 1
    elif kind == _UINT32:
        number &= 0xFFFFFFFF
    return put_unsigned(to, np.uint64(number)) if kind == _UINT64 else put_signed(to, number)


@inline
def _in_entry(kind, width):
    """Return whether a value of this type is in its entry itself, whose offset has `width` bytes."""
    return (_LITERAL <= kind <= _UINT16) or (width == 4 and (kind == _INT32 or kind == _UINT32))


@inline
def _is_object(kind):
    return kind <= _LARGE_OBJECT


@inline
def _width(kind):
    """Bytes of a number or an offset in a container of this type."""
    return 4 if kind & 1 else 2


@inline
def _open(kind, start, end, frame):
    """Read the head of the container at start:end into a frame of the stack; returns the bytes of the head and of all
    entries, or a Status."""
    width = _width(kind)
    if end - start < 2 * width:
        return Status.TRUNCATED
    count, size = _number(start, width), _number(start + width, width)
    table = 2 * width + count * (1 + width) + (count * (width + 2) if _is_object(kind) else 0)
    if size > end - start or table > size:
        return Status.TRUNCATED
    frame.start, frame.end, frame.n_values, frame.next, frame.kind = start, start + size, count, 0, kind
    return table


@inline
def put_document(at, end, limit, to, stack):
    """Write the text of the document at at:end; returns where it ends, or a Status. Bytes up to `limit` may be read.
    stack: address of MAX_DEPTH FRAMEs."""
    kind, at = load_byte(at), at + 1
    left = end - at  # bytes of the document that no part has claimed yet
    inline = False
    depth, frame = 0, frame_at(stack, 0)  # of the innermost container
    while True:
        if kind <= _LARGE_ARRAY:
            used = _open(kind, at, end, frame_at(stack, depth)) if depth < MAX_DEPTH else Status.TOO_DEEP
        else:
            used = _scalar_size(kind, at, end)
        if used < 0:
            return used
        left -= 0 if inline else used
        if left < 0:
            return Status.OVERLAP
        if kind <= _LARGE_ARRAY:
            store_u8(to, 123 if _is_object(kind) else 91)  # '{' or '['
            to += 1
            depth += 1
        else:
            to = _put_scalar(kind, at, used, limit, to)
            if to < 0:
                return to
        while depth:
            frame = frame_at(stack, depth - 1)
            if frame.next < frame.n_values:
                break
            store_u8(to, 125 if _is_object(frame.kind) else 93)
            to += 1
            depth -= 1
        if depth == 0:
            return to
        index = frame.next
        frame.next = index + 1
        if index:
            store_i16(to, _COMMA)
            to += 2
        end, width = frame.end, _width(frame.kind)
        entry = frame.start + 2 * width
        if _is_object(frame.kind):
            key_entry = entry + index * (width + 2)
            key, length = frame.start + _number(key_entry, width), _uint16_at(key_entry + width)
            if length > end - key:
                return Status.TRUNCATED
            left -= length
            if left < 0:
                return Status.OVERLAP
            to = put_string(key, key + length, limit, to)
            store_i16(to, _COLON)
            to += 2
            entry += frame.n_values * (width + 2)
        entry += index * (1 + width)
        kind = load_byte(entry)
        inline = _in_entry(kind, width)
        at = entry + 1 if inline else frame.start + _number(entry + 1, width)


@kernel
def documents_to_text(data, offsets, validity, row, out, to, out_offsets):
    """Write the text of the documents from number `row` on to out[to:], as long as there is room for it.

    data: uint8; offsets: int64[n + 1] into it; validity: bool[n], False for NULL (no text); out: uint8; out_offsets:
    int64[n + 1], of which those behind the rows done are written. Returns (the first row not done: n when all are, end
    of the text, the error in that row). DONE there means that there was no room for it."""
    frames = np.empty(MAX_DEPTH * FRAME_BYTES, np.uint8)
    base, limit, room = address_of(data), address_of(data) + len(data), address_of(out)
    while row < len(validity):
        if validity[row]:
            at, end = offsets[row], offsets[row + 1]
            if len(out) - to < TEXT_BYTES_PER_BYTE * (end - at) + TEXT_BYTES_MORE:
                return row, to, np.int64(Status.DONE)
            if at == end:  # written by IGNORE or in an old table; the server reads it as JSON null
                written = _put_literal(0, room + to)
            else:
                written = put_document(base + at, base + end, limit, room + to, address_of(frames))
            if written < 0:
                return row, to, written
            to = written - room
        row += 1
        out_offsets[row] = to
    return row, to, np.int64(Status.DONE)
