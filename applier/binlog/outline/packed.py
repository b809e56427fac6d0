"""Compact lists of plain records. A driver has the outlines of all files in memory, and each may have any number of
tables and statements."""

from __future__ import annotations

import dataclasses
import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeVar, overload

import numpy as np

Item = TypeVar("Item")

BLOCK = 4096
"""The number of records that are compressed together."""
FEW = 64
"""With fewer records, a column of numbers is not worth an array."""
_WIDTHS = tuple(map(np.dtype, ("i1", "<i2", "<i4", "<i8")))


class Packed(Sequence[Item]):
    """Records of a dataclass in the order in which they were appended, as compressed columns. A record is rebuilt on
    each access. The list is equal to a list of equal records."""

    def __init__(self, kind: type[Item], items: Iterable[Item] = ()) -> None:
        self._kind = kind
        self._blocks: list[tuple[int, bytes]] = []  # the number of their records, and these
        self._open: list[Item] = []
        for item in items:
            self.append(item)
        self.pack()

    def append(self, item: Item) -> None:
        """Add a record. Records wait uncompressed until they fill a block, or until `pack` is called."""
        self._open.append(item)
        if len(self._open) == BLOCK:
            self.pack()

    def pack(self) -> None:
        """Pack all records."""
        if self._open:
            fields = attrgetter(*_fields(self._kind))
            columns = [_steps(column) for column in zip(*map(fields, self._open), strict=True)]
            block = zlib.compress(pickle.dumps(columns, pickle.HIGHEST_PROTOCOL))
            self._blocks.append((len(self._open), block))
            self._open = []

    def __len__(self) -> int:
        return sum(n for n, _ in self._blocks) + len(self._open)

    def __iter__(self) -> Iterator[Item]:
        for _, block in self._blocks:
            yield from self._unpacked(block)
        yield from self._open

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return list(self)[index]
        left = index + len(self) if index < 0 else index
        for n, block in self._blocks:
            if 0 <= left < n:
                return self._unpacked(block)[left]
            left -= n
        if left < 0:
            raise IndexError(index)
        return self._open[left]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packed | list) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list's

    def __repr__(self) -> str:
        return repr(list(self))

    def _unpacked(self, block: bytes) -> list[Item]:
        columns = [column.items() if isinstance(column, _Steps) else column for column in
                   pickle.loads(zlib.decompress(block))]
        return list(map(self._kind, *columns))


def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


@dataclasses.dataclass(frozen=True, slots=True)
class _Steps:
    """Numbers, stored as their differences in as few bytes as the largest difference needs."""

    width: int
    data: bytes

    def items(self) -> list[int]:
        found: list[int] = np.cumsum(np.frombuffer(self.data, _WIDTHS[self.width]), dtype=np.int64).tolist()
        return found


def _steps(column: tuple[Any, ...]) -> tuple[Any, ...] | _Steps:
    """Return a column of many numbers as its steps; any other column unchanged."""
    if len(column) < FEW or any(type(value) is not int for value in column):
        return column
    try:
        steps = np.diff(np.array(column, np.int64), prepend=np.int64(0))  # it wraps around, and so does the sum
    except OverflowError:
        return column
    width = next(index for index, kind in enumerate(_WIDTHS)
                 if np.iinfo(kind).min <= steps.min() and steps.max() <= np.iinfo(kind).max)
    return _Steps(width, steps.astype(_WIDTHS[width]).tobytes())
