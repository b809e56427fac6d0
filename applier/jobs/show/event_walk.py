"""Walks of kernels over a file's events, which they print or choose: what a kernel needs while it walks.

A walk has a state in memory (walk_records); a kernel stops where something is missing and goes on when it is there.
"""

import collections
import ctypes
from collections.abc import Callable

import numpy as np

from applier.binlog.archive.reader import FileEvent, file_events
from applier.binlog.events.compressed import Inflater
from applier.binlog.events.compressed_kernel import CONTENT_START
from applier.binlog.events.events import read_format
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.rows.table_ids import TableIds
from applier.errors import CORRUPT_EVENT, ApplierError, ArchiveError
from applier.io.mapping import MappedFile
from applier.jobs.show.kernels import walk_records as r
from keysearch.addresses import address_of

DAMAGED = "the file is damaged; copy it again from the server"


class EventWalk:
    """A walk over ranges of a file. `number_of` numbers a new table in the walk."""

    def __init__(self, mapped: MappedFile, number_of: Callable[[TableMap], int], inflates_all: bool) -> None:
        self.mapped, self.format, self._number_of = mapped, read_format(mapped), number_of
        self._inflater = Inflater(mapped, self.format.header_length, self.format.checksum_length)
        self._ids = TableIds()
        self._known: dict[bytes, tuple[int, np.ndarray]] = {}  # a table's number by its map's body, and that in memory
        self._state = np.zeros(r.STATE_WORDS, np.int64)
        self._ranges = np.zeros((0, 2), np.int64)
        for word, value in ((r.FILE_BYTES, mapped.size), (r.HEADER_BYTES, self.format.header_length),
                            (r.CHECKSUM_BYTES, self.format.checksum_length), (r.INFLATES_ALL, int(inflates_all)),
                            (r.CONTEXT_LENGTH, -1), (r.THREAD, -1)):
            self.set(word, value)

    def get(self, word: int) -> int:
        """A word of the state."""
        return int(self._state[word // 8])

    def set(self, word: int, value: int) -> None:
        """Change a word of the state."""
        self._state[word // 8] = value

    @property
    def address(self) -> int:
        """Where the state is."""
        return address_of(self._state)

    @property
    def position(self) -> int:
        """The position of the current event, or of the compressed event that holds it."""
        return self.get(r.POSITION)

    def begin(self, ranges: np.ndarray) -> None:
        """Go to the first of these ranges (int64[n, 2]: start, end)."""
        self._ranges = ranges
        for word, value in ((r.RANGE, address_of(ranges)), (r.RANGES_END, address_of(ranges) + ranges.nbytes),
                            (r.POSITION, int(ranges[0, 0]) >> r.INNER_BITS), (r.INNER, 0), (r.ROW_AT, 0),
                            (r.N_DIFFS, 0)):
            self.set(word, value)

    def run(self, kernel: Callable[[int, int], int]) -> int:
        """Run a kernel until it needs something that this class does not supply; returns its status. Raises
        ArchiveError if the file is damaged."""
        while True:
            self.set(r.IDS, self._ids.address)
            self.set(r.IDS_MASK, self._ids.mask)
            status = int(kernel(self.mapped.address, self.address))
            if status == r.NEW_TABLE:
                self.register(ctypes.string_at(self.get(r.DETAIL), self.get(r.WANTED_BYTES)))
            elif status == r.NEED_CONTENTS:
                self._inflate()
            elif status == r.NO_EVENT:
                raise self._no_event()
            else:
                return status

    def register(self, table_map: bytes) -> None:
        """Register a table by the body of its table map. Raises ArchiveError if that is malformed."""
        table_id, body = int.from_bytes(table_map[:6], "little"), table_map[6:]
        if body not in self._known:
            try:
                self._known[body] = self._number_of(parse_table_map(body)), np.frombuffer(body, np.uint8)
            except ApplierError as error:
                raise error.at(position=self.position) from None
        self._ids.set(table_id, *self._known[body])

    def event(self) -> FileEvent:
        """The current event."""
        event = next(file_events(self.mapped, self.position, self.position + 1))
        if not self.get(r.INNER):
            return event
        start, stop = self.get(r.START), self.get(r.STOP)
        return event.inner(ctypes.string_at(start, stop - start))

    @property
    def number(self) -> int | None:
        """The event's number in its payload, from 1."""
        return self.get(r.INNER_NUMBER) + 1 if self.get(r.INNER) else None

    def corrupt(self, what: str, table: str | None = None) -> ArchiveError:
        """The error for an event that makes no sense."""
        return ArchiveError(what, position=self.position, table=table, errno=CORRUPT_EVENT, hint=DAMAGED)

    def _inflate(self) -> None:
        within = self.get(r.INNER) != 0
        range_ = (self.get(r.RANGE) - address_of(self._ranges)) // self._ranges.strides[0]
        end = int(self._ranges[min(range_, len(self._ranges) - 1), 1]) >> r.INNER_BITS
        self._inflater.advance(self.position, max(end, self.position + self.get(r.SIZE)), within)
        contents = self._inflater.contents
        self.set(r.CONTENT, address_of(contents))
        self.set(r.CONTENTS_LEFT, len(contents))
        if within:
            self.set(r.INNER, int(contents[0, CONTENT_START]))

    def _no_event(self) -> ArchiveError:
        try:
            collections.deque(next(file_events(self.mapped, self.position)).events(), 0)
        except ArchiveError as error:
            return error
        return self.corrupt("an event with an impossible length")
