"""Event groups that a replay excludes: the rule, and the excluded groups of a file."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from applier.binlog.events.gtid import GtidSet, Interval


@dataclass(frozen=True)
class LeavingOut:
    """Which event groups are excluded: those of `transactions`, whose sources are the parts of GTIDs before the number
    ("uuid", "uuid:tag", "domain-server"), and those of `servers`, by the server id in events, which is that of the
    originating server (GRP-6); with `others`, those of all other servers. The transactions `executed`, in the same
    form, are not applied either, since the base has them. Plain data, picklable."""

    transactions: GtidSet = field(default_factory=GtidSet)
    servers: tuple[int, ...] = ()
    others: bool = False
    executed: GtidSet = field(default_factory=GtidSet)

    @property
    def by_server(self) -> bool:
        """True if the rule depends on a group's server."""
        return self.others or bool(self.servers)


@dataclass(frozen=True)
class LeftOut:
    """The excluded parts of a file: the number of groups, and of their rows events; and the transactions that were
    excluded by GTID, by source as in LeavingOut. `executed` counts other groups, which the base has. `ranges` (packed)
    are the ranges of all these groups."""

    groups: int
    row_events: int
    ranges: bytes
    transactions: Mapping[str, tuple[Interval, ...]]
    executed: int = 0


def pack_ranges(ranges: np.ndarray) -> bytes:
    """Return ranges (int64[n, 2], ascending) in compact form: there may be as many as groups."""
    return zlib.compress(np.diff(ranges.reshape(-1), prepend=np.int64(0)).tobytes(), 1) if len(ranges) else b""


def unpack_ranges(packed: bytes) -> np.ndarray:
    """Return the argument of `pack_ranges`."""
    steps = np.frombuffer(zlib.decompress(packed), np.int64) if packed else np.empty(0, np.int64)
    return np.cumsum(steps).reshape(-1, 2)
