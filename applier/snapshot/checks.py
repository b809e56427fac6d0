"""Compares files of a snapshot with its manifest, as far as that needs no reading of rows."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from applier.errors import SnapshotError, reason
from applier.snapshot import location
from applier.snapshot.manifest import FileEntry, OtherFile, Snapshot

_THREADS = 16


def check_files(snapshot: Snapshot, files: Iterable[FileEntry]) -> None:
    """Raise SnapshotError where one of these files is missing, or has another size or number of rows than the manifest
    says; footers are read, and no rows."""
    filesystem, root = location.resolve(snapshot.uri)

    def check(file: FileEntry) -> None:
        path = f"{root}/{file.path}"
        with reading(path), filesystem.open_input_file(path) as source:
            check_size(source.size(), file, path)
            check_rows(pq.read_metadata(source), file, path)

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(check, files))


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Errors of reading a file of a snapshot as SnapshotError."""
    try:
        yield
    except FileNotFoundError as error:
        raise SnapshotError("a file of the snapshot is missing", file=path) from error
    except (OSError, pa.ArrowException) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise SnapshotError(f"a file of the snapshot cannot be read: {why}", file=path) from error


def check_size(size: int, file: FileEntry | OtherFile, path: str) -> None:
    """Raise SnapshotError where a file has another size than the manifest says."""
    if size != file.bytes:
        raise SnapshotError(f"a file of the snapshot has {size} bytes, its manifest says {file.bytes}", file=path)


def check_rows(metadata: pq.FileMetaData, file: FileEntry, path: str) -> None:
    """Raise SnapshotError if a file has another number of rows than the manifest says."""
    if metadata.num_rows != file.rows:
        raise SnapshotError(f"a file of the snapshot has {metadata.num_rows} rows, its manifest says {file.rows}",
                            file=path)


def check_columns(found: pa.Schema, schema: pa.Schema, path: str) -> None:
    """Raise SnapshotError if a file has other columns than its table's schema."""
    if not found.equals(schema):
        raise SnapshotError(f"a file of the snapshot has other columns than its table: {found.to_string()}",
                            file=path, hint="the manifest's definition and the file do not belong together")
