"""Rows that EXCHANGE PARTITION … WITHOUT VALIDATION moves into a partition to which they do not belong: they lie where
a server has them, over later statements and in later replays."""

import pytest

import applier.binlog
from applier.errors import ReplayStopped, SchemaError
from applier.schema.partitions import Partition, Partitioning
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest
from tests.support.real_server import Case, differences, replayed
from tests.unit.api.test_undo import SOURCE

CASES = ["mysql-misplaced-rows", "mariadb11-misplaced-rows"]
MARKS = [pytest.param(name, mark, id=f"{name}@{mark.name}") for name in CASES for mark in Case(name).marks]
TWICE = TableFilter(ignored=(("mp", "j"), ("mp", "jx")))
"""A table with two rows of one key, in two partitions, where a pass may end."""
TABLES = ("CREATE TABLE t (id INT NOT NULL, y INT NOT NULL, v INT{key}) PARTITION BY RANGE (y) "
          "(PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))",
          "CREATE TABLE x (id INT NOT NULL, y INT NOT NULL, v INT{key})")
EXCHANGE = "ALTER TABLE t EXCHANGE PARTITION p1 WITH TABLE x WITHOUT VALIDATION"


def misplaced(snapshot):
    """The tables with misplaced rows."""
    return [table.name for table in manifest.load(str(snapshot)).tables if table.misplaced]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", CASES)
def test_rows_at_the_end(name, route, tmp_path):
    """AP-SNAP: TRUNCATE and DROP remove the rows that lie in a partition; copies, REBUILD, REORGANIZE and REPAIR move
    them; row events find the rows that lie where they belong."""
    replayed(Case(name), tmp_path / "out", route=route)
    assert differences(tmp_path / "out", Case(name).expected()) == []


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize(("name", "mark"), MARKS)
def test_a_base_goes_on(name, mark, route, tmp_path):
    """AP-SNAP, GRP-5: a snapshot knows which rows are misplaced, and where they lie."""
    replayed(Case(name), tmp_path / "base", mark=mark, route=route)
    assert differences(tmp_path / "base", Case(name).expected(mark)) == []
    assert "m" in misplaced(tmp_path / "base")
    replayed(Case(name), tmp_path / "out", base=str(tmp_path / "base"), route=route)
    assert differences(tmp_path / "out", Case(name).expected()) == []
    assert misplaced(tmp_path / "out") == ["b", "m", "o"]


@pytest.mark.by_turns("merges")
@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_rounds_of_a_lake(name, merges, tmp_path):
    """The last round is of everything after the marks."""
    case = Case(name)
    for stop in [(mark.file, mark.offset) for mark in case.marks] + [None]:
        made = applier.replay(case.folder, lake=tmp_path / "lake", stop=stop, merge_on_read=merges,
                              ignore_tables=["mp.j", "mp.jx"], lower_case_table_names=0)
    for file in case.expected().glob("mp.*.jsonl"):
        if file.name.split(".")[1] not in ("j", "jx"):
            rows = made.snapshot.tables[file.name.removesuffix(".jsonl")].to_arrow().num_rows
            assert rows == len(file.read_text().splitlines()) - 1


@pytest.mark.by_turns("pass_bytes")
@pytest.mark.parametrize("pass_bytes", [1_000, 5_000])
@pytest.mark.parametrize("name", CASES)
def test_passes(name, pass_bytes, tmp_path):
    """AP-SNAP: as one pass."""
    case = Case(name)
    replayed(case, tmp_path / "once", filter=TWICE)
    replayed(case, tmp_path / "out", filter=TWICE, pass_bytes=pass_bytes)
    assert [line for line in differences(tmp_path / "out", case.expected()) if "mp.j" not in line] == []


def log_of(folder, *statements, key=", PRIMARY KEY (id, y)", flavour="mysql", row=(3, 5)):
    """A log of a table with a `row` that lies in p1 and belongs to p0, of `statements`, and of changes."""
    with applier.binlog.Writer(folder / "binlog.000001", flavour=flavour) as log:
        log.query("CREATE DATABASE d")
        for table in TABLES:
            log.query(table.format(key=key), "d")
        with log.transaction():
            log.insert("d.t", {"id": [1, 2], "y": [5, 15], "v": [0, 0]})
            log.insert("d.x", {"id": [row[0], 4], "y": [row[1], 15], "v": [0, 0]})
        log.query(EXCHANGE, "d")
        for one in statements:
            if isinstance(one, str):
                log.query(one, "d")
                continue
            verb, *table, columns = one
            with log.transaction():
                getattr(log, verb)(f"d.{(table or 't')[0]}", columns)
    return folder / "binlog.000001"


def held(log, folder, **options):
    made = applier.replay(log, folder / "out", lower_case_table_names=0, **options)
    return sorted(row["id"] for row in made.snapshot.tables["d.t"].to_arrow().to_pylist())


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_change_does_not_find_a_misplaced_row(flavour, tmp_path):
    """1032: both servers look in the partition to which the key belongs. A MariaDB source can log such a change, and
    its replica stops there."""
    log = log_of(tmp_path, ("delete", {"id": [3], "y": [5], "v": [0]}), flavour=flavour)
    with pytest.raises(ReplayStopped, match="can't find record"):
        held(log, tmp_path)


def test_a_change_of_a_mysql_table_without_a_key(tmp_path):
    """MySQL refuses a change of a misplaced row [1863]."""
    log = log_of(tmp_path, ("delete", {"id": [1], "y": [5], "v": [0]}), key="")
    assert held(log, tmp_path) == [3, 4]
    (tmp_path / "misplaced").mkdir()
    log = log_of(tmp_path / "misplaced", ("delete", {"id": [3], "y": [5], "v": [0]}), key="")
    with pytest.raises(ReplayStopped, match="can't find record"):
        held(log, tmp_path / "misplaced")


