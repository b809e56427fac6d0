"""A GTID set as MySQL's servers and replicas send it: the reverse of GtidSet.from_previous_gtids_event."""

from __future__ import annotations

from struct import pack
from uuid import UUID

from applier.binlog.events.gtid import GtidSet


def encoded(gtids: GtidSet) -> bytes:
    """The set's intervals; in the form with tags, which only servers from 8.3 on read, where it has any."""
    is_tagged = any(":" in source for source in gtids.intervals)
    count = len(gtids.intervals)
    parts = [bytes((1,)) + count.to_bytes(6, "little") + bytes((1,)) if is_tagged else count.to_bytes(8, "little")]
    for source, intervals in gtids.intervals.items():
        uuid, _, tag = source.partition(":")
        parts.append(UUID(uuid).bytes)
        if is_tagged:
            parts.append(bytes((len(tag) << 1,)) + tag.encode())
        parts.append(pack("<Q", len(intervals)))
        parts += [pack("<QQ", first, last + 1) for first, last in intervals]
    return b"".join(parts)
