"""The index of an archive: a small file beside it that narrows a search to parts of files.

It is trusted only as far as it can be checked. The index as a whole has a checksum. Its entry of a file counts as long
as the file has the recorded size and time; otherwise the file is described anew. Groups found by it are read in the
file; if they differ, or before a group is declared missing, the heads of the files are compared, too.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from applier.binlog.archive.archive import Archive, ArchiveFile
from applier.binlog.locating.group_ranges import GroupRange, GroupRangeFields, group_ranges
from applier.binlog.locating.groups import GroupPass
from applier.binlog.locating.heads import read_head
from applier.errors import ArchiveError, reason
from applier.io.resolver import folder_of, is_local, join, resolve
from applier.io.typed_json import Count, build, loads

INDEX_NAME = "applier-index.json"
_VERSION = 1


@dataclass(frozen=True)
class Entry:
    """The index's entry of a file: how to recognise the file, and its ranges."""

    size: int
    changed: int
    head: int  # FileHead.digest
    group_ranges: tuple[GroupRange, ...]

    def is_of(self, file: ArchiveFile) -> bool:
        """True if the file is unchanged, as far as its directory tells."""
        return (self.size, self.changed) == (file.size, file.changed)


Index = dict[str, Entry]
"""Entries by the files' base names."""
_Entries = dict[str, tuple[Count, int, int, tuple[GroupRangeFields, ...]]]
"""An index's JSON."""


def place(archive: Archive) -> str | None:
    """The path of the archive's index, whether it exists or not; None if the files are not in one directory."""
    directories = {folder_of(file.uri) for file in archive.files}
    return join(directories.pop(), INDEX_NAME) if len(directories) == 1 else None


def load(uri: str) -> Index | None:
    """Load an index; None if there is none. One that cannot be trusted is empty. Raises ArchiveError if it cannot be
    read."""
    filesystem, path = resolve(uri)
    try:
        with filesystem.open_input_stream(path) as stream:
            data = stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ArchiveError(f"the archive's index cannot be read: {reason(error)}", file=uri) from error
    try:
        version, checksum, text = data.decode().split("\n", 2)
        if (version, checksum) != (str(_VERSION), str(zlib.crc32(text.encode()))):
            return {}
        return {name: Entry(size, changed, head, tuple(GroupRange(*part) for part in parts))
                for name, (size, changed, head, parts) in build(_Entries, loads(text.encode())).items()}
    except ValueError:  # which Mismatch and UnicodeDecodeError are
        return {}


def save(index: Index, uri: str) -> int:
    """Write the index; returns its size in bytes. A local one replaces the old one at once. Raises ArchiveError."""
    entries = {name: [entry.size, entry.changed, entry.head, [part.to_json() for part in entry.group_ranges]]
               for name, entry in sorted(index.items())}
    text = json.dumps(entries, separators=(",", ":"))
    data = f"{_VERSION}\n{zlib.crc32(text.encode())}\n{text}".encode()
    filesystem, path = resolve(uri)
    written = f"{path}.{os.getpid()}" if is_local(filesystem) else path
    try:
        with filesystem.open_output_stream(written) as stream:
            stream.write(data)
        if written != path:
            os.replace(written, path)
    except OSError as error:
        if written != path:
            with suppress(OSError):  # the rest of the file is not the error to report
                os.remove(written)
        raise ArchiveError(f"the index cannot be written: {reason(error)}", file=uri) from error
    return len(data)


def describe_file(file: ArchiveFile) -> Entry:
    """The entry of a file, by a pass over it. Raises ArchiveError if it is damaged; a torn end is left out."""
    head = read_head(file)
    return Entry(file.size, file.changed, head.digest, tuple(group_ranges(GroupPass(file.uri).groups())))


def describe_files(files: Sequence[ArchiveFile], done: Callable[[int], None]) -> Index:
    """Entries of files, several at a time; `done` is called with the number of finished ones."""
    index: Index = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, entry in zip(files, pool.map(describe_file, files), strict=True):
            index[file.name] = entry
            done(len(index))
    return index


def outdated(index: Index, archive: Archive) -> list[ArchiveFile]:
    """The files that have changed since the index described them, by their sizes and times."""
    return [file for file in archive.files if file.name not in index or not index[file.name].is_of(file)]


def mistaken(index: Index, files: Sequence[ArchiveFile]) -> list[ArchiveFile]:
    """The files that look unchanged but have other heads."""
    return [file for file in files if read_head(file).digest != index[file.name].head]
