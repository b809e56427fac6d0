"""An archive: binlog files in order, without gaps.

Files are numbered (binlog.000001, …) and follow each other by number, packed ones (binlog.000001.gz) among plain ones.
Whether their contents continue as well is checked elsewhere (applier.binlog.archive.continuity).
"""

import fnmatch
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from pyarrow import fs

from applier.binlog.events.format import IN_INNODB_HINT
from applier.errors import LOG_GAP, ArchiveError, MissingFile, UsageError, reason
from applier.io.encryption.keys import keys_of, like
from applier.io.mapping import map_file, remember_listed
from applier.io.packing import SUFFIXES, file_name, is_packed, log_name
from applier.io.relayed import is_relay_log, relayed_in
from applier.io.resolver import absolute, check_regular, divided, folder_of, is_far, is_uri, join, resolve
from applier.io.transient import retried

_NUMBERED = re.compile(r"(?P<base>.+)\.(?P<number>\d{6,})\Z")
_WITH_GROUP_ID = re.compile(r"(?P<path>.+)\|\d{1,20}\|")
_OF_ARIA = re.compile(r"aria_log\.\d{8}\Z")
"""Files that are not binlogs in a data directory of MariaDB."""
_GLOB = re.compile(r"[*?\[]")
_UNPACKED_BYTES = 6
"""The approximate number of bytes of a log for each byte of its packed file."""


@dataclass(frozen=True)
class ArchiveFile:
    """A binlog file. `name` is the log's name, without the extension of a packed file; `size` is the file's size in
    bytes, `changed` the time of its last change in nanoseconds."""

    uri: str
    name: str
    size: int
    changed: int = 0

    @property
    def about_bytes(self) -> int:
        """The size of its log; approximate for a packed file."""
        return self.size * (_UNPACKED_BYTES if is_packed(self.uri) else 1)

    @property
    def log_bytes(self) -> int:
        """The exact size of its log: a packed file is unpacked for it, an encrypted one decrypted, a log in relay logs
        assembled. Raises ArchiveError."""
        is_other = is_packed(self.uri) or keys_of(self.uri) is not None or relayed_in(self.uri) is not None
        return map_file(self.uri).size if is_other else self.size


@dataclass(frozen=True)
class Archive:
    """The files in the order in which they were written, up to the missing one that `gap` names. A position in it is
    (index of the file, offset)."""

    files: tuple[ArchiveFile, ...]
    gap: MissingFile | None = None
    relay_logs: str | None = None
    """The first and the last relay log, as text, if the files consist of relay logs."""

    def check_has(self, name: str) -> None:
        """Raise MissingFile if the file with this base name is missing, or comes after a missing one."""
        if self.gap is not None and all(file.name != name for file in self.files):
            raise self.gap

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def extent(self) -> str:
        """The names of its first and last file, for messages."""
        return f"it goes from {self.files[0].name} to {self.files[-1].name}"

    def index_of(self, name: str) -> int:
        """Return the index of the file with this base name. Raises MissingFile."""
        for index, file in enumerate(self.files):
            if file.name == name:
                return index
        raise MissingFile(
            f"the archive has no file {name}: {self.extent}",
            file=name,
            errno=LOG_GAP,
        )


def open_archive(paths: Sequence[str], *, with_gap: bool = False) -> Archive:
    """Find the files of an archive. Each path is a binlog, a directory of binlogs, an index file (*.index), or a glob;
    local or any pyarrow.fs URI. For relay logs, the files are the source's logs (relay_logs).

    Raises as `list_archive` does, and ArchiveError if the first file cannot be read.
    """
    return as_source_logs(list_archive(paths, with_gap=with_gap))


