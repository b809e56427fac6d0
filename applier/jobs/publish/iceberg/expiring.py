"""Which snapshots of a table, and which metadata files, are removed with the expired versions of the lake.

A snapshot has files of the version that it was published at, and of the versions until the next snapshot. If all of
these have expired, `applier expire` has removed files that it needs: it can no longer be read. So the next change of
the table drops it, and commits read and write no more than the lake keeps. Snapshots that others have tagged or
branched are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pyiceberg.table import Table, Transaction
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import RemoveSnapshotsUpdate

from applier.jobs.publish.iceberg.catalog import FAILURES
from applier.jobs.publish.states import LAKE, VERSION
from applier.snapshot import lakes, manifest
from applier.snapshot.files import location

_AT_ONCE = 100
"""Snapshots that a commit forgets at most, so that none takes long: the next one continues."""


def forget(table: Table, transaction: Transaction, published: manifest.Snapshot) -> list[str]:
    """Have a transaction that publishes a version of a lake on a table take out the snapshots that only expired
    versions could read; returns the files of metadata that nothing needs once it is committed. Errors: OSError."""
    if published.lake is None or not (gone := _gone(table, published.root, published.lake)):
        return []
    ids = [snapshot.snapshot_id for snapshot in gone]
    transaction._apply((RemoveSnapshotsUpdate.model_validate({"snapshot-ids": ids}),))
    order = [entry.snapshot_id for entry in table.metadata.snapshot_log]
    following = next(id_ for id_ in order if id_ not in ids)
    others = {following, *(ref.snapshot_id for ref in table.metadata.refs.values())}  # and those of branches
    kept = [one for one in table.metadata.snapshots if one.snapshot_id in others or one.snapshot_id not in order]
    try:
        return sorted(_files(table, gone) - _files(table, kept))
    except FAILURES:  # a file that is lost: then what others need is unknown
        return []


def _gone(table: Table, root_uri: str, lake: str) -> list[Snapshot]:
    """In the order in which they were the table's: those that were published at versions of this lake, up to one that
    a version can read which is still there: that of the next snapshot's number less one."""
    known, (filesystem, root) = {one.snapshot_id: one for one in table.metadata.snapshots}, location.resolve(root_uri)
    order = [entry.snapshot_id for entry in table.metadata.snapshot_log if entry.snapshot_id in known]
    first = 0
    for number, pair in enumerate(pairwise(order[:_AT_ONCE + 1]), 1):
        made, next_made = (_version(known[id_], lake) for id_ in pair)
        if made is None or next_made is None or lakes.is_complete(filesystem, root, max(made, next_made - 1)):
            break
        first = number
    stays = {*order[first:], *(ref.snapshot_id for ref in table.metadata.refs.values())}
    return [known[id_] for id_ in dict.fromkeys(order[:first]) if id_ not in stays]


def _version(snapshot: Snapshot, lake: str) -> int | None:
    """At which version of the lake it was published; None if at none."""
    said = {} if snapshot.summary is None else snapshot.summary.additional_properties
    number = said.get(VERSION, "")
    return int(number) if said.get(LAKE) == lake and number.isascii() and number.isdecimal() else None


def _files(table: Table, snapshots: Sequence[Snapshot]) -> set[str]:
    """Lists of manifests, and manifests."""
    return {path for snapshot in snapshots for path in (
        snapshot.manifest_list, *(one.manifest_path for one in snapshot.manifests(table.io)))}
