"""Dividing a table by samples of a file in which the table was something else before."""

from unittest import mock

import pyarrow as pa
import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import units
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from tests.support.small_logs import commit, new_log


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_table_that_was_made_anew_with_other_columns(tmp_path, route):
    """Samples of the rows that the dropped table had divide nothing, and are no error."""
    log = new_log(tmp_path)
    commit(log, RowChanges(_table("id INT PRIMARY KEY, n INT, s VARCHAR(20)"), after={"id": pa.array([1], pa.int32())}))
    log.query("DROP TABLE item", "shop")
    sql = "id INT PRIMARY KEY, n INT, s VARCHAR(20), d INT"
    log.query(f"CREATE TABLE item ({sql})", "shop")
    for number in range(40):
        images = {"id": pa.array([number], pa.int32()), "d": pa.array([1], pa.int32())}
        commit(log, RowChanges(_table(sql), after=images))
    log.close()
    with mock.patch.multiple(units, UNIT_BYTES=500, LEAST_UNIT_BYTES=1):
        options = ReplayOptions((str(tmp_path / "binlog.000001"),), str(tmp_path / "out"), route=route)
        [table] = replay_with(ThisProcess(2), options).tables
    assert (table.rows, table.inserts) == (40, 40)
    assert table.files_written > 2


def _table(columns):
    [change] = parse_statement(f"CREATE TABLE item ({columns})", default_database="shop", flavour="mysql")
    return change.definition
