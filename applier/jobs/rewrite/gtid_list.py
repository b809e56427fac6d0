"""MariaDB's GTID_LIST at the head of each file, for an archive without some of its groups: the last GTID of each domain
and server that remains in the archive. Replicas and replays rely on it.

    count u32 (the highest 4 bits are flags), then domain u32, server u32, number u64; a domain's newest one comes last
"""

from __future__ import annotations

import struct

import numpy as np

_ENTRY = struct.Struct("<IIQ")
_COUNT = (1 << 28) - 1
_SERVER_AT = 5
_FLAGS = (1 << 32) - 1 - _COUNT


class GtidList:
    """The GTIDs before the end of the output, file by file."""

    def __init__(self) -> None:
        self._last: dict[tuple[int, int], int] | None = None

    def body_for(self, body: bytes) -> bytes:
        """Return the body of a file's GTID_LIST instead of the one that it had. That of the first file stays."""
        [head] = struct.unpack_from("<I", body)
        if self._last is None:
            known = [_ENTRY.unpack_from(body, 4 + _ENTRY.size * number) for number in range(head & _COUNT)]
            self._last = {(domain, server): last for domain, server, last in known}
            return body
        entries = [_ENTRY.pack(*key, last) for key, last in self._last.items()]
        return struct.pack("<I", head & _FLAGS | len(entries)) + b"".join(entries)

    def add(self, memory: np.ndarray, starts: np.ndarray, header_length: int) -> None:
        """Add the GTID events that begin at these offsets, in their order."""
        if not len(starts):
            return
        self._last = {} if self._last is None else self._last

        def numbers(at: int, kind: str) -> np.ndarray:
            width = np.dtype(kind).itemsize
            return memory[starts[:, None] + (at + np.arange(width))].view(kind).reshape(-1)

        keys = np.stack([numbers(header_length + 8, "<u4"), numbers(_SERVER_AT, "<u4")], axis=1)
        last = numbers(header_length, "<u8")
        _, from_end = np.unique(keys[::-1], axis=0, return_index=True)
        for at in sorted((len(keys) - 1 - from_end).tolist()):
            key = int(keys[at, 0]), int(keys[at, 1])
            self._last.pop(key, None)  # the newest one comes last
            self._last[key] = int(last[at])
