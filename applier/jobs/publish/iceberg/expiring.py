"""Which snapshots of a table go with the versions of the lake that have expired, and which files of metadata with them.

A snapshot has files of the version that it was published at, and of those until the next snapshot. Where all of these
have expired, `applier expire` has removed files that it needs: nobody can read it any more. So a table forgets it when
it is changed next, and what a commit reads and writes stays as large as what the lake keeps. What tags and branches of
other people name stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyiceberg.table import Table, Transaction
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import RemoveSnapshotsUpdate

from applier.errors import SnapshotError, reason
from applier.jobs.publish.iceberg.catalog import FAILURES
from applier.jobs.publish.states import VERSION
from applier.snapshot import lakes, location, manifest

_AT_ONCE = 100
"""Snapshots that a commit forgets at most, so that none takes long: the next one goes on."""


def oldest_version(snapshot: manifest.Snapshot) -> int | None:
    """The number of the oldest version of the lake that a snapshot is a version of; None if it is none."""
    if snapshot.lake is None:
        return None
    try:
        return lakes.numbers(*location.resolve(snapshot.root))[0]
    except OSError as error:
        raise SnapshotError(f"the lake cannot be read: {reason(error)}", file=snapshot.root) from error


def forget(table: Table, transaction: Transaction, oldest: int | None) -> list[str]:
    """Have a transaction on a table take out the snapshots that only versions before the `oldest` could read; returns
    the files of metadata that nothing needs once it is committed."""
    if oldest is None or not (gone := _gone(table, oldest)[:_AT_ONCE]):
        return []
    ids = [snapshot.snapshot_id for snapshot in gone]
    transaction._apply((RemoveSnapshotsUpdate.model_validate({"snapshot-ids": ids}),))
    named = {ref.snapshot_id for ref in table.metadata.refs.values()}
    following = next(entry.snapshot_id for entry in table.metadata.snapshot_log if entry.snapshot_id not in ids)
    kept = [snapshot for snapshot in table.metadata.snapshots if snapshot.snapshot_id in {*named, following}]
    try:
        return sorted(_files(table, gone) - _files(table, kept))
    except FAILURES:  # a file that is lost: then what others need is not known
        return []


def _gone(table: Table, oldest: int) -> list[Snapshot]:
    """In the order in which they were the table's."""
    known = {snapshot.snapshot_id: snapshot for snapshot in table.metadata.snapshots}
    order = [entry.snapshot_id for entry in table.metadata.snapshot_log if entry.snapshot_id in known]
    readable = [place for place, id_ in enumerate(order) if (version := _version(known[id_])) is not None
                and version <= oldest]
    first = readable[-1] if readable else 0
    stays = {*order[first:], *(ref.snapshot_id for ref in table.metadata.refs.values())}
    return [known[id_] for id_ in dict.fromkeys(order[:first]) if id_ not in stays]


def _version(snapshot: Snapshot) -> int | None:
    said = "" if snapshot.summary is None else snapshot.summary.additional_properties.get(VERSION, "")
    return int(said) if said.isascii() and said.isdecimal() else None


def _files(table: Table, snapshots: Sequence[Snapshot]) -> set[str]:
    """Lists of manifests, and manifests."""
    return {path for snapshot in snapshots for path in (
        snapshot.manifest_list, *(one.manifest_path for one in snapshot.manifests(table.io)))}
