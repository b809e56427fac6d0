"""Reads a Parquet file of rows into a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from applier.errors import SchemaError, UsageError
from applier.io.parquet_reading import open_parquet
from applier.io.resolver import resolve
from applier.jobs.importing.dump_tables import DumpTables
from applier.jobs.importing.parquet_values import NotTheColumns, parquet_values
from applier.jobs.importing.sql.inserts import FAIL

_BATCH_ROWS = 1 << 15


@dataclass(frozen=True)
class ParquetPart:
    """A file, and the table that its rows are of."""

    uri: str
    database: str
    table: str


def read_parquet(part: ParquetPart, tables: DumpTables, on_progress: Callable[[int], None]) -> int:
    """Read all rows of the file into its table, if that is imported; returns the bytes read. Columns are found by name;
    one that the file lacks takes its default, or is computed. Raises SchemaError and UsageError, naming the file."""
    if not tables.wanted(part.database, part.table):
        return 0
    filesystem, path = resolve(part.uri)
    try:
        with filesystem.open_input_file(path) as source:
            size, file = source.size(), open_parquet(source)
            columns = tables.columns(part.database, part.table, tuple(file.schema_arrow.names))
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                arrays = {}
                for number, values in zip(columns.numbers, batch.columns, strict=True):
                    column = columns.definition.columns[number]
                    if column.generated != "virtual":
                        try:
                            arrays[column.name] = parquet_values(values, column)
                        except NotTheColumns as error:
                            raise SchemaError(f"column {column.name} cannot hold the file's values: {error}",
                                              table=columns.definition.full_name) from None
                tables.take(columns.definition, columns.completed(arrays, batch.num_rows), FAIL)
                on_progress(source.tell())
            return int(size)
    except SchemaError as error:
        raise error.at(file=part.uri) from None
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"the file cannot be read: {error}", file=part.uri) from error
