"""The job: compare a snapshot with its manifest, reading every byte.

    shards that the manifest names     exist, and match its entries for them and for their files files that it or a
    shard names     exist, with their size and digest; Parquet with the table's columns and the number
                                       of rows; ascending keys, from and to those in the manifest; merged with row
                                       files, if any, the number of rows in the manifest, with unique keys
    other files                        must not exist
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from applier.columns.table_key import table_key
from applier.errors import ApplierError, SnapshotError
from applier.io.progress import Progress, Silent
from applier.io.resolver import join
from applier.schema.definition import TableDefinition, table_schema
from applier.snapshot import attempts, manifest
from applier.snapshot.files import location
from applier.snapshot.files.checks import check_columns, reading
from applier.snapshot.files.digest import can_check
from applier.snapshot.files.file_entries import FileEntry, MergedFile, OtherFile
from applier.snapshot.files.shards import Shard, ShardedFiles, columns_of
from applier.snapshot.files.stored_columns import as_rows
from applier.snapshot.files.value_marks import MarkedValues
from applier.snapshot.lake.merged_rows import RangeReader
from applier.snapshot.manifest import MANIFEST, Snapshot
from applier.snapshot.reader import open_whole, read_whole
from applier.snapshot.staging import CONFLICTS, MARKER, REPORT, SCHEMA
from keysearch.keybytes import int_key
from keysearch.keyrules import encode_by_rules

_UNNAMED_ONCE = frozenset({SCHEMA, REPORT, CONFLICTS})
"""Files that manifests of older programs do not name."""


@dataclass(frozen=True)
class Verified:
    """`damaged` has a line for each file that is damaged, missing or unknown, in the manifest's order; `unchecked` is
    how many files have no digest to compare, as older programs wrote none."""

    files: int
    rows: int
    bytes: int
    damaged: tuple[str, ...]
    unchecked: int


@dataclass(frozen=True)
class _Sorted:
    """The order of a file's rows: by these columns, in these forms. No columns: in the order of insertion. `counts`:
    the table has as many rows, with those of its other files."""

    definition: TableDefinition
    columns: tuple[str, ...] = ()
    is_int: bool = False
    rules: tuple[str, ...] = ()
    counts: bool = True


def verify(uri: str, progress: Progress | None = None) -> Verified:
    """Verify a snapshot. Raises SnapshotError where its manifest cannot be read."""
    snapshot, progress = manifest.load(uri), progress or Silent()
    filesystem, root = location.resolve(snapshot.root)
    shards = {files.shard: _shard_complaint(files) for table in snapshot.tables for files in table.sharded}
    files = list(_files(snapshot, shards))
    progress.phase("verify", len(files), "files")
    damaged, rows = [f"{shard.path}: {complaint}" for shard, complaint in shards.items() if complaint], 0
    with ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="verify") as pool:
        checks = pool.map(lambda file: _complaint(filesystem, root, snapshot.root, *file), files)
        for done, ((file, order), complaint) in enumerate(zip(files, checks, strict=True), 1):
            rows += file.rows if isinstance(file, FileEntry) and order is not None and order.counts else 0
            if complaint:
                damaged.append(f"{file.path}: {complaint}")
            progress.update(done, rows)
    damaged += _unexpected(filesystem, root, snapshot, {file.path for file, _ in files}, shards)
    return Verified(len(shards) + len(files), rows, sum(file.bytes for file in [*shards, *(file for file, _ in files)]),
                    tuple(damaged), sum(not can_check(file.digest) for file, _ in files))


def _shard_complaint(files: ShardedFiles) -> str:
    """Return the damage of a shard; "" for none."""
    try:
        columns_of(files)
    except SnapshotError as error:
        return error.message
    return ""


def _files(snapshot: Snapshot, shards: Mapping[Shard, str]) -> Iterator[tuple[FileEntry | OtherFile, _Sorted | None]]:
    """Yield all files but shards, and those that a shard with a complaint names."""
    for table in snapshot.tables:
        definition = table.definition
        key = table_key(definition) if table.history else None
        shown = _Sorted(definition.shown, table.key, table.key_kind == "int", table.key_rules)
        ever = _Sorted(definition, key.names, key.form == "int", key.rules) if key else _Sorted(definition)
        for files, order in zip(table.lists, (shown, ever, replace(shown, counts=False), None), strict=True):
            if not isinstance(files, ShardedFiles) or not shards[files.shard]:
                yield from ((file, order) for file in files)
    yield from ((file, None) for file in snapshot.others)


def _complaint(filesystem: fs.FileSystem, root: str, root_uri: str, file: FileEntry | OtherFile,
               order: _Sorted | None) -> str:
    """Return the damage of a file; "" for none."""
    path = f"{root}/{file.path}"
    try:
        with reading(path):
            if order is None or isinstance(file, OtherFile):
                read_whole(filesystem, path, file)
                return ""
            if isinstance(file, MergedFile):
                for _ in RangeReader(root_uri, file, table_schema(order.definition)).all():
                    pass
            parquet = open_whole(filesystem, path, file)
            check_columns(parquet.schema_arrow, table_schema(order.definition), path)
            if order.columns:
                _check_keys(parquet, order, file, path)
            else:
                for _ in parquet.iter_batches(use_threads=False):  # a file that cannot be decoded is damaged
                    pass
    except ApplierError as error:
        return error.message
    return ""


def _check_keys(parquet: pq.ParquetFile, order: _Sorted, file: FileEntry, path: str) -> None:
    """Raise SnapshotError if keys do not ascend, or do not go from the manifest's first to its last."""
    marked, first = MarkedValues(parquet.metadata.metadata, path), 0
    schema = table_schema(order.definition)
    low: Any = None
    last: Any = None
    for batch in parquet.iter_batches(use_threads=False):
        rows = as_rows(marked.put_into(pa.Table.from_batches([batch]), first), schema)
        first += batch.num_rows
        columns = [rows.column(name) for name in order.columns]
        if any(column.null_count for column in columns):
            raise SnapshotError("rows have NULL in a column of their key")
        keys = pa.array(int_key(columns[0])) if order.is_int else encode_by_rules(columns, order.rules).to_arrow()
        ends = keys[0].as_py(), keys[-1].as_py()
        if (last is not None and ends[0] <= last) or not pc.all(pc.greater(keys[1:], keys[:-1]), min_count=0).as_py():
            raise SnapshotError("its rows are not in the order of their key")
        low, last = (ends[0] if low is None else low), ends[1]
    stated: tuple[Any, Any] = file.min_key, file.max_key
    is_inside = file.changed is not None and stated[0] <= low <= last <= stated[1]
    if (low, last) != stated and not is_inside:
        raise SnapshotError(f"its keys range from {_shown(low)} to {_shown(last)}, but its manifest says from "
                            f"{_shown(file.min_key)} to {_shown(file.max_key)}")


def _shown(key: int | bytes | None) -> str:
    return key.hex() if isinstance(key, bytes) else str(key)


def _unexpected(filesystem: fs.FileSystem, root: str, snapshot: Snapshot, named: set[str],
                shards: Mapping[Shard, str]) -> Iterator[str]:
    """Yield a line for each file that exists but is not listed. The files that a damaged shard lists are unknown, so
    there is no line for its folder. Files of late attempts are hidden from readers, and are not an error."""
    folder = root if snapshot.lake is None else location.resolve(snapshot.uri)[1]  # a lake has other versions' files
    own = folder.removeprefix(root).lstrip("/")
    named = named | {join(own, MANIFEST), MARKER} | {shard.path for shard in shards}
    if not snapshot.others:
        named |= _UNNAMED_ONCE
    unknown = {shard.folder for shard, complaint in shards.items() if complaint}
    for info in filesystem.get_file_info(fs.FileSelector(folder, recursive=True)):
        path = info.path.removeprefix(root).lstrip("/")
        if info.type != fs.FileType.Directory and path not in named and path.rpartition("/")[0] not in unknown \
                and not attempts.is_hidden(folder, info.path):
            yield f"{path if path.isprintable() else ascii(path)}: it exists, and the manifest does not name it"
