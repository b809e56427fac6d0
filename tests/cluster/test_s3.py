"""Binlogs and snapshots on an object store, from the command line's job on: S3, as moto's server plays it."""

import os
import shutil
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyarrow import fs
from pyiceberg.catalog import load_catalog

import applier
import applier.binlog
from applier.binlog.archive.archive import open_archive
from applier.engine.executor import ThisProcess
from applier.errors import AnotherRun, SnapshotError
from applier.jobs.exporting.job import export_snapshot
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.snapshots_at import replay_with as replay_at
from applier.jobs.verify.files import verify
from applier.options import ExportOptions, ReplayOptions
from applier.plan import units
from applier.snapshot import manifest
from applier.snapshot.files import shards
from applier.snapshot.lake import lake_claims
from applier.snapshot.lake.lake_claims import Claim
from applier.snapshot.lake.lake_staging import open_lake
from tests.support.binlog_server import PASSWORD, BinlogServer, Fault
from tests.support.folders import CASES
from tests.support.forked_runs import forked_runs
from tests.support.late_attempts import LateAttempts
from tests.support.object_store import object_store
from tests.support.packing import pack_archive
from tests.support.small_logs import commit, insert, new_log, update

ROWS = [(n, n, "x" * 20) for n in range(3000)]

PROGRAM = """
import threading
from applier.engine.executor import ThisProcess
from applier.options import ReplayOptions
from applier.plan import units
from applier.jobs.replay.job import replay_with
units.UNIT_BYTES, units.LEAST_UNIT_BYTES = 10_000, 1
def run(ends_at):
    calls = 0
    def at_call(frame, event, argument):
        nonlocal calls
        if event == "call" and "/applier/snapshot/" in frame.f_code.co_filename:
            calls += 1
            if calls == ends_at:
                os.kill(os.getpid(), 9)
    threading.setprofile(at_call)
    sys.setprofile(at_call)
    replay_with(ThisProcess(2), ReplayOptions((sys.argv[1],), sys.argv[2], base=sys.argv[3]))
    return calls
"""
"""Of forked_runs: kills itself before the `ends_at`-th call; returns how many calls came."""


@pytest.fixture(scope="module")
def store():
    with object_store("lake"):
        yield


@pytest.fixture(scope="module")
def logs(store, tmp_path_factory):
    """An archive there, and where in it the first of two transactions ends: the second one changes half of the rows."""
    folder = tmp_path_factory.mktemp("logs")
    with new_log(folder) as log:
        _, middle = commit(log, insert(ROWS))
        commit(log, update(ROWS[:1500], [(n, -n, s) for n, _, s in ROWS[:1500]]))
    fs.copy_files(str(folder), "lake/logs", destination_filesystem=s3())
    return "s3://lake/logs", ("binlog.000001", middle)


AFTER = [(n, -n if n < 1500 else n, s) for n, _, s in ROWS]


def s3():
    return fs.FileSystem.from_uri("s3://lake")[0]


