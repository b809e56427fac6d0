"""WITNESS: before-images against the rows that they find; planted faults, by every way of finding rows, and reports."""

import dataclasses
import itertools
import json
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import applier
from applier.cli import main
from applier.errors import ReplayStopped
from applier.jobs.replay.result import ReplayResult
from applier.plan import units
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from tests.support.foreign_key_engines import both_engines, engine_of
from tests.support.planted_faults import FAULTS, TABLE, Log, replayed

pytestmark = pytest.mark.contradicted
ROUTES = ("walk", "shuffle")
both_routes = pytest.mark.parametrize("route", ROUTES)
FULL = ("id", "n", "s")
TABLES = {
    "integer key": TABLE,
    "key of bytes": "id INT NOT NULL, n INT, s VARCHAR(20) NOT NULL, PRIMARY KEY (s, id)",
    "several keys": "id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(20), UNIQUE KEY (s, id)",
}


def test_what_agrees_is_counted(tmp_path):
    """Updates and deletes, by every way of finding rows, on both routes; inserts have no before-image."""
    for (name, columns), route in itertools.product(TABLES.items(), ROUTES):
        with Log(tmp_path / "binlog.000001") as log:
            log.table(columns)
            for key in range(5):
                log.change(after=(key, 1, "x"))
                log.change(before=(key, 1, "x"), after=(key, 2, "y"))
                log.change(before=(key, 2, "y"), after=(key + 10, 3, "z"))
                if key:
                    log.change(before=(key + 10, 3, "z"))
        witness = replayed(log.path, tmp_path / f"{name} {route}", route=route, witness="stop").witness
        assert (witness.compared, witness.agreed, witness.differences) == (14, 14, ()), (name, route)


def test_rows_that_are_found_by_all_they_hold_agree(tmp_path):
    with Log(tmp_path / "binlog.000001") as log:
        log.table("id INT, n INT, s VARCHAR(20)")
        log.change(after=(1, 1, "x"))
        log.change(before=(1, 1, "x"), after=(1, 2, "y"))
    assert str(replayed(log.path, tmp_path / "out", witness="stop").witness) == "1 of 1 before-images agree"


@both_routes
def test_an_inserted_row_without_its_whole_key_has_another_value_than_computed(route, tmp_path):
    """A MINIMAL image leaves out a column of the key that has its default, and no key was searched for the row: the
    error names none."""
    with Log(tmp_path / "binlog.000001") as log:
        log.table("id INT NOT NULL, n INT NOT NULL DEFAULT 3, s VARCHAR(20) AS (CONCAT(id, 'x')) STORED, "
                  "PRIMARY KEY (id, n)")
        log.change(after=(1, None, "2x"), names=("id", "s"))
    with pytest.raises(ReplayStopped, match="the after-image has s = '2x', and its expression gives '1x'") as caught:
        replayed(log.path, tmp_path / "out", route=route, witness="stop")
    assert caught.value.key is None and caught.value.position is not None


@both_routes
def test_a_wrong_base(route, tmp_path):
    """The base's row is not the source's: found at its first change, by every way of finding it, once."""
    for name, columns in TABLES.items():
        folder = tmp_path / name
        folder.mkdir()
        with Log(folder / "base.000001") as log:
            log.table(columns)
            log.change(after=(1, 10, "x"))
            log.change(after=(2, 20, "x"))
        replayed(log.path, folder / "base")
        with Log(folder / "binlog.000001") as log:
            log.define(columns)
            first = log.change(before=(2, 20, "x"), after=(2, 21, "x"))
            log.change(before=(1, 11, "x"), after=(1, 12, "x"))
            log.change(before=(1, 12, "x"), after=(1, 13, "x"))
        options = {"base": str(folder / "base"), "start_position": ("binlog.000001", first), "reapply": True,
                   "route": route}
        witness = replayed(log.path, folder / "out", **options).witness
        assert (witness.compared, witness.agreed) == (3, 2), name
        [difference] = witness.differences
        assert (difference.table, difference.column, difference.count) == ("d.t", "n", 1)
        assert (difference.logged, difference.held, difference.row) == ("11", "10", 1)
        with pytest.raises(ReplayStopped, match="the before-image has n = 11, and the replayed row has 10") as stopped:
            replayed(log.path, folder / "stopped", witness="stop", **options)
        assert stopped.value.position == difference.position and stopped.value.table == "d.t"
        assert not (folder / "stopped").exists()
        assert replayed(log.path, folder / "off", witness="off", **options).witness.compared == 0


