"""Compares a range of a table's rows, which lie in files of two sides; what differs goes into a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa

from applier.jobs.diff import merging, multisets
from applier.jobs.diff.columns import AFTER, SharedColumns
from applier.jobs.diff.files import Range
from applier.jobs.diff.merging import Chunk
from applier.jobs.diff.rows import Differences, Found
from applier.schema.definition import TableDefinition
from applier.snapshot.file_entries import FileEntry
from applier.snapshot.reader import read_batches
from applier.snapshot.table_entry import TableEntry
from keysearch.keybytes import int_key
from keysearch.keyrules import encode_by_rules

_SPILLED = pa.ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=False, unify_dictionaries=True)


@dataclass(frozen=True)
class Side:
    """A table in one of the snapshots."""

    number: int
    uri: str
    entry: TableEntry
    definition: TableDefinition
    columns: SharedColumns

    def chunks(self, files: Sequence[FileEntry]) -> Iterator[Chunk]:
        """The rows of these files with their keys."""
        for file in files:
            for batch in read_batches(self.uri, file, self.definition):
                yield Chunk(self.keys(batch), self.columns.rows(self.number, batch))

    def rows(self, files: Sequence[FileEntry]) -> Iterator[pa.RecordBatch]:
        """The rows of these files."""
        for file in files:
            for batch in read_batches(self.uri, file, self.definition):
                yield self.columns.rows(self.number, batch)

    def keys(self, batch: pa.RecordBatch) -> pa.Array:
        """The keys of rows, in the order of the table's files."""
        values = [batch.column(batch.schema.get_field_index(name)) for name in self.entry.key]
        if self.entry.key_kind == "int":
            return pa.array(int_key(values[0]))
        return encode_by_rules(values, self.entry.key_rules).to_arrow()


@dataclass(frozen=True)
class Task:
    """Files of both sides to compare, and the file for what differs."""

    sides: tuple[Side, Side]
    files: Range
    by_key: bool
    differences: Differences
    target: Path


@dataclass(frozen=True)
class Done:
    """What a task has found: how much, and where the rows are."""

    added: int
    removed: int
    changed: int
    rows: Path | None


def compare(task: Task) -> Done:
    """Compare a range of keys."""
    found = _by_key(task) if task.by_key else _as_multisets(task)
    first = next(found, None)
    if first is None:
        return Done(0, 0, 0, None)
    added = removed = changed = 0
    with pa.OSFile(str(task.target), "wb") as sink, \
            pa.ipc.new_stream(sink, task.differences.schema, options=_SPILLED) as writer:
        for one in chain([first], found):
            writer.write_batch(one.batch)
            added, removed, changed = added + one.added, removed + one.removed, changed + one.changed
    return Done(added, removed, changed, task.target)


def _by_key(task: Task) -> Iterator[Found]:
    chunks = [side.chunks(files) for side, files in zip(task.sides, task.files.sides, strict=True)]
    for before, after in merging.pairs(*chunks):
        if (found := merging.compare(before, after, task.differences)) is not None:
            yield found


def _as_multisets(task: Task) -> Iterator[Found]:
    left, right = (side.rows(files) for side, files in zip(task.sides, task.files.sides, strict=True))
    parts = multisets.parts_of(sum(file.bytes for files in task.files.sides for file in files))
    folder = task.target.with_name(f"{task.target.name}.parts")
    folder.mkdir()
    return multisets.compare((left, right), task.sides[AFTER].columns.schema, parts, folder, task.differences)
