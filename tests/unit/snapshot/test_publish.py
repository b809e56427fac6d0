"""Publishing: the output is absent or complete, whatever happens and whenever."""

import fcntl
import os
import pathlib
import subprocess
import sys
from dataclasses import replace

import pytest
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from applier.errors import AnotherRun, SnapshotError
from applier.io.disk import durable
from applier.snapshot import publish
from applier.snapshot.files import location
from applier.snapshot.files.digest import digest_of
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.manifest import BinlogPosition, Snapshot, load
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableWriter
from tests.support.folders import ROOT
from tests.unit.snapshot.publishing_run import ROWS, check_complete, definition, publish_once

POSITION = BinlogPosition("binlog.000001", 4, "", None, "mysql")


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A file system that is not local as far as anybody can tell: store://x/y is tmp_path/x/y."""
    remote = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    local = location.resolve

    def resolve(uri):
        return (remote, uri.removeprefix("store://")) if uri.startswith("store://") else local(uri)

    monkeypatch.setattr(location, "resolve", resolve)
    return tmp_path


@pytest.fixture(params=["beside", "mount", "store"])
def output(request, tmp_path, monkeypatch):
    """An output that does not exist yet, on a local file system, as a mount point, on another file system."""
    if request.param == "mount":
        monkeypatch.setattr(os.path, "ismount", lambda path: True)
    if request.param == "store":
        request.getfixturevalue("store")
        return "store://new/out"
    return str(tmp_path / "new/out")


def _local(output, tmp_path):
    return pathlib.Path(output.replace("store://", f"{tmp_path}/"))


def test_published(output, tmp_path):
    """AP-SNAP, and no left-over: strays of dead attempts, markers, staging directories."""
    snapshot = publish_once(output)
    assert snapshot.uri == output and load(output) == snapshot
    folder = _local(output, tmp_path)
    check_complete(str(folder))
    assert sorted(path.name for path in folder.iterdir()) == [
        "_conflicts.parquet", "_report.json", "_schema.sql", "_snapshot.json", "shop"]
    assert os.listdir(folder.parent) == ["out"]
    assert folder.stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_nothing_is_visible_before_the_end(output, tmp_path):
    with publish.begin(output) as staging:
        staging.target("shop", "orders")
        with pytest.raises(SnapshotError, match="not a complete snapshot"):
            load(output)


def test_an_error_leaves_nothing(output, tmp_path):
    with pytest.raises(ZeroDivisionError), publish.begin(output) as staging:
        with TableWriter(staging.target("a", "b"), 0, ROWS.schema) as writer:
            writer.write(ROWS)
            writer.close()
        _ = 1 / 0
    assert not [path for path in (tmp_path / "new").rglob("*") if path.is_file() or path.name != "out"]
    publish_once(output)
    check_complete(str(_local(output, tmp_path)))


def test_output_that_is_there_is_never_touched(output, tmp_path):
    publish_once(output)
    folder = _local(output, tmp_path)
    before = sorted(folder.rglob("*"))
    with pytest.raises(SnapshotError, match="there is a snapshot already"):
        publish_once(output)
    (folder / "_snapshot.json").unlink()
    with pytest.raises(SnapshotError, match="was not left by") as raised:
        publish_once(output)
    assert "--output" in raised.value.hint
    assert [*before] == sorted([*folder.rglob("*"), folder / "_snapshot.json"])


def test_an_empty_directory_may_be_there(output, tmp_path):
    _local(output, tmp_path).mkdir(parents=True)
    publish_once(output)
    check_complete(str(_local(output, tmp_path)))


def test_output_is_a_file_or_under_one(tmp_path):
    (tmp_path / "file").write_text("mine")
    for place in ("file", "file/out"):
        with pytest.raises(SnapshotError):
            publish.begin(str(tmp_path / place))
    assert (tmp_path / "file").read_text() == "mine" and os.listdir(tmp_path) == ["file"]


