"""The files of an Iceberg table, and the commit that changes them.

pyiceberg's own commits write no deletes, keep every manifest ever added, even one whose files are all gone, and read
all manifests several times: so commits of a table that changes every second would take longer and longer. Here
manifests are read once, those without files are dropped, small ones are merged when there are many, and all
changes of a kind of files go to one manifest. Kinds are data files, row files of a lake that merges on read, and delete
files. Row files are replaced often: if they shared manifests with data files, each commit would rewrite these.

This module uses internals of pyiceberg.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriter,
    ManifestWriterV2,
)
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    SetSnapshotRefUpdate,
    TableUpdate,
    UpdatesAndRequirements,
)
from pyiceberg.table.update.snapshot import _OverwriteFiles

from applier.errors import UsageError
from applier.snapshot.writer import CHANGES

_MOST_MANIFESTS = 20
"""Manifests of a kind, before the small ones are made one."""
_MANIFEST_BYTES = 8 << 20
_MANIFEST_FILES = 20_000
"""Files in a manifest that is written here, at most."""
_THREADS = 8
_Kind = Literal["data", "rows", "deletes"]
_KINDS: tuple[_Kind, ...] = ("data", "rows", "deletes")


@dataclass(frozen=True)
class TableFiles:
    """What a snapshot of a table has: its manifests, and their entries without those that were deleted."""

    manifests: Sequence[tuple[ManifestFile, Sequence[ManifestEntry]]] = ()

    @classmethod
    def of(cls, snapshot: Snapshot, io: FileIO) -> TableFiles:
        """Those of a snapshot. Manifests without files are left out."""
        manifests = [one for one in snapshot.manifests(io) if one.has_added_files() or one.has_existing_files()]
        with ThreadPoolExecutor(_THREADS) as pool:
            return cls(list(zip(manifests, pool.map(lambda one: one.fetch_manifest_entry(io), manifests),
                                strict=True)))

    @property
    def data(self) -> list[DataFile]:
        """Its files of rows."""
        return [file for file in self._files() if file.content == DataFileContent.DATA]

    @property
    def deletes(self) -> list[DataFile]:
        """Its delete files."""
        return [file for file in self._files() if file.content != DataFileContent.DATA]

    def _files(self) -> Iterable[DataFile]:
        return (entry.data_file for _, entries in self.manifests for entry in entries)


def change_files(transaction: Transaction, now: TableFiles, added: Iterable[DataFile], removed: Iterable[DataFile],
                 summary: Mapping[str, str]) -> None:
    """Add files to the table of a transaction, which has these now, and take files out; `summary` is what its new
    snapshot says of itself."""
    added = list(added)
    only_adds = transaction.table_metadata.current_snapshot() is None and all(
        file.content == DataFileContent.DATA for file in added)
    change = _FileChange(Operation.APPEND if only_adds else Operation.OVERWRITE, transaction, transaction._table.io,
                         snapshot_properties=dict(summary))
    change.now = now
    with change:
        for file in removed:
            change.delete_data_file(file)
        for file in added:
            change.append_data_file(file)


def _readable_specs(metadata: TableMetadata) -> list[int]:
    """Return the numbers of the specs whose columns a table has."""
    columns = {field.field_id for field in metadata.schema().fields}
    return [number for number, spec in sorted(metadata.specs().items())
            if columns >= {field.source_id for field in spec.fields}]


def give_tag(transaction: Transaction, tag: str | None) -> None:
    """Give the newest snapshot of the table of a transaction a tag, if it does not have it. Raises UsageError where it
    is the name of a branch."""
    metadata = transaction.table_metadata
    if tag is None or metadata.current_snapshot_id is None:
        return
    known = metadata.refs.get(tag)
    if known is not None and known.snapshot_ref_type == SnapshotRefType.BRANCH:
        raise UsageError(f"{tag!r} is a branch of the table", table=".".join(transaction._table.name()),
                         hint="give --tag another name")
    if known is None or known.snapshot_id != metadata.current_snapshot_id:
        transaction._apply((SetSnapshotRefUpdate.model_validate({
            "ref-name": tag, "type": SnapshotRefType.TAG, "snapshot-id": metadata.current_snapshot_id}),))


class _FileChange(_OverwriteFiles):
    now = TableFiles()

    def _commit(self) -> UpdatesAndRequirements:
        """A snapshot is later than the previous one, even if the clock was put back: readers in Java refuse a table in
        which time goes back by more than a minute."""
        updates, requirements = super()._commit()
        return tuple(map(self._later, updates)), requirements

    def _later(self, update: TableUpdate) -> TableUpdate:
        last = self._transaction._table.metadata.last_updated_ms
        if not isinstance(update, AddSnapshotUpdate) or update.snapshot.timestamp_ms > last:
            return update
        return AddSnapshotUpdate(snapshot=update.snapshot.model_copy(update={"timestamp_ms": last + 1}))

    def _manifests(self) -> list[ManifestFile]:
        readable = _readable_specs(self._transaction.table_metadata)
        return [manifest for kind in _KINDS for spec in readable for manifest in self._of_kind(kind, spec)]

    def _of_kind(self, kind: _Kind, spec: int) -> list[ManifestFile]:
        """Return the manifests of a kind with files in partitions of a spec. Where a spec is of a dropped column, there
        are none, not even of files that go: DuckDB cannot read these, and pyiceberg cannot write them."""
        removed = {file.file_path for file in self._deleted_data_files}
        added = [_added(file, self.snapshot_id) for file in self._added_data_files
                 if _kind_of(file) == kind and spec == self._transaction.table_metadata.default_spec_id]
        changed, stay = list[Sequence[ManifestEntry]](), list[tuple[ManifestFile, Sequence[ManifestEntry]]]()
        for manifest, entries in self.now.manifests:
            if _kind_of(entries[0].data_file) != kind or manifest.partition_spec_id != spec:
                continue
            if removed.isdisjoint(entry.data_file.file_path for entry in entries):
                stay.append((manifest, entries))
            else:
                changed.append(entries)
        if len(stay) >= _MOST_MANIFESTS:
            small = [one for one in stay if one[0].manifest_length < _MANIFEST_BYTES]
            changed += [entries for _, entries in small]
            stay = [one for one in stay if one not in small]
        entries = [*added, *(entry for one in changed for entry in one)]
        parts = [entries[first:first + _MANIFEST_FILES] for first in range(0, len(entries), _MANIFEST_FILES)]
        return [*(self._written(kind, spec, part, removed) for part in parts), *(manifest for manifest, _ in stay)]

    def _written(self, kind: _Kind, spec: int, entries: Sequence[ManifestEntry], removed: set[str]) -> ManifestFile:
        with self._writer(kind, spec) as writer:
            for entry in entries:
                if entry.sequence_number is None:
                    writer.add(entry)
                elif entry.data_file.file_path in removed:
                    writer.delete(entry)
                else:
                    writer.existing(entry)
        return writer.to_manifest_file()

    def _writer(self, kind: _Kind, spec: int) -> ManifestWriter:
        metadata = self._transaction.table_metadata
        return (_DeletesWriter if kind == "deletes" else ManifestWriterV2)(
            metadata.specs()[spec], metadata.schema(), self.new_manifest_output(), self.snapshot_id, self._compression)


class _DeletesWriter(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def _added(file: DataFile, snapshot_id: int) -> ManifestEntry:
    """Its sequence numbers are those of the snapshot, once it is committed."""
    return ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=snapshot_id, sequence_number=None,
                                   file_sequence_number=None, data_file=file)


def _kind_of(file: DataFile) -> _Kind:
    if file.content != DataFileContent.DATA:
        return "deletes"
    return "rows" if file.file_path.rpartition("/")[0].endswith(f"/{CHANGES}") else "data"
