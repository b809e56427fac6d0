# mypy: allow-untyped-defs, no-check-untyped-defs
"""Finds the event groups of positions in a file, in one pass over the event headers."""

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.format import HEADER_LENGTH, EventType
from keysearch.memory import kernel

_GTID, _ANONYMOUS, _TAGGED, _MARIADB = (int(kind) for kind in (
    EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.MARIADB_GTID))


@kernel
def find_gtids(base, start, end, positions, gtids):
    """For each of `positions` (int64[n], ascending, of events in [start, end)) where the last GTID event before it is,
    into `gtids` (int64[n]); -1 where there is none. `base` is the file's address, `start` an event's position. False
    where the events do not add up."""
    n, done, at, last = len(positions), 0, start, -1
    while done < n:
        if at < 0 or HEADER_LENGTH > end - at:
            return False
        kind, size = event_header(base + at).type, event_header(base + at).size
        if size < HEADER_LENGTH:
            return False
        if kind == _GTID or kind == _ANONYMOUS or kind == _TAGGED or kind == _MARIADB:
            last = at
        at += size
        while done < n and positions[done] < at:
            gtids[done] = last
            done += 1
    return True
