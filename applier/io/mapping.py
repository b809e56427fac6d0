"""A binlog file as bytes in memory: mapped read-only, whether it is local or remote, plain, packed, encrypted, or in
relay logs.

A file that is remote, packed, encrypted or relayed is mapped as a copy of its plain bytes on this machine's disk
(copies), so that positions, sizes and addresses are those of the log, and no module above this one knows how the file
is stored. A reader that needs only parts of a file says so, and fetches them: of a plain remote file, nothing else is
copied.
"""

import errno
import hashlib
import mmap
import os
import resource
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from pyarrow import fs

from applier.errors import ApplierError, ArchiveError, reason
from applier.io.copies import Copy, copy_of
from applier.io.disk import lost_pages
from applier.io.disk.temporary import temporary_directory
from applier.io.encryption.keys import Keys, keys_of
from applier.io.packing import is_packed
from applier.io.partial_copy import PartialCopy
from applier.io.plain_stream import PlainStream
from applier.io.relayed import identity, open_plain, relayed_in
from applier.io.resolver import resolve
from applier.io.transient import is_transient, retried, unavailable
from keysearch.addresses import address_of

MOST_SHARED = 16
"""Mappings of local files kept for the next task of the same process. One in use lives on when it falls out."""
KEPT_BYTES = 4 << 30
"""The bytes of copies that are kept for the next task of the same process, unless it says otherwise (keep_copies)."""
_FILES_A_COPY = 4
"""A process keeps copies as long as they take no more than half of the files that it may have open: each takes two."""
_FIRST_READ = 8192
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_REMEMBERED = 4096
"""The number of files whose checks are remembered, also if they are mapped again for every task."""


_Stamp = tuple[int, ...]
_Key = tuple[str, _Stamp, Keys | None, str]
"""A location, its file's stamp, its keys, and the parts of a log of relay logs."""


@dataclass(frozen=True, eq=False)
class MappedFile:
    """A file's bytes. The addresses are valid as long as this object or its array is alive.

    `checked` has the ranges that were verified (same_bytes); mappings of a local file that was not touched share it.
    `path` and `stamp` (inode, size and times) tell whether it was touched. The bytes of an encrypted file are plain
    here if it `is_decrypted`.
    """

    uri: str
    size: int
    array: np.ndarray  # np.uint8[size], read-only
    address: int
    path: str | None = field(default=None, kw_only=True)
    stamp: _Stamp = field(default=(), kw_only=True)
    checked: set[Any] = field(default_factory=set, kw_only=True)
    is_decrypted: bool = field(default=False, kw_only=True)
    partial: PartialCopy | None = field(default=None, kw_only=True)

    def fetch(self, start: int = 0, end: int | None = None) -> None:
        """Have the bytes [start, end) in `array`, where the file was mapped for parts: others may be zeros. Raises
        ArchiveError, StoreUnavailable."""
        if self.partial is not None:
            _fetch(self.partial, start, self.size if end is None else end)

    @property
    def copied_bytes(self) -> int:
        """The bytes that it takes of this machine's disk."""
        if self.path is not None:
            return 0
        return self.size if self.partial is None else self.partial.fetched_bytes

    def position_of(self, address: int) -> int:
        """Return the offset in the file of an address in the mapping."""
        return address - self.address

    def was_touched(self) -> bool:
        """Return whether the file may have changed since it was mapped."""
        if self.path is None:
            return False
        try:
            return _stamp(os.stat(self.path)) != self.stamp
        except OSError:
            return True

    def check_whole(self) -> None:
        """Raise ArchiveError if bytes were read that the file no longer has: zeros came instead."""
        if lost_pages.has_lost(self.address):
            raise ArchiveError(f"the file shrank while it was read: it had {self.size} bytes", file=self.uri,
                               hint="give files that do not change during the run")

    def close(self) -> None:
        """Stop sharing the mapping; its memory is unmapped with the last reference to `array`."""
        with _lock:
            for key in [key for key, mapped in _shared.items() if mapped is self]:
                del _shared[key]


