"""When versions begin and end: the commits that changes are in, by numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.jobs.changes.groups import FileGroups, version_at

NEVER = -1
"""In place of a commit's number."""


class Commits:
    """Commits in the order in which they are told of: sequence numbers (the feed's commit versions), times, GTIDs."""

    def __init__(self) -> None:
        self._n = 0
        self._sequence: list[pa.Array] = []
        self._times: list[pa.Array] = []
        self._gtids: list[pa.Array] = []

    def of(self, groups: FileGroups, places: np.ndarray) -> np.ndarray:
        """The commits of changes at these offsets of a file, ascending: int64[n]."""
        if not len(places):
            return np.empty(0, np.int64)
        sequence, times, gtids, _ = groups.columns(places)
        return self._add(sequence, times, gtids.cast(pa.string()))

    def of_base(self, name: str, offset: int) -> int:
        """The commit of a base, by its position: it is not known when its rows came."""
        [number] = self._add(pa.array([version_at(name, 0, offset)], pa.int64()),
                             pa.nulls(1, pa.timestamp("us", tz="UTC")), pa.nulls(1, pa.string())).tolist()
        return int(number)

    def _add(self, sequence: pa.Array, times: pa.Array, gtids: pa.Array) -> np.ndarray:
        first = self._n
        self._n += len(sequence)
        self._sequence.append(sequence)
        self._times.append(times)
        self._gtids.append(gtids)
        return np.arange(first, self._n)

    def columns(self, numbers: np.ndarray) -> list[pa.ChunkedArray]:
        """Times, sequence numbers and GTIDs of commits; null for NEVER."""
        picks = pa.array(numbers, mask=numbers == NEVER)
        kinds = pa.timestamp("us", tz="UTC"), pa.int64(), pa.string()
        return [pa.chunked_array([pa.chunked_array(parts, kind).combine_chunks().take(picks)])
                for parts, kind in zip((self._times, self._sequence, self._gtids), kinds, strict=True)]
