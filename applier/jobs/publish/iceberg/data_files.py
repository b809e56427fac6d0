"""A snapshot's files of rows, as manifests of Iceberg list them. Footers are read for the statistics of the key's
columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.conversions import to_bytes
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record

from applier.errors import SnapshotError
from applier.io.resolver import absolute, divided, is_uri, join
from applier.jobs.publish.footers import from_footers
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.partitions import Partition, value_in

_FIELD_ID = b"PARQUET:field_id"


def location_of(uri: str, file: FileEntry) -> str:
    """Where a file of a snapshot is, as a catalog has it."""
    if is_uri(uri):
        location, _ = divided(join(uri, file.path))
        return location
    return f"file://{join(absolute(uri), file.path)}"


def data_files(uri: str, files: Sequence[FileEntry], schema: Schema, spec: PartitionSpec,
               partition: Partition | None) -> list[DataFile]:
    """Files of the snapshot at a path or uri, in these partitions. Raises SnapshotError for one that is missing, is
    not as its manifest says, or was written by an older program, so that readers would not know its columns."""
    expected = {field.name: field.field_id for field in schema.fields}
    results: Any = [field.field_type for field in spec.partition_type(schema).fields]

    def made(file: FileEntry, metadata: pq.FileMetaData, path: str) -> DataFile:
        columns = metadata.schema.to_arrow_schema()
        found = {field.name: int((field.metadata or {}).get(_FIELD_ID, 0)) for field in columns}
        if found != expected or any(map(pa.types.is_duration, columns.types)):
            raise SnapshotError("this file was written by an older version; Iceberg cannot read it", file=path,
                                hint="import or replay the table again, without this snapshot as the base")
        values = [] if partition is None else [value_in(metadata.metadata, partition, results[0], path)]
        return _data_file(location_of(uri, file), file, metadata, schema, Record(*values))

    return from_footers(uri, files, made)


def _data_file(location: str, file: FileEntry, metadata: pq.FileMetaData, schema: Schema,
               partition: Record) -> DataFile:
    sizes, lows, highs, nulls, counts = {}, {}, {}, {}, {}
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    for number, field in enumerate(schema.fields):
        if metadata.schema.column(number).path != field.name:
            break  # from a list on, leaves have other numbers; a key's columns are not lists
        chunks = [group.column(number) for group in groups]
        sizes[field.field_id] = sum(chunk.total_compressed_size for chunk in chunks)
        counts[field.field_id] = file.stored_rows
        statistics = [chunk.statistics for chunk in chunks if chunk.is_stats_set]
        if not chunks or len(statistics) < len(chunks):
            continue
        if all(part.has_null_count for part in statistics):
            nulls[field.field_id] = sum(part.null_count for part in statistics)
        if all(part.has_min_max for part in statistics):
            lows[field.field_id] = _bound(field.field_type, min(part.min for part in statistics))
            highs[field.field_id] = _bound(field.field_type, max(part.max for part in statistics))
    return DataFile.from_args(
        content=DataFileContent.DATA, file_path=location, file_format=FileFormat.PARQUET, partition=partition,
        record_count=file.stored_rows, file_size_in_bytes=file.bytes, column_sizes=sizes, value_counts=counts,
        null_value_counts=nulls, nan_value_counts={}, lower_bounds=lows, upper_bounds=highs, split_offsets=None,
        sort_order_id=None, spec_id=0, equality_ids=None, key_metadata=None)


def _bound(kind: Any, value: Any) -> bytes:
    return bytes(to_bytes(kind, value))
