"""The change data of a commit: the rows that differ from the previous publication, in separate files, in the format of
Delta's change data feed.

It is the net change, since readers of Delta see only commits: a row that was updated twice is one update; one
that was inserted and deleted again is none. The rows of removed and added files are compared as `applier diff`
does: by key, or as multisets if there is no key or the rows of removed files are not in key order.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.engine import compiling
from applier.engine.threads import map_on_threads
from applier.errors import UsageError
from applier.io.disk import new_files
from applier.io.resolver import join
from applier.jobs.diff.columns import AFTER, BEFORE, SharedColumns
from applier.jobs.diff.comparing import Range, Side, Task, compare, ranges
from applier.jobs.diff.rows import OF_DIFFERENCES, Differences
from applier.jobs.publish.delta.storage import Storage
from applier.mysql.reader_values import as_shown
from applier.schema.definition import TableDefinition, table_schema
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.stored_columns import StoredColumns
from applier.snapshot.reader import read_columns
from applier.snapshot.table_entry import TableEntry

FOLDER = "_change_data"
_KIND, _CHANGED = OF_DIFFERENCES.names
_OF_FEEDS = frozenset((_KIND, "_commit_version", "_commit_timestamp"))


def check_feed(root: str, definition: TableDefinition) -> None:
    """Raise UsageError for a location where commits with change data cannot be made, and for a table with a column
    whose name its feed uses."""
    if not new_files.can_make(root):
        raise UsageError("change data need conditional writes, which this store is not known to have", file=root,
                         hint="publish on s3:// with obstore installed, on a local file system, or without "
                              "--change-data")
    if taken := [column.name for column in definition.stored_columns
                 if column.name.lower() in _OF_FEEDS or column.name == _CHANGED]:
        raise UsageError(f"column {taken[0]} has the name of a change-data column", table=definition.full_name,
                         hint="leave the table out with --ignore-tables, or publish without --change-data")


def write_changes(storage: Storage, folder: str, snapshot: str, entry: TableEntry, unsigned_bigint: str,
                  removed: Mapping[str, int], added: Sequence[FileEntry]) -> list[tuple[str, int]] | None:
    """Write the rows in which the files of the table's folder that are `removed` (their sizes by names) and the files
    of the snapshot at a path or uri that are `added` differ: returns the names below the folder and sizes of the new
    files; None if no row differs. Raises SnapshotError for a file that is missing or damaged; errors: OSError."""
    compiling.ensure("diff")
    definition = entry.definition.shown
    columns = SharedColumns.of(definition, definition)
    sides = (Side(BEFORE, join(storage.root, folder), entry, definition, columns),
             Side(AFTER, snapshot, entry, definition, columns))
    before = [_known(sides[BEFORE], name, size) for name, size in removed.items()]
    by_key = entry.key_kind is not None and _in_order(before)
    found = ranges((before, added)) if by_key else [Range((tuple(before), tuple(added)))]
    differences = Differences(columns.schema, entry.full_name)
    with TemporaryDirectory(prefix="applier-publish-", ignore_cleanup_errors=True) as room:
        tasks = [Task(sides, files, by_key, differences, Path(room) / str(number))
                 for number, files in enumerate(found)]
        done = map_on_threads(compare, tasks, os.cpu_count() or 1, lambda *_: None)
        spilled = [one.rows for one in done if one.rows is not None]
        if not spilled:
            return None
        name = f"{FOLDER}/cdc-{uuid.uuid4().hex}.parquet"
        return [(name, storage.write_rows(f"{folder}/{name}", _schema(definition, unsigned_bigint),
                                          _rows(spilled, definition, unsigned_bigint)))]


def _known(side: Side, name: str, size: int) -> FileEntry:
    """Return a file that the table has, with its range of keys; without, if its rows are not in key order."""
    rows = read_columns(side.uri, FileEntry(name, 0, size), side.definition, side.entry.key or
                        [side.definition.stored_columns[0].name])
    if side.entry.key_kind is None or not rows.num_rows:
        return FileEntry(name, rows.num_rows, size)
    [batch] = rows.combine_chunks().to_batches()
    keys = side.keys(batch)
    ascends = bool(np.all(pc.less(keys.slice(0, len(keys) - 1), keys.slice(1)).to_numpy(zero_copy_only=False)))
    return FileEntry(name, rows.num_rows, size, *((keys[0].as_py(), keys[-1].as_py()) if ascends else (None, None)))


def _in_order(files: Sequence[FileEntry]) -> bool:
    """Return whether the rows of files are in key order, and no key of one file is between those of another."""
    ends: list[tuple[Any, Any]] = [(file.min_key, file.max_key) for file in files]
    return (None, None) not in ends and all(one[1] < other[0] for one, other in pairwise(sorted(ends)))


def _rows(spilled: Sequence[Path], definition: TableDefinition, unsigned_bigint: str) -> Iterator[pa.Table]:
    """Yield rows in the form of the table's files, with the kind of change of each."""
    stored, schema = StoredColumns.of(definition), _schema(definition, unsigned_bigint)
    for path in spilled:
        with pa.memory_map(str(path)) as source:
            for batch in pa.ipc.open_stream(source):
                shown = pa.Table.from_batches([batch]).drop_columns([_CHANGED])
                for column in definition.stored_columns:
                    number = shown.schema.get_field_index(column.name)
                    shown = shown.set_column(number, shown.schema.field(number),
                                             as_shown(shown.column(number), column.type))
                yield stored.as_stored(shown, unsigned_bigint).cast(schema)


def _schema(definition: TableDefinition, unsigned_bigint: str) -> pa.Schema:
    columns = StoredColumns.of(definition).schema(table_schema(definition), unsigned_bigint)
    return pa.schema([*(field.with_nullable(True) for field in columns), pa.field(_KIND, pa.string())])
