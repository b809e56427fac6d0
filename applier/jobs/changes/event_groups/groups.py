"""The columns of the feed about a change's event group: its number in the order of the archive, its time, its GTID."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from applier.binlog.locating.group_choice import NONE_LEFT_OUT, LeftOutGroups
from applier.binlog.locating.groups import GroupPass
from applier.binlog.locating.gtid_choice import GtidChoice
from applier.jobs.changes.event_groups import groups_kernel as k
from applier.options import ALL_COMMITS, CommitRange
from keysearch.addresses import address_of

_TIME = pa.timestamp("us", tz="UTC")
OFFSET_BITS = 40
"""Of a commit version, for the offset in the file: one terabyte. The file's number is above."""


def version_at(name: str, index: int, offset: int) -> int:
    """Return the commit version of a group that ends at an offset of a file, by the number at the end of the file's
    name, or, without one, by its number among the files."""
    digits = name.rpartition(".")[2]
    number = int(digits) if digits.isascii() and digits.isdigit() else index + 1
    return number << OFFSET_BITS | offset


@dataclass(frozen=True)
class WantedGroups:
    """Which event groups are wanted: of these transactions (None: all), with a later commit version, within a range,
    not excluded by the user, and of these threads (none: all)."""

    gtids: GtidChoice | None = None
    after: int = -1
    within: CommitRange = ALL_COMMITS
    left_out: LeftOutGroups = NONE_LEFT_OUT
    threads: tuple[int, ...] = ()

    @property
    def all(self) -> bool:
        return self == WantedGroups()


