"""WITNESS on Spark: what workers find of a planted fault of each kind comes to the driver."""

import pytest

from applier.errors import ReplayStopped
from applier.io.progress import Silent
from applier.jobs.on_engine import replaying
from applier.options import ReplayOptions
from tests.support.planted_faults import FAULTS

pytestmark = pytest.mark.contradicted


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault(spark, name, route, tmp_path):
    fault = FAULTS[name](tmp_path)

    def replay(output, **options):
        [result] = replaying.replay(ReplayOptions(
            (str(fault.log),), str(tmp_path / output), engine="spark", master="local[2]", route=route, **fault.options,
            **options), Silent())
        return result.witness

    [difference] = replay("out").differences
    assert (difference.column, difference.count, difference.logged, difference.held) == (
        fault.column, 1, fault.logged, fault.held)
    if route == "walk":  # the two ways of stopping differ in nothing else
        return
    with pytest.raises(ReplayStopped, match=f"-image has {fault.column} = {fault.logged}, and .* {fault.held}"):
        replay("no", witness="stop")
