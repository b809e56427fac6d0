"""GRP-7: where a base continues in the log of any MariaDB server, as recorded servers answered a replica there."""

import json
from pathlib import Path

import pytest

import applier
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.recorded.failover.record_failover import HISTORIES

HERE = Path(__file__).parent
CASES = sorted((case.parent.name, case.parent.parent.name) for case in HERE.glob("*/*/case.json"))
DUMP = ("SET NAMES utf8mb4; CREATE DATABASE d; USE d;\n"
        "CREATE TABLE t (id INT PRIMARY KEY, gtid VARCHAR(30)) DEFAULT CHARSET={};\n")


@pytest.mark.by_turns("server")
@pytest.mark.parametrize(("history", "server"), CASES)
def test_a_base_goes_on_where_a_replica_does(history, server, tmp_path):
    """An empty base at every place: the rows that come are those of the groups that the source sent."""
    case, charset = HERE / server / history, "latin1" if server == "mariadb" else "utf8mb4"
    (tmp_path / "dump.sql").write_text(DUMP.format(charset))
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
        if found != sent and not (isinstance(found, str) and (isinstance(sent, str) or loses(case.name, place))):
            wrong[place] = (sent, found)
    assert not wrong


def loses(case, place):
    """Return whether the source skips groups that came after a place: its log does not have the place, and continues
    with a later group of that server, behind groups of others with later numbers. With gtid_strict_mode=ON a replica
    is refused; the recorded one has it OFF, and gets no word of the loss."""
    log = ["0-1-1", "0-1-2", *(step for step in HISTORIES[case].split() if "-" in step)]
    for gtid in place.split(","):
        domain, server, number = gtid.split("-")
        own = [tuple(map(int, group.split("-")[1:])) for group in log if group.startswith(f"{domain}-")]
        later = next((at for at, (source, last) in enumerate(own) if source == int(server) and last > int(number)), 0)
        if gtid not in log and later and own[later - 1][1] >= int(number):
            return True
    return False


@pytest.mark.by_turns("server")
@pytest.mark.parametrize(("history", "server"), CASES)
def test_a_comparison_says_where_a_replica_attaches(history, server):
    """It does where the source sent groups; a place is behind, or diverged in a domain that the source lacks."""
    case, wrong = HERE / server / history, {}
    for place, sent in json.loads((case / "case.json").read_text())["places"].items():
        found = applier.compare(place, case)
        back = applier.compare(case, place)
        assert (back.only_b, back.only_a, back.attach) == (found.only_a, found.only_b, found.attach)
        expected = {"diverged", "ahead"} if isinstance(sent, str) else {"behind", "diverged"} if sent else {
            "same", "diverged"}
        if ((found.attach is None) != isinstance(sent, str) or found.relation not in expected) and not loses(
                case.name, place):
            wrong[place] = (sent, found.relation, str(found.attach), found.obstacle)
    assert not wrong
