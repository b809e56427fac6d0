"""A lake: versions that share files, each published at once or not at all."""

import json
import os
import shutil
import threading
from dataclasses import replace

import pytest

import applier
from applier import cli
from applier.errors import AnotherRun, SnapshotError, UsageError
from applier.snapshot import lakes, manifest
from applier.snapshot.files import shards
from applier.snapshot.files.shards import columns_of
from applier.snapshot.lake.lake_staging import Lake, open_lake
from tests.support.forked_runs import forked_runs
from tests.support.small_logs import commit, delete, insert, new_log, update

ROWS = [(n, n, "x" * 20) for n in range(2000)]
SMALL = 2000
"""Bytes of a file: the table has several."""

KILLED = """
import threading
from dataclasses import replace
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
def run(ends_at):
    calls = 0
    def at_call(frame, event, argument):
        nonlocal calls
        if event == "call" and frame.f_code.co_filename.rpartition("/")[2] in (
                "staging.py", "lake_staging.py", "lakes.py", "durable.py"):
            calls += 1
            if calls == ends_at:
                os.kill(os.getpid(), 9)
    threading.setprofile(at_call)
    sys.setprofile(at_call)
    replay_with(ThisProcess(1), ReplayOptions((sys.argv[1],), lake=sys.argv[2], file_bytes=2000))
    return calls
"""
"""Of forked_runs: kills itself before the `ends_at`-th call; returns how many calls came."""


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """An archive, and the ends of its transactions: rows, one of them changed, one removed, the table renamed, and
    renamed back with another row changed."""
    folder = tmp_path_factory.mktemp("lakes")
    written = new_log(folder)
    ends = [commit(written, insert(ROWS))[1], commit(written, update([(5, 5, "x" * 20)], [(5, 6, "y")]))[1],
            commit(written, delete([(1500, 1500, "x" * 20)]))[1]]
    written.query("RENAME TABLE item TO kept", "shop")
    ends.append(written.position)
    written.query("RENAME TABLE kept TO item", "shop")
    ends.append(commit(written, update([(9, 9, "x" * 20)], [(9, 10, "z")]))[1])
    written.close()
    return str(folder), [("binlog.000001", end) for end in ends]


@pytest.fixture
def versions(log, tmp_path):
    """A lake with a version for each of the ends."""
    lake = str(tmp_path / "lake")
    made = [applier.replay(log[0], lake=lake, stop=end, target_file_size=SMALL).snapshot for end in log[1]]
    return lake, made


def files(snapshot):
    [table] = manifest.load(snapshot.uri).tables
    return columns_of(table.files).paths


def below(lake):
    return {os.path.relpath(os.path.join(place, name), lake) for place, _, names in os.walk(lake) for name in names}


def test_versions_are_what_replays_make(log, versions, tmp_path):
    """Rows, position and definitions of each version are those of a snapshot at the same place."""
    lake, made = versions
    for number, (end, version) in enumerate(zip(log[1], made, strict=True), 1):
        plain = applier.replay(log[0], tmp_path / str(number), stop=end).snapshot
        assert version.uri == f"{lake}/_versions/{number:010}" and version.position == plain.position
        assert version.schema == plain.schema and list(version.tables) == list(plain.tables)
        assert applier.diff(plain, version).same
        assert not version.verify().damaged
    assert (tmp_path / "lake" / "LATEST").read_text() == "0000000005\n"


def test_unchanged_files_are_named_once(versions):
    lake, made = versions
    first, second, third = map(files, made[:3])
    assert len(first) > 4
    assert len(set(second) - set(first)) == 1 == len(set(third) - set(second))
    assert {path for path in below(lake) if path.startswith("shop/item/")} == {
        *first, *second, *third, *files(made[4])}
    assert {path.rpartition("/")[0] for path in files(made[3])} == {"shop/kept"}  # links, in the table's own folder
    assert os.stat(f"{lake}/{files(made[3])[-1]}").st_nlink > 1


def test_latest_version_and_one_of_them(versions):
    lake, made = versions
    assert applier.Snapshot(lake).uri == applier.Snapshot(f"{lake}/_versions/5").uri == made[4].uri
    assert applier.Snapshot(f"{lake}/_versions/0000000002/").uri == made[1].uri
    with pytest.raises(SnapshotError, match="no such file or directory"):
        applier.Snapshot(f"{lake}/_versions/6")


def test_latest_version_does_not_hang_on_the_pointer(versions):
    """LATEST is for people; a folder without a manifest is no version."""
    lake, made = versions
    os.unlink(f"{lake}/LATEST")
    os.mkdir(f"{lake}/_versions/0000000009")
    assert applier.Snapshot(lake).uri == made[4].uri


