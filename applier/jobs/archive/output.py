"""The output of `archive`: a local folder, in which files grow under their own names, or an object store, which gets
files when they are complete, and the last one when archiving ends.

`_source.json` names its server. Only one run at a time writes to a folder (flock); object stores have no locks.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from tempfile import mkdtemp
from types import TracebackType

from pyarrow import fs

from applier.binlog.archive.log_names import base_and_number, check_file_name
from applier.errors import ArchiveError, UsageError, reason
from applier.io.disk import durable
from applier.io.resolver import is_local, resolve

SOURCE = "_source.json"


@dataclass(frozen=True)
class Access:
    """The modes of files and directories on a local disk. Binlogs have the rows of all tables, and passwords."""

    file: int
    directory: int


PRIVATE = Access(0o600, 0o700)
GROUP = Access(0o640, 0o750)


class Output:
    """An archive that is written to; `folder` is where files grow. A context manager."""

    def __init__(self, location: str, access: Access = PRIVATE) -> None:
        self.location, self._access = location, access
        self._filesystem, self._path = resolve(location)
        self._is_far = not is_local(self._filesystem)
        self._lock: int | None = None
        try:
            self._make()
            self.folder = mkdtemp(prefix="applier-archive-") if self._is_far else self._path
            if not self._is_far:
                self._lock = durable.lock(self._path)
        except BlockingIOError:
            raise UsageError("another `applier archive` is writing to this directory", file=location,
                             hint="stop it, or choose another --output") from None
        except OSError as error:
            raise UsageError(f"cannot write there: {reason(error)}", file=location) from error

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
                 ) -> None:
        if self._is_far:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)

    def _make(self) -> None:
        """Make the directory; an existing one keeps its mode."""
        if self._is_far:
            self._filesystem.create_dir(self._path, recursive=True)
        elif not os.path.isdir(self._path):
            os.makedirs(self._path, 0o700)
            os.chmod(self._path, self._access.directory)

    def last_file(self) -> str | None:
        """Return the local path of the file with the highest number; None if there is no file. A file that is only on a
        store is fetched first, since a run may have ended within it. Raises UsageError for files of several logs."""
        infos = self._filesystem.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        names = []
        for name in {info.base_name for info in infos if info.type == fs.FileType.File} | set(os.listdir(self.folder)):
            with suppress(UsageError):
                names.append(check_file_name(name))
        if len(bases := {base_and_number(name)[0] for name in names}) > 1:
            raise UsageError(f"the output contains files of more than one binlog sequence: {', '.join(sorted(bases))}",
                             file=self.location,
                             hint="choose another --output")
        if not names:
            return None
        name = max(names, key=base_and_number)
        path = self.path_of(name)
        if self._is_far and not os.path.exists(path):
            with self._filesystem.open_input_stream(f"{self._path}/{name}", compression=None) as far, \
                    open(path, "wb") as near:
                shutil.copyfileobj(far, near, 1 << 20)
        return path

    def path_of(self, name: str) -> str:
        """Return the local path at which a file grows."""
        return os.path.join(self.folder, name)

    def remove(self, path: str) -> None:
        """Remove a file of the archive that contains no whole event."""
        os.remove(path)
        far = f"{self._path}/{os.path.basename(path)}"
        if self._is_far and self._filesystem.get_file_info(far).type == fs.FileType.File:
            self._filesystem.delete_file(far)

    def keep(self, path: str, *, grows: bool) -> None:
        """Put a closed file into the archive. `grows`: the file is not complete, and continues in `folder`."""
        if not self._is_far:
            return
        try:
            with open(path, "rb") as near, \
                    self._filesystem.open_output_stream(f"{self._path}/{os.path.basename(path)}") as far:
                shutil.copyfileobj(near, far, 8 << 20)
        except OSError as error:
            raise ArchiveError(f"the file cannot be uploaded: {reason(error)}", file=f"{self.location}",
                               hint="run it again when the store accepts writes: what it does not have is copied again"
                               ) from error
        if not grows:
            os.remove(path)

    def check_source(self, server_uuid: str) -> None:
        """Raise UsageError if the archive is of another server."""
        known = self._known_source()
        if known and known != server_uuid:
            raise UsageError(f"the archive belongs to server {known}, and this one is "
                             f"{server_uuid or 'a MariaDB server'}",
                             file=self.location,
                             hint="give the archive's own server, or another --output")

    def note_source(self, server_uuid: str) -> None:
        """Record which server the archive is of, once its files have shown it. MariaDB servers have no UUID."""
        path = f"{self._path}/{SOURCE}"
        if server_uuid and not self._known_source():
            with self._filesystem.open_output_stream(path) as stream:
                stream.write(json.dumps({"server_uuid": server_uuid}).encode() + b"\n")
            if not self._is_far:
                os.chmod(path, self._access.file)
                durable.sync([path, self._path])

    def _known_source(self) -> str:
        path = f"{self._path}/{SOURCE}"
        if self._filesystem.get_file_info(path).type != fs.FileType.File:
            return ""
        with self._filesystem.open_input_stream(path, compression=None) as stream:
            return _uuid_in(stream.read())


def _uuid_in(content: bytes) -> str:
    """Return the server_uuid in this content of a file; "" if a kill truncated it."""
    with suppress(ValueError):
        known = json.loads(content)
        if isinstance(known, dict):
            return str(known.get("server_uuid", ""))
    return ""
