"""The text that waits for the end of a statement: BINLOG statements and rows, which stand behind the headers of all
events, and of MariaDB header lines. Of the first two, parts that a kernel has no room for are kept in memory, and large
ones on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

import numpy as np

from applier.jobs.show.event_walk import EventWalk
from keysearch.addresses import address_of

ROOM = 1 << 18
IN_MEMORY = 64 << 20
_PART = 1 << 20


class LaterText:
    """The texts of one walk that wait."""

    def __init__(self, walk: EventWalk) -> None:
        self._walk = walk
        self._heads, self._rows, self._code = (_Text(walk, name, ROOM) for name in ("heads", "rows", "code"))

    def make_room(self) -> None:
        """Keep the kernel's text; if an event in base64 is larger than the room, make more."""
        kept = [self._rows.keep(), self._code.keep()]
        if not any(kept):
            for text in (self._heads, self._rows, self._code):
                text.grow()
        else:
            self._walk.set(has_parts=1)

    def add_head(self, text: bytes) -> None:
        """Have a header line wait, too."""
        self._heads.add(text)

    def taken(self) -> Iterator[bytes]:
        """Yield all of it, in parts; nothing waits after that."""
        yield from self._heads.taken()
        end = b""
        for part in self._code.taken():
            yield part if end else b"\nBINLOG '\n" + part
            end = b"'/*!*/;\n"
        yield end
        yield from self._rows.taken()
        self._walk.set(has_parts=0)


class _Text:
    """One text: the memory that a kernel writes it to, and its earlier parts."""

    def __init__(self, walk: EventWalk, name: str, room: int) -> None:
        self._walk, self._name = walk, name
        self._parts: IO[bytes] | None = None
        self._use(room, np.empty(0, np.uint8))

    def _use(self, room: int, text: np.ndarray) -> None:
        self._memory = np.empty(room, np.uint8)
        self._memory[:len(text)] = text
        start = address_of(self._memory)
        self._walk.set(**{f"{self._name}_start": start, f"{self._name}_out": start + len(text),
                          f"{self._name}_end": start + room})

    def grow(self) -> None:
        """Double the room, for the current text and more."""
        length = self._walk.get(f"{self._name}_out") - self._walk.get(f"{self._name}_start")
        self._use(2 * len(self._memory), self._memory[:length])

    def add(self, text: bytes) -> None:
        """Append to the text in memory."""
        start = self._walk.get(f"{self._name}_start")
        length = self._walk.get(f"{self._name}_out") - start
        while length + len(text) > len(self._memory):
            self.grow()
        self._memory[length:length + len(text)] = np.frombuffer(text, np.uint8)
        self._walk.set(**{f"{self._name}_out": self._walk.get(f"{self._name}_start") + length + len(text)})

    def keep(self) -> bool:
        """Move the text in memory to the earlier parts; False if there is none."""
        start = self._walk.get(f"{self._name}_start")
        length = self._walk.get(f"{self._name}_out") - start
        if length:
            self._parts = self._parts or tempfile.SpooledTemporaryFile(IN_MEMORY)
            self._parts.write(self._memory[:length].tobytes())
            self._walk.set(**{f"{self._name}_out": start})
        return length > 0

    def taken(self) -> Iterator[bytes]:
        """Yield the text, which is not kept."""
        self.keep()
        if self._parts is not None:
            self._parts.seek(0)
            while part := self._parts.read(_PART):
                yield part
            self._parts.close()
            self._parts = None
