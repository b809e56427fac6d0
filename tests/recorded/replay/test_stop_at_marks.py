"""Logs of real servers, replayed to places in them: the snapshot holds what the server held there.

The marks were taken while the server ran, between two event groups. In this process, without Spark: where a replay ends
is decided by the plan, before there are tasks.
"""

import pytest

from applier.snapshot import manifest
from tests.support.real_server import Case, differences, replayed

TRANSACTIONS = ["transactions-mysql", "transactions-mysql-nogtid", "transactions-mariadb", "groups-mariadb"]
COMPRESSED = ["compressed-mysql", "compressed-mariadb"]
MARKED = ["key-moves-full", "key-moves-minimal", "large-statements-checksum-none", "large-statements-mariadb",
          "checksum-changes", *TRANSACTIONS, *COMPRESSED]
MARKS = [pytest.param(name, mark.name, id=f"{name}@{mark.name}") for name in MARKED for mark in Case(name).marks]



def position_of_replayed(case, output, route="auto", **options):
    """Replay a case; where the snapshot stands."""
    replayed(case, output, route=route, **options)
    return manifest.load(str(output)).position


@pytest.mark.by_turns("route", "cores")
@pytest.mark.parametrize("route, cores", [("walk", 4), ("shuffle", 1)])
@pytest.mark.parametrize("name, mark", MARKS)
def test_marks_by_position(name, mark, route, cores, tmp_path):
    """GRP-2, AP-SNAP: all tables stand at the mark, and the snapshot says so."""
    case, output = Case(name), tmp_path / "out"
    mark = case.mark(mark)
    position = position_of_replayed(case, output, route, mark=mark, cores=cores)
    assert differences(output, case.expected(mark)) == []
    assert (str(position), position.gtid_set, position.flavour) == (str(mark), mark.gtid_set, case.server)


@pytest.mark.by_turns("route", "cores")
@pytest.mark.parametrize("route, cores", [("walk", 1), ("shuffle", 4)])
@pytest.mark.parametrize("name", [*TRANSACTIONS, *COMPRESSED])
def test_each_mark_from_the_snapshot_of_the_mark_before(name, route, cores, tmp_path):
    """GRP-5, AP-SNAP: in steps it is what it is in one go, also where a transaction is prepared in one step and ended
    in another."""
    case, base = Case(name), None
    for mark in case.marks:
        output = tmp_path / mark.name
        position = position_of_replayed(case, output, route, base=base, mark=mark, cores=cores)
        assert differences(output, case.expected(mark)) == [], mark
        assert (str(position), position.gtid_set) == (str(mark), mark.gtid_set)
        base = str(output)
    position_of_replayed(case, tmp_path / "end", route, base=base, cores=cores)
    assert differences(tmp_path / "end", case.expected()) == []


BY_GTID = [mark for mark in MARKS if Case(mark.values[0]).mark(mark.values[1]).gtid_set
           and mark.id != "groups-mariadb@back"]
"""A MariaDB position with a number lower than one before it is reached at that one already."""


@pytest.mark.parametrize("name, mark", BY_GTID)
def test_marks_by_gtid_set(name, mark, tmp_path):
    """GRP-2, AP-SNAP: the same place, named by what was executed."""
    case, output = Case(name), tmp_path / "out"
    mark = case.mark(mark)
    position = position_of_replayed(case, output, stop_gtid=mark.gtid_set)
    assert differences(output, case.expected(mark)) == []
    assert str(position) == str(mark)
