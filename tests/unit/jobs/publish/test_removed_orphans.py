"""`applier fsck LAKE --iceberg --remove-orphans`: what goes, and that nothing goes that a table needs."""

import gzip
import os
import shutil
import time
from pathlib import Path
from unittest import mock

import pytest
from pyiceberg.table import StaticTable

import applier
from applier import cli
from applier.errors import UsageError
from applier.jobs.publish.iceberg import commits
from tests.support import iceberg_readers as readers


@pytest.fixture
def publish(tmp_path, log):
    """Makes a version of what the log has now, and publishes it."""
    numbers = iter(range(2, 100))

    def run(catalog="catalog", **options):
        log.rotate(tmp_path / f"binlog.{next(numbers):06}")
        files = sorted(tmp_path.glob("binlog.*"))[:-1]
        applier.replay(files, lake=tmp_path / "lake")
        return applier.publish(tmp_path / "lake", iceberg=f"sqlite:///{tmp_path}/{catalog}.db", **options)

    return run


@pytest.fixture
def removed(tmp_path):
    """Makes all files of tables some days old, and removes orphans: their names, if all snapshots can still be read."""
    def run(catalog="catalog", days=2):
        for path in files(tmp_path):
            os.utime(path, (time.time() - days * 86400,) * 2)
        found = applier.fsck(tmp_path / "lake", iceberg=f"sqlite:///{tmp_path}/{catalog}.db", remove_orphans=True)
        assert found.orphans == () and not any(Path(path.removeprefix("file://")).exists() for path in found.removed)
        for name in readers.names(tmp_path):
            table = readers.catalog(tmp_path).load_table(tuple(name.split(".")))
            for snapshot in table.snapshots():
                table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
        return sorted(path.rpartition("/")[2] for path in found.removed)

    return run


def files(folder):
    return {path for path in (folder / "warehouse").rglob("*") if path.is_file()}


def insert(log, *ids, table="t"):
    with log.transaction():
        log.insert(f"d.{table}", {"id": list(ids), "v": ["x"] * len(ids)})


