"""A replay that is killed at any moment leaves no output or a whole one, and the next run starts clean.

`make torture` does more of it.
"""

import random
import shutil
import time

import damaging
import killing
import pytest

from applier.apply.executor import ThisProcess
from applier.options import ReplayOptions
from applier.replay import replay_with


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return killing.write_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def base(archive, tmp_path_factory):
    """A snapshot at the end of the first file."""
    base = tmp_path_factory.mktemp("base") / "base"
    replay_with(ThisProcess(2), ReplayOptions((f"{archive}/binlog.000001",), str(base)))
    return base


def test_killed_at_random_moments(archive, tmp_path):
    """One process, many short runs: each is killed somewhere between its first step and its last."""
    begun = killing.started(killing.HERE, archive, tmp_path / "out")
    begun.stdout.readline()
    start = time.monotonic()
    begun.communicate(timeout=100)
    took = time.monotonic() - start
    assert killing.is_complete(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    dice, killed, until = random.Random(7), 0, time.monotonic() + 12
    for _ in range(40):
        run = killing.started(killing.HERE, archive, tmp_path / "out")
        run.stdout.readline()
        time.sleep(dice.uniform(0, 1.1 * took))
        run.kill()
        run.communicate()
        killed += run.returncode < 0
        if killing.is_complete(tmp_path / "out"):
            shutil.rmtree(tmp_path / "out")
        if killed >= 3 and time.monotonic() > until:
            break
    assert killed >= 3
    killing.finish(killing.HERE, archive, "", tmp_path)


def test_killed_on_spark(archive, base, tmp_path):
    """The driver, its Java, a Python worker, and all of them; on top of a base, which stays as it was."""
    said = []
    killing.run(range(len(killing.VICTIMS)), archive, base, tmp_path / "killed", said.append)
    assert [line.split()[2] for line in said] == killing.VICTIMS
    assert sum("absent" in line for line in said) >= 2, said


def test_damaged_archives(tmp_path):
    """Flipped bits, zeroed blocks, files cut off, missing, swapped, rotated away or of another server: an error that
    names the file, or what the whole archive holds at the snapshot's position."""
    said = []
    assert damaging.run(range(80), tmp_path, said.append) == []
    assert sum("→ replayed to" in line for line in said) > 5 and sum("1610" in line for line in said) > 15
    assert sum("1236" in line for line in said) > 10


def test_damage_is_always_the_same(tmp_path):
    for number in range(20):
        assert damaging.damage(number, tmp_path / f"a{number}") == damaging.damage(number, tmp_path / f"b{number}")
