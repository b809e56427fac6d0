"""Compares rows of two sides by key: both are read in key order, a chunk of each at a time.

Keys are equal if the server considers them equal ('A' and 'a', in many collations); values, including those of the key,
are equal if their bytes are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.diff.columns import AFTER, BEFORE, exact
from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE, Differences, Found


@dataclass(frozen=True)
class Chunk:
    """Rows in the order of their keys: int64, or bytes that compare in order."""

    keys: pa.Array
    rows: pa.RecordBatch

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def last(self) -> Any:
        """The greatest key."""
        return self.keys[-1].as_py()

    def rows_up_to(self, key: Any) -> int:
        """Return how many rows have this key or a lesser one."""
        return int(pc.sum(pc.less_equal(self.keys, pa.scalar(key, self.keys.type))).as_py() or 0)

    def slice(self, start: int, length: int | None = None) -> Chunk:
        """Return some of the rows."""
        return Chunk(self.keys.slice(start, length), self.rows.slice(start, length))


def pairs(before: Iterator[Chunk], after: Iterator[Chunk]) -> Iterator[tuple[Chunk | None, Chunk | None]]:
    """Yield the rows of both sides in pairs of one range of keys each, ascending; None where a side has no rows in
    it."""
    left, right = next(before, None), next(after, None)
    while left is not None and right is not None:
        bound = min(left.last, right.last)
        n_left, n_right = left.rows_up_to(bound), right.rows_up_to(bound)
        yield left.slice(0, n_left) if n_left else None, right.slice(0, n_right) if n_right else None
        left = left.slice(n_left) if n_left < len(left) else next(before, None)
        right = right.slice(n_right) if n_right < len(right) else next(after, None)
    while left is not None:
        yield left, None
        left = next(before, None)
    while right is not None:
        yield None, right
        right = next(after, None)


def compare(before: Chunk | None, after: Chunk | None, differences: Differences) -> Found | None:
    """Return the differences in a range of keys; None if there are none."""
    if before is None or after is None:
        there, kind = (after, INSERT) if before is None else (before, DELETE)
        assert there is not None
        return differences.single(there.rows, kind)
    indexes = pc.index_in(before.keys, value_set=after.keys)
    known = indexes.is_valid().to_numpy(zero_copy_only=False)
    left, right = np.flatnonzero(known), indexes.drop_null().to_numpy()
    unequal = unequal_columns(before.rows, left, after.rows, right)
    changed = unequal.any(axis=1)
    removed = np.flatnonzero(~known)
    added = np.setdiff1d(np.arange(len(after)), right, assume_unique=True)
    if not (changed.any() or len(removed) or len(added)):
        return None
    rows = [before.rows.take(pa.array(np.concatenate([removed, left[changed]]))),
            after.rows.take(pa.array(np.concatenate([added, right[changed]])))]
    keys = [before.keys.take(pa.array(np.concatenate([removed, left[changed]]))),
            after.keys.take(pa.array(np.concatenate([added, right[changed]])))]
    n_changed = int(changed.sum())
    kinds = np.repeat([DELETE, PREIMAGE, INSERT, POSTIMAGE], [len(removed), n_changed, len(added), n_changed])
    of_side = np.repeat([BEFORE, AFTER], [len(removed) + n_changed, len(added) + n_changed])
    columns = np.zeros((len(kinds), unequal.shape[1]), bool)
    columns[(kinds == PREIMAGE) | (kinds == POSTIMAGE)] = np.concatenate([unequal[changed]] * 2)
    order = pc.sort_indices(pa.table({"key": pa.concat_arrays(keys), "side": of_side}),
                            sort_keys=[("key", "ascending"), ("side", "ascending")])
    return differences.made(rows, kinds, columns, order)


def unequal_columns(before: pa.RecordBatch, left: np.ndarray, after: pa.RecordBatch, right: np.ndarray) -> np.ndarray:
    """Return in which columns these rows of the two differ: bool[rows, columns]."""
    found = np.zeros((len(left), before.num_columns), bool)
    for number, (a, b) in enumerate(zip(before.columns, after.columns, strict=True)):
        found[:, number] = ~_equal(_at(exact(a), left), _at(exact(b), right))
    return found


def _at(values: pa.Array, rows: np.ndarray) -> pa.Array:
    """Return the values of these rows, ascending; all of them without a copy."""
    return values if len(rows) == len(values) else values.take(pa.array(rows))


def _equal(a: pa.Array, b: pa.Array) -> np.ndarray:
    same = pc.equal(a, b)
    if same.null_count:
        same = pc.or_(same.fill_null(False), pc.and_(a.is_null(), b.is_null()))
    equal: np.ndarray = same.to_numpy(zero_copy_only=False)
    return equal
