"""Lakes that merge on read: runs at once, killed runs, versions that expire, object stores."""

import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import applier
from applier.errors import AnotherRun, UsageError
from applier.snapshot import lakes, manifest
from applier.snapshot.lake.lake_staging import open_lake
from tests.support.forked_runs import forked_runs
from tests.support.merging import SMALL, below, entry_of, rows_of
from tests.support.object_store import object_store


def test_of_two_runs_one_wins(versions):
    lake, made, _ = versions
    snapshot = manifest.load(lake)
    with open_lake(lake).begin() as first, \
            open_lake(lake).begin() as second:
        published = first.commit(snapshot, "", {})
        with pytest.raises(AnotherRun, match="another run has published this version"):
            second.commit(snapshot, "", {})
    assert manifest.load(lake).uri == published.uri
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(made[3]))


def test_rounds_at_once(log, tmp_path):
    """Of rounds onto one version, one publishes; the others do not change what it holds."""
    lake = tmp_path / "lake"
    applier.replay(log[0], lake=lake, merge_on_read=True, stop=log[1][0], target_file_size=SMALL)
    ended = []

    def run():
        try:
            ended.append(applier.replay(log[0], lake=lake, target_file_size=SMALL).snapshot.uri)
        except AnotherRun as error:
            ended.append(error.exit_code)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(ended) <= {75, f"{lake}/_versions/0000000002"} and len(set(ended) - {75}) == 1
    plain = applier.replay(log[0], tmp_path / "plain").snapshot
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain)) and not applier.fsck(lake).damaged


KILLED = """
import threading
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
def run(ends_at):
    calls = 0
    def at_call(frame, event, argument):
        nonlocal calls
        if event == "call" and frame.f_code.co_filename.rpartition("/")[2] in (
                "staging.py", "lake_staging.py", "lakes.py", "durable.py", "merging.py", "merged_unit.py"):
            calls += 1
            if calls == ends_at:
                os.kill(os.getpid(), 9)
    threading.setprofile(at_call)
    sys.setprofile(at_call)
    replay_with(ThisProcess(1), ReplayOptions((sys.argv[1],), lake=sys.argv[2], file_bytes=20000))
    return calls
"""


@pytest.mark.thorough
def test_killed_on_its_way(log, tmp_path):
    """At calls of the code that writes changes and versions: the version is absent or complete, and the next run makes
    it."""
    lake = str(tmp_path / "lake")
    first = applier.replay(log[0], lake=lake, merge_on_read=True, stop=log[1][1], target_file_size=SMALL).snapshot
    rows, plain, states = rows_of(first), applier.replay(log[0], tmp_path / "plain").snapshot, set()
    with forked_runs(KILLED, log[0], lake) as run:
        calls = run(0)
        for place in sorted({1 + place * (calls - 1) // 20 for place in range(21)}):
            shutil.rmtree(f"{lake}/_versions/0000000002", ignore_errors=True)
            assert run(place) is None
            there = os.path.exists(f"{lake}/_versions/0000000002")
            states.add(there)
            now = applier.Snapshot(lake)
            assert now.uri.endswith("2" if there else "1") and not now.verify().damaged
            assert rows_of(now).equals(rows_of(plain) if there else rows)
        assert states == {True, False}
        shutil.rmtree(f"{lake}/_versions/0000000002", ignore_errors=True)
        assert run(0)
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain)) and rows_of(first).equals(rows)
    assert not applier.fsck(lake).damaged


def test_expire(log, versions):
    """What versions that stay need stays: files, row files and positions that are in several."""
    lake, _, plain = versions
    (Path(lake) / "_data" / entry_of(lake).folder.rpartition("/")[2] / "part-000000-0123456789ab-0000.data").touch()
    os.utime(next(Path(lake).rglob("part-000000-0123456789ab-0000.data")), (0, 0))
    assert applier.fsck(lake).strays
    assert applier.expire(lake, 2).versions == (1, 2) and applier.fsck(lake).strays == ()
    assert not applier.fsck(lake).damaged
    for number in (2, 3):
        assert rows_of(applier.Snapshot(f"{lake}/_versions/{number + 1}")).equals(rows_of(plain[number]))
    assert applier.expire(lake, 1).versions == (3,)
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain[3]))
    named = {file.path for files in entry_of(lake).lists for file in files}
    assert {path for path in below(lake) if path.startswith("_data")} == named


def test_on_an_object_store(log, tmp_path):
    """Rounds, readers and `compact` on s3://."""
    plain = [applier.replay(log[0], tmp_path / str(number), stop=end).snapshot for number, end in enumerate(log[1])]
    with object_store("merging"):
        lake = "s3://merging/lake"
        for end, snapshot in zip(log[1], plain, strict=True):
            version = applier.replay(log[0], lake=lake, merge_on_read=True, stop=end, target_file_size=SMALL,
                                     engine="local").snapshot
            assert rows_of(version).equals(rows_of(snapshot))
        assert entry_of(version).row_files and not version.verify().damaged
        with pytest.raises(UsageError, match="cannot be queried"):
            version.sql("SELECT 1")
        assert applier.expire(lake, 1).versions == (1, 2, 3) and not applier.fsck(lake).damaged
        assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain[3]))
        assert applier.compact(lake).left == 0 and not entry_of(lake).row_files and not applier.fsck(lake).damaged
        assert rows_of(applier.Snapshot(lake)).equals(rows_of(plain[3]))


def test_as_of(log, versions):
    lake, made, plain = versions
    assert rows_of(applier.Snapshot(lake, as_of=log[1][2])).equals(rows_of(plain[2]))
    assert lakes.number_of(applier.Snapshot(lake, as_of=log[1][2]).uri) == 3
    assert replace(entry_of(made[2]), files=()).layer is not None
