"""What a session's settings make of DDL, of literals and of expressions: both routes hold what each server held."""

import base64
import gzip
import json

import pytest

import applier.binlog
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.folders import RECORDED
from tests.support.real_server import differences_of, rows_of

CASES = [json.loads(line) for name in ("recorded", "found", "found_mysql", "mariadb", "codes", "structure", "texts",
                                       "expressions")
         for line in gzip.open(RECORDED / "sessions" / f"{name}.jsonl.gz", "rt")]
BY_SERVER = {("MariaDB" if "MariaDB" in case["server"] else "MySQL", case["name"], case["server"].partition("-")[0]):
             case for case in CASES}


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize(("flavour", "name", "version"), sorted(BY_SERVER))
def test_a_snapshot_is_what_the_server_held(flavour, name, version, route, tmp_path):
    """Every day by one route."""
    case, log = BY_SERVER[flavour, name, version], tmp_path / "binlog.000001"
    log.write_bytes(base64.b64decode(case["log"]))
    replay_with(ThisProcess(1), ReplayOptions((str(log),), str(tmp_path / "out"), route=route, system_time_zone="UTC",
                                           witness="stop"))
    wanted = {name: (columns, rows_of(rows)) for name, (columns, rows) in case["tables"].items()}
    assert differences_of(tmp_path / "out", wanted) == []


@pytest.mark.by_turns("case")
@pytest.mark.parametrize("case", [case for case in CASES if case["name"] == "equal-rows"],
                         ids=lambda case: case["server"].partition("-")[0])
def test_of_equal_rows_the_first_is_found_from_every_base(case, tmp_path):
    """A server scans the table. Some of its rows come from a base, others from the log (FIND)."""
    log = tmp_path / "binlog.000001"
    log.write_bytes(base64.b64decode(case["log"]))
    ends = [event.end_log_pos for event in applier.binlog.open(str(log)) if event.name == "XID"]
    wanted = {name: (columns, rows_of(rows)) for name, (columns, rows) in case["tables"].items()}
    for end in ends[::3]:
        base, output = tmp_path / f"base-{end}", tmp_path / f"from-{end}"
        replay_with(ThisProcess(1), ReplayOptions((str(log),), str(base), stop_position=(log.name, end)))
        replay_with(ThisProcess(1), ReplayOptions((str(log),), str(output), base=str(base)))
        assert differences_of(output, wanted) == [], end


def test_a_feed_computes_generated_columns_in_the_servers_zone(tmp_path):
    """Changes with whole rows, versions of rows and a rewritten archive have what a replica computes, too."""
    [case] = [case for case in CASES if case["name"] == "zone-of-generated-columns-on-a-replica"]
    log = tmp_path / "binlog.000001"
    log.write_bytes(base64.b64decode(case["log"]))
    with pytest.raises(applier.SchemaError, match="--system-time-zone can"):
        applier.changes(log, "d.b", complete=True).to_arrow()
    made = applier.changes(log, "d.b", complete=True, system_time_zone="UTC").to_arrow().to_pylist()
    versions = applier.history(log, "d.b", system_time_zone="UTC").to_arrow().to_pylist()
    held = {row[0]: row[4] for row in case["tables"]["d.b"][1]}
    assert {row["id"]: row["h"] for row in made} == held
    assert {row["id"]: row["h"] for row in versions if row["_valid_to"] is None} == held
    rewritten = applier.rewrite(log, tmp_path / "whole", image="full", system_time_zone="UTC")
    assert rewritten.proof.tables == len(case["tables"])


def test_a_base_does_not_tell_where_a_counter_of_auto_increment_stands(tmp_path):
    """Rows that were there before may have had higher numbers."""
    case = next(case for case in CASES if case["name"] == "numbers-that-continue-those-of-another-column")
    log = tmp_path / "binlog.000001"
    log.write_bytes(base64.b64decode(case["log"]))
    end = next(event.end_log_pos for event in applier.binlog.open(str(log)) if event.name == "XID")
    replay_with(ThisProcess(1), ReplayOptions((str(log),), str(tmp_path / "base"), stop_position=(log.name, end)))
    with pytest.raises(applier.SchemaError, match="column c continues the numbers of another column"):
        replay_with(ThisProcess(1), ReplayOptions((str(log),), str(tmp_path / "out"), base=str(tmp_path / "base")))
