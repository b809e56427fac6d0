"""Finds event groups in an archive (GRP-4, GRP-7), and keeps its index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from applier.binlog.archive.archive import Archive, ArchiveFile, open_archive
from applier.binlog.locating import index as indexes
from applier.binlog.locating.group_ranges import describe
from applier.binlog.locating.groups import Group, GroupPass, Groups
from applier.binlog.locating.heads import FileHead, read_head
from applier.binlog.locating.index import Index
from applier.binlog.locating.targets import Target
from applier.errors import LOG_GAP, ArchiveError, UsageError
from applier.io.progress import Progress, Silent


@dataclass(frozen=True)
class Indexed:
    """The result of `index`: the file it wrote, its bytes, how many files it describes, and how many of them were read.
    """

    uri: str
    size: int
    n_files: int
    n_read: int


def index(directory: str, progress: Progress | None = None) -> Indexed:
    """Write an archive's index, or update it: files with unchanged heads are not read again.

    Raises ApplierError if the archive cannot be read, or the index cannot be written.
    """
    archive, progress = open_archive([directory]), progress or Silent()
    uri = indexes.place(archive)
    if uri is None:
        raise UsageError("the files are in several directories",
                         hint="an index belongs beside the files of one directory")
    known = indexes.load(uri) or {}
    wrong = indexes.outdated(known, archive)
    stale = {file.name for file in wrong}
    current = [file for file in archive.files if file.name not in stale]
    wrong += indexes.mistaken(known, current)
    progress.phase("index", len(wrong), "files")
    known.update(indexes.describe_files(wrong, progress.update))
    known = {file.name: known[file.name] for file in archive.files}
    return Indexed(uri, indexes.save(known, uri), len(known), len(wrong))


def locate(binlogs: list[str], target: Target, progress: Progress | None = None) -> list[Group]:
    """The groups that a target names, in the log's order; by the archive's index if it has one.

    Raises ArchiveError (1236) if there is none.
    """
    archive, progress = open_archive(binlogs), progress or Silent()
    uri = indexes.place(archive)
    known = indexes.load(uri) if uri is not None else None
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
    places = target.among(groups)
    return [groups[place] for place in (places[:1] if target.first_only else places).tolist()]


def _by_index(archive: Archive, known: Index, uri: str, target: Target, progress: Progress) -> list[Group]:
    """The groups that the index leads to. The index is updated first, and made anew if a file proves it wrong."""
    wrong = indexes.outdated(known, archive)
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
            wrong = indexes.mistaken(known, archive.files)
            misdescribed = next((file for file in wrong if file.name in described), None)
        if misdescribed is not None and misdescribed.name in described:
            raise ArchiveError("the file changed during the search", file=misdescribed.name)
        if not wrong:
            return []


def _bring_to_date(known: Index, wrong: list[ArchiveFile], uri: str, progress: Progress) -> None:
    progress.phase("index", len(wrong), "files")
    known.update(indexes.describe_files(wrong, progress.update))
    try:
        indexes.save(known, uri)
    except ArchiveError as error:  # an archive can be searched without write access
        progress.note(error.message)


def _led_to(archive: Archive, known: Index, target: Target) -> tuple[list[Group], ArchiveFile | None]:
    """The groups that the index leads to, or the file that the index describes wrongly."""
    found: list[Group] = []
    for file in archive.files:
        group_ranges = [part for part in known[file.name].group_ranges if target.may_be_in(part)]
        if group_ranges and indexes.mistaken(known, [file]):
            return [], file
        for part in group_ranges:
            try:
                groups = GroupPass(file.uri).groups(part.start, part.end)
            except ArchiveError:  # no group begins there, or the file is damaged: describing it anew will tell
                return [], file
            if not len(groups) or describe(groups, 0, len(groups)) != part:
                return [], file
            found += _among(groups, target)
            if found and target.first_only:
                return found, None
    return found, None


def _named(files: list[ArchiveFile]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files)} files, {files[0].name} among them"
