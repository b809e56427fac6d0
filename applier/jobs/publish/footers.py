"""The footers of files to be published: read for their statistics, and to check that readers accept the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pyarrow.parquet as pq

from applier.snapshot.files import location
from applier.snapshot.files.checks import check_rows, check_size, reading
from applier.snapshot.files.file_entries import FileEntry

_THREADS = 8
_Made = TypeVar("_Made")


def from_footers(uri: str, files: Sequence[FileEntry],
                 made: Callable[[FileEntry, pq.FileMetaData, str], _Made]) -> list[_Made]:
    """Return the results of `made` for each file of the snapshot at a path or uri, given its footer and its path.
    Raises SnapshotError for a file that is missing, or does not match its manifest, and the errors of `made`."""
    filesystem, root = location.resolve(uri)

    def read(file: FileEntry) -> _Made:
        path = f"{root}/{file.path}"
        with reading(path), filesystem.open_input_file(path) as source:
            check_size(source.size(), file.bytes, path)
            metadata = pq.read_metadata(source)
            check_rows(metadata, file, path)
        return made(file, metadata, path)

    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(read, files))
