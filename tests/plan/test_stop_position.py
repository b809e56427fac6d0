"""A stop point is where reading ends: what comes after its file does not matter."""

import pytest
from small_logs import commit, held, insert, new_log

from applier.apply.executor import ThisProcess
from applier.errors import ArchiveError
from applier.options import ReplayOptions
from applier.replay import replay_with


def test_files_after_the_stop_position_are_not_read(tmp_path):
    """GRP-2: the way around a damaged file, which the error's own hint names, works."""
    log = new_log(tmp_path)
    commit(log, insert([(1, 1, "kept")]))
    name, position = "binlog.000001", log.position
    log = log.rotate(tmp_path / "binlog.000002")
    commit(log, insert([(2, 2, "lost")]))
    log.close()
    damaged = tmp_path / "binlog.000002"
    damaged.write_bytes(b"\xfebin" + bytes(100))
    binlogs = tuple(str(tmp_path / f"binlog.00000{n}") for n in (1, 2))
    with pytest.raises(ArchiveError):
        replay_with(ThisProcess(), ReplayOptions(binlogs, str(tmp_path / "all")))
    result = replay_with(ThisProcess(), ReplayOptions(binlogs, str(tmp_path / "part"), stop_position=(name, position)))
    assert result.position == f"{name}:{position}"
    assert held(tmp_path / "part") == [(1, 1, "kept")]
