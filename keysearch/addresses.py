"""Addresses of memory that Python owns, for kernels: the only way to get them. It needs no Numba.

In the checked build of the kernels (keysearch.checked) the size and the owner of the memory at each address are known.
"""

import functools
import os
import sys
import threading
import weakref
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]

CAPACITY, STARTS, ENDS, COUNT, LAST, TAKEN, BAD, BAD_SIZE, WORDS = range(9)
"""Words of the table's head, for the machine code. Behind them are the arrays whose addresses kernels have taken, as
(start, end)."""
MOST_TAKEN = 256
"""The oldest are forgotten: a kernel has a handful."""


def is_checked() -> bool:
    """Return whether this process runs the checked build of the kernels (keysearch.checked)."""
    build = os.environ.get("APPLIER_KERNELS", "")
    if build not in ("", "checked"):
        raise ValueError(f"APPLIER_KERNELS={build}: there is no such build of the kernels; give checked, or unset it")
    return build == "checked"


class Table:
    """The memory that may be touched: ranges by start, and for each the furthest end of it and those before it.

    Ranges may overlap. A range is within one of them exactly if it ends by the furthest end of those that start by its
    own start.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.head = np.zeros(WORDS + 2 * MOST_TAKEN, np.int64)
        self._ranges: dict[int, dict[tuple[int, int], str]] = {}
        self._watched: dict[int, weakref.ref[Any]] = {}
        self._freed: deque[int] = deque()
        self._bounds = np.empty((3, 0), np.int64)  # starts, ends, furthest ends
        self._grow(1024)

    def add(self, start: int, end: int, owner: Any, by: str) -> None:
        """Allow start:end until the owner is freed; `by` names the code that took the address."""
        with self.lock:
            self.forget_freed()
            key = id(owner)
            if key not in self._watched:
                self._watched[key] = weakref.ref(owner, functools.partial(self._note_freed, key))
                self._ranges[key] = {}
            if (start, end) not in self._ranges[key]:
                self._ranges[key][start, end] = by
                self._insert(start, end)

    def _note_freed(self, key: int, _: Any) -> None:
        self._freed.append(key)

    def forget_freed(self) -> None:
        """Forget the ranges of owners that were freed; the collector frees at any time, so that is only noted then."""
        while self._freed:
            key = self._freed.popleft()
            del self._watched[key]
            for start, end in self._ranges.pop(key):
                self._remove(start, end)

    def forget_taken(self) -> None:
        """Forget the arrays whose addresses kernels have taken."""
        self.head[TAKEN] = 0

    def describe_bad(self, action: str) -> str:
        """Return the target of the last wild access, and the range next to it."""
        at, size = int(self.head[BAD]), int(self.head[BAD_SIZE])
        if action == "index":
            return f"index {at} of an array with {size} items"
        wanted = f"{action} of {size} bytes at {at & (1 << 64) - 1:#x}"
        known = [(start, end, by) for ranges in self._ranges.values() for (start, end), by in ranges.items()]
        taken = self.head[WORDS:][:2 * min(int(self.head[TAKEN]), MOST_TAKEN)].reshape(-1, 2).tolist()
        known += [(start, end, "the kernel") for start, end in taken]
        if not known:
            return f"{wanted}, where no memory is registered"
        start, end, by = min(known, key=lambda one: max(one[0] - at, at - one[1], 0))
        where = f"{at - start} bytes behind the start" if start <= at < end else (
            f"{at - end} bytes behind the end" if at >= end else f"{start - at} bytes before the start")
        return f"{wanted}, {where} of the {end - start} bytes that {by} registered"

    def _insert(self, start: int, end: int) -> None:
        count = int(self.head[COUNT])
        if count == self._bounds.shape[1]:
            self._grow(2 * count)
        at = int(np.searchsorted(self._bounds[0, :count], start))
        self._bounds[:, at + 1:count + 1] = self._bounds[:, at:count].copy()
        self._bounds[:2, at] = start, end
        self._count(count + 1, at)

    def _remove(self, start: int, end: int) -> None:
        count = int(self.head[COUNT])
        at = int(np.searchsorted(self._bounds[0, :count], start))
        while self._bounds[1, at] != end:
            at += 1
        self._bounds[:, at:count - 1] = self._bounds[:, at + 1:count].copy()
        self._count(count - 1, at)

    def _count(self, count: int, changed: int) -> None:
        """Set how many there are; their furthest ends from one on are made again."""
        before = max(changed - 1, 0)
        furthest = self._bounds[1, before:count].copy()
        if changed and count > before:
            furthest[0] = self._bounds[2, before]
        self._bounds[2, before:count] = np.maximum.accumulate(furthest)
        self.head[COUNT], self.head[LAST] = count, 0

    def _grow(self, room: int) -> None:
        larger = np.zeros((3, room), np.int64)
        larger[:, :self._bounds.shape[1]] = self._bounds
        self._bounds = larger
        self.head[[CAPACITY, STARTS, ENDS]] = room, larger[0].ctypes.data, larger[2].ctypes.data


IS_CHECKED, TABLE = is_checked(), Table()


def address_of(memory: Any) -> int:
    """Return the address of the items of an array, or of the bytes of an Arrow buffer.

    The memory stays that of its owner, which the caller keeps alive. In a kernel it is an int64 (with the uint64 that
    Numba gives, sums of addresses would be doubles), and an array is freed behind its last use: one that the kernel
    made itself must still be used behind the last use of its address, as by `memory.keep`.
    """
    is_array = isinstance(memory, np.ndarray)
    if IS_CHECKED:
        _register(memory, *(np.lib.array_utils.byte_bounds(memory) if is_array
                            else (memory.address, memory.address + memory.size)))
    return memory.ctypes.data if is_array else int(memory.address)


def _register(memory: Any, start: int, end: int) -> None:
    """Have kernels touch start:end, which is memory of an array or a buffer, as long as its owner lives."""
    owner = memory
    while isinstance(owner, np.ndarray) and isinstance(owner.base, np.ndarray):
        owner = owner.base
    if isinstance(owner, np.ndarray) and getattr(type(owner.base), "__weakrefoffset__", None):
        owner = owner.base  # a buffer, a mapping; `bytes` cannot be watched, so the array over them is
    frame = sys._getframe(2)
    TABLE.add(start, end, owner, f"{short_path(frame.f_code.co_filename)}:{frame.f_lineno}")


def short_path(file: str) -> str:
    """A source file as messages name it."""
    path = Path(file).resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
