"""`applier fsck LAKE --iceberg`: what published tables lack, and what nothing names."""

import os
from pathlib import Path

import pytest

import applier
from applier import cli
from applier.errors import UsageError
from applier.jobs.publish.iceberg import catalog as catalogs
from tests.support import iceberg_readers as readers
from tests.support.merging import SMALL, TEXT
from tests.support.small_logs import commit, insert, new_log, update


@pytest.fixture
def published(tmp_path):
    """A merging lake with three versions, all published, the second with a tag; how to check it."""
    (tmp_path / "log").mkdir()
    log, catalog = new_log(tmp_path / "log"), f"sqlite:///{tmp_path}/catalog.db"
    ends = [commit(log, insert([(n, n, TEXT) for n in range(3000)]))[1]]
    ends += [commit(log, update([(n, n, TEXT)], [(n, n, "changed")]))[1] for n in (5, 6)]
    log.close()
    for number, end in enumerate(ends):
        applier.replay(str(tmp_path / "log"), lake=tmp_path / "lake", merge_on_read=True, target_file_size=SMALL,
                       stop=("binlog.000001", end))
        applier.publish(tmp_path / "lake", iceberg=catalog, tag="two" if number == 1 else None)
    return lambda: applier.fsck(tmp_path / "lake", iceberg=catalog, quick=True)


@pytest.fixture
def folder(tmp_path, published):
    table = readers.catalog(tmp_path).load_table(("shop", "item"))
    return Path(table.location().removeprefix("file://"))


def test_nothing_is_wrong(published):
    found = published()
    assert (found.damaged, found.strays, found.orphans) == ((), (), ())


def test_orphans(tmp_path, published, folder, capsys):
    """They are no damage."""
    for name in ("metadata/lost.avro", "data/lost.deletes.parquet"):
        (folder / name).write_text("lost")
    found = published()
    assert found.damaged == () and found.orphan_bytes == 8
    assert found.orphans == tuple(f"file://{folder}/{name}" for name in ("data/lost.deletes.parquet",
                                                                        "metadata/lost.avro"))
    assert cli.main(["fsck", str(tmp_path / "lake"), "--iceberg", f"sqlite:///{tmp_path}/catalog.db"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].endswith("; 2 orphans, 0.0 MB") and lines[0].endswith(": an orphan, which no table names")
    for path in folder.rglob("*.*"):
        os.utime(path, (0, 0))
    assert applier.fsck(tmp_path / "lake", iceberg=f"sqlite:///{tmp_path}/catalog.db",
                        remove_orphans=True).removed == found.orphans
    table = readers.catalog(tmp_path).load_table(("shop", "item"))
    for snapshot in table.snapshots():
        assert table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows == 3000


@pytest.mark.parametrize(("pattern", "words"), [
    ("metadata/snap-*.avro", "it is missing, and snapshot"), ("metadata/*-m0.avro", "it is missing, and snapshot"),
    ("data/*.deletes.parquet", "it is missing, and snapshot")])
def test_what_is_missing(published, folder, pattern, words):
    """Where metadata cannot be read, no file is called an orphan."""
    sorted(folder.glob(pattern))[0].unlink()
    found = published()
    assert found.damaged and all(words in line and line.startswith("shop.item: ") for line in found.damaged)
    assert found.orphans == ()


def test_files_of_rows(tmp_path, published):
    """Those of the current snapshot, and of tags."""
    changes = sorted((tmp_path / "lake").rglob("changes/*.data"), key=lambda path: path.stat().st_mtime)
    changes[0].write_bytes(b"?")
    [of_version, *_, of_table] = published().damaged
    assert "it has 1 bytes" in of_table and of_table.startswith("shop.item: file://") and "version" in of_version
    with pytest.raises(UsageError, match="the catalog cannot be opened"):
        applier.fsck(tmp_path / "lake", iceberg="nobody's")


def test_files_that_cannot_be_listed(published, monkeypatch):
    monkeypatch.setattr(catalogs, "IMPLEMENTATION", "pyiceberg.io.fsspec.FsspecFileIO")
    with pytest.raises(UsageError, match=r"FsspecFileIO, which cannot list folders.*py-io-impl"):
        published()
