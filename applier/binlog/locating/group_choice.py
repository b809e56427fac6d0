"""Selects event groups: excludes them by GTID and by their originating server (GRP-6), or chooses them by the thread
that ran them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from applier.binlog.locating.groups import Groups
from applier.binlog.locating.gtid_choice import GtidChoice
from applier.errors import UsageError


@dataclass(frozen=True)
class LeftOutGroups:
    """The excluded groups: these transactions (None: none), groups of `ignored_servers`, and, if `servers` is not
    empty, groups of all other servers."""

    gtids: GtidChoice | None = None
    servers: tuple[int, ...] = ()
    ignored_servers: tuple[int, ...] = ()

    @property
    def none(self) -> bool:
        """True if no group is excluded."""
        return self.gtids is None and not self.servers and not self.ignored_servers

    def mask(self, groups: Groups) -> np.ndarray:
        """Return which of the groups are excluded: bool[n]."""
        left_out: np.ndarray = np.isin(groups.servers, self.ignored_servers)
        if self.servers:
            left_out |= ~np.isin(groups.servers, self.servers)
        if self.gtids is not None:
            left_out |= self.gtids.chosen(groups.names, groups.sources, groups.numbers)
        return left_out


NONE_LEFT_OUT = LeftOutGroups()
_WHY = "MariaDB before 11.5 does not log the thread of row changes"


def notes_on_threads(threads: Collection[int], n_chosen: int, n_unknown: int) -> list[str]:
    """Return notes for the user, given the number of event groups that these threads ran, and the number of those whose
    thread the log does not have. Raises UsageError if the threads ran no group."""
    if not n_chosen:
        raise UsageError(f"these binlogs contain no transaction of thread {' or '.join(map(str, threads))}",
                         hint=f"the log does not say which threads ran {n_unknown:,} event groups: {_WHY}" if n_unknown
                         else "`applier summary` lists the threads with the most rows")
    return [f"{n_unknown:,} event groups are left out, since the log does not say which threads ran them: {_WHY}"
            ] if n_unknown else []
