"""Reads the events of binlogs in order, for tools: headers at once, contents on demand (EV-ACC).

    import applier.binlog

    for event in applier.binlog.open("/backup/binlogs"):
        if event.name == "QUERY":
            print(event.file, event.position, event.content.database, event.content.text)

Needs no Spark, decodes no rows, and compiles kernels only for compressed events.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from applier.binlog.archive.archive import Archive, ArchiveFile, open_archive
from applier.binlog.events.contents import content_of
from applier.binlog.events.events import Event, read_event_at, read_events, read_format
from applier.binlog.events.format import FormatDescription
from applier.errors import ArchiveError
from applier.io.mapping import MappedFile, map_file
from applier.io.packing import log_name


@dataclass(frozen=True)
class FileEvent(Event):
    """An event of a file. It has these fields in addition to those of its header:

    `file` is the log's name, `format` the description of all events in the file's first one (server version, flavour).
    """

    mapped: MappedFile
    format: FormatDescription
    within: Event | None = None

    @property
    def file(self) -> str:
        return log_name(self.mapped.uri)

    @property
    def end_position(self) -> int:
        """The position of the next event in the file; for an event within a compressed one, of the event after the
        compressed one."""
        return self.end_log_pos if self.within is None else self.within.end_log_pos

    @cached_property
    def content(self) -> Any:
        """The event's content, by its type: a Query, Gtid, MappedTable, RowsHeader, Rotate, … (`contents` has all
        classes); None if the type has no fields, or is unknown. Raises ArchiveError (1610) if the body is malformed."""
        try:
            return content_of(self)
        except ArchiveError as reason:
            raise reason.at(file=self.mapped.uri) from None

    @property
    def checksum(self) -> int | None:
        """The CRC32 at the event's end, not compared here; None if the file has none."""
        if not self.format.checksum or self.within is not None:
            return None
        end = self.position + self.size
        return int.from_bytes(self.mapped.array[end - 4 : end].tobytes(), "little")

    def events(self) -> Iterator["FileEvent"]:
        """Return the events in a TRANSACTION_PAYLOAD, or the plain form of one of MariaDB's compressed events; no
        events for other types. They have the position of the enclosing event."""
        from applier.binlog.events.compression.compressed import (
            events_within,  # kernels: only compressed events need them
        )

        if self.is_compressed:
            for event in events_within(self.mapped, self, self.format):
                yield _of_file(event, self.mapped, self.format, self)

    def inner(self, data: bytes) -> "FileEvent":
        """Return an event within this one, given its bytes."""
        return _of_file(read_event_at(data, self.position, self.format), self.mapped, self.format, self)


def file_events(mapped: MappedFile, start: int = 4, end: int | None = None) -> Iterator[FileEvent]:
    """Yield the events in [start, end) of a file, by default all; an event must begin at `start`."""
    description = read_format(mapped)
    for event in read_events(mapped, start, end):
        yield _of_file(event, mapped, description)


def _of_file(event: Event, mapped: MappedFile, format: FormatDescription, within: Event | None = None) -> FileEvent:
    return FileEvent(event.position, event.type, event.timestamp, event.server_id, event.size, event.end_log_pos,
                     event.flags, event.group_id, event.body, mapped, format, within)


class EventReader:
    """Iterates over the events of `files`, in order, as often as needed."""

    def __init__(self, archive: Archive) -> None:
        self.files: tuple[ArchiveFile, ...] = archive.files

    def __iter__(self) -> Iterator[FileEvent]:
        """Yield all events, file by file. Raises ArchiveError (1610) for a damaged event, after the events before it.
        """
        for file in self.files:
            yield from self.events_of(file)

    def events_of(self, file: ArchiveFile) -> Iterator[FileEvent]:
        """Yield the events of one of the files."""
        return file_events(map_file(file.uri))


def open_reader(paths: tuple[str, ...]) -> EventReader:
    """Return a reader of the archive at these paths, as `open_archive` takes them."""
    return EventReader(open_archive(paths))