def test_a_change_of_a_mariadb_table_without_a_key_is_refused(tmp_path):
    """The server looks for its row in every partition, and may find the misplaced one."""
    log = log_of(tmp_path, ("delete", {"id": [1], "y": [5], "v": [0]}), key="", flavour="mariadb")
    with pytest.raises(SchemaError, match="rows lie in partitions to which they do not belong, and rows of a table "
                                          "without a key change") as stopped:
        held(log, tmp_path)
    assert stopped.value.position is not None
    (tmp_path / "without").mkdir()
    assert held(log_of(tmp_path / "without", "ALTER TABLE t TRUNCATE PARTITION p0", key="", flavour="mariadb"),
                tmp_path) == [3, 4]


def test_two_rows_of_one_key_are_refused_where_they_are_written(tmp_path):
    """A replica has both; a snapshot has a row for each key."""
    again = ("insert", {"id": [3], "y": [5], "v": [7]})
    log = log_of(tmp_path, again)
    with pytest.raises(SchemaError, match=r"two rows have the same key, .* PRIMARY \(id, y\) = 3, 5"):
        held(log, tmp_path)
    (tmp_path / "gone").mkdir()
    assert held(log_of(tmp_path / "gone", again, "ALTER TABLE t TRUNCATE PARTITION p1"), tmp_path) == [1, 3]


@pytest.mark.parametrize("statement", ["REPAIR TABLE t", "ALTER TABLE t REPAIR PARTITION p1"])
@pytest.mark.parametrize("from_base", [False, True])
def test_repair_stops_at_a_row_that_belongs_to_no_partition(statement, from_base, tmp_path):
    """A MySQL server has then moved the rows before it."""
    gone = "ALTER TABLE t EXCHANGE PARTITION p0 WITH TABLE z WITHOUT VALIDATION"
    log = log_of(tmp_path, "CREATE TABLE z LIKE x", ("insert", "z", {"id": [5], "y": [25], "v": [0]}), gone, statement)
    base = {}
    if from_base:
        base = {"base": applier.replay(log, tmp_path / "base", stop=f"{SOURCE}:1-8", lower_case_table_names=0).snapshot}
    if statement.startswith("ALTER"):
        assert held(log, tmp_path, **base) == [3, 4, 5]
        return
    with pytest.raises(SchemaError, match="how many of them are moved before one that belongs to no partition"):
        held(log, tmp_path, **base)


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("statement", [
    "ALTER TABLE t ADD n INT NOT NULL AUTO_INCREMENT UNIQUE",
    "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (y, id)"])
def test_statements_of_which_it_is_not_known_where_they_leave_rows(statement, flavour, tmp_path):
    log = log_of(tmp_path, statement, flavour=flavour)
    if (flavour, "DROP" in statement) == ("mysql", True):
        assert held(log, tmp_path) == [1, 3, 4]
        return
    with pytest.raises(SchemaError, match="rows lie in partitions to which they do not belong, and it is not known"):
        held(log, tmp_path)


STEPS = {
    "changes": lambda log, folder, **base: applier.changes(log, "d.t", complete=True, **base).to_arrow(),
    "history": lambda log, folder, **base: applier.history(log, "d.t", key=(2, 15), **base).to_arrow(),
    "undo": lambda log, folder, **base: applier.undo(log, folder / "undo.sql", gtids=f"{SOURCE}:6-7", tables="d.t",
                                                     **base),
}


@pytest.mark.parametrize("verb", STEPS)
def test_steps_of_misplaced_rows_are_refused(verb, tmp_path):
    """Where they become misplaced, and where a base has them."""
    log = log_of(tmp_path, ("insert", {"id": [9], "y": [6], "v": [0]}), "ALTER TABLE t TRUNCATE PARTITION p1")
    with pytest.raises(SchemaError, match="a row moves into a partition that it does not belong to"):
        STEPS[verb](log, tmp_path)
    base = applier.replay(log, tmp_path / "base", stop=f"{SOURCE}:1-5", lower_case_table_names=0).snapshot
    with pytest.raises(SchemaError, match="rows lie in partitions to which they do not belong, and the steps of such"):
        STEPS[verb](log, tmp_path, base=base)


@pytest.mark.parametrize("later", ["COMMENT = 'x'", "ADD PARTITION (PARTITION p2 VALUES LESS THAN (30))",
                                   "REBUILD PARTITION ALL", "REPAIR PARTITION p1"])
def test_an_undo_over_statements_that_may_move_misplaced_rows(later, tmp_path):
    """They move none: what is exchanged belongs there."""
    log = log_of(tmp_path, ("insert", {"id": [9], "y": [6], "v": [0]}), f"ALTER TABLE t {later}", row=(3, 16))
    [made] = applier.undo(log, tmp_path / "undo.sql", gtids=f"{SOURCE}:6").tables
    assert made.deleted == 1
    history = applier.history(log, "d.t", columns=["id"]).to_arrow().to_pylist()
    assert [row["_ended_by"] for row in history if row["id"] == 9] == [None]


def test_a_place_that_a_table_does_not_have():
    """A damaged snapshot may name one."""
    with pytest.raises(SchemaError, match="rows lie in partition `gone`, which is not known"):
        Partitioning("HASH", "id", partitions=(Partition("p0"),)).rows_of(["p0"]).holds("gone")
