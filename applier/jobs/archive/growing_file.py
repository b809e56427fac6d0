"""A growing file of the archive. Its contents on disk are whole events, except for a tail cut off by a kill.

Bytes are appended and never rewritten, so that others may read the file meanwhile. It is complete when a file with a
higher number exists, which is created only after this one is durable.
"""

from __future__ import annotations

import mmap
import os
import time
import zlib
from contextlib import suppress
from functools import partial

from applier.binlog.events.format import (
    CHECKSUM_LENGTH,
    HEADER,
    HEADER_LENGTH,
    IN_USE_FLAG,
    MAGIC,
    EventType,
    FormatDescription,
    check_checksum,
    parse_format_description,
)
from applier.errors import ArchiveError
from applier.io.disk import durable

_FLAGS_AT = 17
_SYNC_SECONDS = 1.0
"""The longest time for which written data may not be durable."""


class GrowingFile:
    """An existing binlog to which events are added. `size` is also the position of the next one."""

    def __init__(self, path: str, size: int) -> None:
        self.path, self.size = path, size
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._synced, self._is_dirty = time.monotonic(), False

    @classmethod
    def created(cls, path: str, events: bytes, mode: int) -> GrowingFile:
        """Create a file, atomically with its first events. Errors: FileExistsError, OSError."""
        if os.path.exists(path):
            raise FileExistsError(path)
        folder, name = os.path.split(path)
        begun = os.path.join(folder, f".{name}.begun")
        with suppress(FileNotFoundError):  # left by a run that was killed
            os.remove(begun)
        with open(begun, "xb", opener=partial(os.open, mode=0o600)) as file:
            os.fchmod(file.fileno(), mode)
            file.write(MAGIC + events)
            file.flush()
            os.fsync(file.fileno())
        os.rename(begun, path)
        durable.sync([folder])
        return cls(path, len(MAGIC) + len(events))

    @property
    def name(self) -> str:
        """The log's name."""
        return os.path.basename(self.path)

    def append(self, data: bytes) -> None:
        """Write whole events. Errors: OSError; a part of them may be in the file then, which `whole_part` detects."""
        rest = memoryview(data)
        while rest:
            written = os.write(self._handle, rest)
            rest = rest[written:]
        self.size += len(data)
        self._is_dirty = True
        self.sync_if_due()

    def sync_if_due(self) -> None:
        """Sync, unless the last sync was less than _SYNC_SECONDS ago."""
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until everything written is on the disk."""
        if self._is_dirty:
            os.fsync(self._handle)
        self._synced, self._is_dirty = time.monotonic(), False

    def close(self) -> None:
        """Sync, and close the file."""
        self.sync()
        os.close(self._handle)


def whole_part(path: str) -> int:
    """Return the end of the last event up to which a file is whole: lengths fit, checksums match, and positions follow
    each other, except those that are 0, as within groups of MariaDB 11.8. Return 0 if not even the format description
    is whole."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < len(MAGIC) + HEADER_LENGTH:
            return 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as data:
            description = _description(data)
            return 0 if description is None else _whole(data, description)


def head_of(path: str) -> bytes:
    """Return the first two events of a file, or its only one. They say when and by which server the file was begun, and
    which transactions precede it. The format description is the one of a closed file."""
    with open(path, "rb") as file:
        file.seek(len(MAGIC))
        events: list[bytes] = []
        while len(events) < 2 and len(header := file.read(HEADER_LENGTH)) == HEADER_LENGTH:
            events.append(header + file.read(HEADER.unpack(header)[3] - HEADER_LENGTH))
    data = bytearray(b"".join(events))
    data[_FLAGS_AT] &= ~IN_USE_FLAG
    return bytes(data)


def says_that_it_ends(path: str, following: str) -> bool:
    """Return True if a file's last event says that this file follows, or that the server was stopped. A server that
    crashed did not write such an event."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for kind, length in ((EventType.ROTATE, HEADER_LENGTH + 8 + len(following)), (EventType.STOP, HEADER_LENGTH)):
            for event_size in (length, length + CHECKSUM_LENGTH):
                file.seek(max(0, size - event_size))
                header = file.read(HEADER_LENGTH)
                if len(header) == HEADER_LENGTH and (header[4], HEADER.unpack(header)[3]) == (kind, event_size):
                    return True
    return False


def _description(data: memoryview) -> FormatDescription | None:
    size = HEADER.unpack_from(data, len(MAGIC))[3]
    event = bytes(data[len(MAGIC):len(MAGIC) + size])
    try:
        description = parse_format_description(event)
        if len(event) != size or data[:len(MAGIC)] != MAGIC:
            return None
        if description.checksum:
            check_checksum(event)
    except ArchiveError:
        return None
    return description


def _whole(data: memoryview, description: FormatDescription) -> int:
    at: int = len(MAGIC) + HEADER.unpack_from(data, len(MAGIC))[3]
    end = len(data)
    while at + HEADER_LENGTH <= end:
        _, _, _, size, next_at, _ = HEADER.unpack_from(data, at)
        if size < HEADER_LENGTH or at + size > end or next_at not in (0, (at + size) & 0xFFFFFFFF):
            break
        if description.checksum and zlib.crc32(data[at:at + size - CHECKSUM_LENGTH]) != int.from_bytes(
                data[at + size - CHECKSUM_LENGTH:at + size], "little"):
            break
        at += size
    return at