@both_routes
def test_a_wrong_default(route, tmp_path):
    """A column that DDL adds: the replay's default is not the source's."""
    with Log(tmp_path / "binlog.000001") as log:
        log.table(TABLES["integer key"])
        for key in range(3):
            log.change(after=(key, key, "x"))
        log.writer.query("ALTER TABLE d.t ADD c INT DEFAULT 5")
        log.define(TABLES["integer key"] + ", c INT DEFAULT 7")
        log.change(before=(0, 0, "x", 7), after=(0, 1, "x", 7))
        log.change(before=(2, 2, "x", 7))
    [difference] = replayed(log.path, tmp_path / "out", route=route).witness.differences
    assert (difference.column, difference.count, difference.logged, difference.held) == ("c", 2, "7", "5")


@both_engines
@both_routes
@pytest.mark.parametrize("action, held", [("SET NULL", "NULL"), ("CASCADE", "5")])
def test_a_wrong_cascade(route, engine, action, held, tmp_path):
    """The source's children kept the parent's old key, where a foreign key gives them another value here."""
    with Log(tmp_path / "binlog.000001", "mariadb") as log:
        log.table("id INT NOT NULL PRIMARY KEY", "p")
        log.table(f"id INT NOT NULL PRIMARY KEY, r INT, n INT, FOREIGN KEY (r) REFERENCES d.p (id) ON UPDATE {action}",
                  "c")
        log.change(after=(1,), name="p")
        log.change(after=(2,), name="p")
        log.change(after=(7, 1, 0), name="c")
        log.change(after=(8, 2, 0), name="c")
        log.change(before=(1,), after=(5,), name="p")
        log.change(before=(7, 1, 0), after=(7, 1, 1), name="c")
        log.change(before=(8, 2, 0), after=(8, 2, 1), name="c")
    with engine_of(engine):
        witness = replayed(log.path, tmp_path / "out", route=route).witness
    [difference] = witness.differences
    assert (witness.agreed, difference.table, difference.column) == (witness.compared - 1, "d.c", "r")
    assert (difference.logged, difference.held) == ("1", held)


@both_engines
def test_a_cascade_that_the_log_confirms(engine, tmp_path):
    with Log(tmp_path / "binlog.000001", "mariadb") as log:
        log.table("id INT NOT NULL PRIMARY KEY", "p")
        log.table("id INT NOT NULL PRIMARY KEY, r INT, n INT, FOREIGN KEY (r) REFERENCES d.p (id) ON UPDATE CASCADE",
                  "c")
        log.change(after=(1,), name="p")
        log.change(after=(7, 1, 0), name="c")
        log.change(before=(1,), after=(5,), name="p")
        log.change(before=(7, 5, 0), after=(7, 5, 1), name="c")
        log.change(before=(5,), after=(6,), name="p")
        log.change(before=(7, 6, 1), name="c")
    with engine_of(engine):
        witness = replayed(log.path, tmp_path / "out", witness="stop").witness
    assert witness.agreed == witness.compared >= 2


@both_engines
@both_routes
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault(name, route, engine, tmp_path):
    fault = FAULTS[name](tmp_path)
    with engine_of(engine):
        [difference] = replayed(fault.log, tmp_path / "out", route=route, **fault.options).witness.differences
    assert (difference.column, difference.count, difference.logged, difference.held) == (
        fault.column, 1, fault.logged, fault.held)


@both_routes
def test_partial_images_are_compared_as_far_as_they_go(route, tmp_path):
    """A minimal image has its key only, and is not counted; one without `s` does not compare it."""
    for name, columns in TABLES.items():
        with Log(tmp_path / "binlog.000001") as log:
            log.table(columns)
            key = ("id", "s") if name == "key of bytes" else ("id",)
            log.change(after=(1, 1, "x"))
            log.change(before=(1, 1, "x"), after=(1, 2, "x"), names=(*key, "n"))
            log.change(before=(1, 5, "x"), after=(1, 3, "x"), names=(*key, "n"))
            log.change(before=(1, 3, "x"), after=(1, 4, "x"))
            log.change(before=(1, 4, "x"), name="t", names=key)
        witness = replayed(log.path, tmp_path / f"{name} {route}", route=route).witness
        assert (witness.compared, witness.agreed) == (3, 2), name
        assert [(found.column, found.logged, found.held) for found in witness.differences] == [("n", "5", "2")]


