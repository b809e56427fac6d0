"""Beginnings of rows events that an outline keeps, so that a plan can divide tables by keys. Their total size is
bounded, whatever the size of the file and the number of its tables."""

from __future__ import annotations

import zlib
from array import array
from dataclasses import dataclass, field

_BYTES_IN_ALL, _LEAST_BYTES, _PART = 8 << 20, 16 << 10, 1 << 14


def sample_bytes(size: int, total: int) -> int:
    """Return how many bytes of samples the outline of a file may have, given its size and that of all files. The
    samples of all files are in memory together, one byte for _PART bytes of a long log."""
    return max(_LEAST_BYTES, size // _PART, size * _BYTES_IN_ALL // max(1, total))


@dataclass(frozen=True)
class Samples:
    """The samples of a file's tables: their bytes in one buffer, which avoids an object per sample; where each sample
    begins and ends in it; and the numbers of each table's first sample and of the one after its last."""

    data: bytes = b""
    ends: array[int] = field(default_factory=lambda: array("L", [0]))
    firsts: array[int] = field(default_factory=lambda: array("I", [0]))

    def count(self, table: int) -> int:
        """Return the number of samples of a table, given by its index in `Outline.tables`."""
        return self.firsts[table + 1] - self.firsts[table]

    def of(self, table: int) -> list[bytes]:
        """Return the samples of a table, in log order: rows events from the header on (19 bytes), truncated to 512
        bytes. The header has in place of the length the number of bytes of rows events that the sample stands for, and
        in place of the position the length."""
        return [self.data[self.ends[number]:self.ends[number + 1]]
                for number in range(self.firsts[table], self.firsts[table + 1])]


def chosen(sizes: list[list[int]], n_bytes: int | None, name: str) -> tuple[list[list[int]], float]:
    """Choose the samples of each table to keep within `n_bytes`, given their sizes: the same share of each table,
    evenly spread. Also returns how many samples a kept one stands for. If that is less than one sample per table, files
    with different names keep those of different tables."""
    total, room = sum(map(sum, sizes)), 0.0
    if n_bytes == 0:
        return [[] for _ in sizes], 1.0
    if n_bytes is None or total <= n_bytes:
        return [list(range(len(of_table))) for of_table in sizes], 1.0
    kept: list[list[int]] = [[] for _ in sizes]
    first = zlib.crc32(name.encode("utf-8", "surrogateescape")) % len(sizes)
    for table in (*range(first, len(sizes)), *range(first)):
        for number, size in enumerate(sizes[table]):
            room += size * n_bytes / total
            if room >= size:
                room -= size
                kept[table].append(number)
    return kept, total / n_bytes
