"""`applier publish --iceberg … --tag --expire`: which snapshots of tables have names, and which stay."""

import time
from datetime import timedelta
from pathlib import Path

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.table.refs import SnapshotRefType

import applier
from applier import cli
from applier.errors import UsageError
from tests.support import iceberg_readers as readers
from tests.support.iceberg_server import serving

DAY = 86400


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
    return lambda name="t": catalog[1]().load_table(("d", name))


@pytest.fixture
def publish(tmp_path, log, catalog, monkeypatch):
    """Adds rows to d.t, makes a version, and publishes it on a day."""
    versions = iter(range(2, 100))

    def run(day, *ids, **options):
        for number in ids:
            with log.transaction():
                log.insert("d.t", {"id": [number], "v": ["x"]})
        log.rotate(tmp_path / f"binlog.{next(versions):06}")
        applier.replay(sorted(tmp_path.glob("binlog.*"))[:-1], lake=tmp_path / "lake")
        with monkeypatch.context() as then:
            then.setattr(time, "time", lambda now=time.time: now() + day * DAY)
            return applier.publish(tmp_path / "lake", iceberg=catalog[0], **options)

    return run


def ids(table, **options):
    return sorted(table.scan(**options).to_arrow()["id"].to_pylist())


def versions(table):
    return [int(table.snapshot_by_id(entry.snapshot_id).summary["applier.version"]) for entry in table.history()]


def test_snapshots_that_were_replaced_long_ago_go(publish, table):
    """What was readable within the time stays, also in a table that did not change since; rows that were then current
    are those of a snapshot that is older."""
    for day in (1, 2, 6, 8):
        publish(day, day + 10)
    result = publish(10, expire="5d")
    assert {one.name: (one.change, one.snapshots_expired) for one in result.tables} == {
        "d.t": ("unchanged", 1), "d.u": ("unchanged", 0)}
    found = table()
    assert versions(found) == [2, 3, 4] and ids(found) == [1, 2, 11, 12, 16, 18]
    assert [one.snapshots_expired for one in publish(10, 40, expire=timedelta(days=1)).tables] == [2, 0]
    found = table()
    assert versions(found) == [4, 6]
    assert ids(found, snapshot_id=found.history()[0].snapshot_id) == [1, 2, 11, 12, 16, 18]
    named = {path.rpartition("/")[2] for snapshot in found.snapshots() for path in (
        snapshot.manifest_list, *(one.manifest_path for one in snapshot.manifests(found.io)))}
    folder = found.metadata_location.removeprefix("file://").rpartition("/")[0]
    assert named == {path.name for path in Path(folder).glob("*.avro")}


def test_tags(tmp_path, publish, table, catalog):
    """All tables have it, at one position; it moves; what it names stays in the table, and in the lake."""
    publish(1, 11, tag="daily")
    publish(2, 12, tag="kept/for ever")
    publish(3, 13, tag="daily")
    publish(10, 14, expire="1d")
    assert {(name, ref.snapshot_ref_type) for name, ref in table().refs().items()} == {
        ("main", SnapshotRefType.BRANCH), ("daily", SnapshotRefType.TAG), ("kept/for ever", SnapshotRefType.TAG)}
    assert table("u").refs().keys() == table().refs().keys()
    applier.expire(tmp_path / "lake", 1)
    assert [one.number for one in applier.versions(tmp_path / "lake")] == [2, 3, 4]
    publish(11, 15)
    found = table()
    assert versions(found) == [2, 3, 4, 5]
    for tag, expected in (("daily", [1, 2, 11, 12, 13]), ("kept/for ever", [1, 2, 11, 12])):
        assert ids(found, snapshot_id=found.snapshot_by_name(tag).snapshot_id) == expected
    for name in ("t", "u"):
        table(name).manage_snapshots().remove_tag("kept/for ever").commit()
    publish(12, 16, expire="1d")
    applier.expire(tmp_path / "lake", 1)
    assert [one.number for one in applier.versions(tmp_path / "lake")] == [3, 6]
    found = table()
    assert ids(found, snapshot_id=found.snapshot_by_name("daily").snapshot_id) == [1, 2, 11, 12, 13]
    assert not applier.fsck(tmp_path / "lake").damaged


def test_a_tag_and_a_snapshot_have_the_columns_of_their_position(publish, table, log):
    """Also where no file changes, as in an empty table."""
    publish(1, tag="before")
    log.query("ALTER TABLE u ADD COLUMN v VARCHAR(9) FIRST", "d")
    publish(2, tag="after")
    found = table("u")
    assert [found.scan(snapshot_id=found.snapshot_by_name(tag).snapshot_id).to_arrow().column_names
            for tag in ("before", "after")] == [["id"], ["v", "id"]]


@pytest.mark.parametrize("catalog", ["sql"], indirect=True)
def test_what_is_no_tag_and_no_time(tmp_path, publish, table, catalog, capsys, monkeypatch):
    publish(1, 11)
    found = table()
    found.manage_snapshots().create_branch(found.current_snapshot().snapshot_id, "other").commit()
    for options, words in (({"tag": "main"}, "'main' is not a name for a tag"), ({"tag": " "}, "is not a name"),
                           ({"tag": "other"}, "'other' is a branch"), ({"expire": "7"}, "--expire 7 is not a time"),
                           ({"expire": timedelta(-1)}, "is not a time")):
        with pytest.raises(UsageError, match=words):
            publish(2, **options)
    with pytest.raises(UsageError, match="either to an Iceberg catalog or as Delta"):
        applier.publish(tmp_path / "lake", delta=tmp_path / "delta", tag="daily")
    assert table().refs().keys() == {"main", "other"}
    table().manage_snapshots().remove_branch("other").commit()
    publish(2, 12)
    place, now = f"sqlite:///{tmp_path}/catalog.db", time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3 * DAY)
    assert cli.main(["publish", str(tmp_path / "lake"), "--iceberg", place, "--tag", "daily", "--expire", "1h"]) == 0
    assert ", 1 snapshot expired, " in capsys.readouterr().out.splitlines()[-1]
    assert table().refs().keys() == {"main", "daily"}
