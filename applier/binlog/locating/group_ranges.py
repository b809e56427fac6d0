"""The content of an index for a file: ranges of whole groups, and the groups that each may contain."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from applier.binlog.locating.groups import Groups
from applier.io.typed_json import Count

RANGE_BYTES = 16 << 20
"""The approximate length of a range, which is the part of a file to read after the index has found it."""


@dataclass(frozen=True)
class GroupRange:
    """The groups in [start, end) of a file: their first and last time, xid and group id, and their GTIDs, as intervals
    of numbers by the part of the GTID before the number."""

    start: int
    end: int
    first_time: int
    last_time: int
    xids: tuple[int, int] | None
    ids: tuple[int, int] | None
    gtids: dict[str, tuple[tuple[int, int], ...]]

    def to_json(self) -> list[Any]:
        """Return it as a list, which is shorter than an object: an index has many."""
        return list(dataclasses.asdict(self).values())


_Interval = tuple[int, int]
GroupRangeFields = tuple[Count, Count, int, int, _Interval | None, _Interval | None, dict[str, tuple[_Interval, ...]]]
"""The type of `to_json`'s result."""


def group_ranges(groups: Groups) -> Iterator[GroupRange]:
    """Divide all groups of a file into ranges."""
    first = 0
    while first < len(groups):
        last = int(np.searchsorted(groups.ends, groups.starts[first] + RANGE_BYTES))
        last = min(max(last, first + 1), len(groups))
        yield describe(groups, first, last)
        first = last


def describe(groups: Groups, first: int, last: int) -> GroupRange:
    """Return the range of the groups with indexes in [first, last), at least one."""
    part = slice(first, last)
    sources, numbers, times, xids = groups.sources[part], groups.numbers[part], groups.times[part], groups.xids[part]
    gtids = {groups.names[source]: _intervals(numbers[sources == source])
             for source in np.unique(sources[sources >= 0]).tolist()}
    return GroupRange(int(groups.starts[first]), int(groups.ends[last - 1]), int(times.min()), int(times.max()),
                   _range(xids[xids >= 0]), None if groups.ids is None else _range(groups.ids[part]),
                   dict(sorted(gtids.items())))


def _range(numbers: np.ndarray) -> tuple[int, int] | None:
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else None


def _intervals(numbers: np.ndarray) -> tuple[tuple[int, int], ...]:
    distinct = np.unique(numbers)
    cuts = np.flatnonzero(np.diff(distinct) != 1)
    firsts, lasts = distinct[np.append(0, cuts + 1)], distinct[np.append(cuts, len(distinct) - 1)]
    return tuple(zip(firsts.tolist(), lasts.tolist(), strict=True))
