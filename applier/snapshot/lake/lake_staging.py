"""Makes the next version of a lake visible atomically.

    open_lake → Lake            the lake and its latest version, if any
      begin → Staging           the lake is created if it does not exist; the version's number is the latest's plus one
        target, carry_over      tasks write new files into their final folders; files of the latest version are named
      commit                    new files are listed and made durable; then one step publishes

File names are unique, so a run's files conflict with nothing, and only files that a version names count. On a local
file system the manifest and the small files are in a folder of the run, and the step is its rename to the version's
folder, which fails if another run's version exists by then. Elsewhere the step is writing the manifest, the last file
of the version, by a conditional put if the store supports it, and runs detect each other by claims
(applier.snapshot.lake.lake_claims). Files of a run that was killed, or that lost to another run, stay until `applier
expire` removes them.
"""

from __future__ import annotations

import itertools
import os
import shutil
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from pyarrow import fs

from applier.errors import AnotherRun, SnapshotError, UsageError, reason
from applier.io.disk import durable, new_files
from applier.io.resolver import join
from applier.snapshot import lakes, manifest
from applier.snapshot.files import location
from applier.snapshot.files.checks import check_sizes
from applier.snapshot.files.file_entries import FileColumns, FileEntry
from applier.snapshot.files.file_settings import DEFAULTS, FileSettings
from applier.snapshot.files.shards import columns_of
from applier.snapshot.lake.lake_claims import Claim
from applier.snapshot.manifest import Snapshot
from applier.snapshot.staging import WITHOUT_FOLDERS, Staging

_RUN = "run-"
"""The start of the name of a run's own folder."""


@dataclass(frozen=True)
class Lake:
    """A lake at a path or URI, which need not exist yet, its latest version and its mark, if they exist. `merges`:
    the lake merges on read, or will when it is created."""

    uri: str
    latest: Snapshot | None
    merges: bool = False
    mark: lakes.Mark | None = None

    def begin(self, settings: FileSettings = DEFAULTS) -> Staging:
        """Prepare to publish the version after the latest; settings as of `publish.begin`. Raises SnapshotError if
        something else exists there, or nothing can be written."""
        filesystem, root = location.resolve(self.uri)
        try:
            mark = lakes.make(self.uri, merges=self.merges) if self.mark is None or self.latest is None else self.mark
            staging: Staging = (_Local if location.is_local(filesystem) else _Far)(self, filesystem, root, mark)
        except OSError as error:
            raise SnapshotError(f"cannot write there: {reason(error)}", file=self.uri) from error
        staging.settings = settings
        return staging


def open_lake(uri: str, *, merge_on_read: bool = False) -> Lake:
    """Return the lake at a path or URI, which need not exist. `merge_on_read`: a new lake merges on read. Raises
    SnapshotError if its latest version cannot be read, UsageError if an existing lake has whole files and is to merge
    on read."""
    filesystem, root = location.resolve(uri)
    try:
        mark, number = lakes.found(filesystem, root)
    except OSError as error:
        raise SnapshotError(f"the lake cannot be read: {reason(error)}", file=uri) from error
    if mark is not None and merge_on_read and not mark.merges:
        raise UsageError("the lake has whole files, and the kind of a lake cannot change", file=uri,
                         hint="leave out --merge-on-read, or make a new lake, with this one as --base")
    return Lake(uri, None if number is None else manifest.load(lakes.version_uri(uri, number)),
                merge_on_read if mark is None else mark.merges, mark)


def lives(root: str) -> bool:
    """Return whether an active run writes to the lake at a local path."""
    for run in _runs(root):
        try:
            handle = durable.lock(run)
        except FileNotFoundError:
            continue
        except BlockingIOError:
            return True
        if handle is not None:
            os.close(handle)
    return False


def remove_dead(root: str) -> None:
    """Remove the private files of dead runs from the lake at a local path."""
    for run in _runs(root):
        durable.remove_if_dead(run)


def _runs(root: str) -> list[str]:
    try:
        return [entry.path for entry in os.scandir(f"{root}/{lakes.STAGING}") if entry.name.startswith(_RUN)]
    except FileNotFoundError:
        return []