def list_archive(paths: Sequence[str], *, with_gap: bool = False) -> Archive:
    """Find the files of an archive as they are stored, without reading any.

    Raises UsageError if the order is not clear, ArchiveError if there is nothing to read, and MissingFile for a skipped
    number or a missing file that an index names. With `with_gap`, the result has that error as its `gap` instead.
    """
    found: dict[str, ArchiveFile] = {}
    missing: list[MissingFile] = []
    try:
        for path in paths:
            for file in _expand(path):
                if isinstance(file, MissingFile):
                    missing.append(file)
                else:
                    found.setdefault(file.uri, file)
    except OSError as error:
        raise ArchiveError(f"cannot read the archive: {reason(error)}", file=path) from error
    if not found and missing:
        raise missing[0]
    if not found:
        raise ArchiveError(
            f"no binlog files in {', '.join(paths) or 'nothing'}",
            hint=_hint_on_nothing(paths),
        )
    files = _in_order(list(found.values()))
    gap = _first_gap(files, missing)
    if gap is None:
        return Archive(tuple(files))
    before = tuple(file for file in files if _number(file.name) < _number(gap.file or ""))
    if not with_gap or not before:
        raise gap
    return Archive(before, gap)


def as_source_logs(archive: Archive) -> Archive:
    """Return the archive unchanged, or, if it consists of relay logs, the archive of their source's logs."""
    files = archive.files
    if not is_relay_log(files[0].uri):
        return archive
    from applier.binlog.archive.relay_logs import source_logs  # kernels

    logs = [ArchiveFile(log, log_name(log), sum(part.end - part.start for part in log.relayed.parts),
                        max(file.changed for file in files))
            for log in source_logs([file.uri for file in files])]
    extent = f"{files[0].name} to {files[-1].name}" if len(files) > 1 else files[0].name
    return Archive(tuple(logs), archive.gap, extent)


def files_at(path: str) -> list[str]:
    """Return the binlogs that a path stands for, as `open_archive` takes it, in order; numbers may be skipped. Raises
    MissingFile for a file that does not exist, UsageError if the order is not clear, ArchiveError if there is no
    binlog."""
    try:
        found = _expand(path)
    except OSError as error:
        raise ArchiveError(f"cannot read the archive: {reason(error)}", file=path) from error
    for file in found:
        if isinstance(file, MissingFile):
            raise file
    files = _in_order([file for file in found if isinstance(file, ArchiveFile)])
    if not files:
        raise ArchiveError("no binlog files here", file=path, hint="binlogs have names such as binlog.000001")
    return [file.uri for file in files]


def _hint_on_nothing(paths: Sequence[str]) -> str:
    """Return a hint for paths that have no binlogs."""
    for path in paths:
        with suppress(OSError):
            filesystem, inner = resolve(path)
            infos = filesystem.get_file_info(fs.FileSelector(inner))
            if found := min((info.base_name for info in infos if info.base_name.endswith(".ibb")), default=None):
                return f"there is {found}: {IN_INNODB_HINT}"
    return "binlogs have names such as binlog.000001 or binlog.000001.gz; give the directory that holds them"


def _number(name: str) -> int:
    match = _NUMBERED.match(name)
    return int(match["number"]) if match else 0


def _first_gap(files: list[ArchiveFile], missing: list[MissingFile]) -> MissingFile | None:
    """Return the error for the first missing file: its number is skipped, or an index names it."""
    skipped = []
    for file, next_file in pairwise(files):
        number = _number(file.name)
        if _number(next_file.name) != number + 1:
            name = f"{file.name.rpartition('.')[0]}.{number + 1:06d}"
            skipped.append(MissingFile(f"{name} is missing: the archive goes from {file.name} to {next_file.name}",
                                       file=name, errno=LOG_GAP))
    return min([*missing, *skipped], key=lambda gap: _number(gap.file or ""), default=None)


def _expand(path: str) -> Sequence[ArchiveFile | MissingFile]:
    path_part, query = divided(path)
    if _GLOB.search(path_part):
        parent, pattern = os.path.split(path_part)
        return [file for file in _list(like(path, (parent or ".") + query))
                if fnmatch.fnmatchcase(file_name(file.uri), pattern)]
    info = _info(path)
    if info.type == fs.FileType.Directory:
        return _list(path)
    if info.type != fs.FileType.File:
        check_regular(path)
        raise MissingFile("no such file or directory", file=path)
    if path.endswith(".index"):
        return _read_index(path)
    return [_file(like(path, absolute(path)), log_name(path), info)]


