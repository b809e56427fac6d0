"""`publish`: publish a snapshot's tables in a lake; `published`: their state, now or earlier."""

from __future__ import annotations

from applier.api.calls.arguments import PathLike, Paths, Place, Tables, Time, path, paths, point, table_filter, uri
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.errors import UsageError
from applier.jobs.publish.figures import with_telemetry
from applier.jobs.publish.job import delta_as_of, iceberg_as_of, publish_delta, publish_iceberg
from applier.jobs.publish.result import Published, PublishedAsOf
from applier.options.verbs import PUBLISH, PUBLISHED


@public(PUBLISH)
def publish(
    snapshot: PathLike | Snapshot,
    *,
    iceberg: str | None = None,
    delta: PathLike | None = None,
    change_data: bool = False,
    warehouse: PathLike | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    metrics: Paths = (),
    lineage: PathLike | None = None,
) -> Published:
    """Update published tables to those of a snapshot, without writing a row, with the snapshot's own files: the tables
    of an Iceberg catalog, or Delta tables below a directory.

    >>> published = applier.publish("lake/now", iceberg="sqlite:///lake/catalog.db")
    >>> published.together, [table.name for table in published.tables if table.change == "created"][:2]
    (True, ['shop.carts', 'shop.customers'])

    {arguments}

    A later snapshot of the same line replaces only the files that changed, and removes tables that were dropped. In
    Iceberg, renamed columns and tables keep their identity, and in a SQL catalog all tables change at once; in
    a REST catalog with multi-table commits, all rows. Delta tables change one after the other, and
    `_applier.json` beside them says whether all are at one position.

    Raises UsageError without pyiceberg or deltalake, for a catalog that cannot be opened, and for a type that the
    format does not have; SnapshotError for a table that another program created or wrote to, or that changed meanwhile.
    """
    source, chosen = uri(snapshot), table_filter(tables, ignore_tables)
    files, to = paths(metrics), None if lineage is None else path(lineage)
    if delta is not None and iceberg is None and warehouse is None:
        root = path(delta)
        return with_telemetry(lambda: publish_delta(source, root, chosen, change_data=change_data), source, root,
                              in_folders=True, metrics=files, lineage=to)
    if iceberg is None or delta is not None or change_data:
        raise UsageError("a snapshot is published either to an Iceberg catalog or as Delta tables",
                         hint="give --iceberg (with --warehouse if the catalog needs it) or --delta (with "
                              "--change-data if you want it)")
    return with_telemetry(
        lambda: publish_iceberg(source, iceberg, None if warehouse is None else path(warehouse), chosen), source,
        iceberg, in_folders=False, metrics=files, lineage=to)


@public(PUBLISHED)
def published(
    *,
    iceberg: str | None = None,
    delta: PathLike | None = None,
    as_of: Place | Time | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
) -> PublishedAsOf:
    """Return the state of published tables as of a position in the log: the Iceberg snapshot or the Delta version of
    each table, at the last position where all of them were consistent.

    >>> then = applier.published(iceberg="sqlite:///lake/catalog.db", as_of=applier.Snapshot("lake/now").position)
    >>> [(table.name, table.position) for table in then.tables][:1], then.notes
    ([('shop.carts', 'binlog.000003:176495')], ())

    {arguments}

    A table that is not in the result did not exist then, as far as the catalog knows; `notes` list what it has
    forgotten: tables that were dropped, snapshots that have expired. Iceberg tables appear under their current names.

    Raises SnapshotError if no table was published, and if the position is before the oldest publication.
    """
    chosen, place = table_filter(tables, ignore_tables), None if as_of is None else point(as_of)
    if (iceberg is None) == (delta is None):
        raise UsageError("neither --iceberg nor --delta says where the tables were published", hint="give one of them")
    if delta is not None:
        return delta_as_of(path(delta), place, chosen)
    assert iceberg is not None
    return iceberg_as_of(iceberg, place, chosen)
