"""Where files of a snapshot are: on this machine, or on anything that pyarrow.fs opens."""

import os
import pathlib
import re
from typing import TYPE_CHECKING

from applier.errors import SnapshotError, UsageError, reason

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_NOT_IN_FOLDERS = frozenset('/\\:%*?[]{}#=')
_LONGEST_NAME = 200
"""Bytes of a folder's name; file systems allow 255."""


def resolve(uri: str) -> tuple["FileSystem", str]:
    """The file system of a path or uri (s3://, gs://, hdfs://, file://) and the path in it, absolute, without an end
    slash.

    Errors: SnapshotError where no such file system is known or it cannot be reached.
    """
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem, LocalFileSystem

    if not _SCHEME.match(uri):
        return LocalFileSystem(), os.path.abspath(uri)
    try:
        filesystem, path = FileSystem.from_uri(uri)
    except (ArrowException, OSError, NotImplementedError) as error:
        raise SnapshotError(f"cannot open {uri}: {error}", file=uri,
                            hint="a path of this machine, or s3://, gs://, hdfs:// as pyarrow.fs opens them") from error
    return filesystem, path.rstrip("/") or "/"


def read_text(uri: str) -> str:
    """A whole text file. Errors: UsageError where it cannot be read, or is not UTF-8."""
    filesystem, path = resolve(uri)
    try:
        with filesystem.open_input_stream(path, compression=None) as stream:
            return stream.read().decode()
    except (OSError, UnicodeDecodeError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"the file cannot be read: {why}", file=uri) from error


def is_local(filesystem: "FileSystem") -> bool:
    """Whether paths are the operating system's own, so that files can be linked, locked, made durable and renamed."""
    return filesystem.type_name == "local"


def table_folder(database: str, table: str) -> str:
    """The folder of a table in a snapshot, "DB/TABLE", with characters that mean something to a path made harmless.

    A database's "_" at the start is encoded, since the snapshot's own files start so (DESIGN.md, "Snapshot"); a
    table's stays (`_orders_gho`): Spark warns that such a folder looks hidden, and reads it.
    """
    return f"{_folder_name(database, '._')}/{_folder_name(table, '.')}"


def _folder_name(name: str, not_first: str) -> str:
    """The name as it is but for what paths, uris and the patterns of Hadoop's paths give a meaning to, which is
    percent-encoded, as is a character of `not_first` at the start. What would be too long is cut, and a digest keeps it
    apart."""
    kept = [char if char.isprintable() and char not in _NOT_IN_FOLDERS and (index or char not in not_first) else
            "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
            for index, char in enumerate(name)]
    folder = "".join(kept)
    if len(folder.encode()) <= _LONGEST_NAME:
        return folder
    import hashlib

    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return folder.encode()[: _LONGEST_NAME - 17].decode(errors="ignore") + "-" + digest


def is_inside(path: str) -> bool:
    """Whether a relative path of a manifest stays in its snapshot."""
    parts = pathlib.PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts


def is_plain_inside(path: str) -> bool:
    """Whether it also is the one way to write it, and without characters that no file of a snapshot has."""
    return not any(part in ("", ".", "..") for part in path.split("/")) and path.isprintable() and "\\" not in path
