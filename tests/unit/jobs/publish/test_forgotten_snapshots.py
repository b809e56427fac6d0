"""Tables of Iceberg forget snapshots that the lake has no files of any more, and their metadata with them."""

import os

import pytest
from pyiceberg.catalog import load_catalog

import applier
from tests.support import iceberg_readers as readers
from tests.support.iceberg_server import serving


@pytest.fixture(params=["sql", "rest with transactions", "rest"])
def catalog(tmp_path, request):
    """Where tables are published, and how a reader opens it again."""
    if request.param == "sql":
        yield f"sqlite:///{tmp_path}/catalog.db", lambda: readers.catalog(tmp_path)
        return
    with serving(tmp_path, transactions="with" in request.param) as server:
        yield server.uri, lambda: load_catalog("reader", type="rest", uri=server.uri)


@pytest.fixture
def table(catalog):
    """The table d.t as it is now."""
    return lambda: catalog[1]().load_table(("d", "t"))


@pytest.fixture
def publish(tmp_path, log, catalog):
    """Publishes what the log has now as the lake's next version."""
    numbers = iter(range(2, 100))

    def run():
        log.rotate(tmp_path / f"binlog.{next(numbers):06}")
        files = sorted(tmp_path.glob("binlog.*"))[:-1]
        applier.replay(files, lake=tmp_path / "lake")
        applier.publish(tmp_path / "lake", iceberg=catalog[0])

    return run


def insert(log, *ids):
    with log.transaction():
        log.insert("d.t", {"id": list(ids), "v": ["x"] * len(ids)})


def versions(table):
    return [int(table.snapshot_by_id(entry.snapshot_id).summary["applier.version"]) for entry in table.history()]


def metadata_files(table):
    """Those that the table names, and those that are there."""
    named = {os.path.basename(path) for snapshot in table.snapshots() for path in (
        snapshot.manifest_list, *(one.manifest_path for one in snapshot.manifests(table.io)))}
    folder = table.metadata_location.removeprefix("file://").rpartition("/")[0]
    return named, {name for name in os.listdir(folder) if name.endswith(".avro")}


def test_with_the_versions_that_could_read_them(tmp_path, log, publish, table, catalog):
    """The snapshot that the oldest version reads stays, though it was published before."""
    publish()
    for number in (3, 4):
        insert(log, number)
        publish()
    with log.transaction():
        log.insert("d.u", {"id": [1]})
    publish()  # a version in which the table stays as it is
    found = table()
    assert versions(found) == [1, 2, 3]
    first, second = (applier.Snapshot(f"{tmp_path}/lake/_versions/{number}").position for number in (1, 2))
    assert applier.published(iceberg=catalog[0], as_of=first).notes == ()
    assert applier.expire(tmp_path / "lake", 1).kept == (4,)
    found = applier.published(iceberg=catalog[0], as_of=second)
    assert [one.name for one in found.tables] == ["d.u"] and "d.t was there can no longer be read" in found.notes[0]
    insert(log, 7)
    publish()
    found = table()
    assert versions(found) == [3, 5]
    before, now = (found.scan(snapshot_id=entry.snapshot_id).to_arrow()["id"].to_pylist() for entry in found.history())
    assert (before, now) == ([1, 2, 3, 4], [1, 2, 3, 4, 7])
    named, there = metadata_files(found)
    assert named == there


@pytest.mark.parametrize("catalog", ["sql"], indirect=True)
def test_what_tags_name_stays(tmp_path, log, publish, table):
    publish()
    for number in (3, 4, 5):
        insert(log, number)
        publish()
    found = table()
    found.manage_snapshots().create_tag(found.history()[1].snapshot_id, "kept").commit()
    applier.expire(tmp_path / "lake", 1)
    insert(log, 6)
    publish()
    found = table()
    assert versions(found) == [2, 4, 5] and found.snapshot_by_name("kept").snapshot_id == found.history()[0].snapshot_id
    named, there = metadata_files(found)
    assert named == there


@pytest.mark.parametrize("catalog", ["sql", "rest"], indirect=True)
def test_old_metadata_go_as_the_table_says(tmp_path, log, publish, table):
    """A server that commits to several tables at once does that itself."""
    publish()
    found = table()
    with found.transaction() as transaction:
        transaction.set_properties({"write.metadata.previous-versions-max": "2"})
    for number in range(3, 6):
        insert(log, number)
        publish()
    found = table()
    folder = found.metadata_location.removeprefix("file://").rpartition("/")[0]
    assert len([name for name in os.listdir(folder) if name.endswith(".metadata.json")]) == 3
    assert len(found.snapshots()) == 4  # nothing has expired
