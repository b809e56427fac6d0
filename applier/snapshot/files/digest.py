"""Digests of files, computed while their bytes are written. They detect accidents and careless edits, not forgery.

A digest is a text: the name of its hash, a colon and the hash in hexadecimal. The hash is XXH64, as `xxhsum -H1` prints
it: hashes of the standard library take a tenth of the time of compressing a file, this one a hundredth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from applier.errors import SnapshotError
from applier.snapshot.files import digest_kernel
from applier.snapshot.files.checks import REPLACE
from keysearch.addresses import address_of

HASH = "xxh64"


class Digest:
    """Computes the digest of bytes that arrive in parts."""

    def __init__(self) -> None:
        self._state = np.zeros((), digest_kernel.STATE)
        self._at = address_of(self._state)
        digest_kernel.begin(self._at)

    def update(self, data: Any) -> None:
        """Add the next bytes, any object with the buffer protocol."""
        view = np.frombuffer(data, np.uint8)
        digest_kernel.absorb(self._at, address_of(view), len(view))

    def __str__(self) -> str:
        return f"{HASH}:{digest_kernel.result(self._at):016x}"


def digest_of(data: Any) -> str:
    """Return the digest of a whole buffer."""
    made = Digest()
    made.update(data)
    return str(made)


class HashedSink:
    """A file for Arrow's writers: the bytes go to `sink` and into a digest."""

    def __init__(self, sink: Any) -> None:
        self._sink, self._digest, self._size = sink, Digest(), 0
        self._part, self._part_start = Digest(), 0
        self.closed = False

    def write(self, data: Any) -> int:
        """Write all of it."""
        size = memoryview(data).nbytes
        if size:
            self._digest.update(data)
            self._part.update(data)
            self._sink.write(data)
            self._size += size
        return size

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._size

    def flush(self) -> None:
        """Do nothing: no bytes are held back here."""

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self.closed = True
            self._sink.close()

    @property
    def digest(self) -> str:
        """The digest of everything written."""
        return str(self._digest)

    def end_part(self) -> tuple[int, int, str]:
        """End a part: return where the bytes written since the end of the last part begin and end, and their digest."""
        ended = self._part_start, self._size, str(self._part)
        self._part, self._part_start = Digest(), self._size
        return ended


def check_digest(data: Any, digest: str | None, path: str) -> None:
    """Raise SnapshotError if a file's bytes do not have the digest in its manifest."""
    if can_check(digest):
        compare_digest(digest_of(data), digest, path)


def can_check(digest: str | None) -> bool:
    """Return True if there is a digest, made with a known hash: older versions wrote no digests, newer ones may use
    another hash."""
    return digest is not None and digest.startswith(f"{HASH}:")


def compare_digest(found: str, digest: str | None, path: str) -> None:
    """Raise SnapshotError if a file's digest is not the manifest's, provided that the manifest's can be compared."""
    if can_check(digest) and found != digest:
        raise SnapshotError(f"a file of the snapshot was changed: its digest is {found}, but its manifest says "
                            f"{digest}",
                            file=path, hint=REPLACE)
