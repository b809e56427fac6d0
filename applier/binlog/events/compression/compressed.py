"""Inflates compressed events to plain events without checksums. Their format is described in compressed_kernel.

An Inflater works ahead of a kernel that walks a file: it inflates many small events together, and a large payload in
parts. It trusts no size: memory grows with the actual data, not with the size that an event claims.
"""

import ctypes
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from applier.binlog.events.compression import compressed_kernel as k
from applier.binlog.events.events import Event, read_event_at
from applier.binlog.events.format import FormatDescription, event_name
from applier.errors import CORRUPT_EVENT, ArchiveError, UnsupportedEvent
from applier.io.mapping import MappedFile
from keysearch.addresses import address_of

AHEAD_BYTES = 4 << 20
"""The number of bytes to inflate at a time, unless a single event has more."""
_AHEAD_EVENTS, _AHEAD_FILE_BYTES = 4096, 16 << 20
_MOST_EVENT_BYTES = (1 << 30) + 4096
"""The limit of max_allowed_packet plus a header: no event was larger before compression."""
_GUARD = bytes(64)



class _Found(NamedTuple):
    """An event as find_compressed describes it (FOUND)."""

    position: int
    prefix: int
    data: int
    end: int
    inflated: int
    form: int


class Inflater:
    """Inflates the compressed events of a file in order, when a kernel requests the next ones.

    `contents` (CONTENT[n]) describes them; it and the memory are valid until the next call.
    """

    def __init__(self, file: MappedFile, header_length: int, checksum_length: int) -> None:
        self._file, self._header_length, self._checksum_length = file, header_length, checksum_length
        self._bytes = file.array.data
        self._ahead: list[_Found] = []
        self._parts: Iterator[tuple[bytes, bool]] | None = None
        self._zstd = pa.Codec("zstd")
        self._memory = np.zeros(0, np.uint8)
        self.contents = np.zeros(0, k.CONTENT)

    @property
    def memory_end(self) -> int:
        """The end address of the memory of `contents`."""
        return address_of(self._memory) + len(self._memory)

    def advance(self, position: int, end: int, within: bool) -> None:
        """Inflate the next events, up to `end`: those from the compressed event at `position` on, or, if `within`, the
        next part of that event. Raises ArchiveError (1610) if that event is malformed; later events raise it when they
        are reached."""
        try:
            if not within:
                found = self._look_ahead(position, end)
                self._parts = self._cut(found[0]) if _is_large(found[0]) else None
            if self._parts is not None:
                part, goes_on = next(self._parts)
                self._set([position], [part], [len(part)], goes_on)
                self._ahead = self._ahead[1:] if not goes_on else self._ahead
            elif not self._inflate_together(found):
                self._inflate_several(found)
        except ArchiveError as error:
            raise error.at(file=self._file.uri, position=position) from None

    def _look_ahead(self, position: int, end: int) -> list[_Found]:
        """Return compressed events from `position` on; many are found at a time."""
        if not self._ahead or self._ahead[0].position != position:
            found = np.empty(_AHEAD_EVENTS, k.FOUND)
            size = int.from_bytes(self._bytes[position + 9:position + 13], "little")
            until = min(end, position + max(_AHEAD_FILE_BYTES, size))
            count = k.find_compressed(self._file.address, position, until, self._header_length, self._checksum_length,
                                      address_of(found), len(found))
            self._ahead = list(map(_Found._make, found[:count].tolist()))
        return self._ahead

    def _inflate_several(self, found: list[_Found]) -> None:
        """Inflate the first event, and following ones up to AHEAD_BYTES in sum, or up to a large or malformed event."""
        positions: list[int] = []
        parts: list[bytes | memoryview] = []
        lengths, total = [], 0
        for event in found:
            try:
                if positions and _is_large(event):
                    break
                data = self._inflated(event)
            except ArchiveError:
                if not positions:
                    raise
                break
            positions.append(event.position)
            parts += self._bytes[event.position:event.position + event.prefix], data
            lengths.append(event.prefix + len(data))
            total += lengths[-1]
            if total >= AHEAD_BYTES:
                break
        self._ahead = found[len(positions):]
        self._set(positions, parts, lengths, False)

    def _inflate_together(self, found: list[_Found]) -> bool:
        """Inflate the first zstd payloads as one stream: a decompressor for each costs more than inflating a small
        payload. Returns False if the contents of a payload are not whole events of the claimed length; inflating the
        payloads singly then finds it. (Wrong lengths that compensate each other by whole events pass, but no damage
        causes them.)"""
        lengths, total = [], 0
        for event in found:
            total += event.inflated
            if event.form != k.ZSTD or total > AHEAD_BYTES:
                break
            lengths.append(event.inflated)
        if len(lengths) < 2:
            return False
        frames = b"".join(self._bytes[event.data:event.end] for event in found[:len(lengths)])
        try:
            text = pa.CompressedInputStream(pa.BufferReader(frames), "zstd").read(sum(lengths) + 1)
        except OSError:
            return False
        ends = np.cumsum(lengths)
        memory = np.frombuffer(text, np.uint8)
        address = address_of(memory)
        if len(text) != ends[-1] or any(k.whole_events(address + end - length, length) != length
                                        for end, length in zip(ends.tolist(), lengths, strict=True)):
            return False
        self._ahead = found[len(lengths):]
        self._set([event.position for event in found[:len(lengths)]], [text], lengths, False)
        return True

    def _set(self, positions: list[int], parts: Sequence[bytes | memoryview], lengths: list[int],
             goes_on: bool) -> None:
        self._memory = np.frombuffer(bytearray().join((*parts, _GUARD)), np.uint8)
        self.contents = np.empty(len(positions), k.CONTENT)
        self.contents["position"] = positions
        self.contents["end"] = address_of(self._memory) + np.cumsum(lengths)
        self.contents["start"] = self.contents["end"] - lengths
        self.contents["goes_on"] = goes_on
        k.as_plain_events(address_of(self.contents), len(positions))

    def _inflated(self, found: _Found) -> bytes | memoryview:
        """Inflate a whole event."""
        data, length = self._bytes[found.data:found.end], found.inflated
        try:
            if found.form == k.ZSTD:
                inflated: bytes = self._zstd.decompress(data, length, asbytes=True)
                return inflated
            if found.form == k.ZLIB:
                stream = zlib.decompressobj()
                text = stream.decompress(data, min(length, _MOST_EVENT_BYTES) + 1)
                if len(text) != length or not stream.eof:
                    raise self._malformed(found)
                return text
        except (OSError, zlib.error) as reason:
            raise self._malformed(found, reason) from None
        self._check_form(found)
        return data

    def _cut(self, found: _Found) -> Iterator[tuple[bytes, bool]]:
        """Inflate some events of a large payload. The result says whether more follow."""
        pending, rest, total = b"", bytearray(), 0
        for part in self._read(found):
            total += len(part)
            rest += part
            memory = np.frombuffer(rest, np.uint8)
            whole = k.whole_events(address_of(memory), len(rest))
            del memory  # while it exists, `rest` cannot be cut
            next_size = int.from_bytes(rest[whole + 9:whole + 13], "little") if whole >= 0 else 0
            if whole < 0 or total > found.inflated or next_size > _MOST_EVENT_BYTES:
                raise self._malformed(found)
            if whole:
                if pending:
                    yield pending, True
                pending = bytes(memoryview(rest)[:whole])
                del rest[:whole]
        if rest or not pending or total != found.inflated:
            raise self._malformed(found)
        yield pending, False

    def _read(self, found: _Found) -> Iterator[bytes]:
        self._check_form(found)
        source = pa.BufferReader(pa.py_buffer(self._bytes[found.data:found.end]))
        try:
            stream = pa.CompressedInputStream(source, "zstd") if found.form == k.ZSTD else source
            while part := stream.read(AHEAD_BYTES):
                yield part
        except OSError as reason:
            raise self._malformed(found, reason) from None

    # ---- errors

    def _check_form(self, found: _Found) -> None:
        if found.form == k.UNKNOWN:
            raise UnsupportedEvent("a TRANSACTION_PAYLOAD event uses an unknown compression algorithm",
                                   hint="a newer version of this program may know it")
        if found.form == k.MALFORMED:
            raise self._malformed(found)

    def _malformed(self, found: _Found, reason: Exception | None = None) -> ArchiveError:
        name = event_name(self._bytes[found.position + 4])
        why = f": {reason}" if reason else ""
        return ArchiveError(f"the content of a {name} event does not match its header{why}",
                            errno=CORRUPT_EVENT, hint="the file is damaged; copy it again from the server")


def _is_large(found: _Found) -> bool:
    """Return True for a payload that is inflated in parts."""
    return found.inflated > AHEAD_BYTES and found.form in (k.ZSTD, k.NONE)


def events_within(file: MappedFile, event: Event, description: FormatDescription) -> Iterator[Event]:
    """Yield the events in a compressed event of the file, for tools; all have its position. Raises ArchiveError."""
    inflater = Inflater(file, description.header_length, description.checksum_length)
    goes_on, within, end = True, False, event.position + event.size
    while goes_on:
        inflater.advance(event.position, end, within)
        [(_, start, stop, more)] = inflater.contents.tolist()
        goes_on = bool(more)
        data, at = ctypes.string_at(start, stop - start), 0
        while at < len(data):
            size = int.from_bytes(data[at + 9:at + 13], "little")
            if size < description.header_length or at + size > len(data):
                raise ArchiveError("a compressed event does not contain events", file=file.uri,
                                   position=event.position, errno=CORRUPT_EVENT)
            yield read_event_at(data[at:at + size], event.position, description)
            at += size
        within = True
