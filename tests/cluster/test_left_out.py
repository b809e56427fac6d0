"""What a replay leaves out, on Spark: the cases of tests/recorded/left_out."""

import json

import pytest

import applier
from tests.support.folders import RECORDED
from tests.support.real_server import differences


@pytest.mark.contradicted  # what is left out is in later before-images
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("name", "route"), [("mysql", "walk"), ("mariadb", "shuffle"), ("mysql-servers", "shuffle")])
def test_snapshot_holds_what_the_replica_held(tmp_path, name, route):
    """AP-SKIP, GRP-6."""
    folder = RECORDED / "left_out" / name
    case = json.loads((folder / "case.json").read_text())
    chosen = {option: case[option] for option in ("exclude_gtids", "ignore_server_ids") if option in case}
    applier.replay(str(folder), tmp_path / "made", route=route, engine="spark", **chosen)
    assert differences(tmp_path / "made", folder / "expected") == []