def lost(publish, folder):
    """Publish until just before the catalog would change; return the names of the files that nothing needs."""
    before = files(folder)
    with mock.patch.object(commits, "Session", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        publish()
    return sorted(path.name for path in files(folder) - before)


def test_what_was_lost_goes_when_it_is_old(tmp_path, log, publish, removed, capsys):
    """Tags stay, and other files than a publication writes, too."""
    publish(tag="first")
    insert(log, 3)
    left = lost(publish, tmp_path)
    assert removed(days=40) == [], "it may be the current state of a catalog that moved"
    insert(log, 4)
    publish()
    metadata = tmp_path / "warehouse/d/t/metadata"
    more = {metadata / "version-hint.text": b"1", metadata.parent / "notes.avro": b"?",
            metadata.parent / "data/other.parquet": b"?"}
    more[metadata / "00009-cut.metadata.json"] = b'{"format-version": 2'
    for path, content in more.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    assert removed() == ["00009-cut.metadata.json"], "it may be the current state of a copy of the catalog"
    (metadata / "00009-cut.metadata.json").write_bytes(b'{"format-version": 2')
    named = [name for name in left if name.endswith(".avro")]
    [lost_metadata] = {*left} - {*named}
    os.utime(metadata / lost_metadata, (time.time() - 31 * 86400,) * 2)
    for path in files(tmp_path) - {metadata / lost_metadata}:
        os.utime(path)
    catalog = f"sqlite:///{tmp_path}/catalog.db"
    command = ["fsck", str(tmp_path / "lake"), "--iceberg", catalog, "--remove-orphans"]
    assert cli.main([*command[:-1]]) == 0, "all others are young"
    assert f"; {len(left) + 1} orphans, " in capsys.readouterr().out
    assert removed(days=31) == sorted([*left, "00009-cut.metadata.json"])
    assert all(path.exists() for path in list(more)[:3])
    table = readers.catalog(tmp_path).load_table(("d", "t"))
    first = table.scan(snapshot_id=table.snapshot_by_name("first").snapshot_id).to_arrow()
    assert sorted(first["id"].to_pylist()) == [1, 2] and table.scan().to_arrow().num_rows == 4
    assert cli.main(command) == 0 and "orphan" not in capsys.readouterr().out


@pytest.mark.parametrize("statements", [
    ["RENAME TABLE t TO x", "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))"],
    ["RENAME TABLE t TO x, u TO t", "CREATE TABLE u (id INT PRIMARY KEY)"],
    ["DROP TABLE t", "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))"]])
def test_tables_with_one_folder(tmp_path, log, publish, removed, statements):
    publish()
    insert(log, 3)
    publish()
    former = files(tmp_path)
    for statement in statements:
        log.query(statement, "d")
    publish()
    assert removed() == [] and former <= files(tmp_path)


def test_catalogs_with_one_warehouse(tmp_path, log, publish, removed):
    publish()
    publish(catalog="other")
    insert(log, 3)
    publish(catalog="other")
    for catalog in ("catalog", "other"):
        assert removed(catalog) == []


@pytest.mark.parametrize("name", [None, "{}.gz.metadata.json", "{}.metadata.json.gz"])
def test_copies_of_a_catalog_that_diverged(tmp_path, log, publish, removed, name):
    """Each has a state that the other does not name. Other programs may compress metadata."""
    publish()
    shutil.copy(tmp_path / "catalog.db", tmp_path / "other.db")
    former = files(tmp_path)
    insert(log, 3)
    publish(catalog="other")
    if name:
        [path] = (path for path in files(tmp_path) - former if path.name.endswith(".metadata.json"))
        path.with_name(name.format("00001-of-other")).write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    insert(log, 4)
    publish()
    there = files(tmp_path)
    assert removed() == [] and files(tmp_path) == there
    if name is None:
        assert applier.fsck(tmp_path / "lake", iceberg=f"sqlite:///{tmp_path}/other.db").damaged == ()


def test_a_catalog_that_moved(tmp_path, log, publish, removed):
    """The state that it had in the old place names less."""
    publish()
    shutil.copy(tmp_path / "catalog.db", tmp_path / "old.db")
    for number in (3, 4, 5):
        insert(log, number)
        publish()
    there = files(tmp_path)
    assert removed("old") == [] and files(tmp_path) == there


@pytest.mark.parametrize("damage", ["*-m0.avro", "snap-*.avro", "another format", "gzip", "bytes"])
def test_nothing_goes_where_metadata_cannot_be_read(tmp_path, log, publish, damage):
    """Of a table of the catalog, whichever, or of one in its folders."""
    publish()
    insert(log, 3)
    lost(publish, tmp_path)
    insert(log, 4)
    publish()
    metadata = next(path for path in files(tmp_path) if path.match("t/metadata/*.json")).parent
    if damage == "another format":
        (metadata / "00000-new.metadata.json").write_text('{"format-version": 77, "table-uuid": "1"}')
    elif damage == "gzip":
        (metadata / "00000-new.metadata.json.gz").write_bytes(gzip.compress(b'{"format-version": 2}')[:-9])
    elif damage == "bytes":
        (metadata / "00000-new.metadata.json").write_bytes(b"(\xb5/\xfd")
    else:
        location = readers.catalog(tmp_path).load_table(("d", "t")).metadata_location
        table = StaticTable.from_metadata(location)
        newest = table.current_snapshot()
        path = newest.manifest_list if damage.startswith("snap") else newest.manifests(table.io)[0].manifest_path
        os.unlink(path.removeprefix("file://"))
    there = files(tmp_path)
    for path in there:
        os.utime(path, (0, 0))
    found = applier.fsck(tmp_path / "lake", iceberg=f"sqlite:///{tmp_path}/catalog.db", remove_orphans=True)
    assert (found.orphans, found.removed, files(tmp_path)) == ((), (), there)


def test_without_a_catalog(tmp_path, publish):
    publish()
    with pytest.raises(UsageError, match="--remove-orphans applies only to an Iceberg catalog"):
        applier.fsck(tmp_path / "lake", remove_orphans=True)
