"""Features of a local file system beyond pyarrow.fs: durable files, locked directories, and cleaning up after dead
runs.

A run locks (flock) the directory that it writes in. The kernel drops the lock when the process ends, however it ends;
so a process that can lock another run's directory knows that the run is dead.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

_SYNC_THREADS = 8
_SYNCED_AT_ONCE = 16
"""Paths that a thread waits for one after the other: for files that are on the disk now that is soon."""


def make_staging(output: str) -> tuple[str, int | None]:
    """Make and lock a new directory beside `output`: its path and the lock, None if locks do not work. Directories that
    dead runs left for the same output are removed first. Errors: OSError."""
    parent, name = os.path.split(output)
    os.makedirs(parent, exist_ok=True)
    start = f".{name}.staging-"
    for entry in os.scandir(parent):
        if entry.name.startswith(start) and entry.is_dir(follow_symlinks=False):
            remove_if_dead(entry.path)
    return make_locked(parent, start)


def make_locked(parent: str, start: str, mode: int = 0o777) -> tuple[str, int | None]:
    """Make and lock a new directory in another one; its name is this prefix, the process's id and a unique end. Like
    `make_staging` otherwise."""
    while True:
        path = os.path.join(parent, f"{start}{os.getpid()}-{secrets.token_hex(6)}")
        os.mkdir(path, mode)
        try:
            return path, lock(path)
        except (BlockingIOError, FileNotFoundError):
            continue                        # a run that cleans up took it between the two calls


def lock(directory: str) -> int | None:
    """Lock a directory until the result is closed or the process ends. None where the file system has no such locks.
    Errors: BlockingIOError where another process has it, FileNotFoundError."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:
        os.close(handle)
        return None
    if not os.path.isdir(directory):        # removed by a run that held the lock until now
        os.close(handle)
        raise FileNotFoundError(directory)
    return handle


def remove_if_dead(directory: str) -> None:
    """Remove a directory that no running process has locked. It stays if its lock cannot be tested."""
    try:
        handle = lock(directory)
    except OSError:
        return
    if handle is not None:
        shutil.rmtree(directory, ignore_errors=True)
        os.close(handle)


def sync(paths: Iterable[str]) -> None:
    """Wait until files and directories are on the disk."""
    paths = list(paths)
    parts = [paths[first:first + _SYNCED_AT_ONCE] for first in range(0, len(paths), _SYNCED_AT_ONCE)]
    with ThreadPoolExecutor(_SYNC_THREADS) as pool:
        list(pool.map(_sync_each, parts))


def sync_tree(root: str) -> None:
    """Wait until a directory and all below it are on the disk."""
    sync(os.path.join(folder, name) for folder, _, names in os.walk(root, onerror=_raise) for name in ("", *names))


def link(source: str, target: str) -> bool:
    """Give a file a second name (a hard link); False if the file system has no such links, or none between these two
    paths. Errors: FileNotFoundError, FileExistsError."""
    try:
        os.link(source, target)
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError:
        return False
    return True


def _raise(error: OSError) -> None:
    raise error


def _sync_each(paths: Iterable[str]) -> None:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
