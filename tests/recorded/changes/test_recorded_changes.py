"""The feed of each table of each recorded case adds up to the rows that a replay leaves, and a server held."""

import pytest

import applier
from tests.support.folded_changes import CannotFold, folded
from tests.support.folders import CASES
from tests.support.real_server import Case, replayed

FOLDED = {
    "base-dump-mariadb": 3, "base-dump-mysql": 3, "checksum-changes": 1, "compressed-mysql": 1, "ddl-mariadb": 4,
    "ddl-mysql": 5, "ddl-mysql-names": 11, "ddl-mysql-partitions": 1, "fk-cascade-mariadb": 3,
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
that convert values, or foreign keys that change rows below the log."""

COMPLETE = {
    "base-dump-mariadb": 5, "base-dump-mysql": 5, "checksum-changes": 1, "compressed-mariadb": 1,
    "compressed-mysql": 3, "crash-mysql-nogtid": 1, "ddl-added-mariadb": 3, "ddl-added-mysql": 2, "ddl-mariadb": 10,
    "ddl-mysql": 10, "ddl-mysql-convert": 2, "ddl-mysql-names": 15, "ddl-mysql-number-rows": 3,
    "ddl-mysql-partitions": 4, "fk-cascade-mariadb": 9, "fk-cascade-mariadb-minimal": 9, "fk-cascade-mysql": 9,
    "fk-cascade-mysql-native": 9, "generated-columns-mariadb": 4, "generated-columns-mysql": 7, "groups-mariadb": 4,
    "gtid-tags": 1, "json-partial-full": 10, "json-partial-minimal": 10, "json-partial-noblob": 9,
    "json-partial-odd": 4, "key-moves-full": 10, "key-moves-minimal": 10, "keys-made-mariadb": 45,
    "keys-made-mysql": 51, "large-statements-checksum-none": 4, "large-statements-mariadb": 4,
    "many-files-mariadb": 2, "many-files-mysql": 2, "mariadb-minimal-defaults": 69, "mariadb-old-temporal": 3,
    "mariadb-partition-ddl": 7, "mariadb-row-image-full": 15, "mariadb-row-image-minimal": 15,
    "mariadb-row-image-noblob": 15, "mariadb-sequences": 2, "mariadb-types": 10, "mariadb-types-text": 7,
    "minimal-defaults": 56, "mysql-charsets": 1, "mysql-partition-ddl": 7, "mysql-types-json": 1,
    "mysql-types-number-time": 6, "mysql-types-text": 8, "online-change-ghost-mysql": 1, "row-image-full": 15,
    "row-image-minimal": 15, "row-image-noblob": 15, "row-metadata-full": 5, "row-metadata-full-mariadb": 4,
    "statement-only-ddl": 1, "transactions-mariadb": 4, "transactions-mysql": 4, "transactions-mysql-nogtid": 4,
    "wide-tables-mariadb": 5, "wide-tables-mysql": 5, "zero-dates-mariadb": 2, "zero-dates-mysql": 2}
"""How many tables of a case are judged by complete changes: all but those with a column of two Arrow types."""


def test_each_case_is_here_that_can_be_judged():
    cases = {folder.name for folder in CASES.iterdir()}
    assert set(FOLDED) <= cases and sum(FOLDED.values()) == 258
    assert set(COMPLETE) <= cases and sum(COMPLETE.values()) == 582


@pytest.mark.parametrize("name", FOLDED)
def test_changes_add_up_to_the_rows(name, tmp_path):
    case = Case(name)
    replayed(case, tmp_path / "out")
    snapshot, judged = applier.Snapshot(tmp_path / "out"), 0
    for table in snapshot.tables.values():
        if "WITH SYSTEM VERSIONING" in table.definition:
            continue
        quoted = ".".join("`" + part.replace("`", "``") + "`" for part in (table.database, table.name))
        try:
            changes = applier.changes(case.binlogs, quoted).to_arrow()
            assert folded(snapshot, table.full_name, changes), table
            judged += 1
        except (CannotFold, applier.SchemaError, applier.UnsupportedEvent):
            continue
        assert changes["_commit_version"].to_pylist() == sorted(changes["_commit_version"].to_pylist())
    assert judged == FOLDED[name]


@pytest.mark.parametrize("name", sorted(COMPLETE))
def test_complete_changes_add_up_to_the_rows(name, tmp_path):
    """DEF-R2, JD-*, AP-FK: whole rows of partial images, documents of diffs, and rows that foreign keys change; from
    the beginning, and from a snapshot at the first mark."""
    case = Case(name)
    replayed(case, tmp_path / "out")
    snapshot, judged, base = applier.Snapshot(tmp_path / "out"), 0, None
    if (case.folder / "case.json").exists() and case.marks:
        replayed(case, tmp_path / "base", mark=case.marks[0])
        base = applier.Snapshot(tmp_path / "base")
    for table in snapshot.tables.values():
        quoted = ".".join("`" + part.replace("`", "``") + "`" for part in (table.database, table.name))
        try:
            whole = applier.changes(case.binlogs, quoted, complete=True)
        except (applier.SchemaError, applier.UnsupportedEvent):  # two types of a column; system versioning
            continue
        assert folded(snapshot, table.full_name, whole.to_arrow(), complete=True), table
        judged += 1
        if base is not None:
            try:
                after = applier.changes(case.binlogs, quoted, base=base, complete=True).to_arrow()
                assert folded(snapshot, table.full_name, after, complete=True, base=base), table
            except CannotFold:
                continue
    assert judged == COMPLETE[name]
