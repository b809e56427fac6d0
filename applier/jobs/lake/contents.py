"""The contents of a lake: its complete versions, and all files below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pyarrow import fs

from applier.errors import SnapshotError, reason
from applier.snapshot import lakes, manifest
from applier.snapshot.files import location
from applier.snapshot.files.file_entries import FileColumns
from applier.snapshot.files.shards import columns_of
from applier.snapshot.manifest import Snapshot
from applier.snapshot.writer import CHANGES

_TABLES = re.compile(
    r"(?:_history/)?(?:[^/_][^/]*/[^/]+/part-[0-9]{6}-[0-9a-f]{12}(?:-[0-9]{4,})?\.parquet"
    rf"|{lakes.DATA}/[0-9a-f]{{12}}/(?:{CHANGES}/)?part-[0-9]{{6}}-[0-9a-f]{{12}}(?:-[0-9]{{4,}})?\.(?:data|positions))")
"""Tables' files, as replays name them: nothing else in a table's folder is the lake's."""


@dataclass(frozen=True)
class Stored:
    """A file: its size, and when it was written, by the clock of the file system."""

    bytes: int
    written: datetime


@dataclass(frozen=True)
class Contents:
    """All files below a lake, by their paths, and the manifests of its complete versions, the oldest first. All
    versions that were published before the files were listed are included; later ones may be."""

    uri: str
    filesystem: fs.FileSystem
    root: str
    id: str
    files: dict[str, Stored]
    numbers: tuple[int, ...]

    def version(self, number: int) -> Snapshot:
        """Return the manifest of a version. Raises SnapshotError where it cannot be read."""
        return manifest.load(lakes.version_uri(self.uri, number))

    def published(self, number: int) -> datetime | None:
        """When a version was published; None if that was after the files were listed."""
        found = self.files.get(f"{folder_of_version(number)}/{manifest.MANIFEST}")
        return None if found is None else found.written

    def of_tables(self) -> Iterator[str]:
        """Return the paths of all files of tables, whether a version names them or not."""
        return (path for path in self.files if _TABLES.fullmatch(path))


def read_contents(uri: str) -> Contents:
    """Read the contents of the lake at a path or uri. Raises SnapshotError if there is none, or it cannot be listed."""
    filesystem, root = location.resolve(uri)
    id_ = lakes.id_of(filesystem, root)
    if id_ is None:
        raise SnapshotError(f"not a lake: it has no {lakes.MARK}", file=uri,
                            hint="name the folder that `applier replay --lake` made")
    try:
        infos = filesystem.get_file_info(fs.FileSelector(root, recursive=True))
        files = {info.path.removeprefix(root).lstrip("/"): Stored(info.size, info.mtime) for info in infos
                 if info.type == fs.FileType.File}
        return Contents(uri, filesystem, root, id_, files, tuple(lakes.complete(filesystem, root)))
    except OSError as error:
        raise SnapshotError(f"the lake cannot be read: {reason(error)}", file=uri) from error


def folder_of_version(number: int) -> str:
    """Return the folder of a version below its lake."""
    return f"{lakes.VERSIONS}/{lakes.version_name(number)}"


def lists_of(snapshot: Snapshot) -> Iterator[FileColumns]:
    """Return the files of a snapshot's tables. Raises SnapshotError for a damaged shard."""
    return (columns_of(files) for table in snapshot.tables for files in table.lists)


def sizes_of(snapshot: Snapshot) -> dict[str, int]:
    """Return the files that a snapshot names, and their sizes. Raises SnapshotError for a damaged shard."""
    sizes = {path: size for columns in lists_of(snapshot) for path, size in zip(columns.paths, columns.bytes,
                                                                                strict=True)}
    sizes |= {shard.shard.path: shard.shard.bytes for table in snapshot.tables for shard in table.sharded}
    return sizes | {file.path: file.bytes for file in snapshot.others}
