"""Ensures that the bytes that a task reads are those that were outlined.

A file may change after its outline: a copy continues, a tool writes to it, a disk fails. A task compares a split with
the outline's digest while it reads the split, once per process. It compares it again at its end if the file was
modified meanwhile, since rows are gathered from the mapping last. A file that only grows, like a server's newest one,
is modified, too, but its splits stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

import numpy as np

from applier.binlog.events.digest_kernel import digest_events
from applier.binlog.events.format import CHECKSUM_LENGTH
from applier.binlog.outline.outline import OutlinedBytes
from applier.binlog.rows.changes import ChangeReader
from applier.errors import ArchiveError
from applier.io.mapping import MappedFile
from keysearch.addresses import address_of

CHANGED_HINT = "replay again, from files that nobody changes during the replay"


class SameBytes:
    """The splits that one task reads, as a context manager. At its end, splits of modified files are compared again; an
    error there replaces any other error, which the modification may have caused. Raises ArchiveError."""

    def __init__(self) -> None:
        self._used: dict[MappedFile, set[OutlinedBytes]] = {}

    def __enter__(self) -> SameBytes:
        return self

    def walk(self, reader: ChangeReader, part: OutlinedBytes, start: int, end: int) -> None:
        """Have a reader walk the events of a split in [start, end), and compare the split."""
        for _ in self.steps(reader, part, start, end):
            pass

    def steps(self, reader: ChangeReader, part: OutlinedBytes, start: int, end: int) -> Iterator[None]:
        """Like `walk`, but pause when the reader does."""
        if (start, end) != (part.start, part.end):
            self.check(reader.file, part)
        self._used.setdefault(reader.file, set()).add(part)
        known = part in reader.file.checked
        reader.file.fetch(part.start, part.end)
        yield from reader.steps(start, end, digests=not known)
        if not known:
            reader.file.check_whole()
            _compare_digest(reader.file, part, reader.digest)
            reader.file.checked.add(part)

    def check(self, file: MappedFile, part: OutlinedBytes) -> None:
        """Compare a split, unless a task of this process has done so since the file was last modified."""
        self._used.setdefault(file, set()).add(part)
        if part not in file.checked:
            _compare(file, part)
            file.checked.add(part)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None and not issubclass(kind, Exception):  # interrupted, or a generator that is closed
            return
        for file, parts in self._used.items():
            touched = file.was_touched()
            for part in parts:
                if touched or part not in file.checked:  # an error has ended the walk
                    _compare(file, part)


def _compare(file: MappedFile, part: OutlinedBytes) -> None:
    file.fetch(part.start, part.end)
    file.check_whole()
    if part.end > file.size:
        raise ArchiveError(f"the file has {file.size} bytes, but had at least {part.end} when it was outlined: it "
                           "changed during the replay",
                           file=file.uri, position=file.size,
                           hint=CHANGED_HINT)
    digest = np.zeros(1, np.int64)
    reached = digest_events(file.address, part.start, part.end, part.header_length,
                            CHECKSUM_LENGTH if part.checksum else 0, address_of(digest))
    file.check_whole()
    if reached != part.end:
        raise ArchiveError("the event here differs from the one that was outlined: the file changed during the replay",
                           file=file.uri, position=int(reached), hint=CHANGED_HINT)
    _compare_digest(file, part, int(digest[0]))


def _compare_digest(file: MappedFile, part: OutlinedBytes, digest: int) -> None:
    if digest != part.digest:
        raise ArchiveError(f"the events from here to {part.end} differ from those that were outlined: the file "
                           "changed during the replay",
                           file=file.uri, position=part.start, hint=CHANGED_HINT)
