"""Event groups that somebody leaves out of what is read, by GTID and by the server that they come from (GRP-6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from applier.binlog.locating.groups import Groups
from applier.binlog.locating.gtid_choice import GtidChoice


@dataclass(frozen=True)
class LeftOutGroups:
    """Left out are these transactions (None: none), groups of other servers than `servers`, if there are any, and those
    of `ignored_servers`."""

    gtids: GtidChoice | None = None
    servers: tuple[int, ...] = ()
    ignored_servers: tuple[int, ...] = ()

    @property
    def none(self) -> bool:
        """True if nothing is left out."""
        return self.gtids is None and not self.servers and not self.ignored_servers

    def mask(self, groups: Groups) -> np.ndarray:
        """Which of the groups are left out: bool[n]."""
        left_out: np.ndarray = np.isin(groups.servers, self.ignored_servers)
        if self.servers:
            left_out |= ~np.isin(groups.servers, self.servers)
        if self.gtids is not None:
            left_out |= self.gtids.chosen(groups.names, groups.sources, groups.numbers)
        return left_out


NONE_LEFT_OUT = LeftOutGroups()
