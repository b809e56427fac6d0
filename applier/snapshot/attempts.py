"""Files of tasks that may be attempted several times, where a late attempt cannot be stopped.

Spark retries a task when its executor is cut off, and runs slow ones twice under speculation. The Python worker of
an abandoned attempt continues, even after the snapshot is published. So tasks write below a hidden folder of
the snapshot, and the driver, which alone knows the attempts that count, moves their files:

    OUT/_staging/part-….parquet.unpublished  →  OUT/DB/TABLE/part-….parquet

    local, hdfs://             a rename for each file. Then the folder is renamed before it is removed, so that a late
                               attempt finds no folder to write to
    s3://, gs://, abfs://      a copy within the store for each file. Files of a late attempt stay in the hidden
                               folder: readers of *.parquet, DB/TABLE or the whole snapshot do not see them

Tasks on threads of this process have no late attempts, and write files to their final paths (docs/adr/0009).
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import uuid4

from pyarrow import fs

from applier.snapshot.lakes import STAGING

PASSES = "_passes"
"""The folder of the snapshots of earlier passes, while a snapshot is being made."""
UNPUBLISHED = ".unpublished"
"""The end of the name of a file that is not published yet: no *.parquet matches it."""
MOST_BYTES = 4 << 30
"""About the size of the largest files: S3 copies 5 GiB at most in one request."""
_COPIES = 24
"""Copies within a store at a time: pyarrow's S3 file system opens 25 connections."""


def written_at(path: str) -> str:
    """Return the path at which a task writes a file. `path` is its own path; its name is unique in the snapshot."""
    return f"{STAGING}/{path.rpartition('/')[2]}{UNPUBLISHED}"


def all_written_at(paths: Iterable[str]) -> dict[str, str]:
    """Return `written_at` by path."""
    return {path: written_at(path) for path in paths}


def begin(filesystem: fs.FileSystem, root: str) -> None:
    """Create the folder that tasks write to. Errors: OSError."""
    filesystem.create_dir(f"{root}/{STAGING}")


def finish(filesystem: fs.FileSystem, root: str, written: Mapping[str, str], *, has_folders: bool) -> None:
    """Move the files of the attempts that count, and remove the files of all other attempts.

    written: the path to which a task wrote each file, by its final path; both below `root`. has_folders: False for
    object stores. Errors: OSError.
    """
    sources = [f"{root}/{at}" for at in written.values()]
    targets = [f"{root}/{path}" for path in written]
    folder = f"{root}/{STAGING}"
    if has_folders:
        for source, target in zip(sources, targets, strict=True):
            filesystem.move(source, target)
        ended = f"{folder}-{uuid4().hex}"
        filesystem.move(folder, ended)
    else:
        with ThreadPoolExecutor(_COPIES) as pool:
            list(pool.map(filesystem.copy_file, sources, targets))
        ended = folder
    with suppress(OSError):  # leftovers are hidden
        filesystem.delete_dir(ended)


def is_hidden(root: str, path: str) -> bool:
    """Return True if a file in the snapshot at `root` was written by an attempt, of the snapshot's own tasks or of
    those of an earlier pass."""
    return path.startswith((f"{root}/{STAGING}", f"{root}/{PASSES}/"))
