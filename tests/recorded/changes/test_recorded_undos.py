"""What recorded servers logged is undone: onto the rows where a log ends, the undo of its last transactions gives the
rows where these begin."""

import pytest

import applier
from applier.engine.executor import ThisProcess
from applier.jobs.changes.event_groups.groups import WantedGroups
from applier.jobs.changes.job import ChangeLog
from applier.jobs.replay.job import replay_with
from applier.options import ChangesOptions, ReplayOptions
from applier.schema.table_filter import EVERYTHING
from tests.support.real_server import Case

pytestmark = pytest.mark.slow

CASES = ["compressed-mariadb", "compressed-mysql", "crash-mysql-nogtid", "fk-cascade-mariadb",
         "fk-cascade-mariadb-minimal", "fk-cascade-mysql", "fk-cascade-mysql-native", "generated-columns-mariadb",
         "generated-columns-mysql", "gtid-tags", "json-partial-full", "json-partial-minimal",
         "json-partial-noblob", "key-moves-minimal", "many-files-mysql", "mariadb-old-temporal",
         "mariadb-row-image-minimal", "mariadb-row-image-noblob", "mariadb-types",
         # a document that is written from its text has a double where the row has a DECIMAL
         pytest.param("mysql-types-json", marks=pytest.mark.contradicted), "mysql-types-number-time",
         "row-image-full", "row-image-minimal", "row-image-noblob", "transactions-mariadb",
         "transactions-mysql", "zero-dates-mariadb", "zero-dates-mysql"]
"""Of both servers, with all image modes, types, and ways in which the log lacks what happened."""


def places(files):
    """Where event groups end between two statements, as files and offsets: the longest such part of the log."""
    log = ChangeLog(ChangesOptions(files, complete=True))
    statements = {place for version in log.history(EVERYTHING).versions() for place in (version.start, version.end)}
    parts = [[]]
    for number, groups in log.groups(WantedGroups()):
        for version in groups.all_commits()[1].to_pylist():
            place = number, version & (1 << 40) - 1
            if place in statements:
                parts.append([])
            parts[-1].append((log.files[number].name, place[1]))
    return max(parts, key=len)


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("name", CASES)
def test_the_last_transactions_are_undone(name, tmp_path):
    """IMG-MIX, JD-*, AP-FK: also of images that lack columns, documents of diffs, rows that foreign keys changed."""
    files = tuple(map(str, Case(name).binlogs))
    found = places(files)
    start, end = found[(len(found) - 1) // 2], found[-1]
    undone = applier.undo(files, tmp_path / "undo.000001", start=start, until=end, format="binlog")
    assert undone.rows > 0 and undone.proof[0].startswith("Proof: ")
    after, before = (applier.replay(files, tmp_path / name, stop=place) for name, place in (("after", end),
                                                                                            ("before", start)))
    replay_with(ThisProcess(1), ReplayOptions((undone.output,), str(tmp_path / "undone"), base=after.snapshot.uri,
                                              start_position=("undo.000001", 4)))
    compared = applier.diff(before.snapshot, tmp_path / "undone")
    assert [table.full_name for table in compared.tables.values() if table.differing] == []
    assert len(undone.proof) == 1


def test_what_json_text_does_not_hold_is_said(tmp_path):
    """A DECIMAL in a document that comes back would be a double."""
    files = tuple(map(str, Case("json-partial-full").binlogs))
    undone = applier.undo(files, tmp_path / "undo.000001", start=("binlog.000002", 225418))
    assert undone.proof[1:] == ("Not exact: 1 documents of js.vals.j have numbers that JSON text does not hold "
                                "(DECIMAL): they become the nearest double.",)