def write_latest(filesystem: fs.FileSystem, root: str, beside: str | None = None) -> None:
    """Write the name of the latest version to LATEST; on a local file system atomically, by way of the folder `beside`.
    Errors: OSError."""
    if (number := lakes.latest(filesystem, root)) is not None:
        _point_at(number, filesystem, root, beside)


def _point_at(number: int, filesystem: fs.FileSystem, root: str, beside: str | None = None) -> None:
    path, text = f"{root}/{lakes.LATEST}", f"{lakes.version_name(number)}\n".encode()
    folder = beside or f"{root}/{lakes.STAGING}"
    if location.is_local(filesystem):
        os.makedirs(folder, exist_ok=True)
    hidden = f"{folder}/{lakes.LATEST}-{uuid.uuid4().hex}" if location.is_local(filesystem) else path
    with filesystem.open_output_stream(hidden, compression=None) as stream:
        stream.write(text)
    if hidden != path:
        durable.sync([hidden])
        os.replace(hidden, path)


class _OfLake(Staging):
    """The common part of runs on local file systems and on stores."""

    def __init__(self, lake: Lake, filesystem: fs.FileSystem, root: str, mark: lakes.Mark) -> None:
        self._before, self._lake_uri = lake.latest, lake.uri
        number = 1 if lake.latest is None else lakes.number_of(lake.latest.uri) + 1
        super().__init__(lakes.version_uri(lake.uri, number), filesystem, root)
        self.number = number
        self._prefix, self._lake = f"{lakes.VERSIONS}/{lakes.version_name(self.number)}/", mark.id
        self.merges = mark.merges
        self._run, self._counter = uuid.uuid4().hex[:12], itertools.count()
        columns = [] if lake.latest is None else [columns_of(files) for table in lake.latest.tables
                                                  for files in table.lists]
        self._known = {path: size for lists in columns for path, size in zip(lists.paths, lists.bytes, strict=True)}
        """Files of the latest version, with their sizes."""
        self._new: list[str] = []

    def _root_uri(self) -> str:
        return self._lake_uri

    def _carried(self, entry: FileEntry, path: str) -> FileEntry:
        """A file of the latest version keeps its name. A file of another snapshot or table gets a unique name, since
        two runs may carry over the same file at once. In a lake that merges on read all files keep their names, by
        which positions name them; there a run has a folder of its own for a table that is new to the lake."""
        if self.merges or self._known.get(path) == entry.bytes:
            return replace(entry, path=path)
        return replace(entry, path=f"{path.rpartition('/')[0]}/part-{next(self._counter):06d}-{self._run}.parquet")

    def _is_there(self, carried: FileEntry) -> bool:
        return carried.path in self._known

    def _check_files(self, lists: Sequence[FileColumns]) -> None:
        """Check new files only: those of the latest version existed when the run began, and stay."""
        self._new = [path for columns in lists for path in columns.paths if path not in self._known]
        infos = location.at_once(self._filesystem, [partial(self._filesystem.get_file_info, f"{self._root}/{path}")
                                                    for path in self._new])
        found = {f"{self._root}/{path}": size for path, size in self._known.items()}
        found |= {info.path: info.size for info in infos if info.type == fs.FileType.File}
        for columns in lists:
            check_sizes(found, columns, self._root)

    def _check_next(self) -> None:
        """Raise AnotherRun if this version would not be the latest: its number may be free because a version with it
        has expired."""
        if lakes.is_published(self._filesystem, self._root, self.number):
            raise self._lost()

    def _lost(self) -> AnotherRun:
        return AnotherRun("another run has published this version meanwhile, so this one publishes nothing",
                          file=self.output, hint="run it again: it continues from the latest version")


