"""The job: publish a snapshot in an Iceberg catalog or as Delta tables."""

from __future__ import annotations

import time

from applier.binlog.locating.place import Place
from applier.engine import left_out
from applier.errors import SnapshotError, UsageError, need, reason
from applier.jobs.publish.result import Published, PublishedAsOf
from applier.jobs.publish.states import as_of
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import manifest


def publish_iceberg(uri: str, where: str, warehouse: str | None = None, filter: TableFilter = EVERYTHING) -> Published:
    """Publish the snapshot at a path or uri in a catalog of Iceberg: a uri, or a name that pyiceberg knows.

    Errors: UsageError without pyiceberg, or for a catalog that cannot be opened; SnapshotError for a snapshot of an
    older program, and as iceberg.publication says.
    """
    began, snapshot = time.perf_counter(), _loaded(uri, "Iceberg")
    left_out.open_again()  # pyiceberg needs dateutil
    need("pyiceberg", "lake")
    from applier.jobs.publish.iceberg.catalog import open_catalog, working
    from applier.jobs.publish.iceberg.needs import needed
    from applier.jobs.publish.iceberg.publication import publish
    with working(where, "publish again when it works: it continues from what is there"):
        catalog = open_catalog(where, warehouse)
        with needed(snapshot, where, filter):
            tables, at_once = publish(catalog, snapshot, filter)
    return Published(catalog=where, position=str(snapshot.position), gtid_set=snapshot.position.gtid_set,
                     tables=tuple(tables), together=at_once == "everything", rows_together=at_once != "nothing",
                     seconds=time.perf_counter() - began)


def publish_delta(uri: str, root: str, filter: TableFilter = EVERYTHING, *, change_data: bool = False) -> Published:
    """Publish the snapshot at a path or uri as tables of Delta below another one, which have a change data feed from
    now on if requested.

    Errors: UsageError without deltalake; SnapshotError for a snapshot of an older program, if the location cannot be
    written, and as delta.publication says.
    """
    began, snapshot = time.perf_counter(), _loaded(uri, "Delta")
    need("deltalake", "lake")
    from applier.jobs.publish.delta.publication import publish
    try:
        tables = publish(root, snapshot, filter, change_data=change_data)
    except OSError as error:
        raise SnapshotError(f"cannot publish there: {reason(error)}", file=root, hint="publish again") from error
    return Published(catalog=root, position=str(snapshot.position), gtid_set=snapshot.position.gtid_set,
                     tables=tuple(tables), together=False, rows_together=False, seconds=time.perf_counter() - began)


def _loaded(uri: str, readers: str) -> manifest.Snapshot:
    snapshot = manifest.load(uri)
    if not snapshot.lineage:
        raise SnapshotError(f"this snapshot was written by an older version; {readers} cannot read its files",
                            file=uri, hint="import or replay it again, without this snapshot as the base")
    if snapshot.merges:
        raise UsageError(f"the lake merges on read, and {readers} would read its files without the changes beside them",
                         file=uri, hint="publish a lake of whole files: make one without --merge-on-read, with this "
                                        "one as --base")
    return snapshot


def iceberg_as_of(where: str, place: Place | None, filter: TableFilter) -> PublishedAsOf:
    """Return the tables of an Iceberg catalog as of a position, by default the current one. Errors: UsageError without
    pyiceberg, or for a catalog that cannot be opened; SnapshotError as states.as_of says."""
    left_out.open_again()
    need("pyiceberg", "lake")
    from applier.jobs.publish.iceberg.catalog import open_catalog, working
    from applier.jobs.publish.iceberg.states import published_tables, remembered, states_of, without_files
    with working(where):
        catalog = open_catalog(where, None)
        known, tables = remembered(catalog), published_tables(catalog, filter)
        found = as_of([states_of(table) for table in tables], known.publications, place, where, known.dropped)
        return without_files(found, tables)


def delta_as_of(root: str, place: Place | None, filter: TableFilter) -> PublishedAsOf:
    """Return the Delta tables below a directory as of a position, by default the current one. Errors: UsageError
    without deltalake; SnapshotError as states.as_of says, and if the directory cannot be read."""
    need("deltalake", "lake")
    from applier.jobs.publish.delta.states import table_states
    from applier.jobs.publish.delta.storage import Storage
    try:
        return as_of(*table_states(Storage(root), filter), place, root)
    except OSError as error:
        raise SnapshotError(f"the tables cannot be read: {reason(error)}", file=root) from error
