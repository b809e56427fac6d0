"""XA: the GTID of an XA COMMIT chooses the rows of the transaction that it commits, as that of its XA PREPARE does."""

import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from applier.jobs.changes.event_groups.groups import WantedGroups
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from tests.support.real_server import Case

PREPARED = {
    "transactions-mysql": {21: 25, 28: 30},
    "transactions-mariadb": {30: 34, 37: 39},
}
"""Of transactions that a real server prepared and committed: the numbers of the GTIDs of both. The last one is
committed in another file."""
PREFIX = {"transactions-mysql": "1e59e2af-e516-11f1-af80-02fc00000001:", "transactions-mariadb": "0-25306-"}
TABLES = ("tx.a", "tx.b", "tx.m")


def read(case, **options):
    return {table: applier.changes(case.binlogs, table, **options).to_arrow().to_pylist() for table in TABLES}


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("name", PREPARED)
def test_changes(name, complete):
    case = Case(name)
    everything = read(case, complete=complete)
    for prepared, committed in PREPARED[name].items():
        own, by_commit = (read(case, complete=complete, gtids=f"{PREFIX[name]}{number}")
                          for number in (prepared, committed))
        assert own == by_commit and any(own.values())
        without = read(case, complete=complete, exclude_gtids=f"{PREFIX[name]}{committed}")
        assert without == {table: [row for row in rows if row["_gtid"] != f"{PREFIX[name]}{prepared}"]
                           for table, rows in everything.items()}


@pytest.mark.parametrize("name", PREPARED)
def test_undo(name, tmp_path):
    case = Case(name)
    for prepared, committed in PREPARED[name].items():
        own, by_commit = (applier.undo(case.binlogs, tmp_path / f"{number}.sql", gtids=f"{PREFIX[name]}{number}",
                                       on_conflict="force") for number in (prepared, committed))
        assert own.tables == by_commit.tables and own.rows > 0 and own.notes == by_commit.notes == ()
        some = applier.undo(case.binlogs, tmp_path / f"some{committed}.sql", on_conflict="force",
                            gtids=f"{PREFIX[name]}{committed},{PREFIX[name]}99999")
        assert some.notes == ("1 of the GTIDs to undo are not in this part of the log",)


@pytest.mark.parametrize("name", PREPARED)
def test_the_numbers_are_the_logs(name):
    log = ChangeLog(ChangesOptions(tuple(map(str, Case(name).binlogs))))
    n_groups = sum(len(GroupPass(file.uri).groups()) for file in log.files.values())
    wanted = [gtid for _, groups in log.groups(WantedGroups()) for gtid in groups.all_commits()[2].to_pylist()]
    assert len(wanted) == n_groups
    assert {f"{PREFIX[name]}{number}" for pair in PREPARED[name].items() for number in pair} <= set(wanted)
