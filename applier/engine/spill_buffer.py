"""Payloads that arrive in any order and leave sorted by key: in memory while they are few, then in a file; or left in
their sender's file, if both see it."""

import mmap
import os
import pickle
import tempfile
from collections.abc import Iterator
from typing import IO, Any, Protocol

import pyarrow as pa

from applier.io.disk.temporary import spill_directory

SPILL_BYTES = 64 << 20
"""The most bytes of its unit's payloads that a task holds in memory before it spills them to a file."""


class Arrivals(Protocol):
    """Takes (key, payload) pairs, and returns them by key. A context manager."""

    def __enter__(self) -> "Arrivals": ...

    def __exit__(self, *_: object) -> None: ...

    def add(self, key: Any, payload: pa.Buffer) -> None:
        """Keep `payload`; keys are distinct and compare with one another."""

    def in_order(self) -> Iterator[tuple[Any, pa.Buffer]]:
        """Yield all pairs by ascending key. Buffers stay valid as long as they are referred to."""


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
        mapped = _mapped(self._file)
        for key, at, size in sorted(self._filed):
            yield key, mapped.slice(at, size)

    def _to_file(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="applier-spilled-", dir=spill_directory())
        for key, payload in self._held:
            self._filed.append((key, _append(self._file, payload), payload.size))
        self._file.flush()
        self._held.clear()
        self._held_bytes = 0


class SharedFile:
    """Payloads that a sender puts into a new file of a directory. A context manager; the file stays."""

    def __init__(self, directory: str) -> None:
        number, self._path = tempfile.mkstemp(prefix="payloads-", dir=directory)
        self._file = os.fdopen(number, "wb")

    def __enter__(self) -> "SharedFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, payload: Any) -> bytes:
        """Write a payload (a buffer). Gives what tells SharedArrivals where it lies, once this file is closed."""
        data = pa.py_buffer(payload)
        return pickle.dumps((self._path, _append(self._file, data), data.size))


class SharedArrivals:
    """Arrivals out of SharedFiles: their payloads are what `put` gave, and leave as views of the files' mappings."""

    def __init__(self) -> None:
        self._arrived: list[tuple[Any, tuple[str, int, int]]] = []

    def __enter__(self) -> "SharedArrivals":
        return self

    def __exit__(self, *_: object) -> None:
        self._arrived.clear()

    def add(self, key: Any, payload: pa.Buffer) -> None:
        self._arrived.append((key, pickle.loads(payload)))

    def in_order(self) -> Iterator[tuple[Any, pa.Buffer]]:
        mappings: dict[str, pa.Buffer] = {}
        for key, (path, at, size) in sorted(self._arrived):
            if path not in mappings:
                with open(path, "rb") as file:
                    mappings[path] = _mapped(file)
            yield key, mappings[path].slice(at, size)


def _append(file: IO[bytes], payload: pa.Buffer) -> int:
    """Write a payload, and a byte: no file is empty, which could not be mapped. Gives where it starts."""
    at = file.tell()
    file.write(payload)
    file.write(b"\0")
    return at


def _mapped(file: IO[bytes]) -> pa.Buffer:
    return pa.py_buffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
