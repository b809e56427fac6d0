"""Logs with headers of 27 bytes, out of real ones."""

import struct
import zlib
from pathlib import Path

from plain_reading import BETWEEN, GTIDS

from applier.binlog.events import read_events
from applier.binlog.format import EventType
from applier.binlog.mapping import map_file


def with_group_ids(source: Path, target: Path, first: int) -> int:
    """A log as a server with headers of 27 bytes writes it (GRP-3): each group has an id, from `first` on, which all
    its events share. The id after the last."""
    out, number = bytearray(b"\xfebin"), first - 1
    for event in read_events(map_file(str(source))):
        body, extra = bytes(event.body), b""
        if event.type == EventType.FORMAT_DESCRIPTION:
            body = body[:56] + b"\x1b" + body[57:-4]
        else:
            number += event.type in GTIDS
            extra = struct.pack("<Q", max(number, 0) if event.type not in BETWEEN else 0)
        size = 19 + len(extra) + len(body) + 4
        data = struct.pack("<IBIIIH", event.timestamp, event.type, event.server_id, size, len(out) + size, event.flags)
        data += extra + body
        out += data + struct.pack("<I", zlib.crc32(data))
    target.write_bytes(bytes(out))
    return number + 1