@pytest.mark.parametrize("said", [None, "", "0000000001\n", "\xff"])
def test_the_pointer_is_mended_by_a_run_without_a_version(log, tmp_path, said):
    """The run before was killed after it had published."""
    folder, ends = log
    for end in ends[:2]:
        applier.replay(folder, lake=tmp_path / "lake", stop=end)
    pointer = tmp_path / "lake/LATEST"
    pointer.unlink() if said is None else pointer.write_bytes(said.encode("latin1"))
    assert applier.replay(folder, lake=tmp_path / "lake", stop=ends[1]).snapshot.uri.endswith("2")
    assert pointer.read_text() == "0000000002\n" and not applier.fsck(tmp_path / "lake").damaged



@pytest.mark.parametrize("place", ["", "/_versions/2"])
def test_verbs_take_lakes_and_versions(log, versions, place, tmp_path, capsys):
    lake, made = versions
    given, version = f"{lake}{place}", made[1 if place else 4]
    for words in (["status", given], ["report", given], ["views", given], ["verify", given],
                  ["export", given, "--output", str(tmp_path / "dump"), "--engine", "local"],
                  ["diff", given, version.uri, "--format", "json"],
                  ["doctor", "--base", given, "--binlogs", log[0]], ["explain", "--base", given, "--binlogs", log[0]],
                  ["changes", "--base", given, "--binlogs", log[0], "--table", "shop.item", "--output", "-"],
                  ["replay", "--base", given, "--binlogs", log[0], "--output", str(tmp_path / "onto"),
                   "--engine", "local"]):
        assert cli.main(words) in (0, 1 if words[0] == "doctor" else 0), (words, capsys.readouterr())
    capsys.readouterr()
    assert applier.diff(tmp_path / "onto", made[4]).same
    assert applier.Snapshot(tmp_path / "onto").verify().damaged == ()
    assert version.sql("SELECT count(*) FROM shop.item").fetchall() == [(2000 if place else 1999,)]
    assert all(map(os.path.exists, version.tables["shop.item"].files))


def test_a_new_lake_begins_with_a_base(log, tmp_path):
    """Files of another snapshot come in, under names of their own; a lake that has versions takes no other base."""
    base = applier.replay(log[0], tmp_path / "base", stop=log[1][0], target_file_size=SMALL).snapshot
    lake = tmp_path / "lake"
    made = applier.replay(log[0], lake=lake, base=base, stop=log[1][1], target_file_size=SMALL).snapshot
    assert len(files(made)) == len(files(base)) and not set(files(made)) & set(files(base))
    assert not made.verify().damaged and not base.verify().damaged
    with pytest.raises(UsageError, match="the lake already has versions"):
        applier.replay(log[0], lake=lake, base=base)


def test_passes_name_files_of_the_version_before(log, tmp_path):
    """A replay in several passes, each the base of the next, names the files that none of them changed."""
    lake = tmp_path / "lake"
    first = applier.replay(log[0], lake=lake, stop=log[1][0], target_file_size=SMALL).snapshot
    second = applier.replay(log[0], lake=lake, stop=log[1][2], target_file_size=SMALL, pass_bytes=1).snapshot
    assert len(set(files(second)) - set(files(first))) == 2
    assert not os.listdir(lake / "_staging") and not second.verify().damaged


def test_shards_are_the_versions_own(log, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "MOST_INLINE", 2)
    lake = tmp_path / "lake"
    for end in log[1]:
        version = applier.replay(log[0], lake=lake, stop=end, target_file_size=SMALL).snapshot
        assert not version.verify().damaged
    document = json.loads((lake / "_versions/0000000005/_snapshot.json").read_text())
    assert document["tables"][0]["files"]["path"] == "_versions/0000000005/_files/shop/item.parquet"


def test_a_version_for_each_place(log, tmp_path):
    made = applier.replay(log[0], lake=tmp_path / "lake", snapshot_at=log[1][:3])
    assert [lakes.number_of(snapshot.uri) for snapshot in made.snapshots] == [1, 2, 3]


def test_an_import_is_a_version(tmp_path):
    dump = tmp_path / "d.sql"
    dump.write_text("CREATE DATABASE d; USE d; CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (1);")
    made = applier.import_dump(dump, lake=tmp_path / "lake")
    assert made.snapshot.uri == str(tmp_path / "lake/_versions/0000000001")
    assert made.snapshot.tables["d.t"].to_arrow().to_pylist() == [{"a": 1}]


def test_one_place_to_write_to(log, tmp_path, capsys):
    for more in ([], ["--output", str(tmp_path / "a"), "--lake", str(tmp_path / "b")]):
        assert cli.main(["replay", "--binlogs", log[0], *more]) == 2
        assert "give --output for a snapshot, or --lake" in " ".join(capsys.readouterr().err.split())


