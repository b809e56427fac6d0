"""NULLs of the log in keys of a table that is NOT NULL there: a replay takes the zero date, as a replica does."""

import datetime

import pyarrow as pa
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

DAY = datetime.date(2024, 2, 29)


def rows(*days):
    return {"id": pa.array(range(1, len(days) + 1), pa.int32()), "d": pa.array(days, pa.date32())}


@pytest.mark.parametrize("keys", [
    "PRIMARY KEY (d)", "PRIMARY KEY (id, d), KEY (d)"])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_the_zero_date_is_found_by_a_null(keys, route, tmp_path):
    """A row comes with it, moves from it and to it, and goes by it; the second time it is not there (1032)."""
    schema, log = tmp_path / "schema.sql", tmp_path / "binlog.000001"
    schema.write_text(f"CREATE TABLE d.t (id INT NOT NULL, d DATE NOT NULL, {keys});")
    [logged] = parse_statement("CREATE TABLE d.t (id INT NOT NULL, d DATE)", server_charset="utf8mb4")
    with BinlogWriter(log) as writer:
        for before, after in ((None, None), (None, DAY), (DAY, None)):
            with writer.transaction():
                writer.rows(RowChanges(logged.definition, rows(before) if (before, after) != (None, None) else None,
                                       rows(after)))
        for _ in range(2):
            middle = writer.position
            with writer.transaction():
                writer.rows(RowChanges(logged.definition, rows(None), None))
    with pytest.raises(ReplayStopped, match="can't find record: the row to update or delete does not exist") as stopped:
        replay_with(ThisProcess(2), ReplayOptions((str(log),), str(tmp_path / "out"), schema=str(schema), route=route))
    assert (stopped.value.table, stopped.value.mysql_errno) == ("d.t", 1032)
    assert "0000-00-00" in stopped.value.key and stopped.value.position > middle
    assert f"--stop-position binlog.000001:{middle}" in stopped.value.hint


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
