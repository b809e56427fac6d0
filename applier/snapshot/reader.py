"""Reading a unit's base rows: the files of a snapshot's table whose key ranges a unit of work covers."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from applier.errors import SnapshotError
from applier.snapshot import location
from applier.snapshot.date_marks import MarkedDates
from applier.snapshot.manifest import FileEntry, Snapshot


def read_unit(base: Snapshot, files: Sequence[FileEntry], schema: pa.Schema) -> pa.Table:
    """The rows of these files one after the other, so in key order, with the table's Arrow schema; no files give no
    rows.

    Errors: SnapshotError for a file that is missing, damaged, or holds other columns or another number of rows than the
    manifest says.
    """
    filesystem, root = location.resolve(base.uri)
    tables = [_read(filesystem, f"{root}/{file.path}", file, schema) for file in files]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _read(filesystem: FileSystem, path: str, file: FileEntry, schema: pa.Schema) -> pa.Table:
    try:
        with filesystem.open_input_file(path) as source:
            parquet = pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=True)
            table = parquet.read(use_threads=False)         # Spark runs a task a core
            marked = MarkedDates(parquet.metadata.metadata, path)
    except FileNotFoundError as error:
        raise SnapshotError("a file of the snapshot is missing", file=path) from error
    except (OSError, pa.ArrowException) as error:
        raise SnapshotError(f"a file of the snapshot cannot be read: {error}", file=path) from error
    if table.num_rows != file.rows:
        raise SnapshotError(f"a file of the snapshot has {table.num_rows} rows, its manifest says {file.rows}",
                            file=path)
    if not table.schema.equals(schema):
        raise SnapshotError(f"a file of the snapshot has other columns than its table: {table.schema.to_string()}",
                            file=path, hint="the manifest's definition and the file do not belong together")
    return marked.put_into(table).replace_schema_metadata(schema.metadata)
