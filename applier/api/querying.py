"""`query`: SQL over snapshots, lakes, histories and changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from applier.api.calls.arguments import PathLike, Place, Time, point, uri
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.options.verbs import SQL
from applier.snapshot.as_of import version_as_of

if TYPE_CHECKING:
    import duckdb


@public(SQL)
def query(
    place: PathLike | Snapshot,
    sql: str,
    *,
    as_of: Place | Time | None = None,
    also: Mapping[str, PathLike | Snapshot] | None = None,
) -> duckdb.DuckDBPyRelation:
    """Query a snapshot, a lake, a history or changes with DuckDB, which must be installed.

    >>> applier.query("lake/now", "SELECT count(*) FROM shop.orders WHERE status = 'paid'").fetchall()
    [(596,)]
    >>> applier.query("lake/now", '''SELECT count(*) FROM orders JOIN earlier.shop.orders AS old USING (id)
    ...     WHERE orders.status <> old.status''', also={"earlier": "lake/earlier"}).fetchall()
    [(186,)]

    {arguments}

    Raises NotInstalled without DuckDB, UsageError if two tables are ambiguous for DuckDB, SnapshotError if a place
    does not exist. DuckDB raises its own errors for invalid queries and damaged files.
    """
    from applier.jobs.views.querying import connect

    here = uri(place)
    places = {"": here if as_of is None else version_as_of(here, point(as_of))}
    return connect(places | {name: uri(other) for name, other in (also or {}).items()}).sql(sql)