def test_many_rows_that_hashes_do_not_tell(tmp_path):
    """Rows of a base are compared by values; differences come in log order, each column once."""
    keys = range(2000)
    with Log(tmp_path / "base.000001") as log:
        log.table(TABLES["integer key"])
        with log.writer.transaction():
            log.writer.rows(RowChanges(log.definitions["t"], after=_columns(keys, 0)))
    replayed(log.path, tmp_path / "base")
    with Log(tmp_path / "binlog.000001") as log:
        log.define(TABLES["integer key"])
        first = log.writer.position
        with log.writer.transaction():
            for part in (range(1000, 2000), range(1000)):
                log.writer.rows(RowChanges(log.definitions["t"], _columns(part, 1), _columns(part, 2)))
                log.writer.rows(RowChanges(log.definitions["t"], _columns(part, 2), _columns(part, 3)))
    witnesses = [replayed(log.path, tmp_path / route, route=route, base=str(tmp_path / "base"),
                          start_position=("binlog.000001", first), reapply=True).witness for route in ROUTES]
    assert witnesses[0] == witnesses[1]
    [difference] = witnesses[0].differences
    assert (witnesses[0].compared, witnesses[0].agreed, difference.count) == (4000, 2000, 2000)
    assert difference.key == "PRIMARY (id) = 1000"


def _columns(keys, n):
    return {"id": pa.array(keys, pa.int32()), "n": pa.array([n] * len(keys), pa.int32()),
            "s": pa.array(["x"] * len(keys))}


@both_routes
def test_a_refused_change_comes_with_the_differences_before_it(route, tmp_path):
    """1032 and 1062 in one table, and what was found in another one; not what is after the refusal."""
    for errno, refused in ((1032, {"before": (9, 2, "x")}), (1062, {"after": (1, 7, "x")})):
        with Log(tmp_path / "binlog.000001") as log:
            for name in ("t", "u"):
                log.table(TABLES["integer key"], name)
                log.change(after=(1, 1, "x"), name=name)
                log.change(before=(1, 2, "x"), after=(1, 3, "x"), name=name)
            log.change(**refused)
            log.change(before=(1, 3, "y"), name="u")
        for witness, found in (("report", ["t", "u"]), ("off", [])):
            with pytest.raises(ReplayStopped) as error:
                replayed(log.path, tmp_path / "out", route=route, witness=witness)
            assert error.value.mysql_errno == errno
            assert [line.split(" once")[0] for line in error.value.listed] == [
                f"before that, d.{name}: n differs from the log's before-image" for name in found]
        with pytest.raises(ReplayStopped, match="the before-image has n = 2"):
            replayed(log.path, tmp_path / "out", route=route, witness="stop")