def test_output_through_a_symlink(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    publish_once(str(tmp_path / "link"))
    check_complete(str(tmp_path / "real"))


def test_two_runs_for_one_output(tmp_path):
    """Neither cleans up after the other while it lives; the first to publish wins."""
    output = str(tmp_path / "out")
    with publish.begin(output) as first:
        assert publish_once(output).uri == output
        with pytest.raises(SnapshotError, match="there is a snapshot already"):
            first.commit(Snapshot(POSITION, ()), "", {})
    assert os.listdir(tmp_path) == ["out"]
    check_complete(output)


def test_two_runs_in_one_mount_point(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    output = str(tmp_path / "out")
    with publish.begin(output):
        # A lock belongs to an opened file, so a second run in this process is as good as another process.
        with pytest.raises(AnotherRun, match="another run is writing there"):
            publish.begin(output)
    publish_once(output)


def test_file_systems_without_locks(tmp_path, monkeypatch):
    """Nothing is treated as dead there."""
    def no_locks(*_):
        raise OSError(9, "Bad file descriptor")
    monkeypatch.setattr(fcntl, "flock", no_locks)
    (tmp_path / ".out.staging-1-x").mkdir()
    publish_once(str(tmp_path / "out"))
    assert sorted(os.listdir(tmp_path)) == [".out.staging-1-x", "out"]


def test_only_own_left_overs_are_removed(tmp_path):
    for name in (".out.staging-1-dead", ".out2.staging-1-dead", "out.staging-1-x"):
        (tmp_path / name / "deep").mkdir(parents=True)
    publish_once(str(tmp_path / "out"))
    assert sorted(os.listdir(tmp_path)) == [".out2.staging-1-dead", "out", "out.staging-1-x"]


def test_all_files_and_folders_are_on_the_disk(tmp_path, monkeypatch):
    """Each once, however many threads wait for them; one that cannot be is an error."""
    paths = {str(tmp_path)}
    for number in range(40):
        folder = tmp_path / f"{number % 3}" / "deep"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number}").touch()
        paths |= {str(folder / f"file{number}"), str(folder), str(folder.parent)}
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.readlink(f"/proc/self/fd/{handle}")))
    durable.sync_tree(str(tmp_path))
    assert sorted(synced) == sorted(paths)
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(FileNotFoundError):
        durable.sync_tree(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("base_on, output_on", [("local", "local"), ("store", "store"), ("local", "store"),
                                                ("store", "local")])
def test_carry_over(tmp_path, store, base_on, output_on):
    """Files that stay as they are, by link where that can be; the base does not change."""
    places = {"local": str(tmp_path), "store": "store:/"}
    base = publish_once(f"{places[base_on]}/base")
    snapshot = publish_once(f"{places[output_on]}/out", base)
    check_complete(str(tmp_path / "base"))
    check_complete(str(tmp_path / "out"))
    for before, after in zip(base.tables[0].files, snapshot.table("shop", "copies").files, strict=True):
        assert (after.rows, after.min_key) == (before.rows, before.min_key)
        assert after.path.startswith("shop/copies/")
        linked = os.path.samefile(tmp_path / "base" / before.path, tmp_path / "out" / after.path)
        assert linked == (base_on == output_on == "local")


def test_carry_over_where_links_cannot_be(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(18, "Invalid cross-device link")
    monkeypatch.setattr(os, "link", no_links)
    publish_once(str(tmp_path / "out"), publish_once(str(tmp_path / "base")))
    check_complete(str(tmp_path / "out"))


def test_a_file_that_is_carried_over_takes_the_place_of_none(tmp_path):
    """What is there may be a link to a file of the base."""
    base = publish_once(str(tmp_path / "base"))
    first, second = base.table("shop", "orders").files
    same_name = replace(second, path=f"elsewhere/{first.path.rpartition('/')[2]}")
    (tmp_path / "base/elsewhere").mkdir()
    os.rename(tmp_path / "base" / second.path, tmp_path / "base" / same_name.path)
    with pytest.raises(SnapshotError, match="File exists"), publish.begin(str(tmp_path / "out")) as staging:
        staging.carry_over(base, [first, same_name], "shop", "orders")
    assert digest_of((tmp_path / "base" / first.path).read_bytes()) == first.digest


def test_bytes_that_pass_through_are_compared(tmp_path, monkeypatch):
    """A copy reads them, unlike a link: of a base on another device, with a changed byte."""
    base = publish_once(str(tmp_path / "base"))
    path = tmp_path / "base" / base.tables[0].files[0].path
    data = path.read_bytes()
    path.write_bytes(data[:20] + bytes([data[20] ^ 1]) + data[21:])
    publish_once(str(tmp_path / "linked"), base)
    monkeypatch.setattr(durable, "link", lambda source, target: False)
    with pytest.raises(SnapshotError, match="was changed") as error:
        publish_once(str(tmp_path / "out"), base)
    assert error.value.file == str(path) and sorted(os.listdir(tmp_path)) == ["base", "linked"]


def test_base_that_lost_a_file(tmp_path):
    base = publish_once(str(tmp_path / "base"))
    path = tmp_path / "base" / base.tables[0].files[0].path
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SnapshotError, match="bytes, but its manifest says"):
        publish_once(str(tmp_path / "out"), base)
    path.unlink()
    with pytest.raises(SnapshotError, match="missing"):
        publish_once(str(tmp_path / "out"), base)
    assert os.listdir(tmp_path) == ["base"]


def test_manifest_that_does_not_fit_the_files(output, tmp_path):
    for files in ((FileEntry("a/b/none.parquet", 1, 5),), (FileEntry("x", 1, 5, 3, 4), FileEntry("y", 1, 5, 4, 4))):
        table = TableEntry("a", "b", definition("b", "a"), ("id",), "int" if len(files) == 2 else None, files)
        with pytest.raises(SnapshotError, match=r"missing, or overlaps|is missing"), publish.begin(output) as staging:
            staging.commit(Snapshot(POSITION, (table,)), "", {})
    with pytest.raises(SnapshotError, match="not a complete snapshot"):
        load(output)


def test_table_names_that_are_no_paths(tmp_path):
    """A table is only ever written below the snapshot, whatever its name."""
    with publish.begin(str(tmp_path / "deep/er/out")) as staging:
        for database, name in [("..", ".."), ("/etc", "a/b"), ("é", "_t")]:
            target = staging.target(database, name)
            assert os.path.realpath(f"{target.root}/{target.folder}").startswith(os.path.realpath(target.root) + os.sep)
    assert os.listdir(tmp_path / "deep/er") == []


@pytest.mark.by_turns(one_in=2)
@pytest.mark.slow
@pytest.mark.parametrize("where", ["beside", "in-place"])
def test_killed(where, tmp_path):
    """kill -9 before every line of the modules that publish; `make torture` does it at random times, too."""
    script = pathlib.Path(__file__).with_name("publishing_run.py")
    run = subprocess.run([sys.executable, str(script), "lines", where, str(tmp_path)], cwd=ROOT, check=False, text=True,
                         env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True)
    assert run.returncode == 0, run.stderr
    kills, absent = map(int, run.stdout.split())
    assert kills > 20 and 0 < absent <= kills
