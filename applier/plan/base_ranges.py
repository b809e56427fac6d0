"""The ranges of a table that has a base: which keys they begin at, and which of the base's files have rows in them.

A range begins where a file does, so that files whose range has no change are carried over, and at keys of the log
between the files and after them, where most tables grow. A file is divided only where many changes are of keys in it:
it is written anew in any case then, and each of its units reads it for its own rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from sortedcontainers import SortedDict

from applier.columns.table_key import Value
from applier.plan.ranges import SampledKeys
from applier.snapshot.file_entries import FileEntry, KeyValue

HOT_BYTES = 64 << 20
"""The least bytes of rows events for a unit of a file that is divided. A unit more reads the file once more: 0.25 s of
CPU for 3 million rows in 13 MB, as long as it takes to apply 100 MB."""


def lows(keys: SampledKeys[Value], files: Sequence[FileEntry], kind: type[Value], n: int, n_bytes: int,
         unit_bytes: int) -> list[Value]:
    """The lower bounds of all ranges but the first, ascending, for a table with so many bytes of changes, `n` times as
    many as a unit may have; `files` are the base's, and all keys are of this kind."""
    ends: SortedDict[Value, Value] = SortedDict((low, high) for file in files if isinstance(low := file.min_key, kind)
                                                and isinstance(high := file.max_key, kind))
    found = {bound for bound in keys.bounds(n)
             if not ((begun := ends.bisect_left(bound)) and bound <= ends.values()[begun - 1])}
    for low, high in ends.items():
        in_file = keys.part_within(low, high) * n_bytes
        parts = int(min(1 + in_file // unit_bytes, in_file // HOT_BYTES))
        if parts > 1:
            found |= keys.bounds_within(low, high, parts)
    return sorted(found.union(ends.islice(1)))


class BaseFiles:
    """A table's files that have rows, in the order of their keys; none where the base has no such table."""

    def __init__(self, files: Sequence[FileEntry]):
        self.all = tuple(files)
        self._lows: list[Any] = [file.min_key for file in files]
        self._highs: list[Any] = [file.max_key for file in files]

    def within(self, low: KeyValue | None, high: KeyValue | None) -> tuple[FileEntry, ...]:
        """Those with rows from `low` to before `high`. Without bounds, also files that have no keys."""
        first = 0 if low is None else bisect_left(self._highs, low)
        end = len(self.all) if high is None else bisect_left(self._lows, high)
        return self.all[first:end]
