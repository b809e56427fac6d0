# mypy: allow-untyped-defs, no-check-untyped-defs
"""What is said of commits, as columns of the versions that begin or end with them."""

import numpy as np

from keysearch.memory import copy32, copy_bytes, kernel, prefetch
from keysearch.records import struct

COMMIT, _, commit_at = struct("commit", time=np.int64, sequence=np.int64, gtid=np.int64, gtid_bytes=np.int32,
                              has_time=np.int8)
"""Its time in microseconds, its sequence number, where its GTID begins in the bytes of all, and how long that is (below
0: it has none)."""
GUARD = 32
"""Bytes that those of GTIDs have beyond the last one, on both sides of a copy, as copies are rounded up."""

_AHEAD, _COMMIT_BYTES = 16, COMMIT.itemsize


@kernel
def fill_columns(numbers, commits, gtids, times, sequence, offsets, data, are_there, have_time, have_gtid):
    """Fill the columns of commits by their numbers (int64[n], below 0: none), given the addresses of COMMITs and of
    their GTIDs: int64[n] times and sequence numbers, int32[n + 1] offsets of GTIDs and the address of their bytes; and
    three bitmaps of zeros, whether there is a commit, a time, a GTID."""
    at = 0
    offsets[0] = 0
    for row in range(len(numbers)):
        if row + _AHEAD < len(numbers):
            prefetch(commits + _COMMIT_BYTES * numbers[row + _AHEAD])
        number = numbers[row]
        if number < 0:
            times[row] = 0
            sequence[row] = 0
        else:
            commit, bit = commit_at(commits, number), np.uint8(1 << (row & 7))
            times[row] = commit.time
            sequence[row] = commit.sequence
            are_there[row >> 3] |= bit
            if commit.has_time:
                have_time[row >> 3] |= bit
            length = np.int64(commit.gtid_bytes)
            if length >= 0:
                have_gtid[row >> 3] |= bit
                if length <= 64:
                    copy32(data + at, gtids + commit.gtid)
                    copy32(data + at + 32, gtids + commit.gtid + 32)
                else:
                    copy_bytes(data + at, gtids + commit.gtid, length)
                at += length
        offsets[row + 1] = at
