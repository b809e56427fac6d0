"""Who reads published tables of Delta: deltalake, DuckDB and Polars, each as a table of Arrow."""

from pathlib import Path

import duckdb
import duckdb_extension_delta
import polars as pl
import pyarrow as pa
from deltalake import DeltaTable

from applier.jobs.publish.delta.folders import folder_of


def place(root: Path, database: str, table: str) -> str:
    """The directory of a table."""
    return f"{root}/{folder_of(database, table)}"


def with_deltalake(place: str) -> pa.Table:
    return pa.table(DeltaTable(place).to_pyarrow_table())


def with_polars(place: str) -> pa.Table:
    return pl.scan_delta(place).collect().to_arrow()


def with_duckdb(place: str, where: str = "true", version: int | None = None) -> pa.Table:
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    [extension] = Path(duckdb_extension_delta.__file__).parent.glob("extensions/*/*.duckdb_extension")
    connection.execute(f"LOAD '{extension}'")
    chosen = "" if version is None else f", version => {version}"
    return connection.execute(f"SELECT * FROM delta_scan('{place}'{chosen}) WHERE {where}").to_arrow_table()


READERS = (with_deltalake, with_polars, with_duckdb)
