"""A replay that is killed at any point leaves no output or a whole one, and the next run starts clean.

The points are named, so that nothing depends on how fast the machine is; `make torture` kills at random times.
"""

import shutil

import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.cluster import damaging, killing
from tests.support.forked_runs import forked_runs


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return killing.write_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def base(archive, tmp_path_factory):
    """A snapshot at the end of the first file."""
    base = tmp_path_factory.mktemp("base") / "base"
    replay_with(ThisProcess(2), ReplayOptions((f"{archive}/binlog.000001",), str(base)))
    return base


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize(("threads", "pass_bytes"), [(1, 0), (2, 0), (2, killing.PASS_BYTES)])
def test_killed_before_it_touches_a_file(threads, pass_bytes, archive, tmp_path):
    """--engine local, with as many threads for its tasks, in one pass (0) and in several: many short runs, each killed
    before another one of the files that it opens, makes, renames or removes, from the first to the last."""
    output, absent = tmp_path / "out", 0
    with forked_runs(killing.HERE, str(archive), str(output), str(threads), str(pass_bytes)) as run:
        for _ in range(2):  # the first may fill caches
            touched = run(0)
            assert killing.is_complete(output)
            shutil.rmtree(output)
        for place in sorted({1 + place * (touched - 1) // 11 for place in range(12)}):
            ended = run(place)
            assert ended is None or ended < place, "two threads may open a file each, or share it"
            if killing.is_complete(output):
                shutil.rmtree(output)
            else:
                absent += 1
        assert absent >= 3
        assert run(0)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert killing.is_complete(output)


@pytest.mark.parametrize("kills", [
    (("publication", "driver"),),
    pytest.param((("task", "java"), ("task", "worker"), ("outline", "java"), ("task", "all")),
                 marks=pytest.mark.thorough)], ids=["driver", "others"])
def test_killed_on_spark(kills, archive, base, tmp_path):
    """The driver, its Java, a Python worker, and all of them, at points that do not depend on how long anything takes;
    on top of a base, which stays as it was."""
    folder, before, said = tmp_path / "killed", killing.files_of(base), []
    folder.mkdir()
    for point, victim in kills:
        said.append(killing.attempt_at(point, victim, archive, base, folder, tmp_path / f"{victim} at {point}"))
        if (folder / "out").exists():
            shutil.rmtree(folder / "out")
    assert ["absent" in line for line in said] == [victim != "worker" for _, victim in kills], said
    killing.finish(archive, base, folder)
    assert killing.files_of(base) == before, "the base is not what it was"


@pytest.mark.thorough
def test_killed_on_spark_in_a_later_pass(archive, tmp_path):
    """Within a pass and between two of them, when what earlier passes made is a base that nobody is to see; and a run
    in passes removes what they have left."""
    folder, said = tmp_path / "killed", []
    folder.mkdir()
    for point, victim in (("end of a later pass", "driver"), ("task of a later pass", "driver"),
                          ("task of a later pass", "java"), ("task of a later pass", "worker")):
        said.append(killing.attempt_at(point, victim, archive, "", folder, tmp_path / f"{victim} at {point}",
                                       in_passes=True))
    assert ["absent" in line for line in said] == [True, True, True, False], said
    shutil.rmtree(folder / "out")
    killing.finish(archive, "", folder, in_passes=True)


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
