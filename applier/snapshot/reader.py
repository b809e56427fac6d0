"""Reads files of a snapshot. All bytes of a file are compared with the manifest before any row is used.

A file of a lake that merges on read stands for a range of keys, whose rows applier.snapshot.lake.merged_rows merges.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from applier.io.parquet_reading import open_parquet
from applier.mysql.character_sets.exact_text import needs_bytes
from applier.mysql.reader_values import lossy_charset
from applier.schema.definition import TableDefinition, table_schema, without_rows
from applier.snapshot.files import location
from applier.snapshot.files.checks import check_columns, check_rows, check_size, reading
from applier.snapshot.files.digest import can_check, check_digest
from applier.snapshot.files.file_entries import FileEntry, MergedFile, OtherFile
from applier.snapshot.files.stored_columns import as_rows
from applier.snapshot.files.value_marks import MarkedValues, for_nulls, partitions_of
from applier.snapshot.lake.merged_rows import RangeReader

BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 15


@dataclass(frozen=True)
class FilePart:
    """A part of the rows of each of some files: `edges` returns, given all rows of a file with the columns `names`, the
    numbers of the part's first row and of the row after its last one."""

    files: Collection[FileEntry]
    names: tuple[str, ...]
    edges: Callable[[pa.Table], tuple[int, int]]


def read_unit(base: str, files: Sequence[FileEntry], schema: pa.Schema, part: FilePart | None = None) -> pa.Table:
    """Return the rows of these files of the snapshot at a path or URI, file by file, and so in key order, with the
    table's Arrow schema. `part` selects a part of them.

    Errors: SnapshotError for a file that is missing or damaged, or whose columns, bytes or number of rows are not those
    of the manifest.
    """
    filesystem, root = location.resolve(base)

    def read(file: FileEntry) -> pa.Table:
        wanted = part if part is not None and file in part.files else None
        if not isinstance(file, MergedFile):
            return _read(filesystem, f"{root}/{file.path}", file, schema, wanted)
        rows = pa.concat_tables(found.rows for found in RangeReader(base, file, schema).all())
        rows = rows.replace_schema_metadata(schema.metadata)
        if wanted is None:
            return rows
        first, end = wanted.edges(rows.select(list(wanted.names)))
        return rows.slice(first, end - first)

    tables = list(map(read, files))
    return pa.concat_tables(tables) if tables else without_rows(schema)


