"""`query`: SQL over snapshots, lakes, histories and changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from applier.api.arguments import PathLike, Place, Time, path, point
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.snapshot.as_of import version_as_of

if TYPE_CHECKING:
    import duckdb


@checked
def query(
    place: PathLike | Snapshot,
    sql: str,
    *,
    as_of: Place | Time | None = None,
    also: Mapping[str, PathLike | Snapshot] | None = None,
) -> duckdb.DuckDBPyRelation:
    """Query a snapshot, a lake, a history or changes with DuckDB, which has to be installed.

    >>> applier.query("lake/now", "SELECT count(*) FROM shop.orders WHERE status = 'paid'").fetchall()
    [(596,)]
    >>> applier.query("lake/now", '''SELECT count(*) FROM orders JOIN earlier.shop.orders AS old USING (id)
    ...     WHERE orders.status <> old.status''', also={"earlier": "lake/earlier"}).fetchall()
    [(186,)]

    place: a snapshot, a lake, or the directory of `history` or of changes in Parquet. A table is `db.table`, or `table`
        where no other database has one of its name; all rows of a system-versioned one, and those of a history, are
        `table_history`, changes `table_changes`.
    sql: the query, in DuckDB's SQL.
    as_of: of a lake, the last version at or before a position, a GTID set, or a time (local, if it has no zone).
    also: other places by a name, whose tables are `name.db.table`.

    Raises NotInstalled without DuckDB, UsageError where DuckDB cannot tell two tables apart, SnapshotError where
    nothing is at a place. DuckDB raises its own error for a query that is wrong, and where a file is damaged.
    """
    from applier.jobs.views.querying import connect

    here = _place(place)
    places = {"": here if as_of is None else version_as_of(here, point(as_of))}
    return connect(places | {name: _place(other) for name, other in (also or {}).items()}).sql(sql)


def _place(place: PathLike | Snapshot) -> str:
    return place.uri if isinstance(place, Snapshot) else path(place)
