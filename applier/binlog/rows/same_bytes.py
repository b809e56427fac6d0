"""The bytes that a task reads, which have to be those that were outlined.

A file may change after its outline: a copy goes on, a tool writes into it, a disk fails. A task compares a split with
the digest that the outline has of it while the split is read, once a process; and once more at its end where the file
was touched meanwhile, since rows are gathered out of the mapping last. A file that only grows, as the newest one of a
server does, is touched, too, and its splits stay what they are.
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

CHANGED_HINT = "replay again, from files that nobody changes meanwhile"


class SameBytes:
    """The splits that one task reads, as a context. At its end those of files that were touched are compared again; an
    error there takes the place of any other, as that may come of the change. Raises ArchiveError."""

    def __init__(self) -> None:
        self._used: dict[MappedFile, set[OutlinedBytes]] = {}

    def __enter__(self) -> SameBytes:
        return self

    def walk(self, reader: ChangeReader, part: OutlinedBytes, start: int, end: int) -> None:
        """Have a reader walk the events of a split in [start, end), and compare the split."""
        for _ in self.steps(reader, part, start, end):
            pass

    def steps(self, reader: ChangeReader, part: OutlinedBytes, start: int, end: int) -> Iterator[None]:
        """`walk`, pausing as the reader does."""
        if (start, end) != (part.start, part.end):
            self.check(reader.file, part)
        self._used.setdefault(reader.file, set()).add(part)
        known = part in reader.file.checked
        yield from reader.steps(start, end, digests=not known)
        if not known:
            reader.file.check_whole()
            _compare_digest(reader.file, part, reader.digest)
            reader.file.checked.add(part)

    def check(self, file: MappedFile, part: OutlinedBytes) -> None:
        """Compare a split, unless a task of this process has done so and the file was not touched."""
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
    file.check_whole()
    if part.end > file.size:
        raise ArchiveError(f"the file has {file.size} bytes, of which there were at least {part.end} when it was "
                           "outlined: it changed while it was replayed", file=file.uri, position=file.size,
                           hint=CHANGED_HINT)
    digest = np.zeros(1, np.int64)
    reached = digest_events(file.address, part.start, part.end, part.header_length,
                            CHECKSUM_LENGTH if part.checksum else 0, digest.ctypes.data)
    file.check_whole()
    if reached != part.end:
        raise ArchiveError("an event here is not the one that was outlined: the file changed while it was replayed",
                           file=file.uri, position=int(reached), hint=CHANGED_HINT)
    _compare_digest(file, part, int(digest[0]))


def _compare_digest(file: MappedFile, part: OutlinedBytes, digest: int) -> None:
    if digest != part.digest:
        raise ArchiveError(f"the events from here to {part.end} are not those that were outlined: the file changed "
                           "while it was replayed", file=file.uri, position=part.start, hint=CHANGED_HINT)
