"""`publish`: a snapshot's tables in a catalog of a lake."""

from __future__ import annotations

from applier.api.arguments import PathLike, Tables, path, table_filter
from applier.api.snapshots import Snapshot
from applier.jobs.publish.job import publish_iceberg
from applier.jobs.publish.result import Published


def publish(
    snapshot: PathLike | Snapshot,
    *,
    iceberg: str,
    warehouse: PathLike | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
) -> Published:
    """Bring the tables of a catalog to where a snapshot's are, without writing a row: its own files are registered.

    >>> published = applier.publish("lake/now", iceberg="sqlite:///lake/catalog.db")
    >>> published.together, [table.name for table in published.tables if table.change == "created"][:2]
    (True, ['shop.carts', 'shop.customers'])

    snapshot: a snapshot. Its files stay where they are: keep it as long as the catalog has them.
    iceberg: a catalog of Iceberg: the uri of a database as SQLAlchemy takes it, http:// of a REST catalog, or a name
        out of pyiceberg's configuration, which is the place for passwords.
    warehouse: where the catalog's own files go; by default beside a SQLite database, or as the catalog has it.
    tables: only these.
    ignore_tables: all but these.

    A later snapshot of the same line replaces files that changed, and only these; columns and tables keep what they are
    under other names, and tables that were dropped go. In a SQL catalog all tables change at once.

    Raises UsageError without pyiceberg, for a catalog that cannot be opened and a type that Iceberg lacks,
    SnapshotError for a table of the catalog that somebody else made or wrote to, and where it changed meanwhile.
    """
    uri = snapshot.uri if isinstance(snapshot, Snapshot) else path(snapshot)
    return publish_iceberg(uri, iceberg, None if warehouse is None else path(warehouse),
                           table_filter(tables, ignore_tables))
