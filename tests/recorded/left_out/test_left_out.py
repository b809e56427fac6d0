"""AP-SKIP: what a replay leaves out by GTID or by server, real replicas left out; the logs are of rings of two servers,
with XA transactions, DDL, compressed transactions, minimal images, foreign keys, tables without keys and without
transactions. The recorder is record_left_out.py.
"""

import json

import pytest

import applier
from applier.snapshot import manifest
from tests.support.folders import RECORDED
from tests.support.real_server import differences

pytestmark = pytest.mark.contradicted  # what is left out is in later before-images

CASES = ["mysql", "mysql-servers", "mariadb", "mariadb-servers"]


def arguments(name):
    """What is replayed, and what is left out."""
    folder = RECORDED / "left_out" / name
    case = json.loads((folder / "case.json").read_text())
    return folder, {name: value for name, value in case.items() if name in ("exclude_gtids", "ignore_server_ids")}, case


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", CASES)
def test_snapshot_holds_what_the_replica_held(tmp_path, name, route):
    folder, chosen, case = arguments(name)
    made = applier.replay(str(folder), tmp_path / "made", route=route, **chosen).snapshot
    assert differences(tmp_path / "made", folder / "expected") == []
    assert made.position.gtid_set == case["gtids"]


@pytest.mark.parametrize("name", CASES)
def test_passes_and_places_leave_out_the_same(tmp_path, name):
    """A replay in steps, each from the snapshot of the one before; in some steps nothing is left out."""
    folder, chosen, case = arguments(name)
    whole = applier.replay(str(folder), tmp_path / "whole", **chosen).report
    stops = [f"binlog.000001:{end}" for end in group_ends(folder / "binlog.000001")[8::7]]
    made = applier.replay(str(folder), tmp_path / "days", snapshot_at=[*stops, case["position"]], **chosen)
    last = tmp_path / "days" / made.snapshots[-1].uri.rpartition("/")[2]
    assert differences(last, folder / "expected") == []
    assert manifest.load(str(last)).left_out == manifest.load(str(tmp_path / "whole")).left_out == whole.left_out


def group_ends(log):
    from applier.binlog.locating.groups import GroupPass

    return GroupPass(str(log)).groups().ends.tolist()
