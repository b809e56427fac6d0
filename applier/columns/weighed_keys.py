"""Keys that changes have, each with how much it stands for, and bounds of ranges that divide them evenly."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, Generic

from applier.columns.table_key import Value


class WeighedKeys(Generic[Value]):
    """Keys, ascending, given with a weight each: how many bytes of changes it stands for."""

    def __init__(self, weighed: Iterable[tuple[Value, float]]):
        ascending: list[tuple[Any, float]] = sorted(weighed)
        self._keys: list[Value] = [key for key, _ in ascending]
        self._sums = [0.0, *accumulate(weight for _, weight in ascending)]

    def bounds(self, n: int) -> list[Value]:
        """Return up to n - 1 ascending keys, the lower bounds of ranges that divide the bytes of changes evenly into n,
        or into as many as there are keys."""
        return sorted(self.bounds_within(self._keys[0], self._keys[-1], n)) if self._keys else []

    def part_within(self, low: Value, high: Value) -> float:
        """Return the part, 0 to 1, of the bytes of all changes that have keys from `low` to `high`."""
        first, end = self._indexes(low, high)
        return (self._sums[end] - self._sums[first]) / self._sums[-1] if end > first else 0.0

    def bounds_within(self, low: Value, high: Value, n: int) -> set[Value]:
        """Return up to n - 1 keys above `low` and up to `high`, the lower bounds of ranges that divide the bytes of
        changes there evenly into n."""
        first, end = self._indexes(low, high)
        step = (self._sums[end] - self._sums[first]) / n
        indexes = (bisect_left(self._sums, self._sums[first] + number * step, first, end) for number in range(1, n))
        return {key for key in map(self._keys.__getitem__, (min(index, end - 1) for index in indexes)) if key > low}

    def _indexes(self, low: Value, high: Value) -> tuple[int, int]:
        return bisect_left(self._keys, low), bisect_right(self._keys, high)
