"""kill -9 of a sync, at calls that change something: see killed_syncs, which does it at many more."""

import pytest

from tests.unit.jobs.sync.killed_syncs import kills

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("merges", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_a_sync_that_is_killed_leaves_nothing_half_done(tmp_path, merges):
    """Each of these continues where the one before was killed, and the last one reaches the end."""
    with kills(tmp_path, merges=merges) as killing:
        for place in (20, 100, 150, 180, 90) if merges else (20, 200, 330, 420, 90):
            assert killing.run(place) is None
            killing.check(is_killed=True)
        assert killing.run(0)
        killing.check(is_killed=False)


@pytest.mark.thorough
def test_one_of_tables_with_partitions(tmp_path):
    """Of which a round writes several files for each range."""
    with kills(tmp_path, divided=True) as killing:
        for place in (60, 380, 250, 330, 120):
            assert killing.run(place) is None
            killing.check(is_killed=True)
        assert killing.run(0)
        killing.check(is_killed=False)


def test_one_of_a_lake_that_merges_on_read(tmp_path):
    """As the other one, with compactions between its rounds."""
    with kills(tmp_path, merges=True) as killing:
        for place in (30, 150, 260, 61):
            assert killing.run(place) is None
            killing.check(is_killed=True)
        assert killing.run(0)
        killing.check(is_killed=False)
