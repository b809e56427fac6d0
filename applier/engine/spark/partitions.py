"""Numbers that Spark's hash partitioning puts where we want them: value i of n goes to partition i of n.

`DataFrame.repartition(n, column)` puts a row in the partition `pmod(hash(column), n)`, with the function `hash` that
Spark SQL has: MurmurHash3 with the seed 42. A number for each partition is found by trying; n partitions take about
n * ln n attempts. (`repartitionById`, which needs none of this, is new in Spark 4.1.)
"""

from functools import lru_cache

import numpy as np

_SEED = 42
_ATTEMPTS = 1 << 17


def hash_of(values: np.ndarray) -> np.ndarray:
    """The `hash` of Spark SQL of an INT column (int32[n]), as int32[n]."""
    with np.errstate(over="ignore"):
        k = _rotated(values.astype(np.uint32) * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        h = _rotated(k ^ np.uint32(_SEED), 13) * np.uint32(5) + np.uint32(0xE6546B64)
        h ^= np.uint32(4)  # bytes
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return (h ^ (h >> np.uint32(16))).view(np.int32)


def _rotated(values: np.ndarray, by: int) -> np.ndarray:
    return (values << np.uint32(by)) | (values >> np.uint32(32 - by))


@lru_cache(8)
def values_of_partitions(n: int) -> np.ndarray:
    """For each of n partitions the lowest number, from 0 on, that Spark puts there (int32[n])."""
    found, left, start = np.full(n, -1, np.int32), n, 0
    while left:
        values = np.arange(start, start + _ATTEMPTS, dtype=np.int32)
        partitions, first = np.unique(np.mod(hash_of(values).astype(np.int64), n), return_index=True)
        new = found[partitions] < 0
        found[partitions[new]] = values[first[new]]
        left -= int(new.sum())
        start += _ATTEMPTS
    return found
