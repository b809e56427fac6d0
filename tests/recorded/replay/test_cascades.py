"""What foreign keys do to rows that the log does not have (AP-FK): logs of real servers, at the end and each mark."""


import pyarrow.parquet as pq
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest
from tests.support.folders import ARCHIVES
from tests.support.foreign_key_engines import both_engines, engine_of
from tests.support.real_server import Case, differences

IDEMPOTENT = ARCHIVES / "cascades" / "mariadb-idempotent.000001"
"""Of a MariaDB 10.11 whose replica, in idempotent mode, still had rows that the source had lost unlogged: parents 1, 2
and 3, which inserts replace by one key or the other, and a child of each."""
REPLACED = ARCHIVES / "cascades" / "mysql-replace.000001"
"""Of a MySQL 9.7 whose log has the rows of cascades: REPLACE left the children of rows alone, its replica did not."""
CASES = ["fk-cascade-mariadb", "fk-cascade-mariadb-minimal", "fk-cascade-mysql-native", "fk-cascade-mysql"]
PLACES = [pytest.param(name, mark, id=f"{name}@{mark.name if mark else 'end'}")
          for name in CASES for mark in [*Case(name).marks, None]]


ACCESS_PATHS = [("walk", "planned", 1), ("walk", "together", 4), ("shuffle", "planned", 4), ("shuffle", "together", 1)]


def replayed(case, output, cores=2, **options):
    return replay_with(ThisProcess(cores), ReplayOptions(tuple(map(str, case.binlogs)), str(output), **options))


def until(mark):
    return {"stop_position": (mark.file, mark.offset)} if mark is not None else {}


@pytest.mark.by_turns("route", "engine", "cores")
@pytest.mark.parametrize("route, engine, cores", ACCESS_PATHS)
@pytest.mark.parametrize("name, mark", PLACES)
def test_rows_that_foreign_keys_change(name, mark, route, engine, cores, tmp_path):
    """AP-FK: several levels, a table that refers to itself, composite keys, NULLs, checks that are off, constraints
    that DDL changes; on MySQL 9.7 the log has the rows, and nothing is done twice."""
    case = Case(name)
    with engine_of(engine):
        replayed(case, tmp_path / "out", cores, route=route, **until(mark))
    assert differences(tmp_path / "out", case.expected(mark)) == []


@pytest.mark.by_turns("route", "engine")
@both_engines
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", CASES)
def test_from_each_mark_to_the_next(name, route, engine, tmp_path):
    """AP-FK, AP-SNAP: foreign keys are in the manifest, and rows of a base are deleted with their parents."""
    case, base = Case(name), {}
    for mark in [*case.marks, None]:
        output = tmp_path / (mark.name if mark else "end")
        with engine_of(engine):
            replayed(case, output, route=route, **until(mark), **base)
        assert differences(output, case.expected(mark)) == [], output.name
        base = {"base": str(output)}


@pytest.mark.by_turns("route", "engine", "cores")
@pytest.mark.parametrize("route, engine, cores", ACCESS_PATHS)
def test_the_report_counts_what_foreign_keys_made(route, engine, cores, tmp_path):
    """AP-FK: apart from the log's own changes, in the result, the report and on the terminal."""
    case = Case("fk-cascade-mariadb")
    with engine_of(engine):
        result = replayed(case, tmp_path / "out", cores, route=route, **until(case.mark("deleted")))
    made = {table.name: table.by_foreign_keys for table in result.tables if table.by_foreign_keys}
    assert made == {"child_cascade": 2, "child_null": 2, "child_mixed": 2, "grandchild": 3, "great": 2}
    assert next(table for table in result.tables if table.name == "grandchild").deletes == 0
    assert (tmp_path / "out" / "_schema.sql").read_text().count("ON DELETE") == 7


def test_orphans_are_told_where_it_is_asked_for(tmp_path):
    """AP-FK: what a DELETE and an UPDATE of parents have left while foreign_key_checks was 0."""
    case = Case("fk-cascade-mariadb")
    told = {}
    for check in (False, True):
        result = replayed(case, tmp_path / str(check), check_foreign_keys=check, **until(case.mark("all_done")))
        told[check] = {table.name: table.warnings for table in result.tables if table.warnings}
    assert told[False] == {}
    assert told[True] == {
        "child_cascade": ("2 rows refer by c1 (p) to rows of fk.parent that do not exist: 20; 20",),
        "child_mixed": ("1 row refers by c3 (c) to rows of fk.parent that do not exist: b",),
        "tree": ("1 row refers by t1 (up) to rows of fk.tree that do not exist: 6",)}


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_parents_that_idempotent_mode_replaces_take_their_children_with_them(route, tmp_path):
    """AP-FK, AP-IDEM: what a replica of MariaDB 10.11 held with slave_exec_mode=IDEMPOTENT: a row that an insert takes
    the place of, by its primary key or another one, is deleted first."""
    options = ReplayOptions((str(IDEMPOTENT),), str(tmp_path / "out"), exec_mode="idempotent", route=route,
                            filter=TableFilter(ignored=(("j", "v"),)))
    result = replay_with(ThisProcess(), options)
    held = {name: sorted(tuple(row.values()) for file in manifest.load(options.output).table("j", name).files
                         for row in pq.read_table(tmp_path / "out" / file.path).to_pylist()) for name in "pc"}
    assert held == {"p": [(1, 1), (3, 33), (6, 6), (7, 2)], "c": [(40, 6)]}
    assert result.by_foreign_keys == 5 and sum(sum(table.conflicts.values()) for table in result.tables) == 3


@pytest.mark.parametrize("mode, c, s", [
    ("strict", [(10, 1), (20, 2), (40, 4)], [(10, 1), (20, 2), (30, None), (40, 4)]),
    ("idempotent", [(40, 4)], [(10, None), (20, None), (30, None), (40, 4)])])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_children_of_a_row_that_was_replaced(route, mode, c, s, tmp_path):
    """AP-FK, AP-IDEM: strict mode holds what the source held, idempotent mode what its replica held till it stopped."""
    options = ReplayOptions((str(REPLACED),), str(tmp_path / "out"), exec_mode=mode, route=route,
                            stop_position=(REPLACED.name, 4465))
    replay_with(ThisProcess(), options)
    held = {name: sorted(tuple(row.values()) for file in manifest.load(options.output).table("fk", name).files
                         for row in pq.read_table(tmp_path / "out" / file.path).to_pylist())
            for name in ("p", "c", "s")}
    assert held == {"p": [(1, 11), (2, 22), (4, 444)], "c": c, "s": s}


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_foreign_key_that_deletes_rows_of_a_versioned_table_stops_the_replay(route, tmp_path):
    """AP-FK: the time at which such a row ends is the source's clock's, which the log has to the second only: on that
    server 18:09:25.690527, on its replica 18:09:25.000004."""
    options = ReplayOptions((str(IDEMPOTENT),), str(tmp_path / "out"), exec_mode="idempotent", route=route)
    with pytest.raises(ReplayStopped, match="system-versioned") as stopped:
        replay_with(ThisProcess(), options)
    assert stopped.value.table == "j.v" and "--ignore-tables" in stopped.value.hint


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_it_stops_also_where_the_table_is_altered_later(route, tmp_path):
    """The rows that the foreign key has changed are looked at for an earlier stop."""
    log = ARCHIVES / "versioned" / "cascade-mariadb-10.11.000001"
    with pytest.raises(ReplayStopped, match="system-versioned") as stopped:
        replay_with(ThisProcess(), ReplayOptions((str(log),), str(tmp_path / "out"), route=route))
    assert stopped.value.table == "h000001.t23"
