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

from jsondiff.compiling import inline, kernel
from jsondiff.numbers import put_double, put_signed, put_unsigned
from jsondiff.opaque import put_opaque

MAX_DEPTH = 100  # JSON_DOCUMENT_MAX_DEPTH of MySQL
# A byte of a document becomes at most six of text (\u0001); scalars, the widest of which is a double in an array with
# 36 bytes of text for 11, stay below that once there is room for one more.
TEXT_BYTES_PER_BYTE, TEXT_BYTES_MORE = 6, 128

TRUNCATED, UNKNOWN_TYPE, BAD_LITERAL, TOO_DEEP, OVERLAP, BAD_DOUBLE, BAD_OPAQUE = range(1, 8)

_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY, _LITERAL = 0, 1, 2, 3, 4
_INT16, _UINT16, _INT32, _UINT32, _INT64, _UINT64, _DOUBLE, _STRING, _OPAQUE = 5, 6, 7, 8, 9, 10, 11, 12, 15

# The columns of the stack of open containers.
_START, _END, _COUNT, _NEXT, _IS_OBJECT, _WIDTH = range(6)

_LITERALS = np.frombuffer(b"null true false", np.uint8)
_LITERAL_AT, _LITERAL_END = np.array([0, 5, 10]), np.array([4, 9, 15])
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
_SHORT_ESCAPES = np.zeros(256, np.uint8)  # what follows the backslash
for _byte, _letter in zip(b'"\\\b\f\n\r\t', b'"\\bfnrt'):
    _SHORT_ESCAPES[_byte] = _letter


@inline
def _unsigned(data, at, width):
    value = np.uint64(0)
    for i in range(width - 1, -1, -1):
        value = value << np.uint64(8) | np.uint64(data[at + i])
    return value


@inline
def _number(data, at, width):
    return np.int64(_unsigned(data, at, width))


@inline
def _signed(data, at, width):
    shift = np.int64(64 - 8 * width)
    return _number(data, at, width) << shift >> shift


@inline
def _string_length(data, at, end):
    """A length of 7 bits a byte, the lowest first, the top bit set in all but the last: (length, bytes that it takes).
    No bytes where it is cut off or has more than five."""
    length = np.int64(0)
    for i in range(min(5, end - at)):
        byte = np.int64(data[at + i])
        length |= (byte & 127) << (7 * i)
        if byte < 128:
            return length, i + 1
    return length, 0


@inline
def _put_literal(which, out, to):
    for i in range(_LITERAL_AT[which], _LITERAL_END[which]):
        out[to] = _LITERALS[i]
        to += 1
    return to


@inline
def put_string(data, at, end, out, to):
    out[to] = 34  # '"'
    to += 1
    text, escapes = data[at:end], np.uint8(0)
    for byte in text:  # a loop of its own, and slices: this one and the copy become vector instructions
        escapes |= np.uint8((byte < 32) | (byte == 34) | (byte == 92))
    if escapes == 0:
        room = out[to : to + len(text)]
        for i in range(len(text)):
            room[i] = text[i]
        to += len(text)
    else:
        for byte in text:
            if _SHORT_ESCAPES[byte]:
                out[to], out[to + 1] = 92, _SHORT_ESCAPES[byte]
                to += 2
            elif byte < 32:
                out[to], out[to + 1], out[to + 2], out[to + 3] = 92, 117, 48, 48  # '\u00'
                out[to + 4], out[to + 5] = _HEX[byte >> 4], _HEX[byte & 15]
                to += 6
            else:
                out[to] = byte
                to += 1
    out[to] = 34
    return to + 1


@inline
def _scalar_size(data, kind, at, end):
    """Bytes of the scalar of this type at data[at:end], or an error's code as a negative number."""
    if kind == _STRING or kind == _OPAQUE:
        head = 1 if kind == _OPAQUE else 0
        length, taken = _string_length(data, at + head, end)
        size = head + taken + length
        return size if taken and size <= end - at else -TRUNCATED
    if kind == _LITERAL:
        size = 1
    elif kind == _INT16 or kind == _UINT16:
        size = 2
    elif kind == _INT32 or kind == _UINT32:
        size = 4
    elif kind == _INT64 or kind == _UINT64 or kind == _DOUBLE:
        size = 8
    else:
        return -UNKNOWN_TYPE
    return size if size <= end - at else -TRUNCATED


@inline
def _put_scalar(data, kind, at, size, out, to):
    """Writes the scalar of `size` bytes at data[at:]; returns the end of its text, or an error's code as a negative."""
    if kind == _LITERAL:
        which = np.int64(data[at])
        return _put_literal(which, out, to) if which <= 2 else -BAD_LITERAL
    if kind == _STRING:
        _, taken = _string_length(data, at, at + size)
        return put_string(data, at + taken, at + size, out, to)
    if kind == _OPAQUE:
        _, taken = _string_length(data, at + 1, at + size)
        to = put_opaque(data, np.int64(data[at]), at + 1 + taken, at + size, out, to)
        return to if to >= 0 else -BAD_OPAQUE
    if kind == _DOUBLE:
        bits = _unsigned(data, at, 8)
        if bits >> np.uint64(52) & np.uint64(0x7FF) == np.uint64(0x7FF):  # infinity or no number: JSON has neither
            return -BAD_DOUBLE
        return put_double(out, to, bits)
    if kind == _UINT16 or kind == _UINT32 or kind == _UINT64:
        return put_unsigned(out, to, _unsigned(data, at, size))
    return put_signed(out, to, _signed(data, at, size))


