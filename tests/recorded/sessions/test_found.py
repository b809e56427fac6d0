"""Sessions that random histories once showed wrong or refused, of all servers."""

import pytest

import applier.binlog
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.recorded.sessions.replayed import check, each_of, log_of, recorded, tables_of
from tests.support.real_server import differences_of

CASES = recorded("found")


@each_of(CASES)
def test_a_snapshot_is_what_the_server_held(session, version, route, tmp_path):
    check(CASES[session, version], route, tmp_path)


@pytest.mark.by_turns("case")
@pytest.mark.parametrize("case", [case for case in sorted(CASES) if CASES[case]["name"] == "equal-rows"], ids="-".join)
def test_of_equal_rows_the_first_is_found_from_every_base(case, tmp_path):
    """A server scans the table. Some of its rows come from a base, others from the log (FIND)."""
    log = log_of(CASES[case], tmp_path)
    ends = [event.end_log_pos for event in applier.binlog.open(str(log)) if event.name == "XID"]
    wanted = tables_of(CASES[case])
    for end in ends[::3]:
        base, output = tmp_path / f"base-{end}", tmp_path / f"from-{end}"
        replay_with(ThisProcess(1), ReplayOptions((str(log),), str(base), stop_position=(log.name, end)))
        replay_with(ThisProcess(1), ReplayOptions((str(log),), str(output), base=str(base)))
        assert differences_of(output, wanted) == [], end
