"""A replay that is killed at any moment leaves no output or a whole one, and the next run starts clean."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_logs import commit, held, insert, new_log

from applier.snapshot import manifest

ROOT = Path(__file__).parents[1]
ROWS = [(n, n, "x" * 20) for n in range(30_000)]

ON_SPARK = """
import sys
from applier.cli import main
sys.exit(main(["replay", "--binlogs", sys.argv[1], "--output", sys.argv[2], "--master", "local[2]"]))
"""
HERE = """
import sys
from applier.apply.executor import ThisProcess
from applier.options import ReplayOptions
from applier.plan import units
from applier.replay import replay_with
units.UNIT_BYTES, units.LEAST_UNIT_BYTES = 100_000, 1
print("begins", flush=True)
replay_with(ThisProcess(2), ReplayOptions((sys.argv[1],), sys.argv[2]))
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    with new_log(folder) as log:
        for first in range(0, len(ROWS), 1000):
            commit(log, insert(ROWS[first:first + 1000]))
    return folder


def started(program, archive, output):
    """A process, and the first of its own group."""
    return subprocess.Popen([sys.executable, "-c", program, str(archive), str(output)], start_new_session=True,
                            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def check(folder, archive):
    """The output is absent or complete. Whether it is there; what it holds is removed then."""
    output = folder / "out"
    if not output.exists():
        return False
    snapshot = manifest.load(str(output))
    named = {file.path for table in snapshot.tables for file in table.files}
    assert {str(file.relative_to(output)) for file in output.rglob("*.parquet")} == named
    assert held(output) == ROWS
    assert {"_schema.sql", "_report.json"} <= {file.name for file in output.iterdir()}
    shutil.rmtree(output)
    return True


def finish(program, archive, folder):
    """One more run, which nobody kills; afterwards there is its output and nothing else."""
    run = started(program, archive, folder / "out")
    run.communicate(timeout=100)
    assert run.returncode == 0
    assert [path.name for path in folder.iterdir()] == ["out"]
    assert check(folder, archive)


def test_killed_at_random_moments(archive, tmp_path):
    """One process, many short runs: each is killed somewhere between its first step and its last."""
    begun = started(HERE, archive, tmp_path / "out")
    begun.stdout.readline()
    start = time.monotonic()
    begun.communicate(timeout=100)
    took = time.monotonic() - start
    assert check(tmp_path, archive)
    dice, killed, until = random.Random(7), 0, time.monotonic() + 12
    for _ in range(40):
        run = started(HERE, archive, tmp_path / "out")
        run.stdout.readline()
        time.sleep(dice.uniform(0, 1.1 * took))
        run.kill()
        run.communicate()
        killed += run.returncode < 0
        check(tmp_path, archive)
        if killed >= 3 and time.monotonic() > until:
            break
    assert killed >= 3
    finish(HERE, archive, tmp_path)


@pytest.mark.parametrize("whole_group", [True, False], ids=["process group", "driver alone"])
def test_killed_on_spark(archive, tmp_path, whole_group):
    """The driver with its JVM and workers; or the driver alone, whose JVM and workers end by themselves then."""
    dice, until, killed = random.Random(whole_group), time.monotonic() + 10, 0
    while time.monotonic() < until:
        run = started(ON_SPARK, archive, tmp_path / "out")
        _at_work(run, tmp_path, dice)
        if whole_group:
            os.killpg(run.pid, signal.SIGKILL)
        else:
            run.kill()
        run.communicate()
        killed += run.returncode < 0
        check(tmp_path, archive)
    assert killed
    assert _is_gone(run.pid)
    finish(ON_SPARK, archive, tmp_path)


def _is_gone(group):
    """Whether all processes of a group end within a while."""
    for _ in range(150):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def _at_work(run, folder, dice):
    """Until the output's staging is there, or the run is over; and then a random while."""
    deadline = time.monotonic() + 30
    while run.poll() is None and not any(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(dice.uniform(0, 2.5))
