# mypy: allow-untyped-defs, no-check-untyped-defs
"""Copies the attributes of commits into columns of the versions that begin or end with them."""

import numpy as np

from keysearch.memory import copy32, copy_bytes, kernel, load_i64, prefetch
from keysearch.records import struct

COMMIT, _, commit_at = struct("commit", time=np.int64, sequence=np.int64, gtid=np.int64, gtid_bytes=np.int32,
                              has_time=np.int8)
"""Its time in microseconds, its sequence number, where its GTID begins in the bytes of all, and how long that is (below
0: it has none)."""
GUARD = 32
"""Bytes that those of GTIDs have beyond the last one, on both sides of a copy, as copies are rounded up."""

KIND_BITS = 8
"""A *step* is a commit's number above this many bits, and below it the kind of the change (an int8; both -1: no
step)."""

_AHEAD, _COMMIT_BYTES = 16, COMMIT.itemsize


@kernel
def fill_columns(n, steps, stride, commits, gtids, times, sequence, offsets, data, kinds, are_there, have_time,
                 have_gtid, have_kind):
    """Fill the columns of n steps (int64, `stride` bytes apart), given the addresses of COMMITs, one more than there
    are, and of their GTIDs: int64[n] times and sequence numbers, int32[n + 1] offsets of GTIDs and the address of their
    bytes, int8[n] kinds; and four bitmaps of zeros, whether there is a commit, a time, a GTID, a kind."""
    at = 0
    offsets[0] = 0
    for row in range(n):
        if row + _AHEAD < n:
            prefetch(commits + _COMMIT_BYTES * (load_i64(steps + stride * (row + _AHEAD)) >> KIND_BITS))
            near = load_i64(steps + stride * (row + _AHEAD // 2)) >> KIND_BITS
            gtid = gtids + commit_at(commits, max(near, 0)).gtid
            prefetch(gtid)
            prefetch(gtid + GUARD)
        step, bit = load_i64(steps + stride * row), np.uint8(1 << (row & 7))
        number, kinds[row] = step >> KIND_BITS, np.int8(step)
        if kinds[row] >= 0:
            have_kind[row >> 3] |= bit
        if number < 0:
            times[row] = 0
            sequence[row] = 0
        else:
            commit = commit_at(commits, number)
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
