"""Compares a range of a table's rows in the files of two sides; the differences go into a file.

Files that both versions share are not read: they have the same rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from applier.jobs.diff import merging, multisets
from applier.jobs.diff.columns import AFTER, SharedColumns
from applier.jobs.diff.merging import Chunk
from applier.jobs.diff.rows import Differences, Found
from applier.schema.definition import TableDefinition
from applier.snapshot.files import location
from applier.snapshot.files.digest import can_check
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.reader import read_batches
from applier.snapshot.table_entry import TableEntry
from keysearch.keybytes import int_key
from keysearch.keyrules import encode_by_rules

Files = Sequence[FileEntry]


@dataclass(frozen=True)
class Range:
    """Files of both sides whose keys lie in one range, in ascending order; no other file has keys in it."""

    sides: tuple[tuple[FileEntry, ...], tuple[FileEntry, ...]]


def different(uris: tuple[str, str], sides: tuple[Files, Files]) -> tuple[list[FileEntry], list[FileEntry]]:
    """Return the files of the two sides that have rows, without those that both have: by their digests, or, where an
    older program wrote none, as links to one file."""
    named = [[(_identity(uri, file), file) for file in files if file.rows]
             for uri, files in zip(uris, sides, strict=True)]
    both = Counter(name for name, _ in named[0]) & Counter(name for name, _ in named[1])
    left: list[list[FileEntry]] = []
    for side in named:
        pairs, kept = both.copy(), []
        for name, file in side:
            if pairs[name] > 0:
                pairs[name] -= 1
            else:
                kept.append(file)
        left.append(kept)
    return left[0], left[1]


def ranges(sides: tuple[Files, Files]) -> list[Range]:
    """Return the files in ranges of keys that do not overlap, ascending; as many as there are."""
    found: list[tuple[list[FileEntry], list[FileEntry]]] = []
    high: Any = None
    by_side = [(number, file) for number, files in enumerate(sides) for file in files]
    for side, file in sorted(by_side, key=lambda one: _low(one[1])):
        if high is None or _low(file) > high:
            found.append(([], []))
        found[-1][side].append(file)
        high = file.max_key if high is None else max(high, file.max_key)
    return [Range((tuple(before), tuple(after))) for before, after in found]


def _low(file: FileEntry) -> Any:
    return file.min_key


def _identity(uri: str, file: FileEntry) -> object:
    """Return a value that files have in common only if their rows are the same: their bytes are, or, where changes are
    merged with them, the version of one lake that has changed them last."""
    if file.changed is not None:
        return uri, file.path, file.changed
    if can_check(file.digest):
        return file.digest, file.bytes, file.rows, file.min_key, file.max_key
    filesystem, root = location.resolve(uri)
    path = f"{root}/{file.path}"
    if location.is_local(filesystem):
        try:
            found = os.stat(path)
        except OSError:
            return uri, path  # its reader reports the error
        return found.st_dev, found.st_ino
    return filesystem.type_name, path


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
        """Yield the rows of these files with their keys."""
        for file in files:
            for batch in read_batches(self.uri, file, self.definition):
                yield Chunk(self.keys(batch), self.columns.rows(self.number, batch))

    def rows(self, files: Sequence[FileEntry]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of these files."""
        for file in files:
            for batch in read_batches(self.uri, file, self.definition):
                yield self.columns.rows(self.number, batch)

    def keys(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the keys of rows, in the order of the table's files."""
        values = [batch.column(batch.schema.get_field_index(name)) for name in self.entry.key]
        if self.entry.key_kind == "int":
            return pa.array(int_key(values[0]))
        return encode_by_rules(values, self.entry.key_rules).to_arrow()


@dataclass(frozen=True)
class Task:
    """Files of both sides to compare, and the file for the differences."""

    sides: tuple[Side, Side]
    files: Range
    by_key: bool
    differences: Differences
    target: Path


@dataclass(frozen=True)
class Done:
    """The result of a task: how much, and where the rows are."""

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
