"""What idempotent mode suppressed, conflict by conflict, with its transaction and its place (APP-R7, AP-IDEM)."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.apply.search.conflicts import CONFLICTS
from applier.apply.tasks import UnitResult
from applier.binlog.events.events import parse_gtid, read_events
from applier.binlog.events.format import EventType
from applier.binlog.outline.outline_pass import outline_file
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.io.mapping import map_file
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan.conflicts import LISTING, conflict_listing
from applier.plan.stops.gtid_kernel import find_gtids
from applier.writer.writer import SOURCE
from keysearch.addresses import address_of
from tests.support.small_logs import commit, delete, held, insert, new_log, update

A, B, C, D = (1, 1, "a"), (2, 2, "b"), (3, 3, "c"), (4, 4, "d")


def replayed(folder, mode="idempotent", route="walk"):
    """(result, conflicts) of a replay; None where they are not listed."""
    output = folder / "out"
    result = replay_with(ThisProcess(2), ReplayOptions((str(folder),), str(output), exec_mode=mode, route=route))
    listing = output / "_conflicts.parquet"
    return result, pq.read_table(listing) if listing.exists() else None


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("gtids", ["on", "anonymous", "none"])
def test_each_conflict_with_its_transaction(tmp_path, gtids, route):
    """In log order, over files; rows of one event, events of one transaction, a transaction without any."""
    log = new_log(tmp_path, gtids=gtids)
    commit(log, insert([A, B]))
    places = [commit(log, insert([C]), insert([D, A, B]), delete([(9, 9, "no")]))]
    commit(log, update([C], [(3, 33, "well")]))
    log = log.rotate(tmp_path / "binlog.000002")
    places.append(commit(log, update([C], [(2, 3, "taken")])))
    log.close()
    result, listing = replayed(tmp_path, route=route)
    assert held(tmp_path / "out") == [A, B, (3, 33, "well"), D]
    assert listing.schema == LISTING
    rows = listing.to_pylist()
    third, fifth = (f"{SOURCE}:{number}" if gtids == "on" else None for number in (3, 5))
    positions = [row.pop("position") for row in rows]
    assert rows == [
        {"table": "shop.item", "operation": operation, "conflict": conflict, "key": "PRIMARY", "values": values,
         "gtid": gtid, "file": f"binlog.00000{file}", "row": row}
        for operation, conflict, values, gtid, file, row in [
            ("insert", "duplicate key", "1", third, 1, 2), ("insert", "duplicate key", "2", third, 1, 3),
            ("delete", "row not found", "9", third, 1, 1), ("update", "duplicate key", "2", fifth, 2, 1)]]
    assert positions[0] == positions[1] < positions[2]
    assert all(begin < position < end for (begin, end), position in zip([places[0]] * 3 + places[1:], positions,
                                                                        strict=True))
    assert result.conflicts == 4 and result.exec_mode == "idempotent"
    [table] = result.tables
    assert table.conflicts == {"duplicate key": 3, "row not found": 1} and table.found == {"primary": 2}


def test_a_listing_without_conflicts_is_empty_and_strict_mode_has_none(tmp_path):
    with new_log(tmp_path) as log:
        commit(log, insert([A]))
    assert replayed(tmp_path)[1].equals(LISTING.empty_table())
    (tmp_path / "out").rename(tmp_path / "before")
    assert replayed(tmp_path, "strict")[1] is None


def test_conflicts_of_a_table_that_was_dropped_later_are_listed_too(tmp_path):
    with new_log(tmp_path) as log:
        commit(log, delete([A]))
        log.query("DROP TABLE item", "shop")
    result, listing = replayed(tmp_path)
    assert result.conflicts == listing.num_rows == 1 and not result.tables
    assert listing.column("table").to_pylist() == ["shop.item"]
    assert json.loads((tmp_path / "out" / "_report.json").read_text())["conflicts"] == 1


def conflicts_at(uri, positions):
    """A unit's result with a conflict at each position."""
    n = len(positions)
    columns = {"file": [uri] * n, "position": positions, "row": [0] * n}
    table = pa.table({name: columns.get(name, ["x"] * n) for name in CONFLICTS.names}, CONFLICTS)
    return UnitResult(0, 0, 0, 0, 0, None, table)


def test_transactions_in_a_log_of_many_splits(tmp_path):
    """As reading all events one by one finds them, from whichever split on."""
    with new_log(tmp_path) as log:
        for number in range(60):
            commit(log, *(insert([(number, 0, "x")]) for _ in range(1 + number % 3)))
    expected, gtid = {}, None
    for event in read_events(map_file(str(log.path))):
        if event.type == EventType.GTID:
            gtid = parse_gtid(event.type, event.body, event.server_id).text
        elif event.type == EventType.WRITE_ROWS:
            expected[event.position] = gtid
    outline = outline_file(str(log.path), split_bytes=500)
    assert len(outline.splits) > 20
    for step in (1, 7):
        positions = list(expected)[::-step]
        listing = conflict_listing([conflicts_at(str(log.path), positions[::2]),
                                    conflicts_at(str(log.path), positions[1::2])], [outline])
        found = dict(zip(listing.column("position").to_pylist(), listing.column("gtid").to_pylist(), strict=True))
        assert list(found.items()) == [(position, expected[position]) for position in sorted(positions)]


def test_a_file_that_is_another_one_by_now(tmp_path):
    with new_log(tmp_path) as log:
        begin, end = commit(log, insert([A]))
    outline = outline_file(str(log.path))
    path = tmp_path / "binlog.000001"
    other = path.read_bytes()[:begin] + bytes(end - begin)
    path.unlink()
    path.write_bytes(other)
    with pytest.raises(ArchiveError, match="differs from the one that was outlined") as error:
        conflict_listing([conflicts_at(str(log.path), [end - 40])], [outline])
    assert (error.value.file, error.value.position) == (str(log.path), begin)


@given(st.binary(min_size=1, max_size=300), st.lists(st.integers(-5, 400), min_size=1, max_size=5))
def test_any_bytes_are_an_error_or_positions_in_them(content, positions):
    """No read past the end, whatever the lengths in it say."""
    memory = np.frombuffer(content, np.uint8)
    found = np.empty(len(positions), np.int64)
    if find_gtids(address_of(memory), 0, len(memory), np.array(sorted(positions), np.int64), found):
        assert all(-1 <= place < len(content) for place in found.tolist())
