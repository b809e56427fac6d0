"""The directory of published tables: local, or in an object store; for us by pyarrow, for deltalake by its options."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from applier.io.disk import durable
from applier.io.disk.new_files import store_options
from applier.io.resolver import absolute, divided, is_local, is_uri, join, resolve
from applier.snapshot.files import location
from applier.snapshot.files.checks import reading
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.reader import read_whole

_THREADS = 8


@dataclass(frozen=True)
class Storage:
    """A path or uri, below which each table has a directory."""

    root: str

    @cached_property
    def options(self) -> dict[str, str]:
        """Return the options with which deltalake finds the store that pyarrow finds by the uri."""
        return store_options(self.root)

    def location(self, folder: str) -> str:
        """Return a folder below, as deltalake takes it."""
        if not is_uri(self.root):
            return f"{absolute(self.root)}/{folder}"
        return divided(join(self.root, folder))[0]

    @cached_property
    def _resolved(self) -> tuple[FileSystem, str]:
        return resolve(self.root)

    def read(self, name: str) -> bytes | None:
        """Return a small file; None if it is not there. Errors: OSError."""
        filesystem, root = self._resolved
        try:
            with filesystem.open_input_stream(f"{root}/{name}", compression=None) as stream:
                content: bytes = stream.read()
                return content
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, or replace it, at once. Errors: OSError."""
        filesystem, root = self._resolved
        path = f"{root}/{name}"
        if not is_local(filesystem):
            with filesystem.open_output_stream(path, compression=None) as stream:
                stream.write(content)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        hidden = f"{os.path.dirname(path)}/.{os.path.basename(path)}.{os.getpid()}"
        with open(hidden, "wb") as file:
            file.write(content)
        durable.sync([hidden])
        os.replace(hidden, path)
        durable.sync([os.path.dirname(path)])

    def write_rows(self, name: str, schema: pa.Schema, rows: Iterable[pa.Table]) -> int:
        """Write rows as a new Parquet file, as snapshots have them; returns its size. Errors: OSError."""
        filesystem, root = self._resolved
        path = f"{root}/{name}"
        if is_local(filesystem):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with filesystem.open_output_stream(path, compression=None) as stream, pq.ParquetWriter(
                stream, schema, compression="zstd", store_schema=False) as writer:
            for part in rows:
                writer.write_table(part)
        if is_local(filesystem):
            durable.sync([path, os.path.dirname(path)])
        return int(filesystem.get_file_info(path).size)

    def take(self, snapshot: str, files: Sequence[FileEntry], folder: str) -> None:
        """Have files of the snapshot at a path or uri in a folder: by hard link where that goes, else by a copy, which
        a store makes itself. Those that an earlier publication left there stay. Raises SnapshotError for a file that is
        missing or damaged."""
        filesystem, root = self._resolved
        source_system, source_root = location.resolve(snapshot)
        both_local = is_local(source_system) and is_local(filesystem)
        if is_local(filesystem):
            os.makedirs(f"{root}/{folder}", exist_ok=True)

        def take(file: FileEntry) -> None:
            source, name = f"{source_root}/{file.path}", f"{folder}/{file.path.rpartition('/')[2]}"
            with reading(source):
                try:
                    linked = both_local and durable.link(source, f"{root}/{name}")
                except FileExistsError:
                    return
                if linked or self._has(name, file.bytes):
                    return
                if not both_local and source_system.equals(filesystem):
                    filesystem.copy_file(source, f"{root}/{name}")
                else:
                    self.write(name, read_whole(source_system, source, file))

        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(take, files))
        if files and is_local(filesystem):
            durable.sync([f"{root}/{folder}"])

    def _has(self, name: str, size: int) -> bool:
        filesystem, root = self._resolved
        return bool(filesystem.get_file_info(f"{root}/{name}").size == size)
