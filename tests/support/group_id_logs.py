"""Logs with headers of 27 bytes, out of real ones."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from applier.binlog.events.events import read_events
from applier.binlog.events.format import EventType
from applier.io.mapping import map_file

GTIDS = {EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.MARIADB_GTID}
BETWEEN = {EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.GTID_LIST, EventType.BINLOG_CHECKPOINT,
           EventType.ROTATE, EventType.STOP}
"""Events that are in no group."""


def with_group_ids(source: Path, target: Path, first: int, renumbered: Callable[[int], int] = int) -> int:
    """A log as a server with headers of 27 bytes writes it (GRP-3): each group has an id, from `first` on, which all
    its events share, but ROTATE, whose header is that of old; `renumbered` makes them others. The id after the last."""
    out, number = bytearray(b"\xfebin"), first - 1
    for event in read_events(map_file(str(source))):
        body, extra = bytes(event.body), b""
        if event.type == EventType.FORMAT_DESCRIPTION:
            body = body[:56] + b"\x1b" + body[57:-4]
        elif event.type != EventType.ROTATE:
            number += event.type in GTIDS
            extra = struct.pack("<Q", renumbered(max(number, 0)) if event.type not in BETWEEN else 0)
        size = 19 + len(extra) + len(body) + 4
        data = struct.pack("<IBIIIH", event.timestamp, event.type, event.server_id, size, len(out) + size, event.flags)
        data += extra + body
        out += data + struct.pack("<I", zlib.crc32(data))
    target.write_bytes(bytes(out))
    return number + 1
