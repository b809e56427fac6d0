# mypy: allow-untyped-defs, no-check-untyped-defs
"""The wire format of diffs, for kernels.

    column value = diff*                      (behind its length of four bytes)
    diff         = operation (1 byte), path length, path [, data length, data]
    length       = 1 byte up to 250; or 252, 253, 254 and then 2, 3, 8 bytes

All little-endian. The data of a replace or an insert is binary JSON, a remove has none (WL#2955, section 4; RULES.md
JD-WIRE). wire.py is the same in Python. Positions are addresses; none is read that was not compared with an end.
"""

import numpy as np

from keysearch.addresses import address_of
from keysearch.memory import inline, kernel, load_byte, load_i64, store_i64

REPLACE, INSERT, REMOVE = range(3)

OPERATION, PATH, PATH_END, DATA, DATA_END = range(5)
"""The fields of a diff that was read, and where its path and its data are."""
DIFF_FIELDS = 5


@inline
def _read_length(at, end):
    """A length that is here and stays before `end`: (it, or -1; what follows it)."""
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
    """Reads the diff at at:end, of one byte at least, into its fields; returns what follows it, or 0 if it is none."""
    operation = load_byte(at)
    length, path = _read_length(at + 1, end)
    if operation > REMOVE or length < 0:
        return 0
    store_i64(diff, operation)
    store_i64(diff + 8 * PATH, path)
    store_i64(diff + 8 * PATH_END, path + length)
    if operation == REMOVE:
        return path + length
    length, data = _read_length(path + length, end)
    if length < 0:
        return 0
    store_i64(diff + 8 * DATA, data)
    store_i64(diff + 8 * DATA_END, data + length)
    return data + length


@inline
def diff_field(diff, name):
    return load_i64(diff + 8 * name)


@kernel
def find_documents(data, offsets, firsts, bounds):
    """Where the binary documents in column values are.

    data: uint8, offsets: int64[n + 1] into it. Written are firsts: int64[n + 1], the number of each value's first
    document and how many there are in all, and bounds: int64[2 × room + 1], from bounds[1] on the start and the end of
    each, as far as there is room. Returns how many there are. Those behind a malformed diff are none."""
    fields = np.empty(DIFF_FIELDS, np.int64)
    base, diff = address_of(data), address_of(fields)
    count = 0
    for value in range(len(offsets) - 1):
        firsts[value] = count
        at, end = base + offsets[value], base + offsets[value + 1]
        while at < end:
            at = read_diff(at, end, diff)
            if at == 0:
                break
            if fields[OPERATION] != REMOVE:
                if 2 * count + 2 < len(bounds):
                    bounds[2 * count + 1], bounds[2 * count + 2] = fields[DATA] - base, fields[DATA_END] - base
                count += 1
    firsts[len(offsets) - 1] = count
    return count
