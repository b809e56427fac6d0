"""Needs for versions and files of a lake: those of readers, and of tables that are published in other formats.

    LAKE/_leases/NAME.json       {version, expires}: a reader needs the version until then, in seconds since 1970 UTC
    LAKE/_published/NAME.json    {name, version, files: [path, …]}: a published table uses the version, and also needs
                                 these files, which may be of removed versions; version may be null

Such a document is written atomically, before its writer relies on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import orjson
from pyarrow import fs

from applier.errors import SnapshotError, reason
from applier.io.typed_json import Count, Mismatch, build, loads
from applier.snapshot import lakes
from applier.snapshot.files import location
from applier.snapshot.files.file_entries import FilePath
from applier.snapshot.staging import WITHOUT_FOLDERS

_Document = TypeVar("_Document")


@dataclass(frozen=True)
class Lease:
    """A reader needs a version until a time, in seconds since 1970 UTC."""

    version: Count
    expires: Count


@dataclass(frozen=True)
class Needed:
    """The needs of a published table: a version, None if it needs none as a whole, and files by their paths below the
    lake."""

    name: str
    version: Count | None = None
    files: tuple[FilePath, ...] = ()


def leases(filesystem: fs.FileSystem, root: str) -> Iterator[Lease]:
    """Return all leases of the lake at a path. Raises SnapshotError for a lease that cannot be read."""
    return _documents(filesystem, f"{root}/{lakes.LEASES}", Lease)


def needs(filesystem: fs.FileSystem, root: str) -> Iterator[Needed]:
    """Yield the needs of all published tables of the lake at a path. Raises SnapshotError for a document that cannot be
    read."""
    return _documents(filesystem, f"{root}/{lakes.PUBLISHED}", Needed)


def write_needs(lake: str, name: str, needed: Needed) -> None:
    """Record the needs of a published table in the lake at a path or URI, in place of earlier ones under this file
    name. Errors: OSError."""
    filesystem, root = location.resolve(lake)
    path = f"{root}/{lakes.PUBLISHED}/{name}.json"
    if filesystem.type_name not in WITHOUT_FOLDERS:
        filesystem.create_dir(f"{root}/{lakes.PUBLISHED}", recursive=True)
    hidden = path if filesystem.type_name in WITHOUT_FOLDERS else f"{path}.new"
    with filesystem.open_output_stream(hidden, compression=None) as stream:
        stream.write(orjson.dumps(needed, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    if hidden != path:
        filesystem.move(hidden, path)


def _documents(filesystem: fs.FileSystem, folder: str, kind: type[_Document]) -> Iterator[_Document]:
    for info in filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True)):
        if not info.base_name.endswith(".json"):
            continue
        try:
            with filesystem.open_input_stream(info.path, compression=None) as stream:
                yield build(kind, loads(stream.read()))
        except FileNotFoundError:  # withdrawn since it was listed
            continue
        except OSError as error:
            raise SnapshotError(f"cannot read which versions of the lake are needed: {reason(error)}",
                                file=info.path) from error
        except Mismatch as mismatch:
            raise SnapshotError(f"unknown which versions of the lake are needed: the document {mismatch}",
                                file=info.path,
                                hint="write it as docs/LAKE.md says, or remove it") from mismatch
