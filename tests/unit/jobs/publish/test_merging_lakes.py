"""Lakes that merge on read, in a catalog of Iceberg: their positions are delete files there."""

import os
import shutil
from pathlib import Path
from unittest import mock

import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.manifest import DataFileContent, ManifestContent

import applier
from applier.errors import AnotherRun, SnapshotError, UsageError
from applier.jobs.publish.iceberg import commits as own
from tests.support import iceberg_readers as readers
from tests.support.merging import ROWS, SMALL, TEXT, entry_of, rows_of
from tests.support.object_store import object_store
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


def newest(folder):
    return applier.Snapshot(applier.Snapshot(folder / "lake").uri)


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
    made = found.history()
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
    assert rows == sorted(rows) and len(rows) == entry.data_file.record_count == 7
    assert entry.data_file.lower_bounds == {2147483546: rows[0][0].encode()}
    assert entry.data_file.upper_bounds == {2147483546: rows[-1][0].encode()}
    assert found.current_snapshot().summary["total-position-deletes"] == "7"


def new_files(table, before):
    """What a commit wrote besides the list of manifests, as the names of files of metadata and data."""
    folder = table().location().removeprefix("file://")
    there = {path.name for path in Path(folder).rglob("*") if path.suffix in (".avro", ".parquet")}
    return there - before, there


def test_rounds_cost_what_changed(tmp_path, follow, publish, table):
    """A round lists no file that stays, and writes positions that are new only."""
    follow(0)
    publish()
    follow(1)
    publish()
    there, listed = new_files(table, set())[1], set()
    for number in range(2, N_ROUNDS):
        before, after = entry_of(newest(tmp_path)), entry_of(follow(number))
        [result] = publish().tables
        names = [{file.stem for files in (entry.row_files, entry.positions) for file in files} for entry in
                 (before, after)]
        assert result.files_added == len(names[1] - names[0]) and result.files_removed == len(names[0] - names[1])
        assert result.bytes_added < 20_000
        new, there = new_files(table, there)
        assert len([name for name in new if name.endswith(".parquet")]) == 1
        assert len([name for name in new if name.endswith(".avro")]) == 3  # row files, deletes, the list of these
        listed.add(next(one.manifest_path for one in table().current_snapshot().manifests(table().io)))
    assert len(listed) == 1  # the manifest of the data files


def test_an_older_version_and_back(tmp_path, follow, publish, table):
    """Delete files apply to files that were added before them, and have no positions in files that the table did not
    have: files that come back need them again."""
    made = [follow(number) for number in range(3)]
    applier.compact(tmp_path / "lake", compact_budget=1)  # of one range
    made.append(newest(tmp_path))
    assert {file.stem for file in entry_of(made[2]).positions} & {file.stem for file in entry_of(made[3]).positions}
    made += [follow(number) for number in range(3, N_ROUNDS)]
    for number in (3, 2, 3, 8, 7, 2, 8, 3, 1, 8):
        publish(made[number].uri)
        assert readers.cells(readers.with_pyiceberg(table())) == expected(made[number]), number
        assert readers.cells(readers.with_duckdb(table())) == expected(made[number]), number


def test_compacted_between(tmp_path, follow, publish, table):
    """The files that compaction replaces go in one commit, and their delete files with them."""
    follow(1)
    follow(3)
    publish()
    applier.compact(tmp_path / "lake")
    made = newest(tmp_path)
    [result] = publish().tables
    assert result.change == "changed" and kinds(table()) == (len(entry_of(made).files), 0)
    assert len(table().history()) == 2 and readers.cells(readers.with_pyiceberg(table())) == expected(made)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_lake_that_moves(tmp_path, follow, publish, table, is_there):
    """Of a copy, files that the catalog knows stay where it has them, as long as they are there."""
    follow(1)
    follow(2)
    publish()
    shutil.copytree(tmp_path / "lake", tmp_path / "moved")
    if not is_there:
        shutil.rmtree(tmp_path / "lake")
    ours = follow(4, tmp_path / "moved")
    publish(tmp_path / "moved")
    places = {entry.data_file.file_path.split("/_data/")[0].rpartition("/")[2]
              for manifest in table().current_snapshot().manifests(table().io)
              for entry in manifest.fetch_manifest_entry(table().io) if entry.data_file.content == DataFileContent.DATA}
    assert places == ({"lake", "moved"} if is_there else {"moved"})
    for reader in readers.READERS:
        assert readers.cells(reader(table())) == expected(ours)
    if is_there:  # another lake with the same id and numbers
        theirs = follow(3)
        theirs = follow(6)
        publish()
        assert readers.cells(readers.with_pyiceberg(table())) == expected(theirs)
        publish(tmp_path / "moved")
        assert readers.cells(readers.with_pyiceberg(table())) == expected(ours)
        shutil.rmtree(tmp_path / "lake")
        ours = follow(7, tmp_path / "moved")
        publish(tmp_path / "moved")
        assert readers.cells(readers.with_pyiceberg(table())) == expected(ours)


