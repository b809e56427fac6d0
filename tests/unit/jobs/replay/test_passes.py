"""A log that is larger than a pass: several passes hold what one pass holds, to the row, and say the same
(tests.support.passes). A small log, whose passes end where a test wants them to."""

import json
import os

import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.io.disk import durable
from applier.jobs.replay.snapshots_at import replay_with as replay_at
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest
from tests.support.forked_runs import forked_runs
from tests.support.passes import holds_the_same, run
from tests.support.small_logs import commit, delete, held, insert, new_log, update


@pytest.fixture
def unfinished(tmp_path):
    """Twelve transactions of 20 rows and more in three files, each a second after the one before, and the places at
    which they end; the last file is still to be closed."""
    folder = tmp_path / "logs"
    folder.mkdir()
    log, ends = new_log(folder, timestamp=1_700_000_000), []
    for number in range(12):
        if number in (4, 8):
            log = log.rotate(folder / f"binlog.{number // 4 + 1:06d}")
        log.timestamp = 1_700_000_000 + number
        rows = [(id, number, "x" * 20) for id in range(20 * number, 20 * number + 20)]
        moved = [update([(5, number - 1, "x" * 20)], [(5, number, "x" * 20)])] if number else []
        ends.append((os.path.basename(log.path), commit(log, insert(rows), *moved)[1]))
    return log, folder, ends


@pytest.fixture
def log(unfinished):
    """The folder with the files, and the places."""
    unfinished[0].close()
    return unfinished[1:]


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("pass_bytes", [1, 700, 2_000, 4_500])
def test_passes_of_any_size(log, pass_bytes, tmp_path):
    """A group that is larger than a pass is one; also with a time to stop at, a base and a place to start at."""
    folder, ends = log
    options = {"stop_datetime": 1_700_000_007}, {}, {"start_position": ends[0], "base": str(tmp_path / "base")}, \
        {"base": str(tmp_path / "base")}, {"stop_gtid": "00000000-0000-4000-8000-000000000001:1-7"}
    run(folder, tmp_path / "base", stop_position=ends[0])
    for number, wanted in enumerate(options):
        here = tmp_path / str(number)
        here.mkdir()
        once = run(folder, here / "once", **wanted)
        holds_the_same(once, run(folder, here / "passes", pass_bytes=pass_bytes, **wanted), here)


def test_several_snapshots_in_passes(log, tmp_path):
    """--snapshot-at: each of them in passes of its own."""
    folder, ends = log
    places = ends[2], ends[9]
    options = ReplayOptions((str(folder),), str(tmp_path / "out"), snapshot_at=places, pass_bytes=2_000)
    for place, result in zip(places, replay_at(ThisProcess(2), options), strict=True):
        here = tmp_path / "out" / f"{place[0]}-{place[1]}"
        run(folder, tmp_path / f"once {here.name}", stop_position=place)
        assert (result.snapshot, result.position) == (str(here), f"{place[0]}:{place[1]}")
        assert held(here) == held(tmp_path / f"once {here.name}")
        assert not (here / "_passes").exists()
    assert manifest.load(str(here)).source.base == str(tmp_path / "out" / f"{ends[2][0]}-{ends[2][1]}")


def test_what_a_snapshot_does_not_know_goes_on(unfinished, tmp_path):
    """AP-FILT, AP-POS: tables that are left out are known to later passes, which may be made like them, and what the
    log made is not taken for a replica's own table that may have other columns."""
    log, folder, _ = unfinished
    options = {"schema": str(tmp_path / "schema.sql"), "filter": TableFilter((("shop", "item"), ("shop", "made")), ())}
    (tmp_path / "schema.sql").write_text("CREATE DATABASE other; CREATE TABLE other.left_out (id INT PRIMARY KEY)")
    log.query("CREATE TABLE shop.made LIKE other.left_out", "shop")
    log.close()
    here = tmp_path / "here"
    here.mkdir()
    once = run(folder, here / "once", **options)
    holds_the_same(once, run(folder, here / "passes", pass_bytes=2_000, **options), here)
    assert once.tables[1].full_name == "shop.made"


def test_what_is_published_is_durable_and_what_is_in_between_is_not(log, tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(durable, "sync_tree", synced.append)
    run(log[0], tmp_path / "out", pass_bytes=2_000)
    [root] = synced
    assert os.path.basename(root).startswith(".out.staging-")


class Notes:
    """Keeps what people are told."""

    def __init__(self):
        self.told = []

    def phase(self, name, total, what):
        pass

    def update(self, done, rows=0):
        pass

    def note(self, text):
        self.told.append(text)


def test_passes_show_in_the_log_line_only(log, tmp_path):
    notes = Notes()
    result = run(log[0], tmp_path / "out", notes, pass_bytes=4_500)
    numbers = [int(line.split(",")[0].removeprefix("pass ")) for line in notes.told]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 3 and result.notes == ()
    notes = Notes()
    run(log[0], tmp_path / "once", notes)
    assert notes.told == []


def test_an_error_in_a_later_pass_publishes_nothing(unfinished, tmp_path):
    """With the same text as in one pass; what earlier passes made is gone."""
    log, folder, _ = unfinished
    commit(log, delete([(4711, 1, "x")]))
    log.close()
    here = tmp_path / "here"
    here.mkdir()
    once = run(folder, here / "out")
    assert "4711" in once and run(folder, here / "out", pass_bytes=2_000) == once
    assert list(here.iterdir()) == []


KILLED = """
import signal
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
class Killed(ThisProcess):
    plans = 0
    def walk(self, tasks, on_progress):
        done = super().walk(tasks, on_progress)
        self.plans += 1
        if self.plans == self.ends_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
def run(ends_at):
    executor = Killed(2)
    executor.ends_at = ends_at
    replay_with(executor, ReplayOptions((sys.argv[1],), sys.argv[2], route="walk", pass_bytes=4500))
    return executor.plans
"""
"""Of forked_runs: kills itself once it has applied its `ends_at`-th pass."""


@pytest.mark.thorough
@pytest.mark.slow
def test_killed_within_a_pass(log, tmp_path):
    """Nothing is published, and the next run removes what is left, bases of passes among it."""
    folder, here = log[0], tmp_path / "here"
    here.mkdir()
    with forked_runs(KILLED, str(folder), str(here / "out")) as replay:
        for ends_at in (1, 2, 3):
            assert replay(ends_at) is None
            [left] = here.iterdir()
            assert left.name.startswith(".out.staging-")
            assert sorted(path.name for path in left.glob("_passes/[0-9]*")) == [str(n) for n in (ends_at - 1,) if n]
        assert replay(0) >= 3
    assert [path.name for path in here.iterdir()] == ["out"]
    run(folder, tmp_path / "once")
    assert held(here / "out") == held(tmp_path / "once")


def test_the_command(log, tmp_path, capsys):
    """--pass-bytes takes a size with a unit, 1M at least; the report does not tell passes."""
    words = ["replay", "--binlogs", str(log[0]), "--engine", "local", "--output"]
    assert cli.main([*words, str(tmp_path / "out"), "--pass-bytes", "1M"]) == 0
    assert cli.main([*words, str(tmp_path / "again"), "--pass-bytes", "0"]) == 2
    assert "is not a size" in capsys.readouterr().err
    assert json.loads((tmp_path / "out" / "_report.json").read_text())["notes"] == []
