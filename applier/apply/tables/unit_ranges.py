"""Which units of a table, of those in a task, a batch has changes for: a file that no change is of is not even read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from applier.apply.search.keyed_changes import KeyColumns
from applier.apply.spec import BytesRange, IntRange, Keyed
from applier.snapshot.file_entries import KeyValue

RangeOf = Callable[[Sequence[pa.Array]], np.ndarray]


class UnitRanges:
    """The key ranges of units by one key, in any order. Keys in none of them are of other tasks' units."""

    def __init__(self, ranges: Sequence[Keyed]) -> None:
        self._range_of, starts = _edges(ranges)
        self._places = np.full(max(starts) + 2, -1)
        self._places[starts] = np.arange(len(ranges))

    def concerned(self, columns: KeyColumns) -> frozenset[int]:
        """The places of the ranges that keys are in, given the key's columns of both images."""
        found = np.zeros(len(self._places), np.bool_)
        for images in columns:
            found[np.minimum(self._range_of(images), len(found) - 1)] = True
        places = self._places[found]
        return frozenset(places[places >= 0].tolist())


def _edges(ranges: Sequence[Keyed]) -> tuple[RangeOf, list[int]]:
    """Tells by the key's columns how many of the ranges' edges keys are not below; and how many that is for each range.
    """
    match ranges[0]:
        case IntRange(key=int_key):
            bounds = [edge for rows in ranges if isinstance(rows, IntRange) for edge in (rows.low, rows.high)]
            ints = sorted({edge for edge in bounds if edge is not None})
            return int_key.ranges_of(ints), _starts(ranges, ints)
        case BytesRange(key=bytes_key):
            edges = [edge for rows in ranges if isinstance(rows, BytesRange) for edge in (rows.low, rows.high)]
            texts = sorted({edge for edge in edges if edge is not None})
            return bytes_key.ranges_of(texts), _starts(ranges, texts)


def _starts(ranges: Sequence[Keyed], edges: Sequence[KeyValue]) -> list[int]:
    numbers: dict[KeyValue | None, int] = {edge: number for number, edge in enumerate(edges, 1)}
    return [numbers.get(rows.low, 0) for rows in ranges]
