"""Checks published tables: whether the files that their readers need are there, and which files nothing names.

    metadata    lists of manifests, manifests and delete files of all snapshots
    rows        data files of the current snapshot, and of those with tags or branches: older ones may expire with the
                lake. Of those in the lake only the size is compared; `fsck` reads them as files of versions.
    orphans     files in tables' folders as publications write them, which no metadata name: of publications that were
                killed or lost, or are under way

Tables share a folder if one got the name that another one had when it was created, and catalogs may share a warehouse.
So a file is an orphan only if no published table names it, nor any other metadata file there that may be the current
one of a table: one of a table that is not among these, or one that is not in the history of a table that is. Another
catalog may have that, as a copy of this one; or nobody, if its publication was lost. So it counts if it is later than
the current one, or younger than COPIES_STAY. A folder has none if metadata there name files in another one, which may
be the same by another path.
"""

from __future__ import annotations

import gzip
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import orjson
from pyarrow import fs
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile, DataFileContent, ManifestFile
from pyiceberg.table import StaticTable, Table
from pyiceberg.table.metadata import TableMetadataUtil

from applier.errors import UsageError
from applier.jobs.lake.contents import Stored
from applier.jobs.publish.iceberg.states import published_tables
from applier.schema.table_filter import EVERYTHING

_OWN = re.compile(r"/(?:metadata/[^/]+\.(?:avro|metadata\.json)|data/[^/]+\.deletes\.parquet)")
"""The end of a path that publications write."""
_METADATA = (".metadata.json", ".metadata.json.gz")
_GZIP = b"\x1f\x8b"
COPIES_STAY = timedelta(days=30)
"""How long a copy of a catalog keeps its state without a publication, if the table was published later elsewhere."""
_THREADS = 16


@dataclass(frozen=True)
class CheckedTables:
    """`damaged` has a line for each file that is missing or has the wrong size. `orphans` are the files that nothing
    names, with their bytes; `removed` were some until now."""

    damaged: tuple[str, ...]
    orphans: Mapping[str, int]
    removed: Mapping[str, int]


def check_tables(catalog: Catalog, now: datetime, grace: timedelta, *, remove_orphans: bool) -> CheckedTables:
    """Check the published tables of a catalog, and if requested remove orphans that are older than `grace`.
    Raises UsageError for a catalog whose files cannot be listed. Errors: OSError."""
    tables, files = published_tables(catalog, EVERYTHING), _Files()
    damaged = [f"{'.'.join(table.name())}: {line}" for table in tables for line in files.damage(table)]
    orphans = files.orphans(tables, now - COPIES_STAY)
    old = {path: io for path, (io, stored) in orphans.items() if remove_orphans and stored.written < now - grace}
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(_delete, old.values(), old))
    sizes = {path: stored.bytes for path, (_, stored) in orphans.items()}
    return CheckedTables(tuple(damaged), {path: size for path, size in sizes.items() if path not in old},
                         {path: sizes[path] for path in old})


def _delete(io: FileIO, path: str) -> None:
    with suppress(FileNotFoundError):
        io.delete(path)


