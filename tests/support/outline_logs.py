"""Binlogs for the outline's tests: events of real files put together again, and what holds for splits."""

import struct
import zlib
from pathlib import Path

from applier.binlog.events.events import read_events
from applier.binlog.outline.outline import Outline
from applier.io.mapping import map_file
from tests.support.folders import CASES


def seal(event: bytes) -> bytes:
    """An event with its size, and a checksum that fits."""
    event = event[:9] + struct.pack("<I", len(event) + 4) + event[13:]
    return event + struct.pack("<I", zlib.crc32(event))


def split_events(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return [data[event.position : event.position + event.size] for event in read_events(map_file(str(path)))]


def write(path: Path, events: list[bytes]) -> str:
    path.write_bytes(b"\xfebin" + b"".join(events))
    return str(path)


def query(text: bytes, flags: int = 0) -> bytes:
    return seal(struct.pack("<IBIIIH", 7, 2, 1, 0, 0, flags) + struct.pack("<IIBHH", 1, 0, 1, 0, 0) + b"d\0" + text)


def without_gtids(case: str = "many-files-mysql") -> list[bytes]:
    """A real file as MySQL 5.5 writes it: no GTID events at all."""
    return [event for event in split_events(CASES / case / "binlog.000001") if event[4] not in (33, 34, 35)]


def check_splits(outline: Outline) -> None:
    """Splits cover the groups without a gap, and name every table with rows events in them, and no other one."""
    if not outline.n_groups:
        assert outline.splits == []
        return
    assert outline.splits[0].start == outline.start and outline.splits[-1].end == outline.end
    for before, after in zip(outline.splits, outline.splits[1:], strict=False):
        assert before.end <= after.start
    assert {use for split in outline.splits for use in split.tables} == {
        use for use, table in enumerate(outline.tables) if table.n_events}
