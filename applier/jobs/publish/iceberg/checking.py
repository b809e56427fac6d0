"""Checks published tables: whether the files that their readers need are there, and which files nothing names.

    metadata    lists of manifests, manifests and delete files of all snapshots
    rows        data files of the current snapshot, and of those with tags or branches: older ones may expire with the
                lake. Of those in the lake only the size is compared; `fsck` reads them as files of versions.
    orphans     other files in the table's own folder, of publications that were killed or lost, or are under way
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pyarrow import fs
from pyiceberg.catalog import Catalog
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile, DataFileContent, ManifestFile
from pyiceberg.table import Table

from applier.jobs.publish.iceberg.states import published_tables
from applier.schema.table_filter import EVERYTHING


@dataclass(frozen=True)
class CheckedTables:
    """`damaged` has a line for each file that is missing or has the wrong size, `orphans` the files that nothing names,
    with their bytes."""

    damaged: tuple[str, ...]
    orphans: Mapping[str, int]


def check_tables(catalog: Catalog) -> CheckedTables:
    """Check the published tables of a catalog."""
    damaged, orphans = list[str](), dict[str, int]()
    for table in published_tables(catalog, EVERYTHING):
        files = _Files(table)
        damaged += [f"{'.'.join(table.name())}: {line}" for line in files.damage()]
        orphans |= files.orphans()
    return CheckedTables(tuple(damaged), orphans)


class _Files:
    """The files of a table. Those in folders that were needed so far are listed, once."""

    def __init__(self, table: Table) -> None:
        self._table, self._listed = table, dict[str, dict[str, int]]()
        self._named = {table.metadata_location, *(entry.metadata_file for entry in table.metadata.metadata_log),
                       *(one.statistics_path for one in table.metadata.statistics)}
        self._is_read = True

    def damage(self) -> Iterator[str]:
        """A line for each file that is missing, or has another size than the table says."""
        metadata = self._table.metadata
        pinned = {ref.snapshot_id for ref in metadata.refs.values()}
        seen = set[object]()
        for snapshot in metadata.snapshots:
            needed = f"snapshot {snapshot.snapshot_id} needs it"
            self._named.add(snapshot.manifest_list)
            if self._size(snapshot.manifest_list) is None:
                self._is_read = False
                yield f"{snapshot.manifest_list}: it is missing, and {needed}"
                continue
            for manifest in snapshot.manifests(self._table.io):
                self._named.add(manifest.manifest_path)
                if (key := (manifest.manifest_path, snapshot.snapshot_id in pinned)) in seen:
                    continue
                seen.add(key)
                if self._size(manifest.manifest_path) is None:
                    self._is_read = False
                    yield f"{manifest.manifest_path}: it is missing, and {needed}"
                    continue
                for file in self._files_in(manifest):
                    if file.content != DataFileContent.DATA:
                        self._named.add(file.file_path)
                    elif snapshot.snapshot_id not in pinned:
                        continue
                    if file.file_path not in seen and (line := self._wrong(file)):
                        yield f"{line}, and {needed}"
                    seen.add(file.file_path)

    def orphans(self) -> dict[str, int]:
        """Files in the table's folder that its metadata do not name, with their sizes; none where some metadata cannot
        be read. It is called after `damage`."""
        if not self._is_read:
            return {}
        found = self._below(self._table.location().rstrip("/"), recursive=True)
        return {path: size for path, size in found.items() if path not in self._named
                and not path.endswith("/version-hint.text")}

    def _files_in(self, manifest: ManifestFile) -> Iterable[DataFile]:
        return (entry.data_file for entry in manifest.fetch_manifest_entry(self._table.io, discard_deleted=True))

    def _wrong(self, file: DataFile) -> str:
        size = self._size(file.file_path)
        if size is None:
            return f"{file.file_path}: it is missing"
        return "" if size == file.file_size_in_bytes else \
            f"{file.file_path}: it has {size} bytes, not {file.file_size_in_bytes}"

    def _size(self, path: str) -> int | None:
        folder = path.rpartition("/")[0]
        if folder not in self._listed:
            self._listed[folder] = self._below(folder, recursive=False)
        return self._listed[folder].get(path)

    def _below(self, folder: str, *, recursive: bool) -> dict[str, int]:
        """The files in a folder, by their paths as the catalog writes them. Raises OSError."""
        io = self._table.io
        if not isinstance(io, PyArrowFileIO):
            raise NotImplementedError(f"files of {type(io).__name__} cannot be listed")
        scheme, netloc, path = io.parse_location(folder, io.properties)
        start = folder.removesuffix(path)
        infos = io.fs_by_scheme(scheme, netloc).get_file_info(
            fs.FileSelector(path, allow_not_found=True, recursive=recursive))
        return {f"{start}{info.path}": info.size for info in infos if info.type == fs.FileType.File}
