"""Directories for sockets, answers and payloads, in the system's directory for temporary files, or another one.

A directory lives until it is removed or its process ends; the next process removes the leftovers of a killed one. It
waits a while, since a JVM that is still starting writes its address there, and ends only after that.
"""

import os
import re
import shutil
import stat
import tempfile
import time
import weakref
from types import TracebackType

from applier.io.disk import durable

OLD_SECONDS = 600
_OURS = re.compile(r"applier-\d+-[0-9a-f]{12}")


class Scratch:
    """A directory, `path`, that other users cannot read; a context manager that removes it."""

    def __init__(self, parent: str | None = None) -> None:
        parent = parent or tempfile.gettempdir()
        os.makedirs(parent, exist_ok=True)
        for entry in os.scandir(parent):
            if _OURS.fullmatch(entry.name) and _is_old(entry):
                durable.remove_if_dead(entry.path)
        self.path, self.lock = durable.make_locked(parent, "applier-", 0o700)
        self._removal = weakref.finalize(self, _remove, self.path, self.lock)

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._removal()

    def leave(self) -> None:
        """Leave its removal to a fork of this process that holds the lock as well."""
        self._removal.detach()


def _is_old(entry: os.DirEntry[str]) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # another process was quicker
        return False
    return stat.S_ISDIR(status.st_mode) and time.time() - status.st_mtime >= OLD_SECONDS


def _remove(path: str, lock: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        os.close(lock)
