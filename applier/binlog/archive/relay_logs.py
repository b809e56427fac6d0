"""Relay logs, read as the archive of the source's logs from which they were received.

    relay log   the replica's own FORMAT_DESCRIPTION, PREVIOUS_GTIDS (MySQL; the transactions received before), then the
                events that a connection sends, and at the end a ROTATE of the replica's own
    connection  an artificial ROTATE (name of the source's file, position), the source's FORMAT_DESCRIPTION, events.
                MySQL puts a ROTATE with server id 0, and the position after it, in place of PREVIOUS_GTIDS.
    next file   if a connection continues: the source's FORMAT_DESCRIPTION without a position, and events
    end         a ROTATE of the replica's own, or STOP; neither if the replica was killed and connects again

Events of the replica's own have the flag of relay logs. Checksums follow the latest format description, the replica's
or the source's. An event of the source records its end in the source's file, so its position there is known, whichever
relay log it is in (applier.io.relayed). All positions here are the source's, and event groups that continue from one
relay log to the next are whole (GRP-8).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from applier.binlog.events.events import Event, encrypted, parse_rotate
from applier.binlog.events.format import (
    HEADER,
    HEADER_LENGTH,
    EventType,
    FormatDescription,
    check_checksum,
    parse_format_description,
)
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.outline_pass import outline_file
from applier.errors import CORRUPT_EVENT, LOG_GAP, ArchiveError
from applier.io.encryption.decrypting import MAGIC
from applier.io.mapping import MappedFile, map_file
from applier.io.relayed import RELAY_LOG_FLAG, Relayed, RelayedLocation, RelayedPart
from applier.io.relayed_kernel import next_border
from applier.io.resolver import divided, folder_of, join

_ARTIFICIAL_FLAG = 0x20
_NUMBERED = re.compile(r"(?P<base>.+)\.(?P<number>\d{6,})\Z")


def source_logs(locations: Sequence[str]) -> list[RelayedLocation]:
    """Return the source's logs whose events these relay logs, in order, contain.

    Raises ArchiveError for relay logs that do not name the source's files, that come from several sources, or that are
    damaged; EncryptedBinlog.
    """
    reading = _Reading()
    for location in locations:
        reading.read(location, is_newest=location == locations[-1])
    reading.name_first(None)
    logs = [log for log in reading.logs if log.name and log.format_description]
    if not any(log.parts for log in logs):
        raise ArchiveError("the relay logs contain no event of a source", file=locations[0])
    folder_uri, query = divided(folder_of(locations[0]))
    name = divided(locations[0])[0].rpartition("/")[2].split(".")[0]
    folder = join(folder_uri, name) + query
    unfinished = [log.unfinished for log in logs if log.unfinished and not log.is_of_mariadb]
    return _with_previous([RelayedLocation(join(folder, log.name), log.relayed()) for log in logs], reading.stands,
                          unfinished)


@dataclass
class _SourceLog:
    """A log of the source, as far as it was received."""

    name: str
    began: int | None = None  # the time of its format description
    format_description: bytes = b""
    parts: list[RelayedPart] = field(default_factory=list)
    nothing_before: int = 0
    is_of_mariadb: bool = False
    is_left: bool = False
    unfinished: str = ""  # the relay log without an end after which a connection begins with a later log

    def relayed(self) -> Relayed:
        return Relayed(self.format_description, tuple(self.parts), self.nothing_before,
                       lacks_annotations=self.is_of_mariadb, is_left=self.is_left)


class _Reading:
    """Reads relay logs in order. The first log has no name until a ROTATE names it."""

    def __init__(self) -> None:
        self.logs = [_SourceLog("")]
        self._format: FormatDescription | None = None  # of the source, where one is known
        self._checksum_bytes = 0  # by the newest format description in the relay log, the replica's or the source's
        self._replica = 0  # its server id
        self._connected_at: int | None = None  # if a connection was begun just now
        self._from_beginning = False  # a connection has sent the log's own format description just now
        self._has_groups = False
        self.stands = ""  # of MariaDB: the set before the position at which the first connection continues within a log
        self._ended = False  # by the source's own ROTATE
        self._unfinished = ""  # the relay log before, if it has no end

    def read(self, location: str, *, is_newest: bool) -> None:
        """Read a relay log. The newest one may end anywhere. Any other one ends with a ROTATE or STOP of the replica,
        or, if the replica was killed, a new connection follows."""
        mapped = map_file(location)
        at, is_finished = len(MAGIC), False
        while at < mapped.size:
            border = int(next_border(mapped.address, at, mapped.size))
            event = self._whole_event(mapped, border)
            if at < border:
                self._check_goes_on(location, at)
                self._add(mapped, at, border)
            if event is None:
                if is_newest and border > len(MAGIC) and self._format is not None:
                    self._add(mapped, border, mapped.size)
                is_finished = False
                break
            at = border + event.size
            if at == len(MAGIC) + event.size:
                self._replica = event.server_id
            # not all are flagged: MariaDB's STOP, and a format description where the replica was not connected yet
            is_own = bool(event.flags & RELAY_LOG_FLAG) or event.server_id == self._replica
            is_finished = is_own and event.type in (EventType.ROTATE, EventType.STOP)
            if event.type == EventType.START_ENCRYPTION:
                if not mapped.is_decrypted:
                    raise encrypted(mapped.uri, event.position)
            elif not is_own:
                self._take(mapped, event)
        if not is_finished:
            self._unfinished = location

    def _take(self, mapped: MappedFile, event: Event) -> None:
        """Take an event of the source or of a connection at which `next_border` stopped."""
        end, is_artificial = event.position + event.size, bool(event.flags & _ARTIFICIAL_FLAG)
        if event.type == EventType.FORMAT_DESCRIPTION:
            self._describe(mapped, event)
        elif event.type == EventType.ROTATE and (is_artificial or not event.end_log_pos):
            self._connect(mapped, event)
        else:
            self._check_goes_on(mapped.uri, event.position)
            if event.type == EventType.ROTATE:  # the source's own: its log ends
                self.name_first(parse_rotate(event.body).next_file, ends=True)
                self._ended = True
            elif is_artificial and not self._has_groups:
                self.stands = str(GtidSet.from_gtid_list_event(bytes(event.body)))
                begins = len(MAGIC) + len(self.logs[-1].format_description) + event.size
                if self._connected_at == begins:  # MariaDB 11.8 begins behind the log's head, which ends with this list
                    self.logs[-1].nothing_before = begins
            if not is_artificial and (event.type != EventType.ROTATE or self._format is not None):
                self._add(mapped, event.position, end)

    def _whole_event(self, mapped: MappedFile, at: int) -> Event | None:
        """Return the event at this offset; None if the file ends within it."""
        if mapped.size - at < HEADER_LENGTH:
            return None
        timestamp, kind, server_id, size, end_log_pos, flags = HEADER.unpack(
            mapped.array[at : at + HEADER_LENGTH].tobytes())
        is_torn = size > mapped.size - at
        data = mapped.array[at : at + size].tobytes()
        try:
            if size < HEADER_LENGTH or (is_torn and flags & RELAY_LOG_FLAG and end_log_pos != at + size):
                raise ArchiveError(f"an event claims an impossible size of {size} bytes", errno=CORRUPT_EVENT,
                                   hint="copy the file again from the replica")
            if is_torn:
                return None
            if at == len(MAGIC) and not (kind == EventType.FORMAT_DESCRIPTION and flags & RELAY_LOG_FLAG):
                raise ArchiveError("this is not a relay log: it does not begin with a replica's format description",
                                   hint="give relay logs, or binlogs, but not both")
            if kind == EventType.FORMAT_DESCRIPTION:
                self._checksum_bytes = parse_format_description(data).checksum_length
            if self._checksum_bytes and not (kind == EventType.START_ENCRYPTION and mapped.is_decrypted):
                check_checksum(data)
        except ArchiveError as error:
            raise error.at(file=mapped.uri, position=at) from None
        body = memoryview(data)[HEADER_LENGTH : size - self._checksum_bytes]
        return Event(at, kind, timestamp, server_id, size, end_log_pos, flags, None, body)

    def _check_goes_on(self, location: str, at: int) -> None:
        """Check that no event of the source is missing before this one, or was sent again."""
        if self._unfinished:
            raise _ends_early(self._unfinished, f"{location} continues at {at} with later events")

    def _add(self, mapped: MappedFile, start: int, end: int) -> None:
        if self._format is None:
            raise ArchiveError("the relay log has no format description of the source before its events",
                               file=mapped.uri, position=start, errno=CORRUPT_EVENT,
                               hint="also give the earlier relay logs, or copy it again from the replica")
        self._has_groups |= _has_groups(mapped, start, end)
        self.logs[-1].parts.append(RelayedPart(mapped.uri, start, end, self._checksum_bytes, self._connected_at))
        self._from_beginning, self._connected_at = False, None

    def _describe(self, mapped: MappedFile, event: Event) -> None:
        log, data = self.logs[-1], mapped.array[event.position : event.position + event.size].tobytes()
        if log.began not in (None, event.timestamp):
            raise ArchiveError(f"the relay logs contain two source logs named {log.name}: they come from several "
                               "sources, or the source's logs were reset",
                               file=mapped.uri, position=event.position,
                               errno=LOG_GAP, hint="give only the relay logs from here on, or only those before")
        self._format = parse_format_description(data)
        log.began, log.is_of_mariadb = event.timestamp, self._format.flavour == "mariadb"
        log.format_description = log.format_description or data
        self._from_beginning = event.end_log_pos != 0

    def _connect(self, mapped: MappedFile, event: Event) -> None:
        """Continue where a connection begins, or where it goes: at the log that an artificial ROTATE names."""
        rotate = parse_rotate(event.body)
        if not self.logs[-1].name and not self.logs[-1].parts:
            self.logs[-1] = _SourceLog("")
        if self.logs[-1].name in ("", rotate.next_file) and not self._ended:
            self.name_first(rotate.next_file)
            if self._from_beginning and not self.logs[-1].nothing_before:
                self.logs[-1].nothing_before = rotate.position
        elif rotate.next_file != self.logs[-1].name:
            if any(log.name == rotate.next_file for log in self.logs):
                raise ArchiveError(f"the relay logs return to {rotate.next_file}: they come from several sources, or "
                                   "the source's logs were reset",
                                   file=mapped.uri, position=event.position,
                                   errno=LOG_GAP, hint="give only the relay logs from here on, or only those before")
            if not self._ended and self.logs[-1].format_description:
                self.logs[-1].is_left, self.logs[-1].unfinished = True, self._unfinished
            self.logs.append(_SourceLog(rotate.next_file))
        self._from_beginning = self._ended = False
        self._connected_at, self._unfinished = rotate.position, ""

    def name_first(self, name: str | None, *, ends: bool = False) -> None:
        """Name the first log, if it has no name: it is the log that a ROTATE names; or, if it `ends` there, the
        previous one."""
        first = self.logs[0]
        if first.name or not (name or first.parts):
            return
        if name is None:
            raise ArchiveError("the relay logs do not name the source's binlog file",
                               file=first.parts[0].location, errno=LOG_GAP,
                               hint="also give the earlier relay logs, from the one that the replica began when it "
                                    "connected to the source")
        match = _NUMBERED.match(name) if ends else None
        first.name = name if match is None else \
            f"{match['base']}.{int(match['number']) - 1:0{len(match['number'])}d}"


def _ends_early(location: str, what_tells: str) -> ArchiveError:
    return ArchiveError(f"the relay log ends early: {what_tells}", file=location, errno=CORRUPT_EVENT,
                        hint="copy it again from the replica; or give a base, and the relay logs from the next one "
                             "that begins with a connection")


def _has_groups(mapped: MappedFile, start: int, end: int) -> bool:
    """Return whether a part of a MariaDB log contains events other than those at its head."""
    of_the_head = (EventType.GTID_LIST, EventType.BINLOG_CHECKPOINT)
    while start + HEADER_LENGTH <= end and mapped.array[start + 4] in of_the_head:
        start += int.from_bytes(mapped.array[start + 9 : start + 13].tobytes(), "little")
    return start < end


def _with_previous(logs: list[RelayedLocation], stands: str, unfinished: Sequence[str]) -> list[RelayedLocation]:
    """Return the logs with the transactions that precede each. MariaDB gives the set before a connection that begins
    within a log: `stands`. A replica of MySQL does not keep what the source says about it: a server's transactions with
    numbers below its first one here precede the first log. If a relay log is `unfinished`, the numbers of each server
    must have no gap: only they show that a connection that begins with a later log misses nothing."""
    gtids = [outline_file(log).gtids for log in logs]
    everything = reduce(GtidSet.union, gtids)
    if unfinished and {len(numbers) for numbers in everything.intervals.values()} != {1}:
        raise _ends_early(unfinished[0], "the next connection begins with a later log of the source, and GTIDs do not "
                                         "tell that nothing came between")
    if not everything.intervals:
        first = logs[0]
        return [RelayedLocation(first, replace(first.relayed, previous=stands, begins_late=True)), *logs[1:]]
    before = GtidSet.from_intervals({source: [(1, numbers[0][0] - 1)] for source, numbers
                                     in everything.intervals.items() if numbers[0][0] > 1})
    made: list[RelayedLocation] = []
    for log, found in zip(logs, gtids, strict=True):
        made.append(RelayedLocation(log, replace(log.relayed, previous=str(before), begins_late=not made,
                                                 sources=frozenset(everything.intervals))))
        before = before.union(found)
    return made
