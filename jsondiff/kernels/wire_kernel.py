# mypy: allow-untyped-defs, no-check-untyped-defs
"""The wire format of diffs, for kernels.

    column value = diff*                      (after its length of four bytes)
    diff         = operation (1 byte), path length, path [, data length, data]
    length       = 1 byte up to 250; or 252, 253, 254 and then 2, 3, 8 bytes

All little-endian. The data of a replace or an insert is binary JSON, a remove has none (WL#2955, section 4; RULES.md
JD-WIRE). wire.py is the same in Python. Positions are addresses; each is compared with an end before it is read.
"""

import numpy as np

from keysearch.addresses import address_of
from keysearch.memory import inline, keep, kernel, load_byte
from keysearch.records import struct

REPLACE, INSERT, REMOVE = range(3)

DIFF, diff_at, _ = struct("diff", **dict.fromkeys(("operation", "path", "path_end", "data", "data_end"), np.int64))
"""A diff: the addresses of its path and its data. A REMOVE has no data."""
_DIFF_BYTES = DIFF.itemsize


@inline
def _read_length(at, end):
    """Read a length that does not reach beyond `end`: (it, or -1; the address after it)."""
    first = load_byte(at) if at < end else 255
    more = 0 if first < 251 else (2 if first == 252 else (3 if first == 253 else 8))
    at += 1
    if first == 251 or first == 255 or more > end - at:
        return -1, at
    length = first if more == 0 else 0
    for i in range(more):
        length |= load_byte(at + i) << 8 * i
    at += more
    return -1 if length < 0 or length > end - at else length, at


@inline
def read_diff(at, end, diff):
    """Read the diff at at:end, of one byte at least; return the address after it, or 0 if it is malformed."""
    operation = load_byte(at)
    length, path = _read_length(at + 1, end)
    if operation > REMOVE or length < 0:
        return 0
    diff.operation, diff.path, diff.path_end = operation, path, path + length
    if operation == REMOVE:
        return path + length
    length, data = _read_length(path + length, end)
    if length < 0:
        return 0
    diff.data, diff.data_end = data, data + length
    return data + length


@kernel
def find_documents(data, offsets, firsts, bounds):
    """Find the binary documents in column values, of each up to its first malformed diff.

    data: uint8, offsets: int64[n + 1] into it. Written are firsts: int64[n + 1], the number of each value's first
    document and how many there are in all, and bounds: int64[2 × room + 1], from bounds[1] on the start and the end of
    each, as far as there is room. Returns how many there are."""
    memory = np.empty(_DIFF_BYTES, np.uint8)
    base, diff = address_of(data), diff_at(address_of(memory))
    count = 0
    for value in range(len(offsets) - 1):
        firsts[value] = count
        at, end = base + offsets[value], base + offsets[value + 1]
        while at < end:
            at = read_diff(at, end, diff)
            if at == 0:
                break
            if diff.operation != REMOVE:
                if 2 * count + 2 < len(bounds):
                    bounds[2 * count + 1], bounds[2 * count + 2] = diff.data - base, diff.data_end - base
                count += 1
    keep(memory)
    firsts[len(offsets) - 1] = count
    return count
