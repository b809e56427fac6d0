"""Sessions that random histories once showed wrong or refused, of MySQL."""

import pytest

from tests.recorded.sessions.replayed import check, recorded

CASES = recorded("found_mysql")


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("case", sorted(CASES))
def test_a_snapshot_is_what_the_server_held(case, route, tmp_path):
    check(CASES[case], route, tmp_path)
