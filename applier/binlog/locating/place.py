"""A position in a log, as a user gives it: FILE:POS, a GTID set, or a time."""

from __future__ import annotations

from dataclasses import dataclass

from applier.binlog.events.gtid import GtidSet

POSITION, GTIDS, TIME = "a position (FILE:POS)", "a GTID set", "a time"


@dataclass(frozen=True)
class Place:
    """Just one of a position, a set of transactions that were executed, and a time in seconds since 1970; and the text
    that says it."""

    text: str
    position: tuple[str, int] | None = None
    gtid_set: GtidSet | None = None
    time: float | None = None

    @property
    def kind(self) -> str:
        """What it is, as people give it."""
        return POSITION if self.position is not None else GTIDS if self.gtid_set is not None else TIME
