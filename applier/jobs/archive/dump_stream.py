"""The server's answer to COM_BINLOG_DUMP: packets with one event each, received as runs of whole events to be written.

    packet  = length 3 bytes, number 1 byte, then 0 and the event, or 255 and an error, or 254 at the end of the log
    event   = larger than 16 MB: as many packets as it needs, all but the last one of 2^24 - 1 bytes

In MariaDB 11.8, only the first and the last event of a group record their end position
(binlog_legacy_event_pos=OFF).

An ordinary event costs three calls: read its header, verify its checksum, and keep its location; all bytes of a
run are copied once. Source: MySQL Source Documentation, "COM_BINLOG_DUMP" and "MySQL Packets".
"""

from __future__ import annotations

import zlib
from collections import deque
from dataclasses import dataclass
from struct import Struct
from typing import Any

from applier.binlog.archive.log_names import base_and_number, check_file_name
from applier.binlog.events.format import (
    CHECKSUM_LENGTH,
    HEADER_LENGTH,
    IN_USE_FLAG,
    EventType,
    event_name,
    parse_format_description,
)
from applier.errors import CORRUPT_EVENT, ArchiveError, ServerAnswerError
from applier.io.printable import printable_start

_PACKET = Struct("<HBBBIBIIIH")
"""Of a packet with an event: its length (low and high part), its number, 0, and the event's header."""
_HEADER_OF_PACKET, _LARGEST_PART = 4, 0xFFFFFF
_EVENT, _END, _ERROR = 0, 254, 255
_ARTIFICIAL_FLAG = 0x20
_FLAGS_AT = 17
_CRC_OF_ALL = 0x2144DF1C
"""The CRC32 of any bytes followed by their own CRC32."""
_RECEIVED_AT_ONCE = 1 << 20
_FIRST_POSITION = 4
_NONE = -1
MOST_BYTES = 1 << 30
"""The largest event that a replica accepts (replica_max_allowed_packet). A server's max_allowed_packet may be smaller
than its events: an event may contain a row twice, or a whole transaction."""
_SPECIAL = frozenset((EventType.ROTATE, EventType.FORMAT_DESCRIPTION, EventType.HEARTBEAT, EventType.HEARTBEAT_V2))


class ConnectionLost(Exception):
    """The connection has ended, and a new one may continue."""


