"""What a session's settings make of DDL, of literals and of expressions: both routes hold what each server held."""

import base64
import gzip
import json

import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.folders import RECORDED
from tests.support.real_server import differences_of, rows_of

CASES = [json.loads(line) for name in ("recorded", "found", "found_mysql", "mariadb")
         for line in gzip.open(RECORDED / "sessions" / f"{name}.jsonl.gz", "rt")]


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['name']}-{case['server'].partition('-')[0]}")
def test_a_snapshot_is_what_the_server_held(case, route, tmp_path):
    log = tmp_path / "binlog.000001"
    log.write_bytes(base64.b64decode(case["log"]))
    replay_with(ThisProcess(1), ReplayOptions((str(log),), str(tmp_path / "out"), route=route, system_time_zone="UTC",
                                           witness="stop"))
    wanted = {name: (columns, rows_of(rows)) for name, (columns, rows) in case["tables"].items()}
    assert differences_of(tmp_path / "out", wanted) == []
