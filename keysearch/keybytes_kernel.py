# mypy: allow-untyped-defs, no-check-untyped-defs
"""Kernels that write key columns side by side, one key per row. `keybytes` prepares and checks their arguments.

Every kernel works on one column for all rows: `cursors[i]` is where row i's next byte goes, counted from `address`, and
moves past the written bytes. The caller has made room for exactly these bytes.
"""

import numpy as np

from keysearch.memory import (
    copy_bytes,
    inline,
    kernel,
    load_u8,
    store_u8,
    store_u16,
    store_u32,
    store_u64,
    swap16,
    swap32,
    swap64,
)

ESCAPE_OVERHEAD = 2
"""Bytes that end an escaped value: 0x00 0x00."""


@kernel
def put_words(words, width, cursors, address):
    """Write the low `width` (1, 2, 4, 8) bytes of each uint64 word, most significant byte first."""
    if width == 8:
        for row in range(words.size):
            store_u64(address + cursors[row], swap64(words[row]))
            cursors[row] += 8
    elif width == 4:
        for row in range(words.size):
            store_u32(address + cursors[row], swap32(np.uint32(words[row])))
            cursors[row] += 4
    elif width == 2:
        for row in range(words.size):
            store_u16(address + cursors[row], swap16(np.uint16(words[row])))
            cursors[row] += 2
    else:
        for row in range(words.size):
            store_u8(address + cursors[row], np.uint8(words[row]))
            cursors[row] += 1


@kernel
def put_raw(starts, ends, source, cursors, address):
    """Copy the bytes source+starts[i] to source+ends[i] unchanged."""
    for row in range(starts.size):
        length = ends[row] - starts[row]
        copy_bytes(address + cursors[row], source + starts[row], length)
        cursors[row] += length


@kernel
def add_escaped_lengths(starts, ends, data, lengths):
    """Add to each row's length what `put_escaped` will write for data[starts[i]:ends[i]]."""
    for row in range(starts.size):
        zeros = 0
        for at in range(starts[row], ends[row]):
            zeros += data[at] == 0
        lengths[row] += ends[row] - starts[row] + zeros + ESCAPE_OVERHEAD


@kernel
def put_escaped(starts, ends, data, cursors, address):
    """Write data[starts[i]:ends[i]] with 0x00 as 0x00 0xFF, then the end mark 0x00 0x00.

    Where one value ends and another continues, the end mark sorts first: the other has 0x00 0xFF there for a zero byte,
    and else a greater byte.
    """
    for row in range(starts.size):
        at = address + cursors[row]
        for index in range(starts[row], ends[row]):
            byte = data[index]
            store_u8(at, byte)
            at += 1
            if byte == 0:
                store_u8(at, np.uint8(255))
                at += 1
        store_u16(at, np.uint16(0))
        cursors[row] = at + ESCAPE_OVERHEAD - address


@inline
def compare_bytes(a, a_length, b, b_length):
    """Compare as memcmp does, but a prefix sorts first: negative, 0 or positive."""
    shorter = min(a_length, b_length)
    for i in range(shorter):
        difference = np.int64(load_u8(a + i)) - np.int64(load_u8(b + i))
        if difference:
            return difference
    return a_length - b_length


@kernel
def find_ranges(offsets, data, bound_offsets, bound_data, ranges):
    """Write for each key how many of the ascending bounds it reaches (memcmp order): the number of its range, int64[n].

    Key i is the bytes offsets[i] … offsets[i + 1] from the address `data`; bounds likewise.
    """
    for i in range(ranges.shape[0]):
        at, length = data + offsets[i], offsets[i + 1] - offsets[i]
        low, high = 0, bound_offsets.shape[0] - 1
        while low < high:
            middle = (low + high) >> 1
            start = bound_offsets[middle]
            if compare_bytes(bound_data + start, bound_offsets[middle + 1] - start, at, length) <= 0:
                low = middle + 1
            else:
                high = middle
        ranges[i] = low
