"""Readers of published tables: pyiceberg, DuckDB and Polars, each as a table of Arrow."""

import os
from pathlib import Path

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
import polars as pl
import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.table import StaticTable, Table


def catalog(folder: Path):
    """The catalog in a folder."""
    return load_catalog("default", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"{folder}/warehouse")


def names(folder: Path) -> set[str]:
    """The tables of the catalog in a folder."""
    found = catalog(folder)
    return {".".join(name) for namespace in found.list_namespaces() for name in found.list_tables(namespace)}


def table_at(metadata_location: str) -> Table:
    """A table as one of its metadata files has it."""
    return StaticTable.from_metadata(metadata_location)


def with_pyiceberg(table: Table) -> pa.Table:
    return table.scan().to_arrow()


def with_polars(table: Table) -> pa.Table:
    """Its own planner is in a package that is not here, which it warns of."""
    os.environ["POLARS_ICEBERG_PLANNER"] = "pyiceberg"
    return pl.scan_iceberg(table).collect().to_arrow()


def duckdb_with_iceberg() -> duckdb.DuckDBPyConnection:
    """DuckDB with its extension for Iceberg, out of packages: it would download it."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for package in (duckdb_extension_avro, duckdb_extension_iceberg):
        [extension] = Path(package.__file__).parent.glob("extensions/*/*.duckdb_extension")
        connection.execute(f"LOAD '{extension}'")
    return connection


def with_duckdb(table: Table, snapshot: int | None = None) -> pa.Table:
    chosen = "" if snapshot is None else f", snapshot_from_id => {snapshot}"
    return duckdb_with_iceberg().execute(
        f"SELECT * FROM iceberg_scan('{table.metadata_location}'{chosen})").to_arrow_table()


READERS = (with_pyiceberg, with_polars, with_duckdb)


def cells(table: pa.Table) -> list[str]:
    """The rows as texts, sorted."""
    return sorted(texts(table))


def texts(table: pa.Table) -> list[str]:
    """The rows as texts; values that are equal have the same text, instants in UTC."""
    columns = [column.cast(pa.timestamp("us")) if pa.types.is_timestamp(column.type) else column
               for column in table.columns]
    return list(map(str, zip(*(column.to_pylist() for column in columns), strict=True)))
