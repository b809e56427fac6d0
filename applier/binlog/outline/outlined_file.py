"""A binlog file for an outline: its head, and single events in Python.

The head is the format description and the events directly after it: the GTIDs that were executed before the file, and
encryption.
"""

import ctypes
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from applier.binlog.events.events import Event, encrypted, parse_gtid, read_event, read_event_at, read_format
from applier.binlog.events.format import HEADER_LENGTH, EventType, check_checksum
from applier.binlog.events.gtid import GtidSet
from applier.errors import ArchiveError
from applier.io.mapping import map_file
from applier.io.packing import log_name
from applier.io.relayed import begins_late, relayed_in

_TAIL_BYTES = 64 << 10
_HEAD = (EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.GTID_LIST, EventType.START_ENCRYPTION)


class OutlinedFile:
    """A mapped file with its format. `head_end` is the position after the `head_events`, which describe the file.

    Raises ArchiveError if the head cannot be read, EncryptedBinlog if the rest cannot. `verify`: compare the checksums
    of events that are read here.
    """

    def __init__(self, uri: str, verify: bool) -> None:
        self.uri, self.name, self.verify = uri, log_name(uri), verify
        self.mapped = map_file(uri, whole=False)
        self.format = read_format(self.mapped)
        self.previous_gtids = GtidSet()
        self.head_end = 4
        self.head_events = 0
        self.begun = 0  # epoch seconds, by the first event
        self._read_head()
        self._relayed = relayed_in(uri)
        if self._relayed is not None:
            self._pass_over_gap(begins_late(uri))
            if self._relayed.previous:
                self.previous_gtids = GtidSet.parse(self._relayed.previous)

    def _read_head(self) -> None:
        """Read the format description and the events directly after it. The kernel reports truncated events."""
        while self.head_end + HEADER_LENGTH <= self.mapped.size:
            at = self.head_end
            self.mapped.fetch(at, at + HEADER_LENGTH)
            header = self.mapped.array[at : at + HEADER_LENGTH].tobytes()
            size = int.from_bytes(header[9:13], "little")
            if at == 4:
                self.begun = int.from_bytes(header[:4], "little")
            if header[4] not in _HEAD or at + size > self.mapped.size:
                return
            event = self.read(at)
            if event.type == EventType.START_ENCRYPTION and not self.mapped.is_decrypted:
                raise encrypted(self.uri, at)
            if event.type == EventType.PREVIOUS_GTIDS:
                self.previous_gtids = GtidSet.from_previous_gtids_event(bytes(event.body))
            elif event.type == EventType.GTID_LIST:
                self.previous_gtids = GtidSet.from_gtid_list_event(bytes(event.body))
            self.head_end = at + size
            self.head_events += 1

    def _pass_over_gap(self, begins_late: bool) -> None:
        """In a log that consists of relay logs, skip the part before its first event, if the transactions in that part
        are known."""
        goes_on = True
        while goes_on and self.mapped.size - self.head_end >= HEADER_LENGTH:
            event = self.read(self.head_end)
            goes_on = event.type == EventType.BINLOG_CHECKPOINT or (not event.server_id and (
                event.type == EventType.IGNORABLE or (event.type == EventType.INCIDENT and begins_late)))
            if goes_on:
                self.head_end += event.size
                self.head_events += 1

    def read(self, position: int) -> Event:
        """Read an event, and verify its checksum."""
        event = read_event(self.mapped, position, self.format)
        if self.verify and self.format.checksum:
            try:
                check_checksum(self.mapped.array[position : position + event.size].tobytes())
            except ArchiveError as error:
                raise error.at(file=self.uri, position=position) from None
        return event

    def tail(self, position: int) -> str | None:
        """Return the digest of at most 64 KB directly before a position, without the file's head, in which a server
        changes a flag; None if there are no such bytes. Event groups have times, numbers and checksums of their own, so
        a file with the same tail is the same up to the position. None for a log that consists of relay logs, which may
        have fewer events than the source's."""
        begin = max(self.head_end, position - _TAIL_BYTES)
        if self._relayed is not None or not begin < position <= self.mapped.size:
            return None
        self.mapped.fetch(begin, position)
        return f"blake2b-128:{hashlib.blake2b(self.mapped.array[begin:position].tobytes(), digest_size=16).hexdigest()}"

    def ends_with_stop(self) -> bool:
        """Return True if the file's last event says that the server was shut down, or if relay logs do not contain the
        end of the log and it is known that nothing else is missing."""
        if self._relayed is not None and self._relayed.is_left:
            return True
        size = self.format.header_length + self.format.checksum_length
        self.mapped.fetch(max(0, self.mapped.size - size))
        header = self.mapped.array[max(0, self.mapped.size - size) :][:HEADER_LENGTH].tobytes()
        return (len(header) == HEADER_LENGTH and header[4] == EventType.STOP
                and [int.from_bytes(header[at : at + 4], "little") for at in (9, 13)] == [size, self.mapped.size])

    def gtid_at(self, position: int) -> str | None:
        """Return the GTID of the event at a position; None for position 0, and for an anonymous GTID."""
        if not position:
            return None
        event = read_event(self.mapped, position, self.format)
        return parse_gtid(event.type, event.body, event.server_id).text

    def bytes_at(self, offset: int, length: int) -> bytes:
        """Return bytes that the kernel found or copied, by an address relative to the file's."""
        return ctypes.string_at(self.mapped.address + offset, length)

    def size_at(self, offset: int) -> int:
        """Return the length of the event at an address relative to the file's."""
        return int.from_bytes(self.bytes_at(offset + 9, 4), "little")

    def gathered(self, offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the bytes at such addresses (int64[n]), one after the other, uint8."""
        if ((offsets >= 0) & (offsets < self.mapped.size)).all():
            before = np.cumsum(lengths) - lengths
            found: np.ndarray = self.mapped.array[np.arange(lengths.sum()) + np.repeat(offsets - before, lengths)]
            return found
        data = b"".join(map(self.bytes_at, offsets.tolist(), lengths.tolist()))
        return np.frombuffer(data, np.uint8).copy()

    def sizes_at(self, offsets: np.ndarray) -> np.ndarray:
        """Return the lengths (int64[n]) of the events at such addresses (int64[n])."""
        return self.gathered(offsets + 9, np.full(len(offsets), 4)).view("<u4").astype(np.int64)

    def kept_event(self, offset: int, position: int) -> Event:
        """Return an event from within the compressed one at a position."""
        return read_event_at(self.bytes_at(offset, self.size_at(offset)), position, self.format)

    def located(self, event: Event, parse: Callable[[Any], Any], data: Any) -> Any:
        """Parse an event's data. An error names the event's position."""
        try:
            return parse(data)
        except ArchiveError as reason:
            raise reason.at(file=self.uri, position=event.position) from None