def replay(logs, output, **options):
    """In units of a few hundred rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "UNIT_BYTES", 10_000)
        patch.setattr(units, "LEAST_UNIT_BYTES", 1)
        return replay_with(ThisProcess(2), ReplayOptions((logs,), output, **options))


def objects(uri):
    """Paths of the objects below a uri, without the folders that stand for nothing."""
    infos = s3().get_file_info(fs.FileSelector(uri.removeprefix("s3://"), recursive=True, allow_not_found=True))
    return {info.path.removeprefix(uri.removeprefix("s3://") + "/") for info in infos if info.type == fs.FileType.File}


def held(uri):
    """The rows of a snapshot, of which exactly the files that its manifest names are there."""
    tables = manifest.load(uri).tables
    files = [file.path for table in tables for file in table.files]
    in_shards = {files.shard.path for table in tables for files in table.sharded}
    assert objects(uri) == {*files, *in_shards, "_snapshot.json", "_schema.sql", "_report.json"}
    root = uri.removeprefix("s3://")
    tables = [pq.read_table(f"{root}/{path}", filesystem=s3()) for path in files]
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


@pytest.fixture(scope="module")
def base(logs):
    archive, middle = logs
    replay(archive, "s3://lake/base", stop_position=middle)
    assert held("s3://lake/base") == ROWS
    return "s3://lake/base"


def test_a_doctor_lists_the_store_and_leaves_nothing_there(logs):
    """Neither logs nor output need Java: what is far takes Spark by itself, which is said."""
    found = applier.doctor(logs[0], "s3://lake/examined", engine="auto")
    texts = [(check.name, check.state, check.found) for check in found.checks]
    assert ("credentials", "ok", "s3://lake/logs can be listed") in texts and not found.problems
    assert any(name == "engine" and "is not on this machine" in text for name, _, text in texts)
    assert objects("s3://lake/examined") == set()


def test_a_uri_has_options_behind_its_path(logs):
    """Which are no glob."""
    folder = logs[0]
    for path in (f"{folder}?region=us-east-1", f"{folder}/binlog.*?region=us-east-1",
                 f"{folder}/binlog.000001?region=us-east-1"):
        [file] = open_archive([path]).files
        assert (file.uri, file.name) == (f"{folder}/binlog.000001?region=us-east-1", "binlog.000001")


def test_from_a_bucket_to_a_bucket(logs, base):
    """With files that are carried over: copied by the store."""
    result = replay(logs[0], "s3://lake/after", base=base)
    assert held("s3://lake/after") == AFTER
    assert result.tables[0].files_carried > 3 and result.tables[0].files_written > 3
    with pytest.raises(SnapshotError, match="there is a snapshot already"):
        replay(logs[0], "s3://lake/after", base=base)


def test_packed_files_in_a_bucket(logs, base, tmp_path):
    (tmp_path / "logs").mkdir()
    fs.copy_files("lake/logs", str(tmp_path / "logs"), source_filesystem=s3())
    pack_archive((tmp_path / "logs").iterdir(), tmp_path / "packed", ["gzip"])
    fs.copy_files(str(tmp_path / "packed"), "lake/packed", destination_filesystem=s3())
    replay("s3://lake/packed", "s3://lake/unpacked", base=base)
    assert held("s3://lake/unpacked") == AFTER


def test_shards_in_a_bucket(logs, base, monkeypatch):
    """Of a table with many files, carried over from a base that had none, and from one that has."""
    monkeypatch.setattr(shards, "MOST_INLINE", 3)
    replay(logs[0], "s3://lake/sharded", base=base)
    replay(logs[0], "s3://lake/onwards", base="s3://lake/sharded")
    for uri in ("s3://lake/sharded", "s3://lake/onwards"):
        assert held(uri) == AFTER and "_files/shop/item.parquet" in objects(uri) and verify(uri).damaged == ()
    s3().delete_file("lake/onwards/_files/shop/item.parquet")
    with pytest.raises(SnapshotError, match="missing"):
        replay(logs[0], "s3://lake/out-of-damaged", base="s3://lake/onwards")
    assert objects("s3://lake/out-of-damaged") == set()


def test_objects_that_are_not_what_the_manifest_says(logs, base):
    """Found by verify, and by what reads them or carries them to a file system of its own."""
    fs.copy_files("lake/base", "lake/damaged", source_filesystem=s3(), destination_filesystem=s3())
    assert verify("s3://lake/damaged").damaged == ()
    [table] = manifest.load("s3://lake/damaged").tables
    path = table.files[0].path
    whole = s3().open_input_file(f"lake/damaged/{path}").read()
    for data, says in ((whole[:40] + bytes([whole[40] ^ 1]) + whole[41:], "was changed"), (whole[:-1], "bytes, but")):
        with s3().open_output_stream(f"lake/damaged/{path}") as sink:
            sink.write(data)
        [line] = verify("s3://lake/damaged").damaged
        assert line.startswith(path) and says in line
        with pytest.raises(SnapshotError, match=says):
            replay(logs[0], "s3://lake/out-of-damaged", base="s3://lake/damaged")
        with pytest.raises(SnapshotError, match=says):
            export_snapshot(ExportOptions("s3://lake/damaged", "s3://lake/exported"))
    assert objects("s3://lake/out-of-damaged") == objects("s3://lake/exported") == set()


def test_a_replay_that_stops_leaves_nothing(logs):
    with pytest.raises(Exception, match="is a GTID set of MariaDB"):
        replay_at(ThisProcess(2), ReplayOptions((logs[0],), "s3://lake/several", snapshot_at=(logs[1], "0-1-99")))
    assert objects("s3://lake/several") == set()


def test_several_snapshots(logs):
    """--snapshot-at: the folder is complete when its listing is there."""
    archive, (name, offset) = logs
    replay_at(ThisProcess(2), ReplayOptions((archive,), "s3://lake/both",
                                          snapshot_at=((name, offset), (name, offset + 1))))
    assert "_snapshots.json" in objects("s3://lake/both")
    assert held(f"s3://lake/both/{name}-{offset}") == held(f"s3://lake/both/{name}-{offset + 1}") == ROWS


@pytest.mark.by_turns("n_passes")
@pytest.mark.parametrize("n_passes", [2, 1])
def test_late_attempts_stay_hidden(logs, base, n_passes):
    """On a store nothing stops them from writing; what they write after publication no pattern of readers matches, and
    the next run for the same output removes it."""
    archive, (_, middle) = logs
    output = f"s3://lake/late{n_passes}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "UNIT_BYTES", 10_000)
        patch.setattr(units, "LEAST_UNIT_BYTES", 1)
        executor = LateAttempts(2)
        replay_with(executor, ReplayOptions((archive,), output, pass_bytes=middle if n_passes == 2 else None))
        assert held(output) == AFTER
        before = objects(output)
        assert executor.attempts.run_again() == n_passes - 1  # which have lost the pass before theirs
    late = objects(output) - before
    assert {path.partition("/")[0] for path in late} == {"_passes" if n_passes == 2 else "_staging"}
    assert not any(path.endswith(".parquet") for path in late) and before < objects(output)
    assert verify(output).damaged == ()
    s3().delete_dir(f"{output.removeprefix('s3://')}/shop")
    for path in before:
        if not path.startswith("shop/"):
            s3().delete_file(f"{output.removeprefix('s3://')}/{path}")
    replay(archive, output, base=base)
    assert held(output) == AFTER


def test_in_passes(logs):
    """What a pass leaves to the next one goes with the last."""
    archive, (_, offset) = logs
    result = replay(archive, "s3://lake/passes", pass_bytes=offset)
    assert held("s3://lake/passes") == AFTER
    assert (result.changes, result.tables[0].files_carried) == (4500, 0)


def test_killed_on_its_way(logs, base):
    """At calls of the code that writes snapshots: the output is absent or complete, the base as it was; the next run
    removes what is left, and nothing else."""
    before, left_over, output = objects(base), 0, "s3://lake/out"
    with forked_runs(PROGRAM, logs[0], output, base) as run:
        calls = run(0)
        s3().delete_dir("lake/out")
        for place in sorted({1 + place * (calls - 1) // 5 for place in range(6)}):
            assert run(place) is None
            if "_snapshot.json" in (there := objects(output)):
                assert "_incomplete" in there or held(output) == AFTER
                s3().delete_dir("lake/out")
            left_over += bool(there) and "_snapshot.json" not in there
        assert left_over
        assert run(0)
    assert held(output) == AFTER
    assert objects(base) == before and held(base) == ROWS


def test_tables_of_iceberg_there(logs, base, tmp_path):
    """Snapshots, and the warehouse, on the store: files of the first one that the second one carries over stay."""
    catalog = f"sqlite:///{tmp_path}/catalog.db"
    replay(logs[0], "s3://lake/published", base=base)
    for snapshot, expected in ((base, ROWS), ("s3://lake/published", AFTER)):
        published = applier.publish(snapshot, iceberg=catalog, warehouse="s3://lake/warehouse")
        table = load_catalog("default", uri=catalog, type="sql", **{
            "s3.endpoint": os.environ["AWS_ENDPOINT_URL"], "s3.region": "us-east-1"}).load_table("shop.item")
        assert table.metadata_location.startswith("s3://lake/warehouse/")
        assert sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist()) == expected
    [changed] = published.tables
    assert 0 < changed.files_added == changed.files_removed < changed.files


def test_tables_of_delta_there(logs, base, tmp_path):
    """Tables of Delta on the store, from a snapshot there, whose files it copies itself, and from one of this machine:
    of the same line, and only files that are new come over. With change data, by a commit on condition."""
    first = applier.publish(base, delta="s3://lake/delta", change_data=True)
    after = tmp_path / "after"
    replay(logs[0], str(after), base=base)
    second = applier.publish(after, delta="s3://lake/delta")
    [made], [changed] = first.tables, second.tables
    assert (made.change, changed.change) == ("created", "changed") and 0 < changed.files_added < changed.files
    place, options = "s3://lake/delta/shop/item", {"AWS_ALLOW_HTTP": "true"}
    for version, rows in ((0, ROWS), (1, AFTER)):
        found = pa.table(DeltaTable(place, version=version, storage_options=options).to_pyarrow_table())
        assert sorted(tuple(row.values()) for row in found.to_pylist()) == rows
    changed_rows = pa.table(DeltaTable(place, storage_options=options).load_cdf(starting_version=1)).to_pylist()
    kept = Counter(ROWS) & Counter(AFTER)
    assert Counter(tuple(row.values())[:3] for row in changed_rows) == Counter(ROWS) + Counter(AFTER) - kept - kept
    assert "delta/_applier.json" in objects("s3://lake")


@pytest.fixture
def lake(logs):
    """A lake with two versions."""
    if objects("s3://lake/versions"):
        s3().delete_dir("lake/versions")
    for stop in (logs[1], None):
        made = applier.replay(logs[0], lake="s3://lake/versions", stop=stop, target_file_size=8000)
    assert made.snapshot.uri == "s3://lake/versions/_versions/0000000002"
    return "s3://lake/versions"


def rows(uri):
    return [tuple(row.values()) for row in applier.Snapshot(uri).tables["shop.item"].to_arrow().to_pylist()]


def test_versions_of_a_lake(lake, logs):
    assert rows(f"{lake}/_versions/1") == ROWS and rows(lake) == AFTER
    found = applier.versions(lake)
    assert 0 < found[1].new_files < found[1].files
    assert not applier.fsck(lake).damaged and not applier.Snapshot(lake).verify().damaged
    assert not any(path.startswith("_staging/") for path in objects(lake)) and "LATEST" in objects(lake)
    assert applier.expire(lake, 1).versions == (1,)
    named = {file.path for table in manifest.load(lake).tables for file in table.files}
    assert {path for path in objects(lake) if path.startswith("shop/")} == named
    assert rows(lake) == AFTER and not applier.fsck(lake).damaged


def test_of_two_writers_of_a_version_one_wins(lake):
    """By the claims: the later one sees the other's."""
    snapshot = manifest.load(lake)

    def begun():
        return open_lake(lake).begin()

    with begun() as first, begun() as second, begun() as third:
        claim = Claim(s3(), "lake/versions/_staging", "s3://lake/versions/_staging", 3, "other")
        claim.make()
        with pytest.raises(AnotherRun, match="another run is publishing this version"):
            first.commit(snapshot, "", {})
        claim.drop()
        assert second.commit(snapshot, "", {}).uri == f"{lake}/_versions/0000000003"
        with pytest.raises(AnotherRun, match="another run has published this version"):
            third.commit(snapshot, "", {})
    assert not any(path.startswith("_staging/") for path in objects(lake))
    assert manifest.load(lake).uri.endswith("3") and not applier.fsck(lake).damaged


