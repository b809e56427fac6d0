"""Finds event groups in an archive (GRP-4, GRP-7), and keeps its index.

The index is a small file beside the archive that narrows a search to parts of files. It is trusted only as far as it
can be checked. The whole index has a checksum. The entry of a file is valid while the file has the recorded size and
time; otherwise the file is described again. Groups that the index leads to are read in the file. If they differ, and
before a group is reported as missing, the heads of the files are compared, too."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from applier.binlog.archive.archive import Archive, ArchiveFile, open_archive
from applier.binlog.locating.group_ranges import GroupRange, GroupRangeFields, describe, group_ranges
from applier.binlog.locating.groups import Group, GroupPass, Groups
from applier.binlog.locating.heads import FileHead, read_head
from applier.binlog.locating.targets import Target
from applier.errors import LOG_GAP, ArchiveError, UsageError, reason
from applier.io.progress import Progress, Silent
from applier.io.resolver import folder_of, is_local, join, resolve
from applier.io.typed_json import Count, build, loads

INDEX_NAME = "applier-index.json"
_VERSION = 1


@dataclass(frozen=True)
class Entry:
    """The index's entry of a file: what identifies the file, and its ranges."""

    size: int
    changed: int
    head: int  # FileHead.digest
    group_ranges: tuple[GroupRange, ...]

    def is_of(self, file: ArchiveFile) -> bool:
        """Return True if the file is unchanged by its size and time."""
        return (self.size, self.changed) == (file.size, file.changed)


Index = dict[str, Entry]
"""Entries by the files' base names."""
_Entries = dict[str, tuple[Count, int, int, tuple[GroupRangeFields, ...]]]
"""The JSON of an index."""


def index_uri(archive: Archive) -> str | None:
    """Return the path of the archive's index, whether or not it exists; None if the files are not in one directory."""
    directories = {folder_of(file.uri) for file in archive.files}
    return join(directories.pop(), INDEX_NAME) if len(directories) == 1 else None


def load(uri: str) -> Index | None:
    """Load an index; None if there is none, and an empty one if it is damaged. Raises ArchiveError if it cannot be
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
    """Write the index, and return its size in bytes. A local index is replaced atomically. Raises ArchiveError."""
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
    """Return the entry of a file, after a pass over it. Raises ArchiveError if it is damaged; a truncated end is
    ignored."""
    head = read_head(file)
    return Entry(file.size, file.changed, head.digest, tuple(group_ranges(GroupPass(file.uri).groups())))


def describe_files(files: Sequence[ArchiveFile], done: Callable[[int], None]) -> Index:
    """Return the entries of files. Several are read at a time; `done` is called with the number of finished ones."""
    index: Index = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, entry in zip(files, pool.map(describe_file, files), strict=True):
            index[file.name] = entry
            done(len(index))
    return index


def outdated(index: Index, archive: Archive) -> list[ArchiveFile]:
    """Return the files that have changed since the index described them, by size and time."""
    return [file for file in archive.files if file.name not in index or not index[file.name].is_of(file)]


def mistaken(index: Index, files: Sequence[ArchiveFile]) -> list[ArchiveFile]:
    """Return the files with an unchanged size and time but a different head."""
    return [file for file in files if read_head(file).digest != index[file.name].head]


@dataclass(frozen=True)
class Indexed:
    """The result of `index`: the file that it wrote, its size, the number of files that it describes, and how many of
    them were read."""

    uri: str
    size: int
    n_files: int
    n_read: int


def index(directory: str, progress: Progress | None = None) -> Indexed:
    """Write an archive's index, or update it: files with unchanged heads are not read again.

    Raises ApplierError if the archive cannot be read, or the index cannot be written.
    """
    archive, progress = open_archive([directory]), progress or Silent()
    uri = index_uri(archive)
    if uri is None:
        raise UsageError("the files are in several directories",
                         hint="an index belongs beside the files of one directory")
    known = load(uri) or {}
    wrong = outdated(known, archive)
    stale = {file.name for file in wrong}
    current = [file for file in archive.files if file.name not in stale]
    wrong += mistaken(known, current)
    progress.phase("index", len(wrong), "files")
    known.update(describe_files(wrong, progress.update))
    known = {file.name: known[file.name] for file in archive.files}
    return Indexed(uri, save(known, uri), len(known), len(wrong))


def locate(binlogs: list[str], target: Target, progress: Progress | None = None) -> list[Group]:
    """Return the groups that match a target, in log order, by the archive's index if it has one.

    Raises ArchiveError (1236) if no group matches.
    """
    archive, progress = open_archive(binlogs), progress or Silent()
    uri = index_uri(archive)
    known = load(uri) if uri is not None else None
    found = list(_by_heads(archive, target) if uri is None or known is None else
                 _by_index(archive, known, uri, target, progress))
    if not found:
        raise ArchiveError(f"{target.what} is not in the archive, which goes from {archive.files[0].name} to "
                           f"{archive.files[-1].name}", errno=LOG_GAP,
                           hint="are these all the binlogs, and of the right server?")
    return found


def _by_heads(archive: Archive, target: Target) -> Iterator[Group]:
    @cache
    def head(number: int) -> FileHead:
        return read_head(archive.files[number])

    for number in target.files(head, len(archive.files)):
        found = _among(GroupPass(archive.files[number].uri).groups(), target)
        yield from found
        if found and target.first_only:
            return


def _among(groups: Groups, target: Target) -> list[Group]:
    found = target.among(groups)
    return [groups[number] for number in (found[:1] if target.first_only else found).tolist()]


def _by_index(archive: Archive, known: Index, uri: str, target: Target, progress: Progress) -> list[Group]:
    """Return the groups that the index leads to. The index is updated first, and corrected if a file contradicts it."""
    wrong = outdated(known, archive)
    described: set[str] = set()
    while True:
        if wrong:
            described.update(file.name for file in wrong)
            progress.note(f"the index does not fit {_named(wrong)}: it is updated")
            _bring_to_date(known, wrong, uri, progress)
        found, misdescribed = _led_to(archive, known, target)
        if misdescribed is not None:
            wrong = [file for file in archive.files if file.name not in described]
        elif found:
            return found
        else:
            wrong = mistaken(known, archive.files)
            misdescribed = next((file for file in wrong if file.name in described), None)
        if misdescribed is not None and misdescribed.name in described:
            raise ArchiveError("the file changed during the search", file=misdescribed.name)
        if not wrong:
            return []


def _bring_to_date(known: Index, wrong: list[ArchiveFile], uri: str, progress: Progress) -> None:
    progress.phase("index", len(wrong), "files")
    known.update(describe_files(wrong, progress.update))
    try:
        save(known, uri)
    except ArchiveError as error:  # an archive can be searched without write access
        progress.note(error.message)


def _led_to(archive: Archive, known: Index, target: Target) -> tuple[list[Group], ArchiveFile | None]:
    """Return the groups that the index leads to, or the first file that the index describes wrongly."""
    found: list[Group] = []
    for file in archive.files:
        group_ranges = [part for part in known[file.name].group_ranges if target.may_be_in(part)]
        if group_ranges and mistaken(known, [file]):
            return [], file
        for part in group_ranges:
            try:
                groups = GroupPass(file.uri).groups(part.start, part.end)
            except ArchiveError:  # no group begins there, or the file is damaged: describing it again will tell
                return [], file
            if not len(groups) or describe(groups, 0, len(groups)) != part:
                return [], file
            found += _among(groups, target)
            if found and target.first_only:
                return found, None
    return found, None


def _named(files: list[ArchiveFile]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files)} files, {files[0].name} among them"
