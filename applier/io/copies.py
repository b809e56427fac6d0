"""Copies on this machine's disk of files that cannot be mapped directly: remote and packed ones.

The processes of a user share them. A copy has a name as long as a process uses it, which a lock (flock) shows: a
process that maps it holds the lock, shared, and the kernel drops it when the process ends, however it ends. The last
user of a copy removes it; leftovers of killed processes are removed when the next copy is made. A copy is complete when
it is read-only: a process that finds an incomplete one waits for its maker, or makes it if the maker is dead. A sparse
copy is filled by all of its users, a part at a time (partial_copy).
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO

from applier.errors import ArchiveError
from applier.io.disk.temporary import temporary_directory
from applier.io.plain_stream import READ_BYTES, PlainStream
from applier.io.relayed import RelayedStream

MOST_BYTES = 64 << 30
"""The most bytes of a copy: no server writes such binlogs, so another kind of file unpacks to more."""
_OpenStream = Callable[[], PlainStream | RelayedStream]
_PAUSE = 0.01
"""The longest pause in seconds between attempts to make a copy."""
FREE_PART = 8
"""One part of this many of the free disk space stays free."""


@dataclass(frozen=True)
class Copy:
    """A copy in use: a descriptor to map it by, and its path, None where it has no name."""

    descriptor: int
    path: str | None
    _process: int = field(default_factory=os.getpid)

    def drop(self) -> None:
        """Stop using it, once it is not mapped any more. The last user removes it."""
        if self.path is not None and self._process == os.getpid():
            with suppress(OSError):  # another one uses it
                fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(self.path)
        os.close(self.descriptor)


def copy_of(name: str, open_stream: _OpenStream) -> Copy:
    """Return the copy of this name, made from a stream if it does not exist here. Errors: those of the stream, OSError
    (ENOSPC where the disk has no room for it), ArchiveError for more than MOST_BYTES."""
    shared = _shared(name, os.O_RDONLY, lambda descriptor, path: _is_whole(descriptor, path, open_stream))
    if shared is not None:
        return shared
    with tempfile.TemporaryFile(prefix="binlog-", dir=temporary_directory()) as file:
        _write(file, open_stream)
        return Copy(os.dup(file.fileno()), None)


def sparse_copy(name: str, n_bytes: int) -> Copy:
    """Return the copy of this name, with this many bytes, which its users fill. Its descriptor can write; unwritten
    parts are zeros, and take no room. Errors: OSError."""
    def is_sized(descriptor: int, path: str) -> bool:
        _lock(descriptor, fcntl.LOCK_SH)
        if not os.fstat(descriptor).st_nlink:
            return False
        if os.fstat(descriptor).st_size != n_bytes:
            _remove_unused(os.path.dirname(path))
            os.ftruncate(descriptor, n_bytes)
        return True

    shared = _shared(name, os.O_RDWR, is_sized)
    if shared is not None:
        return shared
    with tempfile.TemporaryFile(prefix="binlog-", dir=temporary_directory()) as file:
        os.ftruncate(file.fileno(), n_bytes)
        return Copy(os.dup(file.fileno()), None)


def _shared(name: str, access: int, is_ready: Callable[[int, str], bool]) -> Copy | None:
    """The copy of this name that the user's processes share, opened with this access; None where there cannot be one.
    `is_ready` locks the file of a descriptor and a path, and returns False if another process has removed it."""
    directory = _directory()
    while directory is not None:
        path = f"{directory}/{name}"
        try:
            descriptor = os.open(path, access | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:  # the last user removed the directory
            directory = _directory()
            continue
        try:
            if is_ready(descriptor, path):
                return Copy(descriptor, path)
        except BaseException as error:
            os.close(descriptor)
            if not isinstance(error, _NoLocksError):
                raise
            _remove(path)
            return None
        os.close(descriptor)
    return None


@contextmanager
def turn(path: str) -> Iterator[None]:
    """Wait until no other thread or process is in the same turn, which is named by the path of a file that exists as
    long as one is."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:  # without it, something is only fetched twice
        yield
        return
    try:
        with suppress(_NoLocksError):
            _lock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)
        os.close(descriptor)


class _NoLocksError(Exception):
    """The file system has no locks."""


def _is_whole(descriptor: int, path: str, open_stream: _OpenStream) -> bool:
    """Lock a copy, and make it if it is incomplete; False if it was removed before it was locked."""
    while True:
        _lock(descriptor, fcntl.LOCK_SH)  # waits for its maker
        if not os.fstat(descriptor).st_nlink or _is_read_only(descriptor):
            break
        # a waiter here would wait for the users of a copy that another process has made meanwhile
        if not _lock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
            time.sleep(random.uniform(0, _PAUSE))
        elif os.fstat(descriptor).st_nlink and not _is_read_only(descriptor):
            _make(descriptor, path, open_stream)
    return os.fstat(descriptor).st_nlink > 0


def _make(descriptor: int, path: str, open_stream: _OpenStream) -> None:
    """Make a copy that is locked."""
    _remove_unused(os.path.dirname(path))
    try:
        with open(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW), "wb") as file:
            _write(file, open_stream)
    except BaseException:
        _remove(path)
        raise
    os.fchmod(descriptor, 0o400)


def _remove(path: str) -> None:
    """Remove a copy, and the directory if it was the last one."""
    with suppress(OSError):
        os.unlink(path)
        os.rmdir(os.path.dirname(path))


def _is_read_only(descriptor: int) -> bool:
    return not os.fstat(descriptor).st_mode & stat.S_IWUSR


def _lock(descriptor: int, how: int) -> bool:
    """Lock, instead of the lock that there was; False, and no lock, where that is not to wait, and would."""
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _NoLocksError from error
    return True


def _directory() -> str | None:
    """The directory of this user's copies; None if it belongs to another user."""
    parent = temporary_directory()
    path = f"{parent}/applier-logs-{os.getuid()}"
    os.makedirs(parent, exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return _directory()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return path if is_ours else None


def _remove_unused(directory: str) -> None:
    """Remove the leftovers of killed processes."""
    for entry in os.scandir(directory):
        with suppress(OSError):  # gone, or in use
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(entry.path)
            finally:
                os.close(descriptor)


def room() -> int:
    """The bytes that copies may take of the disk."""
    free = shutil.disk_usage(temporary_directory()).free
    return free - free // FREE_PART


def _write(file: IO[bytes], open_stream: _OpenStream) -> None:
    left, written = room(), 0
    with open_stream() as stream:
        while part := stream.read(READ_BYTES):
            written += len(part)
            if written > MOST_BYTES:
                raise ArchiveError(f"the decompressed file has more than {MOST_BYTES >> 30} GB, which no binlog has",
                                   file=stream.uri)
            if written > left:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            file.write(part)
        file.flush()
