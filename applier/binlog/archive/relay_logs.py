"""Relay logs as the archive of the source's logs that they were received of.

    relay log   the replica's own FORMAT_DESCRIPTION, PREVIOUS_GTIDS (of MySQL; what was received before), then what a
                connection sends, and at the end a ROTATE of the replica's own
    connection  an artificial ROTATE (name of the source's file, position), the source's FORMAT_DESCRIPTION, events.
                MySQL puts a ROTATE of no server in the place of PREVIOUS_GTIDS, with the position behind it.
    next file   of a connection that goes on: the source's FORMAT_DESCRIPTION with no position, and events

What is of the replica has the flag of relay logs. An event of the source's says where it ends in the source's file,
so its place there is known, whatever file of the replica's it is in (applier.io.relayed): positions of what is read
here are the source's, and event groups that go on from a relay log to the next one are whole (GRP-8).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from applier.binlog.events.events import Event, encrypted, parse_rotate
from applier.binlog.events.format import (
    CHECKSUM_LENGTH,
    HEADER,
    HEADER_LENGTH,
    EventType,
    FormatDescription,
    parse_format_description,
)
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.outline_pass import outline_file
from applier.errors import CORRUPT_EVENT, LOG_GAP, ArchiveError
from applier.io.decrypting import MAGIC
from applier.io.mapping import MappedFile, map_file
from applier.io.relayed import RELAY_LOG_FLAG, Relayed, RelayedLocation, RelayedPart
from applier.io.relayed_kernel import next_border
from applier.io.resolver import divided, folder_of, join

_ARTIFICIAL_FLAG = 0x20
_NUMBERED = re.compile(r"(?P<base>.+)\.(?P<number>\d{6,})\Z")


def source_logs(locations: Sequence[str]) -> list[RelayedLocation]:
    """The source's logs that relay logs, in their order, have events of.

    Raises ArchiveError for relay logs that do not say of which of the source's files their events are, that are of
    several sources, or damaged; EncryptedBinlog.
    """
    reading = _Reading()
    for location in locations:
        reading.read(location)
    reading.name_first(None)
    logs = [log for log in reading.logs if log.parts]
    if not logs:
        raise ArchiveError("the relay logs have no event of a source", file=locations[0])
    place, query = divided(folder_of(locations[0]))
    name = divided(locations[0])[0].rpartition("/")[2].split(".")[0]
    folder = join(place, name) + query
    return _with_previous([RelayedLocation(join(folder, log.name), log.relayed()) for log in logs], reading.stands)


@dataclass
class _SourceLog:
    """A log of the source's, as far as it was received."""

    name: str
    began: int | None = None  # the time of its format description
    format_description: bytes = b""
    parts: list[RelayedPart] = field(default_factory=list)
    nothing_before: int = 0

    def relayed(self) -> Relayed:
        return Relayed(self.format_description, tuple(self.parts), self.nothing_before)


