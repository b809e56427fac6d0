"""A log of the source, reassembled from its replica's relay logs: the same events at the same positions.

Their locations are in the location itself (RelayedLocation), which is passed like any other one to readers of logs,
also to tasks on other machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from applier.errors import CORRUPT_EVENT, ArchiveError, reason
from applier.io.encryption.decrypting import MAGIC
from applier.io.encryption.keys import keys_of
from applier.io.plain_stream import READ_BYTES, PlainStream
from applier.io.resolver import resolve
from keysearch.addresses import address_of

RELAY_LOG_FLAG = 0x40
"""Of events that are a replica's own."""
_FORMAT_DESCRIPTION = 15
_FLAGS_AT, _TYPE_AT = len(MAGIC) + 17, len(MAGIC) + 4
_START_BYTES = 8192
_ROOM = READ_BYTES + (2 << 20)


@dataclass(frozen=True)
class RelayedPart:
    """A part of a relay log with events of the source's: offsets in it, the bytes of its events' checksums, and, if a
    connection begins with it, where in the source's log."""

    location: str
    start: int
    end: int
    checksum_bytes: int
    connected_at: int | None = None


@dataclass(frozen=True)
class Relayed:
    """The parts of a log of the source: its format description, and parts of relay logs, in order. Between the first
    and `nothing_before` the source has no event group. `previous` are the transactions before: before the log, or, if
    it `begins_late`, before its first event here. `sources` are the servers of all transactions. With MariaDB the
    replica may not have requested ANNOTATE_ROWS, so it `lacks_annotations`. A log `is_left` if a connection continues
    in a later one: its end may be missing here, but nothing else."""

    format_description: bytes
    parts: tuple[RelayedPart, ...]
    nothing_before: int
    previous: str = ""
    begins_late: bool = False
    sources: frozenset[str] = frozenset()
    lacks_annotations: bool = False
    is_left: bool = False


class RelayedLocation(str):
    """The location of a log of the source, which has no file."""

    relayed: Relayed

    def __new__(cls, location: str, relayed: Relayed) -> RelayedLocation:
        made = super().__new__(cls, location)
        made.relayed = relayed
        return made

    def __reduce__(self) -> tuple[type[RelayedLocation], tuple[str, Relayed]]:
        return RelayedLocation, (str(self), self.relayed)


def relayed_in(location: str) -> Relayed | None:
    """Return the parts of the log at a location, if it consists of relay logs."""
    return location.relayed if isinstance(location, RelayedLocation) else None


def begins_late(location: str) -> bool:
    """Return whether the log's first events are in no relay log, although it is known which transactions precede the
    first one that is."""
    relayed = relayed_in(location)
    return relayed is not None and relayed.begins_late and bool(relayed.previous)


def open_plain(location: str, buffer_bytes: int = READ_BYTES) -> PlainStream | RelayedStream:
    """The plain bytes of a log, whatever it is in. Errors as of PlainStream."""
    relayed = relayed_in(location)
    return PlainStream(*resolve(location), location, buffer_bytes) if relayed is None else \
        RelayedStream(location, relayed, buffer_bytes)


def is_relay_log(location: str) -> bool:
    """Return whether a file is a relay log; False if it is not a log. Raises ArchiveError if it cannot be read."""
    try:
        with open_plain(location, _START_BYTES) as stream:
            start = stream.read(_FLAGS_AT + 2)
    except OSError as error:
        raise ArchiveError(f"the file cannot be read: {reason(error)}", file=location) from error
    except ArchiveError:
        return False
    return (len(start) == _FLAGS_AT + 2 and start[_TYPE_AT] == _FORMAT_DESCRIPTION
            and start.startswith(MAGIC) and bool(start[_FLAGS_AT] & RELAY_LOG_FLAG))


