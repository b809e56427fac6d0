"""The parts of files that are read, found by the locations of changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from applier.jobs.changes.log import LogFile


class LogFiles:
    """Parts of files by the names of these. A file has several where a transaction that was prepared in it comes before
    the log's beginning."""

    def __init__(self, files: Iterable[LogFile]) -> None:
        self._parts: dict[str, list[LogFile]] = {}
        for file in files:
            self._parts.setdefault(file.name, []).append(file)

    def having(self, name: str, offsets: np.ndarray) -> Iterator[tuple[LogFile, np.ndarray]]:
        """Yield the parts of a file that some of these bytes are in, and the numbers of these."""
        for file in self._parts.get(name, []):
            inside = np.flatnonzero((offsets >= file.start) & (offsets < file.end))
            if len(inside):
                yield file, inside
