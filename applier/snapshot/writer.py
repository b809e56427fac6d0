"""Writes one key range of a table as Parquet files of about a target size, according to FileSettings."""

import errno
import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from applier.errors import SnapshotError
from applier.snapshot import attempts
from applier.snapshot.files import location, row_groups
from applier.snapshot.files.digest import HashedSink
from applier.snapshot.files.file_entries import FileEntry, Footer, KeyKind, KeyValue
from applier.snapshot.files.file_settings import DEFAULTS, FileSettings
from applier.snapshot.files.stored_columns import AS_ROWS, StoredColumns
from applier.snapshot.files.value_marks import PARTITION, ValueMarks
from keysearch.keybytes import int_key
from keysearch.keyrules import encode_by_rules

HISTORY = "_history"
CHANGES = "changes"
"""The folder of row files and positions within a table's folder, in a lake that merges on read."""
_GROUP_POSITIONS = 1 << 16
POSITIONS = pa.schema([pa.field("file", pa.string(), nullable=False), pa.field("position", pa.int64(), nullable=False)])
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""Errors that another attempt would get again."""


@dataclass(frozen=True)
class TableTarget:
    """Where tasks write files of one table, and how: `root` is the path or URI of the staged snapshot, `folder` the
    table's folder in it. `late_attempts`: tasks write to a folder that readers ignore, and the driver moves the files
    that count (applier.snapshot.attempts). `merges`: in a lake that merges on read."""

    root: str
    folder: str
    settings: FileSettings = DEFAULTS
    late_attempts: bool = False
    merges: bool = False

    @property
    def changes(self) -> "TableTarget":
        """The target of row files and positions of the table."""
        return replace(self, folder=f"{self.folder}/{CHANGES}")

    @property
    def suffix(self) -> str:
        """The extension of its files of rows. If files are merged, no pattern for Parquet files matches it."""
        return ".data" if self.merges else ".parquet"

    @property
    def history(self) -> "TableTarget":
        """The target of the files with all rows of a versioned table."""
        return replace(self, folder=f"{HISTORY}/{self.folder}")

    def written_at(self, path: str) -> str:
        """Return the path below `root` at which a task writes a file. `path` is its own path; its name is unique."""
        return attempts.written_at(path) if self.late_attempts else path


class TableWriter:
    """Writes rows in ascending key order; a context manager that leaves no files behind an exception.

    unit: number of the unit of work among the table's, in key order. Every writer gives its files unique names, so that
    attempts of one task never collide. schema: the table's Arrow schema. key: names of the key's columns, () for a
    table without a key; their values encode to the key ranges that `close` returns ("int" by keysearch.int_key, "bytes"
    by keysearch.encode_by_rules with `key_rules`, None: no ranges). columns: how files have the table's. `zero_dates`
    counts invalid dates by file path and column.
    """

    def __init__(self, target: TableTarget, unit: int, schema: pa.Schema, *, key: Sequence[str] = (),
                 key_kind: KeyKind | None = None, key_rules: Sequence[str] = (),
                 columns: StoredColumns = AS_ROWS) -> None:
        if (key_kind is None) != (not key):
            raise ValueError(f"a key of kind {key_kind} on columns {list(key)}")
        self._target, self._schema, self._key, self._key_kind = target, schema, list(key), key_kind
        self._columns, self._stored = columns, columns.schema(schema, target.settings.unsigned_bigint)
        self._key_rules, self._group_bytes = tuple(key_rules), target.settings.group_bytes(merges=target.merges)
        self._is_sorted = not key_rules and columns.charsets.keys().isdisjoint(key)
        self._filesystem, self._root = location.resolve(target.root)
        self._prefix = _new_prefix(unit)
        self._pending: list[pa.Table] = []
        self._pending_bytes = 0
        self._open: _OpenFile | None = None
        self._entries: list[FileEntry] = []
        self.zero_dates: dict[str, dict[str, int]] = {}
        self._last_key: KeyValue | None = None

    def __enter__(self) -> "TableWriter":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, _: object) -> None:
        if kind is not None:
            self.abort()
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise SnapshotError(f"cannot write: {os.strerror(error.errno)}", file=f"{self._root}/{self._target.folder}",
                                hint="free space where the output is, or choose another --output") from error

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Add rows, whose keys must come after all earlier ones; all of them, or none, have the column PARTITION.
        Raises ValueError if the first and last keys of row groups are out of order, or for a wrong schema."""
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        if not _without_partitions(table).schema.equals(self._schema):
            raise ValueError(f"rows of schema {table.schema}, not {self._schema}")
        self._pending.append(table)
        self._pending_bytes += table.nbytes
        while self._pending_bytes >= self._group_bytes:
            pending = pa.concat_tables(self._pending)
            rows_each = max(1, pending.num_rows * self._group_bytes // self._pending_bytes)
            self._write_group(pending.slice(0, rows_each))
            rest = pending.slice(rows_each)
            self._pending, self._pending_bytes = [rest], rest.nbytes if rest.num_rows else 0

    def close(self) -> list[FileEntry]:
        """Finish, and return the files' entries in key order. Without rows there are no files: see `write_empty`."""
        pending = pa.concat_tables(self._pending) if self._pending else None
        self._pending = []
        if pending is not None and pending.num_rows:
            self._write_group(pending)
        self._close_file()
        return self._entries

    def abort(self) -> None:
        """Remove everything that was written."""
        self._pending = []
        paths = [entry.path for entry in self._entries]
        if self._open is not None:
            paths.append(self._open.path)
            self._open.drop()
            self._open = None
        for path in paths:
            with suppress(OSError):  # a stray file is not the error to report; a commit removes it
                self._filesystem.delete_file(f"{self._root}/{self._target.written_at(path)}")
        self._entries = []

    def _write_group(self, rows: pa.Table) -> None:
        """Write rows as one row group, in a new file if the current one is full."""
        first, last = self._keys_of_ends(rows)
        if self._key_kind is not None:
            if first > last or (self._last_key is not None and first <= self._last_key):
                raise ValueError(f"rows of {self._target.folder} are not in the order of their key")
            self._last_key = last
        if self._open is not None and self._open.size() >= self._target.settings.file_bytes \
                and not self._is_short(rows):
            self._close_file()
        if self._open is None:
            path = f"{self._target.folder}/{self._prefix}-{len(self._entries):04d}{self._target.suffix}"
            settings = self._target.settings.writer_options(self._stored, self._key, rows.num_rows,
                                                            is_sorted=self._is_sorted)
            self._open = _OpenFile(self._filesystem, self._root, path, self._stored, settings,
                                   written_at=self._target.written_at(path), merges=self._target.merges,
                                   charsets=self._columns.charsets)
        if PARTITION in rows.column_names:
            self._open.take_partitions(rows.column(PARTITION))
        stored = self._columns.as_stored(_without_partitions(rows), self._target.settings.unsigned_bigint)
        self._open.write(stored, first, last)

    def _is_short(self, rows: pa.Table) -> bool:
        """Return whether rows are too few for a file of their own. Otherwise, if a full file were rewritten with
        slightly longer values, its last few rows would become a file."""
        return bool(rows.nbytes < self._group_bytes // 4)

    def _keys_of_ends(self, rows: pa.Table) -> tuple[Any, Any]:
        if self._key_kind is None:
            return None, None
        ends = rows.select(self._key).take(np.array([0, rows.num_rows - 1]))
        if self._key_kind == "int":
            first, last = int_key(ends.column(0))
            return int(first), int(last)
        keys = encode_by_rules(ends.columns, self._key_rules)
        return keys[0], keys[1]

    def _close_file(self) -> None:
        if self._open is not None:
            self._entries.append(self._open.finish())
            if zero_dates := self._open.zero_dates:
                self.zero_dates[self._open.path] = zero_dates
            self._open = None


def _without_partitions(rows: pa.Table) -> pa.Table:
    return rows.drop_columns([PARTITION]) if PARTITION in rows.column_names else rows


def write_empty(target: TableTarget, schema: pa.Schema, key: Sequence[str] = (),
                columns: StoredColumns = AS_ROWS) -> FileEntry:
    """Write the single file of an empty table, in which readers find its columns."""
    filesystem, root = location.resolve(target.root)
    path = f"{target.folder}/{_new_prefix(0)}-0000{target.suffix}"
    stored = columns.schema(schema, target.settings.unsigned_bigint)
    return _OpenFile(filesystem, root, path, stored, target.settings.writer_options(stored, key),
                     merges=target.merges).finish()


def write_positions(target: TableTarget, positions: pa.Table) -> FileEntry:
    """Write a file of positions of dead rows: `file`, the names of files without extension, ascending, and `position`,
    the number of a row in its file from 0 on, ascending within a file."""
    filesystem, root = location.resolve(target.root)
    path = f"{target.folder}/{_new_prefix(0)}.positions"
    file = _OpenFile(filesystem, root, path, POSITIONS, DEFAULTS.writer_options(POSITIONS, ["file"]), merges=True)
    for start in range(0, positions.num_rows, _GROUP_POSITIONS):
        group = positions.slice(start, _GROUP_POSITIONS).cast(POSITIONS)
        first, last = (group.column("file")[row].as_py().encode() for row in (0, group.num_rows - 1))
        file.write(group, first, last)
    return file.finish()


def _new_prefix(unit: int) -> str:
    """Return the prefix of one attempt's file names: they sort by unit, and no two attempts have the same one."""
    return f"part-{unit:06d}-{uuid.uuid4().hex[:12]}"


class _OpenFile:
    """A Parquet file that is being written, with `settings` of pyarrow, at `written_at`; it is moved to its own path
    later if that is another one."""

    def __init__(self, filesystem: Any, root: str, path: str, schema: pa.Schema, settings: Mapping[str, Any], *,
                 written_at: str | None = None, merges: bool = False,
                 charsets: Mapping[str, str] = MappingProxyType({})) -> None:
        self.path = path
        self._filesystem, self._whole = filesystem, f"{root}/{written_at or path}"
        self._merges, self._rows, self._marks = merges, 0, ValueMarks(charsets)
        self._groups: list[tuple[int, int, int, KeyValue | None, KeyValue | None, str]] = []
        self._sink = HashedSink(filesystem.open_output_stream(self._whole, compression=None))
        self._writer = pq.ParquetWriter(pa.PythonFile(self._sink, mode="w"), schema, **settings)

    def take_partitions(self, partitions: pa.ChunkedArray) -> None:
        self._marks.take_partitions(partitions)

    def write(self, rows: pa.Table, first: KeyValue | None, last: KeyValue | None) -> None:
        self._writer.write_table(self._marks.taken_from(rows), row_group_size=max(1, rows.num_rows))
        self._rows += rows.num_rows
        start, end, digest = self._sink.end_part()
        self._groups.append((rows.num_rows, start, end, first, last, digest))

    def size(self) -> int:
        return self._sink.tell()

    @property
    def zero_dates(self) -> dict[str, int]:
        """The number of invalid dates in its rows, by column."""
        return self._marks.dates

    def finish(self) -> FileEntry:
        self._writer.add_key_value_metadata(self._marks.metadata())
        if self._merges:
            self._writer.add_key_value_metadata(row_groups.described(self._groups))
        self._writer.close()
        self._sink.close()
        footer = None
        if self._merges and self._groups:
            start, end, digest = self._sink.end_part()
            footer = Footer(end - start, digest)
        low, high = (self._groups[0][3], self._groups[-1][4]) if self._groups else (None, None)
        return FileEntry(self.path, self._rows, self._sink.tell(), low, high, self._sink.digest, footer)

    def drop(self) -> None:
        with suppress(OSError):  # for example the error of a full disk a second time
            self._writer.close()
        with suppress(OSError):
            self._sink.close()
