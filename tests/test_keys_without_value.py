"""NULLs of the log in keys of a table that is NOT NULL there: a replay stops and says where, or takes the zero date."""

import datetime

import pyarrow as pa
import pytest

from applier.apply.executor import ThisProcess
from applier.binlog.row_encoder import RowChanges
from applier.binlog.writer import BinlogWriter
from applier.errors import ReplayStopped
from applier.options import ReplayOptions
from applier.replay import replay_with
from applier.schema.ddl import parse_statement

DAY = datetime.date(2024, 2, 29)


def rows(*days):
    return {"id": pa.array(range(1, len(days) + 1), pa.int32()), "d": pa.array(days, pa.date32())}


@pytest.mark.parametrize("keys", [
    "PRIMARY KEY (d)", "PRIMARY KEY (id, d), KEY (d)"])
@pytest.mark.parametrize("operation", ["insert", "update", "delete"])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_the_first_such_change_is_named(keys, operation, route, tmp_path):
    """No row is found by NULL, and none may be taken for it."""
    schema, log = tmp_path / "schema.sql", tmp_path / "binlog.000001"
    schema.write_text(f"CREATE TABLE d.t (id INT NOT NULL, d DATE NOT NULL, {keys});")
    [logged] = parse_statement("CREATE TABLE d.t (id INT NOT NULL, d DATE)", server_charset="utf8mb4")
    images = {"insert": [None, rows(None)], "update": [rows(DAY), rows(None)], "delete": [rows(None), None]}
    with BinlogWriter(log) as writer:
        with writer.transaction():
            writer.rows(RowChanges(logged.definition, None, rows(DAY)))
        before = writer.position
        with writer.transaction():
            writer.rows(RowChanges(logged.definition, *images[operation]))
    with pytest.raises(ReplayStopped, match="column d of a row's key has no value") as stopped:
        replay_with(ThisProcess(2), ReplayOptions((str(log),), str(tmp_path / "out"), schema=str(schema), route=route))
    assert (stopped.value.table, stopped.value.mysql_errno) == ("d.t", None)
    assert stopped.value.position > before
    assert f"--stop-position binlog.000001:{before}" in stopped.value.hint
    assert "--ignore-tables" in stopped.value.hint


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_beside_another_key_it_is_the_zero_date(route, tmp_path):
    """What a replica puts in for a NULL that its column cannot be: the second one is a duplicate (1062)."""
    schema, log = tmp_path / "schema.sql", tmp_path / "binlog.000001"
    schema.write_text("CREATE TABLE d.t (id INT NOT NULL, d DATE NOT NULL, PRIMARY KEY (id), UNIQUE KEY day (d));")
    [logged] = parse_statement("CREATE TABLE d.t (id INT NOT NULL, d DATE)", server_charset="utf8mb4")
    with BinlogWriter(log) as writer, writer.transaction():
        writer.rows(RowChanges(logged.definition, None, rows(None, DAY, None)))
    with pytest.raises(ReplayStopped) as stopped:
        replay_with(ThisProcess(1), ReplayOptions((str(log),), str(tmp_path / "out"), schema=str(schema), route=route))
    assert (stopped.value.mysql_errno, stopped.value.row) == (1062, 2)
    assert "day (d)" in stopped.value.key
