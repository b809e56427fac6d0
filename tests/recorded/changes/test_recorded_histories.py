"""Complete changes of each table of each recorded case add up to its rows at each mark, and its history as of each mark
is the rows that a server held there."""

import re
from collections import Counter, defaultdict, deque
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import applier
from applier.jobs.changes.job import ChangeLog
from applier.jobs.history.job import row_history
from applier.options import ChangesOptions
from applier.plan import units
from tests.support.folded_changes import CannotFold, by_stem, folded, rows_of
from tests.support.folders import CASES
from tests.support.real_server import Case, replayed

COMPLETE = {
    "base-dump-mariadb": 5, "base-dump-mysql": 5, "checksum-changes": 1, "compressed-mariadb": 1,
    "compressed-mysql": 3, "crash-mysql-nogtid": 1, "ddl-added-mariadb": 4, "ddl-added-mysql": 3, "ddl-mariadb": 12,
    "ddl-mysql": 13, "ddl-mysql-convert": 4, "ddl-mysql-names": 15, "ddl-mysql-number-rows": 3,
    "ddl-mysql-partitions": 4, "fk-cascade-mariadb": 9, "fk-cascade-mariadb-minimal": 9, "fk-cascade-mysql": 9,
    "fk-cascade-mysql-native": 9, "generated-columns-mariadb": 4, "generated-columns-mysql": 7, "groups-mariadb": 4,
    "gtid-tags": 1, "json-partial-full": 10, "json-partial-minimal": 10, "json-partial-noblob": 9,
    "json-partial-odd": 4, "key-moves-full": 10, "key-moves-minimal": 10, "keys-made-mariadb": 45,
    "keys-made-mysql": 51, "large-statements-checksum-none": 4, "large-statements-mariadb": 4,
    "many-files-mariadb": 2, "many-files-mysql": 2, "mariadb-minimal-defaults": 69, "mariadb-old-temporal": 3,
    "mariadb-partition-ddl": 7, "mariadb-row-image-full": 15, "mariadb-row-image-minimal": 15,
    "mariadb-row-image-noblob": 15, "mariadb-sequences": 3, "mariadb-types": 10, "mariadb-types-text": 7,
    "minimal-defaults": 56, "mysql-charsets": 1, "mysql-partition-ddl": 7, "mysql-types-json": 1,
    "mysql-types-number-time": 6, "mysql-types-text": 8, "online-change-ghost-mysql": 1, "row-image-full": 15,
    "row-image-minimal": 15, "row-image-noblob": 15, "row-metadata-full": 5, "row-metadata-full-mariadb": 4,
    "statement-only-ddl": 1, "transactions-mariadb": 4, "transactions-mysql": 4, "transactions-mysql-nogtid": 4,
    "wide-tables-mariadb": 5, "wide-tables-mysql": 5, "zero-dates-mariadb": 9, "zero-dates-mysql": 9}
"""How many tables of a case are judged so: all but those with system versioning, and keys that show null."""


NOT_FOLDED = {name: {"zd.only_unique", "zd.pk"} for name in ("zero-dates-mariadb", "zero-dates-mysql")}
"""Tables whose rows no key in Parquet tells from each other."""
OF_CHANGES = ("_change_type", "_commit_version", "_present")


def as_of(history, position):
    """The versions that are valid at a position."""
    at = sequence(position)
    return history.filter((pc.field("_from_seq") <= at) & (pc.field("_to_seq").is_null() | (pc.field("_to_seq") > at)))


def sequence(position):
    """The commit version of what ends at a position."""
    return int(position.file.rpartition(".")[2]) << 40 | position.offset


def names_at(log, table, position):
    """The names in the history of the columns that a table has at a position."""
    [number] = [number for number, file in log.files.items() if file.name == position.file]
    version = max(id for id, version in log.versions.items() if version.start <= (number, position.offset))
    names = {log.versions[version].definition.columns[column].name: name for column, name in log.names[version].items()}
    return [names[name] for name in table.schema.names]


