"""Compares files of a snapshot with its manifest without reading rows."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileSystem, FileType

from applier.errors import SnapshotError, reason
from applier.io.parquet_reading import DAMAGED_PAGE
from applier.io.transient import is_forbidden, is_transient, unavailable
from applier.snapshot.files import location
from applier.snapshot.files.file_entries import FileColumns, FileEntry
from applier.snapshot.files.stored_columns import is_stored_as

_THREADS = 16
REPLACE = "take it from a backup, or replay or import the snapshot again"


def check_listed(uri: str, lists: Iterable[FileColumns]) -> None:
    """Raise SnapshotError if a file of the snapshot at a path or URI is missing, or does not have its size in the
    manifest. Each folder is listed once, and no file is opened."""
    filesystem, root = location.resolve(uri)
    lists = list(lists)
    folders = sorted({path.rpartition("/")[0] for columns in lists for path in columns.paths})

    def listed(folder: str) -> dict[str, int]:
        path = f"{root}/{folder}" if folder else root
        with reading(path):
            return sizes_below(filesystem, path, recursive=False)

    found: dict[str, int] = {}
    with ThreadPoolExecutor(_THREADS) as pool:
        for sizes in pool.map(listed, folders):
            found |= sizes
    for columns in lists:
        check_sizes(found, columns, root)


def sizes_below(filesystem: FileSystem, folder: str, *, recursive: bool) -> dict[str, int]:
    """Return the sizes of the files in a folder, by path; nothing if the folder does not exist. Errors: OSError."""
    infos = filesystem.get_file_info(FileSelector(folder, allow_not_found=True, recursive=recursive))
    return {info.path: info.size for info in infos if info.type == FileType.File}


def check_sizes(found: dict[str, int], columns: FileColumns, root: str) -> None:
    """Raise SnapshotError if a file below `root` is not among those found, or does not have its size in the manifest.
    """
    paths = [f"{root}/{path}" for path in columns.paths]
    sizes = list(map(found.get, paths))
    if sizes == columns.bytes:
        return
    for path, size, stated in zip(paths, sizes, columns.bytes, strict=True):
        if size is None:
            raise SnapshotError("a file of the snapshot is missing", file=path)
        check_size(size, stated, path)


def check_footers(uri: str, lists: Iterable[FileColumns]) -> None:
    """Raise SnapshotError if a file of the snapshot at a path or URI is missing, or does not have its size and number
    of rows in the manifest. Only footers are read, no rows."""
    filesystem, root = location.resolve(uri)

    def check(file: FileEntry) -> None:
        path = f"{root}/{file.path}"
        with reading(path), filesystem.open_input_file(path) as source:
            check_size(source.size(), file.bytes, path)
            check_rows(pq.read_metadata(source), file, path)

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(check, (file for columns in lists for file in columns.entries())))


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Convert errors of reading a file of a snapshot to SnapshotError."""
    try:
        yield
    except FileNotFoundError as error:
        raise SnapshotError("a file of the snapshot is missing", file=path) from error
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and is_transient(error):
            raise unavailable(error, path) from error
        why = reason(error) if isinstance(error, OSError) else str(error)
        if is_forbidden(error):
            raise SnapshotError(f"not allowed to read a file of the snapshot: {why}", file=path,
                                hint="use credentials that may read it; its contents were not checked") from error
        if DAMAGED_PAGE in why:
            raise SnapshotError("a file of the snapshot is damaged: a page does not match its checksum", file=path,
                                hint=REPLACE) from error
        raise SnapshotError(f"a file of the snapshot cannot be read: {why}", file=path) from error


def check_size(size: int, stated: int, path: str) -> None:
    """Raise SnapshotError if a file does not have the size that the manifest states."""
    if size != stated:
        raise SnapshotError(f"a file of the snapshot has {size} bytes, but its manifest says {stated}", file=path)


def check_rows(metadata: pq.FileMetaData, file: FileEntry, path: str) -> None:
    """Raise SnapshotError if a file does not have the number of rows that the manifest states."""
    if metadata.num_rows != file.stored_rows:
        raise SnapshotError(f"a file of the snapshot has {metadata.num_rows} rows, but its manifest says "
                            f"{file.stored_rows}", file=path)


def check_columns(found: pa.Schema, schema: pa.Schema, path: str) -> None:
    """Raise SnapshotError if the columns of a file are not those of its table's schema."""
    if not is_stored_as(found, schema):
        raise SnapshotError(f"a file of the snapshot has other columns than its table: {found.to_string()}",
                            file=path, hint="the manifest's definition and the file do not belong together")
