"""The beginning and end of versions: the commits of changes, by number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.jobs.changes.event_groups.groups import FileGroups, version_at
from applier.jobs.history import commits_kernel as k
from applier.jobs.history.commits_kernel import KIND_BITS as KIND_BITS
from applier.mysql.values.byte_columns import value_bytes
from keysearch.addresses import address_of

NEVER = -1
"""In place of a commit's number."""
_TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class _Joined:
    """All commits (commits_kernel.COMMIT) and one more, the bytes of their GTIDs, and how long the longest of these
    is."""

    commits: np.ndarray
    gtids: np.ndarray
    longest: int


class Commits:
    """Commits in the order in which they are added: times, sequence numbers (the feed's commit versions), GTIDs."""

    def __init__(self) -> None:
        self._n = 0
        self._wanted: list[np.ndarray] = []
        self._parts: list[tuple[pa.Array, pa.Array, pa.Array]] = []
        self._known: tuple[FileGroups, int] | None = None
        self._joined: _Joined | None = None

    def first_of(self, groups: FileGroups) -> int:
        """Return the commit of the first of a file's groups; the others follow."""
        if self._known is None or self._known[0] is not groups:
            self._known = groups, self._add(*groups.all_commits())
            self._wanted[-1] = groups.are_all_wanted
        return self._known[1]

    def of(self, groups: FileGroups, positions: np.ndarray) -> np.ndarray:
        """Return the commits of changes at these offsets of a file, ascending: int64[n]."""
        if not len(positions):
            return np.empty(0, np.int64)
        return self.first_of(groups) + groups.numbers(positions)

    def of_base(self, name: str, offset: int) -> int:
        """Return the commit of a base, by its position: it is unknown when its rows came."""
        return self._add(pa.nulls(1, _TIME), pa.array([version_at(name, 0, offset)], pa.int64()),
                         pa.nulls(1, pa.string()))

    def _add(self, times: pa.Array, sequence: pa.Array, gtids: pa.Array) -> int:
        """Return the number of the first of these."""
        first, self._joined = self._n, None
        self._n += len(sequence)
        self._parts.append((times, sequence, gtids))
        self._wanted.append(np.zeros(len(sequence), np.bool_))
        return first

    def are_wanted(self, steps: np.ndarray) -> np.ndarray:
        """Return whether the commits of steps (commits_kernel.KIND_BITS) are of wanted event groups, bool of their
        shape."""
        wanted = np.concatenate([*self._wanted, [False]])  # the last one is NEVER
        found: np.ndarray = wanted[steps >> KIND_BITS]
        return found

    def columns(self, steps: np.ndarray, which: int) -> list[pa.Array]:
        """Return the times, sequence numbers, GTIDs and kinds of the steps (commits_kernel.KIND_BITS) in steps[:,
        which]: null for no commit, and for no kind."""
        if self._joined is None:
            self._joined = _joined(self._parts)
        (n, width), known = steps.shape, self._joined
        times, sequence, offsets = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int32)
        data, kinds = np.empty(n * known.longest + 2 * k.GUARD, np.uint8), np.empty(n, np.int8)
        bitmaps = [np.zeros((n + 7) // 8, np.uint8) for _ in range(4)]
        k.fill_columns(n, address_of(steps) + 8 * which, 8 * width, address_of(known.commits), address_of(known.gtids),
                       times, sequence, offsets, address_of(data), kinds, *bitmaps)
        are_there, have_time, have_gtid, have_kind = map(pa.py_buffer, bitmaps)
        return [pa.Array.from_buffers(_TIME, n, [have_time, pa.py_buffer(times)]),
                pa.Array.from_buffers(pa.int64(), n, [are_there, pa.py_buffer(sequence)]),
                pa.Array.from_buffers(pa.string(), n, [have_gtid, pa.py_buffer(offsets),
                                                       pa.py_buffer(data[:int(offsets[-1])])]),
                pa.Array.from_buffers(pa.int8(), n, [have_kind, pa.py_buffer(kinds)])]


def _joined(parts: list[tuple[pa.Array, pa.Array, pa.Array]]) -> _Joined:
    commits = np.zeros(1 + sum(len(sequence) for _, sequence, _ in parts), k.COMMIT)
    texts, first, at = [np.zeros(0, np.uint8)], 0, 0
    for times, sequence, gtids in parts:
        own, (offsets, data) = commits[first:first + len(sequence)], value_bytes(gtids)
        own["time"], own["has_time"] = _numbers(times.view(pa.int64())), _flags(times)
        own["sequence"], own["gtid"] = _numbers(sequence), at + offsets[:-1]
        own["gtid_bytes"] = np.where(_flags(gtids), np.diff(offsets), -1)
        texts.append(data)
        first, at = first + len(own), at + len(data)
    texts.append(np.zeros(2 * k.GUARD, np.uint8))
    return _Joined(commits, np.concatenate(texts), int(commits["gtid_bytes"].max(initial=0)))


def _numbers(array: pa.Array) -> np.ndarray:
    numbers: np.ndarray = array.fill_null(0).to_numpy()
    return numbers


def _flags(array: pa.Array) -> np.ndarray:
    flags: np.ndarray = array.is_valid().to_numpy(zero_copy_only=False)
    return flags
