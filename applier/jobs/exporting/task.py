"""Writes one file of a snapshot as one file of text: the work of a task."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from applier.columns.conditions import are_true
from applier.io.resolver import resolve
from applier.jobs.exporting import statements
from applier.jobs.exporting.cells import cells_of, has_no_member, rows_text
from applier.schema.definition import TableDefinition
from applier.snapshot import attempts
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.reader import columns_with_bytes, read_batches
from applier.snapshot.writer import TableTarget


@dataclass(frozen=True)
class ExportTask:
    """`file` is a file of the snapshot at a uri, `target` the name of the file to write into the directory `folder`, in
    a `format` ("sql" or "tsv"); `replaces` and `where` as in ExportOptions."""

    snapshot: str
    file: FileEntry
    definition: TableDefinition
    folder: TableTarget
    target: str
    format: str
    replaces: bool = False
    where: str | None = None


@dataclass(frozen=True)
class Exported:
    """The file that a task wrote, the path at which it is until the driver moves it to its own, and, of a TSV file, the
    statements that load it."""

    target: str
    written_at: str
    rows: int
    bytes: int
    load: str


def export_file(task: ExportTask) -> Exported:
    """Write one file. Raises SnapshotError for a file that is missing, damaged, or not as its manifest says."""
    filesystem, root = resolve(task.folder.root)
    written_at = attempts.written_at(uuid.uuid4().hex) if task.folder.late_attempts else task.target
    with filesystem.open_output_stream(f"{root}/{written_at}", compression=None) as sink:
        writer = _Writer(task, sink)
        for batch in read_batches(task.snapshot, task.file, task.definition):
            writer.add(batch)
        size = sink.tell()
    return Exported(task.target, written_at, writer.rows, size, writer.load_statements())


class _Writer:
    """Writes batches of a table's rows to a stream."""

    def __init__(self, task: ExportTask, sink: Any) -> None:
        self._task, self._sink, self._sql = task, sink, task.format == "sql"
        self._columns = statements.loaded_columns(task.definition)
        self._head = np.frombuffer(statements.insert_head(task.definition, replaces=task.replaces), np.uint8)
        self._modes: list[int] = []
        self._by_bytes = columns_with_bytes(task.snapshot, task.file, task.definition)
        self._lenient = False
        self.rows = 0
        if self._sql:
            sink.write(statements.session(task.definition).encode())

    def add(self, batch: pa.RecordBatch) -> None:
        """Write the batch's rows, or those that are chosen."""
        if self._task.where is not None:
            rows = pa.Table.from_batches([batch])
            batch = batch.filter(pa.array(are_true(self._task.definition, rows, self._task.where)))
            if not batch.num_rows:
                return
        values = [batch.column(column.name) for column in self._columns]
        lenient = any(map(has_no_member, self._columns, values))
        cells = [cells_of(column, array, by_bytes=None if self._sql else column.name in self._by_bytes)
                 for column, array in zip(self._columns, values, strict=True)]
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
        """Return the statements that load a TSV file; empty for an SQL file, or one without rows."""
        if self._sql or not self.rows:
            return ""
        return statements.load_data(self._task.definition, self._task.target, self._modes, self._lenient,
                                    replaces=self._task.replaces)
