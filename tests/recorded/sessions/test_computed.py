"""Sessions about what defaults, casts and generated columns compute."""

from tests.recorded.sessions.replayed import check, each_of, recorded

CASES = recorded("expressions")


@each_of(CASES)
def test_a_snapshot_is_what_the_server_held(session, version, route, tmp_path):
    check(CASES[session, version], route, tmp_path)
