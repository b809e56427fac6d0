"""A change that a replica refuses (1032, 1062) is named by its row's key, on either route, whatever its images hold."""

import itertools
from datetime import timedelta

import pyarrow as pa
import pytest

from applier.binlog import Writer
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, ReplayStopped, SchemaError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

TYPES = {"id": pa.int32(), "k": pa.string(), "g": pa.int32(), "n": pa.int32()}
COLUMNS = "id INT NOT NULL, k VARCHAR(9) NOT NULL, g INT AS (n + 1) {}, n INT"
KEYS = {"PRIMARY KEY (id)": "PRIMARY (id) = {id}", "PRIMARY KEY (k)": "PRIMARY (k) = {k!r}",
        "PRIMARY KEY (k, id)": "PRIMARY (k, id) = {k!r}, {id}", "UNIQUE KEY u (id)": "u (id) = {id}",
        "PRIMARY KEY (id), UNIQUE KEY u (k)": "PRIMARY (id) = {id}"}
IMAGES = {"full": ("id", "k", "g", "n"), "minimal": ("id", "k", "n")}
CHANGES = {"insert": 1062, "update to a key that is there": 1062, "update": 1032, "delete": 1032}


def row(number):
    return {"id": number, "k": f"k{number}", "g": number + 1, "n": number}


def change(definition, before, after, names, keys):
    """A change of one row: its before-image is the key in all but full images."""
    def image(values, names):
        return values and {name: pa.array([values[name]], TYPES[name]) for name in names}

    return RowChanges(definition, image(before, names if "g" in names else keys), image(after, names))


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("key", KEYS)
def test_the_key_of_a_refused_change(key, what, route, tmp_path):
    """1032, 1062: both flavours and image modes, a generated column that is STORED or VIRTUAL, one task and several."""
    keys = {"id", "k"} if "k" in key else {"id"}
    for number, (flavour, stored, image) in enumerate((flavour, stored, image) for flavour in ("mysql", "mariadb")
                                                      for stored in ("STORED", "VIRTUAL") for image in IMAGES):
        sql = f"CREATE TABLE d.t ({COLUMNS.format(stored)}, {key})"
        definition, path = parse_statement(sql, flavour=flavour)[0].definition, tmp_path / f"{number}.000001"
        with BinlogWriter(path, flavour=flavour) as log:
            log.query("CREATE DATABASE d")
            log.query(sql)
            for own in (1, 2):
                with log.transaction():
                    log.rows(change(definition, None, row(own), IMAGES[image], keys))
            begin, told = log.position, {"insert": 2, "update to a key that is there": 2}.get(what, 7)
            before = {"insert": None, "update to a key that is there": row(1)}.get(what, row(7))
            after = {"update": row(7) | {"n": 9}, "delete": None}.get(what, row(2))
            with log.transaction():
                log.rows(change(definition, before, after, IMAGES[image], keys))
        with pytest.raises(ReplayStopped) as stopped:
            replay_with(ThisProcess(1 + number % 2), ReplayOptions((str(path),), str(tmp_path / "out"), route=route))
        error = stopped.value
        assert (error.mysql_errno, error.table, error.key) == (CHANGES[what], "d.t", KEYS[key].format(**row(told)))
        assert f"--stop-position {path.name}:{begin}" in error.hint


@pytest.mark.by_turns("route", "cores")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("order", list(itertools.permutations(["change", "statement", "statement with changes after"])))
def test_of_changes_and_statements_the_first_in_the_log_is_named(order, cores, route, tmp_path):
    """1062, and statements after which it is unknown which rows are left: in one task, and in several."""
    path, places = tmp_path / "binlog.000001", {}
    with BinlogWriter(path, flavour="mariadb") as log:
        for name in ("a", "b", "c", "d"):
            log.query(f"CREATE TABLE {name} (id INT PRIMARY KEY, n INT)", "d")
            with log.transaction():
                log.rows(of_table(name, 1))
        for name, what in zip("abc", order):
            places[what] = log.position
            if what == "change":
                with log.transaction():
                    log.rows(of_table(name, 1))
                continue
            log.query(f"ALTER IGNORE TABLE {name} ADD CHECK (AES_ENCRYPT(n, 'k') <> '')", "d")
            if what == "statement with changes after":
                with log.transaction():
                    log.rows(of_table(name, 2))
    with pytest.raises(ApplierError) as stopped:
        replay_with(ThisProcess(cores), ReplayOptions((str(path),), str(tmp_path / "out"), route=route))
    error = stopped.value
    assert (error.table, error.mysql_errno) == ("d.a", 1062 if order[0] == "change" else None)
    assert places[order[0]] <= error.position < min(places[what] for what in order[1:])


