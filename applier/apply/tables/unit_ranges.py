"""Finds the units, of a table in a task, for which a batch has changes: files without changes are not even read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from applier.apply.search.keyed_changes import KeyColumns
from applier.apply.spec import KeyRange
from applier.columns.table_key import ranges_between


class UnitRanges:
    """The key ranges of units by one key, in any order. Keys in none of them belong to units of other tasks."""

    def __init__(self, ranges: Sequence[KeyRange]) -> None:
        bounds: set[Any] = {bound for rows in ranges for bound in rows.bounds}
        edges = sorted(bounds)
        numbers = {edge: number for number, edge in enumerate(edges, 1)}
        starts = [numbers.get(rows.low, 0) for rows in ranges]
        self._range_of = ranges_between(ranges[0].key, edges)
        self._numbers = np.full(max(starts) + 2, -1)
        self._numbers[starts] = np.arange(len(ranges))

    def concerned(self, columns: KeyColumns) -> frozenset[int]:
        """Return the numbers of the ranges that contain keys, given the key's columns of both images."""
        found = np.zeros(len(self._numbers), np.bool_)
        for images in columns:
            found[np.minimum(self._range_of(images), len(found) - 1)] = True
        numbers = self._numbers[found]
        return frozenset(numbers[numbers >= 0].tolist())
