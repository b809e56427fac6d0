"""`versions`, `expire` and `fsck` of a lake, and what they leave there."""

import json
import os
import random
import shutil
import time
from datetime import timedelta

import pytest

import applier
from applier import cli
from applier.errors import SnapshotError, UsageError
from applier.jobs.lake import expiring
from applier.snapshot import lakes, manifest
from applier.snapshot.files import shards
from applier.snapshot.files.shards import columns_of
from applier.snapshot.lake.lake_needs import Needed, write_needs
from applier.snapshot.lake.lake_staging import open_lake
from tests.support.forked_runs import forked_runs
from tests.support.small_logs import commit, insert, new_log, update

N_ENDS = 16
KILLED = """
import threading
import applier
applier.expire, applier.versions, applier.fsck
def run(ends_at):
    calls = 0
    def at_call(frame, event, argument):
        nonlocal calls
        if event == "call" and frame.f_code.co_filename.endswith("/expiring.py"):
            calls += 1
            if calls == ends_at:
                os.kill(os.getpid(), 9)
    threading.setprofile(at_call)
    sys.setprofile(at_call)
    applier.expire(sys.argv[1], 1)
    return calls
"""
"""Of forked_runs: kills itself before the `ends_at`-th call; returns how many calls came."""


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """An archive and the ends of its transactions: rows, and each after that changes one of them."""
    folder = tmp_path_factory.mktemp("lake_verbs")
    written, random_ = new_log(folder), random.Random(1)
    rows = [(n, n, "x" * 20) for n in range(1000)]
    ends = [commit(written, insert(rows))[1]]
    for end in range(1, N_ENDS):
        place = random_.randrange(len(rows))
        after = (place, -end, rows[place][2])
        ends.append(commit(written, update([rows[place]], [after]))[1])
        rows[place] = after
    written.close()
    return str(folder), [("binlog.000001", end) for end in ends]


def replay(log, lake, end):
    return applier.replay(log[0], lake=lake, stop=log[1][end], target_file_size=1000).snapshot


@pytest.fixture
def lake(log, tmp_path):
    """With four versions."""
    place = str(tmp_path / "lake")
    for end in range(4):
        replay(log, place, end)
    return place


def files(uri):
    return {path for table in manifest.load(uri).tables for path in columns_of(table.files).paths}


def below(lake):
    return {os.path.relpath(os.path.join(place, name), lake) for place, _, names in os.walk(lake) for name in names}


def of_tables(lake):
    return {path for path in below(lake) if path.startswith("shop/")}


def age(lake, seconds, *paths):
    """Make files older."""
    then = time.time() - seconds
    for path in paths or below(lake):
        os.utime(f"{lake}/{path}", (then, then))


def test_a_replay_that_finds_nothing_new_prints_no_table(log, lake, capsys):
    words = ["replay", "--binlogs", log[0], "--lake", lake, "--engine", "local", "--stop-position"]
    assert cli.main([*words, "{}:{}".format(*log[1][3])]) == 0
    said = capsys.readouterr().out
    assert "0 row changes" in said and "found by" not in said
    assert cli.main([*words, "{}:{}".format(*log[1][4])]) == 0
    assert "found by" in capsys.readouterr().out