def read_batches(base: str, file: FileEntry, definition: TableDefinition) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one file in batches of bounded size, invalid dates as in applier.mysql.values.zero_dates.
    Errors: as `read_unit`."""
    filesystem, root = location.resolve(base)
    path, schema = f"{root}/{file.path}", table_schema(definition)
    if isinstance(file, MergedFile):
        for part in RangeReader(base, file, schema).all():
            rows = for_nulls(part.rows, definition)
            most = max(1, min(_BATCH_ROWS, rows.num_rows * BATCH_BYTES // max(1, rows.nbytes)))
            yield from rows.combine_chunks().to_batches(most)
        return
    with reading(path):
        parquet = open_whole(filesystem, path, file)
        check_columns(parquet.schema_arrow, schema, path)
        marked, first = MarkedValues(parquet.metadata.metadata, path), 0
        for group in range(parquet.num_row_groups):
            of_group = parquet.metadata.row_group(group)
            most = max(1, min(_BATCH_ROWS, of_group.num_rows * BATCH_BYTES // max(1, of_group.total_byte_size)))
            for batch in parquet.iter_batches(batch_size=most, row_groups=[group], use_threads=False):
                rows = as_rows(marked.put_into(pa.Table.from_batches([batch]), first), schema)
                [whole] = for_nulls(rows, definition).to_batches()
                first += batch.num_rows
                yield whole


def read_columns(base: str, file: FileEntry, definition: TableDefinition, names: Sequence[str]) -> pa.Table:
    """Yield some columns of all rows of one file, invalid dates as in applier.mysql.values.zero_dates. The bytes are
    compared with the checksums of pages, not with a digest. Errors: as `read_unit`."""
    filesystem, root = location.resolve(base)
    path, schema = f"{root}/{file.path}", table_schema(definition)
    if isinstance(file, MergedFile):
        parts = [part.rows for part in RangeReader(base, file, schema).all(names)]
        return for_nulls(pa.concat_tables(parts), definition)
    with reading(path), filesystem.open_input_file(path) as source:
        parquet = open_parquet(source)
        check_columns(parquet.schema_arrow, schema, path)
        rows = MarkedValues(parquet.metadata.metadata, path).put_into(parquet.read(columns=list(names)))
    return for_nulls(as_rows(rows, schema), definition)


def columns_with_bytes(base: str, file: FileEntry, definition: TableDefinition) -> frozenset[str]:
    """Return the columns of a file with text that a server would store in other bytes if it got the text in utf8mb4
    (`needs_bytes`). Every column in sjis is one, since a backslash has two codes there. Errors: as `read_unit`."""
    charsets = {column.name: lossy_charset(column.type) for column in definition.stored_columns}
    names = [name for name, charset in charsets.items() if charset is not None]
    filesystem, root = location.resolve(base)
    path = f"{root}/{file.path}"
    if not names:
        return frozenset()
    if isinstance(file, MergedFile):
        parts = [part.rows for part in RangeReader(base, file, table_schema(definition)).all(names)]
        return frozenset(name for name in names for rows in parts
                         if needs_bytes(rows.column(name), charsets[name] or ""))
    with reading(path), filesystem.open_input_file(path) as source:
        marked = MarkedValues(open_parquet(source).metadata.metadata, path).texts
    return marked | {name for name in names if charsets[name] == "sjis"}


def read_partitions(base: str, files: Sequence[FileEntry]) -> pa.ChunkedArray:
    """Return the column PARTITION (value_marks) of all rows of these files. Errors: as `read_unit`."""
    filesystem, root = location.resolve(base)
    found = []
    for file in files:
        path = f"{root}/{file.path}"
        with reading(path):
            found.append(partitions_of(open_whole(filesystem, path, file).metadata.metadata, file.rows, path))
    return pa.chunked_array(found, pa.string())


def open_whole(filesystem: FileSystem, path: str, file: FileEntry) -> pq.ParquetFile:
    """Open a file of a snapshot, after comparing all of its bytes with its size, digest and number of rows. The files
    that are merged with it are not read. Raises the errors of `reading`, and SnapshotError."""
    data = read_whole(filesystem, path, file)
    parquet = open_parquet(pa.BufferReader(data), is_checked=can_check(file.digest))
    check_rows(parquet.metadata, file, path)
    return parquet


def read_whole(filesystem: FileSystem, path: str, file: FileEntry | OtherFile) -> pa.Buffer:
    """Read all bytes of a file, and compare them with its size and digest. Raises as `open_whole` does."""
    with filesystem.open_input_file(path) as source:
        check_size(source.size(), file.bytes, path)
        data = source.read_buffer(file.bytes)
    check_size(data.size, file.bytes, path)
    check_digest(data, file.digest, path)
    return data


def _read(filesystem: FileSystem, path: str, file: FileEntry, schema: pa.Schema, part: FilePart | None) -> pa.Table:
    with reading(path):
        parquet = open_whole(filesystem, path, file)
        check_columns(parquet.schema_arrow, schema, path)
        marked, first = MarkedValues(parquet.metadata.metadata, path), 0
        if part is None:
            table = parquet.read(use_threads=False)  # Spark runs one task per core
        else:
            table, first = _rows_of_part(parquet, part, marked, schema)
    return as_rows(marked.put_into(table, first), schema).replace_schema_metadata(schema.metadata)


def _rows_of_part(parquet: pq.ParquetFile, part: FilePart, marked: MarkedValues,
                  schema: pa.Schema) -> tuple[pa.Table, int]:
    """Return the rows of a part, read from the row groups that contain them, and the number of the first one."""
    keys = parquet.read(columns=list(part.names), use_threads=False)
    first, end = part.edges(as_rows(marked.put_into(keys), schema))
    sizes = [parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)]
    starts = np.cumsum([0, *sizes])
    groups = [group for group in range(len(sizes)) if starts[group] < end and starts[group + 1] > first]
    rows = parquet.read_row_groups(groups, use_threads=False)
    return rows.slice(first - int(starts[groups[0]]) if groups else 0, end - first), first
