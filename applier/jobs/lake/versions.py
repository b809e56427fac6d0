"""The versions of a lake, one by one: their position, their contents, and the files that they wrote."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from applier.jobs.lake.contents import lists_of, read_contents
from applier.snapshot.manifest import BinlogPosition


@dataclass(frozen=True)
class LakeVersion:
    """A version: its number, where it is and where it stands in the log, when it was published, by the file system's
    clock; its tables, rows and files with their bytes; and how many of these no version before it has that is still
    there."""

    number: int
    uri: str
    position: BinlogPosition
    published: datetime | None
    tables: int
    rows: int
    bytes: int
    files: int
    new_files: int
    new_bytes: int


def versions(uri: str) -> tuple[LakeVersion, ...]:
    """Return the versions of the lake at a path or uri, the oldest first. Raises SnapshotError where there is no lake,
    or a version cannot be read."""
    contents, known, found = read_contents(uri), set[str](), list[LakeVersion]()
    for number in contents.numbers:
        snapshot = contents.version(number)
        sizes = {path: size for columns in lists_of(snapshot)
                 for path, size in zip(columns.paths, columns.bytes, strict=True)}
        new = sizes.keys() - known
        known |= new
        found.append(LakeVersion(
            number, snapshot.uri, snapshot.position, contents.published(number), len(snapshot.tables),
            sum(table.rows for table in snapshot.tables), sum(sizes.values()), len(sizes), len(new),
            sum(sizes[path] for path in new)))
    return tuple(found)
