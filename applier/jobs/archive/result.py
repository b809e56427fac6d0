"""The result of archiving."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Archived:
    """What one run copied: `files` that it wrote to, `complete` ones among them, which the source will not change any
    more, `events` and `bytes`. The archive now goes up to `file`:`offset`, the end of an event; "" and 0 if the source
    had nothing."""

    output: str
    files: int
    complete: int
    events: int
    bytes: int
    file: str
    offset: int