NO_FILE = MappedFile("", 0, np.empty(0, np.uint8), 0)
"""Of changes that no reader has handed over yet."""
Made = TypeVar("Made")
_lock = threading.Lock()
kept_bytes = KEPT_BYTES
_shared: OrderedDict[_Key, MappedFile] = OrderedDict()
_checked: OrderedDict[tuple[str, _Stamp], set[Any]] = OrderedDict()


_listed: dict[str, _Stamp] = {}


def remember_listed(uri: str, size: int, changed: int) -> None:
    """Remember the listed size and time (in nanoseconds) of a remote file: this process does not ask the store for them
    again, until the next listing."""
    _listed[uri] = size, changed // 1_000_000_000


def map_file(uri: str, *, whole: bool = True) -> MappedFile:
    """Map a local path or any pyarrow.fs URI; tasks of one process share the mapping of a file that did not change.
    Where it is not needed `whole`, its parts are to be fetched before they are read.

    Raises ArchiveError where the file cannot be read, StoreUnavailable where its store does not answer.
    """
    try:
        mapped = _mapped(uri)
    except OSError as error:
        raise _unreadable(error, uri) from error
    if whole:
        mapped.fetch()
    return mapped


def _mapped(uri: str) -> MappedFile:
    if (relayed := relayed_in(uri)) is not None:
        return _shared_or((uri, (), None, identity(relayed)), _map_copy)
    filesystem, path = resolve(uri)
    is_here = isinstance(filesystem, fs.LocalFileSystem)
    keys = keys_of(uri)
    if (stamp := _listed.get(uri)) is None:
        info = retried(lambda: filesystem.get_file_info(path), uri)
        if info.type == fs.FileType.Directory:
            raise ArchiveError("this is a directory", file=uri,
                               hint=f"name the binlogs in it, as {uri.rstrip('/')}/binlog.000001")
        if info.type != fs.FileType.File:
            raise ArchiveError("no such file", file=uri)
        # a copy that keeps sizes and times, as rsync and cp can make it, is another file; listings and answers about
        # one file agree about seconds
        stamp = _stamp(os.stat(path)) if is_here else (info.size, (info.mtime_ns or 0) // 1_000_000_000)

    def mapped(key: _Key) -> MappedFile:
        is_encrypted = keys is not None and _is_encrypted(uri, filesystem, path)
        if is_encrypted or is_packed(uri):
            return replace(_map_copy(key), is_decrypted=is_encrypted)
        return _map_local(uri, path) if is_here else _map_parts(key, filesystem, path)

    return _shared_or((uri, stamp, keys, ""), mapped)


_OUT_OF_ADDRESSES = ("logs are mapped into memory, and this process may have no more addresses: leave out "
                     "spark.executor.pyspark.memory or ulimit -v, and bound memory by spark.executor.memoryOverhead or "
                     "the container")


def _unreadable(error: OSError, uri: str) -> ApplierError:
    if is_transient(error):
        return unavailable(error, uri)
    return ArchiveError(f"the file cannot be read: {reason(error)}", file=uri,
                        hint=_OUT_OF_ADDRESSES if error.errno == errno.ENOMEM else None)


def _shared_or(key: _Key, map_anew: Callable[[_Key], MappedFile]) -> MappedFile:
    with _lock:
        if key in _shared:
            _shared.move_to_end(key)
            return _shared[key]
    mapped = map_anew(key)
    with _lock:
        mapped = _shared.setdefault(key, mapped) if mapped.partial is not None else mapped
        _shared[key] = mapped
        _share_less()
    return mapped


def keep_copies(n_bytes: int) -> None:
    """Keep this many bytes of copies in this process, or KEPT_BYTES if that is more."""
    global kept_bytes
    kept_bytes = max(n_bytes, KEPT_BYTES)


def _share_less() -> None:
    """Stop sharing the least recently used mappings, beyond the limit."""
    local = [key for key, mapped in _shared.items() if mapped.path is not None]
    for key in local[:max(0, len(local) - MOST_SHARED)]:
        del _shared[key]
    copied = [key for key, mapped in _shared.items() if mapped.path is None]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // _FILES_A_COPY
    n_bytes = sum(_shared[key].copied_bytes for key in copied)
    while len(copied) > 1 and (n_bytes > kept_bytes or len(copied) > most):
        n_bytes -= _shared.pop(copied.pop(0)).copied_bytes


def _map_local(uri: str, path: str) -> MappedFile:
    with open(path, "rb") as file:
        return _map_descriptor(uri, file.fileno(), path)


def _is_encrypted(uri: str, filesystem: fs.FileSystem, path: str) -> bool:
    """Return whether a file is encrypted, by a key that its location names. Raises EncryptedBinlog."""
    with PlainStream(filesystem, path, uri, _FIRST_READ) as stream:
        return stream.is_encrypted


def _map_parts(key: _Key, filesystem: fs.FileSystem, path: str) -> MappedFile:
    """Map a far file that is plain, without its bytes."""
    uri, size = key[0], key[1][0]
    if size == 0:
        raise ArchiveError("the file is empty", file=uri)
    partial = PartialCopy(_copy_name(key), size, uri, lambda: filesystem.open_input_file(path))
    lost_pages.guard(partial.memory, address_of(partial.array))
    weakref.finalize(partial.memory, partial.drop)
    return MappedFile(uri, size, partial.array, address_of(partial.array), partial=partial)


def _fetch(partial: PartialCopy, start: int, end: int) -> None:
    try:
        _with_room(lambda: partial.fetch(start, end), partial.uri)
    except OSError as error:
        raise _unreadable(error, partial.uri) from error


def _copy_name(key: _Key) -> str:
    return hashlib.blake2b(repr(key).encode(), digest_size=16).hexdigest()


def _with_room(make: Callable[[], Made], uri: str) -> Made:
    """Make a copy, or a part of one; where the disk is full, once more without the copies that no task uses. Raises
    ArchiveError where it is full then, too."""
    try:
        try:
            return make()
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            forget_copies()
            return make()
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise ArchiveError(f"{temporary_directory()} has no room for a local copy of the file", file=uri,
                           hint="free space there, or set TMPDIR (for Spark SPARK_LOCAL_DIRS) to another directory"
                           ) from error


def _map_copy(key: _Key) -> MappedFile:
    uri = key[0]
    copy: Copy = _with_room(lambda: copy_of(_copy_name(key), lambda: open_plain(uri)), uri)
    try:
        return _map_descriptor(uri, copy.descriptor, on_end=copy.drop)
    except BaseException:
        copy.drop()
        raise


def forget_copies() -> None:
    """Stop sharing mappings of copies: those that no task uses go."""
    with _lock:
        for key in [key for key, mapped in _shared.items() if mapped.path is None]:
            del _shared[key]


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _map_descriptor(uri: str, descriptor: int, path: str | None = None,
                    on_end: Callable[[], None] | None = None) -> MappedFile:
    """Map an open file, at `path` if it is to be watched for changes; `on_end` is called once it is not mapped any
    more."""
    status = os.fstat(descriptor)
    size = status.st_size
    if size == 0:
        raise ArchiveError("the file is empty", file=uri)
    memory = mmap.mmap(descriptor, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    memory.madvise(mmap.MADV_SEQUENTIAL)
    array = np.frombuffer(memory, np.uint8)
    lost_pages.guard(memory, address_of(array))
    if on_end is not None:
        weakref.finalize(memory, on_end)
    if path is None:
        return MappedFile(uri, size, array, address_of(array))
    stamp = _stamp(status)
    with _lock:
        checked = _checked.setdefault((path, stamp), set())
        _checked.move_to_end((path, stamp))
        while len(_checked) > _REMEMBERED:
            _checked.popitem(last=False)
    return MappedFile(uri, size, array, address_of(array), path=path, stamp=stamp, checked=checked)
