"""Reads the head of a binlog file: its first events, which describe it.

    FORMAT_DESCRIPTION   when the file was begun
    PREVIOUS_GTIDS       MySQL: every transaction that was logged before the file
    GTID_LIST            MariaDB: for each domain and server, the last number before the file
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from applier.binlog.archive.archive import ArchiveFile
from applier.binlog.events.events import encrypted
from applier.binlog.events.format import (
    HEADER,
    HEADER_LENGTH,
    IN_USE_FLAG,
    EventType,
    FormatDescription,
    check_checksum,
    check_magic,
    parse_format_description,
)
from applier.binlog.events.gtid import GtidSet, read_gtid_list
from applier.errors import CORRUPT_EVENT, ArchiveError
from applier.io.relayed import open_plain, relayed_in

_FIRST_READ = 8192
_LARGEST = 256 << 20
"""The most bytes of an event in a head: a larger length means that the file is damaged."""
_FLAGS_AT = 4 + 17


@dataclass(frozen=True)
class FileHead:
    """A file's head. `digest` is the CRC32 of its bytes (without the in-use flag); `first_id` is the group id of the
    next event, None without ids (GRP-3). `is_encrypted`: the file is encrypted, and a given key decrypts it."""

    format: FormatDescription
    created: int  # epoch seconds
    before: GtidSet  # MySQL; of a log in relay logs of MariaDB's, too
    last_numbers: dict[tuple[int, int], int]  # MariaDB: (domain, server) -> number
    digest: int
    first_id: int | None
    is_encrypted: bool = False

    @property
    def executed(self) -> GtidSet:
        """Everything that was executed before the file. For MariaDB, the last entry of a domain in the list is the
        domain's position."""
        return self.before or GtidSet.from_groups((*source, number) for source, number in self.last_numbers.items())


def read_head(file: ArchiveFile) -> FileHead:
    """Read the head of a file, a few KB in all. Raises ArchiveError or EncryptedBinlog, which name file and position.
    """
    position = 4
    try:
        with _Start(file) as start:
            check_magic(start.take(0, 4))
            format_event, position = _event(start, 4), 4
            description = parse_format_description(format_event)
            if description.checksum:
                check_checksum(format_event)
            before, last_numbers = GtidSet(), {}
            position += len(format_event)
            while (kind := start.take(position + 4, 1)) and kind[0] in _OF_THE_HEAD:
                event = _event(start, position)
                if description.checksum and not (kind[0] == EventType.START_ENCRYPTION and start.is_decrypted):
                    check_checksum(event)
                body = event[description.header_length : len(event) - description.checksum_length]
                if kind[0] == EventType.PREVIOUS_GTIDS:
                    before = GtidSet.from_previous_gtids_event(body)
                elif kind[0] == EventType.GTID_LIST:
                    last_numbers = {(domain, server): number for domain, server, number in read_gtid_list(body)}
                elif not start.is_decrypted:
                    raise encrypted(file.uri, position)
                position += len(event)
            if (relayed := relayed_in(file.uri)) is not None and relayed.previous:
                before, last_numbers = GtidSet.parse(relayed.previous), {}
            digest = zlib.crc32(_as_closed(start.take(0, position)))
            extra = start.take(position + HEADER_LENGTH, description.header_length - HEADER_LENGTH)
            is_encrypted = start.is_decrypted
    except OSError as reason:
        raise ArchiveError(f"the file cannot be read: {reason}", file=file.uri) from reason
    except ArchiveError as reason:
        raise reason.at(file=file.uri, position=position) from None
    created = HEADER.unpack_from(format_event)[0]
    return FileHead(description, created, before, last_numbers, digest, int.from_bytes(extra, "little") or None,
                    is_encrypted)


_OF_THE_HEAD = (EventType.PREVIOUS_GTIDS, EventType.GTID_LIST, EventType.START_ENCRYPTION)


class _Start:
    """The start of a file; more is read on demand."""

    def __init__(self, file: ArchiveFile) -> None:
        self._source = open_plain(file.uri, _FIRST_READ)
        self._data = b""

    def __enter__(self) -> _Start:
        return self

    @property
    def is_decrypted(self) -> bool:
        return self._source.is_encrypted

    def __exit__(self, *_: object) -> None:
        self._source.close()

    def take(self, at: int, size: int) -> bytes:
        """Return `size` bytes from `at` on, fewer at the end of the file."""
        if at + size > len(self._data):
            self._data += self._source.read(max(at + size - len(self._data), _FIRST_READ))
        return self._data[at : at + size]


def _event(start: _Start, position: int) -> bytes:
    """Return the whole event at a position. Raises ArchiveError if the file ends within it."""
    header = start.take(position, HEADER_LENGTH)
    size = int.from_bytes(header[9:13], "little")
    event = start.take(position, size) if size <= _LARGEST else b""
    if len(header) < HEADER_LENGTH or size < HEADER_LENGTH or len(event) < size:
        raise ArchiveError("the first events of the binlog are incomplete", errno=CORRUPT_EVENT,
                           hint="copy the file again from the server")
    return event


def _as_closed(head: bytes) -> bytes:
    """Return the head without the flag that says that the server is still writing the file."""
    flags = head[_FLAGS_AT] & ~IN_USE_FLAG
    return head[:_FLAGS_AT] + bytes([flags]) + head[_FLAGS_AT + 1 :]
