"""Checks a lake: whether all files that its versions name exist and are unchanged.

    versions     their manifests and shards can be read, and belong to this lake; the files that they name exist and
    have
                 the right size and, unless the check is quick, digest: a file of several versions is read once
    LATEST       names the latest version
    documents    leases and published tables can be read; the version and the files of a published table exist
    strays       files that no version names, which are not damage: `expire` removes them
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyarrow import fs

from applier.errors import ApplierError, SnapshotError
from applier.io.progress import Progress, Silent
from applier.io.transient import comes_of, is_forbidden, is_transient
from applier.jobs.lake.contents import Contents, folder_of_version, lists_of, read_contents, sizes_of
from applier.snapshot import lakes
from applier.snapshot.files.checks import reading
from applier.snapshot.files.file_entries import FileEntry, OtherFile
from applier.snapshot.lake.lake_needs import leases, needs
from applier.snapshot.manifest import MANIFEST, Snapshot
from applier.snapshot.reader import read_whole


@dataclass(frozen=True)
class CheckedLake:
    """How many versions were checked, and how many different files with how many bytes they name. `damaged` has a line
    for each thing that is wrong; `strays` are paths that no version names, `stray_bytes` their size. `orphans` are in
    the folders of published tables, which do not name them, `orphan_bytes` their size; `removed` were some of them
    until now."""

    versions: int
    files: int
    bytes: int
    damaged: tuple[str, ...]
    strays: tuple[str, ...]
    stray_bytes: int
    orphans: tuple[str, ...] = ()
    orphan_bytes: int = 0
    removed: tuple[str, ...] = ()
    removed_bytes: int = 0


def fsck(uri: str, *, quick: bool = False, progress: Progress | None = None) -> CheckedLake:
    """Check the lake at a path or uri. Raises SnapshotError where there is no lake, or the credentials do not allow
    reading a file of it, and StoreUnavailable where the store does not answer: neither is damage."""
    contents, progress = read_contents(uri), progress or Silent()
    damaged: list[str] = []
    named: dict[str, int] = {}
    entries: dict[tuple[str, str | None], FileEntry | OtherFile] = {}
    progress.phase("fsck", len(contents.numbers), "versions")
    for done, number in enumerate(contents.numbers, 1):
        name = folder_of_version(number)
        try:
            snapshot = contents.version(number)
            if snapshot.lake != contents.id:
                damaged.append(f"{name}: it is of another lake")
            sizes = sizes_of(snapshot)
            entries |= {(file.path, file.digest): file for file in _entries(snapshot)}
        except ApplierError as error:
            _check_is_damage(error)
            damaged.append(f"{name}: {error.message}")
            continue
        damaged += [f"{path}: {complaint}, and version {number} needs it" for path, size in sizes.items()
                    if (complaint := _wrong_size(contents, path, size))]
        named |= sizes
        progress.update(done)
    if not quick:
        damaged += _wrong_bytes(contents, list(entries.values()), progress)
    damaged += [*_wrong_pointer(contents), *_wrong_documents(contents)]
    known = named.keys() | {f"{folder_of_version(number)}/{MANIFEST}" for number in contents.numbers}
    strays = tuple(sorted(path for path in contents.of_tables() if path not in known))
    return CheckedLake(len(contents.numbers), len(named), sum(named.values()), tuple(damaged), strays,
                       sum(contents.files[path].bytes for path in strays))


def _check_is_damage(error: Exception) -> None:
    """Raise an error that says nothing about the files: the store does not answer, or does not allow the request."""
    if comes_of(error, is_forbidden) or comes_of(error, is_transient):
        raise error


def _entries(snapshot: Snapshot) -> Iterator[FileEntry | OtherFile]:
    for columns in lists_of(snapshot):
        yield from columns.entries()
    yield from snapshot.others


def _wrong_size(contents: Contents, path: str, size: int) -> str:
    """Return the damage of a file as far as a listing shows it; "" for none."""
    found = contents.files.get(path)
    if found is None:
        # the version may have been published after the files were listed
        info = contents.filesystem.get_file_info(f"{contents.root}/{path}")
        if info.type != fs.FileType.File:
            return "it is missing"
        return "" if info.size == size else f"it has {info.size} bytes, not {size}"
    return "" if found.bytes == size else f"it has {found.bytes} bytes, not {size}"


def _wrong_bytes(contents: Contents, entries: list[FileEntry | OtherFile], progress: Progress) -> Iterator[str]:
    """Return a line for each file that has the right size and another digest."""
    def complaint(file: FileEntry | OtherFile) -> str:
        path = f"{contents.root}/{file.path}"
        try:
            with reading(path):
                read_whole(contents.filesystem, path, file)
        except SnapshotError as error:
            _check_is_damage(error)
            return f"{file.path}: {error.message}"
        return ""

    progress.phase("fsck", len(entries), "files")
    there = [file for file in entries if not _wrong_size(contents, file.path, file.bytes)]
    with ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="fsck") as pool:
        for done, line in enumerate(pool.map(complaint, there), 1):
            progress.update(done)
            if line:
                yield line


def _wrong_pointer(contents: Contents) -> Iterator[str]:
    if not contents.numbers:
        return
    right = {lakes.version_name(number) for number in
             (contents.numbers[-1], lakes.latest(contents.filesystem, contents.root) or 0)}  # or a newer one now
    try:
        with contents.filesystem.open_input_stream(f"{contents.root}/{lakes.LATEST}", compression=None) as stream:
            said = stream.read().decode(errors="replace").strip()
    except OSError as error:
        _check_is_damage(error)
        yield f"{lakes.LATEST}: cannot read it; the next run rewrites it"
        return
    if said not in right:
        yield f"{lakes.LATEST}: it names {said!r}, and the latest version is {max(right)}; the next run rewrites it"


def _wrong_documents(contents: Contents) -> Iterator[str]:
    try:
        list(leases(contents.filesystem, contents.root))
        for table in needs(contents.filesystem, contents.root):
            if table.version is not None and table.version not in contents.numbers:
                yield f"{lakes.PUBLISHED}: {table.name} stands at version {table.version}, which is not there"
            missing = [path for path in table.files if path not in contents.files]
            if missing:
                yield f"{lakes.PUBLISHED}: {table.name} needs {missing[0]}, which is not there"
    except SnapshotError as error:
        _check_is_damage(error)
        yield f"{error.file}: {error.message}"
