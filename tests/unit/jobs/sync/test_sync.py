"""`applier sync`: a lake that follows an archive that grows."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
from datetime import timedelta

import orjson
import pytest
from deltalake import DeltaTable

import applier
from applier import cli
from applier.io.ending import Ending
from applier.jobs.sync.job import SyncOptions, sync
from applier.options import ReplayOptions
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support import iceberg_readers
from tests.support.folders import ROOT


class Script(Ending):
    """Does a step of a list instead of each wait, and asks for the end after the last one."""

    def __init__(self, *steps):
        super().__init__()
        self.steps, self.waited = list(steps), []

    def wait(self, seconds):
        self.waited.append(seconds)
        if not self.steps:
            return True
        self.steps.pop(0)()
        return False


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "log").mkdir()
    return tmp_path


@pytest.fixture
def log(folder):
    with applier.binlog.Writer(folder / "log" / "binlog.000001") as writer:
        writer.query("CREATE DATABASE d")
        writer.query("CREATE TABLE t (id INT PRIMARY KEY)", "d")
        writer.flush()
        yield writer


def add(log, *ids):
    def step():
        with log.transaction():
            log.insert("d.t", {"id": list(ids)})
        log.flush()

    return step


def followed(folder, *steps, **options):
    script = Script(*steps)
    chosen = {"every": 1.0} | options
    replay = ReplayOptions((str(folder / "log"),), "", lake=str(folder / "lake"), engine="local")
    return list(sync(SyncOptions(replay, **chosen), script)), script


def rows(folder):
    return sorted(applier.Snapshot(folder / "lake").tables["d.t"].to_arrow()["id"].to_pylist())


def append(source, target, until):
    """Grow a file to so many bytes of another."""
    def step():
        with open(source, "rb") as whole, open(target, "ab") as grown:
            whole.seek(grown.tell())
            grown.write(whole.read(until - grown.tell()))

    return step


def test_a_file_that_is_written_is_read_to_its_last_whole_group(folder):
    """Cut anywhere, within events and their headers, each version is what a replay up to its position makes."""
    drawn, steps = random.Random(11), []
    for name in sorted(name for name in os.listdir(ARCHIVE) if name.startswith("binlog.")):
        size = (ARCHIVE / name).stat().st_size
        ends = sorted(drawn.sample(range(400, size), 2))
        steps += [append(ARCHIVE / name, folder / "log" / name, end) for end in [*ends, size]]
    steps[0]()
    rounds, _ = followed(folder, *steps[1:])
    assert [done.error for done in rounds] == [None] * len(rounds) and len(rounds) > 6
    for done in rounds[:: len(rounds) // 2]:
        expected = applier.replay(ARCHIVE, folder / f"v{done.version}", stop=done.position).snapshot
        assert applier.diff(expected, folder / "lake/_versions" / str(done.version)).same
    assert rounds[-1].position == "binlog.000003:176495"
    assert sum(done.changes for done in rounds) == 16801


def test_one_round_as_for_cron(folder, log, capsys):
    add(log, 1)()
    place = {"until_now": True, "delta": str(folder / "delta"), "keep": 1}
    for changes in (1, 0):  # the second one finds nothing new, and that all is published
        [done], script = followed(folder, **place)
        assert (done.version, done.changes, len(done.published), script.waited) == (1, changes, 1, [])
    add(log, 2)()
    command = ["sync", "--until-now", "--binlogs", str(folder / "log"), "--lake", str(folder / "lake")]
    assert cli.main(command) == 0 and rows(folder) == [1, 2]
    assert ": 1 change, 1 file written, " in capsys.readouterr().out
    assert cli.main([*command, "--delta", str(folder / "delta")]) == 0
    assert re.search(r" version 2 at .*: nothing new, published in .*delta, [\d.]+ s, lag 0\.0 s$",
                     capsys.readouterr().out.strip())
    shutil.rmtree(folder / "log")
    assert cli.main(command) == 2


def test_nothing_new_is_no_version(folder, log):
    rounds, script = followed(folder, lambda: None, add(log, 1), lambda: None)
    assert [(done.version, done.changes) for done in rounds] == [(1, 0), (2, 1)]
    assert script.waited == [1.0] * 4
    assert followed(folder)[0] == [], "a new process finds the lake where it should be"
    again = applier.replay(folder / "log", lake=folder / "lake")
    assert again.report.snapshot == str(folder / "lake/_versions/0000000002") and again.report.changes == 0
    assert "nothing after" in again.report.notes[0]


def test_tables_that_are_left_out_now_make_a_version(folder, log):
    followed(folder)
    assert applier.replay(folder / "log", lake=folder / "lake", ignore_tables="d.t").snapshot.uri.endswith("2")


def test_formats_follow_the_lake(folder, log):
    rounds, _ = followed(folder, add(log, 1), add(log, 2), iceberg=f"sqlite:///{folder}/catalog.db",
                         delta=str(folder / "delta"))
    assert [len(done.published) for done in rounds] == [2, 2, 2]
    table = iceberg_readers.catalog(folder).load_table(("d", "t"))
    assert iceberg_readers.cells(iceberg_readers.with_pyiceberg(table)) == ["(1,)", "(2,)"]
    assert DeltaTable(folder / "delta/d/t").to_pyarrow_table()["id"].to_pylist() == [1, 2]


def test_tags_and_expiry_of_snapshots(folder, log, monkeypatch, capsys):
    """Each round moves the tag, and drops the snapshots that were replaced longer ago, once a minute at most."""
    catalog = f"sqlite:///{folder}/catalog.db"
    options = {"iceberg": catalog, "tag": "latest", "expire": timedelta(0), "keep": 1}
    rounds, _ = followed(folder, add(log, 1), add(log, 2), **options)
    table = iceberg_readers.catalog(folder).load_table(("d", "t"))
    assert len(table.snapshots()) == 3 and rounds[-1].expired == 0
    assert table.snapshot_by_name("latest") == table.current_snapshot()
    monkeypatch.setattr("applier.jobs.sync.job.EXPIRES_EVERY_SECONDS", 0.0)
    monkeypatch.setattr("applier.jobs.sync.job.WAITS_TIMES", 0)
    add(log, 3)()
    rounds, _ = followed(folder, add(log, 4), **options)
    assert [done.published[0].tables[0].snapshots_expired for done in rounds] == [2, 1]
    table = iceberg_readers.catalog(folder).load_table(("d", "t"))
    assert [one.snapshot_id for one in table.snapshots()][-1:] == [table.snapshot_by_name("latest").snapshot_id]
    assert not applier.fsck(folder / "lake", iceberg=catalog).damaged
    add(log, 5)()
    command = ["sync", "--until-now", "--binlogs", str(folder / "log"), "--lake", str(folder / "lake"),
               "--iceberg", catalog, "--tag", "latest", "--expire", "0s"]
    assert cli.main(command) == 0
    assert f", published in {catalog}, 1 snapshot expired, " in capsys.readouterr().out


@pytest.mark.parametrize(("options", "words"), [
    ({"tag": "daily"}, "--tag applies only to an Iceberg catalog"),
    ({"expire": "7d"}, "--expire applies only to an Iceberg catalog"),
    ({"iceberg": "sqlite:////x.db", "tag": "main"}, "'main' is not a name for a tag"),
    ({"iceberg": "sqlite:////x.db", "expire": "7"}, "--expire 7 is not a time")])
def test_what_is_no_tag_and_no_time(folder, options, words):
    with pytest.raises(applier.UsageError, match=words):
        applier.sync(folder / "log", folder / "lake", **options)


def test_a_format_that_cannot_be_published_waits_for_it(folder, log):
    """The lake continues meanwhile, and the next round that can publishes its latest version."""
    (folder / "delta").write_text("in the way")
    rounds, script = followed(folder, add(log, 1), lambda: (folder / "delta").unlink(), lambda: None,
                              delta=str(folder / "delta"))
    assert [done.version for done in rounds] == [1, 2, 2]
    assert [done.error is None for done in rounds] == [False, False, True]
    assert isinstance(rounds[0].error, applier.SnapshotError)
    assert script.waited == [1.0, 2.0, 1.0, 1.0]


def test_an_archive_that_is_not_there_yet_is_waited_for(folder, log):
    shutil.move(folder / "log", folder / "away")
    rounds, script = followed(folder, *[lambda: None] * 8, lambda: shutil.move(folder / "away", folder / "log"))
    assert script.waited == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, 1.0]
    assert {type(done.error) for done in rounds[:-1]} == {applier.MissingFile}
    assert rounds[-1].error is None and rounds[-1].version == 1


def test_asked_to_end_while_rounds_fail_it_raises_why(folder):
    with pytest.raises(applier.ArchiveError, match="no binlog files"):
        followed(folder)


def test_what_stops_a_replica_ends_it(folder, log):
    """And the lake keeps the last version before."""
    def damage():
        with log.transaction():
            log.delete("d.t", {"id": [77]})
        log.flush()

    script = Script(add(log, 1), damage, add(log, 2))
    replay = ReplayOptions((str(folder / "log"),), "", lake=str(folder / "lake"), engine="local")
    rounds = []
    with pytest.raises(applier.ReplayStopped) as stopped:
        rounds.extend(sync(SyncOptions(replay, metrics=(str(folder / "health.json"),)), script))
    assert stopped.value.mysql_errno == 1032 and rows(folder) == [1]
    health = orjson.loads((folder / "health.json").read_bytes())
    assert health["state"] == "failing" and health["last"]["error"]["errno"] == 1032


def test_versions_expire(folder, log, monkeypatch):
    monkeypatch.setattr("applier.jobs.sync.job.EXPIRES_EVERY_SECONDS", 0.0)
    monkeypatch.setattr("applier.jobs.sync.job.WAITS_TIMES", 0)
    rounds, _ = followed(folder, add(log, 1), add(log, 2), keep=2)
    assert [done.expired for done in rounds] == [0, 0, 1]
    assert [version.number for version in applier.versions(folder / "lake")] == [2, 3]


def test_the_first_version_may_have_a_base(folder, log):
    applier.replay(folder / "log", folder / "base")
    add(log, 1)()
    replay = ReplayOptions((str(folder / "log"),), "", lake=str(folder / "lake"), base=str(folder / "base"),
                           engine="local")
    for _ in range(2):  # a second start names it, too
        list(sync(SyncOptions(replay), Script()))
        add(log, 2 + _)()
    assert rows(folder) == [1, 2]


def test_metrics_for_prometheus(folder, log):
    followed(folder, add(log, 1, 2), metrics=(str(folder / "sync.prom"),))
    lines = (folder / "sync.prom").read_text().splitlines()
    label = f'{{output="{folder / "lake"}"}}'
    figures = dict(line.replace(label, "").split() for line in lines if not line.startswith("#"))
    assert figures["applier_sync_version"] == "2" and figures["applier_sync_changes_total"] == "2"
    assert figures["applier_sync_rounds_total"] == "2" and figures["applier_sync_up"] == "0"
    [version] = applier.versions(folder / "lake")[1:]
    assert int(figures["applier_sync_written_bytes_total"]) == version.new_bytes
    assert sum(line.startswith("# TYPE") for line in lines) == len(figures)
    assert sorted(os.listdir(folder)) == ["lake", "log", "sync.prom"], "nothing is left beside it"


def test_metrics_that_cannot_be_written_do_not_end_it(folder, log):
    with pytest.warns(applier.TelemetryWarning, match="no such file"):
        rounds, _ = followed(folder, add(log, 1), metrics=(str(folder / "none/sync.json"),))
    assert [done.version for done in rounds] == [1, 2] and rows(folder) == [1]


def test_lineage_of_rounds_and_publications(folder, log):
    """Each replay and each publication is a run of its own."""
    replay = ReplayOptions((str(folder / "log"),), "", lake=str(folder / "lake"), engine="local",
                           lineage=str(folder / "events.json"))
    add(log, 1)()
    log.flush()
    list(sync(SyncOptions(replay, delta=str(folder / "delta")), Script()))
    events = [orjson.loads(line) for line in (folder / "events.json").read_text().splitlines()]
    assert [(event["job"]["name"].split(".")[0], event["eventType"]) for event in events] == [
        ("replay", "START"), ("replay", "COMPLETE"), ("publish", "START"), ("publish", "COMPLETE")]
    made, published = events[1]["outputs"], events[3]["inputs"]
    assert [one["name"] for one in made] == [one["name"] for one in published] == [f"{folder}/lake/d/t"]


@pytest.mark.parametrize("wrong", [{"every": 0.0}, {"warehouse": "w"}, {"every": 1e9}])
def test_options_that_make_no_sense(folder, wrong):
    with pytest.raises(applier.UsageError):
        SyncOptions(ReplayOptions(("log",), "", lake="lake"), **wrong)


def test_the_command_ends_after_the_round_when_it_is_asked(folder, log):
    """As a program of its own, which imports less than a test does, with a catalog; and says what it did."""
    add(log, 1)()
    run = subprocess.Popen([sys.executable, "-m", "applier", "sync", "--binlogs", folder / "log", "--lake",
                            folder / "lake", "--every", "0.1s", "--iceberg", f"sqlite:///{folder}/catalog.db",
                            "--json-log"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    done = orjson.loads(run.stdout.readline())
    run.send_signal(signal.SIGTERM)
    _, errors = run.communicate(timeout=60)
    assert (run.returncode, errors, done["error"], done["version"], done["changes"]) == (0, "", None, 1, 1)
    assert done["published"] == [f"sqlite:///{folder}/catalog.db"]