def test_versions(log, lake, capsys):
    found = applier.versions(lake)
    assert [version.number for version in found] == [1, 2, 3, 4]
    assert [version.position.offset for version in found] == [end for _, end in log[1][:4]]
    assert {(version.tables, version.rows) for version in found} == {(1, 1000)}
    new = [version.new_files for version in found]
    assert new[0] == found[0].files > 5 and set(new[1:]) <= {1, 2}  # a file that grew is two
    assert found[0].new_bytes == found[0].bytes == sum(os.path.getsize(f"{lake}/{path}")
                                                       for path in files(f"{lake}/_versions/1"))
    assert cli.main(["versions", lake]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines() if line.strip()[:1].isdigit()] == [
        [str(version.number), str(version.position)] for version in found]
    assert cli.main(["versions", lake, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(one["version"], one["new_files"], one["gtid_set"]) for one in listed] == [
        (version.number, version.new_files, version.position.gtid_set) for version in found]


def test_expire_removes_what_no_version_that_stays_names(lake, capsys):
    before, kept = of_tables(lake), files(f"{lake}/_versions/3") | files(lake)
    assert cli.main(["expire", lake, "--keep", "2", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "2 versions would go, 2 kept" in said and of_tables(lake) == before
    assert cli.main(["expire", lake, "--keep", "2"]) == 0
    assert capsys.readouterr().out == said.replace("would go", "went")
    assert of_tables(lake) == kept < before
    assert [version.number for version in applier.versions(lake)] == [3, 4]
    assert sorted(os.listdir(f"{lake}/_versions")) == ["0000000003", "0000000004"]
    assert not applier.fsck(lake).damaged and applier.fsck(lake).strays == ()
    assert applier.expire(lake, 2).versions == ()


@pytest.mark.parametrize("leased", [None, 1, 2, 3])
@pytest.mark.parametrize("keep", [1, 2, 3])
def test_what_is_needed_is_said_by_the_versions_beside(lake, keep, leased):
    """Where no strays are sought, the same goes as where all versions are read."""
    if leased is not None:
        os.mkdir(f"{lake}/_leases")
        with open(f"{lake}/_leases/reader.json", "w") as file:
            json.dump({"version": leased, "expires": int(time.time()) + 3600}, file)
    shutil.copytree(lake, f"{lake}2")
    found = [expiring.expire(place, keep, strays=strays) for place, strays in ((lake, True), (f"{lake}2", False))]
    assert found[0] == found[1] and below(lake) == below(f"{lake}2") and not applier.fsck(f"{lake}2").damaged


def test_the_pointer_is_right_before_anything_goes(lake):
    """By it and the next numbers the latest version is found."""
    with open(f"{lake}/LATEST", "w") as file:
        file.write("0000000001\n")
    shutil.rmtree(f"{lake}/_staging")  # empty, so copies of lakes lack it
    assert applier.Snapshot(lake).uri.endswith("4")
    assert applier.expire(lake, 1).kept == (4,)
    with open(f"{lake}/LATEST") as file:
        assert file.read() == "0000000004\n"


def test_expire_by_time(lake):
    age(lake, 3 * 86400, *(f"_versions/000000000{number}/_snapshot.json" for number in (1, 2, 4)))
    assert applier.expire(lake, "2d").versions == (1, 2)  # the latest stays, however old
    assert applier.expire(lake, timedelta(days=4)).versions == ()


@pytest.mark.parametrize("keep", ["0", "0d", "", "-1", "7y", "d", "1.5", 0, timedelta(0), timedelta(-1)])
def test_what_cannot_be_kept(lake, keep):
    with pytest.raises(UsageError, match="keep"):
        applier.expire(lake, keep)


def test_expire_leaves_what_readers_and_published_tables_need(lake):
    os.mkdir(f"{lake}/_leases")
    for name, version, left in (("reader", 1, 60), ("gone", 2, -60)):
        with open(f"{lake}/_leases/{name}.json", "w") as file:
            json.dump({"version": version, "expires": int(time.time()) + left}, file)
    second = files(f"{lake}/_versions/2")
    [own] = second - files(f"{lake}/_versions/1")
    write_needs(lake, "iceberg", Needed("shop in a catalog", 3, (own,)))
    assert applier.expire(lake, 1).versions == (2,)
    assert second <= of_tables(lake) and not applier.fsck(lake).damaged
    write_needs(lake, "iceberg", Needed("shop in a catalog"))
    os.unlink(f"{lake}/_leases/reader.json")
    assert applier.expire(lake, 1).versions == (1, 3)


def test_expire_removes_nothing_where_it_does_not_know_what_is_needed(lake, capsys):
    before = below(lake)
    os.mkdir(f"{lake}/_published")
    for text in ("{", '{"name": "x", "version": -1}', '{"name": "x", "files": ["../y"]}'):
        with open(f"{lake}/_published/x.json", "w") as file:
            file.write(text)
        with pytest.raises(SnapshotError, match="which versions of the lake are needed"):
            applier.expire(lake, 1)
        assert applier.fsck(lake).damaged
    os.unlink(f"{lake}/_published/x.json")
    with open(f"{lake}/_versions/0000000002/_snapshot.json", "a") as file:
        file.write("x")
    with pytest.raises(SnapshotError, match="damaged"):
        applier.expire(lake, 1)
    assert below(lake) == before


def test_strays_go_when_they_are_old_and_nobody_is_at_work(lake, capsys):
    """Files of dead runs; other people's files stay."""
    strays = ["shop/item/part-000000-0123456789ab-0000.parquet", "_history/shop/item/part-000000-0123456789ab.parquet",
              "_versions/0000000009/_schema.sql", "_staging/claim-0000000005-0123456789ab"]
    others = ["shop/item/other.parquet", "shop/item/_delta_log/0.json", "notes.txt"]
    for path in [*strays, *others]:
        os.makedirs(os.path.dirname(f"{lake}/{path}") or ".", exist_ok=True)
        open(f"{lake}/{path}", "w").close()
    known = below(lake)
    assert applier.expire(lake, 9).strays == 0
    age(lake, 86400 + 60)
    assert set(applier.fsck(lake).strays) == set(strays[:2])
    with open_lake(lake).begin():
        done = applier.expire(lake, 9)
        assert done.waits and done.strays == 0
        assert cli.main(["expire", lake, "--keep", "9"]) == 0
    assert "a run is at work there" in capsys.readouterr().err
    assert applier.expire(lake, 9, dry_run=True).strays == 4 and below(lake) == known
    done = applier.expire(lake, 9)
    assert (done.strays, done.waits) == (4, False) and below(lake) == known - set(strays)


def test_fsck_says_what_is_wrong(lake, capsys):
    assert cli.main(["fsck", lake]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
    first, second, third = sorted(files(lake) & files(f"{lake}/_versions/1"))[:3]
    os.unlink(f"{lake}/{first}")
    with open(f"{lake}/{second}", "r+b") as file:
        file.seek(10)
        file.write(b"\xff")
    with open(f"{lake}/{third}", "ab") as file:
        file.write(b"x")
    with open(f"{lake}/LATEST", "w") as file:
        file.write("0000000002\n")
    quick, whole = applier.fsck(lake, quick=True), applier.fsck(lake)
    assert f"{first}: it is missing, and version 1 needs it" in quick.damaged
    assert any(line.startswith(f"{third}: it has ") for line in quick.damaged)
    assert any(line.startswith("LATEST: it names '0000000002'") for line in quick.damaged)
    assert not any(line.startswith(second) for line in quick.damaged)
    assert len([line for line in whole.damaged if line.startswith(second)]) == 1  # which four versions name
    assert cli.main(["fsck", lake, "--quick"]) == 1
    out = capsys.readouterr().out
    assert all(line in out for line in quick.damaged)
    assert cli.main(["fsck", lake, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["damaged"] == list(whole.damaged)


def test_fsck_of_manifests_and_shards(log, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "MOST_INLINE", 2)
    lake = str(tmp_path / "lake")
    for end in range(3):
        replay(log, lake, end)
    assert not applier.fsck(lake).damaged and applier.expire(lake, 2).versions == (1,)
    assert not applier.fsck(lake).damaged
    with open(f"{lake}/_versions/0000000002/_files/shop/item.parquet", "r+b") as file:
        file.write(b"x")
    with open(f"{lake}/_versions/0000000003/_snapshot.json", "r+b") as file:
        file.write(b"x")
    damaged = applier.fsck(lake).damaged
    assert [line.partition(":")[0] for line in damaged] == ["_versions/0000000002", "_versions/0000000003"]


@pytest.mark.parametrize("verb", ["versions", "expire", "fsck"])
def test_what_is_no_lake(tmp_path, verb, capsys):
    assert cli.main([verb, str(tmp_path), *(["--keep", "1"] if verb == "expire" else [])]) == 2
    assert "not a lake" in capsys.readouterr().err


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("seed", range(3))
def test_files_that_must_be_there(log, tmp_path, seed):
    """Replays and expiries at random, against a model: which versions there are, and which files each of them names.
    Exactly the files of versions that are there are there."""
    random_, lake = random.Random(seed), str(tmp_path / "lake")
    model: dict[int, set[str]] = {}
    held: dict[int, object] = {}
    number, leased = 0, None
    for end in range(N_ENDS):
        if random_.random() < 0.6 or not model:
            number += 1
            version = replay(log, lake, end)
            assert version.uri == lakes.version_uri(lake, number)
            model[number] = files(version.uri)
            held[number] = version.tables["shop.item"].to_arrow()
        elif random_.random() < 0.3:
            leased = random_.choice(sorted(model))
            write_needs(lake, "table", Needed("table", leased))
        else:
            keep = random_.randrange(1, 4)
            stay = {*sorted(model)[-keep:], *({leased} if leased in model else ())}
            gone = model.keys() - stay
            done = applier.expire(lake, keep)
            assert set(done.versions) == gone and set(done.kept) == stay
            assert done.files - sum(3 for _ in gone) == len(set().union(*model.values()) - set().union(
                *(model[one] for one in stay)))
            model = {one: model[one] for one in stay}
        assert of_tables(lake) == set().union(*model.values())
        assert [version.number for version in applier.versions(lake)] == sorted(model)
    for one in model:
        assert applier.Snapshot(f"{lake}/_versions/{one}").tables["shop.item"].to_arrow().equals(held[one])
    assert not applier.fsck(lake).damaged and not applier.fsck(lake).strays


@pytest.mark.thorough
def test_killed_on_its_way(lake, tmp_path):
    """At calls of the code that expires: each version is complete or absent, and the next run removes the rest."""
    copy, numbers = str(tmp_path / "copy"), set()
    with forked_runs(KILLED, copy) as run:
        shutil.copytree(lake, copy)
        calls = run(0)
        for place in sorted({1 + place * (calls - 1) // 9 for place in range(10)}):
            shutil.rmtree(copy)
            shutil.copytree(lake, copy)
            age(copy, 2 * 86400)
            assert run(place) is None
            numbers.add(tuple(version.number for version in applier.versions(copy)))
            assert not applier.fsck(copy).damaged
            applier.expire(copy, 1)
            assert of_tables(copy) == files(lake)
            assert set(os.listdir(f"{copy}/_versions")) == {"0000000004"}
    assert {(1, 2, 3, 4), (4,)} <= numbers