def of_table(name, number):
    """An insert of one row."""
    [created] = parse_statement(f"CREATE TABLE d.{name} (id INT PRIMARY KEY, n INT)", flavour="mariadb")
    return RowChanges(created.definition, after={"id": pa.array([number], pa.int32()), "n": pa.array([1], pa.int32())})


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("keys", ["PRIMARY KEY (id)", "PRIMARY KEY (k)", "PRIMARY KEY (id), UNIQUE KEY u (k)",
                                  "PRIMARY KEY (id), UNIQUE KEY (id, k), FOREIGN KEY (n, m) REFERENCES p (n, m) ON "
                                  "DELETE CASCADE"])
def test_a_statement_that_is_refused_comes_before_changes_that_follow(keys, route, mode, tmp_path):
    """What it made of the rows is unknown, so whether a later change finds its row is not, either."""
    path = tmp_path / "b.000001"
    with Writer(path, flavour="mariadb") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE p (n INT NOT NULL, m INT NOT NULL, PRIMARY KEY (n, m))", "d")
        log.query(f"CREATE TABLE t (id INT NOT NULL, k VARCHAR(9) NOT NULL, n INT, m INT, v TEXT, {keys})", "d")
        with log.transaction():
            log.insert("d.p", {"n": [1], "m": [1]})
            log.insert("d.t", {"id": [1, 2], "k": ["a", "b"], "n": [1, 1], "m": [1, 1], "v": ["10:11", "1 2 3"]})
        log.query("ALTER TABLE t CHANGE v w TIME", "d")
        with log.transaction():
            log.delete("d.t", {"id": [1], "k": ["a"], "n": [1], "m": [1], "w": [timedelta(hours=10, minutes=11)]})
            log.delete("d.p", {"n": [1], "m": [1]})
    with pytest.raises(SchemaError, match=r"becomes time: '1 2 3' as TIME"):
        replay_with(ThisProcess(1), ReplayOptions((str(path),), str(tmp_path / "out"), route=route, exec_mode=mode))


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("key", ["", ", UNIQUE KEY u (g)", ", UNIQUE KEY u (k)"])
@pytest.mark.parametrize("mode", ["strict", "idempotent"])
def test_an_image_with_nothing_to_search_by(mode, key, route, tmp_path):
    """IDX-R2: the before-image has a VIRTUAL column only, which no row has; both exec modes stop, and name the row."""
    sql = f"CREATE TABLE d.t ({COLUMNS.format('VIRTUAL')}{key})"
    definition = parse_statement(sql, flavour="mysql")[0].definition
    with BinlogWriter(tmp_path / "b.000001") as log:
        log.query("CREATE DATABASE d")
        log.query(sql)
        with log.transaction():
            log.rows(change(definition, None, row(1), IMAGES["full"], set()))
        with log.transaction():
            log.rows(RowChanges(definition, {"g": pa.array([2], pa.int32())}, {"n": pa.array([5], pa.int32())}))
    with pytest.raises(ReplayStopped, match=r"the row \(") as stopped:
        replay_with(ThisProcess(2), ReplayOptions((str(tmp_path / "b.000001"),), str(tmp_path / "out"), route=route,
                                                  exec_mode=mode))
    assert stopped.value.mysql_errno == 1032


@pytest.mark.parametrize("mode", ["strict", "idempotent"])
def test_changes_of_a_table_of_virtual_columns_alone_are_passed_over(mode, tmp_path):
    """Such a table has no rows in a snapshot (recorded session virtual-columns-alone)."""
    sql = "CREATE TABLE d.t (g INT AS (1 + 1) VIRTUAL)"
    definition = parse_statement(sql, flavour="mysql")[0].definition
    with BinlogWriter(tmp_path / "b.000001") as log:
        log.query("CREATE DATABASE d")
        log.query(sql)
        with log.transaction():
            log.rows(RowChanges(definition, {"g": pa.array([2], pa.int32())}, None))
    result = replay_with(ThisProcess(2), ReplayOptions((str(tmp_path / "b.000001"),), str(tmp_path / "out"),
                                                       exec_mode=mode))
    assert [(table.name, table.rows) for table in manifest.load(str(tmp_path / "out")).tables] == [("t", 0)]
    assert result.changes == 0
