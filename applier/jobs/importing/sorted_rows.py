"""Sorts a table's rows by its key, in bounded memory, from whatever order they arrive in.

Rows are collected up to CHUNK_BYTES and sorted. Chunks that follow the previous one, as in most dumps, are written to
the snapshot at once; from the first one that does not, chunks go to separate files beside it, and are merged at the
end. A table without a key keeps the order of arrival.

The sorted rows become the table's files. Those of a system-versioned table hold all its rows, and readers find the
current ones in other files, as after a replay (applier.apply.output.unit_files)."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from applier.apply.output.unit_files import table_writer
from applier.columns.alter.versions import rows_shown
from applier.columns.table_key import TableKey, table_key
from applier.errors import DUPLICATE_KEY, ReplayStopped, SchemaError
from applier.io.parquet_reading import open_parquet
from applier.io.resolver import resolve
from applier.jobs.importing.sql.inserts import FAIL, KEEP
from applier.mysql.values.zero_dates import to_python
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.versioning import ENDS_OF_TIME, Versioning
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.stored_columns import StoredColumns, as_rows
from applier.snapshot.files.value_marks import MarkedValues
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableTarget, TableWriter, write_empty
from keysearch.keybytes import KeyBytes

CHUNK_BYTES = 96 << 20
_BLOCK_ROWS = 1 << 15
_BLOCK_BYTES = 8 << 20

Keys: TypeAlias = np.ndarray | KeyBytes


class SortedRows:
    """Takes the rows of one table in any order: `add`, then `finish`. `spill` is a directory for rows that do not fit
    in memory."""

    def __init__(self, definition: TableDefinition, target: TableTarget, spill: str, *,
                 chunk_bytes: int = CHUNK_BYTES) -> None:
        self.definition = definition
        self.rows = 0
        self._key, self._schema = table_key(definition), table_schema(definition)
        self._target, self._spill, self._chunk_bytes = target, spill, chunk_bytes
        self._pending: list[pa.Table] = []
        self._pending_bytes = 0
        self._on_duplicate = FAIL
        self._writer: TableWriter | None = None
        self._last_key: Any = None  # an int, or bytes
        self._runs: list[tuple[str, int]] = []

    @property
    def key_names(self) -> tuple[str, ...]:
        """The columns that the rows are sorted by."""
        return self._key.names if self._key else ()

    def add(self, rows: pa.Table, on_duplicate: int = FAIL) -> None:
        """Add rows of the table's schema; `on_duplicate` says how to treat those whose key exists."""
        if on_duplicate != self._on_duplicate:
            self.flush()
            self._on_duplicate = on_duplicate
        self._pending.append(rows)
        self._pending_bytes += rows.nbytes
        if self._pending_bytes >= self._chunk_bytes:
            self.flush()

    def flush(self) -> None:
        """Write the rows in memory to a file. Raises ReplayStopped (1062) for a duplicate key."""
        if not self._pending:
            return
        chunk = pa.concat_tables(self._pending)
        self._pending, self._pending_bytes = [], 0
        if self._key is None:
            self._main().write(chunk)
            return
        chunk, keys = self._in_order(chunk, self._on_duplicate, self._key)
        is_next = not self._runs and (self._last_key is None or keys[0] > self._last_key)
        if is_next and self._target.partition is None:  # files of partitions are not in key order, for `_merge`
            self._main().write(chunk)
            self._last_key = keys[-1]
        else:
            self._runs.append((self._written(chunk), self._on_duplicate))

    def finish(self) -> list[FileEntry]:
        """The files of all rows, in the order of their keys; one without rows for an empty table."""
        self.flush()
        if self._runs and self._key is not None:
            self._merge(self._key)
        files = self._writer.close() if self._writer is not None else []
        self.rows = sum(file.rows for file in files)
        return files or [write_empty(self._target, self._schema, self.key_names, StoredColumns.of(self.definition))]

    def blocks(self, files: list[FileEntry]) -> Iterator[pa.Table]:
        """The rows of files that `finish` named, in their order."""
        filesystem, root = resolve(self._target.root)
        yield from _parquet_blocks(filesystem, [f"{root}/{file.path}" for file in files], self._schema)

    def drain(self) -> Iterator[pa.Table]:
        """All rows that were added, older ones first, for another table with the same columns; none remain here."""
        self.flush()
        filesystem, root = resolve(self._target.root)
        main = [f"{root}/{file.path}" for file in self._writer.close()] if self._writer is not None else []
        self._writer, self._last_key = None, None
        yield from _parquet_blocks(filesystem, main, self._schema)
        for path in main:
            filesystem.delete_file(path)
        for path, _ in self._runs:
            yield from _arrow_blocks(path)
            os.remove(path)
        self._runs = []

    def abort(self) -> None:
        """Remove the files that were written."""
        if self._writer is not None:
            self._writer.abort()
        for path, _ in self._runs:
            os.remove(path)

    def _main(self) -> TableWriter:
        if self._writer is None:
            self._writer = table_writer(self._target, 0, self.definition)
        return self._writer

    def _in_order(self, rows: pa.Table, on_duplicate: int, key: TableKey) -> tuple[pa.Table, Keys]:
        """Rows sorted by key, each key once; among rows with one key, later ones are newer."""
        table = self.definition.full_name
        keys = key.of_rows(rows, table)
        if _ascending(keys).all():
            return rows, keys
        order = np.argsort(keys, kind="stable") if isinstance(keys, np.ndarray) else \
            pc.sort_indices(keys.to_arrow()).to_numpy()
        rows = rows.take(pa.array(order))
        keys = key.of_rows(rows, table)
        distinct = _ascending(keys)
        if not distinct.all():
            rows = self._without_duplicates(rows, distinct, on_duplicate, key)
            keys = key.of_rows(rows, table)
        return rows, keys

    def _without_duplicates(self, rows: pa.Table, distinct: np.ndarray, on_duplicate: int,
                            key: TableKey) -> pa.Table:
        if on_duplicate == FAIL:
            first = int(np.flatnonzero(~distinct)[0])
            values = [str(to_python(rows.column(name).slice(first, 1).combine_chunks())[0]) for name in key.names]
            raise ReplayStopped("a row with this key already exists", table=self.definition.full_name,
                                key=f"{key} = ({', '.join(values)})",
                                errno=DUPLICATE_KEY, hint="the dump inserts it twice")
        kept = np.r_[True, distinct] if on_duplicate == KEEP else np.r_[distinct, True]
        return rows.filter(pa.array(kept))

    def _written(self, rows: pa.Table) -> str:
        """A sorted chunk in a file of its own."""
        path = os.path.join(self._spill, f"{id(self):x}-{len(self._runs)}.arrow")
        each = max(1, min(_BLOCK_ROWS, rows.num_rows * _BLOCK_BYTES // max(1, rows.nbytes)))
        with pa.ipc.new_file(path, self._schema) as file:
            file.write_table(rows, max_chunksize=each)
        return path

    def _merge(self, key: TableKey) -> None:
        """Write all chunks again, merged."""
        main = self._writer.close() if self._writer is not None else []
        self._writer, self._last_key = None, None
        filesystem, root = resolve(self._target.root)
        blocks = [_parquet_blocks(filesystem, [f"{root}/{file.path}" for file in main], self._schema)] if main else []
        blocks += [_arrow_blocks(path) for path, _ in self._runs]
        runs = [_Run(lambda rows: key.of_rows(rows, self.definition.full_name), run) for run in blocks]
        policies = [FAIL] * bool(main) + [on_duplicate for _, on_duplicate in self._runs]
        writer = self._main()
        while True:
            live = [run for run in runs if run.load()]
            if not live:
                break
            bound = min(run.last_key for run in live)
            merged: pa.Table | None = None
            for run, policy in zip(runs, policies, strict=True):
                taken = run.take_up_to(bound)
                if taken is None:
                    continue
                merged = taken if merged is None else self._in_order(pa.concat_tables([merged, taken]), policy, key)[0]
            writer.write(merged)
        for path in [path for path, _ in self._runs]:
            os.remove(path)
        for file in main:
            filesystem.delete_file(f"{root}/{file.path}")
        self._runs = []


class _Run:
    """A sorted chunk that is read block by block."""

    def __init__(self, keys_of: Callable[[pa.Table], Keys], blocks: Iterator[pa.Table]) -> None:
        self._keys_of, self._blocks = keys_of, blocks
        self._block: pa.Table | None = None
        self._keys: Keys = np.empty(0, np.int64)
        self._at = 0

    def load(self) -> bool:
        """Load a block with rows; False at the end of the run."""
        while self._block is None or self._at == self._block.num_rows:
            self._block = next(self._blocks, None)
            if self._block is None:
                return False
            self._keys, self._at = self._keys_of(self._block), 0
        return True

    @property
    def last_key(self) -> Any:
        """Of the block: an int, or bytes."""
        return self._keys[len(self._keys) - 1]

    def take_up_to(self, bound: Any) -> pa.Table | None:
        """Consume and return the block's rows with keys up to `bound`."""
        if self._block is None:
            return None
        start, self._at = self._at, bisect_right(self._keys, bound, lo=self._at)
        return self._block.slice(start, self._at - start) if self._at > start else None


def _ascending(keys: Keys) -> np.ndarray:
    """For each key but the first, whether it is greater than the previous one."""
    if isinstance(keys, np.ndarray):
        return keys[1:] > keys[:-1]
    array = keys.to_arrow()
    ascending: np.ndarray = pc.greater(array[1:], array[:-1]).to_numpy(zero_copy_only=False)
    return ascending


def _arrow_blocks(path: str) -> Iterator[pa.Table]:
    with pa.memory_map(path) as source:
        file = pa.ipc.open_file(source)
        for number in range(file.num_record_batches):
            yield pa.Table.from_batches([file.get_batch(number)])


def _parquet_blocks(filesystem: fs.FileSystem, paths: list[str], schema: pa.Schema) -> Iterator[pa.Table]:
    for path in paths:
        with filesystem.open_input_file(path) as source:
            file, first = open_parquet(source), 0
            marked = MarkedValues(file.metadata.metadata, path)
            for batch in file.iter_batches(batch_size=_BLOCK_ROWS):
                yield as_rows(marked.put_into(pa.Table.from_batches([batch]), first), schema)
                first += batch.num_rows


_DAY = 86_400_000_000


def table_entry(rows: SortedRows, target: TableTarget) -> TableEntry:
    """Finish a table's rows; `target` is where readers find them. Raises ReplayStopped (1062), as SortedRows does, and
    SchemaError if the times of a system-versioned table are in another time zone."""
    definition, shown = rows.definition, rows.definition.shown
    key = table_key(shown)
    names, form, rules = (key.names, key.form, key.rules) if key else ((), None, ())
    files = rows.finish()
    history: list[FileEntry] = []
    if definition.versioning is not None:
        history = [file for file in files if file.rows]  # a replay also names none for a table without rows
        with table_writer(target, 0, shown) as writer:
            for block in rows.blocks(history):
                _check_times(block, definition.versioning, definition.full_name)
                writer.write(rows_shown(block, definition))
            files = writer.close() or [write_empty(target, table_schema(shown), names, StoredColumns.of(shown))]
    return TableEntry(shown.database, shown.name, definition, names, form, tuple(files), rules,
                      tuple(history), folder=target.folder if target.merges else None,
                      partition=target.partition).of_ranges()


def _check_times(rows: pa.Table, versioning: Versioning, table: str) -> None:
    """Check the time zone of row times: read in a wrong one, current rows would be past ones, ending hours before the
    end of time."""
    ends = rows.column(versioning.row_end).cast(pa.int64())
    for end in ENDS_OF_TIME:
        apart = pc.abs(pc.subtract(ends, end))
        if pc.any(pc.and_(pc.greater(apart, 0), pc.less(apart, _DAY))).as_py():
            raise SchemaError("the times of a system-versioned table's rows are in another time zone than the dump's "
                              "statements or --system-time-zone say",
                              table=table,
                              hint="dump it without `--skip-tz-utc`")
