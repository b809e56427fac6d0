"""Commits of Iceberg's tables, of which there may be one a second for years."""

import pytest
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record

from applier.jobs.publish.iceberg.file_changes import TableFiles, change_files
from tests.support import iceberg_readers


@pytest.fixture
def table(tmp_path):
    catalog = iceberg_readers.catalog(tmp_path)
    catalog.create_namespace("d")
    return catalog.create_table(("d", "t"), Schema())


def changed(table, added, removed):
    """Files by their numbers."""
    newest = table.current_snapshot()
    now = TableFiles() if newest is None else TableFiles.of(newest, table.io)
    with table.transaction() as transaction:
        change_files(transaction, now, map(file, added), [held(table)[number] for number in removed], {"by": "us"})


def file(number):
    return DataFile.from_args(
        content=DataFileContent.DATA, file_path=f"file:///{number}.parquet", file_format=FileFormat.PARQUET,
        partition=Record(), record_count=1, file_size_in_bytes=1, column_sizes={}, value_counts={},
        null_value_counts={}, nan_value_counts={}, lower_bounds={}, upper_bounds={}, split_offsets=None,
        sort_order_id=None, spec_id=0, equality_ids=None, key_metadata=None)


def manifests(table):
    return table.current_snapshot().manifests(table.io)


def held(table):
    """The files that it has, by their numbers."""
    return {int(entry.data_file.file_path[8:-8]): entry.data_file for manifest in manifests(table)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)}


def test_manifests_without_files_go(table):
    """The one of the last commit also says what that took out."""
    changed(table, [0], [])
    for number in range(9):
        changed(table, [number + 1], [number])
    assert [*held(table)] == [9] and len(manifests(table)) == 1
    assert table.current_snapshot().summary["total-data-files"] == "1"
    assert table.current_snapshot().summary["by"] == "us"


def test_small_manifests_are_made_one(table):
    """And all files stay those of the snapshots that brought them."""
    for number in range(45):
        changed(table, [number], [number - 1] if number % 3 == 2 else [])
    assert len(manifests(table)) < 21
    assert held(table).keys() == set(range(45)) - set(range(1, 45, 3))
    entries = [entry for manifest in manifests(table) for entry in manifest.fetch_manifest_entry(table.io)]
    assert len({entry.snapshot_id for entry in entries}) == len(entries) == 30
    first = table.snapshots()[0]
    assert [entry.data_file.file_path for manifest in first.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io)] == ["file:///0.parquet"]
