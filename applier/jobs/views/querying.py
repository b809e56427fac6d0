"""A connection to DuckDB with a view of each table of one or several snapshots.

Views are over Arrow datasets, which verify the checksums of pages. DuckDB's own reader, which does not, reads only
tables whose files contain dead rows, as in lakes that merge on read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from applier.errors import NotInstalled, UsageError
from applier.io.parquet_reading import scanned_format
from applier.io.resolver import is_local, resolve
from applier.jobs.views.dialects import DuckDb
from applier.jobs.views.job import statements, views_in
from applier.jobs.views.sources import View, ViewColumn

if TYPE_CHECKING:
    import duckdb

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def connect(locations: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
    """Connect to a DuckDB in memory: the tables of the snapshot named "" are `db.table`, or `table`, those of another
    one `name.db.table`. Raises NotInstalled without DuckDB, UsageError for a name that is not a plain word and if
    DuckDB cannot tell two tables apart, and the errors of `views_in`."""
    try:
        import duckdb
    except ImportError:
        raise NotInstalled("DuckDB is not installed", hint="pip install duckdb") from None
    connection = duckdb.connect()
    for name, location in locations.items():
        if name:
            if not _PLAIN.fullmatch(name) or name.lower() in ("memory", "system", "temp"):
                raise UsageError(f"{name!r} cannot name a place in queries",
                                 hint="name it by letters, as in before=PLACE")
            connection.execute(f'ATTACH \':memory:\' AS "{name}"')
        views = list(views_in(location)[1])
        for statement in statements(views, _OverDatasets(connection, name), "duckdb"):
            connection.execute(statement)
        databases = dict.fromkeys(view.database for view in views if _PLAIN.fullmatch(view.database))
        if not name and databases:
            connection.execute(f"SET search_path = '{','.join(databases)}'")
    return connection


class _OverDatasets(DuckDb):
    """Views over datasets that a connection knows by name. Durations of Arrow are intervals already."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, catalog: str) -> None:
        super().__init__(catalog)
        self._connection, self._catalog = connection, catalog

    def _rows(self, view: View) -> str:
        from pyarrow import dataset

        filesystem, _ = resolve(view.files[0])
        if view.dead:
            if not is_local(filesystem):
                raise UsageError("this lake merges on read and is not on this machine, so it cannot be queried",
                                 file=view.files[0], hint="query a copy of it, or read tables with to_arrow()")
            return super()._rows(view)
        rows = dataset.dataset([resolve(file)[1] for file in view.files], format=scanned_format(),
                               filesystem=filesystem)
        name = f"files of {self._catalog} {view.database}.{view.name}"
        self._connection.register(name, rows)
        return self._name(name)

    def _column(self, column: ViewColumn) -> str:
        return self._name(column.name)
