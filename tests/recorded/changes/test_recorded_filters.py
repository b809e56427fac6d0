"""What is left of the feed of each table of recorded cases, when only some of it is asked for, is what is asked for."""

import random
from functools import cache

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
    "compressed-mariadb": (2, 2), "compressed-mysql": (3, 3), "ddl-mariadb": (24, 24), "ddl-mysql": (20, 20),
    "fk-cascade-mariadb-minimal": (11, 11), "fk-cascade-mysql": (11, 11), "groups-mariadb": (4, 4),
    "gtid-tags": (1, 1), "json-partial-minimal": (10, 10), "key-moves-minimal": (10, 10),
    "mariadb-row-image-full": (15, 15), "mariadb-row-image-minimal": (15, 15), "many-files-mariadb": (2, 2),
    "many-files-mysql": (2, 2), "row-image-minimal": (15, 15), "row-image-noblob": (15, 15),
    "transactions-mariadb": (3, 3), "transactions-mysql": (3, 3), "transactions-mysql-nogtid": (3, 3)}
"""How many tables of a case have a feed of single images, and of whole rows."""


KEYED = {
    "compressed-mariadb": (1, 1), "compressed-mysql": (2, 2), "ddl-mariadb": (15, 18), "ddl-mysql": (13, 16),
    "fk-cascade-mariadb-minimal": (10, 11), "fk-cascade-mysql": (11, 11), "groups-mariadb": (4, 4), "gtid-tags": (1, 1),
    "json-partial-minimal": (9, 9), "key-moves-minimal": (9, 9), "mariadb-row-image-full": (12, 12),
    "mariadb-row-image-minimal": (12, 12), "many-files-mariadb": (2, 2), "many-files-mysql": (2, 2),
    "row-image-minimal": (12, 12), "row-image-noblob": (12, 12), "transactions-mariadb": (3, 3),
    "transactions-mysql": (3, 3), "transactions-mysql-nogtid": (3, 3)}
"""How many of these have a key, and changes with it."""


def change_log(name, complete, **options):
    return ChangeLog(ChangesOptions(tuple(map(str, Case(name).binlogs)), complete=complete,
                                    ignore_foreign_keys=not complete, **options))


def read(log):
    """The feed of each table that has one, and its rows, by the table's name."""
    found = {}
    for name in log.tables(EVERYTHING):
        try:
            found[name] = (feed := log.feed(name)), pa.Table.from_batches(feed.batches(), feed.schema)
        except (applier.SchemaError, applier.UnsupportedEvent):  # two types of a column
            continue
    return found


@cache
def everything(name, complete):
    """A case's log, and all its changes; what is asked of it in these tests is asked of one."""
    return (log := change_log(name, complete)), read(log)


def feeds(name, complete, **options):
    """Of what is left of the log, the rows of each table's feed."""
    return {table: changes for table, (_, changes) in read(change_log(name, complete, **options)).items()}


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


@pytest.mark.by_turns("complete", one_in=5)
@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", FILTERED)
def test_changes_of_some_rows(name, complete):
    """PKE, DEF-R2: by random keys, of one column and of several, of rows that get others, of versions of a table; of
    minimal images, JSON diffs, compressed events, cascades."""
    (log, feeds_of_log), chance, judged = everything(name, complete), random.Random(name), 0
    for table, (feed, changes) in feeds_of_log.items():
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
                assert "a before-image has no column" in error.message and not complete
                continue
            assert found == with_keys(changes, feed, log.flavour, chosen), (table, chosen)
            judged += n == 3
    assert judged == KEYED[name][complete]


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("name", KEYED)
def test_histories_of_some_rows(name, tmp_path):
    """PKE, AP-SNAP: the versions that the whole history has of them, from the beginning, and from a base."""
    case, chance, judged = Case(name), random.Random(name), 0
    marks = case.marks if (case.folder / "case.json").exists() else []
    mark = next(iter(marks), None)
    logs = [everything(name, True)]
    if mark is not None:
        replayed(case, tmp_path / "base", mark=mark)
        logs.append(((based := change_log(name, True, base=str(tmp_path / "base"))), read(based)))
    for log, feeds_of_log in logs:
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
            some = log.feed(table, keys=chosen)
            found = pa.Table.from_batches(some.batches(), some.schema).to_pylist()
            feed, changes = feeds_of_log[table]
            assert found == with_keys(changes, feed, log.flavour, chosen), (table, chosen)
            judged += 1
    assert judged


def in_order(rows):
    return sorted(rows, key=lambda row: (row["_file"], row["_pos"], row["_row"]))


@pytest.mark.by_turns("complete", one_in=4)
@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", FILTERED)
def test_changes_of_some_transactions(name, complete):
    """Random sets of GTIDs, of both flavours, with tags; in compressed payloads; of XA transactions those that prepared
    them; statements outside the log, and what foreign keys change, with their transactions."""
    chance, all_rows = random.Random(name), {
        table: changes.to_pylist() for table, (_, changes) in everything(name, complete)[1].items()}
    assert len(all_rows) == FILTERED[name][complete]
    known = sorted({row["_gtid"] for rows in all_rows.values() for row in rows if row["_gtid"] is not None})
    for share in (0.1, 0.5):
        gtids = {gtid for gtid in known if chance.random() < share} or set(known[:1])
        if gtids:
            few = feeds(name, complete, gtids=",".join(gtids))
            for table in all_rows:
                changes = few[table]
                assert changes.to_pylist() == [row for row in all_rows[table] if row["_gtid"] in gtids], table
            assert set(all_rows) <= set(few)


@pytest.mark.by_turns("complete", one_in=4)
@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", FILTERED)
def test_what_comes_before_a_time_and_what_comes_after(name, complete):
    """GRP-4, AP-SNAP: both together are all changes; one of an XA transaction comes when it is committed."""
    case, chance = Case(name), random.Random(name)
    in_log_order = [int(time) for file in case.binlogs for time in GroupPass(str(file)).groups().times]
    times = sorted(set(in_log_order))
    for time in chance.sample(times, min(2, len(times))):
        after = feeds(name, complete, start_datetime=time)
        try:
            before = feeds(name, complete, stop_datetime=time)
        except applier.UsageError as error:
            assert time <= in_log_order[0] and "these binlogs contain nothing before the place" in error.message
            before = {}
        for table, (_, changes) in everything(name, complete)[1].items():
            earlier = before[table].to_pylist() if table in before else []
            if table not in before or before[table].column_names == changes.column_names:
                assert in_order(earlier + after[table].to_pylist()) == in_order(changes.to_pylist()), (table, time)