def test_a_refused_change_comes_with_the_differences_of_earlier_passes(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    with Log(logs / "binlog.000001") as log:
        log.table(TABLES["integer key"])
        log.change(after=(1, 1, "x"))
        log.change(before=(1, 2, "x"), after=(1, 3, "x"))
        log.writer = log.writer.rotate(logs / "binlog.000002")
        log.change(before=(9, 2, "x"))
    with pytest.raises(ReplayStopped) as error:
        replayed(logs, tmp_path / "out", pass_bytes=1)
    assert "before that, d.t: n differs" in str(error.value)


GENERATED = "id INT NOT NULL PRIMARY KEY, a INT, g INT AS (a + 1) STORED, v INT AS (a * 2) VIRTUAL"
KEYS = {"integer key": "", "several keys": ", UNIQUE KEY (g, id)"}


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@both_routes
def test_a_generated_column_has_the_images_value(route, flavour, tmp_path):
    """Of an insert, of an update's partial image, with the column alone in it; the difference is counted. Of VIRTUAL
    columns, MySQL's images are witnesses only."""
    for name, keys in KEYS.items():
        with Log(tmp_path / "binlog.000001", flavour) as log:
            log.table(GENERATED + keys)
            log.change(after=(1, 1, 2, 2))
            log.change(after=(2, 1, 7, 2))
            log.change(before=(1, 1, 2, 2), after=(1, 3, 8, 9))
            log.change(before=(1, 3, 8, 9), after=(1, 3, 5, 9), names=("id", "g"))
        output = tmp_path / f"{name} {route}"
        witness = replayed(log.path, output, route=route).witness
        rows = [row for file in manifest.load(str(output)).table("d", "t").files
                for row in pq.read_table(output / file.path).to_pylist()]
        assert [(row["a"], row["g"]) for row in rows] == [(3, 5), (1, 7)], name
        computed = (6, 3) if flavour == "mysql" else (3, 1)
        assert (witness.compared, witness.agreed, witness.computed, witness.computed_agreed) == (2, 2, *computed), name
        assert [(found.column, found.count, found.key, found.logged, found.held, found.computed)
                for found in witness.differences] == [("g", 2, "PRIMARY (id) = 2", "7", "2", True),
                                                     ("v", 1, "PRIMARY (id) = 1", "9", "6", True)][:computed[0] // 3]
        assert "the expression of g differs from the log's after-image 2 times, first" in str(witness.differences[0])
        with pytest.raises(ReplayStopped, match="the after-image has g = 7, and its expression gives 2"):
            replayed(log.path, tmp_path / "no", route=route, witness="stop")


def test_generated_columns_of_many_rows_are_sampled(tmp_path):
    """The first 1,024 images of a unit, and one in 128 of the others."""
    keys = range(20000)
    with Log(tmp_path / "binlog.000001") as log:
        log.table("id INT NOT NULL PRIMARY KEY, a INT, g INT AS (a + 1) STORED")
        with log.writer.transaction():
            log.writer.rows(RowChanges(log.definitions["t"], after={
                "id": pa.array(keys, pa.int32()), "a": pa.array(keys, pa.int32()),
                "g": pa.array([key + 1 + (key == 16384) for key in keys], pa.int32())}))
    witness = replayed(log.path, tmp_path / "out").witness
    assert (witness.computed, witness.computed - witness.computed_agreed) == (1024 + (20000 - 1024 + 127) // 128, 1)
    assert str(witness).endswith("before-images agree, 1,172 of 1,173 generated values")


@both_routes
@pytest.mark.parametrize("key", ["id INT", "id BINARY(4)"])
def test_each_generated_value_is_compared_in_one_unit(key, route, tmp_path):
    """All units of a table see all of its changes where their task walks the log."""
    with Log(tmp_path / "binlog.000001") as log:
        log.table(f"{key} NOT NULL PRIMARY KEY, a INT, g INT AS (a + 1) STORED")
        ids = pa.array(range(100), pa.int32()) if key == "id INT" else \
            pa.array([number.to_bytes(4, "big") for number in range(100)], pa.binary())
        with log.writer.transaction():
            log.writer.rows(RowChanges(log.definitions["t"], after={
                "id": ids, "a": pa.array(range(100), pa.int32()),
                "g": pa.array([number + 1 + (number % 50 == 3) for number in range(100)], pa.int32())}))
    with mock.patch.multiple(units, UNIT_BYTES=300, LEAST_UNIT_BYTES=1):
        made = replayed(log.path, tmp_path / "out", route=route)
    assert made.units > 3 and (made.witness.computed, made.witness.computed_agreed) == (100, 98)
    assert [difference.count for difference in made.witness.differences] == [2]


def test_the_report_the_page_and_the_command_have_it(tmp_path, capsys):
    with Log(tmp_path / "binlog.000001") as log:
        log.table(TABLES["integer key"])
        log.change(after=(1, 1, "x"))
        log.change(before=(1, 2, "x"), after=(1, 3, "x" * 20))
    made = applier.replay(log.path, tmp_path / "api")
    said = json.loads((tmp_path / "api" / "_report.json").read_text())
    assert said["witness"] == json.loads(json.dumps(dataclasses.asdict(made.report.witness)))
    assert ReplayResult.from_report("", said).witness == made.report.witness
    old = {name: value for name, value in said.items() if name != "witness"}
    assert ReplayResult.from_report("", old).witness.compared == 0
    assert main(["replay", "--binlogs", str(log.path), "--output", str(tmp_path / "out"), "--engine", "local"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "d.t: n differs from the log's before-image once, first at binlog.000001:" in printed
    assert "witness: 0 of 1 before-images agree" in printed
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "out"), "--html", str(page)]) == 0
    assert "0 of 1 before-images agree" in page.read_text()
    capsys.readouterr()
    assert main(["doctor", "--base", str(tmp_path / "out"), "--engine", "local"]) == 0
    assert "d.t: n differs" in " ".join(capsys.readouterr().out.split())
    stopped = ["--witness", "stop"]
    assert main(["replay", "--binlogs", str(log.path), "--output", str(tmp_path / "no"), "--engine", "local",
                 *stopped]) == 1
    assert not (tmp_path / "no").exists()