def identity(relayed: Relayed) -> str:
    """Return a digest of the parts of the log: other bytes have another one. Raises OSError."""
    stamps = []
    for part in relayed.parts:
        filesystem, path = resolve(part.location)
        info = filesystem.get_file_info(path)
        stamps.append((part, info.size, info.mtime_ns, keys_of(part.location)))
    return hashlib.blake2b(repr((relayed.format_description, stamps, relayed.nothing_before, relayed.is_left)).encode(),
                           digest_size=16).hexdigest()


class RelayedStream:
    """The bytes of a log of the source's, from its beginning; a context manager, as PlainStream is."""

    is_encrypted = False

    def __init__(self, location: str, relayed: Relayed, buffer_bytes: int = READ_BYTES) -> None:
        self.uri, self._relayed, self._buffer_bytes = location, relayed, buffer_bytes
        from applier.io import relayed_kernel as kernels  # few logs need them

        self._kernels, self._state = kernels, np.zeros((), kernels.STATE)
        self._ready = MAGIC + relayed.format_description
        self._chunks = self._events()
        for field in ("position", "head_end"):
            self._state[field] = len(self._ready)
        self._state["nothing_before"] = relayed.nothing_before
        self._state["lacks_annotations"] = relayed.lacks_annotations

    def __enter__(self) -> RelayedStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Read no more."""
        self._chunks.close()

    def read(self, size: int) -> bytes:
        """The next bytes, `size` but at the end, where there are fewer."""
        parts, left = [self._ready[:size]], size - len(self._ready)
        self._ready = self._ready[size:]
        while left > 0 and (chunk := next(self._chunks, b"")):
            parts.append(chunk[:left])
            self._ready = chunk[left:]
            left -= len(chunk)
        return b"".join(parts)

    def _events(self) -> Generator[bytes, None, None]:
        for part in self._relayed.parts:
            with PlainStream(*resolve(part.location), part.location, self._buffer_bytes) as stream:
                _pass_over(stream, part.start, self._buffer_bytes)
                torn = yield from self._events_of(part, stream)
                if torn and part is not self._relayed.parts[-1]:
                    raise _damaged("an event of the relay log is not whole", part, part.end - len(torn))
        if self._relayed.parts:
            yield torn

    def _events_of(self, part: RelayedPart, stream: PlainStream) -> Generator[bytes, None, bytes]:
        """Yield the events of a part, at their positions. Returns the rest behind the whole ones."""
        k, state, left, rest = self._kernels, self._state, part.end - part.start, b""
        state["checksum_bytes"] = part.checksum_bytes
        if part.connected_at is not None:
            state["before"] = part.connected_at
        room = np.empty(_ROOM, np.uint8)
        while left and (read := stream.read(min(left, max(self._buffer_bytes, len(rest))))):
            left -= len(read)
            data = np.frombuffer(rest + read, np.uint8)
            if len(data) > len(room):
                room = np.empty(2 * len(data), np.uint8)
            start = address_of(data)
            state["at"], state["end"] = start, start + len(data)
            status = k.NEED_ROOM
            while status == k.NEED_ROOM:
                state["to"], state["to_end"] = address_of(room), address_of(room) + len(room)
                status = k.assemble(address_of(state))
                if done := int(state["to"]) - address_of(room):
                    yield room[:done].tobytes()
            rest = data[int(state["at"]) - start :].tobytes()
            if status != k.NEED_INPUT:
                what = "the checksum of an event of the relay log does not match" if status == k.BAD_CHECKSUM else \
                    "an event of the relay log has an impossible length or position"
                raise _damaged(what, part, part.end - left - len(rest))
        return rest


def _damaged(what: str, part: RelayedPart, position: int) -> ArchiveError:
    return ArchiveError(what, file=part.location, position=position, errno=CORRUPT_EVENT,
                        hint="copy the file again from the replica")


def _pass_over(stream: PlainStream, size: int, part_bytes: int) -> None:
    while size and (read := stream.read(min(size, part_bytes))):
        size -= len(read)
