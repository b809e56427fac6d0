"""When versions begin and end: the commits that changes are in, by numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.jobs.changes.groups import FileGroups, version_at

NEVER = -1
"""In place of a commit's number."""
_KINDS = pa.timestamp("us", tz="UTC"), pa.int64(), pa.string()


class Commits:
    """Commits in the order in which they are told of: times, sequence numbers (the feed's commit versions), GTIDs."""

    def __init__(self) -> None:
        self._n = 0
        self._parts: list[tuple[pa.Array, ...]] = []
        self._known: tuple[FileGroups, int] | None = None
        self._joined: tuple[pa.Array, ...] = ()

    def of(self, groups: FileGroups, places: np.ndarray) -> np.ndarray:
        """The commits of changes at these offsets of a file, ascending: int64[n]."""
        if not len(places):
            return np.empty(0, np.int64)
        if self._known is None or self._known[0] is not groups:
            self._known = groups, self._add(*groups.all_commits())
        return self._known[1] + groups.numbers(places)

    def of_base(self, name: str, offset: int) -> int:
        """The commit of a base, by its position: it is not known when its rows came."""
        return self._add(pa.nulls(1, _KINDS[0]), pa.array([version_at(name, 0, offset)], pa.int64()),
                         pa.nulls(1, pa.string()))

    def _add(self, times: pa.Array, sequence: pa.Array, gtids: pa.Array) -> int:
        """The number of the first of these."""
        first, self._joined = self._n, ()
        self._n += len(sequence)
        self._parts.append((times, sequence, gtids))
        return first

    def columns(self, numbers: np.ndarray) -> list[pa.Array]:
        """Times, sequence numbers and GTIDs of commits; null for NEVER."""
        if not self._joined:
            self._joined = tuple(pa.chunked_array([part[place] for part in self._parts], kind).combine_chunks()
                                 for place, kind in enumerate(_KINDS))
        picks = pa.array(numbers, mask=numbers == NEVER)
        return [column.take(picks) for column in self._joined]
