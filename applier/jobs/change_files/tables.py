"""A table's changes as rows of a file: CSV, Parquet, a stream of Arrow. The rows are the feed's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from applier.jobs.change_files.described import DescribedTable
from applier.jobs.change_files.dividing import divided
from applier.jobs.change_files.values import AS_JSON, datetime_texts, texts_of
from applier.jobs.changes.row_statements import STATEMENT
from applier.jobs.json_lines.steps import PLAIN
from applier.schema.ddl.schema_changes import TableName
from applier.schema.table_parts import Column

_TIME = pa.duration("us")
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
"""The first characters of a cell that a spreadsheet treats as a formula (OWASP, "CSV Injection")."""
_NUMBER = r"^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$"


class RowFile:
    """A file of a feed's rows in a stream that it does not close. A context manager, which ends the file."""

    def __init__(self, sink: Any, schema: pa.Schema, convert: Callable[[pa.RecordBatch], Iterable[pa.RecordBatch]],
                 open_writer: Callable[[Any, pa.Schema], Any]) -> None:
        self._convert = convert
        [empty] = convert(pa.RecordBatch.from_pylist([], schema))
        self._writer = open_writer(sink, empty.schema)

    def __enter__(self) -> RowFile:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        if kind is None:
            self._writer.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Write a batch of the feed."""
        for part in self._convert(batch):
            self._writer.write_batch(part)


def row_file(format: str, sink: Any, schema: pa.Schema, columns: Mapping[str, Column], table: TableName, *,
             spreadsheet_safe: bool = False) -> RowFile:
    """Return a file of a format, "csv", "parquet" or "arrow", for a feed of this schema and these columns of a
    table."""
    if format == "csv":
        made = _without_formulas if spreadsheet_safe else lambda batch: batch
        return RowFile(sink, schema, lambda batch: (made(_as_texts(part, columns)) for part in divided(batch)),
                       lambda sink, schema: csv.CSVWriter(sink, schema))
    if format == "parquet":
        described = DescribedTable.of(table, columns)
        return RowFile(sink, schema, lambda batch: [_for_parquet(batch)],
                       lambda sink, schema: _parquet_writer(sink, schema, described))
    return RowFile(sink, schema, lambda batch: [batch], pa.ipc.new_stream)


def _parquet_writer(sink: Any, schema: pa.Schema, described: DescribedTable) -> pq.ParquetWriter:
    # some readers refuse a footer with Arrow's types besides Parquet's
    writer = pq.ParquetWriter(sink, schema, compression="zstd", store_schema=False)
    writer.add_key_value_metadata(described.metadata())
    return writer


def _without_formulas(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Put a quote before texts and names of columns that a spreadsheet would run as formulas. Numbers are none."""
    names = _quoted(pa.array(batch.schema.names, pa.string())).to_pylist()
    return pa.RecordBatch.from_arrays([_quoted(values) for values in batch.columns], names)


def _quoted(values: pa.Array) -> pa.Array:
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values
    is_formula = pc.and_not(pc.match_substring_regex(values, _FORMULA), pc.match_substring_regex(values, _NUMBER))
    return pc.if_else(is_formula, pc.binary_join_element_wise("'", values, ""), values)


def _as_texts(batch: pa.RecordBatch, columns: Mapping[str, Column]) -> pa.RecordBatch:
    """Return values as in JSON and numbers unchanged: all other values get quotes, and null is empty, without
    quotes."""
    made = []
    for field, values in zip(batch.schema, batch.columns, strict=True):
        if field.name in columns:
            mode, texts = texts_of(values, columns[field.name].type, AS_JSON)
            made.append(values if mode == PLAIN and _is_number(field.type) else texts)
        elif pa.types.is_timestamp(field.type):
            made.append(datetime_texts(values, "s"))
        elif pa.types.is_list(field.type):
            made.append(pc.binary_join(values, ","))
        else:
            made.append(values.cast(pa.string()) if pa.types.is_dictionary(field.type) else values)
    return pa.RecordBatch.from_arrays(made, batch.schema.names)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind)
                or (pa.types.is_decimal(kind) and kind.scale <= 6))


def _for_parquet(batch: pa.RecordBatch) -> pa.RecordBatch:
    """As a snapshot's files have it: TIME is a number of microseconds. Of statements a dictionary is written, with each
    text once."""
    made = [values.cast(pa.int64()) if values.type == _TIME else
            values.cast(pa.string()) if pa.types.is_dictionary(values.type) and name != STATEMENT.name else values
            for name, values in zip(batch.schema.names, batch.columns, strict=True)]
    return pa.RecordBatch.from_arrays(made, batch.schema.names)
