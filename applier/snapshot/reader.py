"""Reads files of a snapshot: all bytes of each are compared with its manifest before any row is used.

A file of a lake that merges on read stands for its range, whose rows applier.snapshot.lake.merged_rows merges.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from applier.io.parquet_reading import open_parquet
from applier.schema.definition import TableDefinition, table_schema, without_rows
from applier.snapshot.files import location
from applier.snapshot.files.checks import check_columns, check_rows, check_size, reading
from applier.snapshot.files.digest import can_check, check_digest
from applier.snapshot.files.file_entries import FileEntry, MergedFile, OtherFile
from applier.snapshot.files.stored_columns import as_rows
from applier.snapshot.files.value_marks import MarkedValues, for_nulls
from applier.snapshot.lake.merged_rows import RangeReader

BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 15


@dataclass(frozen=True)
class FilePart:
    """Of some files a part of the rows, one after the other: `edges` tells, given all rows of a file with the columns
    `names`, which one is the first and before which one they end."""

    files: Collection[FileEntry]
    names: tuple[str, ...]
    edges: Callable[[pa.Table], tuple[int, int]]


def read_unit(base: str, files: Sequence[FileEntry], schema: pa.Schema, part: FilePart | None = None) -> pa.Table:
    """Return the rows of these files of the snapshot at a path or uri, one after the other, so in key order, with the
    table's Arrow schema; no files give no rows. `part` selects a part of them.

    Errors: SnapshotError for a file that is missing, damaged, or holds other columns, bytes or another number of rows
    than the manifest says.
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
    """The rows of one file in batches of bounded size, invalid dates as zero_dates has them. Errors: as
    `read_unit`."""
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
    """Some columns of all rows of one file, invalid dates as applier.mysql.values.zero_dates has them; the bytes are
    compared with the checksums of pages, and not with a digest. Errors: as `read_unit`."""
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


def open_whole(filesystem: FileSystem, path: str, file: FileEntry) -> pq.ParquetFile:
    """Open a file of a snapshot after reading all of its bytes and comparing them with its size, digest and rows: a
    file alone, without the files that are merged with it. Raises the errors of `reading`, and SnapshotError."""
    data = read_whole(filesystem, path, file)
    parquet = open_parquet(pa.BufferReader(data), is_checked=can_check(file.digest))
    check_rows(parquet.metadata, file, path)
    return parquet


def read_whole(filesystem: FileSystem, path: str, file: FileEntry | OtherFile) -> pa.Buffer:
    """All bytes of a file, compared with its size and digest. Raises as `open_whole` does."""
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
    """The rows of a part, out of the row groups that have some of them, and the first one's number."""
    keys = parquet.read(columns=list(part.names), use_threads=False)
    first, end = part.edges(as_rows(marked.put_into(keys), schema))
    sizes = [parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)]
    starts = np.cumsum([0, *sizes])
    groups = [group for group in range(len(sizes)) if starts[group] < end and starts[group + 1] > first]
    rows = parquet.read_row_groups(groups, use_threads=False)
    return rows.slice(first - int(starts[groups[0]]) if groups else 0, end - first), first
