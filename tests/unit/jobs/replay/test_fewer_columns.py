"""A replica that lacks columns of the log, and images of nothing else: as MySQL 9.7 and MariaDB 10.11 took them.

Rules: IDX-R2, AP-POS, APP-R7, AP-FK.
"""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter


def row(**values):
    return {name: pa.array([value], pa.int32()) for name, value in values.items()}


def replayed(folder, key, flavour, mode, route, changed, others=""):
    """The rows (a, b) of a replica that has (1, 2), and the result, after a change of a row; it has `others` as well,
    which are tables in SQL."""
    (folder / "schema.sql").write_text(f"CREATE TABLE d.t (a INT NOT NULL, b INT{key}); {others}")
    [logged] = parse_statement("CREATE TABLE d.t (a INT NOT NULL, b INT, c INT NOT NULL)", flavour=flavour)
    with BinlogWriter(folder / "binlog.000001", flavour=flavour) as log:
        for images in ([None, row(a=1, b=2, c=3)], changed):
            with log.transaction():
                log.rows(RowChanges(logged.definition, *images))
    result = replay_with(ThisProcess(2), ReplayOptions(
        (str(folder / "binlog.000001"),), str(folder / "out"), schema=str(folder / "schema.sql"), exec_mode=mode,
        route=route))
    rows = [row for file in (folder / "out/d/t").iterdir() for row in pq.read_table(file).to_pylist()]
    return [tuple(row.values()) for row in rows], result


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (a)"])
def test_mysql_passes_over_an_update_of_nothing_that_is_there(key, mode, route, tmp_path):
    """It does not look for the row, which therefore need not be there."""
    rows, result = replayed(tmp_path, key, "mysql", mode, route, [row(a=7), row(c=9)])
    assert (rows, result.conflicts) == ([(1, 2)], 0)


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (a)"])
def test_mariadb_looks_for_the_row(key, tmp_path):
    with pytest.raises(ReplayStopped, match="can't find record: the row to update or delete does not exist"):
        replayed(tmp_path, key, "mariadb", "strict", "walk", [row(a=7), row(c=9)])


@pytest.mark.parametrize("images", [[row(c=3), None], [row(c=3), row(b=9)]], ids=["delete", "update"])
@pytest.mark.parametrize(("flavour", "mode"), [
    ("mysql", "strict"), ("mysql", "idempotent"), ("mariadb", "strict")])
def test_what_has_nothing_to_search_by_stops(images, flavour, mode, tmp_path):
    with pytest.raises(ReplayStopped) as stopped:
        replayed(tmp_path, "", flavour, mode, "walk", images)
    assert (stopped.value.mysql_errno, stopped.value.table) == (1032, "d.t")


def test_mariadb_suppresses_it_in_idempotent_mode(tmp_path):
    rows, result = replayed(tmp_path, "", "mariadb", "idempotent", "walk", [row(c=3), None])
    assert (rows, result.conflicts) == ([(1, 2)], 1)


CHILDREN = """CREATE TABLE d.child (a INT, b INT, CONSTRAINT f FOREIGN KEY (a) REFERENCES d.t (a) ON DELETE CASCADE,
    CONSTRAINT g FOREIGN KEY (b) REFERENCES d.t (b) ON DELETE SET NULL)"""


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_mariadb_suppresses_it_where_others_refer_to_the_row(route, tmp_path):
    rows, result = replayed(tmp_path, ", KEY (a), KEY (b)", "mariadb", "idempotent", route, [row(c=3), None], CHILDREN)
    assert (rows, result.conflicts) == ([(1, 2)], 1)
