"""Positions of dead rows, of a lake that merges on read, as delete files of Iceberg.

The lake's files of positions name files without their folders, since a lake can be moved; Iceberg's name them as the
table does. So each of the lake's becomes a delete file of the table, in the table's own folder, and stays
as long as the lake's does. Its name begins with that of the lake's file.

A delete file applies to data files that were committed with it or before it. So one may stay only while the table
follows the lake's versions: then positions in files that a commit adds are always in files that are new as well. In any
other case, as when an older version is published, or files have other paths, all delete files are written again.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import Transaction
from pyiceberg.typedef import Record

from applier.snapshot.files import location
from applier.snapshot.files.checks import check_columns, reading
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.row_groups import GroupedFile
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import POSITIONS

_PATH, _POS = 2147483546, 2147483545
"""The field ids of a delete file's columns, by the specification."""
_SCHEMA = pa.schema([pa.field("file_path", pa.dictionary(pa.int32(), pa.string()), nullable=False,
                              metadata={"PARQUET:field_id": str(_PATH)}),
                     pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": str(_POS)})])
_GROUP_ROWS = 1 << 20
_THREADS = 8


def stem_of(path: str) -> str:
    """Return the stem of a file of rows or of positions, by its path in a table, or the delete file made of it."""
    return path.rpartition("/")[2].partition(".")[0]


def kept(former: TableEntry | None, entry: TableEntry, data: Iterable[DataFile], deletes: Sequence[DataFile],
         io: FileIO) -> dict[str, DataFile]:
    """Return the delete files of a table that stay, by the stems of the lake's files of positions. `former` is the
    table at the version that was published last, unless that is a later one; `data` and `deletes` are the table's
    current files."""
    if former is None or {stem_of(file.file_path) for file in data} != {
            file.stem for files in (former.files, former.row_files) for file in files if file.stored_rows}:
        return {}
    wanted = {file.stem for file in entry.positions} & {file.stem for file in former.positions}
    found = {stem_of(file.file_path): file for file in deletes if stem_of(file.file_path) in wanted}
    with ThreadPoolExecutor(_THREADS) as pool:
        return {stem: file for (stem, file), is_whole in zip(
            found.items(), pool.map(lambda one: _is_whole(io, one), found.values()), strict=True) if is_whole}


def _is_whole(io: FileIO, file: DataFile) -> bool:
    try:
        return len(io.new_input(file.file_path)) == file.file_size_in_bytes
    except OSError:
        return False


def delete_files(transaction: Transaction, base: str, positions: Collection[FileEntry],
                 paths: Mapping[str, str]) -> list[DataFile]:
    """Write a delete file for each of the lake's files of positions; `paths` has by stems the table's paths of the
    files of rows. Positions in other files are left out. Raises SnapshotError for a file that is missing or damaged,
    OSError where nothing can be written."""
    return [made for file in positions if (made := _delete_file(transaction, base, file, paths)) is not None]


def _delete_file(transaction: Transaction, base: str, file: FileEntry, paths: Mapping[str, str]) -> DataFile | None:
    rows = _rows(base, file, paths)
    if not rows.num_rows:
        return None
    bounds: list[str] = [rows.column("file_path")[end].as_py() for end in (0, -1)]
    table = transaction._table
    path = table.location_provider().new_data_location(f"{file.stem}.{uuid.uuid4().hex[:12]}.deletes.parquet")
    output = table.io.new_output(path)
    with output.create() as sink, pq.ParquetWriter(
            sink, _SCHEMA, compression="zstd", store_schema=False, use_dictionary=["file_path"]) as writer:
        writer.write_table(rows, row_group_size=_GROUP_ROWS)
    return DataFile.from_args(
        content=DataFileContent.POSITION_DELETES, file_path=path, file_format=FileFormat.PARQUET, partition=Record(),
        record_count=rows.num_rows, file_size_in_bytes=len(output), column_sizes={}, value_counts={},
        null_value_counts={}, nan_value_counts={}, lower_bounds={_PATH: bounds[0].encode()},
        upper_bounds={_PATH: bounds[1].encode()}, split_offsets=None, sort_order_id=None, spec_id=0, equality_ids=None,
        key_metadata=None)


def _rows(base: str, file: FileEntry, paths: Mapping[str, str]) -> pa.Table:
    """Return a file of positions as a delete file has it, in order."""
    filesystem, root = location.resolve(base)
    path = f"{root}/{file.path}"
    known = sorted(paths.values())
    stems = pa.array([stem_of(one) for one in known], pa.string())
    numbers, positions = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    with reading(path):
        grouped = GroupedFile(filesystem, path, file)
        check_columns(grouped.schema, POSITIONS, path)
        for group in range(len(grouped.groups)):
            stored = grouped.read(group)
            found = pc.index_in(stored.column("file"), stems).combine_chunks()
            inside = found.is_valid()
            numbers.append(found.filter(inside).to_numpy())
            positions.append(stored.column("position").filter(inside).to_numpy())
    number, position = np.concatenate(numbers), np.concatenate(positions)
    order = np.argsort(number, kind="stable")  # those of a file are in their order
    return pa.table([pa.DictionaryArray.from_arrays(pa.array(number[order], pa.int32()), pa.array(known, pa.string())),
                     position[order]], schema=_SCHEMA)
