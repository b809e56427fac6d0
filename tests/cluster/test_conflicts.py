"""Where the data says no: exit 1 with everything that a person needs, and a hint that works.

Rules: FIND and APP-R6, for rows that do not exist (1032) and keys that are there twice (1062); GRP-1, GRP-2.
"""

import re

import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import units
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import SOURCE, BinlogWriter
from tests.support.small_logs import CREATE, ITEM, commit, delete, held, images, insert, new_log, update

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])
A, B, C = (1, 1, "a"), (2, 2, "b"), (3, 3, "c")

CONFLICTS = {
    "insert of a key that is there": ([insert([C, A])], 1062, "1"),
    "update of a row that is not there": ([update([C], [(3, 4, "c")])], 1032, "3"),
    "delete of a row that is not there": ([delete([B, C])], 1032, "3"),
    "update onto a key that is taken": ([update([A], [B])], 1062, "2"),
    "partial images": ([RowChanges(ITEM, before=images([C], "id"), after=images([C], "n"))], 1032, "3"),
    "a row that an earlier change of the event took": ([delete([A]), insert([C]), delete([A])], 1032, "1"),
}


def stopped(folder, route="auto"):
    with pytest.raises(ReplayStopped) as caught:
        replay_with(ThisProcess(2), ReplayOptions((str(folder),), str(folder / "out"), route=route))
    assert not (folder / "out").exists()
    return caught.value


@both_routes
@pytest.mark.parametrize("changes, errno, key", CONFLICTS.values(), ids=CONFLICTS)
def test_a_conflict_names_its_change_and_where_to_stop(tmp_path, route, changes, errno, key):
    """The second of three transactions cannot be applied; stopping where the hint says keeps the first."""
    with new_log(tmp_path) as log:
        commit(log, insert([A, B]))
        begin, end = commit(log, *changes)
        commit(log, insert([(9, 9, "later")]))
    error = stopped(tmp_path, route)
    assert (error.mysql_errno, error.exit_code, error.table) == (errno, 1, "shop.item")
    assert error.key == f"PRIMARY (id) = {key}"
    assert error.gtid == f"{SOURCE}:3"
    assert error.file == str(tmp_path / "binlog.000001") and begin < error.position < end
    assert f"--stop-position binlog.000001:{begin};" in error.hint
    stop = re.search(r"--stop-position (\S+):(\d+);", error.hint)
    replay_with(ThisProcess(2), ReplayOptions((str(tmp_path),), str(tmp_path / "out"), route=route,
                                              stop_position=(stop[1], int(stop[2]))))
    assert held(tmp_path / "out") == [A, B]


@both_routes
def test_on_the_command_line(spark, tmp_path, capsys, route):
    with new_log(tmp_path) as log:
        commit(log, insert([A]))
        begin, _ = commit(log, insert([B]), insert([A]))
    output = tmp_path / "out"
    words = ["replay", "--binlogs", str(tmp_path), "--output", str(output), "--master", "local[2]", "--route", route]
    assert cli.main(words) == 1
    error = capsys.readouterr().err
    for part in ("error 1062", "shop.item", "PRIMARY (id) = 1", f"GTID {SOURCE}:3", "binlog.000001:",
                 f"--stop-position binlog.000001:{begin}"):
        assert part in error
    assert not output.exists()
    assert cli.main([*words, "--stop-position", f"binlog.000001:{begin}"]) == 0
    assert held(output) == [A]


@both_routes
@pytest.mark.parametrize("order", [1, -1])
def test_the_earliest_of_several_conflicts_is_told(tmp_path, monkeypatch, route, order):
    """Units fail by themselves, each at a place of its own; a replica would have stopped at the first in the log."""
    monkeypatch.setattr(units, "UNIT_BYTES", 200)
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1)
    with new_log(tmp_path) as log:
        for n in range(0, 300, 10):
            commit(log, insert([(n + i, 0, "there") for i in range(10)]))
        log = log.rotate(tmp_path / "binlog.000002")
        missing = [5000, 400, -100][::order]
        begin, _ = commit(log, delete([(missing[0], 0, "")]))
        for key in missing[1:]:
            commit(log, delete([(key, 0, "")]))
        log.close()
    error = stopped(tmp_path, route)
    assert error.key == f"PRIMARY (id) = {missing[0]}"
    assert error.file.endswith("binlog.000002") and f"binlog.000002:{begin};" in error.hint


@both_routes
def test_a_conflict_in_a_table_that_the_log_drops_later_stops_too(tmp_path, route):
    """A replica would have stopped before it came to the DROP."""
    with new_log(tmp_path) as log:
        commit(log, delete([A]))
        log.query("DROP TABLE item", "shop")
    assert stopped(tmp_path, route).mysql_errno == 1032


@both_routes
def test_a_conflict_in_a_rolled_back_transaction_is_none(tmp_path, route):
    with new_log(tmp_path) as log:
        commit(log, insert([A]))
        with log.transaction(end="rollback"):
            log.rows(insert([A]))
        commit(log, insert([B]))
    replay_with(ThisProcess(2), ReplayOptions((str(tmp_path),), str(tmp_path / "out"), route=route))
    assert held(tmp_path / "out") == [A, B]


@both_routes
@pytest.mark.parametrize("change", [insert([(5000, 3, "x")]), update([(295, 295, "there")], [(295, 3, "x")])],
                         ids=["insert", "update"])
def test_a_duplicate_in_a_secondary_unique_key_of_rows_that_are_far_apart(tmp_path, monkeypatch, route, change):
    """APP-R6: by their primary keys the two rows would be in different units. NULLs are no duplicates, nor are values
    that are free again."""
    monkeypatch.setattr(units, "UNIT_BYTES", 200)
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1)
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query(f"{CREATE[:-1]}, UNIQUE KEY u (n))", "shop")
        for start in range(0, 300, 10):
            commit(log, insert([(start + i, start + i, "there") for i in range(10)]))
        commit(log, delete([(7, 7, "there")]), insert([(5007, 7, "free again"), (5008, None, ""), (-1, None, "")]))
        begin, _ = commit(log, change)
    error = stopped(tmp_path, route)
    assert (error.mysql_errno, error.table, error.key) == (1062, "shop.item", "u (n) = 3")
    assert f"--stop-position binlog.000001:{begin};" in error.hint
    [table] = replay_with(ThisProcess(2), ReplayOptions(
        (str(tmp_path),), str(tmp_path / "out"), route=route, stop_position=("binlog.000001", begin))).tables
    assert (table.rows, table.ranges > 3) == (302, True)