class FileGroups:
    """The event groups in [start, end) of a file, by the positions of their events; and which of them are `wanted`.
    `index` is the file's number in the archive."""

    def __init__(self, uri: str, name: str, index: int, start: int, end: int, wanted: WantedGroups) -> None:
        found = self._found = GroupPass(uri).groups(start, end)
        self._wanted = wanted
        self._name, self._starts = pa.array([name]), np.ascontiguousarray(found.starts)
        self._versions = version_at(name, index, 0) | found.ends
        self._times = found.times.astype(np.int64) * 1_000_000
        texts = [f"{source}{'-' if source.count('-') == 1 else ':'}".encode() for source in found.names]
        self._prefix_offsets = np.cumsum([0, *map(len, texts)])
        self._prefixes = np.frombuffer(b"".join(texts) or b" ", np.uint8)
        self._most_gtid_bytes = max(map(len, texts), default=0) + k.MOST_DIGITS
        self._numbers = np.ascontiguousarray(found.numbers)
        self._commits: list[tuple[int, FileGroups, int]] = []

    def columns(self, positions: np.ndarray, seqs: np.ndarray) -> list[pa.Array]:
        """Of the groups that bytes at these offsets, ascending, are in: commit versions, times, GTIDs, servers,
        threads, the file; behind the commit versions, the numbers of changes in them."""
        n = len(positions)
        numbers, versions, times = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.int64)
        k.find_groups(positions, self._starts, self._versions, self._times, numbers, versions, times)
        groups = slice(int(numbers[0]), int(numbers[-1]) + 1)
        numbers -= groups.start
        gtids = pa.DictionaryArray.from_arrays(numbers, self._gtids(groups))
        by_group = pa.array(numbers)
        servers, threads = (kind.take(by_group) for kind in self._executed_by(groups))
        files = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), self._name)
        return [pa.array(versions), pa.array(seqs), pa.array(times).view(_TIME), gtids, servers, threads, files]

    def versions(self, positions: np.ndarray) -> np.ndarray:
        """Return the commit versions of the groups that bytes at these offsets, ascending, are in."""
        versions: np.ndarray = self._versions[self._of(positions)] if len(positions) else np.empty(0, np.int64)
        return versions

    def numbers(self, positions: np.ndarray) -> np.ndarray:
        """Return the groups that bytes at these offsets, ascending, are in, by their numbers in the file."""
        return self._of(positions)

    @property
    def all_starts(self) -> np.ndarray:
        """Where its groups begin, int64[n]."""
        return self._starts

    def all_commits(self) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Return the times, commit versions and GTIDs of all groups."""
        return pa.array(self._times).view(_TIME), pa.array(self._versions), self._gtids(slice(None))

    @property
    def has_wanted(self) -> bool:
        """True if a group is wanted."""
        return bool(self._wanted_ones.any())

    @property
    def n_chosen(self) -> int:
        """How many groups are among the wanted transactions by their own GTIDs."""
        return int(self._chosen[0].sum())

    @property
    def n_of_threads(self) -> int:
        """How many groups the wanted threads ran."""
        return int(self._chosen[1].sum())

    @property
    def n_without_thread(self) -> int:
        """How many groups have no thread in the log."""
        return int(self._found.are_without_thread.sum())

    def wanted_commits(self) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Return the times, commit versions and GTIDs of the wanted groups."""
        times, versions, gtids = self.all_commits()
        which = pa.array(self._wanted_ones)
        return times.filter(which), versions.filter(which), gtids.filter(which)

    @property
    def are_all_wanted(self) -> np.ndarray:
        """Whether each group is wanted: bool[n]."""
        return self._wanted_ones

    def committed_at(self, start: int, by: FileGroups, position: int) -> None:
        """Note that the group that begins at an offset was prepared there, and that another one commits it, in the file
        with this number: the GTID and the thread of either choose it. Call it before asking which groups are wanted."""
        own, other = int(np.searchsorted(self._starts, start)), int(by._of(np.array([position]))[0])
        self._commits.append((own, by, other))
        self._versions[own], self._times[own] = by._versions[other], by._times[other]

    def starts(self, positions: np.ndarray) -> np.ndarray:
        """Return where the groups begin that bytes at these offsets are in."""
        starts: np.ndarray = self._starts[self._of(positions)]
        return starts

    def are_wanted(self, positions: np.ndarray) -> np.ndarray:
        """Return whether the groups that contain these offsets (ascending) are wanted: bool[n]."""
        if self._wanted.all or not len(positions):
            return np.ones(len(positions), np.bool_)
        wanted: np.ndarray = self._wanted_ones[self._of(positions)]
        return wanted

    def wanted_parts(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of [start, end) that are in wanted groups, ascending; groups that follow one another are
        one."""
        if self._wanted.all:
            yield start, end
            return
        first, last = np.searchsorted(self._found.ends, start, side="right"), np.searchsorted(self._starts, end)
        edges = np.diff(np.concatenate([[False], self._wanted_ones[first:last], [False]]).astype(np.int8))
        begins, ends = first + np.flatnonzero(edges > 0), first + np.flatnonzero(edges < 0) - 1
        for begin, stop in zip(self._starts[begins].tolist(), self._found.ends[ends].tolist(), strict=True):
            yield max(begin, start), min(stop, end)

    @cached_property
    def _wanted_ones(self) -> np.ndarray:
        within = self._wanted.within
        wanted = ((self._versions > self._wanted.after) & (self._versions >= within.first_version)
                  & (self._versions <= within.last_version) & (self._times >= within.first_time)
                  & (self._times <= within.last_time))
        by_gtid, by_thread, left_out = (mask.copy() for mask in self._chosen)
        for own, by, other in self._commits:
            for mask, of_others in zip((by_gtid, by_thread, left_out), by._chosen, strict=True):
                mask[own] |= of_others[other]
        wanted &= by_gtid & by_thread & ~left_out
        return wanted

    @cached_property
    def _chosen(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which groups are among the wanted transactions by their own GTID, which by their own thread, and which are
        left out: bool[n] each."""
        found, wanted = self._found, self._wanted
        by_gtid = np.ones(len(found), np.bool_) if wanted.gtids is None else wanted.gtids.chosen(
            found.names, found.sources, found.numbers)
        return by_gtid, found.of_threads(wanted.threads), wanted.left_out.mask(found)

    def _of(self, positions: np.ndarray) -> np.ndarray:
        first, last = np.searchsorted(self._starts, positions[[0, -1]], side="right")
        numbers: np.ndarray = np.searchsorted(self._starts[first - 1:last], positions, side="right") + (first - 2)
        return numbers

    def _executed_by(self, groups: slice) -> tuple[pa.Array, pa.Array]:
        """Return the servers and threads of groups; null where the log does not say it."""
        threads, found = self._found.threads[groups], self._found
        return (pa.array(found.servers[groups].astype(np.int64)),
                pa.array(threads.astype(np.int64), mask=threads < 0))

    def _gtids(self, groups: slice) -> pa.Array:
        """Return the GTIDs of groups as servers write them; null for a group without one."""
        sources = self._found.sources[groups]
        n = len(sources)
        offsets, data = np.empty(n + 1, np.int32), np.empty(n * self._most_gtid_bytes, np.uint8)
        have_gtid = np.zeros((n + 7) // 8, np.uint8)
        k.put_gtids(sources, self._numbers[groups], self._prefix_offsets, address_of(self._prefixes), offsets,
                    address_of(data), have_gtid)
        buffers = [None if (sources >= 0).all() else pa.py_buffer(have_gtid), pa.py_buffer(offsets),
                   pa.py_buffer(data[:int(offsets[-1])])]
        return pa.Array.from_buffers(pa.string(), n, buffers)
