"""Places in a log: as a user gives them (FILE:POS, a GTID set, or a time), and as results have them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from applier.binlog.events.gtid import GtidSet

POSITION, GTIDS, TIME = "a position (FILE:POS)", "a GTID set", "a time"


@dataclass(frozen=True)
class Place:
    """A position, a set of executed transactions, or a time in seconds since 1970, just one of them; and its text."""

    text: str
    position: tuple[str, int] | None = None
    gtid_set: GtidSet | None = None
    time: float | None = None

    @property
    def kind(self) -> str:
        """Which of the three the user gave."""
        return POSITION if self.position is not None else GTIDS if self.gtid_set is not None else TIME


class _HasTimestamp(Protocol):
    @property
    def timestamp(self) -> int | None: ...


class _HasGtidSet(Protocol):
    @property
    def gtid_set(self) -> str: ...


class Timed:
    """A result with a `timestamp`, in seconds since 1970 UTC, or None."""

    @property
    def time(self: _HasTimestamp) -> datetime | None:
        """The timestamp as a datetime, in UTC."""
        return None if self.timestamp is None else datetime.fromtimestamp(self.timestamp, UTC)


class Executed:
    """A result with a `gtid_set` as the server writes it, "" without GTIDs."""

    @property
    def gtids(self: _HasGtidSet) -> GtidSet:
        """The transactions of `gtid_set`."""
        return GtidSet.parse(self.gtid_set)