class _Local(_OfLake):
    """On a local file system: a folder of the run, which is renamed to the version's folder."""

    def __init__(self, lake: Lake, filesystem: fs.FileSystem, root: str, mark: lakes.Mark) -> None:
        super().__init__(lake, filesystem, root, mark)
        remove_dead(root)
        for folder in (lakes.VERSIONS, lakes.STAGING):
            os.makedirs(f"{root}/{folder}", exist_ok=True)
        self._beside, self._lock = durable.make_locked(f"{root}/{lakes.STAGING}", _RUN)
        if lake.latest is not None:
            self._mend_latest(lakes.number_of(lake.latest.uri))

    def _mend_latest(self, number: int) -> None:
        """Write LATEST for a run that was killed after it had published: the next version may not follow for a long
        time."""
        with suppress(OSError):
            try:
                with open(f"{self._root}/{lakes.LATEST}", "rb") as file:
                    is_right = file.read(100).strip() == lakes.version_name(number).encode()
            except FileNotFoundError:
                is_right = False
            if not is_right:
                write_latest(self._filesystem, self._root, self._beside)

    def _beside_uri(self) -> str:
        return self._beside

    def _publish(self, name: str, content: bytes) -> None:
        self._write(name, content)
        self._sync_new()
        durable.sync_tree(self._beside)
        version = f"{self._root}/{self._prefix.rstrip('/')}"
        self._check_next()
        try:
            os.rename(self._beside, version)  # replaces an empty folder, never one with a version in it
        except OSError as error:
            if os.path.isdir(version) and os.listdir(version):
                raise self._lost() from error
            raise
        with suppress(OSError):  # the version is published, and the latest is found without the pointer
            durable.sync([os.path.dirname(version)])
            write_latest(self._filesystem, self._root)

    def _sync_new(self) -> None:
        paths = {f"{self._root}/{path}" for path in self._new}
        folders = {os.path.dirname(path) for path in paths}
        while above := {os.path.dirname(folder) for folder in folders if folder != self._root} - folders:
            folders |= above
        durable.sync(paths)
        durable.sync([*folders, f"{self._root}/{lakes.VERSIONS}", self._root])

    def _discard(self) -> None:
        shutil.rmtree(self._beside, ignore_errors=True)


class _Far(_OfLake):
    """On a store: the version's folder itself, which belongs to the run that has claimed the number; the manifest is
    its last file."""

    def __init__(self, lake: Lake, filesystem: fs.FileSystem, root: str, mark: lakes.Mark) -> None:
        super().__init__(lake, filesystem, root, mark)
        self._scratch = f"{lakes.STAGING}/{_RUN}{self._run}"
        self._beside, self._has_passes = f"{root}/{self._scratch}", False
        self._claim = Claim(filesystem, f"{root}/{lakes.STAGING}", join(self._lake_uri, lakes.STAGING), self.number,
                            self._run)

    def _beside_uri(self) -> str:
        return join(self._lake_uri, self._scratch)

    def within_pass(self, number: int) -> str:
        self._has_passes = True
        return super().within_pass(number)

    def _drop(self, folder: str) -> None:
        """Remove a folder of passes, which only this run can have made: asking a store for one that is missing takes
        several requests."""
        if self._has_passes:
            super()._drop(folder)

    def _before_small_files(self) -> None:
        version = f"{self._root}/{self._prefix.rstrip('/')}"
        self._claim.make()
        self._check_next()
        if self._before is None:  # of two runs that make a lake at once, one's mark stays
            self._lake = lakes.id_of(self._filesystem, self._root)
        self._beside = version

    def _publish(self, name: str, content: bytes) -> None:
        if not self._make(name, content):
            raise self._lost()
        with suppress(OSError):  # the version is published
            _point_at(self.number, self._filesystem, self._root)  # as long as the claim keeps others from the next one
        with suppress(OSError):
            location.at_once(self._filesystem, [self._claim.drop, self._drop_scratch])

    def _make(self, name: str, content: bytes) -> bool:
        """Create the last file. Returns whether it did not exist before, as far as the store can tell."""
        self._claim.check()
        uri = join(self._lake_uri, f"{self._prefix}{name}")
        if new_files.can_make(uri):
            try:
                return new_files.make(uri, content)
            except OSError:  # a store without conditions, or credentials that only pyarrow finds
                self._claim.check()
        if self._filesystem.type_name in WITHOUT_FOLDERS:
            self._write(name, content)  # which appears atomically
        else:
            self._write(f"{name}.unpublished", content)
            self._filesystem.move(f"{self._beside}/{name}.unpublished", f"{self._beside}/{name}")
        return True

    def _discard(self) -> None:
        self._claim.drop()
        self._drop_scratch()

    def _drop_scratch(self) -> None:
        path = f"{self._root}/{self._scratch}"
        if self._has_passes and self._filesystem.get_file_info(path).type == fs.FileType.Directory:
            self._filesystem.delete_dir(path)
