"""What is left of the feed of each table of recorded cases, when only some of it is asked for, is what is asked for."""

import random

import pyarrow as pa
import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from applier.schema.table_filter import EVERYTHING
from tests.support.real_server import Case

FILTERED = {
    "compressed-mariadb": (2, 2), "compressed-mysql": (2, 3), "ddl-mariadb": (20, 20), "ddl-mysql": (16, 16),
    "fk-cascade-mariadb-minimal": (11, 11), "fk-cascade-mysql": (11, 11), "groups-mariadb": (4, 4),
    "gtid-tags": (1, 1), "json-partial-minimal": (0, 10), "key-moves-minimal": (10, 10),
    "mariadb-row-image-full": (15, 15), "mariadb-row-image-minimal": (15, 15), "many-files-mariadb": (2, 2),
    "many-files-mysql": (2, 2), "row-image-minimal": (15, 15), "row-image-noblob": (15, 15),
    "transactions-mariadb": (3, 3), "transactions-mysql": (3, 3), "transactions-mysql-nogtid": (3, 3)}
"""How many tables of a case have a feed of single images, and of whole rows."""


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
    times = sorted({int(time) for file in case.binlogs for time in GroupPass(str(file)).groups().times})
    for time in chance.sample(times, min(2, len(times))):
        before, after = feeds(case, complete, stop_datetime=time), feeds(case, complete, start_datetime=time)
        for table, changes in everything.items():
            earlier = before[table].to_pylist() if table in before else []
            if table not in before or before[table].column_names == changes.column_names:
                assert in_order(earlier + after[table].to_pylist()) == in_order(changes.to_pylist()), (table, time)
