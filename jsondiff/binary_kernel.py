# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that turns binary JSON documents into text.

    document     = type (1 byte), value
    array        = count, size, value entry × count, values
    object       = count, size, key entry × count, value entry × count, keys, values
    key entry    = offset, length (2 bytes)          value entry = type (1 byte), offset or the value itself
    count, size and offsets are 2 bytes, in the large format 4; offsets count from the container's first byte;
    size is the container's bytes. Literals and 16-bit integers, in the large format 32-bit ones too, are in the entry.

All little-endian (json_binary.h in MySQL's sql-common). Nothing in a document is believed: every read is checked
against the end of its container, and a document whose parts add up to more bytes than it has is refused, so that values
which point to the same bytes again and again cannot make more work than the document is long.
"""

import numpy as np

from jsondiff.numbers import put_double, put_signed, put_unsigned
from jsondiff.opaque import put_opaque
from jsondiff.string_kernel import put_string
from keysearch.addresses import address_of
from keysearch.memory import inline, kernel, load_byte, load_i32, load_i64, store_i16, store_i64, store_u8

MAX_DEPTH = 100  # JSON_DOCUMENT_MAX_DEPTH of MySQL
# A byte of a document becomes at most six of text (\u0001); scalars, the widest of which is a double in an array with
# 36 bytes of text for 11, stay below that once there is room for one more, and for what put_string writes too much.
TEXT_BYTES_PER_BYTE, TEXT_BYTES_MORE = 6, 128

TRUNCATED, UNKNOWN_TYPE, BAD_LITERAL, TOO_DEEP, OVERLAP, BAD_DOUBLE, BAD_OPAQUE = range(1, 8)

_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY, _LITERAL = 0, 1, 2, 3, 4
_INT16, _UINT16, _INT32, _UINT32, _INT64, _UINT64, _DOUBLE, _STRING, _OPAQUE = 5, 6, 7, 8, 9, 10, 11, 12, 15

# The fields of an open container on the stack.
_START, _END, _COUNT, _NEXT, _KIND = range(0, 40, 8)
_FRAME_BYTES = 40

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
    """A length of 7 bits a byte, the lowest first, the top bit set in all but the last: (length, bytes that it takes).
    No bytes where it is cut off or has more than five."""
    length = 0
    for i in range(min(5, end - at)):
        byte = load_byte(at + i)
        length |= (byte & 127) << (7 * i)
        if byte < 128:
            return length, i + 1
    return length, 0


@inline
def _put_literal(which, to):
    """Writes null, true or false, and up to three bytes behind it."""
    store_i64(to, _NULL if which == 0 else _TRUE if which == 1 else _FALSE)
    return to + (5 if which == 2 else 4)


@inline
def _scalar_size(kind, at, end):
    """Bytes of the scalar of this type at at:end, or an error's code as a negative number."""
    if kind == _STRING or kind == _OPAQUE:
        head = 1 if kind == _OPAQUE else 0
        length, taken = _string_length(at + head, end)
        size = head + taken + length
        return size if taken and size <= end - at else -TRUNCATED
    if kind == _LITERAL:
        size = 1
    elif kind == _DOUBLE:
        size = 8
    elif _INT16 <= kind <= _UINT64:
        size = 2 << (kind - _INT16 >> 1)
    else:
        return -UNKNOWN_TYPE
    return size if size <= end - at else -TRUNCATED


@inline
def _put_scalar(kind, at, size, limit, to):
    """Writes the scalar of `size` bytes at `at`; returns the end of its text, or an error's code as a negative."""
    if kind == _LITERAL:
        which = load_byte(at)
        return _put_literal(which, to) if which <= 2 else -BAD_LITERAL
    if kind == _STRING:
        _, taken = _string_length(at, at + size)
        return put_string(at + taken, at + size, limit, to)
    if kind == _OPAQUE:
        _, taken = _string_length(at + 1, at + size)
        to = put_opaque(load_byte(at), at + 1 + taken, at + size, to)
        return to if to >= 0 else -BAD_OPAQUE
    if kind == _DOUBLE:
        bits = load_i64(at)
        if bits >> 52 & 0x7FF == 0x7FF:  # infinity or no number: JSON has neither
            return -BAD_DOUBLE
        return put_double(to, np.uint64(bits))
    number = load_i64(at) if size == 8 else np.int64(load_i32(at)) if size == 4 else _uint16_at(at)
    if kind == _INT16:
        number -= (number & 0x8000) << 1
    elif kind == _UINT32:
        number &= 0xFFFFFFFF
    return put_unsigned(to, np.uint64(number)) if kind == _UINT64 else put_signed(to, number)


@inline
def _in_entry(kind, width):
    """Whether a value of this type stands in its entry, whose offset has `width` bytes."""
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
    """Reads the head of the container at start:end into a frame of the stack; returns the bytes of the head and of all
    entries, or an error's code as a negative number."""
    width = _width(kind)
    if end - start < 2 * width:
        return -TRUNCATED
    count, size = _number(start, width), _number(start + width, width)
    table = 2 * width + count * (1 + width) + (count * (width + 2) if _is_object(kind) else 0)
    if size > end - start or table > size:
        return -TRUNCATED
    store_i64(frame + _START, start)
    store_i64(frame + _END, start + size)
    store_i64(frame + _COUNT, count)
    store_i64(frame + _NEXT, 0)
    store_i64(frame + _KIND, kind)
    return table


@inline
def put_document(at, end, limit, to, stack):
    """One document at at:end; returns the end of its text, or an error's code as a negative number. Bytes up to `limit`
    may be read. stack: MAX_DEPTH frames."""
    kind, at = load_byte(at), at + 1
    left = end - at  # bytes of the document that no part has claimed yet
    inline = False
    depth, frame = 0, stack - _FRAME_BYTES  # of the innermost container
    while True:
        if kind <= _LARGE_ARRAY:
            used = _open(kind, at, end, frame + _FRAME_BYTES) if depth < MAX_DEPTH else -TOO_DEEP
        else:
            used = _scalar_size(kind, at, end)
        if used < 0:
            return used
        left -= 0 if inline else used
        if left < 0:
            return -OVERLAP
        if kind <= _LARGE_ARRAY:
            store_u8(to, 123 if _is_object(kind) else 91)  # '{' or '['
            to += 1
            depth += 1
            frame += _FRAME_BYTES
        else:
            to = _put_scalar(kind, at, used, limit, to)
            if to < 0:
                return to
        while depth and load_i64(frame + _NEXT) == load_i64(frame + _COUNT):
            store_u8(to, 125 if _is_object(load_i64(frame + _KIND)) else 93)
            to += 1
            depth -= 1
            frame -= _FRAME_BYTES
        if depth == 0:
            return to
        # The next entry of the innermost container.
        start, end, index = load_i64(frame + _START), load_i64(frame + _END), load_i64(frame + _NEXT)
        store_i64(frame + _NEXT, index + 1)
        if index:
            store_i16(to, _COMMA)
            to += 2
        width = _width(load_i64(frame + _KIND))
        entry = start + 2 * width
        if _is_object(load_i64(frame + _KIND)):
            key_entry = entry + index * (width + 2)
            key, length = start + _number(key_entry, width), _uint16_at(key_entry + width)
            if length > end - key:
                return -TRUNCATED
            left -= length
            if left < 0:
                return -OVERLAP
            to = put_string(key, key + length, limit, to)
            store_i16(to, _COLON)
            to += 2
            entry += load_i64(frame + _COUNT) * (width + 2)
        entry += index * (1 + width)
        kind = load_byte(entry)
        inline = _in_entry(kind, width)
        at = entry + 1 if inline else start + _number(entry + 1, width)


@kernel
def documents_to_text(data, offsets, validity, row, out, to, out_offsets):
    """Writes the text of the documents from number `row` on to out[to:], as long as there is room for it.

    data: uint8; offsets: int64[n + 1] into it; validity: bool[n], False for NULL (no text); out: uint8; out_offsets:
    int64[n + 1], of which those behind the rows done are written. Returns (the first row not done: n when all are,
    end of the text, 0 or the error's code for that row). A row without an error was not done for lack of room."""
    frames = np.empty(MAX_DEPTH * _FRAME_BYTES, np.uint8)
    base, limit, room = address_of(data), address_of(data) + len(data), address_of(out)
    while row < len(validity):
        if validity[row]:
            at, end = offsets[row], offsets[row + 1]
            if len(out) - to < TEXT_BYTES_PER_BYTE * (end - at) + TEXT_BYTES_MORE:
                return row, to, 0
            if at == end:  # how the server reads what IGNORE or an old table left behind: as JSON null
                written = _put_literal(0, room + to)
            else:
                written = put_document(base + at, base + end, limit, room + to, address_of(frames))
            if written < 0:
                return row, to, -written
            to = written - room
        row += 1
        out_offsets[row] = to
    return row, to, 0
