"""Makes text from logs, dumps and manifests safe to print: the one function for all printing.

A terminal obeys control characters (ESC, CR, those from U+0080 to U+009F), and format characters (U+202E and the
like) reorder or hide text. Names and comments of tables may contain any of them.
"""

import codecs
import sys
import unicodedata
from collections.abc import Iterable
from typing import BinaryIO, TextIO


def printable(text: str, keep: str = "") -> str:
    """Return the text with every character escaped that cannot be shown: controls (line feeds, too), format,
    surrogates, unassigned ones. `keep` has those that stay.

    ESC is \\x1b, U+202E is \\u202e, a byte that was no text (a surrogate of Python's) is \\xNN.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep or unicodedata.category(char) == "Zs" else _escaped(char)
                   for char in text)


def printable_start(text: str) -> str:
    """The text as `printable` shows it, cut where it is longer than a server's own messages are."""
    shown = printable(text[:_MOST_SHOWN])
    return shown if len(text) <= _MOST_SHOWN else f"{shown}…"


_MOST_SHOWN = 512
"""Characters. Source: MySQL's MYSQL_ERRMSG_SIZE."""


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte, by the error handler "surrogateescape"
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class TerminalText:
    """A terminal for callers that write bytes to its `buffer`, such as stdout."""

    def __init__(self, stream: TextIO) -> None:
        self.flush = stream.flush
        self.buffer = PrintableBytes(stream.buffer)


def standard_output() -> TextIO | TerminalText:
    """Return stdout. Bytes written to its `buffer` are made printable on a terminal, and stay unchanged in a pipe or a
    file, where a program reads them."""
    return TerminalText(sys.stdout) if sys.stdout.isatty() else sys.stdout


def print_lines(texts: Iterable[str | bytes]) -> None:
    """Write texts to `standard_output`."""
    sys.stdout.flush()
    out = standard_output()
    for text in texts:
        out.buffer.write(text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace"))
    out.buffer.flush()


class PrintableBytes:
    """A stream of bytes to a terminal: lines of UTF-8, in which all but line feeds and tabs is made printable."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def write(self, data: bytes) -> int:
        """Write the complete characters; the last one may continue in the next call."""
        self._stream.write(printable(self._decoder.decode(bytes(data)), "\n\t").encode("utf-8"))
        return len(data)

    def flush(self) -> None:
        """Write the rest of a character."""
        self._stream.write(printable(self._decoder.decode(b"", final=True), "\n\t").encode("utf-8"))
        self._stream.flush()


def shown_size(n_bytes: int) -> str:
    """A number of bytes, for people."""
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else \
        f"{n_bytes:,} bytes"
