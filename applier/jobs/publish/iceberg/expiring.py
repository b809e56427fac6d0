"""Which snapshots of a table, and which metadata files, are removed with the expired versions of the lake.

A snapshot has files of the version that it was published at, and of the versions until the next snapshot. If all of
these have expired, `applier expire` has removed files that it needs: it can no longer be read. So the next change of
the table drops it, and commits read and write no more than the lake keeps. A publication can also drop snapshots that
were replaced before a time. Snapshots with tags or branches are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyiceberg.manifest import ManifestContent
from pyiceberg.table import Table, Transaction
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import RemoveSnapshotsUpdate

from applier.jobs.publish.iceberg.catalog import FAILURES
from applier.jobs.publish.states import LAKE, VERSION
from applier.snapshot import lakes, manifest
from applier.snapshot.files import location

_AT_ONCE = 100
"""Snapshots that a commit forgets at most, so that none takes long: the next one continues."""


@dataclass(frozen=True)
class Forgotten:
    """Snapshots that a transaction takes out of a table, and the files that nothing needs once it is committed:
    metadata and delete files."""

    snapshots: int = 0
    files: Sequence[str] = ()


def forget(table: Table, transaction: Transaction, published: manifest.Snapshot, before_ms: int | None) -> Forgotten:
    """Have a transaction that publishes a snapshot on a table take out the snapshots that were replaced before a time,
    in milliseconds, and those that only expired versions of the lake could read. Errors: OSError."""
    if not (gone := _gone(table, published, before_ms)):
        return Forgotten()
    ids = [snapshot.snapshot_id for snapshot in gone]
    transaction._apply((RemoveSnapshotsUpdate.model_validate({"snapshot-ids": ids}),))
    order = [entry.snapshot_id for entry in table.metadata.snapshot_log]
    following = next(id_ for id_ in order if id_ not in ids)
    others = {following, *(ref.snapshot_id for ref in table.metadata.refs.values())}  # and those of branches
    kept = [one for one in table.metadata.snapshots if one.snapshot_id in others or one.snapshot_id not in order]
    try:
        return Forgotten(len(gone), sorted(_files(table, gone) - _files(table, kept)))
    except FAILURES:  # a file that is lost: then the needs of others are unknown
        return Forgotten(len(gone))


def _gone(table: Table, published: manifest.Snapshot, before_ms: int | None) -> list[Snapshot]:
    """In the order in which they were the table's: those whose next was made before the time, and then those that were
    published at versions of this lake, up to one that a version can read which is still there: that of the next
    snapshot's number less one."""
    known = {one.snapshot_id: one for one in table.metadata.snapshots}
    order = [entry.snapshot_id for entry in table.metadata.snapshot_log if entry.snapshot_id in known]
    filesystem, root = location.resolve(published.root)
    first, named = 0, {ref.snapshot_id for ref in table.metadata.refs.values()}
    for number, pair in enumerate(pairwise(order), 1):
        if pair[0] not in named and (before_ms is None or known[pair[1]].timestamp_ms >= before_ms):
            made, next_made = (_version(known[id_], published.lake) for id_ in pair)
            if number > _AT_ONCE or made is None or next_made is None or lakes.is_complete(
                    filesystem, root, max(made, next_made - 1)):
                break
        first = number
    stays = {*order[first:], *named}
    return [known[id_] for id_ in dict.fromkeys(order[:first]) if id_ not in stays]


def _version(snapshot: Snapshot, lake: str | None) -> int | None:
    """At which version of the lake it was published; None if at none."""
    said = {} if snapshot.summary is None else snapshot.summary.additional_properties
    number = said.get(VERSION, "") if lake is not None and said.get(LAKE) == lake else ""
    return int(number) if number.isascii() and number.isdecimal() else None


def _files(table: Table, snapshots: Sequence[Snapshot]) -> set[str]:
    """Return lists of manifests, manifests, and delete files: those are the table's own."""
    manifests = {one for snapshot in snapshots for one in snapshot.manifests(table.io)}
    deletes = (one for one in manifests if one.content == ManifestContent.DELETES)
    return {*(snapshot.manifest_list for snapshot in snapshots), *(one.manifest_path for one in manifests),
            *(entry.data_file.file_path for one in deletes for entry in one.fetch_manifest_entry(table.io))}
