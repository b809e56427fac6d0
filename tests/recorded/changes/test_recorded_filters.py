"""What is left of the feed of each table of recorded cases, when only some of it is asked for, is what is asked for."""

import random

import pyarrow as pa
import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from applier.jobs.changes.job import ChangeLog
from applier.jobs.history.job import row_history
from applier.options import ChangesOptions
from applier.schema.key_infos import key_collation
from applier.schema.table_filter import EVERYTHING
from keysearch.collation import equality_keys
from tests.support.real_server import Case, replayed

FILTERED = {
    "compressed-mariadb": (2, 2), "compressed-mysql": (2, 3), "ddl-mariadb": (24, 24), "ddl-mysql": (20, 20),
    "fk-cascade-mariadb-minimal": (11, 11), "fk-cascade-mysql": (11, 11), "groups-mariadb": (4, 4),
    "gtid-tags": (1, 1), "json-partial-minimal": (0, 10), "key-moves-minimal": (10, 10),
    "mariadb-row-image-full": (15, 15), "mariadb-row-image-minimal": (15, 15), "many-files-mariadb": (2, 2),
    "many-files-mysql": (2, 2), "row-image-minimal": (15, 15), "row-image-noblob": (15, 15),
    "transactions-mariadb": (3, 3), "transactions-mysql": (3, 3), "transactions-mysql-nogtid": (3, 3)}
"""How many tables of a case have a feed of single images, and of whole rows."""


KEYED = {
    "compressed-mariadb": (1, 1), "compressed-mysql": (1, 2), "ddl-mariadb": (15, 18), "ddl-mysql": (13, 16),
    "fk-cascade-mariadb-minimal": (10, 11), "fk-cascade-mysql": (11, 11), "groups-mariadb": (4, 4), "gtid-tags": (1, 1),
    "json-partial-minimal": (0, 9), "key-moves-minimal": (9, 9), "mariadb-row-image-full": (12, 12),
    "mariadb-row-image-minimal": (12, 12), "many-files-mariadb": (2, 2), "many-files-mysql": (2, 2),
    "row-image-minimal": (12, 12), "row-image-noblob": (12, 12), "transactions-mariadb": (3, 3),
    "transactions-mysql": (3, 3), "transactions-mysql-nogtid": (3, 3)}
"""How many of these have a key, and changes with it."""


def feeds(case, complete, **options):
    """The feed of each table, by name; errors of those that have none."""
    log = ChangeLog(ChangesOptions(tuple(map(str, case.binlogs)), complete=complete, ignore_foreign_keys=not complete,
                                   **options))
    found = {}
    for name in log.tables(EVERYTHING):
        try:
            found[name] = pa.Table.from_batches((feed := log.feed(name)).batches(), feed.schema)
        except (applier.SchemaError, applier.UnsupportedEvent):  # two types of a column; JSON diffs
            continue
    return found


def with_keys(changes, feed, flavour, chosen):
    """The changes whose row has one of the keys, before or after; what an image lacks is as it was before."""
    rows, kept, names = changes.to_pylist(), [], feed.key
    chosen = {compared(feed, flavour, key) for key in chosen}
    for number, row in enumerate(rows):
        if row["_change_type"] in ("truncate", "alter"):
            kept.append(row)
        elif row["_change_type"] != "update_postimage":
            after = rows[number + 1] if row["_change_type"] == "update_preimage" else row
            present = after["_present"]
            images = [row[name] for name in names], [
                after[name] if present is None or name in present else row[name] for name in names]
            if any(compared(feed, flavour, key) in chosen for key in images):
                kept += [row] if after is row else [row, after]
    return kept


def compared(feed, flavour, key):
    """What a server compares of the values of a key."""
    parts = []
    for name, value in zip(feed.key, key, strict=True):
        collation = key_collation(feed.columns[name], flavour)
        parts.append(value if collation is None or value is None else equality_keys(pa.array([value]), collation)[0])
    return tuple(parts)


@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", FILTERED)
def test_changes_of_some_rows(name, complete):
    """PKE, DEF-R2: by random keys, of one column and of several, of rows that get others, of versions of a table; of
    minimal images, JSON diffs in other rows, compressed events, cascades."""
    case, chance = Case(name), random.Random(name)
    log = ChangeLog(ChangesOptions(tuple(map(str, case.binlogs)), complete=complete, ignore_foreign_keys=not complete))
    judged = 0
    for table in log.tables(EVERYTHING):
        try:
            changes = pa.Table.from_batches((feed := log.feed(table)).batches(), feed.schema)
        except (applier.SchemaError, applier.UnsupportedEvent):  # two types of a column; JSON diffs
            continue
        names = feed.key
        rows = [row for row in changes.to_pylist() if row["_present"] is None or set(names) <= set(row["_present"])]
        known = [key for row in rows if None not in (key := tuple(row[name] for name in names))]
        if not names or not known:
            continue
        for n in (1, 3):
            chosen = set(chance.sample(known, min(n, len(known))))
            some = log.feed(table, keys=tuple(chosen))
            try:
                found = pa.Table.from_batches(some.batches(), some.schema).to_pylist()
            except applier.UnsupportedEvent as error:  # minimal images of a version with another key
                assert "lacks column" in error.message and not complete
                continue
            assert found == with_keys(changes, feed, log.flavour, chosen), (table, chosen)
            judged += n == 3
    assert judged == KEYED[name][complete]


