"""Memory for rows events from compressed events. It contains the images of their rows, as the file does for other
events.

The kernel that walks the changes fills a buffer with pairs of an INFLATED record and a rows event.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from applier.io.mapping import MappedFile
from keysearch.addresses import address_of
from keysearch.records import packed

INFLATED, inflated_at = packed("inflated event", file_event=np.int64, length=np.int64)
"""The record before a rows event: the address of the compressed event in the file's memory, and the length of the rows
event."""
INFLATED_BYTES = INFLATED.itemsize
BUFFER_BYTES = 4 << 20


@dataclass(frozen=True, eq=False)
class EventBuffer(MappedFile):
    """A buffer, as the memory of images. `file_address` is where the file is mapped."""

    file_address: int

    def position_of(self, address: int) -> int:
        """Return the position in the file of the compressed event that contains the row at an address."""
        at = 0
        while True:
            file_event, length = self.array[at : at + INFLATED_BYTES].view(INFLATED)[0].tolist()
            at += INFLATED_BYTES + length
            if address < self.address + at:
                position: int = file_event - self.file_address
                return position


class InflatedEvents:
    """The buffers of one reader. `keep` is called with each buffer before it is filled. Without `keep` there is one
    buffer at a time, whose rows are valid until the next one is filled."""

    def __init__(self, uri: str, file_address: int, keep: Callable[[MappedFile], None] | None):
        self._uri, self._file_address, self._keep = uri, file_address, keep
        self._current: EventBuffer | None = None

    @property
    def is_kept(self) -> bool:
        return self._keep is not None

    def next(self, length: int) -> EventBuffer:
        """Return a buffer with room for at least one rows event of `length` bytes."""
        size = max(BUFFER_BYTES, INFLATED_BYTES + length)
        if self._current is None or self.is_kept or self._current.size < size:
            array = np.empty(size, np.uint8)
            self._current = EventBuffer(self._uri, size, array, address_of(array), self._file_address)
            if self._keep is not None:
                self._keep(self._current)
        return self._current
