"""Reads a file of rows for LOAD DATA into its table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from pyarrow import fs

from applier.errors import ApplierError, SchemaError, UsageError
from applier.io.resolver import below, resolve
from applier.jobs.importing.dump_tables import DumpTables, refused_literal
from applier.jobs.importing.sql import tuple_kernel
from applier.jobs.importing.sql.dump_text import DumpText
from applier.jobs.importing.sql.field_kernel import FIELDS, parse_fields
from applier.jobs.importing.sql.inserts import InsertColumns, InsertSpans, new_spans
from applier.jobs.importing.sql.load_data import RowsFile
from applier.jobs.importing.sql.spans import LiteralContext, LiteralError
from keysearch.addresses import address_of

BATCH_VALUES = 1 << 20
SUFFIXES = ("", ".zst", ".gz")


def found_beside(folder: str, name: str) -> str:
    """Return the file that a LOAD DATA in a file of `folder` names, which may have been compressed since. Raises
    UsageError if it lies elsewhere."""
    for suffix in SUFFIXES:
        found = below(folder, name + suffix)
        filesystem, path = resolve(found)
        if filesystem.get_file_info(path).type == fs.FileType.File:
            return found
    raise UsageError(f"the dump's file {name} is missing", file=folder)


def read_rows(rows: RowsFile, uri: str, tables: DumpTables, reading: LiteralContext,
              on_progress: Callable[[int], None], *, with_history: bool = False) -> int:
    """Read all rows of the file at `uri` into its table, if that is imported; returns the bytes of the file.
    `with_history` as in `DumpTables.columns`. Raises ApplierError, naming file and line."""
    if not tables.wanted(rows.database, rows.table):
        return 0
    names = tables.names(rows.database, rows.table) if rows.is_whole else rows.columns
    columns = tables.columns(rows.database, rows.table, names, with_history=with_history)
    reading = dataclasses.replace(reading, charset=rows.charset)
    with DumpText(uri, guard=b"") as text:
        try:
            _read(text, rows, columns, tables, reading, on_progress)
        except ApplierError as error:
            raise error.at(file=text.source_line(text.at), table=columns.definition.full_name) from None
        return text.bytes_read


def _read(text: DumpText, rows: RowsFile, columns: InsertColumns, tables: DumpTables, reading: LiteralContext,
          on_progress: Callable[[int], None]) -> None:
    spans, out = new_spans(len(columns), BATCH_VALUES), np.zeros(2, np.int64)
    names = [columns.definition.columns[number].name for number in columns.numbers]
    coded, record = rows.kinds(names), spans.record()
    fields = np.array((*rows.lines.for_kernel(), address_of(coded)), FIELDS)
    _pass_over(text, rows.lines.passed_over, rows.lines.lines_end.encode())
    while True:
        spans.seen[:] = 0
        code = parse_fields(text.address, text.at, text.end, address_of(fields), address_of(record), out)
        if out[0]:
            _add(text, columns, spans, int(out[0]), tables, reading, rows.on_duplicate)
        text.at = int(out[1])
        on_progress(text.bytes_read)
        if code == tuple_kernel.Status.WRONG_COUNT:
            raise SchemaError(f"a line does not have {len(columns)} fields, as many as the table has columns",
                              errno=1261)
        if code == tuple_kernel.Status.NEEDS_MORE and not text.more():
            if text.at < text.end:
                raise UsageError("the file ends within a line", hint="is it complete?")
            return


def _add(text: DumpText, columns: InsertColumns, spans: InsertSpans, n_rows: int, tables: DumpTables,
         reading: LiteralContext, on_duplicate: int) -> None:
    try:
        tables.add(columns, spans, n_rows, text.data, reading, on_duplicate)
    except LiteralError as error:
        text.at = int(spans.starts[error.index, error.row])
        raise refused_literal(error, columns) from None


def _pass_over(text: DumpText, lines: int, ending: bytes) -> None:
    """IGNORE n LINES."""
    while lines and ending:
        data = text.text(text.end)
        at = 0
        while lines and (found := data.find(ending, at)) >= 0:
            at, lines = found + len(ending), lines - 1
        text.at += at
        if lines and not text.more():
            return
