"""Readers of published Delta tables, the latest version or another one: deltalake, DuckDB and Polars, each as a
table of Arrow."""

from pathlib import Path

import duckdb
import duckdb_extension_delta
import polars as pl
import pyarrow as pa
from deltalake import DeltaTable

from applier.jobs.publish.folders import folder_of


def place(root: Path, database: str, table: str) -> str:
    """The directory of a table."""
    return f"{root}/{folder_of(database, table)}"


def version(place: str) -> int:
    """The latest version of the table in a directory."""
    return DeltaTable(place).version()


def with_deltalake(place: str, version: int | None = None) -> pa.Table:
    return pa.table(DeltaTable(place, version=version).to_pyarrow_table())


def with_polars(place: str, version: int | None = None) -> pa.Table:
    return pl.scan_delta(place, version=version).collect().to_arrow()


def with_duckdb(place: str, version: int | None = None, where: str = "true") -> pa.Table:
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    [extension] = Path(duckdb_extension_delta.__file__).parent.glob("extensions/*/*.duckdb_extension")
    connection.execute(f"LOAD '{extension}'")
    at = "" if version is None else f", version := {version}"
    return connection.execute(f"SELECT * FROM delta_scan('{place}'{at}) WHERE {where}").to_arrow_table()


READERS = (with_deltalake, with_polars, with_duckdb)
