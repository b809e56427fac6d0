"""The feed of each table of each recorded case adds up to the rows that a replay leaves, and a server held."""

import pytest

import applier
from applier.api.changes import Changes
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from applier.schema.table_filter import one_table
from tests.support.folded_changes import CannotFold, folded
from tests.support.folders import CASES
from tests.support.real_server import Case, replayed

FOLDED = {
    "base-dump-mariadb": 3, "base-dump-mysql": 3, "checksum-changes": 1, "compressed-mysql": 1, "ddl-mariadb": 4,
    "ddl-mysql": 6, "ddl-mysql-names": 11, "ddl-mysql-partitions": 1, "fk-cascade-mariadb": 3,
    "fk-cascade-mariadb-minimal": 3, "fk-cascade-mysql": 8, "fk-cascade-mysql-native": 3,
    "generated-columns-mariadb": 2, "generated-columns-mysql": 4, "groups-mariadb": 3, "key-moves-full": 10,
    "key-moves-minimal": 7, "keys-made-mariadb": 35, "keys-made-mysql": 17, "large-statements-checksum-none": 4,
    "large-statements-mariadb": 4, "many-files-mariadb": 1, "many-files-mysql": 1, "mariadb-minimal-defaults": 3,
    "mariadb-old-temporal": 3, "mariadb-row-image-full": 14, "mariadb-row-image-minimal": 7,
    "mariadb-row-image-noblob": 8, "mariadb-sequences": 2, "mariadb-types": 10, "mariadb-types-text": 7,
    "mysql-charsets": 1, "mysql-types-json": 1, "mysql-types-number-time": 6, "mysql-types-text": 8,
    "row-image-full": 14, "row-image-minimal": 4, "row-image-noblob": 5, "row-metadata-full": 5,
    "row-metadata-full-mariadb": 4, "transactions-mariadb": 4, "transactions-mysql": 4,
    "transactions-mysql-nogtid": 4, "wide-tables-mariadb": 4, "wide-tables-mysql": 4, "zero-dates-mariadb": 1,
    "zero-dates-mysql": 1}
"""How many tables of a case are judged: the others have single images that do not say all of a row, JSON diffs, ALTERs
that convert values, or foreign keys that change rows outside the log."""


def test_each_case_is_here_that_can_be_judged():
    assert set(FOLDED) <= {folder.name for folder in CASES.iterdir()} and sum(FOLDED.values()) == 259


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("name", FOLDED)
def test_changes_add_up_to_the_rows(name, tmp_path):
    case = Case(name)
    replayed(case, tmp_path / "out")
    snapshot, judged = applier.Snapshot(tmp_path / "out"), 0
    log = ChangeLog(ChangesOptions(tuple(map(str, case.binlogs))))
    for table in snapshot.tables.values():
        if "WITH SYSTEM VERSIONING" in table.definition:
            continue
        quoted = ".".join("`" + part.replace("`", "``") + "`" for part in (table.database, table.name))
        try:
            changes = Changes(log.feed(one_table(quoted))).to_arrow()
            assert folded(snapshot, table.full_name, changes), table
            judged += 1
        except (CannotFold, applier.SchemaError, applier.UnsupportedEvent):
            continue
        if not name.startswith(("transactions", "groups")):  # where XA transactions are committed later
            assert changes["_commit_version"].to_pylist() == sorted(changes["_commit_version"].to_pylist())
    assert judged == FOLDED[name]


@pytest.mark.parametrize("mark", Case("mariadb-sequences").marks, ids=str)
def test_a_sequence_of_a_base_has_no_rows(mark, tmp_path):
    """The statements that are about it, complete or not."""
    case = Case("mariadb-sequences")
    replayed(case, tmp_path / "base", mark=mark)
    found = [[row for batch in applier.changes([*map(str, case.binlogs)], "sq.s", base=str(tmp_path / "base"),
                                               complete=complete) for row in batch.to_pylist()]
             for complete in (False, True)]
    assert found[0] == found[1] and {row["_change_type"] for row in found[0]} <= {"truncate"}
