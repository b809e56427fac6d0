"""Targets of a search, and where they may be: by the heads of files, by ranges of the index, and by the groups
themselves."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.group_ranges import GroupRange
from applier.binlog.locating.groups import Groups
from applier.binlog.locating.heads import FileHead
from applier.binlog.locating.place import Place
from applier.errors import LOG_GAP, ArchiveError, UsageError

_MARIADB = re.compile(r"\d+-\d+-\d+\Z")
Heads = Callable[[int], FileHead]
"""Returns the head of a file, given its index in the archive; each head is read at its first use."""


class Target(Protocol):
    """One kind of target. `what` names it in messages; `first_only`: only the first matching group is the result."""

    @property
    def what(self) -> str: ...

    @property
    def first_only(self) -> bool: ...

    def files(self, heads: Heads, n: int) -> Iterator[int]:
        """Return the indexes of those of n files that may contain it, by their heads, in the order in which to search
        them. May raise ArchiveError if the heads show that no file contains it."""

    def may_be_in(self, group_range: GroupRange) -> bool:
        """Return True if a range of the index may contain it."""

    def among(self, groups: Groups) -> np.ndarray:
        """Return the indexes of the groups that match."""


@dataclass(frozen=True)
class ByGtid:
    """The group with a GTID: `source` is the part before its last number."""

    text: str
    source: str
    number: int
    first_only: bool = True

    @classmethod
    def parse(cls, text: str) -> ByGtid:
        """Read one GTID as servers write it: uuid:number, uuid:tag:number, domain-server-number. Raises UsageError."""
        parsed = GtidSet.parse(text)
        pairs = [(source, *interval) for source, intervals in parsed.intervals.items() for interval in intervals]
        if _MARIADB.match(text.strip()):
            [(domain, (server, number))] = parsed.domains.items()
            pairs = [(f"{domain}-{server}", number, number)]
        if len(pairs) != 1 or pairs[0][1] != pairs[0][2]:
            raise UsageError(f"{text!r} is not one transaction",
                             hint="write one GTID, as in UUID:5, UUID:tag:5 or 0-1-5 (domain-server-number)")
        return cls(str(parsed), pairs[0][0], pairs[0][1])

    @property
    def what(self) -> str:
        return f"transaction {self.text}"

    def files(self, heads: Heads, n: int) -> Iterator[int]:
        if heads(0).format.flavour == "mysql":
            yield from self._mysql_files(heads, n)
            return
        # A domain's numbers may go down (gtid_strict_mode=OFF), and a domain may be forgotten (FLUSH BINARY LOGS
        # DELETE_DOMAIN_ID): look first where the lists say it is; what they say of the other files proves nothing.
        domain, server = map(int, self.source.split("-")) if _MARIADB.match(self.text) else (-1, -1)
        likely = _first(range(1, n), lambda i: heads(i).last_numbers.get((domain, server), -1) >= self.number) - 1
        yield likely
        yield from (i for i in range(n - 1, -1, -1) if i != likely)

    def _mysql_files(self, heads: Heads, n: int) -> Iterator[int]:
        """Return the file before the first one whose head contains the GTID: sets of executed transactions only grow.
        """
        wanted = GtidSet.from_intervals({self.source: [(self.number, self.number)]})
        if heads(0).before.contains(wanted):
            raise ArchiveError(f"{self.what} precedes the first file of the archive", errno=LOG_GAP,
                               hint="also give the earlier binlogs")
        yield _first(range(1, n), lambda i: heads(i).before.contains(wanted)) - 1

    def may_be_in(self, group_range: GroupRange) -> bool:
        return any(first <= self.number <= last for first, last in group_range.gtids.get(self.source, ()))

    def among(self, groups: Groups) -> np.ndarray:
        if self.source not in groups.names:
            return np.empty(0, np.int64)
        return np.flatnonzero((groups.sources == groups.names.index(self.source)) & (groups.numbers == self.number))


@dataclass(frozen=True)
class ByTime:
    """The first group in the log with this time (epoch seconds) or a later one, where `replay --stop-datetime` stops.
    """

    time: float
    text: str
    first_only: bool = True

    @property
    def what(self) -> str:
        return f"an event group of {self.text} or later"

    def files(self, heads: Heads, n: int) -> Iterator[int]:
        """Return the files in which to search: a group is never younger than the file after its own."""
        yield from range(_first(range(1, n), lambda i: heads(i).created >= self.time) - 1, n)

    def may_be_in(self, group_range: GroupRange) -> bool:
        return group_range.last_time >= self.time

    def among(self, groups: Groups) -> np.ndarray:
        return np.flatnonzero(groups.times >= self.time)


@dataclass(frozen=True)
class ByXid:
    """The groups with this number in their XID event. A server counts anew after each start, so there may be several.
    """

    xid: int
    first_only: bool = False

    @property
    def what(self) -> str:
        return f"a transaction with xid {self.xid}"

    def files(self, heads: Heads, n: int) -> Iterator[int]:
        yield from range(n)

    def may_be_in(self, group_range: GroupRange) -> bool:
        return group_range.xids is not None and group_range.xids[0] <= self.xid <= group_range.xids[1]

    def among(self, groups: Groups) -> np.ndarray:
        return np.flatnonzero(groups.xids == self.xid)


@dataclass(frozen=True)
class ByGroupId:
    """The group with a group id. Ids grow, and only events with 27-byte headers have one (GRP-3)."""

    group_id: int
    first_only: bool = True

    @property
    def what(self) -> str:
        return f"the group with id {self.group_id}"

    def files(self, heads: Heads, n: int) -> Iterator[int]:
        ids = [(i, heads(i).first_id) for i in range(n)]
        if all(first is None for _, first in ids):
            raise ArchiveError("the events of these binlogs have no group ids",
                               hint="look for a GTID (--gtid) or a time (--datetime)")
        yield from (i for i, first in reversed(ids) if first is not None and first <= self.group_id)

    def may_be_in(self, group_range: GroupRange) -> bool:
        return group_range.ids is not None and group_range.ids[0] <= self.group_id <= group_range.ids[1]

    def among(self, groups: Groups) -> np.ndarray:
        return np.flatnonzero(groups.ids == self.group_id) if groups.ids is not None else np.empty(0, np.int64)


def target_of(gtid: str | None, time: Place | None, xid: int | None, group_id: int | None) -> Target:
    """Return the requested target. Raises UsageError for none, several, or an invalid one."""
    if sum(asked is not None for asked in (gtid, time, xid, group_id)) == 1:
        if gtid is not None:
            return ByGtid.parse(gtid)
        if time is not None:
            assert time.time is not None
            return ByTime(time.time, time.text)
        if xid is not None:
            return ByXid(xid)
        if group_id is not None:
            return ByGroupId(group_id)
    raise UsageError("only one thing can be located at a time",
                     hint="give one of --gtid, --datetime, --xid and --group-id")


def _first(numbers: range, holds: Callable[[int], bool]) -> int:
    """Return, by bisection, the first index at which the condition holds; the end if it never does."""
    return numbers.start + bisect_left(numbers, True, key=holds)