def test_what_is_no_lake(log, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SnapshotError, match="not a lake"):
        applier.replay(log[0], lake=tmp_path)
    (tmp_path / "new").mkdir()
    applier.replay(log[0], lake=tmp_path / "new")
    (tmp_path / "new/_lake.json").write_text('{"format_version": 3, "id": "' + "0" * 32 + '"}')
    with pytest.raises(SnapshotError, match="format version 3"):
        applier.Snapshot(tmp_path / "new")
    (tmp_path / "new/_lake.json").write_text("{}")
    with pytest.raises(SnapshotError, match="damaged"):
        applier.Snapshot(tmp_path / "new")


def test_a_lake_without_a_version(log, tmp_path):
    with pytest.raises(applier.ApplierError):
        applier.replay(log[0], lake=tmp_path / "lake", stop=("binlog.000009", 4))
    assert not os.listdir(tmp_path / "lake/_versions") and not os.listdir(tmp_path / "lake/_staging")
    with pytest.raises(SnapshotError, match="no version yet"):
        applier.Snapshot(tmp_path / "lake")
    assert applier.replay(log[0], lake=tmp_path / "lake").snapshot.uri.endswith("1")


def begun(lake):
    return open_lake(lake).begin()


def test_of_two_runs_one_wins(versions):
    """The other one says so, and what it publishes next continues from the winner's version."""
    lake, _ = versions
    snapshot = manifest.load(lake)
    with begun(lake) as first, begun(lake) as second:
        published = first.commit(snapshot, "", {})
        with pytest.raises(AnotherRun, match="another run has published this version") as lost:
            second.commit(snapshot, "", {})
    assert lost.value.exit_code == 75
    assert published.uri.endswith("/0000000006") and manifest.load(lake).uri == published.uri
    assert sorted(os.listdir(f"{lake}/_versions"))[-1] == "0000000006" and not os.listdir(f"{lake}/_staging")


def test_a_late_run_does_not_publish_a_number_that_expired(versions):
    lake, _ = versions
    snapshot = manifest.load(lake)
    with begun(lake) as late:
        for _ in range(2):
            with begun(lake) as run:
                run.commit(snapshot, "", {})
        shutil.rmtree(f"{lake}/_versions/0000000006")
        with pytest.raises(AnotherRun, match="another run has published"):
            late.commit(snapshot, "", {})


def test_many_runs_at_once(log, tmp_path, monkeypatch):
    """Of runs that all begin where there is no version, one publishes and the others have an error. One that begins
    later finds nothing new."""
    lake, failed, published = str(tmp_path / "lake"), [], []
    all_have_begun, begin = threading.Barrier(4), Lake.begin

    def begin_with_others(*arguments, **options):
        all_have_begun.wait(timeout=60)
        return begin(*arguments, **options)

    def run():
        try:
            published.append(applier.replay(log[0], lake=lake, target_file_size=SMALL).snapshot)
        except AnotherRun as error:
            failed.append(error)

    monkeypatch.setattr(Lake, "begin", begin_with_others)
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    assert len(failed) == 3
    assert all("another run has published this version" in error.message for error in failed)
    [snapshot] = published
    assert not snapshot.verify().damaged
    assert applier.replay(log[0], lake=lake, target_file_size=SMALL).snapshot.uri == snapshot.uri
    assert os.listdir(f"{lake}/_versions") == [lakes.version_name(1)]


def test_a_file_that_went_away_stops_the_run(log, versions, tmp_path):
    lake, made = versions
    snapshot = manifest.load(lake)
    [table] = snapshot.tables
    with begun(lake) as run:
        gone = replace(table, files=(replace(table.files[0], path="shop/item/part-0.parquet"),))
        with pytest.raises(SnapshotError, match="a file of the snapshot is missing"):
            run.commit(replace(snapshot, tables=(gone,)), "", {})
    assert manifest.load(lake).uri == made[4].uri


@pytest.mark.thorough
def test_killed_on_its_way(log, tmp_path):
    """At calls of the code that makes versions: the version is absent or complete; the next run makes it, and removes
    what the dead one had for itself."""
    lake = str(tmp_path / "lake")
    first = applier.replay(log[0], lake=lake, stop=log[1][1], target_file_size=SMALL).snapshot
    rows = first.tables["shop.item"].to_arrow()
    plain = applier.replay(log[0], tmp_path / "plain").snapshot
    states = set()
    with forked_runs(KILLED, log[0], lake) as run:
        calls = run(0)
        for place in sorted({1 + place * (calls - 1) // 20 for place in range(21)}):
            shutil.rmtree(f"{lake}/_versions/0000000002", ignore_errors=True)
            assert run(place) is None
            there = os.path.exists(f"{lake}/_versions/0000000002")
            states.add(there)
            now = applier.Snapshot(lake)
            assert now.uri.endswith("2" if there else "1") and not now.verify().damaged
            if there:
                assert applier.diff(plain, now).same
        assert states == {True, False}
        shutil.rmtree(f"{lake}/_versions/0000000002", ignore_errors=True)
        assert run(0)
    assert not os.listdir(f"{lake}/_staging") and applier.diff(plain, lake).same
    assert first.tables["shop.item"].to_arrow().equals(rows)
