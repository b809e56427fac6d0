"""One apply task: errors that say where, and both routes to the same units."""

import gc
from unittest import mock

import pytest

from applier.apply.tables import unit_outcome
from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.io import mapping
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.small_logs import commit, held, insert, new_log


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_definition_that_is_not_the_logs_is_refused_with_its_place(tmp_path, route):
    """AP-POS, 1677: the file and the table map at which log and definition part."""
    log = new_log(tmp_path)
    log.query("DROP TABLE item", "shop")
    log.query("CREATE TABLE item (id INT NOT NULL PRIMARY KEY, n BIGINT, s VARCHAR(20))", "shop")
    begin, end = commit(log, insert([(1, 1, "a")]))
    log.close()
    with pytest.raises(ReplayStopped, match=r"column 1, n, .* from type 'int' to type 'bigint'") as stopped:
        replay_with(ThisProcess(), ReplayOptions((str(log.path),), str(tmp_path / "out"), route=route))
    error = stopped.value
    assert (error.mysql_errno, error.table, error.file) == (1677, "shop.item", str(log.path))
    assert begin < error.position < end


def test_images_outlive_the_shared_mappings(tmp_path, monkeypatch):
    """A unit holds every file that its images lie in, whatever a process keeps mapped for its next task."""
    monkeypatch.setattr(mapping, "MOST_SHARED", 0)
    log, expected = new_log(tmp_path), []
    for number in range(1, 8):
        rows = [(number * 1000 + n, n, f"{number} {n}") for n in range(200)]
        commit(log, insert(rows))
        expected += rows
        log = log.rotate(tmp_path / f"binlog.{number + 1:06d}") if number < 7 else log
    log.close()
    binlogs = tuple(str(tmp_path / f"binlog.{number:06d}") for number in range(1, 8))
    replay_with(Collecting(), ReplayOptions(binlogs, str(tmp_path / "out"), route="walk"))
    assert held(tmp_path / "out") == expected


class Collecting(ThisProcess):
    """Leaves nothing behind between what a walk reads and what it writes that is not held."""

    def walk(self, tasks, on_progress):
        finish = unit_outcome.finish

        def after_collection(unit):
            gc.collect()
            return finish(unit)

        with mock.patch.object(unit_outcome, "finish", after_collection):
            return super().walk(tasks, on_progress)
