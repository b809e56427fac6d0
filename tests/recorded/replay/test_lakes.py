"""Recorded logs replayed into a lake in increments: each version is what one replay to the same place makes."""

import dataclasses

import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from tests.support.passes import contents
from tests.support.real_server import Case, differences

CASES = ["ddl-mysql", "mariadb-system-versioned", "fk-cascade-mysql", "transactions-mariadb"]
VERSIONS = 5


@pytest.mark.parametrize("name", CASES)
def test_versions_are_replays(name, tmp_path):
    """With ALTERs, renames, histories and prepared transactions; and with what no version needs removed in between."""
    case, lake = Case(name), tmp_path / "lake"
    logs = list(map(str, case.binlogs))
    ends = [(group.file, group.end) for log in logs for groups in [GroupPass(log).groups()]
            for group in (groups[place] for place in range(len(groups)))]
    places = [ends[len(ends) * (number + 1) // VERSIONS - 1] for number in range(VERSIONS)]
    for number, place in enumerate(places, 1):
        version = applier.replay(logs, lake=lake, stop=place, target_file_size=8192).snapshot
        plain = applier.replay(logs, tmp_path / str(number), stop=place).snapshot
        (snapshot, *rows), (wanted, *wanted_rows) = contents(lake), contents(tmp_path / str(number))
        assert rows == wanted_rows
        ours, theirs = (dataclasses.replace(one, source=wanted.source, tables=()) for one in (snapshot, wanted))
        assert ours == theirs
        assert [table.definition.to_sql() for table in snapshot.tables] == \
            [table.definition.to_sql() for table in wanted.tables]
        assert applier.diff(plain, version).same and not version.verify().damaged
        if number == VERSIONS - 1:
            assert applier.expire(lake, 2).versions == (1, 2)
    assert not applier.fsck(lake).damaged and applier.fsck(lake).strays == ()
    assert differences(lake, case.expected()) == []