@dataclass
class _Files:
    """The files that the metadata of tables name, and the contents of the folders that were needed so far; each folder
    is listed once. Paths are in the form of a file system, since the writers of one table may spell schemes
    differently."""

    _listed: dict[str, dict[str, tuple[str, Stored]]] = field(default_factory=dict)
    _named: set[str] = field(default_factory=set)
    _seen: set[object] = field(default_factory=set)
    _elsewhere: set[str] = field(default_factory=set)
    """The locations of tables with metadata or delete files in other folders."""
    _is_read: bool = True

    def damage(self, table: Table) -> Iterator[str]:
        """Yield a line for each file that is missing, or has another size than the table says."""
        metadata, io = table.metadata, table.io
        self._name(table, table.metadata_location)
        self._named.update(_plain(io, path) for path in (
            *(entry.metadata_file for entry in metadata.metadata_log),
            *(one.statistics_path for one in (*metadata.statistics, *metadata.partition_statistics))))
        pinned = {ref.snapshot_id for ref in metadata.refs.values()}
        for snapshot in metadata.snapshots:
            needed = f"snapshot {snapshot.snapshot_id} needs it"
            self._name(table, snapshot.manifest_list)
            if self._size(io, snapshot.manifest_list) is None:
                self._is_read = False
                yield f"{snapshot.manifest_list}: it is missing, and {needed}"
                continue
            for manifest in snapshot.manifests(io):
                self._name(table, manifest.manifest_path)
                if (key := (manifest.manifest_path, snapshot.snapshot_id in pinned)) in self._seen:
                    continue
                self._seen.add(key)
                if self._size(io, manifest.manifest_path) is None:
                    self._is_read = False
                    yield f"{manifest.manifest_path}: it is missing, and {needed}"
                    continue
                for file in _files_in(manifest, io):
                    if file.content != DataFileContent.DATA:
                        self._name(table, file.file_path)
                    elif snapshot.snapshot_id not in pinned:
                        continue
                    if file.file_path not in self._seen and (line := self._wrong(io, file)):
                        yield f"{line}, and {needed}"
                    self._seen.add(file.file_path)

    def orphans(self, tables: Sequence[Table], copied_before: datetime) -> dict[str, tuple[FileIO, Stored]]:
        """Return the files in tables' folders that no metadata name; none if some metadata cannot be read. To be called
        after `damage` of each table. A copy of the catalog that was last published before `copied_before` has no files
        of its own."""
        own = {str(table.metadata.table_uuid): table.metadata.last_updated_ms for table in tables}
        starts = [(table.io, table.location().rstrip("/")) for table in tables]
        there = [(io, start, plain, path, stored) for io, start in starts for folder in ("metadata", "data")
                 for plain, (path, stored) in self._folder(io, f"{start}/{folder}").items()]
        others = [(io, start, path, stored) for io, start, plain, path, stored in there
                  if plain not in self._named and path.endswith(_METADATA)]
        for io, start, path, stored in others:
            self._add_other(io, path, start, own if stored.written < copied_before else {})
        return {path: (io, stored) for io, start, plain, path, stored in sorted(there, key=lambda file: file[2])
                if plain not in self._named and _plain(io, start) not in self._elsewhere
                and _OWN.fullmatch(path.removeprefix(start))} if self._is_read else {}

    def _add_other(self, io: FileIO, path: str, start: str, own: Mapping[str, int]) -> None:
        """Add what another metadata file in the folder of a table names, unless it is one of a table in `own` that is
        not later than this time, in milliseconds, by the tables' UUIDs."""
        try:
            with io.new_input(path).open() as stream:
                content = stream.read()
            content = gzip.decompress(content) if content.startswith(_GZIP) else content
            said = orjson.loads(content)
            if said.get("last-updated-ms", 0) <= own.get(said.get("table-uuid", ""), -1):
                return
            other = StaticTable((path,), TableMetadataUtil.parse_raw(content.decode()), path, io, NoopCatalog(path))
            if _plain(io, other.location().rstrip("/")) != _plain(io, start):
                self._elsewhere.add(_plain(io, start))
            was_read = self._is_read
            deque(self.damage(other), maxlen=0)
            self._is_read = was_read  # what it lacks, it does not need
        except orjson.JSONDecodeError:
            self._is_read &= content[:1] in (b"", b"{")  # the rest was never written
        except Exception:  # what pyiceberg raises for metadata that it cannot read has no common class
            self._is_read = False

    def _name(self, table: Table, path: str) -> None:
        """Note a file that a table has in its own folder."""
        plain, start = _plain(table.io, path), _plain(table.io, table.location().rstrip("/"))
        self._named.add(plain)
        if not plain.startswith(f"{start}/"):
            self._elsewhere.add(start)

    def _wrong(self, io: FileIO, file: DataFile) -> str:
        size = self._size(io, file.file_path)
        if size is None:
            return f"{file.file_path}: it is missing"
        return "" if size == file.file_size_in_bytes else \
            f"{file.file_path}: it has {size} bytes, not {file.file_size_in_bytes}"

    def _size(self, io: FileIO, path: str) -> int | None:
        found = self._folder(io, path.rpartition("/")[0]).get(_plain(io, path))
        return None if found is None else found[1].bytes

    def _folder(self, io: FileIO, folder: str) -> dict[str, tuple[str, Stored]]:
        """Return the files in a folder, as the catalog writes their paths. Raises OSError."""
        if folder not in self._listed:
            scheme, netloc, path = _parsed(io, folder)
            assert isinstance(io, PyArrowFileIO)
            start = folder.removesuffix(path)
            infos = io.fs_by_scheme(scheme, netloc).get_file_info(fs.FileSelector(path, allow_not_found=True))
            self._listed[folder] = {info.path: (f"{start}{info.path}", Stored(info.size, info.mtime))
                                    for info in infos if info.type == fs.FileType.File}
        return self._listed[folder]


def _files_in(manifest: ManifestFile, io: FileIO) -> Iterable[DataFile]:
    return (entry.data_file for entry in manifest.fetch_manifest_entry(io, discard_deleted=True))


def _plain(io: FileIO, path: str) -> str:
    return _parsed(io, path)[2]


def _parsed(io: FileIO, path: str) -> tuple[str, str, str]:
    if not isinstance(io, PyArrowFileIO):
        raise UsageError(f"the catalog's files are read by {type(io).__name__}, which cannot list folders",
                         hint="set py-io-impl of this catalog to pyiceberg.io.pyarrow.PyArrowFileIO")
    return io.parse_location(path, io.properties)