def test_from_whole_files_and_to_them(log, tmp_path, follow, publish, table):
    """A table that was published as whole files, out of another lake; and back."""
    whole = follow(1, tmp_path / "whole", merge_on_read=False)
    publish(tmp_path / "whole")
    follow(2, base=whole.uri)
    merging = follow(3)
    publish()
    assert kinds(table())[1] and readers.cells(readers.with_pyiceberg(table())) == expected(merging)
    found = table()
    first = found.scan(snapshot_id=found.history()[0].snapshot_id).to_arrow()
    assert readers.cells(first) == expected(whole)
    out = applier.replay(log[0], tmp_path / "out", base=merging.uri, stop=log[1][4]).snapshot
    publish(out.uri)
    assert kinds(table())[1] == 0 and readers.cells(readers.with_duckdb(table())) == expected(out)


def test_lost_and_damaged_delete_files(tmp_path, follow, publish, table):
    """The catalog's are made again; the lake's are an error, and nothing is published."""
    follow(1)
    follow(2)
    publish()
    for number, damage in ((3, Path.unlink), (4, lambda path: path.write_bytes(b""))):
        for path in Path(table().location().removeprefix("file://")).rglob("*.deletes.parquet"):
            damage(path)
        made = follow(number)
        publish()
        assert readers.cells(readers.with_pyiceberg(table())) == expected(made)
    made = follow(5)
    places = [Path(tmp_path / "lake" / file.path) for file in entry_of(made).positions]
    content, before = places[-1].read_bytes(), table().metadata_location
    places[-1].write_bytes(content[:40] + b"?" + content[41:])
    with pytest.raises(SnapshotError, match="damaged"):
        publish()
    places[-1].unlink()
    with pytest.raises(SnapshotError, match="a file of the snapshot is missing"):
        publish()
    assert table().metadata_location == before
    places[-1].write_bytes(content)
    publish()
    assert readers.cells(readers.with_pyiceberg(table())) == expected(made)


def test_of_two_publications_one_wins(tmp_path, follow, publish, table):
    """The other changes nothing, and completes when it is run again."""
    made = [follow(number) for number in range(5)]
    publish(made[1].uri)
    commit = own.commit

    def after_another(*arguments):
        with mock.patch("applier.jobs.publish.iceberg.publication.commit", commit):
            publish(made[3].uri)
        return commit(*arguments)

    with mock.patch("applier.jobs.publish.iceberg.publication.commit", after_another), \
            pytest.raises(AnotherRun, match="the catalog has changed meanwhile"):
        publish(made[4].uri)
    assert readers.cells(readers.with_pyiceberg(table())) == expected(made[3])
    for _ in range(2):
        publish(made[4].uri)
        assert readers.cells(readers.with_duckdb(table())) == expected(made[4])


def test_expired_versions(tmp_path, follow, publish, table):
    """Snapshots of expired versions go, with the delete files that only they had."""
    for number in range(6):
        made = follow(number)
        publish()
        applier.expire(tmp_path / "lake", 2)
    found = table()
    assert len(found.history()) < 6 and readers.cells(readers.with_pyiceberg(found)) == expected(made)
    named = {entry.data_file.file_path.rpartition("/")[2] for snapshot in found.snapshots()
             for manifest in snapshot.manifests(found.io) for entry in manifest.fetch_manifest_entry(found.io)
             if entry.data_file.content == DataFileContent.POSITION_DELETES}
    assert named == {path.name for path in Path(found.location().removeprefix("file://")).rglob("*.deletes.parquet")}


def test_not_in_delta(tmp_path, follow):
    follow(1)
    with pytest.raises(UsageError, match="Delta tables get whole files only"):
        applier.publish(tmp_path / "lake", delta=tmp_path / "delta")


def test_on_an_object_store(log, tmp_path, follow):
    with object_store("merging") as endpoint:
        lake, catalog = "s3://merging/lake", f"sqlite:///{tmp_path}/catalog.db"
        for number in range(3):
            made = follow(number, lake, merge_on_read=True, engine="local")
            applier.publish(lake, iceberg=catalog, warehouse="s3://merging/warehouse")
        found = load_catalog("default", type="sql", uri=catalog, **{
            "s3.endpoint": endpoint, "s3.region": "us-east-1"}).load_table("shop.item")
        assert kinds(found)[1] == 2 and readers.cells(readers.with_pyiceberg(found)) == expected(made)
