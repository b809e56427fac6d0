"""Documents to binary JSON, byte for byte as MySQL writes them (serialize_json_value in its sql-common/json_binary.cc).

The format is in binary_kernel.py. A container has the small format if it has at most 65535 bytes with all that it
contains, else the large one, whatever the format of containers in it. An integer takes the fewest of 2, 4 and 8 bytes.
"""

import math
import struct

from jsondiff.values import (
    INVALID_BINARY,
    KEY_TOO_BIG,
    MAX_DEPTH,
    TOO_DEEP,
    VALUE_TOO_BIG,
    Document,
    DocumentError,
    Opaque,
    Unsigned,
    utf8,
)

_SMALL_MAX, _LARGE_MAX, _KEY_MAX = 0xFFFF, 0xFFFFFFFF, 0xFFFF
_OBJECT, _ARRAY, _LITERAL, _INT16, _UINT16, _DOUBLE, _STRING, _OPAQUE = 0, 2, 4, 5, 6, 11, 12, 15
_LITERALS = {None: b"\0", True: b"\1", False: b"\2"}
_IN_ENTRY = {2: (4, 5, 6), 4: (4, 5, 6, 7, 8)}  # types whose values are in their entry, by the bytes of an offset
_SIGNED = (5, 7, 9)
_HEAD, _KEY, _VALUE = {2: "<HH", 4: "<II"}, {2: "<HH", 4: "<IH"}, {2: "<BH", 4: "<BI"}


def encode(value: Document) -> bytes:
    """The binary document of a value: its type in one byte, then the value.

    Raises DocumentError with MySQL's number if a document is nested deeper than 100 levels, a key is longer than 65535
    bytes, a container larger than 4 GB, a number not one of JSON's, or if text has surrogates; TypeError for a value
    that no document has."""
    kind, data = _part(value, 0)
    return bytes([kind]) + data


def _part(value: Document, depth: int) -> tuple[int, bytes]:
    """The type and the bytes of a value."""
    match value:
        case None | True | False:
            return _LITERAL, _LITERALS[value]
        case str():
            text = utf8(value)
            return _STRING, _length(len(text)) + text
        case int():
            return _integer(value)
        case float():
            if not math.isfinite(value):
                raise DocumentError("a double is infinite or not a number", INVALID_BINARY)
            return _DOUBLE, struct.pack("<d", value)
        case dict() | list() if depth == MAX_DEPTH:
            raise DocumentError(f"nested deeper than {MAX_DEPTH} levels", TOO_DEEP)
        case list():
            return _container(_ARRAY, [], [_part(element, depth + 1) for element in value])
        case dict():
            members = sorted(((utf8(key), element) for key, element in value.items()), key=_stored_order)
            if members and len(members[-1][0]) > _KEY_MAX:
                raise DocumentError(f"a key is longer than {_KEY_MAX} bytes", KEY_TOO_BIG)
            return _container(_OBJECT, [key for key, _ in members], [_part(e, depth + 1) for _, e in members])
        case Opaque():
            return _OPAQUE, bytes([value.kind]) + _length(len(value.data)) + value.data
    raise TypeError(f"{type(value).__name__} is no type of JSON documents")


def _stored_order(member: tuple[bytes, object]) -> tuple[int, bytes]:
    return len(member[0]), member[0]


def _integer(value: int) -> tuple[int, bytes]:
    unsigned = isinstance(value, Unsigned) or value > 0x7FFFFFFFFFFFFFFF
    for step, size in enumerate((2, 4, 8)):
        bits = 8 * size - (0 if unsigned else 1)
        if (0 if unsigned else -1 << bits) <= value < 1 << bits:
            return (_UINT16 if unsigned else _INT16) + 2 * step, value.to_bytes(size, "little", signed=not unsigned)
    raise DocumentError("an integer does not fit into 64 bits", INVALID_BINARY)


def _length(size: int) -> bytes:
    """A length of 7 bits a byte, the lowest first, the top bit set in all but the last."""
    if size > _LARGE_MAX:
        raise DocumentError(f"a value is larger than {_LARGE_MAX} bytes", VALUE_TOO_BIG)
    out = bytearray()
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    out.append(size)
    return bytes(out)


def _container(kind: int, keys: list[bytes], parts: list[tuple[int, bytes]]) -> tuple[int, bytes]:
    """The container of these parts; keys are empty for an array."""
    for width, largest in ((2, _SMALL_MAX), (4, _LARGE_MAX)):
        in_entry = _IN_ENTRY[width]
        table = 2 * width + len(keys) * (width + 2) + len(parts) * (1 + width)
        size = table + sum(map(len, keys)) + sum(len(data) for part, data in parts if part not in in_entry)
        if size <= largest:
            break
    else:
        raise DocumentError(f"a value is larger than {_LARGE_MAX} bytes", VALUE_TOO_BIG)
    out = [struct.pack(_HEAD[width], len(parts), size)]
    offset, put = table, struct.Struct(_KEY[width]).pack
    for key in keys:
        out.append(put(offset, len(key)))
        offset += len(key)
    put, tail, largest = struct.Struct(_VALUE[width]).pack, keys, (1 << 8 * width) - 1
    for part, data in parts:
        if part in in_entry:  # a sign fills the whole entry
            out.append(put(part, int.from_bytes(data, "little", signed=part in _SIGNED) & largest))
        else:
            out.append(put(part, offset))
            tail.append(data)
            offset += len(data)
    return kind + (width == 4), b"".join(out + tail)
