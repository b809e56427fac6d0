"""Stopping at the end of every event group of real logs of several files, and continuing from there."""

import dataclasses

import pytest

from applier.binlog.locating.groups import GroupPass
from applier.snapshot import manifest
from tests.support.real_server import Case, differences, replayed

CASES = ["transactions-mysql", "transactions-mariadb", "transactions-mysql-nogtid"]


def replay(case, output, **options):
    replayed(case, output, **options)
    return manifest.load(str(output))


def ends(case):
    return [(group.file, group.end) for file in case.binlogs
            for groups in [GroupPass(str(file)).groups()] for group in (groups[i] for i in range(len(groups)))]


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("name", CASES)
def test_resumed_at_every_transaction(name, tmp_path):
    """GRP-2, GRP-5: to the end from each place, and from place to place, it is what it is in one go; by its GTID set
    each place is the same one."""
    case, base = Case(name), None
    whole, places = replay(case, tmp_path / "whole"), ends(case)
    assert len(places) > 30 and len({file for file, _ in places}) > 2
    for number, place in enumerate(places):
        step, rest = tmp_path / f"step{number}", tmp_path / f"rest{number}"
        snapshot = replay(case, step, base=base, stop_position=place)
        assert (snapshot.position.file, snapshot.position.offset) == place
        resumed = replay(case, rest, base=str(step))
        assert differences(rest, case.expected()) == [], place
        assert (resumed.position, resumed.prepared) == (whole.position, whole.prepared)
        assert [(table.full_name, table.definition) for table in resumed.tables] == \
            [(table.full_name, table.definition) for table in whole.tables]
        if snapshot.position.gtid_set:
            named = replay(case, tmp_path / f"named{number}", stop_gtid=snapshot.position.gtid_set)
            assert (named.position.file, named.position.offset) == place
            assert dataclasses.replace(named, source=snapshot.source, tables=(), others=()) == \
                dataclasses.replace(snapshot, tables=(), others=())
        base = str(step)
