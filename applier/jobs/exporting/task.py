"""Writes one file of a snapshot as one file of text: the work of a task."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from applier.io.resolver import resolve
from applier.jobs.exporting import statements
from applier.jobs.exporting.cells import Cells, cells_of, has_no_member
from applier.jobs.exporting.text_kernel import CELL_BYTES, CELLS, ROW_BYTES, write_rows
from applier.schema.definition import TableDefinition, table_schema
from applier.snapshot.checks import check_columns, reading
from applier.snapshot.date_marks import MarkedDates, for_nulls
from applier.snapshot.file_entries import FileEntry
from applier.snapshot.reader import open_whole
from keysearch.addresses import address_of

STATEMENT_BYTES = 1 << 20
"""An INSERT that has reached this size is ended: servers accept statements of 16 MB and more."""
BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 15


@dataclass(frozen=True)
class ExportTask:
    """`file` is a file of the snapshot at a uri, `target` the file to write in `root`, "sql" or "tsv"."""

    snapshot: str
    file: FileEntry
    definition: TableDefinition
    root: str
    target: str
    format: str


@dataclass(frozen=True)
class Exported:
    """What a task wrote, and, of a TSV file, the statements that load it."""

    target: str
    rows: int
    bytes: int
    load: str


def export_file(task: ExportTask) -> Exported:
    """Write one file. Raises SnapshotError for a file that is missing, damaged, or not as its manifest says."""
    filesystem, root = resolve(task.root)
    attempt = f"{root}/{task.target}.{uuid.uuid4().hex}"
    with filesystem.open_output_stream(attempt, compression=None) as sink:
        writer = _Writer(task, sink)
        for batch in _batches(task):
            writer.add(batch)
        size = sink.tell()
    filesystem.move(attempt, f"{root}/{task.target}")
    return Exported(task.target, writer.rows, size, writer.load_statements())


def _batches(task: ExportTask) -> Any:
    """The rows in batches of bounded size."""
    filesystem, root = resolve(task.snapshot)
    path = f"{root}/{task.file.path}"
    with reading(path):
        file = open_whole(filesystem, path, task.file)
        check_columns(file.schema_arrow, table_schema(task.definition), path)
        marked, first = MarkedDates(file.metadata.metadata, path), 0
        for group in range(file.num_row_groups):
            of_group = file.metadata.row_group(group)
            most = max(1, min(_BATCH_ROWS, of_group.num_rows * BATCH_BYTES // max(1, of_group.total_byte_size)))
            for batch in file.iter_batches(batch_size=most, row_groups=[group], use_threads=False):
                rows = marked.put_into(pa.Table.from_batches([batch]), first)
                [whole] = for_nulls(rows, task.definition).to_batches()
                first += batch.num_rows
                yield whole


class _Writer:
    """Writes batches of a table's rows to a stream."""

    def __init__(self, task: ExportTask, sink: Any) -> None:
        self._task, self._sink, self._sql = task, sink, task.format == "sql"
        self._columns = statements.loaded_columns(task.definition)
        self._head = np.frombuffer(statements.insert_head(task.definition), np.uint8)
        self._modes: list[int] = []
        self._lenient = False
        self.rows = 0
        if self._sql:
            sink.write(statements.session(task.definition).encode())

    def add(self, batch: pa.RecordBatch) -> None:
        """Write the batch's rows."""
        values = [batch.column(column.name) for column in self._columns]
        lenient = any(map(has_no_member, self._columns, values))
        cells = [cells_of(column, array) for column, array in zip(self._columns, values, strict=True)]
        text = rows_text(cells, batch.num_rows, self._sql, self._head)
        if self._sql and lenient:
            self._sink.write(f"SET sql_mode = '{statements.LENIENT}';\n".encode())
        self._sink.write(text)
        if self._sql and lenient:
            self._sink.write(f"SET sql_mode = '{statements.STRICT}';\n".encode())
        self._modes = [column.mode for column in cells]
        self._lenient |= lenient
        self.rows += batch.num_rows

    def load_statements(self) -> str:
        """The statements that load a TSV file; empty for an SQL file, or one without rows."""
        if self._sql or not self.rows:
            return ""
        return statements.load_data(self._task.definition, self._task.target, self._modes, self._lenient)


def rows_text(cells: list[Cells], rows: int, sql: bool, head: np.ndarray) -> memoryview:
    """Rows as the kernel writes them."""
    offsets = np.array([column.offsets for column in cells], np.int64).reshape(len(cells), rows + 1)
    nulls = np.array([column.nulls for column in cells], np.uint8).reshape(len(cells), rows)
    addresses = np.array([address_of(column.data) for column in cells], np.int64)
    modes = np.array([column.mode for column in cells], np.uint8)
    size = 2 * sum(len(column.data) for column in cells) + rows * (CELL_BYTES * len(cells) + ROW_BYTES)
    size += 2 * (size // STATEMENT_BYTES + 1) * len(head)  # heads fill statements, too, a third at most
    out = np.empty(size, np.uint8)
    record = np.array((len(cells), rows, *map(address_of, (addresses, offsets, nulls, modes))), CELLS)
    written = write_rows(address_of(record), sql, address_of(head), len(head), STATEMENT_BYTES, address_of(out))
    return out.data[:written]