@pytest.mark.parametrize("name", KEYED)
def test_histories_of_some_rows(name, tmp_path):
    """PKE, AP-SNAP: the versions that the whole history has of them, from the beginning, and from a base."""
    case, chance, judged = Case(name), random.Random(name), 0
    marks = case.marks if (case.folder / "case.json").exists() else []
    files, mark = tuple(map(str, case.binlogs)), next(iter(marks), None)
    logs = [ChangeLog(ChangesOptions(files, complete=True))]
    if mark is not None:
        replayed(case, tmp_path / "base", mark=mark)
        logs.append(ChangeLog(ChangesOptions(files, base=str(tmp_path / "base"), complete=True)))
    for log in logs:
        for table in log.tables(EVERYTHING):
            try:
                whole = row_history(log, table)
            except (applier.SchemaError, applier.UnsupportedEvent):
                continue
            rows = pa.Table.from_batches(whole.batches(), whole.schema).to_pylist()
            known = [key for row in rows if None not in (key := tuple(row[name] for name in whole.key))]
            if not whole.key or not known:
                continue
            for n in (1, 3):
                chosen = tuple(chance.sample(known, min(n, len(known))))
                some = row_history(log, table, keys=chosen)
                found = pa.Table.from_batches(some.batches(), some.schema).to_pylist()
                wanted = {compared(whole, log.flavour, key) for key in chosen}
                assert found == [row for row in rows if compared(
                    whole, log.flavour, [row[name] for name in whole.key]) in wanted], (table, chosen)
            changes, some = log.feed(table), log.feed(table, keys=chosen)
            found = pa.Table.from_batches(some.batches(), some.schema).to_pylist()
            every = pa.Table.from_batches(changes.batches(), changes.schema)
            assert found == with_keys(every, changes, log.flavour, chosen), (table, chosen)
            judged += 1
    assert judged


def in_order(rows):
    return sorted(rows, key=lambda row: (row["_file"], row["_pos"], row["_row"]))


@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", FILTERED)
def test_changes_of_some_transactions(name, complete):
    """Random sets of GTIDs, of both flavours, with tags; in compressed payloads; of XA transactions those that prepared
    them; statements below the log, and what foreign keys change, with their transactions."""
    case, chance = Case(name), random.Random(name)
    everything = {table: changes.to_pylist() for table, changes in feeds(case, complete).items()}
    assert len(everything) == FILTERED[name][complete]
    known = sorted({row["_gtid"] for rows in everything.values() for row in rows if row["_gtid"] is not None})
    for share in (0.1, 0.5):
        gtids = {gtid for gtid in known if chance.random() < share} or set(known[:1])
        if gtids:
            few = feeds(case, complete, gtids=",".join(gtids))
            for table in everything.keys() & few.keys():  # without others' JSON diffs, more tables have a feed
                changes = few[table]
                assert changes.to_pylist() == [row for row in everything[table] if row["_gtid"] in gtids], table
            assert set(everything) <= set(few)


@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", FILTERED)
def test_what_comes_before_a_time_and_what_comes_after(name, complete):
    """GRP-4, AP-SNAP: both together are all changes; one of an XA transaction comes when it is committed."""
    case, chance = Case(name), random.Random(name)
    everything = feeds(case, complete)
    in_log_order = [int(time) for file in case.binlogs for time in GroupPass(str(file)).groups().times]
    times = sorted(set(in_log_order))
    for time in chance.sample(times, min(2, len(times))):
        after = feeds(case, complete, start_datetime=time)
        try:
            before = feeds(case, complete, stop_datetime=time)
        except applier.UsageError as error:
            assert time <= in_log_order[0] and "nothing in these binlogs is before the place" in error.message
            before = {}
        for table, changes in everything.items():
            earlier = before[table].to_pylist() if table in before else []
            if table not in before or before[table].column_names == changes.column_names:
                assert in_order(earlier + after[table].to_pylist()) == in_order(changes.to_pylist()), (table, time)
