"""Sessions that random histories once showed wrong or refused, of MySQL."""

from tests.recorded.sessions.replayed import check, each_of, recorded

CASES = recorded("found_mysql")


@each_of(CASES)
def test_a_snapshot_is_what_the_server_held(session, version, route, tmp_path):
    check(CASES[session, version], route, tmp_path)
