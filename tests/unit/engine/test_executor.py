"""Tasks in this process: what a shuffle sends is bounded in memory, on one thread and on several."""

import os

import pytest

from applier.engine import executor, spill_buffer
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import units
from tests.support.small_logs import commit, held, insert, new_log, update


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("spills", [False, True])
def test_a_shuffle_holds_so_much_and_the_rest_is_in_a_file(cores, spills, tmp_path, monkeypatch):
    """Both give the rows in log order, whichever thread was first."""
    files = []
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1)
    monkeypatch.setattr(units, "UNIT_BYTES", 2000)
    if spills:
        monkeypatch.setattr(executor, "SPILL_BYTES", 0)
    made = spill_buffer.tempfile.TemporaryFile
    monkeypatch.setattr(spill_buffer.tempfile, "TemporaryFile", lambda **of: files.append(made(**of)) or files[-1])
    log, rows = new_log(tmp_path), [(n, n, "x" * 20) for n in range(300)]
    for number in range(3):
        commit(log, insert(rows[number * 100:number * 100 + 100]))
        commit(log, update(rows[:50], [(n, n, f"{number}") for n, _, _ in rows[:50]]))
        rows[:50] = [(n, n, f"{number}") for n, _, _ in rows[:50]]
        log = log.rotate(tmp_path / f"binlog.{number + 2:06d}")
    log.close()
    result = replay_with(ThisProcess(cores), ReplayOptions((f"{tmp_path}/binlog.0*",), str(tmp_path / "out"),
                                                           route="shuffle"))
    assert held(tmp_path / "out") == rows and result.tables[0].units > 1
    assert bool(files) == spills
    assert not [name for name in os.listdir(tmp_path) if "spilled" in name]
