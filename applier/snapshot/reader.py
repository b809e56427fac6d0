"""Reads files of a snapshot: each one whole, and compared with its manifest before any row is used."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from applier.snapshot import location
from applier.snapshot.checks import check_columns, check_rows, check_size, reading
from applier.snapshot.date_marks import MarkedDates
from applier.snapshot.digest import check_digest
from applier.snapshot.file_entries import FileEntry, OtherFile


def read_unit(base: str, files: Sequence[FileEntry], schema: pa.Schema) -> pa.Table:
    """The rows of these files of the snapshot at a path or uri, one after the other, so in key order, with the table's
    Arrow schema; no files give no rows.

    Errors: SnapshotError for a file that is missing, damaged, or holds other columns, bytes or another number of rows
    than the manifest says.
    """
    filesystem, root = location.resolve(base)
    tables = [_read(filesystem, f"{root}/{file.path}", file, schema) for file in files]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def open_whole(filesystem: FileSystem, path: str, file: FileEntry) -> pq.ParquetFile:
    """A file of a snapshot whose bytes have all been read and compared with its size, digest and rows. Raises what
    `reading` raises, and SnapshotError."""
    data = read_whole(filesystem, path, file)
    parquet = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=file.digest is None)
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


def _read(filesystem: FileSystem, path: str, file: FileEntry, schema: pa.Schema) -> pa.Table:
    with reading(path):
        parquet = open_whole(filesystem, path, file)
        table = parquet.read(use_threads=False)         # Spark runs one task per core
        marked = MarkedDates(parquet.metadata.metadata, path)
    check_columns(table.schema, schema, path)
    return marked.put_into(table).replace_schema_metadata(schema.metadata)