def test_a_version_is_put_on_condition(lake, monkeypatch):
    """A run whose claim another one did not see, as after ten minutes, does not write over that one's version."""
    snapshot, check = manifest.load(lake), Claim.check
    monkeypatch.setattr(Claim, "make", lambda claim: None)
    with open_lake(lake).begin() as slow:
        def overtaken(claim):
            monkeypatch.setattr(Claim, "check", lambda claim: None)
            with open_lake(lake).begin() as quick:
                quick.commit(replace(snapshot, tables=()), "", {})

        monkeypatch.setattr(Claim, "check", overtaken)
        with pytest.raises(AnotherRun, match="another run has published this version"):
            slow.commit(snapshot, "", {})
    monkeypatch.setattr(Claim, "check", check)
    found = manifest.load(lake)
    assert found.uri.endswith("3") and not found.tables and not applier.fsck(lake).damaged


def test_a_claim_counts_for_two_minutes(lake, monkeypatch):
    """On a store that takes conditions, as elsewhere for ten. What a dead run claimed is free after that, and a run
    does not publish when its own claim is old."""
    Claim(s3(), "lake/versions/_staging", "s3://lake/versions/_staging", 3, "dead").make()
    with pytest.raises(AnotherRun, match=r"or was killed.*s3://lake/versions/_staging/claim.*-dead.*counts until"):
        Claim(s3(), "lake/versions/_staging", "s3://lake/versions/_staging", 3, "next").make()
    monkeypatch.setattr(lake_claims, "WITH_CONDITIONS", timedelta(0))
    made = Claim(s3(), "lake/versions/_staging", "s3://lake/versions/_staging", 3, "next")
    made.make()
    monkeypatch.setattr(lake_claims.time, "monotonic", lambda: float("inf"))
    with pytest.raises(AnotherRun, match="took more than a minute"):
        made.check()


