"""The commit that changes the files of an Iceberg table.

pyiceberg's own commit keeps every manifest ever added, even one whose files are all gone, and reads them all at
each commit: so commits of a table that changes every second would take longer and longer. Here a manifest without files
is dropped with the next commit, as the specification says, and small ones are merged when there are many.

This module uses internals of pyiceberg.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyiceberg.manifest import DataFile, ManifestFile
from pyiceberg.table import Transaction
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update import AddSnapshotUpdate, TableUpdate, UpdatesAndRequirements
from pyiceberg.table.update.snapshot import _ManifestMergeManager, _OverwriteFiles

_MOST_MANIFESTS = 20
"""Small ones of a table, before they are made one."""
_MANIFEST_BYTES = 8 << 20


def change_files(transaction: Transaction, added: Iterable[DataFile], removed: Iterable[DataFile],
                 summary: Mapping[str, str]) -> None:
    """Add files to the table of a transaction, and take files out; `summary` is what its new snapshot says of itself.
    """
    is_first = transaction.table_metadata.current_snapshot() is None
    with _FileChange(Operation.APPEND if is_first else Operation.OVERWRITE, transaction, transaction._table.io,
                     snapshot_properties=dict(summary)) as change:
        for file in removed:
            change.delete_data_file(file)
        for file in added:
            change.append_data_file(file)


class _FileChange(_OverwriteFiles):
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

    def _existing_manifests(self) -> list[ManifestFile]:
        return [manifest for manifest in super()._existing_manifests()
                if manifest.has_added_files() or manifest.has_existing_files()]

    def _process_manifests(self, manifests: list[ManifestFile]) -> list[ManifestFile]:
        merging = _ManifestMergeManager(_MANIFEST_BYTES, _MOST_MANIFESTS, True, self)
        return merging.merge_manifests(manifests)
