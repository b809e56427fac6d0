"""The hint of a refused change names the place before its transaction, whatever the log marks groups with."""

import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.small_logs import commit, held, insert, new_log


@pytest.mark.parametrize("gtids", ["on", "anonymous", "none"])
def test_the_stop_position_of_the_hint_works(tmp_path, gtids):
    log = new_log(tmp_path, gtids=gtids)
    rows = [(number, number, "x") for number in range(5)]
    for row in rows:
        commit(log, insert([row]))
    begin, _ = commit(log, insert([(9, 9, "not kept")]), insert([rows[1]]))
    log.close()
    with pytest.raises(ReplayStopped) as stopped:
        replay_with(ThisProcess(), ReplayOptions((log.path,), str(tmp_path / "all")))
    assert f"--stop-position binlog.000001:{begin};" in stopped.value.hint
    stop = ("binlog.000001", begin)
    replay_with(ThisProcess(), ReplayOptions((log.path,), str(tmp_path / "part"), stop_position=stop))
    assert held(tmp_path / "part") == rows
