"""kill -9 of a follower, at calls that change something: see killed_followers, which does it at many more."""

import random

import pytest

from tests.unit.jobs.changes.killed_followers import CASES, followers

pytestmark = pytest.mark.slow


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("case", CASES)
def test_each_change_comes_once_however_often_a_follower_is_killed(tmp_path, case):
    with followers(tmp_path, case) as runs:
        runs.begin_anew(1)
        chance, killed = random.Random(case), 0
        while runs.run(chance.randint(20, 150)) is None:
            killed += 1
        runs.check()
        assert killed
