"""Compares a version of a lake with the server's rows at its position, as every reader has it, for the live run of
lakes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
from pyiceberg.table import Table

import applier
from applier.jobs.views.dialects import DIALECTS
from applier.jobs.views.job import statements
from applier.jobs.views.sources import ViewColumn, of_snapshot
from applier.schema.table_filter import EVERYTHING
from applier.snapshot import manifest
from applier.snapshot.manifest import Snapshot
from applier.snapshot.table_entry import TableEntry
from tests.support import delta_readers, iceberg_readers
from tests.support.real_server import Wanted, differences_of, read_differences


@dataclass(frozen=True)
class ServerState:
    """What the server held at a GTID set, and how the version is read that stands there: locations of Iceberg's
    metadata, and versions of Delta's tables. Those that readers `read` at the state before are as they were."""

    version: int
    wanted: Wanted
    metadata: dict[str, str]
    delta: dict[str, int]
    read: set[str]
    with_spark: bool


def compare(folder: Path, state: ServerState) -> list[str]:
    """Return a line for each difference between a version, as readers have it, and the server at its position."""
    about, lake = f"version {state.version}", folder / "lake/_versions" / f"{state.version:010}"
    snapshot = manifest.load(str(lake))
    other = {f"{table.database}.{table.name}" for table in snapshot.tables if _is_misnamed(table, state.wanted)
             or _is_numbered(table)}
    found = [f"{about}: {line}" for line in differences_of(lake, state.wanted, state.wanted.keys() - other)]
    if names := state.metadata.keys() ^ state.wanted.keys():
        found.append(f"{about}: the catalog has, or has not, {sorted(names)}")
    if snapshot.merges:
        found += [f"{about}: {line}" for line in applier.Snapshot(lake).verify().damaged]
    for table in snapshot.tables:
        name = f"{table.database}.{table.name}"
        if name not in state.wanted or name not in state.metadata or name in state.read | other:
            continue
        readers: dict[str, Callable[[], pa.Table]] = {
            f"Iceberg, {read.__name__}": partial(_of_iceberg, read, state.metadata[name])
            for read in iceberg_readers.READERS}
        if snapshot.merges:
            readers["view, with_duckdb"] = partial(_of_view, snapshot, name)
        else:
            place = delta_readers.place(folder / "delta", table.database, table.name)
            readers |= {f"Delta, {read.__name__}": partial(read, place, state.delta[name])
                        for read in delta_readers.READERS}
            if state.with_spark:
                readers["files, with_spark"] = partial(
                    _with_spark, [f"{snapshot.root}/{file.path}" for file in table.files])
        for reader, read in readers.items():
            try:
                lines = read_differences(read(), *state.wanted[name])
            except Exception as error:
                lines = [f"it fails: {error!r}"]
            found += [f"{about}: {name}: {reader}: {line}" for line in lines]
    return found


def _is_misnamed(table: TableEntry, wanted: Wanted) -> bool:
    """Return whether a table has columns of other names than the server's, as on a replica: MySQL logs a CREATE TABLE …
    SELECT in UTF-8, as if the client had sent it (LIMITS)."""
    names = [name for name, _ in wanted.get(f"{table.database}.{table.name}", ([], None))[0]]
    has = [column.name for column in table.definition.shown.stored_columns]
    return len(names) == len(has) and names != has and all(
        name == own or not name.isascii() for name, own in zip(names, has, strict=True))


def _is_numbered(table: TableEntry) -> bool:
    """Return whether a table has a column that was added with the numbers of a sequence: a replica of MariaDB has other
    ones than its source (LIMITS)."""
    return any(re.fullmatch(r"s\d+c", column.name) or (column.default and "NEXT" in column.default.sql().upper())
               for column in table.definition.columns)


def _of_iceberg(read: Callable[[Table], pa.Table], metadata: str) -> pa.Table:
    return read(iceberg_readers.table_at(metadata))


def _of_view(snapshot: Snapshot, name: str) -> pa.Table:
    """Read a table by the view that `applier views` makes for DuckDB."""
    [view] = (view for view in of_snapshot(snapshot, EVERYTHING) if f"{view.database}.{view.name}" == name)
    connection = duckdb.connect()
    for statement in statements([view], DIALECTS["duckdb"], "duckdb"):
        connection.execute(statement)
    database, table = (part.replace('"', '""') for part in (view.database, view.name))
    columns = ", ".join(map(_column, view.columns))
    return connection.execute(f'SELECT {columns} FROM "{database}"."{table}"').to_arrow_table()


def _column(column: ViewColumn) -> str:
    """A column as files have it: TIME in microseconds."""
    name = '"' + column.name.replace('"', '""') + '"'
    return f"epoch_us({name}) AS {name}" if column.is_time else name


def _with_spark(paths: list[str]) -> pa.Table:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).config(
        "spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "1g").getOrCreate()
    return session.read.parquet(*paths).toArrow()
