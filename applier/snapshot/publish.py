"""Makes a snapshot visible atomically.

    begin → Staging                 a location that readers ignore
      target, carry_over            tasks write new files into it, unchanged files are carried over from the base
      finish_attempts               files of the attempts that count get their names, those of late attempts are removed
    commit                          removes strays, writes the small files, makes everything durable; one step publishes
    within, commit_folder           several snapshots in one folder, which is published when all of them are complete

On a local file system the location is a hidden directory beside the output, and the step is its rename. Elsewhere, and
if the output is a mount point, it is the output itself with a marker in it, and the step is writing the manifest under
another name and moving it to its own: without a manifest there is no snapshot. A killed run leaves the hidden
directory or the marked output behind; the next run for the same output removes it. Object stores have no locks, so
callers must prevent two concurrent runs for one output there.
"""

import os
import shutil
from dataclasses import replace

from pyarrow import fs

from applier.errors import AnotherRun, SnapshotError, reason
from applier.io.disk import durable
from applier.snapshot import attempts
from applier.snapshot.attempts import PASSES
from applier.snapshot.files import location
from applier.snapshot.files.file_settings import DEFAULTS, FileSettings
from applier.snapshot.lakes import STAGING
from applier.snapshot.manifest import MANIFEST, SNAPSHOTS
from applier.snapshot.staging import MARKER, WITHOUT_FOLDERS, Staging

_TAKEN = "choose another --output, or remove what is there"


def begin(output: str, settings: FileSettings = DEFAULTS, *, lasts: bool = True, late_attempts: bool = False,
          merges: bool = False) -> Staging:
    """Prepare to publish at a path or URI; tables' new files have these settings. Raises SnapshotError if the output
    exists already, or nothing can be written. The leftovers of a dead run are removed; an empty directory may exist.
    `lasts`: False for a temporary snapshot, such as the base of a later pass, which is not made durable.
    `late_attempts`: tasks run in other processes, and an attempt may continue after another one has replaced it.
    `merges`: the snapshot is the base of a later pass into a lake that merges on read."""
    filesystem, path = location.resolve(output)
    try:
        if not location.is_local(filesystem):
            staging: Staging = _InPlace(output, filesystem, path)
        elif os.path.ismount(path := os.path.realpath(path)):
            staging = _InPlace(output, filesystem, path)
        else:
            staging = _Beside(output, filesystem, path)
        if late_attempts:
            staging.expect_late_attempts()
    except OSError as error:
        raise SnapshotError(f"cannot write there: {reason(error)}", file=output) from error
    if late_attempts and filesystem.type_name in WITHOUT_FOLDERS:
        settings = replace(settings, file_bytes=min(settings.file_bytes, attempts.MOST_BYTES))
    staging.settings, staging.lasts, staging.merges = settings, lasts, merges
    return staging


class _Beside(Staging):
    """A hidden directory beside the output, which is renamed to the output at the end."""

    def __init__(self, output: str, filesystem: fs.FileSystem, path: str) -> None:
        if os.path.exists(path) and not _is_empty_directory(path):
            raise _taken(output, os.path.exists(os.path.join(path, MANIFEST)))
        root, handle = durable.make_staging(path)
        super().__init__(output, filesystem, root)
        self._path, self._lock = path, handle

    def _root_uri(self) -> str:
        return self._root

    def _publish(self, name: str, content: bytes) -> None:
        self._write(name, content)
        if self.lasts:
            durable.sync_tree(self._root)
        try:
            os.rename(self._root, self._path)       # replaces an empty directory, never a full one
        except (FileExistsError, NotADirectoryError) as error:
            raise _taken(self.output, os.path.exists(os.path.join(self._path, MANIFEST))) from error
        except OSError as error:
            if os.path.isdir(self._path) and os.listdir(self._path):
                raise _taken(self.output, os.path.exists(os.path.join(self._path, MANIFEST))) from error
            raise
        durable.sync([os.path.dirname(self._path)])

    def _discard(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)


class _InPlace(Staging):
    """The output itself, marked as incomplete until its manifest exists."""

    def __init__(self, output: str, filesystem: fs.FileSystem, path: str) -> None:
        super().__init__(output, filesystem, path)
        filesystem.create_dir(path, recursive=True)
        if location.is_local(filesystem):
            try:
                self._lock = durable.lock(path)
            except BlockingIOError as error:
                raise AnotherRun("another run is writing there", file=output) from error
        try:
            self._take(filesystem, path)
        except BaseException:
            self._unlock()
            raise

    def _take(self, filesystem: fs.FileSystem, path: str) -> None:
        """Mark the output as incomplete, and remove the leftovers of a dead run."""
        there = {info.base_name for info in filesystem.get_file_info(fs.FileSelector(path))}
        there -= {STAGING, PASSES}  # late attempts of a run that has ended
        if not there.isdisjoint((MANIFEST, SNAPSHOTS)) or (there and MARKER not in there):
            raise _taken(self.output, MANIFEST in there)
        self._empty_but_marker()
        self._write(MARKER, b"A replay writes here, or was stopped: there is no snapshot without _snapshot.json.\n")

    def _root_uri(self) -> str:
        return self.output

    def _publish(self, name: str, content: bytes) -> None:
        hidden = f"{name}.unpublished"
        self._write(hidden, content)
        if location.is_local(self._filesystem):
            durable.sync_tree(self._root)
        self._filesystem.move(f"{self._root}/{hidden}", f"{self._root}/{name}")
        self._filesystem.delete_file(f"{self._root}/{MARKER}")
        if location.is_local(self._filesystem):
            durable.sync([self._root])

    def _discard(self) -> None:
        self._empty_but_marker()
        self._filesystem.delete_file(f"{self._root}/{MARKER}")

    def _empty_but_marker(self) -> None:
        """Remove the files; the marker goes last, so that the next run recognises the leftovers of this one."""
        for info in self._filesystem.get_file_info(fs.FileSelector(self._root)):
            if info.type == fs.FileType.Directory:
                self._filesystem.delete_dir(info.path)
            elif info.base_name != MARKER:
                self._filesystem.delete_file(info.path)


def _is_empty_directory(path: str) -> bool:
    return os.path.isdir(path) and not os.listdir(path)


def _taken(output: str, complete: bool) -> SnapshotError:
    what = "there is a snapshot already" if complete else "the output exists and was not left by a stopped replay"
    return SnapshotError(what, file=output, hint=_TAKEN)
