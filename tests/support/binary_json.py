"""A small encoder of binary JSON for tests: plain Python, one function a thing, nothing shared with what it tests."""

import struct


class Opaque:
    """A value of a column type that JSON has no type for."""

    def __init__(self, kind: int, data: bytes):
        self.kind, self.data = kind, data


def encode(value, large: bool = False) -> bytes:
    """The document of a Python value. Containers are in the large format if `large` is set."""
    kind, data = _parts(value, large)
    return bytes([kind]) + data


def _parts(value, large: bool) -> tuple[int, bytes]:
    if value is None or value is True or value is False:
        return 4, bytes([(None, True, False).index(value)])
    if isinstance(value, int):
        for kind, form in ((5, "<h"), (6, "<H"), (7, "<i"), (8, "<I"), (9, "<q"), (10, "<Q")):
            try:
                return kind, struct.pack(form, value)
            except struct.error:
                pass
        raise ValueError(f"{value} has more than 64 bits")
    if isinstance(value, float):
        return 11, struct.pack("<d", value)
    if isinstance(value, str):
        return 12, length(len(value.encode())) + value.encode()
    if isinstance(value, Opaque):
        return 15, bytes([value.kind]) + length(len(value.data)) + value.data
    if isinstance(value, dict):
        keys = sorted((key.encode() for key in value), key=lambda key: (len(key), key))
        return (1 if large else 0), _container([value[key.decode()] for key in keys], keys, large)
    return (3 if large else 2), _container(value, None, large)


def _container(values: list, keys: list[bytes] | None, large: bool) -> bytes:
    word = "<I" if large else "<H"
    width = struct.calcsize(word)
    table = 2 * width + (len(keys) * (width + 2) if keys is not None else 0) + len(values) * (1 + width)
    entries, tail = b"", b""
    for key in keys or ():
        entries += struct.pack(word, table + len(tail)) + struct.pack("<H", len(key))
        tail += key
    for value in values:
        kind, data = _parts(value, large)
        if kind in (4, 5, 6) or (large and kind in (7, 8)):
            entries += bytes([kind]) + data.ljust(width, b"\0")
        else:
            entries += bytes([kind]) + struct.pack(word, table + len(tail))
            tail += data
    return struct.pack(word, len(values)) + struct.pack(word, table + len(tail)) + entries + tail


def length(size: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    out = b""
    while size > 127:
        out, size = out + bytes([size & 127 | 128]), size >> 7
    return out + bytes([size])
