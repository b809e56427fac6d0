"""The job: publish a snapshot in an Iceberg catalog or as Delta tables."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from applier.binlog.locating.place import Place
from applier.engine import left_out
from applier.errors import SnapshotError, UsageError, need, reason
from applier.io.progress import Progress
from applier.jobs.lake import checking
from applier.jobs.lake.checking import CheckedLake
from applier.jobs.lake.expiring import GRACE, age
from applier.jobs.publish.result import Published, PublishedAsOf
from applier.jobs.publish.states import as_of
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import manifest


def publish_iceberg(uri: str, where: str, warehouse: str | None = None, filter: TableFilter = EVERYTHING, *,
                    tag: str | None = None, expire: timedelta | str | None = None) -> Published:
    """Publish the snapshot at a path or uri in a catalog of Iceberg: a uri, or a name that pyiceberg knows. Tables get
    a tag, and lose the snapshots that were replaced longer ago than `expire`, where these are given.

    Errors: UsageError without pyiceberg, for a catalog that cannot be opened, and for a tag or a time that is none;
    SnapshotError for a snapshot of an older program, and as iceberg.publication says.
    """
    began, snapshot = time.perf_counter(), _loaded(uri, "Iceberg")
    before_ms = None if expire is None else int((time.time() - checked_age(expire).total_seconds()) * 1000)
    check_tag(tag)
    left_out.open_again()  # pyiceberg needs dateutil
    need("pyiceberg", "lake")
    from applier.jobs.publish.iceberg.catalog import open_catalog, working
    from applier.jobs.publish.iceberg.needs import forget_tags, needed
    from applier.jobs.publish.iceberg.publication import Besides, publish, tags_of
    with working(where, "publish again when it works: it continues from what is there"):
        catalog = open_catalog(where, warehouse)
        with needed(snapshot, where, filter, tag) as former:
            tables, at_once = publish(catalog, snapshot, filter, former, Besides(tag, before_ms))
        if tag is not None or before_ms is not None:
            forget_tags(snapshot, where, tag, lambda: tags_of(catalog))
    return Published(catalog=where, position=str(snapshot.position), gtid_set=snapshot.position.gtid_set,
                     tables=tuple(tables), together=at_once == "everything", rows_together=at_once != "nothing",
                     seconds=time.perf_counter() - began)


def publish_delta(uri: str, root: str, filter: TableFilter = EVERYTHING, *, change_data: bool = False) -> Published:
    """Publish the snapshot at a path or uri as tables of Delta below another one, which have a change data feed from
    now on if requested.

    Errors: UsageError without deltalake, or for a lake that merges on read; SnapshotError for a snapshot of an older
    program, if the location cannot be written, and as delta.publication says.
    """
    began, snapshot = time.perf_counter(), _loaded(uri, "Delta")
    if snapshot.merges:
        raise UsageError("the lake merges on read, and Delta tables get whole files only", file=uri,
                         hint="publish it to Iceberg, or make a lake without --merge-on-read, with this one as --base")
    need("deltalake", "lake")
    from applier.jobs.publish.delta.publication import publish
    try:
        tables = publish(root, snapshot, filter, change_data=change_data)
    except OSError as error:
        raise SnapshotError(f"cannot publish there: {reason(error)}", file=root, hint="publish again") from error
    return Published(catalog=root, position=str(snapshot.position), gtid_set=snapshot.position.gtid_set,
                     tables=tuple(tables), together=False, rows_together=False, seconds=time.perf_counter() - began)


def fsck(lake: str, where: str | None, *, remove_orphans: bool = False, quick: bool = False,
         progress: Progress | None = None) -> CheckedLake:
    """Check the lake at a path or uri, and the tables that were published in a catalog of Iceberg, where one is given;
    remove their orphans that are older than any publication takes, if requested.

    Errors: as checking.fsck has them; UsageError without pyiceberg, or for a catalog that cannot be opened;
    SnapshotError for a catalog that fails, and for an orphan that cannot be removed."""
    if remove_orphans and where is None:
        raise UsageError("--remove-orphans applies only to an Iceberg catalog", hint="also give --iceberg")
    checked = checking.fsck(lake, quick=quick, progress=progress)
    if where is None:
        return checked
    left_out.open_again()
    need("pyiceberg", "lake")
    from applier.jobs.publish.iceberg.catalog import open_catalog, working
    from applier.jobs.publish.iceberg.checking import check_tables
    with working(where):
        found = check_tables(open_catalog(where, None), datetime.now(UTC), GRACE, remove_orphans=remove_orphans)
    return replace(checked, damaged=(*checked.damaged, *found.damaged), orphans=tuple(found.orphans),
                   orphan_bytes=sum(found.orphans.values()), removed=tuple(found.removed),
                   removed_bytes=sum(found.removed.values()))


def check_tag(tag: str | None) -> None:
    """Raise UsageError for a tag with a name that none can have."""
    if tag is not None and (not tag.strip() or tag == "main"):
        raise UsageError(f"{tag!r} is not a name for a tag", hint="give --tag a name as daily")


def checked_age(given: timedelta | str) -> timedelta:
    """Return the time that --expire says. Raises UsageError for an invalid one."""
    found = age(given) if isinstance(given, str) else given
    if found is None or found < timedelta():
        raise UsageError(f"--expire {given} is not a time", hint="as 90s, 30m, 12h, 7d, 4w")
    return found


def _loaded(uri: str, readers: str) -> manifest.Snapshot:
    snapshot = manifest.load(uri)
    if not snapshot.lineage:
        raise SnapshotError(f"this snapshot was written by an older version; {readers} cannot read its files",
                            file=uri, hint="import or replay it again, without this snapshot as the base")
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
