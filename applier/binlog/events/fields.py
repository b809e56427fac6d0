"""Reads the fields of an event's body in order. A read past its end means that the event is malformed (1610)."""

from struct import Struct
from typing import Any

from applier.errors import CORRUPT_EVENT, ArchiveError


def malformed(what: str, reason: Exception | str | None = None) -> ArchiveError:
    """Return the error for a body that contradicts itself; `what` is the event's name."""
    return ArchiveError(f"the {what} event is malformed" + (f": {reason}" if reason else ""), errno=CORRUPT_EVENT)


class Fields:
    """The rest of a body. Every method reads the next field, and raises ArchiveError if it is missing."""

    def __init__(self, what: str, body: bytes | memoryview, at: int = 0) -> None:
        self.what, self.body, self.at = what, bytes(body), at

    def unpack(self, layout: Struct) -> tuple[Any, ...]:
        return layout.unpack(self.take(layout.size))

    def number(self, size: int) -> int:
        """A little-endian unsigned integer of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.body):
            raise malformed(self.what, "it ends within a field")
        self.at += size
        return self.body[self.at - size : self.at]

    def packed(self) -> int:
        """A packed integer: one byte up to 250, else 252, 253 or 254 and 2, 3 or 8 bytes."""
        first = self.number(1)
        if first < 251:
            return first
        if first in (251, 255):
            raise malformed(self.what, f"a length starts with byte {first}")
        return self.number({252: 2, 253: 3, 254: 8}[first])

    def text(self, size: int) -> str:
        """Text as UTF-8; other bytes become surrogates (surrogateescape)."""
        return self.take(size).decode("utf-8", "surrogateescape")

    def until_zero(self) -> str:
        """Text up to a zero byte, which is consumed."""
        end = self.body.find(b"\0", self.at)
        if end < 0:
            raise malformed(self.what, "a text has no end")
        text = self.text(end - self.at)
        self.at += 1
        return text

    def rest(self) -> bytes:
        return self.take(len(self.body) - self.at)

    def rest_text(self) -> str:
        return self.rest().decode("utf-8", "surrogateescape")

    @property
    def left(self) -> int:
        return len(self.body) - self.at
