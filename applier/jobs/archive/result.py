"""The result of archiving."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Archived:
    """The result of one run: the `files` that it wrote to, the `complete` ones among them, which the source will no
    longer change, and the numbers of `events` and `bytes`. The archive now ends at `file`:`offset`, the end of an
    event; "" and 0 if the source had no events."""

    output: str
    files: int
    complete: int
    events: int
    bytes: int
    file: str
    offset: int