class _Reading:
    """Reads relay logs in order. The first log has no name until a ROTATE tells."""

    def __init__(self) -> None:
        self.logs = [_SourceLog("")]
        self._format: FormatDescription | None = None  # of the source, where one is known
        self._from_beginning = False  # a connection has sent the log's own format description just now
        self._has_groups = False
        self.stands = ""  # of MariaDB: what came before the place at which the first connection goes on within a log
        self._ended = False  # by the source's own ROTATE

    def read(self, location: str) -> None:
        mapped = map_file(location)
        at = len(MAGIC)
        while at < mapped.size:
            border = int(next_border(mapped.address, at, mapped.size))
            self._add(mapped, at, border)
            event = _whole_event(mapped, border)
            if event is None:
                return
            at = border + event.size
            if event.type == EventType.START_ENCRYPTION:
                if not mapped.is_decrypted:
                    raise encrypted(location, border)
            elif event.flags & RELAY_LOG_FLAG:
                pass
            elif event.type == EventType.GTID_LIST and event.flags & _ARTIFICIAL_FLAG:
                if not self._has_groups:
                    self.stands = str(GtidSet.from_gtid_list_event(bytes(event.body)))
            elif event.type == EventType.GTID_LIST:
                self._add(mapped, border, at)
            elif event.type == EventType.FORMAT_DESCRIPTION:
                self._describe(location, event, mapped.array[border:at].tobytes())
            else:
                self._rotate(mapped, event, at)

    def _add(self, mapped: MappedFile, start: int, end: int) -> None:
        if start < end and self._format is not None:
            self._from_beginning = False
            self._has_groups |= _has_groups(mapped, start, end)
            self.logs[-1].parts.append(RelayedPart(mapped.uri, start, end, self._format.checksum_length))

    def _describe(self, location: str, event: Event, data: bytes) -> None:
        log = self.logs[-1]
        if log.began not in (None, event.timestamp):
            raise ArchiveError(f"the relay logs have two logs of the name {log.name}: they are of several sources, or "
                               "the source's logs were begun anew", file=location, position=event.position,
                               errno=LOG_GAP, hint="give the relay logs from there on, or those before it")
        self._format = parse_format_description(data)
        log.began = event.timestamp
        log.format_description = log.format_description or data
        self._from_beginning = event.end_log_pos != 0

    def _rotate(self, mapped: MappedFile, event: Event, end: int) -> None:
        rotate = parse_rotate(event.body)
        if event.end_log_pos and not event.flags & _ARTIFICIAL_FLAG:  # the source's own: its log ends
            self.name_first(rotate.next_file, ends=True)
            self._add(mapped, event.position, end)
            self._ended = True
            return
        if self.logs[-1].name in ("", rotate.next_file) and not self._ended:
            self.name_first(rotate.next_file)
            if self._from_beginning and not self.logs[-1].nothing_before:
                self.logs[-1].nothing_before = rotate.position
        elif rotate.next_file != self.logs[-1].name:
            if any(log.name == rotate.next_file for log in self.logs):
                raise ArchiveError(f"the relay logs go back to {rotate.next_file}: they are of several sources, or the "
                                   "source's logs were begun anew", file=mapped.uri, position=event.position,
                                   errno=LOG_GAP, hint="give the relay logs from there on, or those before it")
            self.logs.append(_SourceLog(rotate.next_file))
        self._from_beginning = self._ended = False

    def name_first(self, name: str | None, *, ends: bool = False) -> None:
        """Name the first log, if it has no name: where a ROTATE leads to; or, if it `ends` there, the one before."""
        first = self.logs[0]
        if first.name or not (name or first.parts):
            return
        if name is None:
            raise ArchiveError("the relay logs do not say of which file of the source their events are",
                               file=first.parts[0].location, errno=LOG_GAP,
                               hint="give the relay logs before them, too, from the one on that the replica began when "
                                    "it connected to the source")
        match = _NUMBERED.match(name) if ends else None
        first.name = name if match is None else \
            f"{match['base']}.{int(match['number']) - 1:0{len(match['number'])}d}"


def _has_groups(mapped: MappedFile, start: int, end: int) -> bool:
    """Whether events of MariaDB's are others than those at the head of a log."""
    while start < end and mapped.array[start + 4] in (EventType.GTID_LIST, EventType.BINLOG_CHECKPOINT):
        start += int.from_bytes(mapped.array[start + 9 : start + 13].tobytes(), "little")
    return start < end


def _whole_event(mapped: MappedFile, at: int) -> Event | None:
    """The event there; None where the file ends before it does. Whether it has a checksum it tells itself: what comes
    before the source's format description may be as the replica has it."""
    size = int.from_bytes(mapped.array[at + 9 : at + 13].tobytes(), "little")
    if mapped.size - at < HEADER_LENGTH or size > mapped.size - at:
        return None
    if size < HEADER_LENGTH:
        raise ArchiveError(f"an event of {size} bytes is impossible", file=mapped.uri, position=at,
                           errno=CORRUPT_EVENT, hint="copy the file again from the replica")
    data = mapped.array[at : at + size].tobytes()
    timestamp, kind, server_id, size, end_log_pos, flags = HEADER.unpack_from(data)
    has_checksum = zlib.crc32(data[:-CHECKSUM_LENGTH]) == int.from_bytes(data[-CHECKSUM_LENGTH:], "little")
    body = memoryview(data)[HEADER_LENGTH : size - CHECKSUM_LENGTH * has_checksum]
    return Event(at, kind, timestamp, server_id, size, end_log_pos, flags, None, body)


def _with_previous(logs: list[RelayedLocation], stands: str) -> list[RelayedLocation]:
    """The logs with the transactions that came before each. MariaDB says where a connection `stands` that begins late.
    A replica of MySQL does not keep what the source says of it: what a server numbers below the first transaction that
    is here came before the first log."""
    gtids = [outline_file(log).gtids for log in logs]
    if not any(found.intervals for found in gtids):
        first = logs[0]
        return [RelayedLocation(first, replace(first.relayed, previous=stands, begins_late=True)), *logs[1:]]
    everything = reduce(GtidSet.union, gtids)
    before = GtidSet.from_intervals({source: [(1, numbers[0][0] - 1)] for source, numbers
                                     in everything.intervals.items() if numbers[0][0] > 1})
    made: list[RelayedLocation] = []
    for log, found in zip(logs, gtids, strict=True):
        made.append(RelayedLocation(log, replace(log.relayed, previous=str(before), begins_late=not made,
                                                 sources=frozenset(everything.intervals))))
        before = before.union(found)
    return made
