"""AP-FK: MariaDB lets a statement take the index away that foreign keys refer to; then they change no rows, until there
is one again. So MariaDB 10.11 did it, at once as well as after FLUSH TABLES and a restart."""

import pyarrow as pa
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import SchemaError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.foreign_key_engines import ENGINES, engine_of
from tests.unit.jobs.replay.test_foreign_key_kinds import held

OTHER_PRIMARY_KEY = "ALTER TABLE d.p DROP PRIMARY KEY, ADD PRIMARY KEY (b, id)"
INDEX = "ALTER TABLE d.p ADD KEY (id)"
OF_P = "FOREIGN KEY (r) REFERENCES d.p (id) ON DELETE CASCADE ON UPDATE CASCADE"
CHILD = f"id INT PRIMARY KEY, r INT, {OF_P}"


def write(path, steps, parent="id INT, b INT, PRIMARY KEY (id)", child=CHILD, rows=6):
    """A log of MariaDB: tables with these rows, and then statements, and parents (numbers) that are deleted."""
    with BinlogWriter(path, flavour="mariadb") as log:
        log.query("CREATE DATABASE d")
        tables = {}
        for name, columns in (("p", parent), ("c", child)):
            log.query(f"CREATE TABLE d.{name} ({columns}) ENGINE=InnoDB")
            tables[name] = parse_statement(f"CREATE TABLE d.{name} ({columns})", flavour="mariadb")[0].definition
            ids = pa.array(range(1, rows + 1), pa.int32())
            with log.transaction():
                log.rows(RowChanges(tables[name], after={column.name: ids for column in tables[name].columns}))
        for step in steps:
            if isinstance(step, str):
                log.query(step)
                continue
            with log.transaction():
                log.rows(RowChanges(tables["p"], before={column.name: pa.array([step], pa.int32())
                                                         for column in tables["p"].columns}))
        return log.position


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_another_primary_key(route, tmp_path):
    """Children follow before and after, not between."""
    write(tmp_path / "log.000001", [1, OTHER_PRIMARY_KEY, 2, 3, INDEX, 4])
    for engine in ENGINES:
        with engine_of(engine):
            tables = held(tmp_path / "log.000001", tmp_path / f"{route} {engine}", 2, route)
        assert tables == {"p": [(5, 5), (6, 6)], "c": [(number, number) for number in (2, 3, 5, 6)]}


@pytest.mark.parametrize("steps, left", [
    (["ALTER TABLE d.p DROP KEY k", 1], [1, 2, 3]),  # with foreign_key_checks=0
    (["ALTER TABLE d.p DROP KEY k, ADD KEY k (id, b)", 1], [2, 3]),
    (["ALTER TABLE d.p DROP KEY k, ADD UNIQUE KEY k (id)", 1], [2, 3]),
    (["ALTER TABLE d.p DROP KEY k", 1, INDEX, 2], [1, 3]),
    (["ALTER TABLE d.p DROP KEY k", "TRUNCATE TABLE d.c"], []),
])
def test_a_key_that_is_dropped(steps, left, tmp_path):
    write(tmp_path / "log.000001", steps, parent="id INT, b INT PRIMARY KEY, KEY k (id)", rows=3)
    assert held(tmp_path / "log.000001", tmp_path / "out", 2, "walk")["c"] == [(number, number) for number in left]


def test_a_parent_without_any(tmp_path):
    """As it may be made with foreign_key_checks=0."""
    write(tmp_path / "log.000001", [1], parent="id INT, b INT PRIMARY KEY", rows=2)
    assert held(tmp_path / "log.000001", tmp_path / "out", 2, "walk")["c"] == [(1, 1), (2, 2)]


@pytest.mark.parametrize("parent", [
    "id INT, b INT, PRIMARY KEY (b), CONSTRAINT own FOREIGN KEY (id) REFERENCES d.p (b)",
    "id INT, b INT, PRIMARY KEY (b), CONSTRAINT own FOREIGN KEY (id, b) REFERENCES d.p (b, b)",
])
def test_an_index_that_the_server_makes_and_keeps(parent, tmp_path):
    """It makes one of the columns of a foreign key, of which the log says nothing; and it stays without that."""
    write(tmp_path / "log.000001", [1, "ALTER TABLE d.p DROP FOREIGN KEY own", 2], parent=parent, rows=3)
    assert held(tmp_path / "log.000001", tmp_path / "out", 2, "walk")["c"] == [(3, 3)]


def test_columns_that_the_clustered_key_adds_to_an_index(tmp_path):
    child = "id INT PRIMARY KEY, r INT, s INT, FOREIGN KEY (s, r) REFERENCES d.p (b, id) ON DELETE CASCADE"
    write(tmp_path / "log.000001", [1], parent="id INT PRIMARY KEY, b INT, KEY (b)", child=child, rows=2)
    assert held(tmp_path / "log.000001", tmp_path / "out", 2, "walk")["c"] == [(2, 2, 2)]


@pytest.mark.parametrize("steps", [[2], [INDEX, 2]])
def test_a_base_does_not_tell_of_all_indexes(steps, tmp_path):
    """So a replay that continues from there says so, where rows of the parent go while there may be none."""
    log, first = tmp_path / "log.000001", tmp_path / "first"
    stop = write(log, [OTHER_PRIMARY_KEY])
    write(log, [OTHER_PRIMARY_KEY, *steps])
    replay_with(ThisProcess(2), ReplayOptions((str(log),), str(first), stop_position=(log.name, stop)))
    options = ReplayOptions((str(log),), str(tmp_path / "then"), base=str(first))
    if steps[0] == INDEX:
        replay_with(ThisProcess(2), options)
        return
    with pytest.raises(SchemaError, match=r"whether the server follows the foreign key c_ibfk_1 of d\.c") as refused:
        replay_with(ThisProcess(2), options)
    assert refused.value.table == "d.p" and "--ignore-tables" in refused.value.hint
