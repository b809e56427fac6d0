"""Walks of kernels over a file's events to print or select them, with the data that a kernel needs while it walks.

A walk has a state in memory (walk_records); a kernel stops if data is missing and continues when it is available.
"""

import collections
import ctypes
from collections.abc import Callable

import numpy as np

from applier.binlog.archive.reader import FileEvent, file_events
from applier.binlog.events.compression.compressed import Inflater
from applier.binlog.events.events import read_format
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.rows.table_ids import TableIds
from applier.errors import CORRUPT_EVENT, ApplierError, ArchiveError
from applier.io.mapping import MappedFile
from applier.jobs.show.kernels import walk_records as r
from applier.jobs.show.kernels.walk_records import Status
from keysearch.addresses import address_of

DAMAGED = "the file is damaged; copy it again from the server"


class EventWalk:
    """A walk over ranges of a file. `number_of` numbers a new table in the walk."""

    def __init__(self, mapped: MappedFile, number_of: Callable[[TableMap], int], inflates_all: bool) -> None:
        self.mapped, self.format, self._number_of = mapped, read_format(mapped), number_of
        self._inflater = Inflater(mapped, self.format.header_length, self.format.checksum_length)
        self._ids = TableIds()
        self._known: dict[bytes, tuple[int, np.ndarray]] = {}  # a table's number by its map's body, and that in memory
        self._state = np.zeros((), r.STATE)
        self._ranges = np.zeros(0, r.RANGE)
        self.set(file_bytes=mapped.size, header_bytes=self.format.header_length,
                 checksum_bytes=self.format.checksum_length, inflates_all=inflates_all, thread=-1, context=(0, -1))

    def get(self, field: str) -> int:
        """Return a field of the state."""
        return int(self._state[field])

    def set(self, **fields: int | tuple[int, int]) -> None:
        """Change fields of the state; a text is its address and length."""
        for field, value in fields.items():
            self._state[field] = value

    @property
    def address(self) -> int:
        """Where the state is."""
        return address_of(self._state)

    @property
    def position(self) -> int:
        """The position of the current event, or of the compressed event that holds it."""
        return self.get("position")

    def begin(self, ranges: np.ndarray) -> None:
        """Go to the first of these ranges (RANGE[n])."""
        self._ranges = ranges
        self.set(range=address_of(ranges), ranges_end=address_of(ranges) + ranges.nbytes,
                 position=int(ranges["start"][0]) >> r.INNER_BITS, inner=0, row_at=0, n_diffs=0)

    def run(self, kernel: Callable[[int, int], int]) -> Status:
        """Run a kernel until it needs something that this class does not supply; returns its status. Raises
        ArchiveError if the file is damaged."""
        while True:
            self.set(ids=self._ids.address, ids_mask=self._ids.mask)
            status = int(kernel(self.mapped.address, self.address))
            if status == Status.NEW_TABLE:
                self.register(ctypes.string_at(self.get("detail"), self.get("wanted_bytes")))
            elif status == Status.NEED_CONTENTS:
                self._inflate()
            elif status == Status.NO_EVENT:
                raise self._no_event()
            else:
                return Status(status)

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
        """Return the current event."""
        event = next(file_events(self.mapped, self.position, self.position + 1))
        if not self.get("inner"):
            return event
        start, stop = self.get("start"), self.get("stop")
        return event.inner(ctypes.string_at(start, stop - start))

    @property
    def number(self) -> int | None:
        """The event's number in its payload, from 1."""
        return self.get("inner_number") + 1 if self.get("inner") else None

    def corrupt(self, what: str, table: str | None = None) -> ArchiveError:
        """Return the error for a malformed event."""
        return ArchiveError(what, position=self.position, table=table, errno=CORRUPT_EVENT, hint=DAMAGED)

    def _inflate(self) -> None:
        within = self.get("inner") != 0
        range_ = (self.get("range") - address_of(self._ranges)) // r.RANGE_BYTES
        end = int(self._ranges["end"][min(range_, len(self._ranges) - 1)]) >> r.INNER_BITS
        self._inflater.advance(self.position, max(end, self.position + self.get("size")), within)
        contents = self._inflater.contents
        self.set(content=address_of(contents), contents_left=len(contents))
        if within:
            self.set(inner=int(contents["start"][0]))

    def _no_event(self) -> ArchiveError:
        try:
            collections.deque(next(file_events(self.mapped, self.position)).events(), 0)
        except ArchiveError as error:
            return error
        return self.corrupt("an event with an impossible length")
