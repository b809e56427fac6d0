"""The benchmark of lags: the lake gets all that was written, and lags are those of rounds."""

from dataclasses import replace
from pathlib import Path

import pytest

from applier.jobs.sync.round import Round
from benchmarks import following

pytestmark = pytest.mark.slow


def test_a_log_is_followed_to_its_end(tmp_path: Path) -> None:
    done = following.followed(str(tmp_path / "f"), 2000, 1000, 0.3)
    assert done.changes == sum(round.changes for round in done.rounds) > 0
    assert done.seconds >= 0.3 and done.meanwhile <= len(done.rounds) and 0 < done.cpu
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("lags, diverges", [
    ([1, 9, 1, 2, 1, 2, 1, 2, 1], False), ([1, 2, 3, 4, 5, 6, 7, 8, 9], True), ([1, 3, 5, 5, 5, 5, 5, 5, 5], False),
    ([0.1] * 6 + [0.3] * 3, False), ([40.0], True)])
def test_a_lag_that_grows_to_the_end_diverges(lags: list[float], diverges: bool) -> None:
    rounds = tuple(replace(Round(), lag=lag) for lag in lags)
    done = following.Followed((*rounds, Round(lag=100.0)), 1, 1.0, len(rounds), 1.0)
    assert done.lags == lags and done.diverges == diverges
