"""The job: write the changes of tables to files, one file per table, or to stdout.

    DIR/DB/TABLE/changes.jsonl     or .csv, .parquet, .arrows (a stream of Arrow's)
    DIR/_changes.json              which file has which table's changes, written last

On stdout, the lines of several tables are merged in log order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from pyarrow import fs

from applier.engine import compiling
from applier.errors import UsageError
from applier.io.progress import Progress, Silent
from applier.io.resolver import join, resolve
from applier.jobs.change_files.debezium import DebeziumLines
from applier.jobs.change_files.described import MANIFEST
from applier.jobs.change_files.lines import JsonLines, Lines
from applier.jobs.change_files.tables import row_file
from applier.jobs.changes.follow.following import Batch
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangeFilesOptions
from applier.schema.ddl.schema_changes import TableName
from applier.snapshot.publish import begin
from applier.version import __version__


class _Source:
    """The lines of a table that are next."""

    def __init__(self, lines: Iterator[Lines]) -> None:
        self._lines = lines
        self._at = 0
        self._next: Lines | None = None

    def last(self) -> int | None:
        """Return the number of the last remaining line's event group in log order; None if no line is left."""
        while self._next is None or self._at == len(self._next.ends):
            self._next, self._at = next(self._lines, None), 0
            if self._next is None:
                return None
        return int(self._next.order[-1])

    def up_to(self, order: int) -> tuple[np.ndarray, pa.Array] | None:
        """Return the log order and the texts of the lines up to a number; None if there is none. Call `last` first."""
        if self._next is None:
            return None
        stop = int(np.searchsorted(self._next.order, order, side="right"))
        if stop <= self._at:
            return None
        ends = self._next.ends
        offsets = np.concatenate([[0 if self._at == 0 else ends[self._at - 1]], ends[self._at:stop]])
        texts = pa.Array.from_buffers(pa.large_binary(), stop - self._at,
                                      [None, pa.py_buffer(offsets), pa.py_buffer(self._next.text)])
        found = self._next.order[self._at:stop], texts
        self._at = stop
        return found


def in_order(tables: Sequence[Iterable[Lines]]) -> Iterator[memoryview]:
    """Yield the texts of the lines of all tables, in log order; those of one event group in the order of the tables."""
    sources = [_Source(iter(lines)) for lines in tables]
    while lasts := [last for last in [source.last() for source in sources] if last is not None]:
        parts = [part for part in [source.up_to(min(lasts)) for source in sources] if part is not None]
        texts = pa.concat_arrays([part[1] for part in parts])
        if len(parts) > 1:
            texts = texts.take(pa.array(np.argsort(np.concatenate([part[0] for part in parts]), kind="stable")))
        _, offsets, data = texts.buffers()
        first, last = np.frombuffer(offsets, np.int64)[[texts.offset, texts.offset + len(texts)]]
        yield memoryview(data)[int(first):int(last)]


STDOUT = "-"
_AS_LINES = ("json", "debezium")
_ENDINGS = {"json": "jsonl", "debezium": "jsonl", "csv": "csv", "parquet": "parquet", "arrow": "arrows"}


@dataclass(frozen=True)
class Written:
    """The result: rows or lines by table, and notes for the user."""

    rows: dict[TableName, int]
    notes: tuple[str, ...]


class _Counted:
    """A table's feed, and how much of it was written."""

    def __init__(self, log: ChangeLog, table: TableName, options: ChangeFilesOptions) -> None:
        feed = log.feed(table, options.columns, options.keys)
        if options.statements:
            feed = feed.with_statements()
        self.table, self.feed = table, feed
        self.rows = 0
        self._format, self._of_keys = options.format, feed.notes[len(log.notes):]
        self._spreadsheet_safe = options.spreadsheet_safe
        known = table, self.feed.columns, self.feed.key, self.feed.order
        self._lines = JsonLines(*known) if options.format == "json" else DebeziumLines(
            *known, log.flavour, f"applier {__version__}")

    def lines(self) -> Iterator[Lines]:
        """As lines of JSON."""
        for batch in self.feed.batches():
            for lines in self._lines.lines(batch):
                self.rows += len(lines.ends)
                yield lines

    def write(self, sink: Any) -> None:
        """All of it, as a file in a stream."""
        if self._format in _AS_LINES:
            for lines in self.lines():
                sink.write(lines.text.data)
            return
        with row_file(self._format, sink, self.feed.schema, self.feed.columns, self.table,
                      spreadsheet_safe=self._spreadsheet_safe) as file:
            for batch in self.feed.batches():
                file.add(batch)
                self.rows += batch.num_rows

    def notes(self) -> list[str]:
        """Return notes about changes that the output does not contain."""
        notes, left_out = [*self._of_keys], getattr(self._lines, "left_out", 0)
        if left_out:
            notes.append(f"{'.'.join(self.table)}: {left_out} ALTER that converted values, of which Debezium's format "
                         "has no event")
        return notes


