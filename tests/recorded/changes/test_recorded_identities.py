"""(_commit_version, _seq) identifies a change of a table: in recorded cases, from any base, in parts, complete or not.

With some transactions, some rows or from a time on, changes are compared whole in test_recorded_filters.
"""

import random
from itertools import groupby

import pyarrow as pa
import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from applier.jobs.changes.event_groups.groups import version_at
from applier.jobs.changes.feed import OF_CHANGES
from applier.schema.table_filter import EVERYTHING
from tests.recorded.changes.test_recorded_filters import FILTERED, change_log, everything
from tests.support.real_server import Case, replayed

NAMES = [name for name in OF_CHANGES.names if name not in ("_present", "_diffs")]
PAIR = ["update_preimage", "update_postimage"]


def identities(changes):
    """What the feed says of each change."""
    return changes.select(NAMES).to_pylist()


def identity(row):
    return row["_commit_version"], row["_seq"]


@pytest.mark.by_turns(one_in=6)
@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", FILTERED)
def test_no_two_changes_have_the_same_and_they_ascend(name, complete):
    of_log = {}
    for table, (feed, changes) in everything(name, complete)[1].items():
        rows, last = identities(changes), {}
        for number, same in groupby(rows, key=identity):
            kinds = [row["_change_type"] for row in same]
            assert len(kinds) == 1 or kinds == PAIR, (table, number)
            assert last.get(number[0], -1) < number[1], (table, number)
            last[number[0]] = number[1]
        for row in rows:  # what the log has are different changes over all tables
            if not row["_cascaded"] and row["_change_type"] in ("insert", "delete", PAIR[0]) and row["_pos"] > 0:
                of_log.setdefault((identity(row), row["_row"], row["_pos"]), set()).add(table)
        for size in (1, 2000):
            parts = [pa.Table.from_batches(part.batches(), feed.schema) for part in feed.parts(size)]
            in_parts = pa.concat_tables(parts).select(NAMES).to_pylist()  # prepared transactions where they are
            assert sorted(in_parts, key=lambda row: row["_commit_version"]) == rows, (table, size)
    if not complete:
        assert all(len(tables) == 1 for tables in of_log.values())


@pytest.mark.by_turns(one_in=4)
@pytest.mark.parametrize("name", FILTERED)
def test_complete_changes_have_those_of_their_images(name):
    whole = everything(name, True)[1]
    for table, (_, changes) in everything(name, False)[1].items():
        known = {(identity(row), row["_change_type"]) for row in identities(changes)}
        statements = {row["_commit_version"] for row in identities(changes) if row["_change_type"] == "alter"}
        for row in identities(whole[table][1]) if table in whole else []:
            if not row["_cascaded"] and row["_commit_version"] not in statements:
                assert (identity(row), row["_change_type"]) in known, (table, row)


@pytest.mark.by_turns(one_in=6)
@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", FILTERED)
def test_they_are_the_same_from_a_base(name, complete, tmp_path):
    case, chance = Case(name), random.Random(name)
    places = [(file.name, int(end)) for file in map(str, case.binlogs) for file in [GroupPass(file)]
              for end in file.groups().ends]
    for number, place in enumerate(chance.sample(places[:-1], min(3, len(places) - 1))):
        base = str(tmp_path / str(number))
        try:
            replayed(case, tmp_path / str(number), stop_position=place)
        except applier.ApplierError:
            continue
        log = change_log(name, complete, base=base)
        for table, (_, changes) in everything(name, complete)[1].items():
            if table in log.tables(EVERYTHING) and (feed := log.feed(table)).columns:
                found = identities(pa.Table.from_batches(feed.batches(), feed.schema))
                after = version_at(place[0], 0, place[1])
                assert found == [row for row in identities(changes) if row["_commit_version"] > after], (table, place)
