"""`publish`: a snapshot's tables in a lake; `published`: what they are, or were."""

from __future__ import annotations

from applier.api.arguments import PathLike, Place, Tables, Time, path, point, table_filter
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.errors import UsageError
from applier.jobs.publish.job import delta_as_of, iceberg_as_of, publish_delta, publish_iceberg
from applier.jobs.publish.result import Published, PublishedAsOf


@checked
def publish(
    snapshot: PathLike | Snapshot,
    *,
    iceberg: str | None = None,
    delta: PathLike | None = None,
    change_data: bool = False,
    warehouse: PathLike | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
) -> Published:
    """Bring the tables of a lake to where a snapshot's are, without writing a row, by the snapshot's own files: those
    of a catalog of Iceberg, or of Delta below a directory.

    >>> published = applier.publish("lake/now", iceberg="sqlite:///lake/catalog.db")
    >>> published.together, [table.name for table in published.tables if table.change == "created"][:2]
    (True, ['shop.carts', 'shop.customers'])

    snapshot: a snapshot, or a lake, whose latest version it is. Iceberg has its files where they are:
        keep it as long as the catalog has them.
    iceberg: a catalog of Iceberg: the uri of a database as SQLAlchemy takes it, http:// of a REST catalog, or a name
        out of pyiceberg's configuration, which is the place for passwords.
    delta: a directory, local or in an object store, that gets a table DB/TABLE for each. Files are linked there, or
        copied where they cannot be.
    change_data: whether tables of Delta have a change data feed from now on: each commit then says by which rows the
        table differs from what it was at the one before, for `DeltaTable(place).load_cdf(…)`. Tables keep it.
    warehouse: where the catalog's own files go; by default beside a SQLite database, or as the catalog has it.
    tables: only these.
    ignore_tables: all but these.

    A later snapshot of the same line replaces files that changed, and only these, and tables that were dropped go. In
    Iceberg, columns and tables keep what they are under other names, and in a SQL catalog all tables change at once; in
    a REST catalog whose server has multi-table commits, all rows. Tables of Delta change one after the other, and
    `_applier.json` beside them says whether all stand at one position.

    Raises UsageError without pyiceberg or deltalake, for a catalog that cannot be opened and a type that the format
    lacks, SnapshotError for a table that somebody else made or wrote to, and where it changed meanwhile.
    """
    uri = snapshot.uri if isinstance(snapshot, Snapshot) else path(snapshot)
    chosen = table_filter(tables, ignore_tables)
    if delta is not None and iceberg is None and warehouse is None:
        return publish_delta(uri, path(delta), chosen, change_data=change_data)
    if iceberg is None or delta is not None or change_data:
        raise UsageError("a snapshot is published either to an Iceberg catalog or as Delta tables",
                         hint="give --iceberg (with --warehouse if the catalog needs it) or --delta (with "
                              "--change-data if you want it)")
    return publish_iceberg(uri, iceberg, None if warehouse is None else path(warehouse), chosen)


@checked
def published(
    *,
    iceberg: str | None = None,
    delta: PathLike | None = None,
    as_of: Place | Time | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
) -> PublishedAsOf:
    """What published tables were as of a place in the log: by which snapshot of Iceberg, or version of Delta, a reader
    finds each, where all of them stood.

    >>> then = applier.published(iceberg="sqlite:///lake/catalog.db", as_of=applier.Snapshot("lake/now").position)
    >>> [(table.name, table.position) for table in then.tables][:1], then.notes
    ([('shop.carts', 'binlog.000003:176495')], ())

    iceberg: a catalog of Iceberg, as `publish` takes it; readers take a table's `id` for its snapshot, as
        `load_table(name).scan(snapshot_id=…)` of pyiceberg.
    delta: a directory of published tables; readers take the `id` for the version, as `DeltaTable(place, version=…)`.
    as_of: a position, a GTID set, or a time (local, if it has no zone): the last publication that stands at or before
        it; by default the last one of all.
    tables: only these.
    ignore_tables: all but these.

    A table that is not in the result was not there then, by what the catalog knows; `notes` say what it has forgotten:
    tables that were dropped, snapshots that have expired. Tables of Iceberg are found under the name that they have
    now.

    Raises SnapshotError where no table was published, and where the place comes before the oldest publication.
    """
    chosen, place = table_filter(tables, ignore_tables), None if as_of is None else point(as_of)
    if (iceberg is None) == (delta is None):
        raise UsageError("neither --iceberg nor --delta says where the tables were published", hint="give one of them")
    if delta is not None:
        return delta_as_of(path(delta), place, chosen)
    assert iceberg is not None
    return iceberg_as_of(iceberg, place, chosen)
