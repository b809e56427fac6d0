# mypy: allow-untyped-defs, no-check-untyped-defs
"""Frames events as in a file: each with its length, its end position, and its checksum."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.jobs.rewrite.kernels.gtid_kernel import MOST_MORE_BYTES, put_gtid
from applier.jobs.rewrite.kernels.records import out_at
from applier.kernels.crc32 import crc32
from keysearch.memory import copy_bytes, inline, kernel, store_u32

_FORMAT, _GTID, _ANONYMOUS_GTID, _GTID_TAGGED = 15, 33, 34, 42
MORE_BYTES = MOST_MORE_BYTES + 4
"""How much longer an event may become."""


@kernel
def frame(events, n, target, position, header_bytes, checksum_bytes):
    """Put `n` events, whose records are at `events` and which begin with a group, to the address `target`, which is the
    offset `position` of the file. Gives the address after them."""
    to = target
    for i in range(n):
        out = out_at(events, i)
        start, event_type = to, out.type
        if event_type == _FORMAT:  # its checksum is computed without one of its flags, and it does not move
            to = copy_bytes(to, out.address, out.length)
            continue
        if event_type == _GTID or event_type == _ANONYMOUS_GTID or event_type == _GTID_TAGGED:
            more = more_bytes(events, i, n, checksum_bytes)
            to = put_gtid(out.address, out.length, header_bytes, event_type, more, to)
        else:
            to = copy_bytes(to, out.address, out.length)
        size = to - start + checksum_bytes
        event_header(start).size = np.uint32(size)
        if out.moves:
            event_header(start).next_position = np.uint32(position + to - target + checksum_bytes)
        if checksum_bytes:
            store_u32(to, crc32(start, to - start, np.uint32(0)))
            to += checksum_bytes
    return to


@inline
def more_bytes(events, i, n, checksum_bytes):
    """Return how many bytes more than before the events of a group have, without its first one, which is the i-th."""
    more, i = -out_at(events, i).removed, i + 1
    while i < n and not out_at(events, i).begins:
        more += out_at(events, i).length + checksum_bytes - out_at(events, i).source
        i += 1
    return more