@inline
def _in_entry(kind, width):
    """Whether a value of this type stands in its entry, whose offset has `width` bytes."""
    return (_LITERAL <= kind <= _UINT16) or (width == 4 and (kind == _INT32 or kind == _UINT32))


@inline
def _open(data, kind, start, end, stack, depth):
    """Reads the head of the container at data[start:end] into stack[depth]; returns the bytes of the head and of all
    entries, or an error's code as a negative number."""
    if depth == MAX_DEPTH:
        return -TOO_DEEP
    width = 4 if kind == _LARGE_OBJECT or kind == _LARGE_ARRAY else 2
    if end - start < 2 * width:
        return -TRUNCATED
    is_object = kind == _SMALL_OBJECT or kind == _LARGE_OBJECT
    count, size = _number(data, start, width), _number(data, start + width, width)
    table = 2 * width + count * (1 + width) + (count * (width + 2) if is_object else 0)
    if size > end - start or table > size:
        return -TRUNCATED
    frame = stack[depth]
    frame[_START], frame[_END], frame[_COUNT], frame[_NEXT] = start, start + size, count, 0
    frame[_IS_OBJECT], frame[_WIDTH] = is_object, width
    return table


@inline
def put_document(data, at, end, out, to, stack):
    """One document at data[at:end]; returns the end of its text, or an error's code as a negative number."""
    kind, at = np.int64(data[at]), at + 1
    left = end - at  # bytes of the document that no part has claimed yet
    inline = False
    depth = 0
    while True:
        if kind <= _LARGE_ARRAY:
            used = _open(data, kind, at, end, stack, depth)
        else:
            used = _scalar_size(data, kind, at, end)
        if used < 0:
            return used
        left -= 0 if inline else used
        if left < 0:
            return -OVERLAP
        if kind <= _LARGE_ARRAY:
            out[to] = 123 if stack[depth, _IS_OBJECT] else 91  # '{' or '['
            to += 1
            depth += 1
        else:
            to = _put_scalar(data, kind, at, used, out, to)
            if to < 0:
                return to
        while depth and stack[depth - 1, _NEXT] == stack[depth - 1, _COUNT]:
            depth -= 1
            out[to] = 125 if stack[depth, _IS_OBJECT] else 93
            to += 1
        if depth == 0:
            return to
        # The next entry of the innermost container.
        frame = stack[depth - 1]
        start, width, index = frame[_START], frame[_WIDTH], frame[_NEXT]
        end = frame[_END]
        frame[_NEXT] += 1
        if index:
            out[to], out[to + 1] = 44, 32  # ', '
            to += 2
        entry = start + 2 * width
        if frame[_IS_OBJECT]:
            key_entry = entry + index * (width + 2)
            key, length = start + _number(data, key_entry, width), _number(data, key_entry + width, 2)
            if length > end - key:
                return -TRUNCATED
            left -= length
            if left < 0:
                return -OVERLAP
            to = put_string(data, key, key + length, out, to)
            out[to], out[to + 1] = 58, 32  # ': '
            to += 2
            entry += frame[_COUNT] * (width + 2)
        entry += index * (1 + width)
        kind = np.int64(data[entry])
        inline = _in_entry(kind, width)
        at = entry + 1 if inline else start + _number(data, entry + 1, width)


@kernel
def documents_to_text(data, offsets, validity, row, out, to, out_offsets):
    """Writes the text of the documents from number `row` on to out[to:], as long as there is room for it.

    data: uint8; offsets: int64[n + 1] into it; validity: bool[n], False for NULL (no text); out: uint8; out_offsets:
    int64[n + 1], of which those behind the rows done are written. Returns (the first row not done: n when all are,
    end of the text, 0 or the error's code for that row). A row without an error was not done for lack of room."""
    stack = np.empty((MAX_DEPTH, 6), np.int64)
    while row < len(validity):
        if validity[row]:
            at, end = offsets[row], offsets[row + 1]
            if len(out) - to < TEXT_BYTES_PER_BYTE * (end - at) + TEXT_BYTES_MORE:
                return row, to, 0
            if at == end:  # how the server reads what IGNORE or an old table left behind: as JSON null
                written = _put_literal(0, out, to)
            else:
                written = put_document(data, at, end, out, to, stack)
            if written < 0:
                return row, to, -written
            to = written
        row += 1
        out_offsets[row] = to
    return row, to, 0
