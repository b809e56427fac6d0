"""Reads a Parquet file of rows into a table.

Columns are cast to the snapshot's types if that is lossless, and checked as the server's type would. Values that a
server would truncate, round or refuse are refused here: the files must be exactly the table's content."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import SchemaError, UsageError
from applier.io.parquet_reading import open_parquet
from applier.io.resolver import resolve
from applier.jobs.importing.dump_tables import DumpTables
from applier.jobs.importing.sql.inserts import FAIL
from applier.mysql.types import BINARY, FRACTIONAL, MEMBERS, ColumnType, arrow_type
from applier.mysql.values.byte_columns import fixed_bytes
from applier.mysql.values.zero_dates import zero
from applier.schema.table_parts import Column
from jsondiff.normalize import normalize
from jsondiff.values import DocumentError

_MOST_SPAN = ((838 * 60 + 59) * 60 + 59) * 1_000_000 + 999_999
_DATES = {"date": (datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
            "datetime": (datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)),
            "timestamp": (datetime.datetime(1970, 1, 1, 0, 0, 1), datetime.datetime(2106, 2, 7, 6, 28, 15, 999999))}


class NotTheColumns(Exception):
    """The column cannot hold the values; the message says why."""


def parquet_values(values: pa.Array, column: Column) -> pa.Array:
    """Return values as `arrow_type(column.type)`. Raises NotTheColumns."""
    wanted, base = arrow_type(column.type), column.type.base
    if values.null_count and not column.nullable:
        if base not in _DATES:
            raise NotTheColumns("NULL, and the column is NOT NULL")
        return parquet_values(values, replace(column, nullable=True)).fill_null(zero(wanted))  # another cause
    try:
        cast = _cast(values, wanted)
    except (pa.ArrowException, ValueError) as error:
        raise NotTheColumns(str(error).partition("\n")[0]) from None
    if len(cast) == cast.null_count:
        return cast
    _check_range(cast, column.type)
    if base in MEMBERS:
        _check_labels(cast, column.type)
    elif pa.types.is_string(wanted) and column.type.length is not None:
        _check_most(pc.utf8_length(cast), column.type.length, "characters")
    elif base in BINARY and column.type.length is not None:
        _check_most(pc.binary_length(cast), column.type.length, "bytes")
    if base == "char":
        return pc.ascii_rtrim(cast, characters=" ")
    if base == "binary":
        width = 1 if column.type.length is None else column.type.length
        buffers = [cast.is_valid().buffers()[1] if cast.null_count else None,
                   pa.py_buffer(fixed_bytes(cast, width).reshape(-1))]
        return pa.Array.from_buffers(pa.binary(width), len(cast), buffers).cast(pa.binary())
    if base == "json":
        try:
            return normalize(cast)
        except DocumentError as error:
            raise NotTheColumns(f"no JSON document: {error.what}") from None
    return cast


def _cast(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Check a cast: the same values, or an error."""
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    if values.type == wanted:
        return values
    text_to_other = (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)) \
        and not pa.types.is_string(wanted)
    other_to_text = pa.types.is_string(wanted) and not (
        pa.types.is_string(values.type) or pa.types.is_large_string(values.type) or pa.types.is_null(values.type))
    if text_to_other or other_to_text:
        raise NotTheColumns(f"the file has {values.type}, the column is {wanted}")
    if pa.types.is_duration(wanted) and pa.types.is_time(values.type):
        return values.cast(pa.time64("us")).cast(pa.int64()).cast(wanted)
    if pa.types.is_duration(wanted) and values.type != pa.int64() and not pa.types.is_duration(values.type):
        raise NotTheColumns(f"the file has {values.type}, the column is TIME: int64, of microseconds, is taken, too")
    cast = values.cast(wanted)
    if pa.types.is_floating(values.type) and not pc.all(pc.fill_null(pc.equal(cast.cast(values.type), values), True)
                                                        ).as_py():
        raise NotTheColumns(f"numbers of {values.type} that {wanted} would round")
    return cast


def _check_range(values: pa.Array, column_type: ColumnType) -> None:
    limits = _limits(column_type)
    if limits is not None:
        least, most = limits
        compared = {"timestamp": pa.timestamp("us"), "time": pa.int64()}.get(column_type.base, values.type)
        found = pc.min_max(values.cast(compared)).as_py()
        low, high = found["min"], found["max"]
        if low < least or high > most:
            raise NotTheColumns(f"{low if low < least else high} is out of its range")
    if column_type.base in ("decimal", "float", "double") and column_type.unsigned \
            and not pa.types.is_string(values.type) and pc.min(values).as_py() < 0:
        raise NotTheColumns("a number below 0, and the column is UNSIGNED")
    if column_type.base in FRACTIONAL and column_type.fsp < 6:
        micros = values.cast(pa.int64()).fill_null(0).to_numpy()
        if np.any(micros % 10 ** (6 - column_type.fsp)):
            raise NotTheColumns(f"more than {column_type.fsp} digits of a second")


def _limits(column_type: ColumnType) -> tuple[Any, Any] | None:
    """Return the smallest and the largest value of a column."""
    base = column_type.base
    if bits := column_type.entry.bits:
        return (0, 2 ** bits - 1) if column_type.unsigned else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
    if base == "bit":
        return 0, 2 ** (column_type.length or 1) - 1
    if base == "year":
        return 0, 2155
    return (-_MOST_SPAN, _MOST_SPAN) if base == "time" else _DATES.get(base)


def _check_labels(values: pa.Array, column_type: ColumnType) -> None:
    members = set(column_type.members)
    for value in pc.unique(values).to_pylist():
        labels = [] if not value else value.split(",") if column_type.base == "set" else [value]
        if value is not None and not members.issuperset(labels):
            raise NotTheColumns(f"{value!r} is not one of its labels")


def _check_most(lengths: pa.Array, most: int, what: str) -> None:
    longest = pc.max(lengths).as_py()
    if longest > most:
        raise NotTheColumns(f"a value of {longest} {what}; at most {most} are allowed")


_BATCH_ROWS = 1 << 15


@dataclass(frozen=True)
class ParquetPart:
    """A file, and the table that its rows are of."""

    uri: str
    database: str
    table: str


def read_parquet(part: ParquetPart, tables: DumpTables, on_progress: Callable[[int], None]) -> int:
    """Read all rows of the file into its table, if that is imported; returns the bytes read. Columns are found by name;
    a column that the file does not have takes its default, or is computed. Raises SchemaError and UsageError, naming
    the file."""
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