class SourceError(Exception):
    """The server stopped sending, and gave the reason in an error packet."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number, self.text = number, printable_start(text)


@dataclass(frozen=True)
class Run:
    """Consecutive whole events, byte for byte as in the file, with correct checksums."""

    data: bytes
    events: int


@dataclass(frozen=True)
class FileBegins:
    """The server sends the events of this file from now on."""

    name: str


@dataclass(frozen=True)
class EndOfLog:
    """The server has no more events, and was asked not to wait."""


class DumpStream:
    """The events of one answer, without artificial events and heartbeats, which are in no file.

    `receive` returns after the timeout of `socket`, and `next` returns None until a packet is whole. `name` and
    `position` are those of the next event in the file: at first the requested ones, "" if the server chooses the file.
    `heartbeats` counts the heartbeats since the last event.
    """

    def __init__(self, socket: Any, name: str, position: int, number: int = 1) -> None:
        self.name, self.position = name, position
        self._socket, self._number = socket, number
        self._room = memoryview(bytearray(_RECEIVED_AT_ONCE))
        self._pending, self._at = bytearray(), 0
        self._checksums, self._unknown_end = True, _NONE
        self.heartbeats = 0
        self._found: deque[Run | FileBegins | EndOfLog] = deque()

    def receive(self) -> bool:
        """Wait for bytes; False if none came in time. Raises ConnectionLost."""
        try:
            count = self._socket.recv_into(self._room)
        except TimeoutError:
            return False
        except OSError as error:
            raise ConnectionLost(str(error)) from None
        if not count:
            raise ConnectionLost("the server has closed the connection")
        del self._pending[:self._at]
        self._at = 0
        self._pending += self._room[:count]
        return True

    def next(self) -> Run | FileBegins | EndOfLog | None:
        """Return the whole events that were received, None if there are none. Raises ArchiveError (1610) for damaged
        events, ServerAnswerError for events that belong elsewhere, SourceError, and ConnectionLost."""
        while not self._found:
            run = self._run()
            if run is not None:
                return run
            packet = self._packet()
            if packet is None:
                return None
            self._take(*packet)
        return self._found.popleft()

    def _run(self) -> Run | None:
        """Return the ordinary events from here on, up to the first one that is not ordinary or not whole."""
        at, number, position, checksums = self._at, self._number, self.position, self._checksums
        unknown_end = self._unknown_end
        events, unpack, crc32 = [], _PACKET.unpack_from, zlib.crc32
        with memoryview(self._pending) as pending:
            last = len(pending) - _PACKET.size
            while at <= last:
                low, high, packet, status, _, kind, _, size, end, flags = unpack(pending, at)
                start, length = at + 5, (low | high << 16) - 1
                at_end = start + length
                if (status or kind in _SPECIAL or flags & _ARTIFICIAL_FLAG or length == _LARGEST_PART - 1
                        or at_end > len(pending)):
                    break
                event = pending[start:at_end]
                if packet != number or size != length or end not in ((position + size) & 0xFFFFFFFF, unknown_end):
                    break
                if checksums and crc32(event) != _CRC_OF_ALL:
                    break
                events.append(event)
                position += size
                at, number = at_end, (number + 1) & 255
            if not events:
                return None
            self.heartbeats = 0
            data, count = b"".join(events), len(events)
            for event in events:
                event.release()
            event.release()
        self._at, self._number, self.position = at, number, position
        return Run(data, count)

    def _packet(self) -> tuple[int, bytes] | None:
        """Return the next packet, with its continuations: its first byte, and the rest; None if it is not whole yet.
        Raises ConnectionLost; ArchiveError for a packet that is larger than its event's header says, or than any event
        can be."""
        at, number, parts = self._at, self._number, list[tuple[int, int]]()
        length, size, most = _LARGEST_PART, 0, self._most_of_packet()
        while length == _LARGEST_PART:
            head = self._pending[at:at + _HEADER_OF_PACKET]
            if len(head) < _HEADER_OF_PACKET:
                return None
            if head[3] != number:
                raise ConnectionLost(f"packet {head[3]} came for packet {number}")
            length = int.from_bytes(head[:3], "little")
            size += length
            if size > most:
                raise self._damaged("a packet of the server is larger than what is in it")
            end = at + _HEADER_OF_PACKET + length
            if len(self._pending) < end:
                return None
            parts.append((at + _HEADER_OF_PACKET, end))
            at, number = end, (number + 1) & 255
        first, last = parts[0]
        status = self._pending[first] if last > first else _EVENT
        parts[0] = first + 1, last
        with memoryview(self._pending) as pending:
            packet = b"".join(pending[first:last] for first, last in parts)
        self._at, self._number = at, number
        return status, packet

    def _most_of_packet(self) -> int:
        """Return the most bytes that the next packet can have, by the header of its event. Raises ArchiveError for an
        event that is larger than any event can be, without waiting for its end."""
        if len(self._pending) < self._at + _PACKET.size:
            return _LARGEST_PART
        *_, status, _, _, _, size, _, _ = _PACKET.unpack_from(self._pending, self._at)
        if status != _EVENT:
            return _LARGEST_PART - 1
        if size > MOST_BYTES:
            raise self._damaged(f"an event has {size:,} bytes, and none can have more than {MOST_BYTES:,}")
        return 1 + int(size)

    def _take(self, status: int, event: bytes) -> None:
        """Take an artificial event, or a packet that is not an event."""
        if status == _ERROR:
            raise SourceError(int.from_bytes(event[:2], "little"), event[8:].decode("utf-8", "replace"))
        if status == _END:
            self._found.append(EndOfLog())
            return
        if status != _EVENT or len(event) < HEADER_LENGTH or int.from_bytes(event[9:13], "little") != len(event):
            raise self._damaged("a packet of the server does not hold an event")
        kind, is_artificial = event[4], event[_FLAGS_AT] & _ARTIFICIAL_FLAG
        end = int.from_bytes(event[13:17], "little")
        has_checksum = zlib.crc32(event) == _CRC_OF_ALL
        if kind in (EventType.HEARTBEAT, EventType.HEARTBEAT_V2):
            self.heartbeats += 1
            return
        if kind == EventType.FORMAT_DESCRIPTION:
            self._begin(event, is_real=not is_artificial and end != 0 and self.position <= 4)
        elif kind == EventType.ROTATE and (is_artificial or not end):
            if len(event) < HEADER_LENGTH + 8:
                raise self._damaged("a rotation has no position")
            name = event[HEADER_LENGTH + 8:len(event) - CHECKSUM_LENGTH * has_checksum].decode("utf-8", "replace")
            self._rotate(check_file_name(name), int.from_bytes(event[HEADER_LENGTH:HEADER_LENGTH + 8], "little"))
        elif not is_artificial:
            self._keep(event, end, has_checksum)

    def _begin(self, event: bytes, is_real: bool) -> None:
        """Take a format description, which a server sends without the flag of a file in use. If events from within a
        file follow it, it is not the file's own."""
        try:
            description = parse_format_description(event)
        except ArchiveError as error:
            raise error.at(file=self.name, position=self.position) from None
        self._checksums, self._unknown_end = description.checksum, 0 if description.flavour == "mariadb" else _NONE
        if self._checksums and zlib.crc32(event) != _CRC_OF_ALL:
            raise self._damaged("the checksum of a format description does not match")
        if is_real:
            plain = bytearray(event)
            plain[_FLAGS_AT] &= ~IN_USE_FLAG
            self._keep(bytes(plain), int.from_bytes(event[13:17], "little"), True)

    def _rotate(self, name: str, position: int) -> None:
        """Note where the following events are: at the requested position, or in the next file. Raises ArchiveError if
        they are elsewhere: they would be written to a wrong file, or twice."""
        if name == self.name:
            if position != self.position:
                raise self._out_of_order(f"the server goes to position {position} of the same file")
            return
        if position != _FIRST_POSITION:
            raise self._out_of_order(f"the server begins {name} at position {position}")
        if self.name:
            base, number = base_and_number(self.name)
            next_base, next_number = base_and_number(name)
            if next_base != base or next_number <= number:
                raise self._out_of_order(f"the server continues with {name}, which does not follow {self.name}",
                                         "was `--log-bin` of the server changed, or its log reset? choose another "
                                         "--output")
            if self.position <= _FIRST_POSITION:
                raise self._out_of_order(f"the server continues with {name}, and sent nothing of {self.name}")
        self.name, self.position = name, position
        self._found.append(FileBegins(name))

    def _keep(self, event: bytes, end: int, has_checksum: bool) -> None:
        if end not in ((self.position + len(event)) & 0xFFFFFFFF, self._unknown_end):
            raise self._damaged(f"a {event_name(event[4])} event does not follow the one before it")
        if self._checksums and not has_checksum:
            raise self._damaged(f"the checksum of a {event_name(event[4])} event does not match")
        self.position += len(event)
        self.heartbeats = 0
        self._found.append(Run(event, 1))

    def _damaged(self, what: str) -> ArchiveError:
        return ArchiveError(what, file=self.name or None, position=self.position, errno=CORRUPT_EVENT,
                            hint="look at the file on the server with `mysqlbinlog --verify-binlog-checksum`")

    def _out_of_order(self, what: str, hint: str = "is it a server of MySQL or MariaDB?") -> ServerAnswerError:
        return ServerAnswerError(what, file=self.name or None, position=self.position if self.name else None, hint=hint)