def named(changes, columns, names):
    """Changes whose columns of these names in the feed have those of the table; what they held as other types, too."""
    arrays = {name: changes[name] for name in OF_CHANGES}
    stems = {name: re.sub("__[0-9]+$", "", name) for name in names}
    others = by_stem(changes, stems.values())
    for column, name in zip(columns, names, strict=True):
        for number, other in enumerate(sorted(others[stems[name]], key=lambda other: other != name)):
            arrays[f"{column}__{number}" if number else column] = changes[other]
    return pa.table(arrays)


def test_each_case_is_here_that_can_be_judged():
    assert set(COMPLETE) <= {folder.name for folder in CASES.iterdir()} and sum(COMPLETE.values()) == 606


@pytest.mark.by_turns(one_in=8)
@pytest.mark.parametrize("name", sorted(COMPLETE))
def test_whole_rows_add_up_and_histories_hold(name, tmp_path, monkeypatch):
    """DEF-R2, JD-*, AP-FK: whole rows of partial images, documents of diffs, rows that foreign keys change; from the
    beginning, and from a snapshot at the first mark. AP-SNAP: XA transactions hold from their commit on."""
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1)  # so that files have ranges of the key
    case, judged, not_folded = Case(name), 0, set()
    marks = [*case.marks, None] if (case.folder / "case.json").exists() else [None]
    for number, mark in enumerate(marks):
        replayed(case, tmp_path / f"{number}", mark=mark)
    snapshots = [applier.Snapshot(tmp_path / f"{number}") for number in range(len(marks))]
    files = tuple(map(str, case.binlogs))
    log = ChangeLog(ChangesOptions(files, complete=True))
    after_first = ChangeLog(ChangesOptions(files, base=snapshots[0].uri, complete=True)) if marks[0] else None
    tables = {name: table for snapshot in snapshots for name, table in snapshot.tables.items()}
    for name_here, table in tables.items():
        name_of = table.database, table.name
        try:
            changes, history = log.feed(name_of), row_history(log, name_of)
        except applier.UnsupportedEvent:  # system versioning
            continue
        versions, told, (of_table, _) = read(history), read(changes), log.applied(name_of)
        assert_ranges_have(versions, history)
        for snapshot in snapshots:
            if (known := snapshot.tables.get(table.full_name)) is not None:
                names = names_at(of_table, known, snapshot.position)
                found = rows_of(as_of(versions, snapshot.position), names)
                assert Counter(found) == Counter(rows_of(known.to_arrow(), known.schema.names)), (table, snapshot)
                until = told.filter(pc.field("_commit_version") <= sequence(snapshot.position))
                try:
                    assert folded(snapshot, table.full_name, named(until, known.schema.names, names), complete=True)
                except CannotFold:
                    not_folded.add(table.full_name)
        if name_here not in snapshots[-1].tables:  # it has another name since, or was dropped
            continue
        with suppress(CannotFold):
            assert folded(snapshots[-1], table.full_name, told, complete=True), table
            judged += 1
            if after_first is not None:
                later = read(after_first.feed(name_of))
                assert folded(snapshots[-1], table.full_name, later, complete=True, base=snapshots[0]), table
    assert judged == COMPLETE[name] and not_folded == NOT_FOLDED.get(name, set())


def assert_ranges_have(versions, history):
    """Tasks have the same versions by ranges of the key."""
    common, tasks, _ = history.in_parts(4)
    ranges = [pa.Table.from_batches(batches, common.schema) for task in tasks for _, batches in common.by_range(task)]
    which = [*history.key, "_from_seq", "_to_seq"] if len(ranges) > 1 else []
    places = defaultdict(deque)
    for place, row in enumerate(rows_of(versions, which)):
        places[row].append(place)
    for found in ranges:
        here = [places[row].popleft() for row in rows_of(found, which)] if which else range(versions.num_rows)
        assert found.equals(versions.take(pa.array(here, pa.int64())))
    assert not any(places.values())


def read(feed):
    return pa.Table.from_batches(feed.batches(), feed.schema)
