"""A log that is larger than a pass, on Spark (tests.support.passes)."""

import pytest

from applier.io.progress import Silent
from applier.jobs.on_engine import replaying
from applier.options import ReplayOptions
from tests.support.passes import holds_the_same, log_bytes, run
from tests.support.real_server import Case


@pytest.mark.by_turns("mode", one_in=2)
@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("name", ["key-moves-minimal", "ddl-mariadb", "fk-cascade-mysql"])
def test_passes_on_spark(spark, name, mode, tmp_path):
    """--engine spark, and the command line's own units."""
    binlogs = Case(name).binlogs
    once = run(binlogs, tmp_path / "once", exec_mode=mode)
    options = ReplayOptions(tuple(map(str, binlogs)), str(tmp_path / "passes"), exec_mode=mode, engine="spark",
                            master="local[2]", pass_bytes=log_bytes(binlogs) // 3 + 1)
    [result] = replaying.replay(options, Silent())
    holds_the_same(once, result, tmp_path)
