"""Payloads that arrive in any order and leave sorted by key: in memory while they are few, then in a file."""

import mmap
import os
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa

SPILL_BYTES = 64 << 20
"""What a task holds of its unit's payloads in memory before it spills them to a file."""
_ALIGNMENT = 64  # Arrow data read in place wants its buffers aligned


class SpillBuffer:
    """Holds (key, payload) pairs; `in_order` returns them by key. A context manager.

    Beyond `memory_bytes`, payloads go to a file without a name, in Spark's local directory if there is one, and come
    back as views of its mapping: private memory stays bounded, and a killed task leaves nothing behind.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._held: list[tuple[Any, pa.Buffer]] = []
        self._held_bytes = 0
        self._filed: list[tuple[Any, int, int]] = []
        self._file: IO[bytes] | None = None

    def __enter__(self) -> "SpillBuffer":
        return self

    def __exit__(self, *_: object) -> None:
        self._held.clear()
        if self._file is not None:
            self._file.close()

    def add(self, key: Any, payload: pa.Buffer) -> None:
        """Keep `payload`; keys are distinct and compare with one another."""
        self._held.append((key, payload))
        self._held_bytes += payload.size
        if self._held_bytes > self._memory_bytes:
            self._to_file()

    def in_order(self) -> Iterator[tuple[Any, pa.Buffer]]:
        """All pairs by ascending key. Buffers stay valid as long as they are referred to."""
        if self._file is None:
            self._held.sort(key=lambda pair: pair[0])
            yield from self._held
            return
        self._to_file()
        mapped = pa.py_buffer(mmap.mmap(self._file.fileno(), 0, prot=mmap.PROT_READ))
        for key, at, size in sorted(self._filed):
            yield key, mapped.slice(at, size)

    def _to_file(self) -> None:
        if self._file is None:
            directory = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None
            self._file = tempfile.TemporaryFile(prefix="applier-spilled-", dir=directory)
        for key, payload in self._held:
            at = self._file.tell()
            self._filed.append((key, at, payload.size))
            self._file.write(payload)
            self._file.write(bytes(-payload.size % _ALIGNMENT))
        self._file.flush()
        self._held.clear()
        self._held_bytes = 0