def _list(directory: str) -> list[ArchiveFile]:
    """Return the numbered files of a directory."""
    return [
        _file(like(directory, join(absolute(directory), info.base_name)), log_name(info.base_name), info)
        for info in _listing(directory)
        if info.type == fs.FileType.File and _NUMBERED.match(log_name(info.base_name))
        and not _OF_ARIA.match(info.base_name)
    ]


def _listing(directory: str) -> list[fs.FileInfo]:
    filesystem, inner = resolve(directory)
    try:
        infos: list[fs.FileInfo] = retried(lambda: filesystem.get_file_info(fs.FileSelector(inner)), directory)
    except UnicodeDecodeError as error:
        raise UsageError("a file in the directory has a name that is not UTF-8", file=directory,
                         hint="rename it, or name the binlogs") from error
    return infos


def _file(uri: str, name: str, info: fs.FileInfo) -> ArchiveFile:
    if is_far(uri):
        remember_listed(uri, info.size, info.mtime_ns or 0)
    return ArchiveFile(uri, name, info.size, info.mtime_ns or 0)


def _read_index(path: str) -> list[ArchiveFile | MissingFile]:
    """Return the files that a server's index names, one on each line. A file that is not at its path is looked for
    beside the index, and a packed one is used if there is no plain one."""
    filesystem, inner = resolve(path)
    with retried(lambda: filesystem.open_input_stream(inner), path) as stream:
        lines = [line.strip() for line in stream.read().decode("utf-8", "surrogateescape").splitlines()]
    listed = {info.base_name: info for info in _listing(folder_of(path))} if is_uri(path) else None
    files: list[ArchiveFile | MissingFile] = []
    for line in filter(None, map(_without_group_id, lines)):
        beside = join(folder_of(path), os.path.basename(line))
        candidates = [line, beside] if os.path.isabs(line) and not is_uri(path) else [beside]
        for path_part in [path_part + suffix for suffix in ("", *SUFFIXES.values()) for path_part in candidates]:
            info = _info(path_part) if listed is None else listed.get(file_name(path_part))
            if info is not None and info.type == fs.FileType.File:
                files.append(_file(like(path, absolute(path_part)), os.path.basename(line), info))
                break
        else:
            files.append(MissingFile(f"{path} names {line}, which does not exist", file=os.path.basename(line),
                                     errno=LOG_GAP))
    return files


def _without_group_id(line: str) -> str:
    """Return the path in a line of an index, which servers with group ids write as "path|id|" (GRP-3)."""
    return match["path"] if (match := _WITH_GROUP_ID.fullmatch(line)) else line


def _in_order(files: list[ArchiveFile]) -> list[ArchiveFile]:
    matches = [_NUMBERED.match(file.name) for file in files]
    if len(files) == 1:
        return files
    unnumbered = [file.name for file, match in zip(files, matches, strict=True) if match is None]
    if unnumbered:
        raise UsageError(f"binlog files are ordered by number, but {unnumbered[0]} has no number")
    bases = sorted({match["base"] for match in matches if match})
    if len(bases) > 1:
        raise UsageError(
            "these files belong to more than "
            f"one binlog sequence: {', '.join(bases)}", hint=f"give one, such as '{bases[0]}.*'"
        )
    numbered = [(int(match["number"]), file) for match, file in zip(matches, files, strict=True) if match]
    numbered.sort(key=lambda entry: entry[0])
    for (number, file), (following, next_file) in pairwise(numbered):
        if following == number:
            raise UsageError(f"the archive has two files {file.name}: {file.uri} and {next_file.uri}",
                             hint="leave out one of them, or name the files to read")
    return [file for _, file in numbered]


def _info(uri: str) -> fs.FileInfo:
    filesystem, path = resolve(uri)
    return retried(lambda: filesystem.get_file_info(path), uri)
