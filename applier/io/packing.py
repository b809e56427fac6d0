"""Packed logs: binlogs that were compressed as whole files.

The name shows that a file is packed, and which log it is: binlog.000001.gz is binlog.000001. Its first bytes show the
compression; none, if a store has unpacked it on the way.
"""

import posixpath

from applier.io.resolver import is_uri

SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "lz4": ".lz4", "xz": ".xz"}
"""The endings of packed files, by packing."""
_STARTS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4", b"\xfd7zXZ\0": "xz"}
START_BYTES = max(map(len, _STARTS))


def log_name(location: str) -> str:
    """Return the name of the log in a file at a path or uri: the file's own, without the ending of its packing."""
    name = file_name(location)
    return next((name[:-len(suffix)] for suffix in SUFFIXES.values() if name.endswith(suffix)), name)


def is_packed(location: str) -> bool:
    """Return whether the file at a path or uri is a packed log, by its name."""
    return log_name(location) != file_name(location)


def packing_of(start: bytes) -> str | None:
    """Return the packing of a file with these first bytes; None if it is not packed."""
    return next((name for head, name in _STARTS.items() if start.startswith(head)), None)


def file_name(location: str) -> str:
    """The name of the file at a path or uri."""
    path = location.partition("?")[0] if is_uri(location) else location
    return posixpath.basename(path.rstrip("/"))
