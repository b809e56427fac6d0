"""Idempotent mode in ranges of a table: what is suppressed does not depend on how the work is divided.

Rules: APP-R7, AP-IDEM, AP-ORD; DESIGN.md, Units (where one change connects two ranges, they become one).
"""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import units
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.small_logs import ITEM, commit, delete, held, images, insert, new_log, update
from tests.support.small_parts import rows_of

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])
N = 200


def row(number, text="x"):
    return (number, number % 7, text)


def write(log):
    """Rows in four ranges of keys, and conflicts of every kind in each."""
    for start in range(0, N, 25):
        commit(log, insert([row(number) for number in range(start, start + 25)]))
    for start in range(0, N, 50):
        commit(log, insert([row(start + 3, "again"), row(start + 3, "and again")]), delete([row(start + 5)]))
        commit(log, delete([row(start + 5), row(start + 6)]), update([row(start + 5)], [row(start + 5, "gone")]))
        commit(log, RowChanges(ITEM, before=images([row(start + 5), row(start + 7)], "id"),
                               after=images([row(0, "some")] * 2, "s")))
        commit(log, RowChanges(ITEM, after=images([row(start + 8)], "id")))


def expected():
    rows = {number: row(number) for number in range(N)}
    for start in range(0, N, 50):
        rows[start + 3] = row(start + 3, "and again")
        rows[start + 7] = row(start + 7, "some")
        del rows[start + 5], rows[start + 6]
    return rows


def replayed(folder, name, route, unit_bytes, monkeypatch):
    """(result, conflicts as rows, the table's rows)"""
    monkeypatch.setattr(units, "UNIT_BYTES", unit_bytes)
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", unit_bytes)
    output = folder / name
    result = replay_with(ThisProcess(2), ReplayOptions((str(folder),), str(output), exec_mode="idempotent",
                                                       route=route))
    return result, pq.read_table(output / "_conflicts.parquet").to_pylist(), held(output)


@both_routes
def test_any_division_suppresses_the_same(tmp_path, monkeypatch, route):
    with new_log(tmp_path) as log:
        write(log)
    result, conflicts, rows = replayed(tmp_path, "one", "walk", 1 << 30, monkeypatch)
    assert result.units == 1 and len(conflicts) == result.conflicts == 4 * 6
    assert rows == sorted(expected().values())
    divided, same_conflicts, same_rows = replayed(tmp_path, "many", route, 900, monkeypatch)
    [one], [many] = result.tables, divided.tables
    assert many.units > 3 and many.tied == ""
    assert (same_conflicts, same_rows) == (conflicts, rows)
    for count in ("inserts", "updates", "deletes", "conflicts", "found", "rows"):
        assert getattr(many, count) == getattr(one, count), count
    assert one.conflicts == {"duplicate key": 12, "row not found": 12}


MOVES = {
    "to a free key": ((11, 1000), lambda rows: rows.update({1000: (1000, 4, "x")}) or rows.pop(11)),
    "to a key that is taken": ((11, 160), lambda rows: None),
    "of a row that is not there": ((5, 1000), lambda rows: None),
}


@both_routes
@pytest.mark.parametrize("move, change", MOVES.values(), ids=MOVES)
def test_a_row_that_moves_ties_the_ranges(tmp_path, monkeypatch, route, move, change):
    """Return whether it moves depends on the rows of both: where it is found out, the table is one unit."""
    with new_log(tmp_path) as log:
        write(log)
        commit(log, update([row(move[0])], [(move[1], 4, "x")]))
    result, conflicts, rows = replayed(tmp_path, "out", route, 900, monkeypatch)
    [table] = result.tables
    assert (table.units, table.ranges > 3) == (1, True) and "both keys" in table.tied
    state = expected()
    change(state)
    assert rows == sorted(state.values())
    assert table.updates == 4 + (move == (11, 1000)) and len(conflicts) == 4 * 6 + (move != (11, 1000))


def test_moves_within_a_range_tie_nothing(tmp_path, monkeypatch):
    with new_log(tmp_path) as log:
        write(log)
        commit(log, update([row(11)], [(5, 4, "moved")]), update([row(7)], [row(8)]))
    result, conflicts, rows = replayed(tmp_path, "out", "walk", 900, monkeypatch)
    [table] = result.tables
    assert table.units > 3 and table.tied == ""
    assert conflicts[-1]["values"] == "8" and conflicts[-1]["operation"] == "update"
    assert (5, 4, "moved") in rows and row(11) not in rows and (7, 0, "some") in rows


@both_routes
def test_a_null_for_a_key_is_what_the_replica_makes_of_it(tmp_path, route):
    """The source's column may be NULL, the replica's key not: as a MariaDB replica did, rows come and go by the empty
    string, in the way of each other."""
    (tmp_path / "schema.sql").write_text("CREATE TABLE d.t (n INT NOT NULL, s VARCHAR(9) NOT NULL, PRIMARY KEY (s, n))")
    [logged] = parse_statement("CREATE TABLE d.t (n INT NOT NULL, s VARCHAR(9))", server_charset="utf8mb4",
                               flavour="mariadb")

    def rows(*values):
        return {"n": pa.array([n for n, _ in values], pa.int32()), "s": pa.array([s for _, s in values], pa.string())}

    with BinlogWriter(tmp_path / "binlog.000001", flavour="mariadb") as log:
        for before, after in ((None, [(1, None), (2, None), (3, "a"), (1, "")]), ([(2, None), (9, None)], None)):
            with log.transaction():
                log.rows(RowChanges(logged.definition, before and rows(*before), after and rows(*after)))
    result = replay_with(ThisProcess(2), ReplayOptions(
        (str(log.path),), str(tmp_path / "out"), schema=str(tmp_path / "schema.sql"), exec_mode="idempotent",
        route=route))
    assert [tuple(row.values()) for row in rows_of(tmp_path / "out")["d.t"]] == [(1, ""), (3, "a")]
    [table] = result.tables
    assert table.conflicts == {"duplicate key": 1, "row not found": 1}
