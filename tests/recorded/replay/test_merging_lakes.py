"""Recorded logs replayed in rounds into a lake that merges on read: each version is what a lake of whole files has."""

import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from tests.support.merging import merging
from tests.support.real_server import Case

CASES = ["ddl-mysql", "ddl-mariadb", "ddl-mysql-partitions", "fk-cascade-mysql", "fk-cascade-mariadb-minimal",
         "json-partial-minimal", "json-partial-noblob", "key-moves-minimal", "mariadb-system-versioned",
         "mariadb-generated-updates", "transactions-mariadb", "transactions-mysql", "zero-dates-mysql",
         "base-dump-mysql"]
ROUNDS = 5


@pytest.mark.by_turns("mode", one_in=4)
@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("name", CASES)
def test_versions_of_both_kinds_are_equal(name, mode, tmp_path):
    """AP-SNAP: with DDL, foreign keys, partial images and JSON diffs, invalid dates, moved keys and histories."""
    logs = list(map(str, Case(name).binlogs))
    ends = [(group.file, group.end) for log in logs for groups in [GroupPass(log).groups()]
            for group in (groups[place] for place in range(len(groups)))]
    for number in range(1, ROUNDS + 1):
        options = {"stop": ends[len(ends) * number // ROUNDS - 1], "target_file_size": 8192, "exec_mode": mode}
        with merging():
            merged = applier.replay(logs, lake=tmp_path / "merging", merge_on_read=True, **options)
            whole = applier.replay(logs, lake=tmp_path / "whole", **options)
        assert applier.diff(whole.snapshot, merged.snapshot).same and not merged.snapshot.verify().damaged
        assert merged.snapshot.position == whole.snapshot.position and merged.snapshot.schema == whole.snapshot.schema
        assert (merged.report.conflicts, merged.report.zero_dates) == (
            whole.report.conflicts, whole.report.zero_dates)
        for table, wanted in whole.snapshot.tables.items():
            ours, theirs = (one.to_arrow() for one in (merged.snapshot.tables[table], wanted))
            assert ours.equals(theirs) if wanted.key else \
                sorted(map(repr, ours.to_pylist())) == sorted(map(repr, theirs.to_pylist()))
    checked = applier.fsck(tmp_path / "merging")
    assert not checked.damaged and not checked.strays