def write_changes(options: ChangeFilesOptions, stdout: Any, progress: Progress | None = None) -> Written:
    """Write the changes; `stdout` is a binary stream for "-". Raises ApplierError as `applier.changes` does; a
    directory is then not created, and the output on stdout is correct so far. The result has the notes of the log only
    if no watcher got them."""
    watch = progress or Silent()
    compiling.ensure("change files", watch)
    log = ChangeLog(options.changes, watch, filter=options.filter)
    names = log.tables(options.filter)
    notes = list(log.notes) if progress is None else []
    notes += [f"--tables {entry}: no change is of such a table" for entry in options.filter.without_match(names)]
    if options.output == STDOUT and options.format not in _AS_LINES and len(names) > 1:
        raise UsageError(f"{len(names)} tables have changes, but a {options.format} file holds only one table",
                         hint="choose one with --tables, or name a directory in --output")
    tables = _written(log, names, options, stdout, watch)
    notes += [note for table in tables for note in table.notes()]
    return Written({table.table: table.rows for table in tables}, tuple(notes))


def write_followed(options: ChangeFilesOptions, batch: Batch, stdout: Any) -> Written:
    """Write the changes of a batch, and acknowledge it: as lines to stdout, or to a directory of its own below the
    output. If that exists already, a run wrote the batch and ended before it could note it."""
    if options.output != STDOUT:
        options = replace(options, output=join(options.output, f"{batch.number:010}"))
    if options.output == STDOUT or not _is_there(options.output):
        tables = _written(batch.log, batch.tables, options, stdout, Silent())
    else:
        tables = []
    batch.acknowledge()
    return Written({table.table: table.rows for table in tables}, tuple(note for one in tables for note in one.notes()))


def _is_there(output: str) -> bool:
    filesystem, path = resolve(f"{output}/{MANIFEST}")
    return bool(filesystem.get_file_info(path).type == fs.FileType.File)


def _written(log: ChangeLog, names: Sequence[TableName], options: ChangeFilesOptions, stdout: Any,
             progress: Progress) -> list[_Counted]:
    tables = [_Counted(log, name, options) for name in names]
    if options.output == STDOUT:
        _write_out(tables, options.format, stdout)
    else:
        _write_files(tables, options, progress)
    return tables


def _write_out(tables: list[_Counted], format: str, stdout: Any) -> None:
    if format not in _AS_LINES:
        for table in tables:
            table.write(stdout)
    else:
        for text in in_order([table.lines() for table in tables]):
            stdout.write(text)
    stdout.flush()


def _write_files(tables: list[_Counted], options: ChangeFilesOptions, progress: Progress) -> None:
    with begin(options.output) as staging:
        progress.phase("changes", len(tables), "tables")
        files = {}
        for done, table in enumerate(tables):
            target = staging.target(*table.table)
            filesystem, root = resolve(target.root)
            path = f"{target.folder}/changes.{_ENDINGS[options.format]}"
            with filesystem.open_output_stream(f"{root}/{path}", compression=None) as sink:
                table.write(sink)
            files[path] = table
            progress.update(done + 1, table.rows)
        listing = {"format": options.format, "tables": [
            {"table": ".".join(table.table), "file": path, "rows": table.rows, "key": list(table.feed.key)}
            for path, table in files.items()]}
        staging.commit_files(files, {}, MANIFEST,
                             orjson.dumps(listing, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
