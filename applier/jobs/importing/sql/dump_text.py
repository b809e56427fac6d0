"""The bytes of a dump as a window that moves over a stream: plain, or compressed according to its name (.gz, .zst, …).
"""

from __future__ import annotations

import io
import sys

import numpy as np
import pyarrow as pa

from applier.errors import UsageError, reason
from applier.io.resolver import check_regular, resolve
from keysearch.addresses import address_of

STDIN = "-"
WINDOW = 16 << 20
LARGEST = 1 << 30
"""The most bytes of a statement without rows, or of a row with its statement's head: servers accept no more
(max_allowed_packet), and a small compressed file may hold any number."""
GUARD = b"\n;   "
"""Ends the last statement, as the end of the file does for a client; followed by blanks for look-ahead."""


class DumpText:
    """`data[at:end]` (uint8) are the bytes that are read and not yet consumed, first of all `head`; the `guard` follows
    the last byte of the file. Raises UsageError if the file cannot be read, or more than `largest` bytes are needed at
    once."""

    def __init__(self, uri: str, window: int = WINDOW, *, guard: bytes = GUARD, largest: int = LARGEST,
                 head: bytes = b"") -> None:
        self.uri, self._guard, self._most = uri, guard, largest + window
        try:
            self._stream = _opened(uri)
        except OSError as error:
            raise UsageError(f"the dump cannot be read: {reason(error)}", file=uri) from error
        self.data = np.empty(max(window, len(head)), np.uint8)
        self.data[:len(head)] = np.frombuffer(head, np.uint8)
        self.at, self.end = 0, len(head)
        self.bytes_read = len(head)
        self._ended = False
        self._lines_before = 1

    def __enter__(self) -> DumpText:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    @property
    def address(self) -> int:
        """The address of `data`, which `more` may change."""
        return address_of(self.data)

    def more(self) -> bool:
        """Read on; consumed bytes are gone, and all offsets then count from `at` = 0. False at the end."""
        if self._ended:
            return False
        self._lines_before += _newlines(self.data[:self.at])
        left = self.data[self.at:self.end]
        if len(left) > len(self.data) // 2 and len(self.data) < self._most:
            larger = np.empty(min(2 * len(self.data), self._most), np.uint8)
            larger[:len(left)] = left
            self.data = larger
        else:
            self.data[:len(left)] = left.copy()
        self.at, self.end = 0, len(left)
        if self.end == len(self.data):
            raise UsageError(f"a statement, a row or a comment of the dump is longer than {self._most:,} bytes, "
                             "and no server accepts more", file=self.source_line(0))
        try:
            read = self._stream.readinto(self.data.data[self.end:])
        except OSError as error:
            raise UsageError(f"the dump cannot be read: {error}", file=self.uri,
                             hint="the file is truncated or damaged") from error
        self.bytes_read += read
        self.end += read
        if not read:
            self._ended = True
            self.data = np.concatenate([self.data[:self.end], np.frombuffer(self._guard, np.uint8)])
            self.end += len(self._guard)
        return read > 0 or len(self._guard) > 0

    def text(self, end: int) -> bytes:
        """Return the bytes from `at` to `end`."""
        return self.data[self.at:end].tobytes()

    def source_line(self, at: int) -> str:
        """Return the file and the number of the line, from 1, of an offset in `data`."""
        return f"{self.uri}, line {self._lines_before + _newlines(self.data[:at])}"


def _newlines(data: np.ndarray) -> int:
    return int(np.count_nonzero(data == 10))


def _opened(uri: str) -> pa.NativeFile:
    if uri == STDIN:
        return pa.PythonFile(_standard_input(), "r")
    check_regular(uri, "send the dump to stdin, and give - as its name")
    filesystem, path = resolve(uri)
    return filesystem.open_input_stream(path, compression="detect")


def read_head(n_bytes: int) -> bytes:
    """Return the next `n_bytes` bytes of stdin, or fewer at its end."""
    stream, head = _standard_input(), b""
    while len(head) < n_bytes and (more := stream.read(n_bytes - len(head))):
        head += more
    return head


def _standard_input() -> io.FileIO:
    """Open stdin without a buffer, since bytes in a buffer would be lost between two readers."""
    return io.FileIO(sys.stdin.fileno(), closefd=False)