@pytest.mark.thorough
def test_a_run_of_a_lake_that_is_killed(lake, logs):
    """The version is complete or absent, and the one before as it was."""
    program = PROGRAM.replace("sys.argv[2], base=sys.argv[3])", "lake=sys.argv[2])")
    assert program != PROGRAM
    with forked_runs(program, logs[0], lake) as run:
        calls = run(0)
        for place in sorted({1 + place * (calls - 1) // 5 for place in range(6)}):
            known = len(applier.versions(lake))
            for path in objects(lake):
                if path.startswith("_staging/claim-"):  # which would count for two minutes
                    s3().delete_file(f"lake/versions/{path}")
            assert run(place) is None
            assert len(applier.versions(lake)) in (known, known + 1)
            wrong = [line for line in applier.fsck(lake).damaged if not line.startswith("LATEST")]  # written after it
            assert rows(lake) == AFTER and not wrong


def test_an_archive_of_a_live_server(store, tmp_path, monkeypatch):
    """Files are there when they are complete, the last one at the end; a connection lost within a file loses nothing,
    and another run continues within the last file, which it fetches."""
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    folder, output, names = CASES / "many-files-mysql", "s3://lake/archive", [f"binlog.00000{n}" for n in range(1, 5)]
    served = tmp_path / "served"
    served.mkdir()
    for name in names[:2]:
        shutil.copy(folder / name, served)

    def there():
        found = sorted(objects(output) - {"_source.json"})
        return {name: s3().open_input_stream(f"lake/archive/{name}").readall() for name in found}

    place, within = ([event.position for event in applier.binlog.open(str(folder / name))][4] for name in names[:2])
    ends = []

    def stopped():
        ends.append(set(there()))
        return len(server.dumps) > 1 and ends[-1] == {names[0]}

    with BinlogServer(served, faults=(Fault(0, names[0], place, "cut"),)) as server:
        done = applier.archive(server.url, output, stopped=stopped)
    assert all(seen <= {names[0]} for seen in ends)
    files = {name: (folder / name).read_bytes() for name in names}
    assert there()[names[0]] == files[names[0]] and done.complete == 1
    with BinlogServer(served) as server:
        applier.archive(server.url, output, until_now=True)
        assert there() == {name: files[name] for name in names[:2]}
        (served / names[1]).write_bytes(files[names[1]][:within])
        s3().delete_file(f"lake/archive/{names[1]}")
        applier.archive(server.url, output, until_now=True)
        for name in names[1:]:
            shutil.copy(folder / name, served)
        applier.archive(server.url, output, until_now=True)
    assert there() == files
