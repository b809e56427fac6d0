"""GRP-7: where a base goes on in the log of any MariaDB server, as recorded servers answered a replica there."""

import json
from pathlib import Path

import pytest

import applier
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions

HERE = Path(__file__).parent
CASES = sorted(case.parent for case in HERE.glob("*/*/case.json"))
PASSED_OVER = {("back", "0-1-5"), ("back", "0-1-6"), ("back", "0-2-4"), ("back", "0-2-7")}
"""Where a replica with gtid_strict_mode=OFF silently passes over groups of other servers (with ON it refuses)."""
DUMP = ("CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, gtid VARCHAR(30));\n"
        "-- GTID: none\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_a_base_goes_on_where_a_replica_does(case, tmp_path):
    """An empty base at every place: the rows that come are those of the groups that the source sent."""
    (tmp_path / "dump.sql").write_text(DUMP)
    wrong = {}
    for number, (place, sent) in enumerate(json.loads((case / "case.json").read_text())["places"].items()):
        base, output = tmp_path / f"base{number}", tmp_path / f"out{number}"
        applier.import_dump(tmp_path / "dump.sql", base, gtid_set=place, flavour="mariadb")
        try:
            replay_with(ThisProcess(), ReplayOptions((str(case),), str(output), base=str(base)))
            found = sorted(row["id"] for row in applier.Snapshot(output).tables["d.t"].to_arrow().to_pylist())
        except ArchiveError as error:
            assert error.mysql_errno == 1236
            found = error.message
        if found != sent and not (isinstance(found, str) and (isinstance(sent, str) or (
                case.name, place) in PASSED_OVER)):
            wrong[place] = (sent, found)
    assert not wrong
