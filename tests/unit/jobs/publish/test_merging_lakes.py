"""Lakes that merge on read, in a catalog of Iceberg: their positions are delete files there."""

import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyiceberg.manifest import DataFileContent, ManifestContent

import applier
from applier.errors import SnapshotError, UsageError
from tests.support import iceberg_readers as readers
from tests.support.merging import ROWS, SMALL, TEXT, entry_of, rows_of
from tests.support.small_logs import commit, delete, insert, new_log, update

N_ROUNDS = 8


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """An archive, and the ends of its transactions: rows; then in each some are changed, removed and added, near each
    other and far, the same ones again and again."""
    folder = tmp_path_factory.mktemp("published")
    written, ends = new_log(folder), []
    ends.append(commit(written, insert(ROWS[::2]))[1])
    for number in range(1, N_ROUNDS):
        old = TEXT if number == 1 else f"changed {number - 1}"
        ends.append(commit(
            written, update([(n, n, old) for n in (4, 5000, 15_000)], [(n, n, f"changed {number}") for n in
                                                                      (4, 5000, 15_000)]),
            delete([(n, n, TEXT) for n in (100 + 2 * number, 9000 + 20 * number)]),
            insert([(101 + 2 * number, 1, "new"), (30_000 + number, 1, "new")]))[1])
    written.close()
    return str(folder), [("binlog.000001", end) for end in ends]


@pytest.fixture
def follow(log, tmp_path):
    """Brings a lake to one of the ends."""
    def run(number, lake=None, **options):
        merge = {} if os.path.exists(lake or tmp_path / "lake") else {"merge_on_read": True}
        return applier.replay(log[0], lake=lake or tmp_path / "lake", stop=log[1][number], target_file_size=SMALL,
                              **{**merge, **options}).snapshot
    return run


@pytest.fixture
def publish(tmp_path):
    return lambda place=None, **options: applier.publish(
        place or tmp_path / "lake", iceberg=f"sqlite:///{tmp_path}/catalog.db", **options)


@pytest.fixture
def table(tmp_path):
    return lambda: readers.catalog(tmp_path).load_table(("shop", "item"))


def expected(snapshot):
    return readers.cells(rows_of(snapshot))


def kinds(table):
    """How many data files and delete files its newest snapshot has."""
    contents = [entry.data_file.content for manifest in table.current_snapshot().manifests(table.io)
                for entry in manifest.fetch_manifest_entry(table.io)]
    assert DataFileContent.EQUALITY_DELETES not in contents
    return contents.count(DataFileContent.DATA), contents.count(DataFileContent.POSITION_DELETES)


def test_every_version_by_every_reader(follow, publish, table):
    for number in range(N_ROUNDS):
        snapshot = follow(number)
        publish()
        found = table()
        for reader in readers.READERS:
            assert readers.cells(reader(found)) == expected(snapshot), (number, reader)
    entry = entry_of(snapshot)
    assert entry.row_files and kinds(found) == (len(entry.files) + len(entry.row_files), len(entry.positions))
    made = [one for one in found.history()]
    assert len(made) == N_ROUNDS
    first = found.scan(snapshot_id=made[1].snapshot_id).to_arrow()
    assert readers.cells(first) == expected(applier.Snapshot(f"{snapshot.uri.rpartition('/')[0]}/0000000002"))


def test_delete_files_are_as_specified(follow, publish, table):
    follow(0)
    follow(2)
    publish()
    found = table()
    [entry] = [entry for manifest in found.current_snapshot().manifests(found.io)
               if manifest.content == ManifestContent.DELETES for entry in manifest.fetch_manifest_entry(found.io)]
    place = entry.data_file.file_path.removeprefix("file://")
    assert [int(field.metadata[b"PARQUET:field_id"]) for field in pq.read_schema(place)] == [2147483546, 2147483545]
    rows = [tuple(row.values()) for row in pq.read_table(place).to_pylist()]
    assert rows == sorted(rows) and len(rows) == entry.data_file.record_count == os.path.getsize(place) * 0 + 7
    assert entry.data_file.lower_bounds == {2147483546: rows[0][0].encode()}
    assert entry.data_file.upper_bounds == {2147483546: rows[-1][0].encode()}
    assert found.current_snapshot().summary["total-position-deletes"] == "7"
