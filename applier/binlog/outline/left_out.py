"""Event groups that a replay leaves out: the rule, and the groups of a file that it left out."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from applier.binlog.events.gtid import GtidSet, Interval


@dataclass(frozen=True)
class LeavingOut:
    """Which event groups are left out: those of `transactions`, whose sources are what a GTID has before its number
    ("uuid", "uuid:tag", "domain-server"), and those of `servers`, by the server id in events, which is that of the
    server where the group came from (GRP-6); with `others`, those of all other servers. The transactions `executed`,
    with sources alike, are not applied either: the base has them. Plain data, picklable."""

    transactions: GtidSet = field(default_factory=GtidSet)
    servers: tuple[int, ...] = ()
    others: bool = False
    executed: GtidSet = field(default_factory=GtidSet)

    @property
    def by_server(self) -> bool:
        """True if a group's server decides."""
        return self.others or bool(self.servers)


@dataclass(frozen=True)
class LeftOut:
    """The excluded parts of a file: how many groups, and rows events in them; and, if chosen by GTID, the transactions
    by source as in LeavingOut. `executed` counts other groups, which the base has. `ranges` (packed) are the ranges of
    all these groups."""

    groups: int
    row_events: int
    ranges: bytes
    transactions: Mapping[str, tuple[Interval, ...]]
    executed: int = 0


def pack_ranges(ranges: np.ndarray) -> bytes:
    """Ranges (int64[n, 2], ascending) in little room: there may be as many as groups."""
    return zlib.compress(np.diff(ranges.reshape(-1), prepend=np.int64(0)).tobytes(), 1) if len(ranges) else b""


def unpack_ranges(packed: bytes) -> np.ndarray:
    """Return the argument of `pack_ranges`."""
    steps = np.frombuffer(zlib.decompress(packed), np.int64) if packed else np.empty(0, np.int64)
    return np.cumsum(steps).reshape(-1, 2)
