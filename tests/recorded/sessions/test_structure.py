"""Sessions about partitions, sequences and the order of rows."""

import pytest

import applier
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.recorded.sessions.replayed import check, each_of, log_of, recorded

CASES = recorded("structure")


@each_of(CASES)
def test_a_snapshot_is_what_the_server_held(session, version, route, tmp_path):
    check(CASES[session, version], route, tmp_path)


def test_a_base_does_not_tell_where_a_counter_of_auto_increment_stands(tmp_path):
    """Rows that were there before may have had higher numbers."""
    case = next(case for case in CASES.values() if case["name"] == "numbers-that-continue-those-of-another-column")
    log = log_of(case, tmp_path)
    end = next(event.end_log_pos for event in applier.binlog.open(str(log)) if event.name == "XID")
    replay_with(ThisProcess(1), ReplayOptions((str(log),), str(tmp_path / "base"), stop_position=(log.name, end)))
    with pytest.raises(applier.SchemaError, match="column c continues the numbers of another column"):
        replay_with(ThisProcess(1), ReplayOptions((str(log),), str(tmp_path / "out"), base=str(tmp_path / "base")))
