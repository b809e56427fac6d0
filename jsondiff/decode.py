"""Binary JSON to documents. The format is in binary_kernel.py.

Nothing in a document is believed: every read is checked against the end of its container, and members must be in
stored order. A document whose parts have more bytes than itself is refused, so values that share bytes cannot make more
work or objects than the document is long.
"""

import math
import struct

from jsondiff.values import (
    DATE,
    DATETIME,
    DECIMAL,
    INVALID_BINARY,
    MAX_DEPTH,
    TIME,
    TIMESTAMP,
    TOO_DEEP,
    Document,
    DocumentError,
    Opaque,
    Unsigned,
)

_LARGE_ARRAY, _LITERAL, _DOUBLE, _STRING, _OPAQUE = 3, 4, 11, 12, 15
_INT16, _UINT16, _INT32, _UINT32, _UINT64 = 5, 6, 7, 8, 10
_LITERALS = (None, True, False)
_HEAD, _KEY, _VALUE = {2: "<HH", 4: "<II"}, {2: "<HH", 4: "<IH"}, {2: "<BH", 4: "<BI"}
_WITH_MEANING = (DECIMAL, DATE, TIME, DATETIME, TIMESTAMP)


def decode(document: bytes) -> Document:
    """The value of a binary document, as values.py has it. A document without bytes is JSON's null, as to the server.

    Raises DocumentError: 3157 if it is nested deeper than 100 levels, else 3142. binary.to_text accepts the same
    documents."""
    if not document:
        return None
    return _Document(document).value(document[0], 1, len(document), 0)


class _Document:
    """The bytes of a document; `left` of them no part has claimed yet."""

    def __init__(self, data: bytes) -> None:
        self.data, self.left = data, len(data) - 1

    def value(self, kind: int, at: int, end: int, depth: int) -> Document:
        """The value of this type at data[at:end]; bytes behind it are ignored."""
        if kind <= _LARGE_ARRAY:
            return self._container(kind, at, end, depth)
        if kind == _STRING:
            return self._utf8(*self._measured(at, end))
        if kind == _OPAQUE:
            start, stop = self._measured(self._claim(at, 1, end), end)
            value = Opaque(self.data[at], self.data[start:stop])
            if value.kind in _WITH_MEANING:
                value.text()  # raises an error if the bytes are malformed
            return value
        if _INT16 <= kind <= _UINT64:
            size = 2 << (kind - _INT16) // 2
        elif kind == _LITERAL or kind == _DOUBLE:
            size = 1 if kind == _LITERAL else 8
        else:
            raise self._error("unknown value type", at)
        return self._scalar(kind, self.data[at : self._claim(at, size, end)], at)

    def _claim(self, at: int, size: int, end: int) -> int:
        """Claim a part of this size at data[at:end]; returns where it ends."""
        if size > end - at:
            raise self._error("a length or offset points past the end of its container", at)
        self.left -= size
        if self.left < 0:
            raise self._error("values overlap", at)
        return at + size

    def _scalar(self, kind: int, data: bytes, at: int) -> bool | int | float | None:
        if kind == _LITERAL:
            if data[0] > 2:
                raise self._error("a literal is neither null, true nor false", at)
            return _LITERALS[data[0]]
        if kind == _DOUBLE:
            (value,) = struct.unpack("<d", data)
            if not math.isfinite(value):
                raise self._error("a double is infinite or not a number", at)
            return float(value)
        if kind % 2:
            return int.from_bytes(data, "little", signed=True)
        return Unsigned(int.from_bytes(data, "little"))

    def _measured(self, at: int, end: int) -> tuple[int, int]:
        """Start and end of bytes that follow their length: 7 bits a byte, the lowest first, the top bit set in all but
        the last of at most five."""
        length, start = 0, at
        for shift in range(0, 35, 7):
            start = self._claim(start, 1, end)
            byte = self.data[start - 1]
            length |= (byte & 127) << shift
            if byte < 128:
                return start, self._claim(start, length, end)
        raise self._error("a length or offset points past the end of its container", at)

    def _utf8(self, start: int, stop: int) -> str:
        try:
            return self.data[start:stop].decode()
        except UnicodeDecodeError as error:
            raise self._error("a string is not UTF-8", start + error.start) from None

    def _container(self, kind: int, start: int, end: int, depth: int) -> Document:
        if depth == MAX_DEPTH:
            raise DocumentError(f"nested deeper than {MAX_DEPTH} levels", TOO_DEEP, start)
        width, is_object = 4 if kind & 1 else 2, kind < 2
        first = self._claim(start, 2 * width, end)
        count, size = struct.unpack_from(_HEAD[width], self.data, start)
        if size > end - start:
            raise self._error("a length or offset points past the end of its container", start)
        end = start + size
        keys = self._keys(start, first, end, count, width) if is_object else []
        first += count * (width + 2) if is_object else 0
        stop = self._claim(first, count * (1 + width), end)
        values: list[Document] = []
        for part, word in struct.iter_unpack(_VALUE[width], self.data[first:stop]):
            if _LITERAL <= part <= _UINT16 or (width == 4 and _INT32 <= part <= _UINT32):
                size = 1 if part == _LITERAL else 2 if part <= _UINT16 else 4
                values.append(self._scalar(part, (word & (1 << 8 * size) - 1).to_bytes(size, "little"), first))
            else:
                values.append(self.value(part, start + word, end, depth + 1))
        return dict(zip(keys, values)) if is_object else values

    def _keys(self, start: int, first: int, end: int, count: int, width: int) -> list[str]:
        keys, previous = [], (-1, b"")
        stop = self._claim(first, count * (width + 2), end)
        for offset, length in struct.iter_unpack(_KEY[width], self.data[first:stop]):
            at = start + offset
            name = self.data[at : self._claim(at, length, end)]
            if previous >= (length, name):
                raise self._error("members are not in order", at)
            previous = length, name
            keys.append(self._utf8(at, at + length))
        return keys

    def _error(self, what: str, at: int) -> DocumentError:
        return DocumentError(what, INVALID_BINARY, at)
