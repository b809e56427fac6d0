"""A copy of a remote file on this machine's disk, whose parts are fetched on demand.

    0 .. size              the file's bytes, zeros where a chunk is missing
    from the next page on  one byte per chunk: 1 once the chunk is here

The processes of a user share it (copies). A part is fetched by one of them: the others wait for it.
"""

from __future__ import annotations

import errno
import mmap
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from applier.errors import ArchiveError
from applier.io import copies
from applier.io.copies import Copy, sparse_copy
from applier.io.transient import retried

if TYPE_CHECKING:
    import pyarrow as pa

Answer = TypeVar("Answer")

CHUNK_BYTES = 64 << 10
"""The least that is fetched. Two readers of neighbouring ranges may both fetch the chunk between them."""
PART_BYTES = 8 << 20
"""The most bytes of one request."""
REQUESTS = 32
"""The most requests of a process at a time."""

_pools: dict[int, ThreadPoolExecutor] = {}  # by process: threads do not survive a fork
_pools_lock = threading.Lock()


class PartialCopy:
    """The copy of this name of a file of `size` bytes, which `open_far` opens where it is."""

    def __init__(self, name: str, size: int, uri: str, open_far: Callable[[], pa.NativeFile]) -> None:
        self.uri, self.size, self.fetched_bytes = uri, size, 0
        self._open_far = open_far
        self._far: tuple[int, pa.NativeFile] | None = None
        self._lock = threading.RLock()
        n_chunks = -(-size // CHUNK_BYTES)
        flags_at = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        self._copy: Copy = sparse_copy(name, flags_at + n_chunks)
        try:
            self.memory = mmap.mmap(self._copy.descriptor, flags_at + n_chunks)
        except BaseException:
            self._copy.drop()
            raise
        whole = np.frombuffer(self.memory, np.uint8)
        self._flags = whole[flags_at:]
        self.array = whole[:size]
        self.array.flags.writeable = False

    @property
    def drop(self) -> Callable[[], None]:
        """Return the function to call once the memory is not mapped any more."""
        return self._copy.drop

    def fetch(self, start: int, end: int) -> None:
        """Have the bytes [start, end) here. Errors: OSError (ENOSPC where the disk has no room), StoreUnavailable, and
        ArchiveError for a file that is shorter now."""
        parts = list(self._missing(start // CHUNK_BYTES, -(-min(end, self.size) // CHUNK_BYTES)))
        if not parts:
            return
        if sum(last - first for first, last in parts) * CHUNK_BYTES > copies.room():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if len(parts) == 1:
            self._fetch_part(*parts[0])
        else:
            at_once([partial(self._fetch_part, *part) for part in parts])

    def _missing(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The runs of chunks that are missing between two chunks; none goes beyond a part of the file."""
        missing = np.flatnonzero(self._flags[first:last] == 0) + first
        of_part = missing // (PART_BYTES // CHUNK_BYTES)
        edges = np.flatnonzero((np.diff(missing) != 1) | (np.diff(of_part) != 0)) + 1
        for run in np.split(missing, edges):
            if len(run):
                yield int(run[0]), int(run[-1]) + 1

    def _read_at(self, at: int, n: int) -> bytes:
        data: bytes = self._opened().read_at(n, at)
        return data

    def _fetch_part(self, first: int, last: int) -> None:
        """Fetch a run of chunks within one part, unless another reader does so meanwhile."""
        with self._turn(first * CHUNK_BYTES // PART_BYTES):
            for start, end in self._missing(first, last):
                at, n = start * CHUNK_BYTES, min(end * CHUNK_BYTES, self.size) - start * CHUNK_BYTES
                data = memoryview(retried(partial(self._read_at, at, n), self.uri))
                if len(data) != n:
                    raise ArchiveError(f"the file shrank while it was read: it had {self.size} bytes", file=self.uri,
                                       hint="give files that do not change during the run")
                while data:
                    written = os.pwrite(self._copy.descriptor, data, at)
                    data, at = data[written:], at + written
                self._flags[start:end] = 1
                with self._lock:
                    self.fetched_bytes += n

    def _turn(self, part: int) -> AbstractContextManager[object]:
        path = self._copy.path
        return self._lock if path is None else copies.turn(f"{path}-{part}")

    def _opened(self) -> pa.NativeFile:
        """The far file, opened once a process."""
        with self._lock:
            if self._far is None or self._far[0] != os.getpid():
                self._far = os.getpid(), self._open_far()
            return self._far[1]


def at_once(requests: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """Make requests to a store at the same time, and return their results; none may make others so. Raises the first
    one's error, when all have ended."""
    if len(requests) == 1:
        return [requests[0]()]
    made = [_pool().submit(request) for request in requests]
    wait(made)  # none continues behind the error of another
    return [one.result() for one in made]


def _pool() -> ThreadPoolExecutor:
    with _pools_lock:
        if os.getpid() not in _pools:
            _pools.clear()
            _pools[os.getpid()] = ThreadPoolExecutor(REQUESTS, thread_name_prefix="fetch")
        return _pools[os.getpid()]
