"""The diff of the snapshots of two marks is what the changes between them add up to."""

from collections import Counter

import pyarrow as pa
import pytest

import applier
from applier.api.changes import Changes
from applier.errors import UsageError
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from tests.support.diffs import expected_by_key, found
from tests.support.folded_changes import CannotFold, fold, rows_of
from tests.support.folders import CASES
from tests.support.real_server import Case, replayed

FOLDED = {
    "base-dump-mariadb": 7, "base-dump-mysql": 7, "checksum-changes": 1, "compressed-mariadb": 1,
    "compressed-mysql": 1, "ddl-added-mariadb": 0, "ddl-added-mysql": 0, "ddl-mariadb": 23, "ddl-mysql": 26,
    "ddl-mysql-convert": 6, "ddl-mysql-partitions": 9, "fk-cascade-mariadb": 18, "fk-cascade-mariadb-minimal": 18,
    "fk-cascade-mysql": 38, "fk-cascade-mysql-native": 18, "groups-mariadb": 31, "json-partial-full": 5,
    "json-partial-minimal": 5, "json-partial-noblob": 5, "key-moves-full": 10, "key-moves-minimal": 10,
    "large-statements-checksum-none": 3, "large-statements-mariadb": 3, "many-files-mariadb": 4,
    "many-files-mysql": 4, "mariadb-partition-ddl": 18, "mariadb-sequences": 5, "mariadb-system-versioned": 0,
    "mariadb-generated-updates": 4, "mariadb-versioning-implicit": 0, "mariadb11-generated-columns": 3,
    "mariadb11-vectors": 0, "mariadb11-misplaced-rows": 34, "mysql-misplaced-rows": 31,
    "mariadb11-versioning-explicit": 1,
    "mysql-partition-ddl": 18, "online-change-ghost-mysql": 5, "online-change-ptosc-mariadb": 4,
    "transactions-mariadb": 35, "transactions-mysql": 35, "transactions-mysql-nogtid": 35}
"""How many tables of a case, at all of its marks, have changes that can be folded (test_recorded_changes: why not)."""
OTHERS = {"mariadb-versioning-ddl", "statement-mariadb", "statement-mysql", "statement-mysql-mixed",
          "mariadb11-vector-alters", "vector-alters-mysql", "zero-dates-mariadb", "zero-dates-mysql"}
"""Logs that cannot be replayed to their ends; and invalid dates, which Arrow shows as null (tests/model/test_diffs)."""
REFUSED = (CannotFold, applier.SchemaError, applier.UnsupportedEvent)


def test_each_case_with_marks_is_here():
    cases = [Case(path.parent.name) for path in CASES.glob("*/case.json")]
    assert {*FOLDED, *OTHERS} == {case.name for case in cases if case.marks}


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("name", FOLDED)
def test_the_diff_of_two_marks(name, tmp_path):
    """Whatever differs between the rows of two snapshots is found, and nothing else; and changes between them, folded
    over the one before, give these rows."""
    case, judged = Case(name), 0
    places = [*case.marks, None]
    snapshots = []
    for number, mark in enumerate(places):
        replayed(case, tmp_path / str(number), mark=mark)
        snapshots.append(applier.Snapshot(tmp_path / str(number)))
    for before, after, mark in zip(snapshots, snapshots[1:], places[1:], strict=False):
        diff = applier.diff(before, after)
        assert set(diff.tables) == {*before.tables, *after.tables}
        log = ChangeLog(ChangesOptions(tuple(map(str, case.binlogs)), before.uri,
                                       stop_position=mark and (mark.file, mark.offset)))
        for table in diff.tables.values():
            rows = [_rows(table, side, snapshot) for side, snapshot in enumerate((before, after))]
            assert found(table) == _expected(table, *rows), table
            if None in table.definitions or table.definitions[0] != table.definitions[1] or \
                    "WITH SYSTEM VERSIONING" in after.tables[table.full_name].definition:
                continue
            try:
                rows_left = _folded(log, table, before)
            except REFUSED:
                continue
            assert rows_left == Counter(rows[1]), table
            judged += 1
    assert judged == FOLDED[name]


def _rows(table, side, snapshot):
    if table.definitions[side] is None:
        return []
    rows = snapshot.tables[table.full_name].to_arrow()
    known = {name.casefold(): rows[name] for name in rows.column_names}
    fields = list(table.schema)[:-2]
    return rows_of(pa.table([known.get(field.name.casefold(), pa.nulls(len(rows), field.type)) for field in fields],
                            schema=pa.schema(fields)), [field.name for field in fields])


def _expected(table, before, after):
    places = [table.schema.names.index(name) for name in table.key]
    if places:
        return expected_by_key(before, after, lambda row: tuple(row[place] for place in places))
    left, right = Counter(before), Counter(after)
    return left - right, right - left, Counter()


def _folded(log, table, before):
    """The rows that the changes after a snapshot leave of its rows."""
    changes = Changes(log.feed((table.database, table.name))).to_arrow()
    rows = before.tables[table.full_name].to_arrow()
    return fold(changes, rows.column_names, before.tables[table.full_name].key, rows_of(rows, rows.column_names))


def test_events_of_a_versioned_table_are_refused(tmp_path):
    """They need the times of rows; SQL does not, and the server gives them."""
    case = Case("mariadb-system-versioned")
    for name, mark in (("before", case.mark("deleted")), ("after", None)):
        replayed(case, tmp_path / name, mark=mark)
    repair = applier.diff(tmp_path / "before", tmp_path / "after").repair()
    with pytest.raises(UsageError, match=r"events of a system-versioned table .*\(table sv\.imp\)"):
        repair.write_events(tmp_path / "events")
    assert b"`sv`.`imp`" in b"".join(repair.statements()) and not (tmp_path / "events").exists()
